"""Claims that can hardly fail: docs/judging.md has the rule, `non-discriminating.toml` the data of each paper.

A claim counts if it holds with the mechanism under test switched off, or for half of the random draws over
the possible range of its numbers. No verdict depends on it.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from stillair._native import InputError
from stillair.results.result import Result
from stillair_lab.papers.claims import judge, paper_registry
from stillair_lab.papers.claims.inventory import Claim, Experiment, Where
from stillair_lab.papers.claims.judge import Cell
from stillair_lab.papers.claims.paper_registry import remembered
from stillair_lab.papers.measure import scatter, worked_examples
from stillair_lab.papers.measure.measurer import Measurer, quotients
from stillair_lab.papers.measure.scatter import Mark
from stillair_lab.papers.measure.source import LackingError, Numbers, Runs
from stillair_lab.papers.runs.campaign import Outcome
from stillair_lab.papers.runs.metrics import Formula, Metric, Model
from stillair_lab.papers.runs.plan import Plan, matches

DRAWS = 1000
NO_RUN = "no run decides it"
ALL_OFF = "its cells are all without the mechanism"


@dataclass(frozen=True)
class Chance:
    """Whether a claim can hardly fail, and why."""

    off: str
    """Verdict with the mechanism switched off; empty if not applicable."""
    why: str = ""
    """Why it is not applicable, or that no run decides the claim."""
    draws: float | None = None
    """Share of the draws for which it holds; `None` without draws."""

    @property
    def non_discriminating(self) -> bool:
        """Returns true if the claim can hardly fail."""
        return self.off == judge.REPRODUCED or (self.draws is not None and self.draws >= 0.5)


def chance(claim: Claim, experiment: Experiment, plan: Plan, outcomes: Mapping[str, Outcome]) -> Chance:
    """Applies the rule to a claim. `outcomes` are those of all campaigns of the paper that were run."""
    own = Measurer(experiment, plan, outcomes)
    if not own.own.marks and own.own.worked is None and _worked_out(own, claim):
        return Chance(judge.judge(claim, own.cells(claim)).verdict, NO_RUN)
    off, why = switched_off(claim, experiment, plan, outcomes)
    return Chance(off, why, drawn(claim, experiment, plan))


def _worked_out(own: Measurer, claim: Claim) -> bool:
    return isinstance(own.plan.metrics.get(claim.metric), Formula | Model)


@remembered
def known(paper: str) -> Mapping[str, Any]:
    """Content of a paper's `non-discriminating.toml`."""
    return paper_registry.table(paper_registry.folders()[paper], "non-discriminating.toml")


def words_off(claim: Claim, experiment: Experiment) -> Where:
    """Words that switch the mechanism off."""
    off = known(experiment.paper)["off"]
    found: Where = off.get("claims", {}).get(claim.id) or off.get("experiments", {}).get(experiment.id) or off["words"]
    return found


# The mechanism switched off.


