"""OpenWrt's configuration: radios, and the shaper as sqm-scripts set it up.

uci         sections and options of /etc/config/wireless, sqm and network
sqm         what sqm-scripts make of a queue's options, for each direction
tc_options  options of cake and fq_codel as `tc` takes them, as a scenario has them
"""
