"""OpenWrt's configuration: radios, and the shaper that sqm-scripts set up.

uci         sections and options of /etc/config/wireless, sqm and network
sqm         disciplines that sqm-scripts set up for a queue's options
tc_options  scenario options of cake and fq_codel from `tc` options
"""
