"""Lines behind the outputs of iw, iwinfo, iwconfig, ip and ifconfig: known ones are silent, others are left out."""

from pathlib import Path

import pytest

from importing import Importer
from printed import TEXTS
from stillair.runs.imports import kinds
from stillair.runs.imports.facts import Unread

SAMPLES = Path(__file__).with_name("samples")
HEAD = "Station 02:00:00:00:00:71 (on phy0-ap0)\n\tsignal:  \t-55 dBm\n"
SENTENCES = "note: both phones are slow\nand the TV too\n\nAny idea?\n"

STATION = f"""{HEAD}\tmesh llid:\t0
\tmesh plid:\t0
\tmesh airtime link metric: 48
\tmesh connected to auth server:\tno
\tbeacon signal avg:\t-55 dBm
\tToffset:\t287058701286 us
\tlast ack signal:-95 dBm
\tavg ack signal:\t-95 dBm
\tCTS protection:\tyes
\tshort preamble:\tyes
\tshort slot time:yes
\tassociated at [boottime]:\t707590.908s
\tcurrent time:\t1784846913134 ms
\tMSDU:
\t\tTID\trx\ttx\ttx retries\ttx failed
\t\t0\t12\t34\t5\t\t0
\tTXQs:
\t\tTID\tqsz-byt\tqsz-pkt\tflows\tdrops\tmarks\toverlmt\thashcol\ttx-bytes\ttx-packets
\t\t0\t0\t0\t1501\t0\t0\t0\t0\t525898\t\t2587
"""
IWINFO = """wlan0     ESSID: "OpenWrt"
          Access Point: 02:00:00:00:00:61
          Mode: Master  Channel: 36 (5.180 GHz)  HT Mode: VHT80
          Center Channel 1: 42 2: unknown
          Tx-Power: 23 dBm  Link Quality: 55/70
          Signal: -55 dBm  Noise: -95 dBm
          Bit Rate: 702.0 MBit/s
          Encryption: WPA2 PSK (CCMP)
          Type: nl80211  HW Mode(s): 802.11nac
          Hardware: 168C:0046 168C:CAFE [Qualcomm Atheros QCA9984]
          TX power offset: none
          Frequency offset: none
          Supports VAPs: yes  PHY name: phy0
"""
IWCONFIG = """lo        no wireless extensions.

wlp2s0    IEEE 802.11  ESSID:"home"  Nickname:"x"
          Mode:Managed  Frequency:5.18 GHz  Access Point: 02:00:00:00:00:61
          Bit Rate=866.7 Mb/s   Tx-Power=22 dBm   Sensitivity=1/0
          Retry short limit:7   RTS thr:off   Fragment thr:off
          Retry  long limit:7   RTS thr:off   Fragment thr:off
          Encryption key:off
          Power Management:on
          Link Quality=60/70  Signal level=-50 dBm
          Rx invalid nwid:0  Rx invalid crypt:0  Rx invalid frag:0
          Tx excessive retries:0  Invalid misc:12   Missed beacon:0
"""
IP = """1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0  allmulti 0 minmtu 0 maxmtu 0
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
    inet6 ::1/128 scope host
       valid_lft forever preferred_lft forever
    RX:  bytes packets errors dropped  missed   mcast
       1412209    3299      0       0       0       0
    RX errors:  length    crc   frame    fifo overrun
                     0      0       0       0       0
    TX: bytes  packets  errors  dropped carrier collsns
       1412209    3299      0       0       0       0
2: enp3s0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:00:00:00:80 brd ff:ff:ff:ff:ff:ff permaddr 02:00:00:00:00:81
    altname eth0
    bridge_slave state forwarding priority 32 cost 4
3: wan@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default qlen 1000
    link/ether 02:00:00:00:00:80 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    vlan protocol 802.1Q id 7 <REORDER_HDR>
3: wan    inet 192.0.2.7/24 brd 192.0.2.255 scope global wan
"""
OLD_IFCONFIG = """br-lan    Link encap:Ethernet  HWaddr 02:00:00:00:00:03
          inet addr:192.0.2.7  Bcast:192.0.2.255  Mask:255.255.255.0
          inet6 addr: fe80::1/64 Scope:Link
          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1
          RX packets:3299 errors:0 dropped:0 overruns:0 frame:0
          TX packets:3299 errors:0 dropped:0 overruns:0 carrier:0
          collisions:0 txqueuelen:1000
          RX bytes:1412209 (1.3 MiB)  TX bytes:1412209 (1.3 MiB)
          Interrupt:5 Base address:0x1000
"""
NEW_IFCONFIG = """eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500
        inet 192.0.2.7  netmask 255.255.255.0  broadcast 192.0.2.255
        inet6 fe80::1  prefixlen 64  scopeid 0x20<link>
        ether 02:00:00:00:00:03  txqueuelen 1000  (Ethernet)
        RX packets 3299  bytes 1412209 (1.3 MiB)
        RX errors 0  dropped 0  overruns 0  frame 0
        TX packets 3299  bytes 1412209 (1.3 MiB)
        TX errors 0  dropped 0 overruns 0  carrier 0  collisions 0
        device interrupt 17  memory 0xe1200000-e1220000
"""
ROUTES = """default via 192.0.2.1 dev eth0 proto static
default proto static metric 20
\tnexthop via 192.0.2.1 dev eth0 weight 1
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.7
unreachable 2001:db8::/48 dev lo metric 2147483647
fe80::/64 dev eth0 proto kernel metric 256 pref medium
"""
PHY = """Wiphy phy0
\twiphy index: 0
\tmax # scan SSIDs: 4
\tRetry short limit: 7
\tDevice supports RSN-IBSS.
\tAvailable Antennas: TX 0x3 RX 0x3
\tBand 2:
\t\tCapabilities: 0x19ef
\t\t\tRX LDPC
\t\t\tHT20/HT40
\t\t\tNo DSSS/CCK HT40
\t\tMaximum RX AMPDU length 65535 bytes (exponent: 0x003)
\t\tHT TX/RX MCS rate indexes supported: 0-15
\t\tFrequencies:
\t\t\t* 5180.0 MHz [36] (20.0 dBm)
"""
OUTPUTS = {
    "station": STATION,
    "link": TEXTS["iw dev INTERFACE link"] + "\tbss flags: short-slot-time\n",
    "dev": (SAMPLES / "iw-dev-2024.txt").read_text(encoding="utf-8"),
    "power save": TEXTS["iw dev INTERFACE get power_save"],
    "phy": PHY,
    "phy without indentation": "\n".join(line.strip() for line in PHY.splitlines()) + "\n",
    "iwinfo": IWINFO,
    "assoclist": TEXTS["iwinfo INTERFACE assoclist"],
    "no stations": "root@OpenWrt:~# iwinfo wlan0 assoclist\nNo station connected\n",
    "iwconfig": IWCONFIG,
    "ip": IP,
    "old ifconfig": OLD_IFCONFIG,
    "new ifconfig": NEW_IFCONFIG,
    "routes": ROUTES,
    "wpa_cli status": "Selected interface 'wlan0'\n" + TEXTS["wpa_cli status"],
    "signal_poll": TEXTS["wpa_cli signal_poll"],
    "hostapd_cli status": TEXTS["hostapd_cli status"] + "bss[0]=wlan0\nnum_sta[0]=1\n",
    "all_sta": TEXTS["hostapd_cli all_sta"],
}


