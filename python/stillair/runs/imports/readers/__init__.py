"""Readers of single outputs. Each returns the facts of a text, or raises an `InputError` with a line per mistake.

ubus        JSON of `ubus call`
tc          text of `tc -s qdisc` and `tc -s class`
counters    counter lines below a discipline or class
iw          `iw dev ... station dump`, `... link`, `... info`, `iw phy`
iwinfo      `iwinfo`, `iwinfo ... assoclist`, `iwconfig`
wpa         `wpa_cli status` and `signal_poll`, `hostapd_cli all_sta` and `status`
netdevs     `ip addr`, `ip link`, `ifconfig`, as text and JSON; `ip route`
recognised  lines that these tools print
settings    `sysctl`, `ethtool`, `hostapd.conf`, `uname`, release files
"""
