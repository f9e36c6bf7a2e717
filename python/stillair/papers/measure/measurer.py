"""From a claim to what the runs say about it: which cells it speaks of, and the number in each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from stillair.papers.claims import judge
from stillair.papers.claims.inventory import Claim, Experiment, Where
from stillair.papers.claims.judge import Cell
from stillair.papers.measure import formulas, samples, scatter, table1_model, worked
from stillair.papers.runs.campaign import Outcome
from stillair.papers.runs.plan import ExperimentPlan, Metric, Plan, matches
from stillair.results.result import Result
from stillair.results.statistics import Interval, interval, median_interval, ratio_interval

# Words of a configuration that say how cells are compared and not which.
_COMPARING = ("axis", "numerator", "denominator")

_NOT_ASKED = "not asked to run"


class LackingError(Exception):
    """A number that there is not, and why; `ran` if its cell was run all the same."""

    def __init__(self, why: str, ran: bool = False) -> None:
        """Why there is no number."""
        super().__init__(why)
        self.ran = ran


@dataclass(frozen=True)
class Measurer:
    """Finds the numbers of one experiment in the outcomes of its campaigns."""

    experiment: Experiment
    plan: Plan
    outcomes: Mapping[str, Outcome]
    """Outcomes by the name of their campaign."""
    asked: bool = True
    """Somebody asked for this experiment."""

    @property
    def own(self) -> ExperimentPlan:
        """The plan of this experiment."""
        return self.plan.experiments[self.experiment.id]

    def cells(self, claim: Claim) -> list[Cell]:
        """What was measured in each cell that a claim lists."""
        if self.own.needs:
            return [Cell(lacks=f"needs {self.own.needs}")]
        # Not even the paper's own formula is judged of an experiment that nobody asked for.
        if not self.asked or (not self.outcomes and self.own.worked is None):
            return [Cell(lacks=_NOT_ASKED)]
        if self.own.marks:
            return scatter.cells(claim, self.experiment, scatter.marks(self.own, self.outcomes, scatter.AIRS[0]))
        chosen = []
        for label, where in self.listed(claim):
            try:
                chosen.append(self._cell(claim, label, where))
            except LackingError as lacking:
                chosen.append(Cell(label, lacks=str(lacking), ran=lacking.ran))
        return chosen

    def listed(self, claim: Claim) -> list[tuple[str, dict[str, Any]]]:
        """The cells that a claim lists: what each is called, and the words that choose it."""
        said = {key: value for key, value in claim.configuration.items() if key not in _COMPARING}
        reads = (self.own.reads or {}).get(claim.id)
        if reads is None:
            return _combined({**(self.own.where or {}), **said}, {})
        # These take the place of cells in the paper's own words.
        said = {key: value for key, value in said.items() if key != "cells" and not isinstance(value, dict)}
        return [cell for read in reads for cell in _combined({**(self.own.where or {}), **said, **read}, read)]

    def result(self, where: Where) -> Result:
        """The result of the cell that the words choose."""
        for lack in self.own.lacks:
            if matches(lack.where, where):
                raise LackingError(f"needs {lack.needs}")
        found = self.own.cell(where)
        if found is None:
            raise LackingError(f"no run stands for {_words(where)}")
        campaign, cell = found
        outcome = self.outcomes.get(campaign.id)
        if outcome is None or outcome.results is None:
            raise LackingError(outcome.lacks if outcome and outcome.lacks else _NOT_ASKED)
        return outcome.results[cell.name]

    def of_cell(self, where: Where, name: str) -> Interval | None:
        """A metric of a cell over its runs; none if no run has it."""
        try:
            return self._quantity(where, name)
        except LackingError:
            return None

    def _cell(self, claim: Claim, label: str, where: Where) -> Cell:
        if claim.kind == "order":
            return self._order(claim, label, where)
        if "numerator" in claim.configuration:
            names = claim.configuration["numerator"], claim.configuration["denominator"]
            axis = self.own.axis_of(names[1])
            metric = self._metric(claim.metric)
            above, below = (self._runs({**where, axis: name}, metric.increase_of or claim.metric) for name in names)
            found = _ratio(above, below)
            return Cell(label, _per_cent_more(found) if metric.increase_of else found)
        return Cell(label, self._quantity(where, claim.metric))

    def _order(self, claim: Claim, label: str, where: Where) -> Cell:
        if self.own.worked is not None:
            return self._delivered(claim, label)
        axis = claim.configuration["axis"]
        series = {name: self._member(where, axis, name, claim.metric) for name in judge.members(claim.ordering)}
        gaps = []
        for low, high in judge.steps(claim.ordering):
            below, above = _paired(series[low], series[high])
            gaps.append(interval([b - a for a, b in zip(below, above, strict=True)]))
        return Cell(label, ranked={name: interval(_found(runs)) for name, runs in series.items()}, gaps=tuple(gaps))

    def _delivered(self, claim: Claim, label: str) -> Cell:
        """The order of a worked example: the place at which each frame went up."""
        up = [str(mpdu) for mpdu in worked.delivery(self.experiment, self.own.worked or {})]
        members = judge.members(claim.ordering)
        # Other frames than these are no order of theirs: equal places stand in none.
        places = {mpdu: float(up.index(mpdu) + 1) if sorted(up) == sorted(members) else 0.0 for mpdu in members}
        return Cell(label, ranked={mpdu: Interval(place, place, place) for mpdu, place in places.items()})

    def _member(self, where: Where, axis: str, name: str, metric: str) -> list[float | None]:
        """A member of an order, run by run: of several cells, the least."""
        meant = self.plan.means.get(name)
        if meant is None:
            if " and " in axis:
                # An axis `scheme and qos` has members such as `fifo VO`.
                return self._runs({**where, **dict(zip(axis.split(" and "), name.split(" "), strict=True))}, metric)
            # An axis may be called by what is drawn along it and not by the word of the cells.
            word = axis if self.own.has_word(axis) else self.own.axis_of(name) or axis
            return self._runs({**where, word: name}, metric)
        cells = [self._runs({**where, **words}, metric) for words in meant]
        runs = [[value for value in values if value is not None] for values in zip(*cells, strict=True)]
        return [min(values) if len(values) == len(cells) else None for values in runs]

    def _quantity(self, where: Where, name: str) -> Interval:
        metric = self._metric(name)
        if metric.reduction_of:
            whole = {**where, **(metric.at or {})}
            before, after = (
                self._runs({**whole, **(end or {})}, metric.reduction_of) for end in (metric.from_, metric.to)
            )
            left = _ratio(after, before)
            return Interval(100 * (1 - left.mean), 100 * (1 - left.high), 100 * (1 - left.low))
        if metric.increase_of:
            before, after = self._ends(where, metric, metric.increase_of)
            return _per_cent_more(_ratio(after, before))
        if metric.ratio_of:
            return _ratio(*self._ends(where, metric, metric.ratio_of))
        if metric.spread_of:
            spread = interval(_found(self._runs(where, metric.spread_of)))
            wide = 100 * (spread.high - spread.low) / spread.mean
            return Interval(wide, wide, wide)
        value = self._worked_out(where, metric)
        if value is not None:
            return Interval(value, value, value)
        found = _found(self._runs(where, name))
        as_median = self.own.median is not None and matches(self.own.median, where)
        return median_interval(found) if as_median else interval(found)

    def _worked_out(self, where: Where, metric: Metric) -> float | None:
        """A number that no run gives: by a formula, by a paper's model, or in a worked example."""
        if metric.formula:
            return formulas.FORMULAS[metric.formula]()
        if metric.worked:
            return worked.value(metric.worked, self.experiment, self.own.worked or {}, where)
        if metric.model:
            return metric.scale * table1_model.value(self.experiment, where["scheme"], where["station"], metric.model)
        return None

    def _runs(self, where: Where, name: str) -> list[float | None]:
        """A metric run by run: of a station, a class of them, a sum of some (`fast1 + fast2`), or the whole."""
        metric = self._metric(name)
        derived = self._derived(where, name, metric)
        if derived is not None:
            return derived
        station = where.get("station")
        result = self.result({key: value for key, value in where.items() if key != "station"})
        if metric.samples and (station is None or not metric.station):
            of = None if station is None else self.stations(station)
            values = [samples.of_run(result, run, metric.samples, metric.statistic, of) for run in result.runs]
            return [_scaled(value, metric.scale) for value in values]
        if metric.run and station in (None, "total"):
            return [_scaled(run.get(metric.run), metric.scale) for run in result.runs]
        if not metric.station or station is None:
            raise LackingError(f"a run does not report {name} for {station or 'the whole'}", ran=True)
        names = self.stations(station)
        share = 1 / len(names) if station in self.plan.stations else 1.0
        return [_sum([_station(run, one, metric) for one in names], share) for run in result.runs]

    def stations(self, name: str) -> Sequence[str]:
        """The stations that a claim calls so: a class, a sum of some, or one."""
        return self.plan.stations.get(name) or name.split(" + ")

    def _derived(self, where: Where, name: str, metric: Metric) -> list[float | None] | None:
        """A metric that is made of another, or none if this is not."""
        if metric.of is not None:
            chosen = metric.of.get(where.get(metric.word, ""))
            if chosen is None:
                raise LackingError(f"{name} is of no {metric.word}")
            return self._runs({key: value for key, value in where.items() if key != metric.word}, chosen)
        if metric.constants and (said := [value for value in where.values() if value in metric.constants]):
            return [metric.constants[said[0]]] * self._repetitions()
        if metric.inverse_of:
            return [metric.constant / value if value else None for value in self._runs(where, metric.inverse_of)]
        if metric.knee_of:
            return self._knee(where, metric)
        return self._compared(where, metric)

    def _compared(self, where: Where, metric: Metric) -> list[float | None] | None:
        """A metric that is another's ratio or difference between two cells, or by how many per cent it falls."""
        of = metric.ratio_of or metric.difference_of or metric.reduction_of
        if not of:
            return None
        whole = {**where, **(metric.at or {})} if metric.reduction_of else where
        ends = zip(*self._ends(whole, metric, of), strict=True)
        if metric.reduction_of:
            return [None if after is None or not before else 100 * (1 - after / before) for before, after in ends]
        if metric.ratio_of:
            return [None if one is None or not other else one / other for one, other in ends]
        return [None if one is None or other is None else one - other for one, other in ends]

    def _repetitions(self) -> int:
        """Runs of each cell, of those that were run."""
        ran = [outcome.results for outcome in self.outcomes.values() if outcome.results]
        if not ran:
            raise LackingError(_NOT_ASKED)
        return len(next(iter(ran[0].values())).runs)

    def _knee(self, where: Where, metric: Metric) -> list[float | None]:
        """The smallest of some values at which a metric is nearly what it is at best, run by run."""
        values = sorted((metric.values or {}).items(), key=lambda item: item[1])
        cells = [self._runs({**where, metric.word: name}, metric.knee_of) for name, _ in values]
        found: list[float | None] = []
        for run in zip(*cells, strict=True):
            known = [value or 0.0 for value in run]
            found.append(next(x for (_, x), y in zip(values, known, strict=True) if y >= metric.share * max(known)))
        return found

    def _ends(self, where: Where, metric: Metric, of: str) -> tuple[list[float | None], list[float | None]]:
        """Another metric at both ends of a comparison, run by run."""
        one, other = (self._runs({**where, **(end or {})}, of) for end in (metric.from_, metric.to))
        return one, other

    def _metric(self, name: str) -> Metric:
        if name not in self.plan.metrics:
            raise LackingError(f"a run does not report {name}", ran=True)
        return self.plan.metrics[name]


