"""Shapers of `tc`: text and JSON, with all options of cake, with htb and its classes, with and without device names."""

import json
from typing import Any

import pytest

from importing import Importer, cake
from stillair.__main__ import status

PLAIN = "diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0"
EGRESS = "diffserv4 dual-srchost nat nowash no-ack-filter split-gso rtt 20ms noatm overhead 44 mpu 84"
INGRESS = (
    "besteffort dual-dsthost nat wash ingress ack-filter split-gso rtt 100.0ms noatm overhead 44 mpu 84 memlimit 32Mb"
)


def json_cake(device: str | None, rate: int, **options: object) -> dict[str, Any]:
    base = {"bandwidth": rate * 125, "diffserv": "diffserv3", "flowmode": "triple-isolate", "raw": True, "fwmark": "0"}
    named = {"dev": device} if device else {}
    return {"kind": "cake", "handle": "1:", **named, "root": True, "options": base | options}


def ways(shaper: dict[str, Any]) -> tuple[Any, Any]:
    return shaper.get("down"), shaper.get("up")


@pytest.mark.parametrize("indent", ["", "> ", "    "])
def test_text_of_both_directions(importer: Importer, indent: str) -> None:
    text = cake("eth1.2", "20Mbit", EGRESS) + cake("ifb4eth1.2", "85Mbit", INGRESS)
    ingress = "qdisc ingress ffff: dev eth1.2 parent ffff:fff1 ----------------\n"
    made = importer.made(x="".join(f"{indent}{line}\n" for line in (text + ingress).splitlines()))
    shaper = made.wan["shaper"]
    assert ways(shaper) == ("85000 kbit/s", "20000 kbit/s")
    assert shaper["qdisc"] == {
        "kind": "cake",
        "tins": "diffserv4",
        "isolation": "dual-srchost",
        "nat": True,
        "wash": False,
        "ack_filter": "no-ack-filter",
        "split_gso": True,
        "rtt": "20000 us",
        "atm": "noatm",
        "overhead": 44,
        "mpu": 84,
    }
    assert shaper["qdisc_down"] == {
        "kind": "cake",
        "tins": "besteffort",
        "isolation": "dual-dsthost",
        "nat": True,
        "wash": True,
        "ingress": True,
        "ack_filter": "ack-filter",
        "split_gso": True,
        "rtt": "100000 us",
        "atm": "noatm",
        "overhead": 44,
        "mpu": 84,
        "memlimit": "33554432 B",
    }
    assert made.toml["link"]["wan"]["rate"] == {"down": "89474 kbit/s", "up": "21053 kbit/s"}


def test_text_and_json_say_the_same(importer: Importer) -> None:
    options = {
        "diffserv": "diffserv8",
        "flowmode": "dual-srchost",
        "nat": True,
        "wash": True,
        "ingress": False,
        "ack-filter": "aggressive",
        "split_gso": False,
        "rtt": 30_000,
        "raw": False,
        "atm": "ptm",
        "overhead": -4,
        "mpu": 68,
        "memlimit": 8 << 20,
        "fwmark": "0xff",
    }
    of_json = importer.made(x=json.dumps([json_cake("wan", 9500, **options)]))
    of_text = importer.made(
        x=cake(
            "wan",
            "9500Kbit",
            "diffserv8 dual-srchost nat wash ack-filter-aggressive no-split-gso rtt 30ms ptm overhead -4 mpu 68"
            " memlimit 8Mb fwmark 0xff",
        )
    )
    assert of_text.wan == of_json.wan
    assert of_text.wan["shaper"]["qdisc"]["ack_filter"] == "ack-filter-aggressive"
    for made in (of_text, of_json):
        assert "# not read: fwmark 0xff." in made.text


@pytest.mark.parametrize(
    ("rate", "kbit"),
    [
        *(("831Kbit", 831), ("9500000bit", 9500), ("1Gbit", 1_000_000), ("1.5Gbit", 1_500_000), ("1187500Bps", 9500)),
        ("2375Mbit", 2_375_000),
    ],
)
def test_rates(importer: Importer, rate: str, kbit: int) -> None:
    assert importer.made(x=cake("wan", rate, PLAIN)).wan["shaper"]["up"] == f"{kbit} kbit/s"


