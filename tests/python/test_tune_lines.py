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
from stillair.runs.imports.openwrt import uci, words

PROBLEM = Path(__file__).parent / "tune_problems" / "wrong-shaper-rate.toml"
LINES = ("docsis", "ethernet", "pppoe-ptm", "bridged-ptm", "pppoe-llcsnap", "pppoa-vcmux", "raw", "conservative")


@pytest.mark.parametrize("profile", ["linux-6.1", "openwrt-24.10"])
@pytest.mark.parametrize("line", LINES)
def test_uci_sets_what_tc_sets_and_what_was_run(line: str, profile: str) -> None:
    text = PROBLEM.read_text(encoding="utf-8")
    text = text.replace('delay = "10 ms"', f'delay = "10 ms"\noverhead = "{line}"')
    text = text.replace('[node.router]\nprofile = "linux-6.1"', f'[node.router]\nprofile = "{profile}"')
    scenario = Scenario(text)
    options = next(one for one in space.of(scenario, []).settings if one.name == "shaper").options[1:]
    for option in options[:6]:
        config = [
            found.expand(r"option \1 '\2'")
            for one in option.commands
            if (found := re.fullmatch(r"uci set sqm\.@queue\[0\]\.(\w+)='(.*)'", one))
        ]
        (shaper,) = uci.read("sqm", "\n".join(["config queue", *config]))
        assert isinstance(shaper, Shaper)
        assert not shaper.unread
        assert not shaper.said
        assert (shaper.enabled, shaper.device) == (True, "wan")
        given = [shaper.up, shaper.down]
        kbit = [shaper.up_kbit, shaper.down_kbit]
        tc = [one.split(" cake bandwidth ")[1] for one in option.commands if " cake " in one and "tc qdisc" in one]
        assert len(tc) == (0 if profile.startswith("openwrt") else 2)
        assert bool(option.note) == (kbit[0] > 9500)
        for at, command in enumerate(tc):
            rate, *rest = command.split()
            assert rate == f"{kbit[at]}kbit"
            assert words.cake(rest) == (given[at], [])
        # The same as was run, but for `nat`: hosts that nothing masquerades are told apart without it.
        ran = json.loads(scenario.resolve(list(option.sets)))
        router = next(one for one in ran["nodes"] if one["name"] == "router")
        wan = next(one for one in router["interfaces"] if one["name"] == "wan")
        for mine, config_ in zip(given, (wan["qdisc"]["config"], wan["ingress"]), strict=True):
            framing = (mine.get("overhead"), mine.get("mpu", 0), mine.get("atm", "noatm"))
            assert framing == (config_["overhead_bytes"], config_["mpu_bytes"], config_["atm"])
            assert (mine["tins"], mine.get("wash", False)) == (config_["tins"], config_["wash"])
            assert mine["nat"] is True


def test_a_router_whose_directions_have_their_own_options_can_be_tuned() -> None:
    text = PROBLEM.read_text(encoding="utf-8")
    whole_ = 'shaper = { down = "120 Mbit/s", up = "30 Mbit/s", qdisc = { kind = "cake", overhead = "docsis" } }'
    assert whole_ in text
    own = 'masquerade = true, qdisc = { kind = "cake", bandwidth = "30 Mbit/s", ack_filter = "ack-filter" }'
    scenario = Scenario(text.replace(whole_, f'{own}, shaper = {{ down = "120 Mbit/s" }}'))
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
