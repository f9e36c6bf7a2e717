"""`stillair tune`: the known best of each problem is found, what buys nothing is dropped, and a search goes on."""

import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError, Scenario
from stillair.__main__ import status
from stillair.explain.tune import objective, page, perturb, space
from stillair.explain.tune.objective import Measured
from stillair.explain.tune.parts import Option, Setting
from stillair.explain.tune.search import Trial, best
from stillair.explain.tune.trials import Job, Refused, Runs
from stillair.explain.tune.tune import Budget, Tuned, _first, _settled, _Whole, tune

PROBLEMS = {path.stem: path for path in sorted((Path(__file__).parent / "tune_problems").glob("*.toml"))}
BUDGET = 100
"""Runs: a fifteenth of two minutes of CPU time for each problem. `make tune` has more."""


def told(file: Path) -> dict[str, Any]:
    """What the first lines of a problem say."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return tomllib.loads("\n".join(line.removeprefix("#:") for line in lines if line.startswith("#:")))


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Tuned:
    file = PROBLEMS[request.param]
    return tune(Scenario(file), told(file)["goal"], budget=Budget(BUDGET))


@pytest.mark.parametrize(("found", "name"), [(name, name) for name in PROBLEMS], indirect=["found"])
def test_the_known_best_is_found(found: Tuned, name: str) -> None:
    file = PROBLEMS[name]
    known = told(file)
    changed = [setting.name for setting, _ in found.space.chosen(found.winner.choice)]
    assert any(known["setting"] in one for one in changed), page.text(name, found)
    best = [(key, value) for key, value in known["best"]]
    runs = Runs(Scenario(file), [], None, None, None, None)
    before, after = (runs.measure([Job(tuple(sets), run) for run in range(5)]) for sets in ([], best))
    scores = [
        objective.score(found.goal, a, b)
        for a, b in zip(after, before, strict=True)
        if isinstance(a, Measured) and isinstance(b, Measured)
    ]
    assert len(scores) == 5
    assert found.winner.score.mean >= sum(scores) / 5 - 0.02, page.text(name, found)
    assert sum(scores) / 5 > 0.2
    # What is left buys something, whatever the seed, and nothing that is dropped is left.
    assert all(one.score.low > 0 or one.second.low > 0 for one in found.bought)
    assert not {one for one, _ in found.dropped} & {one.setting for one in found.bought}


@pytest.mark.parametrize("found", ["wrong-shaper-rate"], indirect=True)
def test_the_page_has_the_commands_and_what_they_buy(found: Tuned) -> None:
    said = page.text("line", found)
    assert [setting.name for setting, _ in found.space.chosen(found.winner.choice)] == ["shaper"]
    assert "tc qdisc replace dev ${WAN:?} root cake bandwidth 9" in said
    assert "uci set sqm.@queue[0].upload='9" in said
    share = next(int(one.split(" %")[0].split()[-1]) for one in said.splitlines() if "cake at" in one)
    assert ("works only if the line always reaches 100 Mbit/s down and 10" in " ".join(said.split())) == (share > 95)
    assert "goodput: geometric mean of the transfers (tcp-0.server)." in " ".join(said.split())
    assert "dropped, as its gain is not certain" in said or not found.dropped
    assert "line rate -20 %" in said
    assert "left out: wifi: 40 MHz wide" in said
    assert "--set 'node.router.interface.wan.shaper.up=9" in said
    told_ = json.loads(page.to_json("line", found))
    assert told_["winner"]["changes"][0]["setting"] == "shaper"
    assert told_["before"]["latency_ms"]["mean"] > 10 * told_["winner"]["latency_ms"]["mean"]
    lines = said.split("\n# Commands")[0].splitlines()
    assert max(map(len, lines)) <= 80


def test_nothing_depends_on_how_many_run_at_once_and_a_search_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario(PROBLEMS["wrong-shaper-rate"])
    one = tune(scenario, "latency", budget=Budget(40), seeds=3, jobs=1, folder=tmp_path)
    two = tune(scenario, "latency", budget=Budget(40), seeds=3, jobs=3)
    assert page.to_json("x", one) == page.to_json("x", two)
    kept = (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    # The last line of who was killed is half there.
    (tmp_path / "runs.jsonl").write_text("\n".join(kept[:-9]) + '\n{"key": "1', encoding="utf-8")
    made = []
    run = Scenario.run

    def counted(self: Scenario, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - the same as it has
        made.append(1)
        return run(self, *arguments, **keywords)

    monkeypatch.setattr(Scenario, "run", counted)
    again = tune(scenario, "latency", budget=Budget(40), seeds=3, folder=tmp_path)
    assert len(made) == 9
    assert page.to_json("x", again) == page.to_json("x", one)


def test_what_set_gives_stays() -> None:
    scenario = Scenario(PROBLEMS["oversized-tsq"])
    key = 'node.laptop.sysctl."net.ipv4.tcp_limit_output_bytes"'
    of = space.of(scenario, [(key, "131072")])
    assert "net.ipv4.tcp_limit_output_bytes" not in [one.name for one in of.settings]
    assert ("laptop: tcp_limit_output_bytes 65536", f"{key} is set by --set") in of.refused


def test_the_space_is_what_the_scenario_has() -> None:
    names = {name: {one.name for one in space.of(Scenario(file), []).settings} for name, file in PROBLEMS.items()}
    assert names["hidden-node"] == {"rts_threshold of access points", "rts_threshold of stations"}
    assert "shaper" in names["wrong-shaper-rate"]
    assert not any("shaper" in of for name, of in names.items() if name != "wrong-shaper-rate")
    assert "AQL" in names["missing-aql"]
    assert "scheme of access points" in names["slow-station"]
    # A kernel of 2014 has no mac80211 with queues, and another kernel is no setting.
    old = next(one for one in space.of(Scenario(PROBLEMS["oversized-tsq"]), []).settings if "scheme" in one.name)
    assert [one.words for one in old.options] == ["as it is", "fq_codel above the driver"]


def test_nodes_of_a_count_and_those_that_are_like_others() -> None:
    of = space.of(Scenario(Path("scenarios/examples/openwrt-20.toml")), [])
    rts = next(one for one in of.settings if one.name == "rts_threshold of stations")
    assert rts.options[1].sets == (("node.sta.interface.wlan0.rts_threshold", "500"),)


B = Measured(100.0, 10.0, 10.0, 0.0)


@pytest.mark.parametrize(
    ("target", "after", "better"),
    [
        ("latency", Measured(50.0, 10.0, 10.0, 0.0), True),
        ("latency", Measured(50.0, 8.1, 8.1, 0.0), True),
        ("latency", Measured(50.0, 5.0, 5.0, 0.0), False),
        ("latency", Measured(50.0, 10.0, 10.0, 0.2), False),
        ("goodput", Measured(105.0, 12.0, 12.0, 0.0), True),
        ("goodput", Measured(150.0, 12.0, 12.0, 0.0), False),
        ("balance", Measured(50.0, 6.0, 6.0, 0.0), True),
        ("balance", Measured(50.0, 4.0, 4.0, 0.0), False),
    ],
)
def test_what_is_better(target: str, after: Measured, better: bool) -> None:
    assert (objective.score(target, after, B) > 0) == better
    assert objective.score(target, B, B) == 0


def test_a_starved_flow_counts() -> None:
    def run(*goodputs: float) -> Any:  # noqa: ANN401 - a part of a report
        flows = {
            str(at): {"protocol": "tcp", "goodput_mbps": of, "delay_p95_ms": 5.0} for at, of in enumerate(goodputs)
        }
        return {"flows": flows, "goodput_total_mbps": sum(goodputs)}

    fair, starved = objective.measured(run(10, 10)), objective.measured(run(29.9, 0.1))
    assert fair is not None
    assert starved is not None
    assert fair.goodput_mbps > starved.goodput_mbps
    assert objective.measured({"flows": {}, "goodput_total_mbps": 0.0}) is None  # type: ignore[typeddict-item]


def resolved(*flows: tuple[str, float]) -> dict[str, Any]:
    """Of a scenario with flows of datagrams what tells what they offer, in Mbit/s."""
    timing = {"start_ns": 0, "start_spread_ns": 0, "stop_ns": None}
    return {
        "warm_up_ns": 1_000_000_000,
        "duration_ns": 11_000_000_000,
        "flows": [
            {"name": name, "to": ["x"], **timing, "traffic": {"kind": "udp", "rates_bps": [mbps * 1e6]}}
            for name, mbps in flows
        ],
    }


@pytest.mark.parametrize(
    ("gap", "packets", "part", "gets"),
    [
        # Periodic datagrams are as many as they are: what has fewer waits before a full socket.
        ("periodic", 100, 0.91, True),
        ("periodic", 600, 0.89, False),
        ("periodic", 100, 0.80, False),
        ("periodic", 9, 0.10, False),
        # At random three standard deviations are chance.
        ("exponential", 600, 0.79, True),
        ("exponential", 600, 0.77, False),
        ({"uniform_millionths": [0, 2_000_000]}, 100, 0.61, True),
        ("exponential", 100, 0.59, False),
    ],
)
def test_only_random_gaps_leave_room_for_chance(gap: Any, packets: int, part: float, gets: bool) -> None:  # noqa: ANN401
    text = resolved(("x", 1.0))
    text["flows"][0]["traffic"]["gap"] = gap
    run: Any = {"flows": {"x.x": udp(part, 0.0, packets)}, "goodput_total_mbps": 1.0}
    assert objective.counted(run, text).steady == (("x.x",) if gets else ())


def udp(goodput: float, loss: float, packets: int = 4000, delay: float = 30.0) -> dict[str, Any]:
    return {"protocol": "udp", "goodput_mbps": goodput, "loss": loss, "packets": packets, "delay_p95_ms": delay}


def test_a_flow_of_a_fixed_rate_that_gets_it_is_no_transfer() -> None:
    bulk = {"protocol": "tcp", "goodput_mbps": 9.69, "loss": None, "packets": None, "delay_p95_ms": 200.0}
    run: Any = {
        "flows": {"bulk.x": bulk, "game.x": udp(0.047, 0.004, 480), "lost.x": udp(20, 0.5), "waits.x": udp(20, 0.0)},
        "goodput_total_mbps": 50.0,
    }
    about = objective.counted(run, resolved(("game", 0.048), ("lost", 40), ("waits", 40)))
    assert about == objective.Counted(("bulk.x", "lost.x", "waits.x"), ("game.x",))
    # A home with a download and a game has the goodput of the download, and the delay of the game.
    home: Any = {"flows": {"bulk.x": bulk, "game.x": udp(0.047, 0.004, 480)}, "goodput_total_mbps": 9.74}
    found = objective.measured(home, about.steady)
    assert found is not None
    assert found.goodput_mbps == pytest.approx(9.69)
    assert found.latency_ms == pytest.approx(30.0)
    assert found.loss == pytest.approx(0.004)
    # What halves the download does not keep 80 % of the goodput.
    halved: Any = {"flows": {**home["flows"], "bulk.x": {**bulk, "goodput_mbps": 4.8}}, "goodput_total_mbps": 4.85}
    less = objective.measured(halved, about.steady)
    assert less is not None
    assert objective.score("latency", less, found) < -1


def test_a_flow_that_begins_late_or_at_random_gets_its_rate_too() -> None:
    text = resolved(("late", 4.0), ("few", 0.01))
    text["flows"][0]["start_ns"] = 6_000_000_000
    text["flows"][1]["traffic"]["gap"] = "exponential"
    run: Any = {"flows": {"late.x": udp(2.0, 0.0), "few.x": udp(0.007, 0.0, 12)}, "goodput_total_mbps": 2.0}
    assert objective.counted(run, text).steady == ("late.x", "few.x")


def test_a_search_keeps_what_is_a_transfer(tmp_path: Path) -> None:
    text = PROBLEMS["hidden-node"].read_text(encoding="utf-8").replace("40 Mbit/s", "1 Mbit/s")
    runs = Runs(Scenario(text), [], None, None, tmp_path, None)
    steady = runs.counted().steady
    assert steady
    first = runs.measure([Job(())])
    again = Runs(Scenario(text), [], None, None, tmp_path, None)
    assert again.counted() == runs.counted()
    assert again.measure([Job(())]) == first
    assert not Runs(Scenario(PROBLEMS["hidden-node"]), [], None, None, None, None).counted().steady


def whole(target: str, *measured: Sequence[Measured]) -> tuple[Any, list[Any]]:
    """Choices with what was measured of each, and the same confirmed."""
    none: Any = _Nothing()
    made: Any = _Whole(target, none, none, 3, [B] * 3)
    for at, one in enumerate(measured, 1):
        made._known[(at,)] = list(one)
    return made, [made.confirmed((at,)) for at in range(1, len(measured) + 1)]


class _Nothing:
    """What there is to set and to run, where all has been measured."""

    def nothing(self) -> tuple[int, ...]:
        return (0,)

    def measure(self, jobs: Sequence[Job]) -> list[Measured]:
        assert not jobs
        return []


def over(latencies: Sequence[float], goodput: float) -> list[Measured]:
    return [Measured(ms, goodput, goodput, 0.0) for ms in latencies]


@pytest.mark.parametrize(
    ("target", "measured", "wins"),
    [
        # Within 2 % the goodput decides, whichever is a hair's breadth earlier.
        ("latency", (over([21.7, 21.7, 21.7], 8.57), over([21.8, 21.8, 21.8], 9.30)), 2),
        ("latency", (over([20.0, 20.0, 20.0], 8.57), over([21.8, 21.8, 21.8], 9.30)), 1),
        # Within the interval too.
        ("latency", (over([20.0, 21.0, 22.0], 8.57), over([22.5, 21.0, 21.4], 9.30)), 2),
        # However wide that is: half as late again is not as good.
        ("latency", (over([20.0, 21.0, 60.0], 8.57), over([30.0, 60.0, 40.0], 9.30)), 1),
        ("goodput", (over([105.0] * 3, 12.0), over([90.0] * 3, 11.9)), 2),
        ("balance", (over([50.0] * 3, 10.0), over([51.0] * 3, 10.1)), 1),
    ],
)
def test_of_equal_ones_the_other_figure_decides(target: str, measured: Any, wins: int) -> None:  # noqa: ANN401
    about, confirmed = whole(target, *measured)
    assert _first(about, confirmed).choice == (wins,)


def test_what_is_left_is_chosen_anew_and_no_row_beats_it() -> None:
    # A shaper of 80 or 95 %, and two more changes that buy 2 % each.
    delay = {
        (1, 1, 1): 15.0, (1, 1, 0): 15.3, (1, 0, 1): 15.3, (1, 0, 0): 15.7,
        (2, 1, 1): 15.6, (2, 1, 0): 15.8, (2, 0, 1): 15.8, (2, 0, 0): 16.0,
    }  # fmt: skip

    class Table:
        settings = tuple(Setting(str(at), "", (Option(""),) * (3 - bool(at))) for at in range(3))

        def nothing(self) -> tuple[int, ...]:
            return (0, 0, 0)

        def sets(self, choice: tuple[int, ...]) -> tuple[int, ...]:
            return choice

        def measure(self, jobs: Sequence[Any]) -> list[Measured]:
            goodput = {0: 10.0, 1: 8.3, 2: 9.9}
            rates = [goodput[job.sets[0]] for job in jobs]
            return [
                Measured(delay.get(job.sets, 100.0), rate, rate, 0.0) for job, rate in zip(jobs, rates, strict=True)
            ]

    table: Any = Table()
    about = _Whole("latency", table, table, 3, [B] * 3)
    first = [one for one in map(about.confirmed, [(1, 1, 1), (2, 1, 1), (0, 0, 0)]) if one is not None]
    assert _first(about, first).choice == (1, 1, 1)
    winner, bought, dropped = _settled(about, _first(about, first))
    assert winner.choice == (2, 0, 0)
    assert [(one.setting, one.option) for one in bought] == [(0, 2)]
    assert sorted(dropped) == [(1, 1), (2, 1)]
    for one in about.all():
        as_good = one.latency_ms.mean <= 1.02 * winner.latency_ms.mean
        assert not (as_good and one.goodput_mbps.mean > 1.03 * winner.goodput_mbps.mean)


def test_the_changes_of_each_row_are_named() -> None:
    found = tune(Scenario(PROBLEMS["wrong-shaper-rate"]), "latency", budget=Budget(40), seeds=3)
    said = " ".join(page.text("line", found).partition("The Pareto front of all")[2].split())
    assert found.confirmed
    for number, one in enumerate(found.confirmed, 1):
        told = said.partition(f" {number}: ")[2]
        shown = [option.words.partition(": ")[0] for _, option in found.space.chosen(one.choice)]
        assert told.startswith(("tuned, as above", "as it is")) or all(word in told for word in shown)


def test_what_is_as_good_is_among_those_that_are_repeated() -> None:
    trials = [Trial((at,), Measured(20 + at / 100, 9 + at, 9 + at, 0.0)) for at in range(1, 9)]

    def score(one: Measured) -> float:
        return objective.score("latency", one, B)

    found = best(trials, score, lambda one: objective.second("latency", one, B), 2)
    assert [one.choice for one in found] == [(1,), (8,)]


def test_the_network_a_little_different() -> None:
    line = {one.words: one.sets for one in perturb.of(Scenario(PROBLEMS["wrong-shaper-rate"]), [])}
    assert line["line rate -20 %"] == (("link.wan.rate.down", "80 Mbit/s"), ("link.wan.rate.up", "8 Mbit/s"))
    assert line["delay +20 %"] == (("link.wan.delay", "12 ms"),)
    hidden = {one.words: one.sets for one in perturb.of(Scenario(PROBLEMS["hidden-node"]), [])}
    assert hidden["load +20 %"] == (("flow.0.rate", "48 Mbit/s"),)
    assert hidden["Wi-Fi one MCS lower"] == (("node.left.interface.wlan0.rate", "ht20-mcs6-sgi"),)
    # MCS 8 would be another number of streams.
    assert "Wi-Fi one MCS higher" not in hidden


def test_what_cannot_be_run_is_refused_and_told() -> None:
    runs = Runs(Scenario(PROBLEMS["hidden-node"]), [], None, None, None, None)
    (outcome,) = runs.measure([Job((("channel.wifi.width", "1 MHz"),))])
    assert isinstance(outcome, Refused)
    assert "1 MHz" in outcome.says


def test_the_command_keeps_page_picture_and_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tune", str(PROBLEMS["hidden-node"]), "--for", "goodput", "--runs", "3", "-o", str(tmp_path / "kept")]
    assert status(arguments) == 0
    first = capsys.readouterr().out
    assert max(map(len, first.split("\n# Commands")[0].splitlines())) <= 80
    names = {path.name for path in (tmp_path / "kept").iterdir() if not path.name.startswith(".")}
    assert names == {"runs.jsonl", "tune.txt", "tune.json", "commands.sh", "front.svg"}
    assert (tmp_path / "kept" / "tune.txt").read_text(encoding="utf-8") == first
    assert "iw phy phy0 set rts 500" in (tmp_path / "kept" / "commands.sh").read_text(encoding="utf-8")
    picture = (tmp_path / "kept" / "front.svg").read_bytes()
    assert status(arguments) == 0
    assert capsys.readouterr().out == first
    assert (tmp_path / "kept" / "front.svg").read_bytes() == picture


@pytest.mark.parametrize("budget", ["", "0", "1.5", "2 weeks", "-3"])
def test_a_wrong_budget_is_one_error(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["tune", str(PROBLEMS["hidden-node"]), f"--budget={budget}"]) == 2
    assert f'--budget: found "{budget}", expected a number of runs' in capsys.readouterr().err


def test_without_optuna_one_error_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert status(["tune", str(PROBLEMS["hidden-node"])]) == 2
    assert "optuna is not installed; install it with: pip install 'stillair[tune]'" in capsys.readouterr().err


def test_a_scenario_in_which_nothing_is_late_is_one_error() -> None:
    text = PROBLEMS["hidden-node"].read_text(encoding="utf-8").split("[[flow]]")[0]
    with pytest.raises(InputError, match="cannot be tuned: a ping, a call or a flow received nothing"):
        tune(Scenario(text), "latency", budget=Budget(20))