@pytest.mark.parametrize(
    ("rtt", "us"), [("100us", 100), ("1.0ms", 1000), ("30ms", 30_000), ("1s", 1_000_000), ("1e+03s", 1_000_000_000)]
)
def test_times(importer: Importer, rtt: str, us: int) -> None:
    found = importer.made(x=cake("wan", "9Mbit", f"besteffort flows rtt {rtt} raw")).wan["shaper"]["qdisc"]["rtt"]
    assert found == f"{us} us"


def test_the_forms_of_old_and_wrapped_text(importer: Importer) -> None:
    old = "diffserv3 triple-isolate rtt 100.0ms atm overhead 44 via-ethernet total_overhead 44 hard_header_len 14 "
    made = importer.made(x=cake("eth0.2", "8500Kbit", old))
    assert made.wan["shaper"]["qdisc"]["atm"] == "atm"
    assert "not read" not in made.text
    wrapped = (
        cake("wan", "20Mbit", EGRESS).replace(" dual-srchost", "\ndual-srchost").replace(" overhead", "\noverhead")
    )
    assert importer.made(x=wrapped).wan == importer.made(x=cake("wan", "20Mbit", EGRESS)).wan


@pytest.mark.parametrize(
    ("device", "options", "way", "told"),
    [
        ("wan", PLAIN, "up", ""),
        ("pppoe-wan", PLAIN, "up", ""),
        ("wwan0", PLAIN, "up", ""),
        ("eth1", f"{PLAIN} ingress", "down", ""),
        ("ifb4wan", PLAIN, "down", ""),
        ("ifb0", PLAIN, "down", ""),
        ("ifb-wan", PLAIN, "down", ""),
        ("br-lan", PLAIN, "down", "guess: br-lan is a LAN device"),
        ("lan1", PLAIN, "down", "guess: lan1 is a LAN device"),
        ("ifb4br-lan", PLAIN, "up", "guess: br-lan is a LAN device"),
        ("eth1", EGRESS, "up", "guess: eth1 shapes upload traffic: isolation by source hosts"),
        (
            "eth1",
            INGRESS.replace("ingress ", ""),
            "down",
            "guess: eth1 shapes download traffic: isolation by dest",
        ),
        ("eth1", PLAIN, "up", "guess: eth1 shapes upload traffic: assuming a WAN device"),
    ],
)
def test_the_direction_of_a_device(importer: Importer, device: str, options: str, way: str, told: str) -> None:
    made = importer.made(x=cake(device, "20Mbit", options))
    assert made.wan["shaper"][way] == "20000 kbit/s"
    assert {"down": "up", "up": "down"}[way] not in made.wan["shaper"]
    assert told in made.text
    assert f"guess: no shaper for {'upload' if way == 'down' else 'download'} traffic" in made.text


def test_the_network_s_settings_tell_the_side(importer: Importer) -> None:
    network = """config device
	option name 'br-lan'
	option type 'bridge'
	list ports 'eth0'
config interface 'wan'
	option device 'eth1'
	option proto 'dhcp'
"""
    text = cake("eth0", "80Mbit", PLAIN) + cake("eth1", "9Mbit", PLAIN)
    made = importer.made(x=text, network=network)
    assert ways(made.wan["shaper"]) == ("80000 kbit/s", "9000 kbit/s")
    assert "is a LAN device" not in made.text


@pytest.mark.parametrize(("eth0", "eth1"), [("80Mbit", "9Mbit"), ("9Mbit", "80Mbit")])
def test_of_two_devices_that_say_nothing_the_faster_is_down(importer: Importer, eth0: str, eth1: str) -> None:
    made = importer.made(x=cake("eth0", eth0, PLAIN) + cake("eth1", eth1, PLAIN))
    assert ways(made.wan["shaper"]) == ("80000 kbit/s", "9000 kbit/s")
    assert made.text.count("of which download is the faster") == 2
    # A known direction leaves the other.
    made = importer.made(x=cake("wan", eth0, PLAIN) + cake("eth1", eth1, PLAIN))
    shown = tuple(f"{rate.removesuffix('Mbit')}000 kbit/s" for rate in (eth1, eth0))
    assert ways(made.wan["shaper"]) == shown
    assert "guess: eth1 shapes download traffic: the other direction is known" in made.text


