"""The rule on claims that can hardly fail, on a paper made up for it."""

from collections.abc import Mapping
from typing import Any

import pytest

from stillair import InputError, Result
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Claim, Experiment
from stillair_lab.papers.pages import registry
from stillair_lab.papers.robustness import non_discriminating
from stillair_lab.papers.runs import plan
from stillair_lab.papers.runs.campaign import Outcome

TABLE = {
    "metric": {
        "delay": {"kind": "report", "run": "delay_ms"},
        "delay ratio": {"kind": "ratio", "of": "delay", "from": {"way": "new"}, "to": {"way": "old"}},
        "delay cut": {"kind": "reduction", "of": "delay", "from": {"way": "old"}, "to": {"way": "new"}},
        "index": {"kind": "report", "run": "index"},
        "paper's own": {"kind": "formula", "of": "half-the-rtt"},
    },
    "campaign": {
        "c": {
            "scenario": "s",
            "cell": [
                {"name": f"{way} {load}", "where": {"way": way, "load": load}, "set": {}}
                for way in ("old", "new")
                for load in ("low", "high")
            ],
        }
    },
    "experiment": {"e": {"campaigns": ["c"]}},
}
PLAN = plan.read("p", TABLE)
KNOWN: Mapping[str, Any] = {
    "off": {"words": {"way": "old"}},
    "range": [
        {"metrics": ["delay"], "where": {"load": "high"}, "low": 0, "high": 1000},
        {"metrics": ["delay"], "low": 0, "high": 100},
        {"metrics": ["index"], "low": 0, "high": 3, "whole": True},
    ],
}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(non_discriminating, "known", lambda paper: {"p": KNOWN}[paper])
    monkeypatch.setattr(non_discriminating, "_DRAWN", {})


def claim(**said: Any) -> Claim:  # noqa: ANN401
    plain: dict[str, Any] = {
        "id": "c", "kind": "value", "statement": "", "configuration": {}, "metric": "delay", "unit": "ms",
        "value": None, "low": None, "high": None, "ordering": (), "qualifier": "", "role": "",
        "reproduce": True, "source": "",
    }  # fmt: skip
    return Claim(**plain | said)


def experiment() -> Experiment:
    return Experiment("p", "e", "Figure 1", "", {}, (), ())


def outcomes(**delays: float) -> dict[str, Outcome]:
    runs = {
        name.replace("_", " "): {"run": 0, "seed": 1, "trace_hash": "0", "stations": {}, "delay_ms": ms}
        for name, ms in delays.items()
    }
    results = {name: Result({"version": "0", "scenario": "s", "runs": [run]}) for name, run in runs.items()}
    return {"c": Outcome("", results)}


RAN = outcomes(old_low=10.0, old_high=400.0, new_low=9.0, new_high=20.0)


@pytest.mark.parametrize(
    ("said", "share"),
    [
        # 50 to 150 of 0 to 100: half of it.
        ({"value": 100, "qualifier": "about", "configuration": {"way": "new", "load": "low"}}, 0.5),
        # The first range that fits is ten times as wide.
        ({"value": 100, "qualifier": "about", "configuration": {"way": "new", "load": "high"}}, 0.1),
        # Both cells that are listed must hold.
        ({"kind": "bound", "low": 50, "configuration": {"way": ["old", "new"], "load": "low"}}, 0.25),
        # An order of two is the toss of a coin, exactly; one of three is one of six.
        ({"kind": "order", "ordering": ("new", "old"), "configuration": {"axis": "way", "load": "low"}}, 0.5),
        # A quotient of two that are drawn alike is below 2 three times of four.
        ({"kind": "bound", "high": 2, "metric": "delay ratio", "configuration": {"load": "low"}}, 0.75),
        (
            {"kind": "ratio", "high": 0.5, "configuration": {"numerator": "new", "denominator": "old", "load": "low"}},
            0.25,
        ),
        # It falls by half or more.
        ({"kind": "bound", "low": 50, "metric": "delay cut", "configuration": {"load": "low"}}, 0.25),
        # Of 0, 1, 2 and 3.
        ({"value": 2, "metric": "index", "configuration": {"way": "new", "load": "low"}}, 0.25),
    ],
)
def test_draws(said: dict[str, Any], share: float) -> None:
    found = non_discriminating.drawn(claim(**said), experiment(), PLAN)
    # Of a thousand draws; what is half by symmetry is half of them.
    assert found == pytest.approx(share, abs=0.05)
    if said["kind" if "kind" in said else "value"] == "order":
        assert found == 0.5


