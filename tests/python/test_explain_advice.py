"""What `stillair explain` says to do: at the router, access point or own host, for both directions, and worth it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stillair import Scenario
from stillair.cli.app import app
from stillair.explain import access, advice, changes, effects, evaluation, findings, page
from stillair.explain.effects import Figure, Moved
from stillair.results.statistics import Interval
from stillair.runs import overrides

PROBLEMS = Path(__file__).parent / "problems"


def home(folder: Path, *options: str) -> Scenario:
    """A home, as `stillair new` writes it."""
    file = folder / "home.toml"
    said = CliRunner().invoke(app, ["new", str(file), *options])
    assert said.exit_code == 0, said.output
    return Scenario(file)


def resolved(scenario: Scenario, overrides: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """What a scenario comes to."""
    found: dict[str, Any] = json.loads(scenario.resolve(overrides))
    return found


@pytest.mark.parametrize("traffic", [("download",), ("upload",), ("download", "upload")])
def test_a_line_is_shaped_both_ways_at_its_router(tmp_path: Path, traffic: tuple[str, ...]) -> None:
    kinds = (part for one in (*traffic, "ping") for part in ("--traffic", one))
    scenario = home(tmp_path, "--station", "laptop=5m", "--internet", "100/20", *kinds)
    short = [("duration", "8 s"), ("record.sojourn", "true")]
    whole = resolved(scenario)
    runs = scenario.run(2, overrides=short).runs
    first = findings.subjects(runs, whole)[0]
    assert first.findings[0].kind == "bloat"
    (change,) = changes.of(first.findings[0], whole)
    key, value = change.overrides[0]
    assert (key, value) == (
        "node.ap.interface.eth0.shaper",
        '{down="95 Mbit/s",up="19 Mbit/s",qdisc={kind="cake",overhead=18,mpu=64}}',
    )
    of = (first.delays.of, first.delays.name, first.delays.way)
    outcome = evaluation.try_one(scenario, short[:1], change, runs, of, None)
    assert isinstance(outcome, evaluation.Tried)
    assert outcome.helps
    assert outcome.before_ms + outcome.by_ms.mean < outcome.before_ms / 3
    assert outcome.goodput_mbps.mean > -20


def test_a_line_that_is_shaped_is_left_alone(tmp_path: Path) -> None:
    scenario = home(tmp_path, "--internet", "100/20", "--shaper", "cake")
    at = findings.Finding("bloat", "server.eth0", 9.0, 0.5)
    assert not list(changes.of(at, resolved(scenario)))
    high = [("node.ap.interface.eth0.shaper.up", "25 Mbit/s")]
    assert [change.overrides for change in changes.of(at, resolved(scenario, high))]


def test_nothing_is_set_at_a_server_on_the_internet(tmp_path: Path) -> None:
    whole = resolved(home(tmp_path, "--internet", "100/20"))
    assert access.outside(whole) == {"server"}
    for kind in changes._MAKERS:
        for place in ("server.eth0", "ap.wlan0", "laptop", ""):
            for change in changes.of(findings.Finding(kind, place, 9.0, 0.5), whole):
                assert not [key for key, _ in change.overrides if key.startswith("node.server.")], change
    assert access.behind("ap.eth0", whole) == {"ap", "laptop", "tv"}
    assert access.behind("ap.wlan0", whole) == {"ap", "server"}
    assert access.outside(resolved(Scenario(PROBLEMS / "crowd.toml"))) == set()


def outcome(
    by: Interval, *moved_: Moved, latest: float = 0.0, goodput: float = 0.0, words: str = "x"
) -> evaluation.Tried:
    """A change of p95 100 ms and p99 120 ms, at 40 Mbit/s."""
    change = changes.Change(words, [("node.a.forward", "true")])
    known = (Interval(latest, latest, latest), 40.0, Interval(goodput, goodput, goodput))
    return evaluation.Tried(change, change.overrides, 100.0, by, 120.0, *known, moved_)


def ms(name: str, kind: str, before: float, after: float | None) -> Moved:
    """A flow whose p95 moves."""
    return Moved(name, kind, [Figure("p95", "ms", before, after, after is not None and after < before)])


CALL = ms("hears.phone", "voip", 285.0, 45.9)
LATER_CALL = ms("hears.phone", "voip", 45.9, 285.0)
BULK = ms("tcp-0.laptop", "tcp", 200.0, 20.0)
LATER_BULK = ms("tcp-0.laptop", "tcp", 20.0, 200.0)
LESS = Moved("tcp-0.laptop", "tcp", [Figure("goodput", "Mbit/s", 40.0, 29.0, is_better=False)])
PRICE = Moved("tcp-0.laptop", "tcp", [Figure("goodput", "Mbit/s", 40.0, 34.0, is_better=False)])
UNSURE = Interval(-50.0, -160.0, 60.0)


@pytest.mark.parametrize(
    ("moved_", "verdict"),
    [
        # A verdict by the head group only would be "no clear effect" in all of these.
        ([CALL], "helps"),
        ([LATER_CALL], "worse"),
        ([CALL, LESS], "mixed"),
        ([CALL, PRICE], "helps"),
        ([PRICE], "unsure"),
        # Nobody notices the packet delay of a transfer, unless nothing else moves.
        ([CALL, LATER_BULK], "helps"),
        ([LATER_CALL, BULK], "mixed"),
        ([LATER_BULK], "worse"),
        ([BULK], "helps"),
        ([BULK, ms("packets to far", "station", 20.0, 40.0)], "mixed"),
        ([ms("hears.phone", "voip", 20.0, None)], "worse"),
        ([], "unsure"),
    ],
)
def test_the_verdict_follows_from_every_flow(moved_: list[Moved], verdict: str) -> None:
    found = outcome(UNSURE, *moved_)
    assert found.verdict == verdict
    assert found.helps == (verdict == "helps")
    said = " ".join(advice.lines([found]))
    for one in moved_:
        assert f"{one.side}: {one.name}" in said
    if verdict == "mixed" and CALL in moved_:
        assert "x: mixed: better for hears.phone, worse for tcp-0.laptop" in said


def test_a_flow_that_is_better_and_worse_is_named_once() -> None:
    late, lost = CALL.figures[0], Figure("lost", "%", 10.5, 15.1, is_better=False)
    said = " ".join(advice.lines([outcome(UNSURE, CALL._replace(figures=[late, lost]))]))
    assert f"x: mixed: hears.phone is better in {late.words}, worse in loss" in said


def test_a_change_of_the_head_group_alone_is_probable_or_nothing() -> None:
    zero = Interval(0.0, 0.0, 0.0)
    assert outcome(zero).verdict == "nothing"
    assert outcome(Interval(-50.0, -110.0, 10.0), latest=-60.0).verdict == "probably"
    assert outcome(Interval(-50.0, -110.0, 10.0), latest=60.0).verdict == "unsure"
    assert outcome(Interval(-50.0, -110.0, 10.0), goodput=-9.0).verdict == "unsure"
    unreal = outcome(UNSURE, CALL)
    unreal = unreal._replace(change=unreal.change._replace(real=False))
    assert unreal.verdict == "shows"
    assert advice.rank(unreal) > advice.rank(outcome(Interval(-50.0, -110.0, 10.0)))
    assert not [line for line in advice.lines([unreal]) if "--set" in line]


def runs(*delays: float | None, loss: float = 0.0, mos: float = 4.4, goodput: float = 2.0) -> list[Any]:
    """Runs of one call with these p95."""
    return [
        {
            "flows": {
                "call.phone": {
                    "protocol": "voip",
                    "delay_p95_ms": delay,
                    "delay_p99_ms": delay,
                    "loss": loss,
                    "goodput_mbps": goodput,
                }
            },
            "voip": {"call.phone": {"mos": mos, "loss": loss}},
        }
        for delay in delays
    ]


NO_FLOWS: dict[str, Any] = {"flows": []}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        # t(2) = 4.30. Differences -239 +-9: clear.
        (runs(280, 285, 290), runs(44, 46, 48), ["p95", "p99"]),
        # -10 of 285 ms: clear, and less than 10 %.
        (runs(284, 285, 286), runs(274, 275, 276), []),
        # -0.8 of 1 ms: clear, and less than 1 ms.
        (runs(1.0, 1.0, 1.0), runs(0.2, 0.2, 0.2), []),
        # Differences -90, -900, -4500: the interval includes 0. Ratios 1/10, 1/10, 1/10: clear.
        (runs(100, 1000, 5000), runs(10, 100, 500), ["p95", "p99"]),
        # Up and down.
        (runs(100, 100, 100), runs(10, 300, 90), []),
        (runs(20, 20, 20), runs(None, None, None), ["p95", "p99"]),
        (runs(20, 20, 20), runs(20, 20, 20, loss=0.02, mos=3.9), ["lost", "MOS"]),
        (runs(20, 20, 20), runs(20, 20, 20, loss=0.004, mos=4.35), []),
    ],
)
def test_what_moves_clearly(before: list[Any], after: list[Any], words: list[str]) -> None:
    found = effects.all_of(before, after, NO_FLOWS)
    assert [figure.words for one in found for figure in one.figures] == words


def test_what_a_network_has_already_is_not_tried() -> None:
    for stem, kind in (("crowd", "others"), ("missing-aql", "bloat"), ("retry-storm", "retries")):
        whole = resolved(Scenario(PROBLEMS / f"{stem}.toml"))
        place = "ap.wlan0" if kind == "bloat" else ""
        for change in changes.of(findings.Finding(kind, place, 90.0, 0.9), whole):
            scenario = Scenario(PROBLEMS / f"{stem}.toml")
            sets = overrides.as_written(change.overrides, scenario.text)
            assert resolved(scenario, sets) != whole, change.words


def test_changes_are_sorted_by_what_calls_gain_and_the_price_is_shown() -> None:
    some = outcome(UNSURE, ms("hears.phone", "voip", 285.0, 150.0), words="some")
    much = outcome(UNSURE, CALL, goodput=-4.0, words="much")
    bulk = outcome(Interval(-60.0, -61.0, -59.0), BULK, words="bulk")
    dear = outcome(UNSURE, CALL, LESS, goodput=-20.0, words="dear")
    lines = list(advice.lines([dear, bulk, some, much]))
    heads = [line for line in lines if line.startswith("  ") and line[2] != " "]
    assert [head.split(":")[0].strip() for head in heads] == ["much", "some", "bulk", "dear"]
    assert [line.rpartition(", ")[2] for line in lines if line.endswith(" less")] == ["10 % less", "50 % less"]
    assert "    better: hears.phone (call): p95 285 to 45.9 ms" in lines
    assert "    --set node.a.forward=true" in lines
    many = [ms(f"call.{n}", "voip", 285.0, 45.9) for n in range(14)]
    assert "    also better: call.12, call.13" in list(advice.lines([outcome(UNSURE, *many)]))


def test_a_sleeping_phone_is_helped_at_the_access_point_too() -> None:
    scenario = Scenario(PROBLEMS / "sleeping-phone.toml")
    at = findings.Finding("power-save", "phone", 175.0, 0.99)
    made = list(changes.of(at, resolved(scenario)))
    assert [change.overrides[0][0].split(".")[1] for change in made] == ["ap", "phone"]
    short = [("duration", "8 s")]
    runs = scenario.run(2, overrides=[*short, ("record.sojourn", "true")]).runs
    found = evaluation.try_one(scenario, short, made[0], runs, ("station", "phone", "down"), None)
    assert isinstance(found, evaluation.Tried)
    assert found.sets == [("node.ap.interface.wlan0.dtim_period", "1")]
    assert found.by_ms.mean < -50
    once = resolved(scenario, found.sets)
    assert [change.overrides[0][0].split(".")[1] for change in changes.of(at, once)] == ["phone"]


def test_a_home_that_works_has_no_main_cause() -> None:
    for name, options in (("home", ["--set", "duration=12 s"]), (str(PROBLEMS / "crowd.toml"), [])):
        said = CliRunner().invoke(app, ["explain", name, "--no-try", *options])
        assert said.exit_code == 0, said.output
        assert ("Nothing is wrong here" in said.output) == (name == "home"), said.output
        assert ("Main cause" in said.output) == (name != "home")
    short = findings.Finding("shaper", "", 6.5, 0.38)
    assert short.slight
    assert not short._replace(ms=10.0).slight
    assert findings.Finding("retries", "", 1.1, 0.03).slight
    assert not findings.Finding("retries", "", 2.1, 0.27).slight
    assert findings.Finding("wake", "", 0.9, 0.9).slight
    scenario = Scenario(PROBLEMS / "late-interrupts.toml")
    runs = scenario.run(overrides={"duration": "4 s", "record.sojourn": True}).runs
    (one,) = findings.subjects(runs, resolved(scenario))
    wake = one._replace(findings=[short, findings.Finding("wake", "", 1.2, 0.5)])
    sleeps = one._replace(findings=[findings.Finding("power-save", "x", 5.0, 0.5)])
    assert findings.worst([wake, sleeps]) == sleeps
    assert findings.worst([one._replace(findings=[short])]) is None


def test_a_modem_and_those_who_fill_it_are_named(tmp_path: Path) -> None:
    scenario = home(tmp_path, "--internet", "100/20")
    short = [
        ("duration", "8 s"), ("record.sojourn", "true"), ("flow.0.to", '["tv"]'), ("flow.0.name", "netflix"),
    ]  # fmt: skip
    whole = resolved(scenario, short)
    runs = scenario.run(1, overrides=short).runs
    found = findings.subjects(runs, whole)
    laptop = next(one for one in found if (one.delays.name, one.delays.way) == ("laptop", "round_trip"))
    assert (
        page.sentence(laptop.findings[0])
        == "waits in the buffer at the provider (down), behind netflix.tv (server.eth0)"
    )
    tv = next(one for one in found if (one.delays.name, one.delays.way) == ("tv", "down"))
    assert "the buffer at the provider (down), behind its own traffic, netflix.tv" in page.sentence(tv.findings[0])
    said = page.text("x", runs, found, None, whole)
    # What waits in the modem is not told as hardware; a host's own card may have a millisecond or two.
    assert not re.search(r"hardware \d\d", said)
    assert "modem: in the modem's buffer" in said
    low = findings.Finding("bloat", "ap.wlan0", 2.0, 0.1, whose="others")
    assert page.sentence(low) == "waits in a queue, behind the traffic of others (ap.wlan0)"
    assert "too long" in page.sentence(low._replace(ms=20.0))


def test_each_line_has_80_columns_and_plain_words(tmp_path: Path) -> None:
    file = tmp_path / "home.toml"
    stations = [part for name in ("living-room-television", "laptop", "phone") for part in ("--station", f"{name}=9m")]
    traffic = [part for kind in ("download", "upload", "ping") for part in ("--traffic", kind)]
    assert CliRunner().invoke(app, ["new", str(file), *stations, *traffic, "--internet", "100/20"]).exit_code == 0
    said = CliRunner().invoke(app, ["explain", str(file), "--packet", "--set", "duration=8 s"])
    assert said.exit_code == 0, said.output
    assert [line for line in said.stdout.splitlines() if len(line) > 80] == []
    for pasted in (
        'down="95 Mbit/s"',
        'up="19 Mbit/s"',
        'qdisc={kind="cake",overhead=18,mpu=64}',
    ):
        assert f"    --set 'node.ap.interface.eth0.shaper.{pasted}'" in said.stdout
    words = " ".join(said.stdout.split())
    for jargon in ("becomes larger", "protection", "no effect that is sure", "become larger"):
        assert jargon not in words
    plain = CliRunner().invoke(app, ["explain", str(PROBLEMS / "crowd.toml"), "--no-try"]).stdout
    assert "contention: waiting for a turn on the channel" in " ".join(plain.split())
    noted = CliRunner().invoke(app, ["run", str(file), "--set", "duration=6 s"])
    assert "note:" in noted.stderr
    assert [line for line in noted.stderr.splitlines() if "combinations" not in line and len(line) > 80] == []


def test_a_long_shaper_is_pasted_in_its_keys() -> None:
    table = '{down="95 Mbit/s",up="19 Mbit/s",qdisc={kind="cake",overhead=18,wash=true}}'
    key = "node.a-router-with-a-long-name.interface.eth0.shaper"
    assert list(advice.pasted(key, table)) == [
        f"    --set '{key}.down=\"95 Mbit/s\"'",
        f"    --set '{key}.up=\"19 Mbit/s\"'",
        f"    --set '{key}.qdisc={{kind=\"cake\",overhead=18,wash=true}}'",
    ]
    # Of a file with `up` that would stay: the table is set whole, however long it is.
    one = table.replace('up="19 Mbit/s",', "")
    assert list(advice.pasted(key, one)) == [f"    --set '{key}={one}'"]


_CAKE = 'tins = "besteffort", isolation = "dual-dsthost", ingress = true, wash = true'
_UP = 'bandwidth = "20 Mbit/s", isolation = "dual-srchost", ack_filter = "ack-filter"'


@pytest.mark.parametrize(
    ("wan", "down", "up"),
    [
        # As `stillair import` writes cakes with options of their own; each keeps them.
        (
            f'masquerade = true, qdisc = {{ kind = "cake", {_UP}, nat = true }},'
            f' shaper = {{ down = "120 Mbit/s", qdisc = {{ kind = "cake", {_CAKE}, nat = true }} }}',
            {"tins": "besteffort", "isolation": "dual-dsthost", "ingress": True, "wash": True, "nat": True},
            {"tins": "diffserv3", "isolation": "dual-srchost", "ack_filter": "ack-filter", "nat": True},
        ),
        # And an htb.
        (
            'qdisc = { kind = "htb", rate = "20 Mbit/s", burst = "2500 B", child = "fq_codel" },'
            ' shaper = { down = "120 Mbit/s", qdisc = "fq_codel" }',
            {"tins": "diffserv3"},
            {"tins": "diffserv3"},
        ),
        # One shaper for both; hosts are not one behind the address of the router.
        (
            'masquerade = true, shaper = { down = "120 Mbit/s", up = "20 Mbit/s" }',
            {"isolation": "triple-isolate", "nat": True},
            {"isolation": "triple-isolate", "nat": True},
        ),
        # Of what leaves alone: what comes in has no acknowledgements to filter, and its hosts are the destinations.
        (
            f'shaper = {{ up = "20 Mbit/s", qdisc = {{ kind = "cake", {_UP.partition(", ")[2]} }} }}',
            {"isolation": "dual-dsthost", "ack_filter": "no-ack-filter"},
            {"isolation": "dual-srchost", "ack_filter": "ack-filter"},
        ),
    ],
)
def test_the_shaper_that_is_proposed_is_taken_and_keeps_what_is_there(
    wan: str, down: dict[str, Any], up: dict[str, Any], tmp_path: Path
) -> None:
    before = 'interface.eth0 = { link = "wan", address = "10.0.0.1"'
    text = home(tmp_path, "--internet", "100/20").text
    assert before in text
    text = text.replace(before, f"{before}, {wan}")
    text = text.replace('delay = "10 ms"', 'delay = "10 ms"\noverhead = "pppoe-ptm"')
    scenario = Scenario(text)
    whole = resolved(scenario)
    own = changes.with_qdisc(whole, [], scenario.text)
    assert own == ({"ap.eth0"} if wan.partition("shaper")[0].count("qdisc") else set())
    (change,) = changes.of(findings.Finding("shaper-above", "ap.eth0", 90.0, 0.9), whole, own)
    made = access.interface("ap.eth0", resolved(scenario, overrides.as_written(change.overrides, scenario.text)))
    for one, rate, expected in ((made["ingress"], 95, down), (made["qdisc"]["config"], 19, up)):
        assert (one["bandwidth_bps"], one["overhead_bytes"], one["atm"]) == (rate * 1_000_000, 30, "ptm")
        assert {key: one.get(key) for key in expected} == expected
    again = resolved(scenario, change.overrides)
    assert not list(changes.of(findings.Finding("shaper-above", "ap.eth0", 90.0, 0.9), again, own))


def test_a_qdisc_by_an_override_is_one_of_its_own(tmp_path: Path) -> None:
    scenario = home(tmp_path, "--internet", "100/20")
    sets = [("node.ap.interface.eth0.qdisc", "fq_codel")]
    whole = resolved(scenario, sets)
    own = changes.with_qdisc(whole, sets, scenario.text)
    (change,) = changes.of(findings.Finding("bloat", "ap.eth0", 90.0, 0.9), whole, own)
    assert access.is_shaped(access.lines(whole)[0], resolved(scenario, [*sets, *change.overrides]))


def test_as_many_runs_as_are_asked_for(tmp_path: Path) -> None:
    home(tmp_path, "--station", "laptop=5m", "--internet", "50/10", "--traffic", "upload", "--traffic", "ping")
    short = ["explain", str(tmp_path / "home.toml"), "--set", "duration=7 s"]
    one = CliRunner().invoke(app, [*short, "--no-try", "--runs", "1"])
    assert one.exit_code == 0
    assert "(1 run)" in one.output
    five = CliRunner().invoke(app, [*short, "--runs", "5"])
    assert five.exit_code == 0
    assert "(5 runs)" in five.output
    too_few = CliRunner().invoke(app, [*short, "--runs", "1"])
    assert "found 1, expected 2 or more, or --no-try" in str(too_few.exception) + too_few.output