def _combined(words: Where, read: Where) -> list[tuple[str, dict[str, Any]]]:
    """One for each combination of what the words list; `read` is named too."""
    lists = {key: value for key, value in words.items() if isinstance(value, list)}
    found = []
    for values in product(*lists.values()):
        listed = dict(zip(lists, values, strict=True))
        label = ", ".join(f"{key} {value}" for key, value in {**read, **listed}.items())
        found.append((label, {**words, **listed}))
    return found


def _station(run: Mapping[str, Any], name: str, metric: Metric) -> float | None:
    if name not in run["stations"]:
        raise LackingError(f"the scenario has no station {name}", ran=True)
    return _scaled(run["stations"][name].get(metric.station), metric.scale)


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _sum(values: Sequence[float | None], share: float) -> float | None:
    found = [value for value in values if value is not None]
    return share * sum(found) if len(found) == len(values) else None


def _found(values: Sequence[float | None]) -> list[float]:
    found = [value for value in values if value is not None]
    if not found:
        raise LackingError("no run measured it", ran=True)
    return found


def _paired(one: Sequence[float | None], other: Sequence[float | None]) -> tuple[list[float], list[float]]:
    """The runs in which both were measured."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not pairs:
        raise LackingError("no run measured both", ran=True)
    return [a for a, _ in pairs], [b for _, b in pairs]


def _ratio(above: Sequence[float | None], below: Sequence[float | None]) -> Interval:
    over, under = _paired(above, below)
    if not any(under):
        raise LackingError("what it is compared with was zero in every run", ran=True)
    return ratio_interval(over, under)


def _per_cent_more(ratio: Interval) -> Interval:
    return Interval(*(100 * (value - 1) for value in ratio))


def _words(where: Where) -> str:
    return ", ".join(f"{key} {value}" for key, value in where.items()) or "the claim"
