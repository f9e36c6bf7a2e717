"""Lines of each tool's output that `import` recognises, with or without a use for them.

Other lines, such as a sentence pasted behind an output, are listed as unrecognised.
"""

import re

_TABLE = r"(?:TID\s.*|qsz-byt\s.*|\d+(?:\s+\d+)*)"

# linux: iw station.c print_link_sta, print_power_mode and print_sta_handler (3.15 to 6.17).
_STATION = frozenset(
    (
        *("inactive time", "rx bytes", "rx packets", "tx bytes", "tx packets", "tx retries", "tx failed"),
        *("beacon loss", "beacon rx", "rx drop misc", "signal", "signal avg", "beacon signal avg", "Toffset"),
        *("tx bitrate", "tx duration", "rx bitrate", "rx duration", "last ack signal", "avg ack signal"),
        *("airtime weight", "expected throughput", "mesh llid", "mesh plid", "mesh plink"),
        *("mesh airtime link metric", "mesh connected to gate", "mesh connected to auth server"),
        *("mesh local PS mode", "mesh peer PS mode", "mesh non-peer PS mode"),
        *("authorized", "authenticated", "associated", "preamble", "WMM/WME", "MFP", "TDLS peer"),
        *("DTIM period", "beacon interval", "CTS protection", "short preamble", "short slot time"),
        *("connected time", "associated at [boottime]", "associated at", "current time"),
        *("address", "Address", "MSDU", "TXQs"),
    )
)
_STATION_TABLE = re.compile(_TABLE)


def is_of_station(line: str) -> bool:
    """Reports whether a line belongs to a station of `iw dev INTERFACE station dump`."""
    key, colon, _ = line.partition(":")
    return key.strip() in _STATION if colon else bool(_STATION_TABLE.fullmatch(line))


# linux: iw link.c print_link_sta, interface.c print_iface_handler (3.15 to 6.17).
LINK = re.compile(
    r"(?:SSID|freq|RX|TX|signal|signal avg|rx bitrate|tx bitrate|bss flags|dtim period|beacon int)\s*:.*"
    r"|(?:Authenticated with|Joined IBSS) .* \(on \S+\)|Link \d+ BSSID .*|MLD \S+ stats:"
)
INTERFACE = re.compile(
    r"phy#\d+|Interface \S+|Unnamed/non-netdev interface|ifindex \d+|wdev 0x[0-9a-fA-F]+|addr \S+|ssid(?: .*)?"
    r"|meshid .*|type \S+(?: point| device)?|type outside context of a BSS|wiphy \d+|channel \d.*|txpower .*"
    rf"|4addr: on|multicast TXQs?:|Radios:.*|MLD with links:|- link(?: ID +\d+)?(?: link addr \S+)?|{_TABLE}"
)
# linux: iw info.c print_phy_handler (3.15 to 6.17) - forms of most lines, but not the names of capabilities.
PHY = re.compile(
    r"[*\[].*|[\w #/()<>=,.-]{1,60}:|[\w #/()<>=-]{1,60}: *(?:0x|<?-?\d|\(|all\b|unlimited|[0-9a-f]{2} ).*"
    r"|.*\(0x[0-9a-fA-F]+\).*|\d+ streams: .*|(?:Device|Driver|Driver/device) (?:supports?|accepts|adds|can|has|band).*"
    r"|(?:Available|Configured) Antennas: .*|(?:Global )?interface combinations are not supported"
    r"|HT20(?:/HT40)?|HE\d+/.*"
    r"|Userspace should do .*|#\{ .*|total <= .*|Peer measurement \(PMSR\)|P2P (?:GO|Device) .*|short GI \(.*"
)

# openwrt: iwinfo_cli.c print_info, print_assoclist (2012 to 2024).
IWINFO = re.compile(
    r"(?:\S+\s+ESSID|Access Point|Mode|Channel|Center Channel 1|HT Mode|Tx-Power|Link Quality|Signal|Noise|Bit Rate"
    r"|Encryption|Type|HW Mode\(s\)|Hardware|TX power offset|Frequency offset|Supports VAPs|PHY name) ?:.*"
)
ASSOCLIST = re.compile(r"(?:RX|TX|expected throughput|mesh [\w ./-]+): .*|No station connected")

