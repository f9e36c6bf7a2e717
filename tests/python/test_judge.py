"""The judging rule, piece by piece."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillair.results.statistics import Interval
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Claim, experiments
from stillair_lab.papers.claims.judge import Cell, Tolerance

INF = math.inf
ALL_CLAIMS = [claim for experiment in experiments() for claim in experiment.claims]


def claim(**said: Any) -> Claim:  # noqa: ANN401
    plain: dict[str, Any] = {
        "id": "c", "kind": "value", "statement": "", "configuration": {}, "metric": "delay", "unit": "ms",
        "value": None, "low": None, "high": None, "ordering": (), "qualifier": "", "role": "",
        "reproduce": True, "source": "",
    }  # fmt: skip
    return Claim(**plain | said)


def at(*values: float) -> Cell:
    mean, low, high = values if len(values) == 3 else (values[0],) * 3
    return Cell(measured=Interval(mean, low, high))


def order(means: dict[str, float], *gaps: tuple[float, float, float]) -> Cell:
    ranked = {name: Interval(mean, mean, mean) for name, mean in means.items()}
    return Cell(ranked=ranked, gaps=tuple(Interval(*gap) for gap in gaps))


@pytest.mark.parametrize(
    ("qualifier", "hedged"),
    [
        ("", False), ("exact", False), ("plain", False), ("mean", False),
        ("exact in print; not the sum of the rows", False), ("completely fair: 100/29", False),
        ("exactly the same; a third each", False), ("exactly, by the algorithms", False),
        ("about", True), ("up to", True), ("the same as around 35", True), ("almost", True), ("the remaining", True),
    ],
)  # fmt: skip
def test_every_word_but_six_is_a_hedge(qualifier: str, hedged: bool) -> None:
    assert judge.hedged(qualifier) is hedged


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [
        # A number: a quarter, or a half where hedged.
        ({"value": 100}, 75, 125),
        ({"value": 100, "qualifier": "plain"}, 75, 125),
        ({"value": 100, "qualifier": "around"}, 50, 150),
        ({"value": -8}, -10, -6),
        ({"value": 0}, 0, 0),
        # Shares of a whole: three points, hedged or not; a share that is no percentage is a number.
        ({"value": 80, "metric": "airtime share", "unit": "%", "qualifier": "around"}, 77, 83),
        ({"value": 33.3, "metric": "airtime share", "unit": "%"}, 30.3, 36.3),
        ({"value": 10, "metric": "shared delay", "unit": "%"}, 7.5, 12.5),
        # Jain's index, where the paper says perfect.
        ({"value": 1.0, "metric": "Jain index", "qualifier": "close to", "unit": ""}, 0.97, INF),
        ({"value": 0.8, "metric": "Jain index", "unit": ""}, 0.6, 1.0),
        # Ratios.
        ({"kind": "ratio", "value": 1.0, "qualifier": "similar"}, 0.85, 1.15),
        ({"kind": "ratio", "value": 1.26}, 1.195, 1.325),
        ({"kind": "ratio", "value": 1.07}, 1.02, 1.12),
        ({"kind": "ratio", "value": 0.55, "qualifier": "another 45 % less"}, 0.4375, 0.6625),
        ({"kind": "ratio", "value": 5.4, "qualifier": "plain"}, 4.3, 6.5),
        ({"kind": "ratio", "value": 10, "qualifier": "an order of magnitude"}, 5, 20),
        ({"kind": "ratio", "value": 0.1, "qualifier": "an order of magnitude"}, 0.05, 0.2),
        ({"kind": "ratio", "value": 100, "qualifier": "two orders of magnitude"}, 50, 200),
        ({"kind": "ratio", "value": 2, "qualifier": "a factor of two"}, 1.5, 3),
        ({"kind": "ratio", "value": 2}, 1.75, 2.25),
        # Bounds and ranges, as they stand; a ratio that is only bounded too.
        ({"kind": "range", "low": 10, "high": 15}, 10, 15),
        ({"kind": "bound", "low": 70}, 70, INF),
        ({"kind": "bound", "high": 10}, -INF, 10),
        ({"kind": "ratio", "high": 10, "qualifier": "up to an order of magnitude"}, -INF, 10),
        # A formula: what rounds to the printed digit.
        ({"value": 9.7, "role": "model"}, 9.65, 9.75),
        ({"value": 10, "role": "model"}, 9.5, 10.5),
        ({"value": 79, "role": "model", "metric": "airtime share T(i)", "unit": "%"}, 78.5, 79.5),
    ],
)  # fmt: skip
def test_a_claim_becomes_a_bar(said: dict[str, Any], low: float, high: float) -> None:
    bar = judge.tolerance(claim(**said))
    assert bar.low == pytest.approx(low, abs=1e-6)
    assert bar.high == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize(
    ("qualifier", "kept"),
    [("more than", False), ("over", False), ("under", False), ("less than", False), ("to within", True), ("", True)],
)
def test_what_a_claim_says_is_exceeded_must_be(qualifier: str, kept: bool) -> None:
    bar = judge.as_it_stands(128, None, qualifier)
    assert bar.keeps(128) is kept
    assert bar.keeps(128.001)
    assert not bar.keeps(127.999)


@pytest.mark.parametrize(
    ("means", "ordering", "holds"),
    [
        ({"a": 1, "b": 2, "c": 3}, ["a", "b", "c"], True),
        ({"a": 1, "b": 3, "c": 2}, ["a", "b", "c"], False),
        ({"a": 1, "b": 1}, ["a", "b"], False),
        ({"a": 3, "b": 1, "c": 4}, [["a", "b"], "c"], True),
        ({"a": 3, "b": 5, "c": 4}, [["a", "b"], "c"], False),
        ({"a": 1, "b": 3, "c": 2}, ["a", ["b", "c"]], True),
        ({"a": 1, "b": 3, "c": 2, "d": 2.5}, ["a", ["b", "c"], "d"], False),
        ({"100": 1, "10": 2, "1": 3}, [100, [10, 1]], True),
    ],
)
def test_an_order_is_by_the_means_and_groups_have_none_inside(
    means: dict[str, float], ordering: list[Any], holds: bool
) -> None:
    assert judge.in_order(means, ordering) is holds
    assert sorted(judge.members(ordering)) == sorted(means)


@given(
    st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=3), min_size=1, max_size=4),
)
def test_an_order_holds_if_each_group_lies_above_all_before_it(groups: list[list[float]]) -> None:
    names = [[f"{g}.{m}" for m in range(len(group))] for g, group in enumerate(groups)]
    means = {
        name: value for row, group in zip(names, groups, strict=True) for name, value in zip(row, group, strict=True)
    }
    above = all(
        max(value for group in groups[:place] for value in group) < min(groups[place])
        for place in range(1, len(groups))
    )
    assert judge.in_order(means, [*names]) is above


@pytest.mark.parametrize(
    ("interval", "straddles"),
    [
        ((100, 90, 110), False),
        ((100, 70, 130), True),
        ((80, 70, 90), True),
        ((60, 50, 70), False),
        ((60, 40, 80), True),
    ],
)
def test_marginal_is_an_interval_on_both_sides(interval: tuple[float, float, float], straddles: bool) -> None:
    assert judge.judge(claim(value=100), [at(*interval)]).marginal is straddles


@pytest.mark.parametrize(
    ("cells", "verdict", "worst"),
    [
        ([at(100)], "reproduced", 100),
        ([at(130)], "not-reproduced", 130),
        ([at(100), at(120), at(90)], "reproduced", 120),
        ([at(100), at(130), at(40)], "not-reproduced", 40),
        # A cell that cannot run leaves it open, unless another one misses already.
        ([at(100), Cell(lacks="needs TCP")], "not-run", None),
        ([at(130), Cell(lacks="needs TCP")], "not-reproduced", 130),
        ([Cell(lacks="needs TCP"), Cell(lacks="a run does not report it", ran=True)], "not-run", None),
        ([Cell(lacks="a run does not report it", ran=True)], "not-judged", None),
        ([], "not-run", None),
    ],
)
def test_the_worst_cell_decides(cells: list[Cell], verdict: str, worst: float | None) -> None:
    judged = judge.judge(claim(value=100), cells)
    assert judged.verdict == verdict
    assert (judged.worst.measured.mean if judged.worst and judged.worst.measured else None) == worst
    assert bool(judged.reason) is (verdict in ("not-run", "not-judged"))


def test_a_peak_that_no_run_shows_is_missed_unless_it_was_not_looked_for() -> None:
    peak = claim(value=500, metric="mode of inter-packet time")
    absent, waiting = Cell(lacks="no run measured it", ran=True), Cell(lacks="not asked to run")
    assert (judge.judge(peak, [absent]).verdict, judge.judge(peak, [absent]).reason) == (
        "not-reproduced",
        "no run measured it",
    )
    assert judge.judge(peak, [absent, waiting]).verdict == judge.judge(peak, [waiting]).verdict == "not-run"
    assert judge.judge(claim(value=500), [absent]).verdict == "not-judged"


def test_an_order_is_judged_by_its_worst_cell_too() -> None:
    said = claim(kind="order", ordering=("a", "b"))
    far, near, wrong = (
        order({"a": 1, "b": 9}, (8, 7, 9)),
        order({"a": 1, "b": 2}, (1, -1, 3)),
        order({"a": 2, "b": 1}, (-1, -2, 0.5)),
    )
    assert judge.judge(said, [far]).verdict == "reproduced"
    assert not judge.judge(said, [far]).marginal
    assert judge.judge(said, [far, near]).worst is near
    assert judge.judge(said, [far, near]).marginal
    assert (judge.judge(said, [far, near, wrong]).verdict, judge.judge(said, [far, near, wrong]).worst) == (
        "not-reproduced",
        wrong,
    )


def test_the_smallest_step_makes_an_order_the_worst() -> None:
    said = claim(kind="order", ordering=("a", "b", "c"))
    even = order({"a": 1, "b": 5, "c": 9}, (4, 4, 4), (4, 4, 4))
    close = order({"a": 1, "b": 9, "c": 10}, (8, 8, 8), (1, 1, 1))
    assert judge.judge(said, [even, close]).worst is close
    assert judge.judge(said, [close, even]).worst is close


@pytest.mark.parametrize("said", [{"role": "input"}, {"role": "calibration"}, {"reproduce": False}])
def test_inputs_fits_and_words_on_other_work_are_not_judged(said: dict[str, Any]) -> None:
    judged = judge.judge(claim(value=100, **said), [at(100)])
    assert judged.verdict == "not-judged"
    assert judged.reason


@pytest.mark.parametrize("said", ALL_CLAIMS, ids=lambda said: said.id)
def test_what_a_paper_states_holds_its_own_claim(said: Claim) -> None:
    if judge.unjudged(said):
        return
    if said.kind == "order":
        ranks = {name: place for place, rank in enumerate(said.ordering) for name in judge.members([rank])}
        assert len(ranks) >= 2
        assert judge.in_order(ranks, said.ordering)
        return
    bar = judge.tolerance(said)
    assert bar != Tolerance()
    if said.value is not None:
        assert bar.keeps(said.value)
    else:
        assert bar.low < bar.high
