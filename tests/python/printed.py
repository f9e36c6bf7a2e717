"""A short text of each kind that `import` reads, for those that no file of `samples` has: name of the kind to text."""

TEXTS = {
    "iw dev INTERFACE link": """Connected to 02:00:00:00:00:01 (on wlan0)
	SSID: home
	freq: 5180
	RX: 123456 bytes (789 packets)
	TX: 123456 bytes (789 packets)
	signal: -52 dBm
	rx bitrate: 780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2
	tx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
	dtim period: 2
	beacon int: 100
""",
    "tc -s qdisc": """qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 19Mbit nat rtt 100ms noatm overhead 18 mpu 64
 Sent 123456 bytes 789 pkt (dropped 3, overlimits 45 requeues 0)
 backlog 0b 0p requeues 0
qdisc fq_codel 0: dev wlan0 root refcnt 2 limit 10240p flows 1024 target 5ms interval 100ms ecn
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
""",
    "tc -s class": """qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
class htb 1:1 root rate 20Mbit ceil 20Mbit burst 15Kb cburst 15Kb
 Sent 123456 bytes 789 pkt (dropped 0, overlimits 0 requeues 0)
class htb 1:10 parent 1:1 leaf 110: prio 0 rate 20Mbit ceil 20Mbit burst 15Kb cburst 15Kb
""",
    "iwinfo": """wlan0     ESSID: "home"
          Access Point: 02:00:00:00:00:01
          Mode: Master  Channel: 36 (5.180 GHz)  HT Mode: VHT80
          Tx-Power: 20 dBm  Link Quality: 70/70
          Signal: -40 dBm  Noise: -95 dBm
          Bit Rate: 866.7 MBit/s
          Hardware: 168C:003C 168C:3223 [Qualcomm Atheros QCA9880]
""",
    "iwinfo INTERFACE assoclist": """02:00:00:00:00:02  -47 dBm / -95 dBm (SNR 48)  10 ms ago
	RX: 866.7 MBit/s, VHT-MCS 9, 80MHz, VHT-NSS 2, short GI     12345 Pkts.
	TX: 780.0 MBit/s, VHT-MCS 8, 80MHz, VHT-NSS 2, short GI     54321 Pkts.
	expected throughput: 400.0 MBit/s
""",
    "/etc/openwrt_version": "root@OpenWrt:~# cat /etc/openwrt_version\n23.05.3\n",
    "iw dev INTERFACE get power_save": "Connected to 02:00:00:00:00:01 (on wlan0)\n\tfreq: 5180\n\nPower save: on\n",
    "iwconfig": """wlan0     IEEE 802.11  ESSID:"home"
          Mode:Managed  Frequency:5.18 GHz  Access Point: 02:00:00:00:00:01
          Bit Rate=866.7 Mb/s   Tx-Power=20 dBm
          Link Quality=60/70  Signal level=-50 dBm
""",
    "ip addr, ip link": """1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1492 qdisc fq_codel state UP group default qlen 1000
    link/ether 02:00:00:00:00:03 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0
""",
    "ip route": """default via 192.0.2.1 dev eth0 proto static
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.7
""",
    "ifconfig": """eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:03
          inet addr:192.0.2.7  Bcast:192.0.2.255  Mask:255.255.255.0
          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1
""",
    "iw dev INTERFACE scan": """BSS 02:00:00:00:00:09(on wlan0)
	freq: 2437
	signal: -61.00 dBm
	SSID: other
""",
    "wpa_supplicant.conf": 'network={\n\tssid="home"\n\tkey_mgmt=WPA-PSK\n}\n',
    "wpa_cli status": "bssid=02:00:00:00:00:01\nfreq=5180\nssid=home\nwpa_state=COMPLETED\nwifi_generation=5\n",
    "wpa_cli signal_poll": "RSSI=-52\nLINKSPEED=866\nNOISE=-95\nFREQUENCY=5180\nWIDTH=80 MHz\nCENTER_FRQ1=5210\n",
    "hostapd_cli status": "state=ENABLED\nfreq=5180\nchannel=36\nieee80211n=1\nieee80211ac=1\nvht_oper_chwidth=1\n",
    "hostapd_cli all_sta": """02:00:00:00:00:02
flags=[AUTH][ASSOC][AUTHORIZED][WMM][HT][VHT]
rx_packets=12345
tx_packets=54321
signal=-47
rx_rate_info=8667 vhtmcs 9 vhtnss 2 shortGI
tx_rate_info=7800 vhtmcs 8 vhtnss 2 shortGI
""",
    "cake-autorate's config": "dl_if=ifb-wan\nul_if=wan\nadjust_dl_shaper_rate=1\nmin_dl_shaper_rate_kbps=5000\n",
    "nvram": "wl0_channel=36\nwl0_nmode=-1\nath0_hwaddr=02:00:00:00:00:01\n",
    "error messages": "command failed: No such device (-19)\n",
    "commands of tc": "tc qdisc replace dev eth0 root cake bandwidth 19mbit\n",
    "tc monitor": "deleted qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 19Mbit\n",
    "LuCI's status page": "Mode: Master | SSID: home\nChannel: 36 (5.180 GHz)\n",
    "iw dev INTERFACE survey dump": """Survey data from wlan0
	frequency:			5180 MHz [in use]
	noise:				-95 dBm
	channel active time:		12345 ms
	channel busy time:		678 ms
""",
    "iw reg get": "global\ncountry DE: DFS-ETSI\n\t(2400 - 2483 @ 40), (N/A, 20), (N/A)\n",
}
