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
from stillair.runs.imports.openwrt import sqm, uci, words

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
        ({"script": "simple.qos"}, {"tins": "besteffort"}, {"tins": "diffserv3"}),
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
        "egress_ecn NOECN: cake marks in any case",
        "eqdisc_opts autorate-ingress",
        "eqdisc_opts fwmark 0x3",
        "eqdisc_opts overhead 999",
        "eqdisc_opts speed",
        "ilimit 300: cake has none",
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
    assert any(one.startswith("linklayer ptm: sqm-scripts take it") for one in shaper({"linklayer": "ptm"}).unread)
    assert "overhead 999: more or less than cake takes" in shaper({**LAYERS, "overhead": "999"}).unread


def test_flags_of_luci_do_not_count_for_the_scripts() -> None:
    off = shaper({**LAYERS, **ADVANCED, "qdisc_advanced": "0", "qdisc_really_really_advanced": "0"})
    assert off.down["isolation"] == "dual-dsthost"
    assert [one.split(": ")[0] for one in off.said] == ["squash_dscp, squash_ingress", "iqdisc_opts, eqdisc_opts"]
    assert all("LuCI" in one for one in off.said)
    assert not shaper({**LAYERS, **ADVANCED}).said


def test_fq_codel_below_an_htb() -> None:
    options = {"qdisc": "fq_codel", "script": "simplest.qos", "upload": "1000", "egress_ecn": "NOECN", "ilimit": "600"}
    made = shaper({**options, "linklayer": "atm", "overhead": "40", "iqdisc_opts": "ce_threshold 1ms"})
    assert dict(made.down) == {"kind": "fq_codel", "limit": 600, "ecn": True}
    # At 1 Mbit/s one packet takes longer than CoDel's target.
    expected = {"kind": "fq_codel", "limit": 1001, "target": "13992 us", "interval": "108992 us", "ecn": False}
    assert dict(made.up) == expected
    assert "iqdisc_opts ce_threshold 1ms" in made.unread
    assert "linklayer atm: an htb of a scenario has no framing" in made.unread
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
    assert any(one.startswith("guess: layer_cake_ct.qos") for one in made.said)


def test_any_words_make_a_scenario_that_is_read() -> None:
    every = [
        *words.TINS,
        *words.ISOLATION,
        *words.FLAGS,
        *words.FRAMING,
        *words.RTT_US,
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
