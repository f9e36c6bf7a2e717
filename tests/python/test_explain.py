"""`stillair explain`: the true cause of each problem comes first, and what is said to help has been run."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from stillair import Scenario
from stillair.cli.app import app
from stillair.explain import advice, changes, evaluation, findings, page
from stillair.runs import overrides

PROBLEMS = sorted((Path(__file__).parent / "problems").glob("*.toml"))


def expected(file: Path) -> str:
    """The cause that the first line of a problem tells."""
    (first, _) = file.read_text(encoding="utf-8").split("\n", 1)
    found: str = tomllib.loads(first.removeprefix("#:"))["finding"]
    return found


def unbroken(said: str) -> str:
    """The page without its line breaks."""
    return " ".join(said.split())


def test_there_are_twenty() -> None:
    assert len(PROBLEMS) == 20


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in PROBLEMS])
def test_the_true_cause_comes_first(file: Path) -> None:
    scenario = Scenario(file)
    resolved = json.loads(scenario.resolve())
    runs = scenario.run(overrides={"record.sojourn": True}).runs
    found = findings.subjects(runs, resolved)
    main = findings.main(runs, resolved)
    assert main is not None
    said = page.text(resolved["name"], runs, found, None, resolved)
    assert main.name == expected(file), said
    assert page.sentence(main) in unbroken(said).partition("Main cause: ")[2].partition(", p95 of ")[0]


def test_a_scan_of_the_access_point_is_no_sleep_of_the_station() -> None:
    scenario = Scenario(PROBLEMS[0].parent / "more" / "ap-scan.toml")
    runs = scenario.run(overrides={"record.sojourn": True}).runs
    main = findings.main(runs, json.loads(scenario.resolve()))
    assert main is not None
    assert (main.kind, main.place) == ("ap-scan", "ap.wlan0")


def test_of_two_ways_not_to_listen_the_account_tells_which_it_was() -> None:
    # The scenario says both; what the station did decides.
    scenario = Scenario(next(file for file in PROBLEMS if file.stem == "scanning-laptop"))
    resolved = json.loads(scenario.resolve())
    (run,) = scenario.run(overrides={"record.sojourn": True}).runs
    delays = findings.subjects([run], resolved)[0].delays
    slept = {"dozing_s": 16.0, "away_s": 0.5, "sleeps": 50, "trips": 10}
    assert findings._asleep(delays, run, resolved) == ("scan", "laptop")
    assert findings._asleep(delays, {**run, "power": {"laptop.wlan0": slept}}, resolved) == ("power-save", "laptop")
    both = {"laptop.wlan0": slept, "ap.wlan0": {**slept, "dozing_s": 0.0, "away_s": 9.0, "trips": 3}}
    assert findings._asleep(delays, {**run, "power": both}, resolved) == ("ap-scan", "ap.wlan0")


def test_a_scan_that_is_a_plain_word_can_be_made_rarer() -> None:
    scenario = Scenario(next(file for file in PROBLEMS if file.stem == "scanning-laptop"))
    word = [("duration", "6 s"), ("node.laptop.interface.wlan0.scan", "mac80211")]
    finding = findings.Finding("scan", "laptop", 100.0, 0.9)
    (change, *_) = changes.of(finding, json.loads(scenario.resolve(word)))
    assert change.overrides == [("node.laptop.interface.wlan0.scan.interval", "300 s")]
    assert json.loads(scenario.resolve([*word, *change.overrides])) != json.loads(scenario.resolve(word))


def test_the_slowest_packet_waits_in_the_modem_by_that_name() -> None:
    step = {
        "layer": "hardware",
        "interface": "isp.eth0",
        "from_ns": 0,
        "until_ns": 5_000_000,
        "causes_ns": {"own": 5_000_000},
    }
    ring = {**step, "interface": "server.eth0"}
    found = {"sent_ns": 0, "delay_ns": 10_000_000, "steps": [step, ring]}
    lines = page.packet([{"sojourn": {"slowest": {"udp-0.a": found}}}], modems={"isp.eth0"}).splitlines()
    assert [line.split()[2] for line in lines[1:]] == ["modem", "hardware"]


def test_what_never_arrives_is_told() -> None:
    # Packets that arrive are all that can be late: who hears nothing would not be in the page at all.
    scenario = Scenario(PROBLEMS[0].parent / "more" / "ap-scan.toml")
    deaf = {"record.sojourn": True, "node.sta.interface.wlan0.rate": "ht20-mcs7-lgi", "duration": "4 s"}
    flow = '{ kind = "ping", from = "server", to = "sta" }'
    lost = {**deaf, "node.sta.interface.wlan0.preamble_loss_rate": 1, "flow": f"[{flow}]"}
    runs = scenario.run(overrides=lost).runs
    found = findings.subjects(runs, json.loads(scenario.resolve()))
    said = unbroken(page.text("deaf", runs, found, None, json.loads(scenario.resolve(lost))))
    assert "Nothing arrives for ping-0.sta: 'stillair check' shows which rates work." in said
    runs[0]["flows"] = {"a": {"protocol": "udp", "goodput_mbps": 0.0}, "b": {"protocol": "udp", "goodput_mbps": 1.0}}
    assert page._dead(runs) == ["a", "ping-0.sta"]


def test_what_helps_has_been_run() -> None:
    file = next(file for file in PROBLEMS if file.stem == "sleeping-phone")
    scenario = Scenario(file)
    resolved = json.loads(scenario.resolve())
    short = [("duration", "6 s")]
    runs = scenario.run(2, overrides=[*short, ("record.sojourn", "true")]).runs
    subject = findings.subjects(runs, resolved)[0]
    _, change = changes.of(subject.findings[0], resolved)
    of = (subject.delays.of, subject.delays.name, subject.delays.way)
    outcome = evaluation.try_one(scenario, short, change, runs, of, None)
    assert isinstance(outcome, evaluation.Tried)
    assert outcome.helps
    assert outcome.before_ms + outcome.by_ms.mean < outcome.before_ms / 2
    said = page.text("x", runs, [subject], [outcome], resolved)
    assert "phone.wlan0: no power save, which the station itself decides: helps" in unbroken(said)


def test_changes_go_by_names_that_are_written() -> None:
    text = "node.a.interface.w = {}\nnode.b.inherits = 'a'\nnode.c = { inherits = 'b', count = 2, interface.x = {} }"
    sets = [(f"node.{node}.interface.{at}.rate", "1") for node in ("a", "b", "c1", "c2") for at in "wx"]
    assert overrides.as_written([*sets, ("link.l.rate", "1")], text) == [
        ("node.a.interface.w.rate", "1"),
        ("node.a.interface.x.rate", "1"),
        ("node.c.interface.x.rate", "1"),
        ("link.l.rate", "1"),
    ]


def test_a_change_that_cannot_be_is_told() -> None:
    scenario = Scenario(PROBLEMS[0])
    change = changes.Change("nonsense", [("node.nobody.forward", "true")])
    runs = scenario.run(1, overrides=[("duration", "6 s"), ("record.sojourn", "true")]).runs
    outcome = evaluation.try_one(scenario, [], change, runs, ("flow", "x", ""), None)
    assert isinstance(outcome, evaluation.Refused)
    assert "nonsense: not possible: " in "\n".join(advice.lines([outcome]))


def test_the_command(tmp_path: Path) -> None:
    file = next(file for file in PROBLEMS if file.stem == "late-interrupts")
    said = CliRunner().invoke(app, ["explain", str(file), "--no-try"])
    assert said.exit_code == 0, said.output
    assert "Main cause: the receiving host gets packets late" in said.output
    assert "No changes were tried" in said.output
    folder = tmp_path / "result"
    assert CliRunner().invoke(app, ["run", str(file), "-o", str(folder)]).exit_code == 0
    of_result = CliRunner().invoke(app, ["explain", str(folder)])
    assert of_result.exit_code == 0, of_result.output
    assert "no coalescing of arrivals (rx_usecs 0): helps" in of_result.output
    wrong = CliRunner().invoke(app, ["explain", str(tmp_path)])
    assert wrong.exit_code != 0
