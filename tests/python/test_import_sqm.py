"""OpenWrt's /etc/config/sqm: each option is in the scenario, or said to be not read."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stillair import _native
from stillair.__main__ import status
from stillair.runs.imports import network, scenario
from stillair.runs.imports.facts import Shaper
from stillair.runs.imports.openwrt import sqm, tc_options, uci

BASE = {"enabled": "1", "interface": "wan", "download": "85000", "upload": "10000", "qdisc": "cake"}
LAYERS = {"script": "layer_cake.qos", "linklayer": "ethernet", "overhead": "34"}
ADVANCED = {
    "qdisc_advanced": "1",
    "squash_dscp": "0",
    "squash_ingress": "0",
    "qdisc_really_really_advanced": "1",
    "iqdisc_opts": "nat dual-dsthost ingress",
    "eqdisc_opts": "nat dual-srchost ack-filter",
}


def config(options: Mapping[str, str]) -> str:
    lines = [f"\toption {key} '{value}'" for key, value in {**BASE, **options}.items()]
    return "\n".join(["config queue 'wan'", *lines]) + "\n"


def shaper(options: Mapping[str, str]) -> Shaper:
    (found,) = uci.read("sqm", config(options))
    assert isinstance(found, Shaper)
    return found


def interface(text: str) -> dict[str, Any]:
    resolved = json.loads(_native.resolve(text, "x.toml", []))
    ap = next(node for node in resolved["nodes"] if node["name"] == "ap")
    found: dict[str, Any] = next(one for one in ap["interfaces"] if one["name"] == "eth0")
    return found


def test_what_a_router_had_set_is_in_the_scenario() -> None:
    options = {**LAYERS, **ADVANCED, "linklayer_advanced": "1", "tcMPU": "68", "tcMTU": "2047", "tcTSIZE": "128"}
    text = scenario.text(network.of(uci.read("sqm", config(options))), ["sqm"])
    made = interface(text)
    down, up = made["ingress"], made["qdisc"]["config"]
    assert (down["isolation"], up["isolation"]) == ("dual-dsthost", "dual-srchost")
    assert (down["ingress"], up["ingress"]) == (True, False)
    assert (down["ack_filter"], up["ack_filter"]) == ("no-ack-filter", "ack-filter")
    assert (down["bandwidth_bps"], up["bandwidth_bps"]) == (85_000_000, 10_000_000)
    for one in (down, up):
        assert (one["nat"], one["tins"], one["wash"]) == (True, "diffserv3", False)
        assert (one["overhead_bytes"], one["mpu_bytes"], one["atm"]) == (34, 68, "noatm")
    assert "not read" not in text


def test_the_line_adds_what_the_shaper_counts() -> None:
    def line(options: Mapping[str, str]) -> tuple[object, ...]:
        text = scenario.text(network.of(uci.read("sqm", config(options))), ["sqm"])
        link = json.loads(_native.resolve(text, "x.toml", []))["links"][0]
        made = [(link[key]["line"]["overhead_bytes"], link[key]["line"]["atm"]) for key in ("medium", "medium_back")]
        assert made[0] == made[1]
        return tuple(made[0])

    assert line({**LAYERS, "eqdisc_opts": "ptm"}) == (34, "ptm")
    assert line({**LAYERS, "linklayer": "atm", "overhead": "40"}) == (40, "atm")
    # Without a link layer nothing is known of it.
    assert line({**LAYERS, "linklayer": "none"}) == (18, "noatm")


@pytest.mark.parametrize(
    ("options", "down", "up"),
    [
        # sqm-scripts' defaults: what comes in is not sorted by its DSCP, and loses it.
        (
            LAYERS,
            {"tins": "besteffort", "nat": True, "wash": True, "overhead": 34},
            {"tins": "diffserv3", "nat": True, "overhead": 34},
        ),
        (
            {"script": "piece_of_cake.qos", "linklayer": "atm", "overhead": "44", "squash_dscp": "0"},
            {"tins": "besteffort", "nat": True, "overhead": 44, "atm": "atm"},
            {"tins": "besteffort", "nat": True, "overhead": 44, "atm": "atm"},
        ),
        # The scripts of cake take it whatever `qdisc` says; without a link layer nothing is added.
        (
            {"script": "piece_of_cake.qos", "qdisc": "fq_codel", "squash_dscp": "0"},
            {"tins": "besteffort", "nat": True},
            {"tins": "besteffort", "nat": True},
        ),
        # Its firewall clears the DSCP behind the cake, whatever the cake's own words say.
        ({"script": "simple.qos"}, {"tins": "besteffort", "wash": True}, {"tins": "diffserv3"}),
        (
            {"script": "simple.qos", "iqdisc_opts": "nowash", "squash_ingress": "0"},
            {"tins": "diffserv3", "wash": True},
            {"tins": "diffserv3"},
        ),
        ({"script": "simple.qos", "squash_dscp": "0"}, {"tins": "besteffort"}, {"tins": "diffserv3"}),
        ({"script": "simplest.qos"}, {"tins": "besteffort"}, {"tins": "besteffort"}),
        # The last of competing words holds.
        (
            {**LAYERS, "iqdisc_opts": "nonat nowash diffserv4 rtt 300000", "eqdisc_opts": "pppoe-ptm ether-vlan lan"},
            {"tins": "diffserv4", "rtt": "300000 us", "overhead": 34},
            {"tins": "diffserv3", "nat": True, "rtt": "1000 us", "overhead": 68, "atm": "ptm"},
        ),
    ],
)
def test_each_direction_has_what_the_script_gives_it(
    options: dict[str, str], down: dict[str, object], up: dict[str, object]
) -> None:
    made = shaper(options)
    assert dict(made.down) == {"kind": "cake", **down}
    assert dict(made.up) == {"kind": "cake", **up}


def test_what_is_not_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {
        **LAYERS,
        **ADVANCED,
        "eqdisc_opts": "autorate-ingress fwmark 0x3 overhead 999 speed",
        "ilimit": "300",
        "egress_ecn": "NOECN",
        "zero_dscp_egress": "1",
        "use_mq": "0",
    }
    unread = list(shaper(options).unread)
    assert sorted(unread) == [
        "egress_ecn NOECN: cake always marks",
        "eqdisc_opts autorate-ingress",
        "eqdisc_opts fwmark 0x3",
        "eqdisc_opts overhead 999",
        "eqdisc_opts speed",
        "ilimit 300: cake has no such option",
        "use_mq 0",
        "zero_dscp_egress 1",
    ]
    (tmp_path / "sqm").write_text(config(options))
    assert status(["import", str(tmp_path / "sqm")]) == 0
    text = capsys.readouterr().out
    assert all(f"# not read: {one}." in text for one in unread)
    assert status(["import", str(tmp_path / "sqm"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["unread"] == unread


def test_framing_that_counts_nothing_is_said() -> None:
    assert "overhead 34: linklayer is none" in shaper({**LAYERS, "linklayer": "none"}).unread
    by_table = shaper({**LAYERS, "linklayer_adaptation_mechanism": "tc_stab"})
    assert "overhead" not in by_table.up
    assert "overhead 34: linklayer_adaptation_mechanism is tc_stab" in by_table.unread
    as_ethernet = shaper({**LAYERS, "linklayer": "ptm"}).unread
    assert any(one.startswith("linklayer ptm: sqm-scripts treat it") for one in as_ethernet)
    below = {"qdisc": "fq_codel", "script": "simplest.qos", "overhead": "34"}
    assert "overhead 34: linklayer is none" in shaper(below).unread
    assert "overhead 999: out of cake's range" in shaper({**LAYERS, "overhead": "999"}).unread


def test_flags_of_luci_do_not_count_for_the_scripts() -> None:
    off = shaper({**LAYERS, **ADVANCED, "qdisc_advanced": "0", "qdisc_really_really_advanced": "0"})
    assert off.down["isolation"] == "dual-dsthost"
    assert [one.split(": ")[0] for one in off.said] == ["squash_dscp, squash_ingress", "iqdisc_opts, eqdisc_opts"]
    assert all("LuCI" in one for one in off.said)
    assert not shaper({**LAYERS, **ADVANCED}).said


def test_the_file_that_openwrt_comes_with_needs_no_comment() -> None:
    stock = {
        "script": "piece_of_cake.qos",
        "qdisc_advanced": "0",
        "ingress_ecn": "ECN",
        "egress_ecn": "ECN",
        "qdisc_really_really_advanced": "0",
        "itarget": "auto",
        "etarget": "auto",
        "linklayer": "none",
    }
    assert (list(shaper(stock).unread), list(shaper(stock).said)) == ([], [])
    # Of an fq_codel there is the burst alone, and what LuCI hides is told only if it makes a difference.
    below = shaper({**stock, "script": "simplest.qos", "qdisc": "fq_codel"})
    assert [one.split(" ")[0] for one in below.unread] == ["burst"]
    assert not below.said
    more = {"squash_dscp": "1", "squash_ingress": "0", "elimit": "1001", "egress_ecn": "NOECN", "itarget": "7ms"}
    told = shaper({**stock, **more, "script": "simplest.qos", "qdisc": "fq_codel"}).said
    assert [one.split(": ")[0] for one in told] == ["egress_ecn", "itarget"]


def test_what_squashes_the_dscp_is_told_as_it_is() -> None:
    def of(script: str, **options: str) -> list[str]:
        unread = shaper({"qdisc": "fq_codel", "script": script, **options}).unread
        return [one for one in unread if one.startswith("squash_dscp")]

    # On by default in the one script that has a firewall for it.
    (one,) = of("simple.qos")
    assert one.startswith(
        "squash_dscp 1: simple.qos clears the DSCP of incoming packets with a firewall rule; here it stays"
    )
    assert of("simple.qos", squash_dscp="1") == [one]
    assert of("simple.qos", squash_dscp="0") == of("simplest.qos") == of("simplest_tbf.qos", squash_dscp="0") == []
    for script in ("simplest.qos", "simplest_tbf.qos"):
        assert of(script, squash_dscp="1") == [
            f"squash_dscp 1: no effect on the router either: {script} does not clear the DSCP"
        ]


def test_the_script_of_tbf_takes_no_cake() -> None:
    made = shaper({"script": "simplest_tbf.qos", "etarget": "8ms", "egress_ecn": "NOECN"})
    assert dict(made.up) == {"kind": "fq_codel", "limit": 1001, "target": "8000 us", "ecn": False}
    assert made.down["kind"] == "fq_codel"
    assert "qdisc cake: simplest_tbf.qos ignores this and runs fq_codel" in made.said
    assert not [one for one in made.unread if "cake has no such option" in one or "cake marks" in one]


@pytest.mark.parametrize(
    ("kbit", "burst"),
    # A millisecond at the rate, but a packet in cells of ATM at least.
    [("1000", 1749), ("13992", 1749), ("14000", 1750), ("85000", 10_625)],
)
def test_an_htb_has_the_burst_of_the_scripts(kbit: str, burst: int) -> None:
    below = {"qdisc": "fq_codel", "script": "simplest.qos"}
    made = shaper({**below, "upload": kbit})
    htb = interface(scenario.text(network.of([made]), ["sqm"]))["qdisc"]["config"]
    assert (htb["kind"], htb["burst_bytes"], htb["cburst_bytes"]) == ("htb", burst, burst)
    # A shaper takes none: that of what comes in is told, where anything shapes it.
    assert "burst of 10625 bytes for downloads: the htb of a shaper has 1600" in made.unread
    up = shaper({**below, "upload": kbit, "download": "0"})
    assert not [one for one in up.unread if one.startswith("burst")]
    alone = interface(scenario.text(network.of([up]), ["sqm"]))
    assert alone["qdisc"]["config"]["burst_bytes"] == burst
    assert "ingress" not in alone


@pytest.mark.parametrize(
    ("given", "target", "said"),
    [
        ("", "13992 us", ""),
        ("auto", "13992 us", ""),
        ("7auto", "13992 us", ""),
        ("default", None, ""),
        ("5ms", "5000 us", ""),
        ("5 ms", "5000 us", ""),
        # Digits at the start and letters at the end are all that counts.
        ("1.5ms", "1000 us", "etarget 1.5ms: 1ms, as sqm-scripts read it"),
        ("5", None, "etarget 5: not a time for sqm-scripts"),
        ("5min", None, "etarget 5min: not a time for sqm-scripts"),
        ("5MS", None, "etarget 5MS: not a time for sqm-scripts"),
        ("0ms", None, "etarget 0ms: out of fq_codel's range"),
    ],
)
def test_targets_are_read_as_the_scripts_read_them(given: str, target: str | None, said: str) -> None:
    flags = {"qdisc_really_really_advanced": "1"}
    made = shaper({"qdisc": "fq_codel", "script": "simplest.qos", "upload": "1000", "etarget": given, **flags})
    assert made.up.get("target") == target
    assert made.up.get("interval") == ("108992 us" if target == "13992 us" else None)
    told = [one for one in (*made.said, *made.unread) if "target" in one]
    assert [one[: len(said)] for one in told] == [said] * bool(said)


@pytest.mark.parametrize(
    ("given", "ecn", "unread"),
    [("ECN", True, 0), ("ecn", True, 0), ("NOECN", False, 0), ("noecn", False, 0), ("off", True, 1)],
)
def test_ecn_by_another_word_is_handed_on(given: str, ecn: bool, unread: int) -> None:
    made = shaper({"qdisc": "fq_codel", "script": "simplest.qos", "egress_ecn": given})
    assert made.up["ecn"] == ecn
    assert len([one for one in made.unread if one.startswith("egress_ecn off: neither")]) == unread


def test_missing_keys_are_what_the_scripts_make_of_them() -> None:
    rest = "config queue\noption enabled '1'\noption interface 'wan'\n"
    script = "option script 'layer_cake.qos'\n"
    (made,) = uci.read("sqm", rest + script)
    assert isinstance(made, Shaper)
    assert (made.down_kbit, made.up_kbit) == (14_698, 2_302)
    assert "no upload: sqm-scripts use 2302 kbit/s" in made.said
    (off,) = uci.read("sqm", f"{rest}{script}option download '0'\noption upload '10000'\n")
    assert isinstance(off, Shaper)
    assert (off.down_kbit, off.up_kbit) == (0, 10_000)
    # A script is never guessed: without one nothing is started.
    (none,) = uci.read("sqm", f"{rest}option download '85000'\noption upload '10000'\n")
    text = scenario.text(network.of([none]), ["sqm"])
    assert "# left out: sqm:1: the shaper at wan has no script, so sqm does not start it." in text
    assert "# guess: a server behind a wired link that is never the bottleneck." in text
    assert 'interface.eth0 = { link = "wan", address = "10.0.0.1" }' in text


@pytest.mark.parametrize(("off", "rate"), [("download", 10_526_000), ("upload", 89_474_000)])
def test_a_direction_that_nothing_shapes_is_no_bottleneck(off: str, rate: int) -> None:
    text = scenario.text(network.of([shaper({**LAYERS, off: "0"})]), ["sqm"])
    link = json.loads(_native.resolve(text, "x.toml", []))["links"][0]
    rates = sorted(link[medium]["line"]["rate_bps"] for medium in ("medium", "medium_back"))
    assert rates == [rate, 1_000_000_000]
    assert f"# guess: no shaper for {off} traffic, and the line's {off} rate is unknown." in text


def test_fq_codel_below_an_htb() -> None:
    options = {"qdisc": "fq_codel", "script": "simplest.qos", "upload": "1000", "egress_ecn": "NOECN", "ilimit": "600"}
    made = shaper({**options, "linklayer": "atm", "overhead": "40", "iqdisc_opts": "ce_threshold 1ms"})
    assert dict(made.down) == {"kind": "fq_codel", "limit": 600, "ecn": True}
    # At 1 Mbit/s one packet takes longer than CoDel's target.
    expected = {"kind": "fq_codel", "limit": 1001, "target": "13992 us", "interval": "108992 us", "ecn": False}
    assert dict(made.up) == expected
    assert "iqdisc_opts ce_threshold 1ms" in made.unread
    assert "linklayer atm: htb has no framing here" in made.unread
    found = interface(scenario.text(network.of([made]), ["sqm"]))
    assert (found["qdisc"]["config"]["kind"], found["qdisc"]["config"]["rate_bps"]) == ("htb", 1_000_000)
    assert found["qdisc"]["config"]["child"]["codel"]["target_ns"] == 13_992_000
    assert found["ingress"]["child"]["limit"] == 600
    simple = shaper({"qdisc": "fq_codel", "script": "simple.qos"})
    assert simple.up["quantum"] == "300 B"
    assert any("three classes" in one for one in simple.unread)


def test_scripts_that_are_not_known_are_guesses() -> None:
    made = shaper({**LAYERS, "script": "layer_cake_ct.qos"})
    assert made.up["tins"] == "diffserv3"
    assert any(one.startswith("guess: unknown script layer_cake_ct.qos") for one in made.said)


def test_any_words_make_a_scenario_that_is_read() -> None:
    every = [
        *tc_options.TINS,
        *tc_options.ISOLATION,
        *tc_options.FLAGS,
        *tc_options.FRAMING,
        *tc_options.RTT_US,
        *(
            "rtt 20ms",
            "rtt 0",
            "memlimit 32mb",
            "memlimit 1",
            "overhead -64",
            "mpu 256",
            "mpu 300",
            "raw",
            "ptm",
            "atm",
        ),
        *(
            "conservative",
            "bandwidth 3mbit",
            "target 1ms",
            "limit 0",
            "limit 99999999",
            "quantum 1",
            "flows 70000",
            "rtt",
        ),
    ]
    draw = random.Random(1)  # noqa: S311 - the same words each time
    for _ in range(200):
        both = {f"{way}qdisc_opts": " ".join(draw.choices(every, k=draw.randrange(6))) for way in "ie"}
        kind = draw.choice(["cake", "fq_codel"])
        made = sqm.queue({**LAYERS, **both, "qdisc": kind, "script": "simplest.qos"}, {"down": 9000, "up": 100})
        one = Shaper("wan", 9000, 100, "x", made.down, made.up, enabled=True, where="x:1")
        assert interface(scenario.text(network.of([one]), ["x"]))
