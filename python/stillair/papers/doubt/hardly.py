"""Claims that can hardly fail: docs/can-hardly-fail.md is the rule, `hardly.toml` what it needs to know of each paper.

A claim is counted if it holds with the mechanism under test switched off, or for half of the draws over what its
numbers may be at all. No verdict depends on it.
"""

import random
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from stillair._native import InputError
from stillair.papers.claims import judge
from stillair.papers.claims.inventory import Claim, Experiment, Where
from stillair.papers.claims.judge import Cell
from stillair.papers.measure import scatter, worked
from stillair.papers.measure.measurer import LackingError, Measurer
from stillair.papers.measure.scatter import Mark
from stillair.papers.runs.campaign import Outcome
from stillair.papers.runs.plan import Plan, matches
from stillair.results.result import Result

DRAWS = 1000
NO_RUN = "no run decides it"
ALL_OFF = "its cells are all without the mechanism"


@dataclass(frozen=True)
class Chance:
    """Why a claim can hardly fail, or that it can."""

    off: str
    """The verdict with the mechanism switched off; none where that does not apply."""
    why: str = ""
    """Why it does not apply, or that no run decides the claim."""
    draws: float | None = None
    """The share of the draws for which it holds; none where nothing is drawn."""

    @property
    def hardly(self) -> bool:
        """Whether the claim can hardly fail."""
        return self.off == judge.HELD or (self.draws is not None and self.draws >= 0.5)


def chance(claim: Claim, experiment: Experiment, plan: Plan, outcomes: Mapping[str, Outcome]) -> Chance:
    """What the rule says of a claim. `outcomes` are those of all campaigns of the paper that were run."""
    own = Measurer(experiment, plan, outcomes)
    if not own.own.marks and own.own.worked is None and _worked_out(own, claim):
        return Chance(judge.judge(claim, own.cells(claim)).verdict, NO_RUN)
    off, why = switched_off(claim, experiment, plan, outcomes)
    return Chance(off, why, drawn(claim, experiment, plan))


def _worked_out(own: Measurer, claim: Claim) -> bool:
    metric = own.plan.metrics.get(claim.metric)
    return metric is not None and bool(metric.formula or metric.model)


@cache
def known(paper: str) -> Mapping[str, Any]:
    """What `hardly.toml` says of a paper."""
    file = resources.files("stillair.papers") / "hardly.toml"
    of: Mapping[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))[paper]
    return of


def words_off(claim: Claim, experiment: Experiment) -> Where:
    """The words that take the mechanism away."""
    off = known(experiment.paper)["off"]
    found: Where = off.get("claims", {}).get(claim.id) or off.get("experiments", {}).get(experiment.id) or off["words"]
    return found


# The mechanism switched off.


