"""What `stillair explain` says of the few packets that are much later, and what its verdicts and figures are called."""

import json
from pathlib import Path

import pytest

from stillair import Scenario
from stillair.explain import findings, page

PROBLEMS = Path(__file__).parent / "problems"


def unbroken(said: str) -> str:
    """The page without its line breaks."""
    return " ".join(said.split())


@pytest.mark.parametrize(
    ("every", "headline"),
    [
        # A scan of a second in each 100 s: late packets are fine, and a few are 100 ms late.
        ("100 s", "Nothing is wrong here up to p9"),
        ("6 s", "Main cause: the station is on other channels, scanning (laptop)"),
    ],
)
def test_few_packets_that_are_very_late_are_told(every: str, headline: str) -> None:
    scenario = Scenario(PROBLEMS / "scanning-laptop.toml")
    sets = {"duration": "60 s", "node.laptop.interface.wlan0.scan.every": every, "record.sojourn": True}
    runs = scenario.run(overrides=sets).runs
    found = findings.subjects(runs, json.loads(scenario.resolve(sets)))
    said = unbroken(page.text("x", runs, found, None))
    assert headline in said
    assert "no packet waits" not in said
    rare = every == "100 s"
    # The latest ones have the same cause as the late ones: told once.
    assert ("of 5900, " in said) == rare, said
    if rare:
        spikes = found[0].spikes
        assert spikes is not None
        assert f"But {spikes.packets} packets are later than" in said
        assert "up to 1" in said.partition("are later than")[2][:30]
        assert "scanning (laptop)" in said.partition("But ")[2][:150]


def test_a_network_without_late_packets_has_none() -> None:
    text = (PROBLEMS / "scanning-laptop.toml").read_text(encoding="utf-8")
    scenario = Scenario(text.replace(', scan = { kind = "mac80211", start = "2 s", every = "6 s" }', ""))
    sets = {"record.sojourn": True}
    runs = scenario.run(overrides=sets).runs
    found = findings.subjects(runs, json.loads(scenario.resolve(sets)))
    assert [one.spikes for one in found] == [None] * len(found)
    assert "Nothing is wrong here: late packets (p95) wait for nothing" in unbroken(page.text("x", runs, found, None))