def test_of_two_lines_the_first_has_both_directions(importer: Importer) -> None:
    shapers = (("ifb4wanb", "30Mbit"), ("wan", "20Mbit"), ("wanb", "5Mbit"), ("ifb4wan", "90Mbit"))
    made = importer.made(x="".join(cake(device, rate, PLAIN) for device, rate in shapers))
    assert ways(made.wan["shaper"]) == ("90000 kbit/s", "20000 kbit/s")
    assert [one.partition(": a second cake for ")[2] for one in made.left] == [
        "upload traffic, at wanb.",
        "download traffic, at ifb4wanb.",
    ]


@pytest.mark.parametrize("as_json", [True, False])
def test_one_device_without_its_name(importer: Importer, as_json: bool) -> None:
    def one(rate: int, **options: object) -> str:
        text = cake("", f"{rate}Kbit", PLAIN)
        return json.dumps([json_cake(None, rate, **options)]) if as_json else text

    says = "found a shaper of 9500 kbit/s without a device name, expected its direction: --tc down=FILE or --tc up=FILE"
    assert says in importer.refused(tc=one(9500))
    for name, way in (
        ("tc-ifb4eth0.txt", "down"),
        ("tc-eth0.txt", "up"),
        ("tc_wan.json", "up"),
        ("download.txt", "down"),
        ("egress.txt", "up"),
    ):
        made = importer.of({name: one(9500)})
        assert made.wan["shaper"][way] == "9500 kbit/s"
        assert "guess: " in made.text
        assert "name" in next(line for line in made.text.splitlines() if name in line and "guess" in line)
    both = importer.made(a=one(9500), b=one(85_000))
    assert ways(both.wan["shaper"]) == ("85000 kbit/s", "9500 kbit/s")
    assert both.text.count("of which download is the faster") == 2


def test_the_command_line_tells_the_direction(importer: Importer, tmp_path: Any) -> None:  # noqa: ANN401
    for name, rate in (("a.json", 9500), ("b.json", 2000)):
        (tmp_path / name).write_text(json.dumps([json_cake(None, rate)]))
    given = [f"--tc=down={tmp_path / 'b.json'}", f"--tc=up={tmp_path / 'a.json'}"]
    made = importer.of({}, *given)
    assert ways(made.wan["shaper"]) == ("2000 kbit/s", "9500 kbit/s")
    assert "traffic: " not in made.text
    assert status(["import", "--tc=left=x"]) == 2


def test_the_last_output_of_a_device_holds(importer: Importer) -> None:
    first, last = cake("wan", "20Mbit", PLAIN), cake("wan", "18Mbit", PLAIN)
    for made in (importer.made(a=first, b=last), importer.made(x=first + last)):
        assert made.wan["shaper"]["up"] == "18000 kbit/s"
        assert any("earlier output of wan" in one for one in made.left)


HTB = """qdisc htb 1: dev {d} root refcnt 13 r2q 10 default 0x{m} direct_packets_stat 0 direct_qlen 1000
 Sent 1 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)
{leaves}"""
LEAF = """qdisc fq_codel {h}: dev {d} parent 1:{m} limit 1001p flows 1024 quantum {q} target 5ms interval 100ms {e}
 Sent 1 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)
"""
SIMPLE = (
    HTB.format(
        d="eth1",
        m=12,
        leaves="".join(LEAF.format(h=10 * n, d="eth1", m=n, q=300, e="") for n in (11, 12, 13)),
    )
    + "qdisc ingress ffff: dev eth1 parent ffff:fff1 ----------------\n"
    + HTB.format(d="ifb4eth1", m=10, leaves=LEAF.format(h=110, d="ifb4eth1", m=10, q=1514, e="ecn drop_batch 64"))
)
CLASSES = """root@x:~# tc -s class show dev eth1
class htb 1:11 parent 1:1 leaf 110: prio 1 rate 128Kbit ceil 6666Kbit burst 1600b cburst 1599b
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
class htb 1:1 root rate 20Mbit ceil 20Mbit burst 2500b cburst 2500b
class htb 1:13 parent 1:1 leaf 130: prio 3 rate 3333Kbit ceil 19984Kbit burst 1599b cburst 1598b
class htb 1:12 parent 1:1 leaf 120: prio 2 rate 3333Kbit ceil 19984Kbit burst 1599b cburst 1598b
class fq_codel 110:1a3 parent 110:
root@x:~# tc -s class show dev ifb4eth1
class htb 1:10 parent 1:1 leaf 110: prio 0 rate 85Mbit ceil 85Mbit burst 10625b cburst 10625b
class htb 1:1 root rate 85Mbit ceil 85Mbit burst 10625b cburst 10625b
"""


