"""Claims over a range of a setting."""

import pytest

from stillair_lab.papers.claims import judge, ranges
from stillair_lab.papers.claims.judge import Judgement
from stillair_lab.papers.pages import report
from stillair_lab.papers.runs import plan
from stillair_lab.papers.runs.plan import Campaign


@pytest.mark.parametrize(
    ("middle", "low", "high", "verdict"),
    [
        (judge.REPRODUCED, judge.REPRODUCED, judge.REPRODUCED, judge.REPRODUCED),
        (judge.NOT_REPRODUCED, judge.NOT_REPRODUCED, judge.NOT_REPRODUCED, judge.NOT_REPRODUCED),
        (judge.REPRODUCED, judge.REPRODUCED, judge.NOT_REPRODUCED, judge.UNDECIDED),
        (judge.NOT_REPRODUCED, judge.REPRODUCED, judge.NOT_REPRODUCED, judge.UNDECIDED),
        (judge.NOT_REPRODUCED, judge.REPRODUCED, judge.REPRODUCED, judge.UNDECIDED),
        # The verdict at an end that was not run is unknown.
        (judge.REPRODUCED, judge.NOT_RUN, judge.REPRODUCED, judge.UNDECIDED),
        (judge.NOT_JUDGED, judge.REPRODUCED, judge.NOT_REPRODUCED, judge.NOT_JUDGED),
    ],
)
def test_a_verdict_over_a_range(middle: str, low: str, high: str, verdict: str) -> None:
    settled = ranges.settle(Judgement(middle), {"at one end": Judgement(low), "at the other": Judgement(high)})
    assert settled.verdict == verdict
    if verdict == judge.UNDECIDED:
        assert settled.reason == f"{middle} in the middle of the range, {low} at one end, {high} at the other"


def test_the_ends_are_the_same_cells_with_more_set() -> None:
    table = {
        "range": {"slow": {"set": {"link.lan.delay": "1 ms"}}, "fast": {"set": {"seed": "3"}, "runs": 2}},
        "campaign": {"one": {"scenario": "anomaly-udp", "runs": 5, "cell": [{"name": "a", "set": {"seed": "2"}}]}},
        "experiment": {"fig": {"campaigns": ["one"]}},
    }
    own = plan.read("paper", table).experiments["fig"]
    found: list[Campaign] = list(own.all_campaigns())
    assert [(c.id, c.runs, c.cells[0].overrides) for c in found] == [
        ("one", 5, {"seed": "2"}),
        ("one slow", 1, {"seed": "2", "link.lan.delay": "1 ms"}),
        ("one fast", 2, {"seed": "3"}),
    ]
    assert own.ends() == ["slow", "fast"]


def test_totals_tell_of_undecided_claims_where_there_are_some() -> None:
    rows = [{"verdict": judge.REPRODUCED}, {"verdict": judge.NOT_REPRODUCED}]
    assert report.totals(rows).splitlines()[0] == "2 claims: 1 reproduced, 1 not-reproduced, 0 not-run, 0 not-judged"
    more = [*rows, {"verdict": judge.UNDECIDED}]
    assert (
        report.totals(more).splitlines()[0]
        == "3 claims: 1 reproduced, 1 not-reproduced, 1 undecided, 0 not-run, 0 not-judged"
    )