@dataclass(frozen=True)
class _Off(Measurer):
    """Reads, in place of each cell, the one without the mechanism."""

    words: Where = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Cells that were replaced."""

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
    """The verdict with the mechanism off; or none, and why not."""
    own = plan.experiments[experiment.id]
    if own.worked is not None:
        without = replace(experiment, setup={**experiment.setup, "index": known(experiment.paper)["off"]["index"]})
        return _verdict(claim, Measurer(without, plan, outcomes).cells(claim))
    words = words_off(claim, experiment)
    if own.marks:
        return _marks_off(claim, experiment, scatter.marks(own, outcomes, scatter.AIRS[0]), words)
    off = _Off(experiment, plan, outcomes, words=words)
    cells = off.cells(claim)
    return _verdict(claim, cells) if off.changed else ("", ALL_OFF)


def _marks_off(claim: Claim, experiment: Experiment, marks: Sequence[Mark], words: Where) -> tuple[str, str]:
    (word,) = words.values()
    compares = claim.configuration.get("axis") == "ap_method" or claim.metric == "throughput, on over off"
    if not compares and experiment.setup.get("ap_method", word) == word:
        return "", ALL_OFF
    off = [mark for mark in marks if mark.method == word]
    # Each mark with the mechanism is taken to be what it is without.
    relabelled = [replace(mark, method=name) for name in dict.fromkeys(mark.method for mark in marks) for mark in off]
    return _verdict(claim, scatter.cells(claim, experiment, relabelled))


def _verdict(claim: Claim, cells: Sequence[Cell]) -> tuple[str, str]:
    judged = judge.judge(claim, cells)
    return (judged.verdict, "") if judged.verdict in (judge.HELD, judge.MISSED) else ("", judged.reason)


# The draws.


def _uniform(name: str, draws: int, low: float, high: float, whole: bool = False) -> list[float]:
    """Draws of a number: half of them, and their mirror images."""
    # Not for secrets: the same each time is what is wanted.
    stream = random.Random(name)  # noqa: S311
    half = [stream.random() for _ in range(draws // 2)]
    both = half + [1 - share for share in half]
    if whole:
        return [float(min(int(low + share * (high - low + 1)), high)) for share in both]
    return [low + share * (high - low) for share in both]


def _range(paper: str, experiment: str, metric: str, where: Where) -> Mapping[str, Any]:
    """What a number may be."""
    for entry in known(paper)["range"]:
        begins, words = entry.get("experiments", ""), entry.get("where", {})
        if metric in entry["metrics"] and experiment.startswith(begins) and (not words or matches(words, where)):
            found: Mapping[str, Any] = entry
            return found
    words = ", ".join(f"{word} {value}" for word, value in where.items())
    raise InputError(f"hardly.toml: {paper}/{experiment}: found no range for {metric} with {words or 'no words'}")


@dataclass(frozen=True)
class _Drawn(Measurer):
    """Gives draws in place of the numbers of runs, in as many runs as there are draws."""

    claim: str = ""
    draws: int = DRAWS

    def holds(self, claim: Claim) -> list[bool]:
        """Whether the claim holds, draw by draw."""
        held = [True] * self.draws
        limit = None if claim.kind == "order" else judge.bar(claim)
        for _, where in self.listed(claim):
            if limit is None:
                found = self._ordered(claim, where)
            else:
                found = [value is not None and limit.keeps(value) for value in self._number(claim, where)]
            held = [one and other for one, other in zip(held, found, strict=True)]
        return held

    def _ordered(self, claim: Claim, where: Where) -> list[bool]:
        names = judge.members(claim.ordering)
        axis = claim.configuration["axis"]
        series = {name: self._member(where, axis, name, claim.metric) for name in names}
        draws = ({name: values[n] for name, values in series.items()} for n in range(self.draws))
        return [
            judge.in_order({name: value for name, value in draw.items() if value is not None}, claim.ordering)
            for draw in draws
        ]

    def _number(self, claim: Claim, where: Where) -> list[float | None]:
        if "numerator" not in claim.configuration:
            return self._runs(where, claim.metric)
        metric, names = (
            self._metric(claim.metric),
            (claim.configuration["numerator"], claim.configuration["denominator"]),
        )
        axis = self.own.axis_of(names[1])
        above, below = (self._runs({**where, axis: name}, metric.increase_of or claim.metric) for name in names)
        return _quotients(above, below, bool(metric.increase_of))

    def _runs(self, where: Where, name: str) -> list[float | None]:
        metric = self._metric(name)
        derived = self._derived(where, name, metric)
        if derived is not None:
            return derived
        if metric.increase_of:
            before, after = self._ends(where, metric, metric.increase_of)
            return _quotients(after, before, per_cent=True)
        entry = _range(self.experiment.paper, self.experiment.id, name, where)
        words = ", ".join(f"{word} {where[word]}" for word in sorted(where))
        stream = f"{self.claim}: {name}: {words}"
        return [*_uniform(stream, self.draws, entry.get("low", 0.0), entry["high"], entry.get("whole", False))]

    def _repetitions(self) -> int:
        return self.draws


def _quotients(above: Sequence[float | None], below: Sequence[float | None], per_cent: bool) -> list[float | None]:
    pairs = zip(above, below, strict=True)
    found = [None if one is None or not other else one / other for one, other in pairs]
    return [None if ratio is None else 100 * (ratio - 1) for ratio in found] if per_cent else [*found]


def drawn(claim: Claim, experiment: Experiment, plan: Plan) -> float:
    """The share of the draws for which a claim holds."""
    # A claim's draws are the same each time.
    key = (experiment.paper, claim.id)
    if key not in _DRAWN:
        _DRAWN[key] = sum(_holds(claim, experiment, plan, DRAWS)) / DRAWS
    return _DRAWN[key]


def prepare(claim: Claim, experiment: Experiment, plan: Plan) -> None:
    """An error if `hardly.toml` does not say what a number of the claim may be; found before any run."""
    if judge.unjudged(claim) or _worked_out(Measurer(experiment, plan, {}), claim):
        return
    # A claim whose cells are not there yet has no numbers.
    with suppress(LackingError):
        _holds(claim, experiment, plan, 2)


def _holds(claim: Claim, experiment: Experiment, plan: Plan, draws: int) -> list[bool]:
    own = plan.experiments[experiment.id]
    if own.marks:
        return _marks_drawn(claim, experiment, plan, draws)
    if own.worked is not None:
        return _worked_drawn(claim, experiment, own.worked, draws)
    return _Drawn(experiment, plan, {}, claim=claim.id, draws=draws).holds(claim)


_DRAWN: dict[tuple[str, str], float] = {}


def _worked_drawn(claim: Claim, experiment: Experiment, example: Mapping[str, Any], draws: int) -> list[bool]:
    """A number, or for an order the places at which the frames go up."""
    if claim.kind != "order":
        entry = _range(experiment.paper, experiment.id, claim.metric, {})
        values = _uniform(claim.id, draws, entry.get("low", 0.0), entry["high"], entry.get("whole", False))
        return [judge.bar(claim).keeps(value) for value in values]
    frames = {str(mpdu) for ampdu in worked.events(experiment, example) for mpdu in ampdu["received"]}
    places = {name: _uniform(f"{claim.id}: {name}", draws, 0, 1) for name in sorted(frames)}
    named = set(judge.members(claim.ordering))
    return [
        named <= frames and judge.in_order({name: places[name][n] for name in named}, claim.ordering)
        for n in range(draws)
    ]


def _marks_drawn(claim: Claim, experiment: Experiment, plan: Plan, draws: int) -> list[bool]:
    """A scatter plot with marks at the rates of the fixed ones, and anything that they may be."""
    places = [
        (str(cell.where["sta"]), str(cell.where["ap_method"]), str(cell.where["rate"]))
        for own in plan.experiments[experiment.id].campaigns
        for cell in own.cells
        if scatter.under(cell, scatter.AIRS[0])
    ]
    of = {what: _range(experiment.paper, experiment.id, metric, {}) for what, metric in _OF_MARKS.items()}

    def values(what: str, place: Sequence[str]) -> list[float]:
        entry, rate = of[what], float(place[2])
        high = rate if entry.get("of_rate") else entry["kbit"] / rate if "kbit" in entry else entry["high"]
        return _uniform(f"{claim.id}: {what}: {' '.join(place)}", draws, entry.get("low", 0.0), high)

    named = claim.configuration.get("sta", [])
    stations = {"none", *(named if isinstance(named, list) else [named]), *judge.members(claim.ordering)}
    drawn_of = [(place, [values(what, place) for what in _OF_MARKS]) for place in places if place[0] in stations]
    held = []
    for n in range(draws):
        marks = [
            Mark(sta, method, f"{rate} Mbit/s", [float(rate)], *([series[n]] for series in numbers))
            for (sta, method, rate), numbers in drawn_of
        ]
        held.append(judge.judge(claim, scatter.cells(claim, experiment, marks)).verdict == judge.HELD)
    return held


_OF_MARKS = {
    "rtt": "average ping RTT",
    "queue": "average transmission queue length",
    "goodput": "throughput",
}
