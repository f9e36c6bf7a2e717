"""What `stillair explain` says of the few packets that are much later, and what its verdicts and figures are called."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stillair import Scenario
from stillair.explain import advice, changes, evaluation, findings, page
from stillair.results.statistics import Interval

PROBLEMS = Path(__file__).parent / "problems"


def resolved(scenario: Scenario, overrides: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """What a scenario comes to."""
    found: dict[str, Any] = json.loads(scenario.resolve(overrides))
    return found


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
    sets = {"duration": "60 s", "node.laptop.interface.wlan0.scan.interval": every, "record.sojourn": True}
    runs = scenario.run(overrides=sets).runs
    found = findings.subjects(runs, json.loads(scenario.resolve(sets)))
    said = unbroken(page.text("x", runs, found, None, json.loads(scenario.resolve(sets))))
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
    scenario = Scenario(text.replace(', scan = { kind = "mac80211", start = "2 s", interval = "6 s" }', ""))
    sets = {"record.sojourn": True}
    runs = scenario.run(overrides=sets).runs
    found = findings.subjects(runs, json.loads(scenario.resolve(sets)))
    assert [one.spikes for one in found] == [None] * len(found)
    assert "Nothing is wrong here: no cause takes more than 1 %" in unbroken(
        page.text("x", runs, found, None, json.loads(scenario.resolve(sets)))
    )


def outcome(by: Interval) -> evaluation.Tried:
    """A change of p95 100 ms and p99 120 ms, at 40 Mbit/s."""
    change = changes.Change("x", [("node.a.forward", "true")], action="sysctl -w net.ipv4.ip_forward=1")
    zero = Interval(0.0, 0.0, 0.0)
    return evaluation.Tried(change, change.overrides, 100.0, by, 120.0, zero, 40.0, zero)


def test_an_uncertain_verdict_says_how_many_runs_to_make() -> None:
    unsure = outcome(Interval(-46.0, -140.0, 48.0))
    assert "x: no clear effect, not certain with 3 runs; --runs 10" in " ".join(advice.lines([unsure]))
    assert "--runs 30" in " ".join(advice.lines([unsure], runs=10))
    likely = outcome(Interval(-46.0, -100.0, 8.0))
    assert "x: probably helps, not certain with 3 runs; --runs 10" in " ".join(advice.lines([likely]))


def test_figures_say_whose_they_are_and_each_ping_has_a_line() -> None:
    scenario = Scenario(PROBLEMS / "bloated-modem.toml")
    sets = [("duration", "8 s"), ("record.sojourn", "true")]
    whole = resolved(scenario, sets)
    runs = scenario.run(2, overrides=sets).runs
    found = findings.subjects(runs, whole)
    worst = findings.worst(found)
    assert worst is not None
    (change,) = changes.of(worst.faults[0], whole)
    one = evaluation.try_one(scenario, sets, change, runs, (worst.delays.of, worst.delays.name, worst.delays.way), None)
    assert isinstance(one, evaluation.Tried)
    said = unbroken(page.text("x", runs, found, [one], whole))
    group = f"p95 and p99 of {advice.head(worst)}, mean over the runs"
    assert group in said.partition("Changes, run with the same seeds")[2]
    for name, ping in runs[0]["pings"].items():
        before = sum(run["pings"][name]["p95_ms"] for run in runs) / 2
        assert ping["p95_ms"] > 100
        assert f" better: {name} (ping): p95 {advice.ms(before)} to " in said
    assert one.verdict == "helps"


LAN = """
name = "shaped"
duration = "8 s"
warm_up = "1 s"
[link.lan]
rate = "1 Gbit/s"
delay = "1 ms"
[node.client]
profile = "linux-6.6"
interface.eth0 = { link = "lan", qdisc = QDISC }
[node.server]
profile = "linux-6.6"
interface.eth0 = { link = "lan" }
[[flow]]
kind = "tcp"
from = "client"
to = "server"
[record]
sojourn = true
"""


@pytest.mark.parametrize(
    ("qdisc", "kind", "words"),
    [
        ('{ kind = "cake", bandwidth = "4 Mbit/s" }', "price", "the price of an empty modem buffer"),
        ('{ kind = "netem", delay = "50 ms" }', "emulated", "an emulated delay (netem) holds packets back"),
    ],
)
def test_a_shaper_that_works_is_no_fault_and_no_emulated_delay(qdisc: str, kind: str, words: str) -> None:
    scenario = Scenario(LAN.replace("QDISC", qdisc))
    runs = scenario.run().runs
    found = findings.subjects(runs, resolved(scenario))
    first = found[0].findings[0]
    assert (first.kind, first.place) == (kind, "client.eth0")
    assert first.ms > 10
    said = unbroken(page.text("x", runs, found, None, resolved(scenario)))
    assert words in said
    assert ("Main cause" in said) == (kind == "emulated")


def test_a_fair_scheme_keeps_the_window_that_is_there() -> None:
    text = (PROBLEMS / "slow-station.toml").read_text(encoding="utf-8")
    for window in (64, 256):
        scenario = Scenario(text.replace('role = "ap",', f'role = "ap", block_ack_window = {window},'))
        whole = resolved(scenario)
        for finding in (findings.Finding("others", "", 90.0, 0.9), findings.Finding("bloat", "ap.wlan0", 90.0, 0.9)):
            for change in changes.of(finding, whole):
                after = resolved(scenario, change.overrides)
                ap = next(node for node in after["nodes"] if node["name"] == "ap")
                media = [one["medium"] for one in ap["interfaces"] if "link" not in one["medium"]]
                assert [one.get("block_ack_window", 64) for one in media] == [window]


def test_what_cannot_matter_is_not_tried() -> None:
    scan = findings.Finding("scan", "laptop", 98.0, 0.9)
    small = findings.Finding("retries", "", 2.0, 0.1)
    scenario = Scenario(PROBLEMS / "scanning-laptop.toml")
    (one,) = findings.subjects(scenario.run(overrides={"record.sojourn": True}).runs, resolved(scenario))
    assert one._replace(findings=[scan, small]).to_try == [scan]
    assert one._replace(findings=[scan, small._replace(ms=40.0)]).to_try == [scan, small._replace(ms=40.0)]
    # One station and its access point hear each other.
    assert not [change for change in changes.of(small, resolved(scenario)) if "RTS" in change.words]
    crowd = resolved(Scenario(PROBLEMS / "crowd.toml"))
    assert [change for change in changes.of(small, crowd) if "RTS" in change.words]


@pytest.mark.parametrize(
    ("stem", "finding", "action"),
    [
        ("scanning-laptop", findings.Finding("scan", "laptop", 98.0, 0.9), "bgscan="),
        ("busy-neighbour", findings.Finding("neighbour", "", 14.0, 0.9), "option channel of the wifi-device"),
        ("oven", findings.Finding("interference", "", 7.0, 0.9), "option channel"),
        ("sleeping-phone", findings.Finding("power-save", "phone", 175.0, 0.9), "option dtim_period '1'"),
        ("many-beacons", findings.Finding("beacons", "", 2.8, 0.5), "option legacy_rates '0'"),
    ],
)
def test_a_change_names_what_a_person_does(stem: str, finding: findings.Finding, action: str) -> None:
    (first, *_) = changes.of(finding, resolved(Scenario(PROBLEMS / f"{stem}.toml")))
    assert action in first.action
    told = [line for line in advice.lines([outcome(Interval(-50.0, -60.0, -40.0))]) if "in practice" in line]
    assert told == ["    in practice: sysctl -w net.ipv4.ip_forward=1"]