def test_htb_of_simple_qos(importer: Importer) -> None:
    made = importer.made(qdiscs=SIMPLE, classes=CLASSES)
    up, down = made.wan["qdisc"], made.wan["shaper"]
    assert (up["kind"], up["rate"], up["burst"]) == ("htb", "20000 kbit/s", "2500 B")
    assert (up["child"]["quantum"], up["child"]["ecn"], up["child"]["limit"]) == ("300 B", False, 1001)
    assert down["down"] == "85000 kbit/s"
    assert (down["qdisc"]["quantum"], down["qdisc"]["ecn"]) == ("1514 B", True)
    assert "not read: htb's 3 classes (1:11 128 kbit/s, 1:13 3333 kbit/s, 1:12 3333 kbit/s)" in made.text
    # In any order, and as one paste.
    assert importer.made(x=CLASSES + f"root@x:~# tc -s qdisc\n{SIMPLE}").wan == made.wan


def test_htb_without_its_classes_and_classes_without_their_htb(importer: Importer) -> None:
    made = importer.made(x=SIMPLE)
    assert "shaper" not in made.wan
    assert "x:1: htb at eth1: see 'tc -s class show dev eth1' for its rates." in made.left
    made = importer.made(x=CLASSES)
    assert made.wan["shaper"]["down"] == "85000 kbit/s"
    assert "not read: qdisc 110: below htb is not in the files; fq_codel is assumed" in made.text


def test_classes_of_json(importer: Importer) -> None:
    rows = [
        {"class": "htb", "handle": "1:1", "dev": "eth0", "root": True, "rate": 1_250_000, "burst": 1600},
        {"class": "htb", "handle": "1:10", "dev": "eth0", "parent": "1:1", "leaf": "110:", "rate": 1_250_000},
    ]
    fq = {"kind": "fq_codel", "handle": "110:", "dev": "eth0", "parent": "1:10", "options": {"limit": 77, "ecn": True}}
    made = importer.made(a=json.dumps(rows), b=json.dumps([fq]))
    assert made.wan["qdisc"]["rate"] == "10000 kbit/s"
    assert made.wan["qdisc"]["child"]["limit"] == 77


def test_several_devices_of_one_command(importer: Importer) -> None:
    command = "root@x:~# tc -s {0} show dev wan; tc -s {0} show dev ifb4wan\n"
    text = command.format("qdisc") + cake("", "9Mbit", PLAIN) + cake("", "80Mbit", PLAIN)
    made = importer.made(x=text)
    assert ways(made.wan["shaper"]) == ("80000 kbit/s", "9000 kbit/s")
    assert "x:2: cake at wan, up" in made.text
    classes = "".join(line + "\n" for line in CLASSES.splitlines() if line.startswith("class htb"))
    again = importer.made(x=command.format("class") + classes)
    assert again.wan["shaper"]["down"] == "85000 kbit/s"
    assert again.wan["qdisc"]["rate"] == "20000 kbit/s"
    told = "found class 1:1 again without a device name, expected each output of 'tc -s class show dev DEVICE'"
    assert told in importer.refused(x=classes)
    for first in (
        "$ ssh root@192.168.1.1 'tc -s qdisc show dev ifb4wan'\n",
        "Every 2.0s: tc -s qdisc show dev ifb4wan  x\n",
    ):
        assert importer.made(x=first + cake("", "9Mbit", PLAIN)).wan["shaper"]["down"] == "9000 kbit/s"


def test_framing_of_classes_is_named(importer: Importer) -> None:
    made = importer.made(x="class htb 1:1 dev wan root rate 10Mbit overhead 40 linklayer atm ceil 10Mbit burst 1600b\n")
    assert made.left == ["x:1: class 1:1: overhead 40 linklayer atm: htb has no framing here."]


def test_a_size_table_is_named(importer: Importer) -> None:
    text = SIMPLE.replace("direct_qlen 1000\n", "direct_qlen 1000\n linklayer atm overhead 40 mtu 2047 tsize 512\n", 1)
    made = importer.made(x=text, y=CLASSES)
    told = "stab linklayer atm overhead 40 mtu 2047 tsize 512"
    assert f"not read: {told}: htb has no framing here." in made.text
    assert f"x:1: {told}." in importer.made(x=text).left