@dataclass(frozen=True)
class _Off(Runs):
    """Reads the cell without the mechanism instead of each cell."""

    words: Where = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Replaced cells."""

    def result(self, where: Where) -> Result:
        said = {**where, **{word: value for word, value in self.words.items() if word in where}}
        if not matches(said, where):
            self.changed.add(str(where))
        for own in (self.own, *self.plan.experiments.values()):
            found = own.cell(said)
            outcome = self.outcomes.get(found[0].id) if found else None
            if found and outcome is not None and outcome.results is not None:
                return outcome.results[found[1].name]
        raise LackingError(f"no run has {', '.join(f'{word} {value}' for word, value in said.items())}")


def switched_off(claim: Claim, experiment: Experiment, plan: Plan, outcomes: Mapping[str, Outcome]) -> tuple[str, str]:
    """Verdict with the mechanism off; or empty, with the reason."""
    own = plan.experiments[experiment.id]
    if own.worked is not None:
        without = replace(experiment, setup={**experiment.setup, "index": known(experiment.paper)["off"]["index"]})
        return _verdict(claim, Measurer(without, plan, outcomes).cells(claim))
    words = words_off(claim, experiment)
    if own.marks:
        found = scatter.marks(plan, own, outcomes, scatter.placing(plan).airs[0])
        return _marks_off(claim, experiment, plan, found, words)
    off = _Off(own, plan, outcomes, words)
    cells = Measurer(experiment, plan, outcomes, other=off).cells(claim)
    return _verdict(claim, cells) if off.changed else ("", ALL_OFF)


def _marks_off(
    claim: Claim, experiment: Experiment, plan: Plan, marks: Sequence[Mark], words: Where
) -> tuple[str, str]:
    (word,) = words.values()
    method = experiment.setup.get(scatter.placing(plan).methods, word)
    if not scatter.compares_methods(claim, plan) and method == word:
        return "", ALL_OFF
    off = [mark for mark in marks if mark.method == word]
    # Relabel each mark without the mechanism as one with it.
    relabelled = [replace(mark, method=name) for name in dict.fromkeys(mark.method for mark in marks) for mark in off]
    return _verdict(claim, scatter.cells(claim, experiment, plan, relabelled))


def _verdict(claim: Claim, cells: Sequence[Cell]) -> tuple[str, str]:
    judged = judge.judge(claim, cells)
    return (judged.verdict, "") if judged.verdict in (judge.REPRODUCED, judge.NOT_REPRODUCED) else ("", judged.reason)


# Random draws.


def _uniform(name: str, draws: int, low: float, high: float, whole: bool = False) -> list[float]:
    """Draws of a number: half of them random, and their mirror images."""
    # Not a secret: the draws must be reproducible.
    stream = random.Random(name)  # noqa: S311
    half = [stream.random() for _ in range(draws // 2)]
    both = half + [1 - share for share in half]
    if whole:
        return [float(min(int(low + share * (high - low + 1)), high)) for share in both]
    return [low + share * (high - low) for share in both]


def _range(paper: str, experiment: str, metric: str, where: Where) -> Mapping[str, Any]:
    """Possible range of a number."""
    for entry in known(paper)["range"]:
        begins, words = entry.get("experiments", ""), entry.get("where", {})
        if metric in entry["metrics"] and experiment.startswith(begins) and (not words or matches(words, where)):
            found: Mapping[str, Any] = entry
            return found
    words = ", ".join(f"{word} {value}" for word, value in where.items())
    raise InputError(
        f"non-discriminating.toml: {paper}/{experiment}: found no range for {metric} with {words or 'no words'}"
    )


@dataclass(frozen=True)
class _Draws:
    """A source of random draws instead of runs, one run per draw."""

    experiment: Experiment
    claim: str
    draws: int

    def numbers(self, name: str, metric: Metric, where: Where) -> Numbers:  # noqa: ARG002 - drawn for every kind
        entry = _range(self.experiment.paper, self.experiment.id, name, where)
        words = ", ".join(f"{word} {where[word]}" for word in sorted(where))
        stream = f"{self.claim}: {name}: {words}"
        return [*_uniform(stream, self.draws, entry.get("low", 0.0), entry["high"], entry.get("whole", False))]

    def repetitions(self) -> int:
        return self.draws


def _cells_drawn(claim: Claim, experiment: Experiment, plan: Plan, draws: int) -> list[bool]:
    """Returns for each draw whether the claim holds in all its cells."""
    of = Measurer(experiment, plan, {}, other=_Draws(experiment, claim.id, draws))
    held = [True] * draws
    for _, where in of.listed(claim):
        found = _ordered(of, claim, where, draws) if claim.kind == "order" else _kept(of, claim, where)
        held = [one and other for one, other in zip(held, found, strict=True)]
    return held


def _ordered(of: Measurer, claim: Claim, where: Where, draws: int) -> list[bool]:
    series = of.members(claim, where)
    found = ({name: values[n] for name, values in series.items()} for n in range(draws))
    return [
        judge.in_order({name: value for name, value in draw.items() if value is not None}, claim.ordering)
        for draw in found
    ]


def _kept(of: Measurer, claim: Claim, where: Where) -> list[bool]:
    limit = judge.tolerance(claim)
    if "numerator" in claim.configuration:
        above, below, more = of.compared(claim, where)
        values = quotients(above, below, more)
    else:
        values = of.runs(where, claim.metric)
    return [value is not None and limit.keeps(value) for value in values]


def drawn(claim: Claim, experiment: Experiment, plan: Plan) -> float:
    """Share of the draws for which a claim holds."""
    # A claim's draws are reproducible, so cache the result.
    key = (experiment.paper, claim.id)
    if key not in _DRAWN:
        _DRAWN[key] = sum(_holds(claim, experiment, plan, DRAWS)) / DRAWS
    return _DRAWN[key]


def prepare(claim: Claim, experiment: Experiment, plan: Plan) -> None:
    """Raises an error if `non-discriminating.toml` lacks the range of a number of the claim; checked before any run."""
    if judge.unjudged(claim) or _worked_out(Measurer(experiment, plan, {}), claim):
        return
    # A claim whose cells do not exist yet has no numbers.
    with suppress(LackingError):
        _holds(claim, experiment, plan, 2)


def _holds(claim: Claim, experiment: Experiment, plan: Plan, draws: int) -> list[bool]:
    own = plan.experiments[experiment.id]
    if own.marks:
        return _marks_drawn(claim, experiment, plan, draws)
    if own.worked is not None:
        return _worked_drawn(claim, experiment, own.worked, draws)
    return _cells_drawn(claim, experiment, plan, draws)


_DRAWN: dict[tuple[str, str], float] = {}


def _worked_drawn(claim: Claim, experiment: Experiment, example: Mapping[str, Any], draws: int) -> list[bool]:
    """Draws a number, or for an order the positions at which frames are delivered."""
    if claim.kind != "order":
        entry = _range(experiment.paper, experiment.id, claim.metric, {})
        values = _uniform(claim.id, draws, entry.get("low", 0.0), entry["high"], entry.get("whole", False))
        return [judge.tolerance(claim).keeps(value) for value in values]
    frames = {str(mpdu) for ampdu in worked_examples.events(experiment, example) for mpdu in ampdu["received"]}
    places = {name: _uniform(f"{claim.id}: {name}", draws, 0, 1) for name in sorted(frames)}
    named = set(judge.members(claim.ordering))
    return [
        named <= frames and judge.in_order({name: places[name][n] for name in named}, claim.ordering)
        for n in range(draws)
    ]


def _marks_drawn(claim: Claim, experiment: Experiment, plan: Plan, draws: int) -> list[bool]:
    """Draws a scatter plot with marks at the fixed rates and any possible values."""
    by = scatter.placing(plan)
    places = [
        (str(cell.where[by.kinds]), str(cell.where[by.methods]), str(cell.where[by.rate]))
        for own in plan.experiments[experiment.id].campaigns
        for cell in own.cells
        if scatter.under(by, cell, by.airs[0])
    ]
    of = {what: _range(experiment.paper, experiment.id, metric, {}) for what, metric in _OF_MARKS.items()}

    def values(what: str, place: Sequence[str]) -> list[float]:
        entry, rate = of[what], float(place[2])
        high = rate if entry.get("of_rate") else entry["kbit"] / rate if "kbit" in entry else entry["high"]
        return _uniform(f"{claim.id}: {what}: {' '.join(place)}", draws, entry.get("low", 0.0), high)

    named = claim.configuration.get(by.kinds, [])
    stations = {"none", *(named if isinstance(named, list) else [named]), *judge.members(claim.ordering)}
    drawn_of = [(place, [values(what, place) for what in _OF_MARKS]) for place in places if place[0] in stations]
    held = []
    for n in range(draws):
        marks = [
            Mark(sta, method, f"{rate} {by.places[by.rate]}", [float(rate)], *([series[n]] for series in numbers))
            for (sta, method, rate), numbers in drawn_of
        ]
        held.append(judge.judge(claim, scatter.cells(claim, experiment, plan, marks)).verdict == judge.REPRODUCED)
    return held


_OF_MARKS = {
    "rtt": "average ping RTT",
    "queue": "average transmission queue length",
    "goodput": "throughput",
}