# wireless_tools: iwconfig.c display_info (29, 30).
IWCONFIG = re.compile(
    r"(?:\S+ +)?(?:no wireless extensions\.|unassociated\b.*|IEEE 802\.11.*"
    r"|(?:Mode|Frequency|Access Point|Cell|Bit Rate|Sensitivity|Retry|RTS thr|Fragment thr|Encryption key"
    r"|Security mode|Power Management|Link Quality|Link Signal"
    r"|Link Noise|Signal level|Noise level|Rx invalid|Tx excessive|Invalid misc|Missed beacon|ESSID|Nickname"
    r"|NWID|Network|Channel|Tx-Power)(?: +[a-z]+)* *[:=].*)"
)

# linux: iproute2 ip/ipaddress.c print_linkinfo, print_addrinfo, ip/iplink_*.c (4.x to 6.12); busybox ipaddress.c.
_KEYED = (
    r"vlan protocol|bridge forward_delay|bridge_slave state|bond mode|bond_slave state|tun type|macvlan\s+mode"
    r"|macvtap\s+mode|ipvlan\s+mode|vxlan id|vrf table|vrf_slave table|geneve id|xfrm dev|xfrm if_id|macsec sci"
    r"|gre(?:tap)? remote|ip6gre(?:tap)? |ipip |ip6tnl |sit |vti |hsr slave1|can (?:state|<)|wwan linkid|rmnet mux_id"
)
IP = re.compile(
    r"\d+: \S+?: <.*|\d+: \S+\s+(?:inet6?|link/\S+)\s.*|link/\S+.*|link-netns(?:id)? .*|inet6? \S+.*"
    r"|valid_lft \S+ preferred_lft \S+|(?:RX|TX)(?: errors)?:\s+[a-z].*|\d+(?:\s+\d+)*"
    r"|altname .*|alias .*|vf \d+ .*|permaddr .*|proto_down .*|parentbus .*|prog/xdp .*|xdp\S* .*|promiscuity \d.*"
    r"|(?:veth|wireguard|ifb|dummy|dsa|batadv|nlmon|ppp|team|team_slave|xfrm)"
    r"(?: (?:addrgenmode|numtxqueues|conduit) .*)?"
    rf"|(?:{_KEYED}).*"
)
# linux: iproute2 ip/iproute.c print_route (4.x to 6.12); busybox iproute.c.
_ROUTE = (
    r"(?:(?:unicast|local|broadcast|multicast|anycast|unreachable|blackhole|prohibit|throw) )?"
    r"(?:default|[0-9a-fA-F]*[.:][0-9a-fA-F.:]*(?:/\d+)?)(?: from \S+)?"
    r"(?: (?:via|dev|proto|nhid|metric|scope|table|src) \S+.*)"
)
ROUTE_HEAD = rf"\s*{_ROUTE}$"
ROUTE = re.compile(rf"{_ROUTE}|nexthop .*|cache\b.*|(?:unreachable|blackhole|prohibit) .*")

# net-tools: lib/interface.c ife_print_short, ife_print_long (1.60, 2.10); busybox interface.c; BSD's ifconfig.
IFCONFIG = re.compile(
    r"\S+\s+Link encap:.*|\S+: flags=.*|(?:inet6?|inet6? addr|ether|loop|unspec|ppp|tunnel|sit|infiniband)\b[ :]+\S.*"
    r"|(?:UP|DOWN|BROADCAST|LOOPBACK|POINTOPOINT|NOARP|MULTICAST|RUNNING|\[NO FLAGS\])(?: .*)?MTU:\d.*"
    r"|(?:RX|TX)\s+(?:packets|bytes|errors)[ :]\d.*|collisions:\d.*|(?:Interrupt|Base address|Memory|Media):.*"
    r"|device (?:interrupt|memory|base)\b.*|(?:options|nd6 options|capabilities|eflags)=.*"
    r"|(?:media|status|groups|lladdr):? .*"
)