def unrecognised(text: str) -> list[str]:
    found = kinds.text("x", text)
    return [f"{one.where}: {one.what}" for one in found if isinstance(one, Unread) and "not recognised" in one.what]


@pytest.mark.parametrize("text", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_known_lines_are_silent_and_others_are_listed(text: str) -> None:
    assert unrecognised(text) == []
    at = len(text.splitlines())
    assert unrecognised(text + SENTENCES) == [
        f'x:{at + 1}: not recognised: "note: both phones are slow" and 1 more line',
        f'x:{at + 4}: not recognised: "Any idea?"',
    ]


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.txt")), ids=lambda path: path.name)
def test_real_outputs_are_known(path: Path) -> None:
    assert unrecognised(path.read_text(encoding="utf-8")) == []


def test_many_lines_are_counted(importer: Importer) -> None:
    text = HEAD + "".join(f"\tcomment {number}: slow\n\trx bytes:\t{number}\n" for number in range(9))
    left = [one for one in importer.made(x=text).left if "not recognised" in one]
    assert left[:2] == ['x:3: not recognised: "comment 0: slow".', 'x:5: not recognised: "comment 1: slow".']
    assert left[5:] == ["x:13: not recognised: 4 more lines."]


def test_routes_and_sentences_behind_no_connection_are_left_out(importer: Importer) -> None:
    made = importer.made(x=IWINFO, y=ROUTES, z="Not connected.\nwhy?\n")
    assert made.left == [
        "y:1: ip route: routes are not imported.",
        "z:1: iw link: the interface is not connected.",
        'z:2: not recognised: "why?".',
    ]
