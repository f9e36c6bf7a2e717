"""Calibrations and their targets: nothing that depends on one is judged."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from stillair import InputError
from stillair.runs import bundled
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Claim, Experiment, experiments
from stillair_lab.papers.pages import registry
from stillair_lab.papers.robustness import calibration
from stillair_lab.papers.runs import plan

PAPERS = sorted({experiment.paper for experiment in experiments()})


def of_paper(paper: str) -> list[Experiment]:
    return [experiment for experiment in experiments() if experiment.paper == paper]


def depending(paper: str, own: plan.Plan) -> set[str]:
    """The claims that the walk finds, by what the plan says of its fits."""
    return set(calibration.reached(own, of_paper(paper)))


@pytest.mark.parametrize("paper", PAPERS)
def test_no_judged_claim_depends_on_a_fit(paper: str) -> None:
    found = depending(paper, plan.plan(paper))
    judged = {
        claim.id
        for entry in registry.entries()
        if entry.experiment.paper == paper
        for claim in entry.experiment.claims
        if not judge.unjudged(claim)
    }
    assert judged & found == set()
    # Planted: a fit to some judged claim, wherever it is run. Then a claim that is judged depends on one.
    campaigns = {own.id: own for e in plan.plan(paper).experiments.values() for own in e.campaigns}
    walked = {
        claim.id
        for experiment in of_paper(paper)
        for claim in experiment.claims
        if claim.id in judged and calibration.numbers(plan.plan(paper), experiment, claim)
    }
    assert walked
    for target in sorted(walked)[:3]:
        planted = plan.Calibration("planted", ("key",), (target,), campaigns=tuple(campaigns))
        assert target in judged & depending(paper, replace(plan.plan(paper), calibrations=(planted,)))


def test_a_planted_fit_reaches_what_is_derived_from_its_number() -> None:
    own = plan.plan("ending-the-anomaly")
    planted = plan.Calibration("planted", ("key",), ("eta-f4-fqcodel-fast",), campaigns=("tcp",))
    found = calibration.reached(replace(own, calibrations=(planted,)), of_paper("ending-the-anomaly"))
    # The order over all schemes and the ratio to FQ-CoDel have the fast stations' ping in them; the slow one's has not.
    assert {"eta-f4-fqcodel-fast", "eta-f4-order", "eta-f4-fqmac-fast"} <= found.keys()
    assert not {"eta-f4-fqcodel-slow", "eta-f4-fqmac-slow", "eta-f4-airtime-median"} & found.keys()
    assert found["eta-f4-fqcodel-fast"] == ""
    assert found["eta-f4-order"] == "it depends on the calibration of planted (to eta-f4-fqcodel-fast)"


@pytest.mark.parametrize("paper", PAPERS)
def test_a_fit_names_keys_that_are_set_where_it_is_in_force(paper: str) -> None:
    own = plan.plan(paper)
    for one in own.calibrations:
        cells = calibration.in_force(own, one)
        assert cells
        for key in one.keys:
            resolved = [
                key in cell.overrides or f"{key.rpartition('.')[2]} =" in bundled.scenario(campaign.scenario).text
                for campaign, cell in cells
            ]
            assert all(resolved), (one.name, key)


def test_what_the_inventories_say_was_fitted_to_is_not_judged() -> None:
    for entry in registry.entries():
        for claim in entry.experiment.claims:
            if claim.role == "calibration":
                assert judge.unjudged(claim)


def test_a_total_depends_on_its_parts_and_a_ratio_on_both_ends() -> None:
    found = {claim.id: claim for entry in registry.entries() for claim in entry.experiment.claims}
    said = "the stations' signal-to-noise ratios"
    for name in ("eta-t1-airtime-total-exp", "eta-t1-factor", "eta-head-throughput"):
        assert said in judge.unjudged(found[name])
    assert "(to bquic-t3-RP5-quic)" in judge.unjudged(found["bquic-t3-RP5-gain"])
    # The other end alone does not; nor is a share of the airtime made of throughputs.
    for name in (
        "bquic-t3-RP5-bquic",
        "bquic-t3-RP1-gain",
        "eta-t1-fifo-slow-exp",
        "eta-f5-airtime",
        "eta-f6-airtime-uni",
    ):
        assert judge.unjudged(found[name]) == ""


TABLE: Mapping[str, Any] = {
    "metric": {
        "rate": {"kind": "report", "station": "goodput_mbps", "run": "goodput_total_mbps"},
        "gain": {"kind": "ratio", "of": "rate", "from": {"way": "new"}, "to": {"way": "old"}},
        "delay": {"kind": "samples", "of": "ping_ms", "statistic": "p50"},
        "spread of the rate": {"kind": "spread", "of": "rate"},
    },
    "station": {"all": ["a", "b"]},
    "campaign": {
        "c": {"scenario": "s", "cell": [{"name": w, "where": {"way": w}, "set": {"w": w}} for w in ("old", "new")]},
        # The same cell by another name.
        "again": {"scenario": "s", "cell": [{"name": "x", "where": {"way": "older"}, "set": {"w": "old"}}]},
    },
    "experiment": {"e": {"campaigns": ["c"]}, "f": {"campaigns": ["again"]}},
    "totals": {"goodput_total_mbps": "goodput_mbps"},
    "calibration": [{"name": "noise", "keys": ["w"], "campaigns": ["c"], "where": {"way": "old"}, "to": ["target"]}],
}


def claim(name: str, metric: str, **where: object) -> Claim:
    kind = "order" if "axis" in where else "value"
    ordering = ("old", "new") if kind == "order" else ()
    return Claim(name, kind, "", where, metric, "", 1.0, None, None, ordering, "", "", True, "")


CLAIMS = [
    claim("target", "rate", way="old", station="a"),
    claim("same", "rate", way="old", station="a"),
    claim("other station", "rate", way="old", station="b"),
    claim("class", "rate", way="old", station="all"),
    claim("total", "rate", way="old", station="total"),
    claim("other cell", "rate", way="new", station="a"),
    claim("ratio", "gain", station="a"),
    claim("order", "rate", axis="way", station="a"),
    claim("list", "rate", way=["new", "old"], station="a"),
    claim("other metric", "delay", way="old", station="a"),
    claim("spread", "spread of the rate", way="old", station="a"),
]


def test_the_walk() -> None:
    e = Experiment("p", "e", "", "", {}, (), tuple(CLAIMS))
    f = Experiment("p", "f", "", "", {}, (), (claim("same cell", "rate", way="older", station="a"),))
    found = calibration.reached(plan.read("p", TABLE), [e, f])
    assert set(found) == {"target", "same", "class", "total", "ratio", "order", "list", "same cell"}
    assert found["total"] == "it depends on the calibration of noise (to target)"


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"to": ["unknown"]}, InputError, "calibration noise: to: found unknown, expected claims of the paper"),
        ({"to": ["other cell"]}, InputError, "other cell, which has no number where the calibration is in force"),
        ({"campaigns": ["d"]}, ValueError, "calibration noise: there are no campaigns or settings d"),
        ({"settings": ["radio"]}, ValueError, "calibration noise: there are no campaigns or settings radio"),
    ],
)
def test_a_fit_that_means_nothing_is_an_error(change: dict[str, Any], error: type[Exception], said: str) -> None:
    e = Experiment("p", "e", "", "", {}, (), tuple(CLAIMS))
    with pytest.raises(error, match=said):
        calibration.reached(plan.read("p", {**TABLE, "calibration": [TABLE["calibration"][0] | change]}), [e])