def test_draws_are_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    said = claim(value=30, configuration={"way": "new", "load": "low"})
    first = non_discriminating.drawn(said, experiment(), PLAN)
    monkeypatch.setattr(non_discriminating, "_DRAWN", {})
    assert non_discriminating.drawn(said, experiment(), PLAN) == first


HIGH, LOW = {"load": "high"}, {"load": "low"}


@pytest.mark.parametrize(
    ("said", "off", "why"),
    [
        # 9 ms with the mechanism, 10 without: within a quarter either way.
        ({"value": 9, "configuration": {"way": "new", **LOW}}, judge.REPRODUCED, ""),
        ({"value": 20, "configuration": {"way": "new", **HIGH}}, judge.NOT_REPRODUCED, ""),
        # Both are off: a tie is no order, and a ratio is 1.
        (
            {"kind": "order", "ordering": ("new", "old"), "configuration": {"axis": "way", **HIGH}},
            judge.NOT_REPRODUCED,
            "",
        ),
        ({"kind": "ratio", "value": 1.0, "metric": "delay ratio", "configuration": HIGH}, judge.REPRODUCED, ""),
        ({"kind": "ratio", "value": 0.1, "metric": "delay ratio", "configuration": HIGH}, judge.NOT_REPRODUCED, ""),
        (
            {"kind": "range", "low": 5, "high": 15, "metric": "delay cut", "configuration": LOW},
            judge.NOT_REPRODUCED,
            "",
        ),
        ({"value": 400, "configuration": {"way": "old", **HIGH}}, "", non_discriminating.ALL_OFF),
    ],
)
def test_the_mechanism_switched_off(said: dict[str, Any], off: str, why: str) -> None:
    assert non_discriminating.switched_off(claim(**said), experiment(), PLAN, RAN) == (off, why)


def test_without_the_run_that_half_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    never = {**KNOWN, "off": {"words": {"way": "old"}, "claims": {"c": {"way": "none"}}}}
    monkeypatch.setattr(non_discriminating, "known", lambda _: never)
    said = claim(value=20, configuration={"way": "new", **HIGH})
    assert non_discriminating.switched_off(said, experiment(), PLAN, RAN) == ("", "no run has way none, load high")


def test_what_no_run_decides_can_hardly_fail() -> None:
    said = claim(kind="ratio", value=1.0, metric="paper's own")
    found = non_discriminating.chance(said, experiment(), PLAN, RAN)
    assert (found.off, found.why, found.draws, found.non_discriminating) == (
        judge.REPRODUCED,
        non_discriminating.NO_RUN,
        None,
        True,
    )


def test_either_half_is_enough() -> None:
    assert non_discriminating.Chance(judge.REPRODUCED, draws=0.1).non_discriminating
    assert non_discriminating.Chance("", "reason", 0.5).non_discriminating
    assert not non_discriminating.Chance(judge.NOT_REPRODUCED, draws=0.499).non_discriminating
    assert not non_discriminating.Chance("", "reason").non_discriminating


def test_a_number_without_a_range_is_an_error_before_any_run() -> None:
    said = claim(kind="bound", high=5, metric="index", configuration={"way": "new", "load": "low"})
    non_discriminating.prepare(said, experiment(), PLAN)
    table = {**TABLE, "metric": {"speed": {"kind": "report", "run": "speed_mbps"}}}
    with pytest.raises(
        InputError, match=r"non-discriminating\.toml: p/e: found no range for speed with way new, load low"
    ):
        non_discriminating.prepare(
            claim(value=1, metric="speed", configuration=said.configuration), experiment(), plan.read("p", table)
        )


def test_every_claim_of_the_papers_has_its_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for entry in registry.entries():
        for own in entry.experiment.claims:
            non_discriminating.prepare(own, entry.experiment, plan.plan(entry.experiment.paper))


def test_the_words_that_switch_off_are_those_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for entry in registry.entries():
        plans = plan.plan(entry.experiment.paper)
        for own in entry.experiment.claims:
            if not judge.unjudged(own) and entry.plan.campaigns:
                words = non_discriminating.words_off(own, entry.experiment)
                cells = [c for e in plans.experiments.values() for one in e.campaigns for c in one.cells]
                assert all(any(str(c.where.get(k)) == str(v) for c in cells) for k, v in words.items()), own.id
