"""What `stillair tune` sets at a line: the commands of `tc` and of sqm-scripts, and the scenario, are one shaper."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stillair import Scenario
from stillair.explain.tune import space
from stillair.runs.imports.facts import Shaper
from stillair.runs.imports.openwrt import tc_options, uci

PROBLEM = Path(__file__).parent / "tune_problems" / "wrong-shaper-rate.toml"
LINES = ("docsis", "ethernet", "pppoe-ptm", "bridged-ptm", "pppoe-llcsnap", "pppoa-vcmux", "raw", "conservative")


WHOLE = 'shaper = { down = "120 Mbit/s", up = "30 Mbit/s", qdisc = { kind = "cake", overhead = "docsis" } }'
KEPT = {
    "as in the file": WHOLE,
    "none": "txqueuelen = 100",
    "one for both": WHOLE.replace("overhead", 'wash = true, rtt = "30 ms", isolation = "flows", overhead'),
    "each its own": (
        'masquerade = true, qdisc = { kind = "cake", bandwidth = "30 Mbit/s", isolation = "dual-srchost", ack_filter ='
        ' "ack-filter", split_gso = false }, shaper = { down = "120 Mbit/s", qdisc = { kind = "cake", ingress = true,'
        ' isolation = "dual-dsthost", tins = "besteffort", memlimit = "8388608 B" } }'
    ),
    "one way": 'shaper = { down = "120 Mbit/s", qdisc = { kind = "cake", ingress = true, tins = "diffserv4" } }',
    "down alone": (
        'masquerade = true, shaper = { down = "120 Mbit/s", qdisc = { kind = "cake", wash = true, isolation ='
        ' "dual-dsthost" } }'
    ),
    "up alone": (
        'shaper = { up = "30 Mbit/s", qdisc = { kind = "cake", isolation = "srchost", ack_filter = "ack-filter" } }'
    ),
}
EXPECTED = {
    "one for both": ({"wash": True, "rtt": "30000 us", "isolation": "flows"},) * 2,
    "each its own": (
        {"ack_filter": "ack-filter", "isolation": "dual-srchost", "split_gso": False},
        {"ingress": True, "isolation": "dual-dsthost", "tins": "besteffort", "memlimit": "8388608 B"},
    ),
    "one way": ({"tins": "diffserv4"}, {"ingress": True, "tins": "diffserv4"}),
    # What is of a direction is not the other's: sources and destinations change places.
    "down alone": ({"isolation": "dual-srchost", "wash": None}, {"isolation": "dual-dsthost", "wash": True}),
    "up alone": (
        {"isolation": "srchost", "ack_filter": "ack-filter"},
        {"isolation": "dsthost", "ack_filter": None},
    ),
}
"""What leaves, and what comes in."""


@pytest.mark.parametrize("profile", ["linux-6.1", "openwrt-24.10"])
@pytest.mark.parametrize(
    ("line", "kept"), [*((one, "as in the file") for one in LINES), *(("pppoe-ptm", one) for one in KEPT)]
)
def test_uci_sets_what_tc_sets_and_what_was_run(line: str, kept: str, profile: str) -> None:
    text = PROBLEM.read_text(encoding="utf-8")
    assert WHOLE in text
    text = text.replace(WHOLE, KEPT[kept])
    text = text.replace('delay = "10 ms"', f'delay = "10 ms"\noverhead = "{line}"')
    text = text.replace('[node.router]\nprofile = "linux-6.1"', f'[node.router]\nprofile = "{profile}"')
    scenario = Scenario(text)
    options = next(one for one in space.of(scenario, []).settings if one.name == "shaper").options[1:]
    for option in options[:6]:
        config = [
            found.expand(r"option \1 '\2'")
            for one in option.commands
            if (found := re.fullmatch(r"""uci set sqm\.@queue\[0\]\.(\w+)=['"](.*)['"]""", one))
        ]
        (shaper,) = uci.read("sqm", "\n".join(["config queue", *config]))
        assert isinstance(shaper, Shaper)
        assert not shaper.unread
        assert not shaper.said
        assert (shaper.enabled, shaper.device) == (True, "${WAN:?}")
        given = [shaper.up, shaper.down]
        kbit = [shaper.up_kbit, shaper.down_kbit]
        tc = [one.split(" cake bandwidth ")[1] for one in option.commands if " cake " in one and "tc qdisc" in one]
        assert len(tc) == (0 if profile.startswith("openwrt") else 2)
        assert bool(option.note) == (kbit[0] > 9500)
        for at, command in enumerate(tc):
            rate, *rest = command.split()
            assert rate == f"{kbit[at]}kbit"
            assert tc_options.cake(rest) == (given[at], [])
            # On a router whose cake has another framing too: `replace` changes what it names.
            running = ["overhead", "38", "mpu", "84", "atm"]
            assert tc_options.cake([*running, *rest]) == (given[at], [])
        for mine, more in zip(given, EXPECTED.get(kept, ({}, {})), strict=True):
            assert {key: mine.get(key) for key in more} == more
        # The same as was run, but for `nat`: hosts that nothing masquerades are told apart without it.
        ran = json.loads(scenario.resolve(list(option.sets)))
        router = next(one for one in ran["nodes"] if one["name"] == "router")
        wan = next(one for one in router["interfaces"] if one["name"] == "wan")
        for mine, config_ in zip(given, (wan["qdisc"]["config"], wan["ingress"]), strict=True):
            framing = (mine.get("overhead"), mine.get("mpu", 0), mine.get("atm", "noatm"))
            assert framing == (config_["overhead_bytes"], config_["mpu_bytes"], config_["atm"])
            for key, default in (("isolation", "triple-isolate"), ("ack_filter", "no-ack-filter"), ("split_gso", True)):
                assert mine.get(key, default) == config_[key]
            for key in ("tins", "ingress", "wash"):
                assert mine.get(key, False) == config_[key]
            assert mine.get("rtt", "100000 us") == f"{config_['rtt_ns'] // 1000} us"
            assert mine.get("nat", mine.get("isolation") == "flows") is True
            assert config_.get("nat", False) == ("masquerade" in KEPT[kept])