def test_mq_and_its_children_keep_their_options(importer: Importer) -> None:
    child = "limit 1000p flows 16 quantum 300 target 20.0ms interval 300ms memory_limit 4Mb drop_batch 64"
    text = f"""qdisc noqueue 0: dev lo root refcnt 2
qdisc mq 0: dev eth0 root
qdisc fq_codel 0: dev eth0 parent :2 {child}
qdisc fq_codel 0: dev eth0 parent :1 {child}
qdisc noqueue 0: dev br-lan root refcnt 2
"""
    made = importer.made(x=text)
    assert made.wan["qdisc"] == {
        "kind": "fq_codel",
        "limit": 1000,
        "flows": 16,
        "quantum": "300 B",
        "target": "20 ms",
        "interval": "300 ms",
        "memory_limit": "4194304 B",
        "drop_batch": 64,
        "ecn": False,
    }
    assert "x:3: eth0; mq with 2 queues, modelled as one fq_codel." in made.text
    other = importer.made(x=text.replace("parent :1 limit 1000p", "parent :1 limit 999p"))
    assert "1 of the queues differ from the first" in other.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1", "pfifo_fast"),
        (
            "netem 8001: dev eth0 root refcnt 2 limit 1000 delay 100ms  10ms loss 1%",
            {"kind": "netem", "limit": 1000, "delay": "100 ms", "jitter": "10 ms", "loss": 0.01},
        ),
        (
            "pie 8001: dev eth0 root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20",
            {"kind": "pie", "limit": 1000, "target": "15 ms", "tupdate": "16 ms", "alpha": 2, "beta": 20},
        ),
        (
            "codel 0: dev eth0 root refcnt 2 limit 1000p target 4.99ms interval 99.9ms ecn",
            {"kind": "codel", "limit": 1000, "target": "4.99 ms", "interval": "99.9 ms", "ecn": True},
        ),
    ],
)
def test_other_disciplines_of_the_wired_interface(importer: Importer, text: str, expected: object) -> None:
    assert importer.made(x=f"qdisc {text}\n").wan["qdisc"] == expected


def test_numbers_behind_a_word_stay_together(importer: Importer) -> None:
    text = (
        "qdisc fq 0: dev eth0 root refcnt 2 limit 10000p flow_limit 100p buckets 1024 orphan_mask 1023 bands 3"
        " priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 weights 589824 196608 65536 quantum 3028b initial_quantum 15140b"
        " low_rate_threshold 550Kbit refill_delay 40ms timer_slack 10us horizon 10s horizon_drop\n"
    )
    made = importer.made(x=text)
    assert made.wan["qdisc"]["quantum"] == "3028 B"
    assert "x:1: weights 589824 196608 65536." in made.left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("fq_pie 8001: dev eth0 root refcnt 2 limit 10240p flows 1024 target 15ms alpha 2", "fq_pie at eth0"),
        ("dualpi2 8001: dev eth0 root refcnt 2 limit 10000p alpha 0.156250 beta 3.195312", "dualpi2 at eth0"),
        ("hfsc 1: dev eth0 root refcnt 2 default 12", "hfsc at eth0: see 'tc -s class"),
        ("cake 8001: dev br0 root refcnt 2 bandwidth unlimited besteffort flows rtt 100ms raw", "cake at br0"),
        ("mq 0: dev wlan0 root\nqdisc fq_codel 0: dev wlan0 parent :1 limit 10240p", "mq of 1 fq_codel at wlan0"),
    ],
)
def test_disciplines_that_are_left_out(importer: Importer, text: str, left: str) -> None:
    made = importer.made(x=f"qdisc {text}\n")
    assert "qdisc" not in made.wan
    assert any(one.startswith(f"x:1: {left}") for one in made.left)


def test_a_value_that_cannot_be_read_is_an_error(importer: Importer) -> None:
    says = 'x:1: found "bandwidth 20Mbitt", expected a value of bandwidth as tc prints it'
    assert says in importer.refused(x=cake("wan", "20Mbitt", PLAIN))