@pytest.mark.parametrize("profile", ["linux-6.1", "openwrt-24.10"])
def test_no_shaper_is_told_to_sqm_scripts_too(profile: str) -> None:
    text = PROBLEM.read_text(encoding="utf-8")
    text = text.replace('[node.router]\nprofile = "linux-6.1"', f'[node.router]\nprofile = "{profile}"')
    option = next(one for one in space.of(Scenario(text), []).settings if one.name == "shaper").options[-1]
    assert option.words == "no shaper"
    uci_ = ["uci set sqm.@queue[0].enabled='0'", "uci commit sqm && /etc/init.d/sqm restart"]
    tc = [
        "tc qdisc del dev ${WAN:?} root",
        "tc qdisc del dev ${WAN:?} ingress",
        "# on OpenWrt, with sqm-scripts, the same:",
    ]
    assert list(option.commands) == (uci_ if profile.startswith("openwrt") else [*tc, *uci_])


def test_a_router_whose_directions_have_their_own_options_can_be_tuned() -> None:
    text = PROBLEM.read_text(encoding="utf-8")
    own = 'masquerade = true, qdisc = { kind = "cake", bandwidth = "30 Mbit/s", ack_filter = "ack-filter" }'
    scenario = Scenario(text.replace(WHOLE, f'{own}, shaper = {{ down = "120 Mbit/s" }}'))
    of = space.of(scenario, [])
    options = next(one for one in of.settings if one.name == "shaper").options
    assert [one.words.split(" of")[0] for one in options[1:3]] == ["cake at 98 %", "cake at 95 %"]
    assert options[-1].words == "no shaper"
    assert not [what for what, _ in of.refused if "router.wan" in what]

    def wan(sets: Sequence[tuple[str, str]]) -> dict[str, Any]:
        ran = json.loads(scenario.resolve(list(sets)))
        router = next(one for one in ran["nodes"] if one["name"] == "router")
        found: dict[str, Any] = next(one for one in router["interfaces"] if one["name"] == "wan")
        return found

    shaped = wan(options[2].sets)
    for one, rate in ((shaped["ingress"], 95_000_000), (shaped["qdisc"]["config"], 9_500_000)):
        assert (one["bandwidth_bps"], one["nat"], one["overhead_bytes"]) == (rate, True, 18)
    plain = wan(options[-1].sets)
    assert "ingress" not in plain
    assert plain["qdisc"]["config"]["kind"] == "pfifo_fast"