def test_a_framing_that_differs_is_named(importer: Importer, tmp_path: Any, capsys: Any) -> None:  # noqa: ANN401
    text = cake("wan", "9Mbit", PLAIN)
    made = importer.made("--framing=pppoe-llcsnap", x=text)
    says = "The framing differs: the shaper counts 14 bytes per packet (up), the line adds 40 bytes per packet"
    assert says in made.text
    assert made.toml["link"]["wan"]["overhead"] == "pppoe-llcsnap"
    (tmp_path / "x.toml").write_text(made.text)
    assert status(["check", str(tmp_path / "x.toml")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "the shaper of outgoing packets counts 14 bytes per packet, link.wan adds 40 bytes per packet in atm" in told
    assert "it passes more than the line carries" in told
    same = importer.made("--framing=docsis", x=cake("wan", "9Mbit", f"{PLAIN[:-14]} noatm overhead 18 mpu 64"))
    assert "The framing differs" not in same.text
    guessed = importer.made(x=cake("wan", "9Mbit", EGRESS))
    assert "guess: the line is assumed to add what the shaper counts" in guessed.text


@pytest.mark.parametrize(("device", "way"), [("eth1", "up"), ("wan", "up"), ("pppoe-wan", "up"), ("br-lan", "down")])
def test_wash_says_nothing_about_the_direction(importer: Importer, device: str, way: str) -> None:
    made = importer.made(x=cake(device, "20Mbit", PLAIN.replace("nowash", "wash")))
    assert made.wan["shaper"] == {way: "20000 kbit/s", "qdisc": made.wan["shaper"]["qdisc"]}
    assert made.wan["shaper"]["qdisc"]["wash"] is True


COUNTERS = """ Sent 3816835440 bytes 8077772 pkt (dropped 4081, overlimits 18216959 requeues 12)
 rate 8128bit 1pps backlog 10156b 7p requeues 12
 backlog 1Kb 7p requeues 12
 memory used: 224925b of 4Mb
 capacity estimate: 831Kbit
 min/max network layer size:           28 /    1500
 min/max overhead-adjusted size:       68 /    1540
 average network hdr offset:           14
                   Bulk  Best Effort        Video        Voice
                  Tin 0        Tin 1        Tin 2
  thresh       1250Kbit       20Mbit        5Mbit
  pk_delay          0us        1.2ms         10us
  backlog            0b           0b           0b
  way_inds            0          123            0
  ack_drop            0            0            0
  max_len             0         1514          576
  maxpacket 1514 drop_overlimit 0 new_flow_count 2 ecn_mark 0 drop_overmemory 0
  new_flows_len 1 old_flows_len 2
  count 0 lastcount 0 ldelay 0us drop_next 0us
  flows 6 (inactive 5 throttled 0)
  5 flows (5 inactive, 0 throttled), next packet delay 1200 ns
  0 gc, 5 highprio, 3 throttled, 2840 ns latency
  flows 5 (inactive 4 throttled 0) band0_pkts 0 band1_pkts 12 band2_pkts 0
  gc 0 highprio 0 fastpath 12 throttled 0 latency 8.5us ce_mark 0
  1 too long pkts, 0 alloc errors
  prob 0.000123 delay 15us avg_dq_rate 0bit
  pkts_in 12 overlimit 0 dropped 0 maxq 4 ecn_mark 0
  marked 0 early 0 pdrop 0 other 0
 lended: 12 borrowed: 3 giants: 0
 tokens: -125 ctokens: 1250
"""


def test_all_counters_are_known_and_other_lines_are_listed(importer: Importer) -> None:
    text = f"qdisc cake 8003: dev wan root refcnt 2 bandwidth 20Mbit {PLAIN}\n{COUNTERS}"
    assert importer.made(x=text).left == []
    at = len(text.splitlines())
    made = importer.made(x=f"{text}my DSL has 100 Mbit/s\nand the modem is a Vigor 130\n\nThanks\n")
    assert made.left == [
        f'x:{at + 1}: not recognised: "my DSL has 100 Mbit/s" and 1 more line.',
        f'x:{at + 4}: not recognised: "Thanks".',
    ]
    # A second discipline behind them is read.
    assert importer.made(x=f"{text}hello\n{text.replace('dev wan', 'dev ifb4wan')}").wan["shaper"]["down"]


def test_lines_behind_classes_are_listed(importer: Importer) -> None:
    text = "class htb 1:1 dev wan root rate 10Mbit ceil 10Mbit burst 1600b\n" + COUNTERS
    assert importer.made(x=text).left == []
    assert importer.made(x=f"{text}that is slow\n").left == ['x:32: not recognised: "that is slow".']
