"""From a claim to its numbers: the cells that it covers, and the number in each.

A claim's words select the cells. In each cell the metric is evaluated by its kind (`runs/metrics.py`):
numbers of runs come from the source, derived metrics are computed from another metric's runs, and others are
calculated without runs. An order has a number for each member.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from stillair.results.result import Result
from stillair.results.statistics import Interval, interval, median_interval, ratio_interval
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Claim, Experiment, Where
from stillair_lab.papers.claims.judge import Cell
from stillair_lab.papers.measure import formulas, scatter, table1_model, worked_examples
from stillair_lab.papers.measure.source import NOT_ASKED, LackingError, Numbers, Runs, Source, stations
from stillair_lab.papers.runs.campaign import Outcome
from stillair_lab.papers.runs.metrics import (
    Chosen,
    Difference,
    Formula,
    Increase,
    Inverse,
    Knee,
    Metric,
    Model,
    Ratio,
    Reduction,
    Sampled,
    Spread,
    Worked,
)
from stillair_lab.papers.runs.plan import ExperimentPlan, Plan, matches

# Words of a configuration that define a comparison instead of selecting cells.
_COMPARING = ("axis", "numerator", "denominator")


@dataclass(frozen=True)
class Measurer:
    """Evaluates an experiment from the outcomes of its campaigns."""

    experiment: Experiment
    plan: Plan
    outcomes: Mapping[str, Outcome]
    """Outcomes by campaign name."""
    asked: bool = True
    """False if this experiment was not requested."""
    other: Source | None = None
    """Alternative source of cells' numbers, instead of the runs."""

    @property
    def own(self) -> ExperimentPlan:
        """Plan of this experiment."""
        return self.plan.experiments[self.experiment.id]

    @property
    def source(self) -> Source:
        """Source of cells' numbers."""
        return self.other or self._ran

    @property
    def _ran(self) -> Runs:
        return Runs(self.own, self.plan, self.outcomes)

    def cells(self, claim: Claim) -> list[Cell]:
        """Measurements in each cell that a claim lists."""
        if self.own.needs:
            return [Cell(lacks=f"needs {self.own.needs}")]
        # If the experiment was not requested, not even the paper's own formula is judged.
        if not self.asked or (not self.outcomes and self.own.worked is None):
            return [Cell(lacks=NOT_ASKED)]
        if self.own.marks:
            found = scatter.marks(self.plan, self.own, self.outcomes, scatter.placing(self.plan).airs[0])
            return scatter.cells(claim, self.experiment, self.plan, found)
        chosen = []
        for label, where in self.listed(claim):
            try:
                chosen.append(self.cell(claim, label, where))
            except LackingError as lacking:
                chosen.append(Cell(label, lacks=str(lacking), ran=lacking.ran))
        return chosen

    def listed(self, claim: Claim) -> list[tuple[str, dict[str, Any]]]:
        """The cells that a claim lists: a label, and the words that select the cell."""
        said = {key: value for key, value in claim.configuration.items() if key not in _COMPARING}
        reads = (self.own.reads or {}).get(claim.id)
        if reads is None:
            return _combined({**(self.own.where or {}), **said}, {})
        # These replace the cells in the paper's own words.
        said = {key: value for key, value in said.items() if key != "cells" and not isinstance(value, dict)}
        return [cell for read in reads for cell in _combined({**(self.own.where or {}), **said, **read}, read)]

    def cell(self, claim: Claim, label: str, where: Where) -> Cell:
        """Measurement in a cell: a number, or one for each member of an order."""
        if claim.kind == "order":
            return self._delivered(claim, label) if self.own.worked is not None else self._order(claim, label, where)
        if "numerator" in claim.configuration:
            above, below, more = self.compared(claim, where)
            found = _ratio(above, below)
            return Cell(label, _per_cent_more(found) if more else found)
        return Cell(label, self._over_runs(where, claim.metric))

    def of_cell(self, where: Where, name: str) -> Interval | None:
        """A metric of a cell over its runs; `None` if no run has it."""
        try:
            return self._over_runs(where, name)
        except LackingError:
            return None

    def result(self, where: Where) -> Result:
        """Result of the cell that the words select."""
        return self._ran.result(where)

    def stations(self, name: str) -> Sequence[str]:
        """Stations by the name in a claim: a class, a sum of several, or a single one."""
        return stations(self.plan, name)

    def _order(self, claim: Claim, label: str, where: Where) -> Cell:
        series = self.members(claim, where)
        gaps = []
        for low, high in judge.steps(claim.ordering):
            below, above = _paired(series[low], series[high])
            gaps.append(interval([b - a for a, b in zip(below, above, strict=True)]))
        return Cell(label, ranked={name: interval(_found(runs)) for name, runs in series.items()}, gaps=tuple(gaps))

    def _delivered(self, claim: Claim, label: str) -> Cell:
        """Order of a worked example: the position at which each frame is delivered."""
        up = [str(mpdu) for mpdu in worked_examples.delivery(self.experiment, self.own.worked or {})]
        members = judge.members(claim.ordering)
        # Other frames than these have no order: use equal positions, which are never in order.
        places = {mpdu: float(up.index(mpdu) + 1) if sorted(up) == sorted(members) else 0.0 for mpdu in members}
        return Cell(label, ranked={mpdu: Interval(place, place, place) for mpdu, place in places.items()})

    def members(self, claim: Claim, where: Where) -> dict[str, Numbers]:
        """Members of an order, by run."""
        axis = claim.configuration["axis"]
        return {name: self._member(where, axis, name, claim.metric) for name in judge.members(claim.ordering)}

    def _member(self, where: Where, axis: str, name: str, metric: str) -> Numbers:
        """A member of an order, by run; of several cells, the smallest."""
        meant = self.plan.means.get(name)
        if meant is None:
            if " and " in axis:
                # An axis `scheme and qos` has members such as `fifo VO`.
                return self.runs({**where, **dict(zip(axis.split(" and "), name.split(" "), strict=True))}, metric)
            # An axis may be named after the quantity drawn along it instead of a word of the cells.
            word = axis if self.own.has_word(axis) else self.own.axis_of(name) or axis
            return self.runs({**where, word: name}, metric)
        cells = [self.runs({**where, **words}, metric) for words in meant]
        runs = [[value for value in values if value is not None] for values in zip(*cells, strict=True)]
        return [min(values) if len(values) == len(cells) else None for values in runs]

    def compared(self, claim: Claim, where: Where) -> tuple[Numbers, Numbers, bool]:
        """Numerator and denominator of a claim by run, and whether it states the excess in per cent."""
        names = claim.configuration["numerator"], claim.configuration["denominator"]
        axis = self.own.axis_of(names[1])
        metric = self._metric(claim.metric)
        of = metric.of if isinstance(metric, Increase) else claim.metric
        above, below = (self.runs({**where, axis: name}, of) for name in names)
        return above, below, isinstance(metric, Increase)

    def _over_runs(self, where: Where, name: str) -> Interval:
        """A metric of a cell over all its runs."""
        metric = self._metric(name)
        match metric:
            case Reduction():
                before, after = self._ends({**where, **metric.at}, metric)
                left = _ratio(after, before)
                return Interval(100 * (1 - left.mean), 100 * (1 - left.high), 100 * (1 - left.low))
            case Increase():
                before, after = self._ends(where, metric)
                return _per_cent_more(_ratio(after, before))
            case Ratio():
                return _ratio(*self._ends(where, metric))
            case Spread():
                spread = interval(_found(self.runs(where, metric.of)))
                wide = 100 * (spread.high - spread.low) / spread.mean
                return Interval(wide, wide, wide)
            case Formula() | Model() | Worked():
                value = self._worked_out(where, metric)
                return Interval(value, value, value)
        found = _found(self.runs(where, name))
        as_median = self.own.median is not None and matches(self.own.median, where)
        return median_interval(found) if as_median else interval(found)

    def _worked_out(self, where: Where, metric: Formula | Model | Worked) -> float:
        """A number that needs no run: a formula, a paper's model, or a worked example."""
        match metric:
            case Formula():
                return formulas.FORMULAS[metric.of]()
            case Worked():
                return worked_examples.value(metric.of, self.experiment, self.own.worked or {}, where)
            case Model():
                said = table1_model.value(self.experiment, where["scheme"], where["station"], metric.of)
                return metric.scale * said

    def runs(self, where: Where, name: str) -> Numbers:
        """A metric by run."""
        metric = self._metric(name)
        match metric:
            case Chosen():
                chosen = metric.of.get(where.get(metric.word, ""))
                if chosen is None:
                    raise LackingError(f"{name} is of no {metric.word}")
                return self.runs({key: value for key, value in where.items() if key != metric.word}, chosen)
            case Sampled() if said := [value for value in where.values() if value in metric.constants]:
                return [metric.constants[said[0]]] * self.source.repetitions()
            case Inverse():
                return [metric.constant / value if value else None for value in self.runs(where, metric.of)]
            case Knee():
                return self._knee(where, metric)
            case Ratio() | Difference() | Reduction() | Increase():
                return self._between(where, metric)
        return self.source.numbers(name, metric, where)

    def _between(self, where: Where, metric: Ratio | Difference | Reduction | Increase) -> Numbers:
        """Combines another metric of two cells, by run."""
        one, other = self._ends({**where, **metric.at} if isinstance(metric, Reduction) else where, metric)
        match metric:
            case Ratio():
                return quotients(one, other)
            case Increase():
                return quotients(other, one, per_cent_more=True)
            case Difference():
                pairs = zip(one, other, strict=True)
                return [None if a is None or b is None else a - b for a, b in pairs]
            case Reduction():
                pairs = zip(one, other, strict=True)
                return [None if after is None or not before else 100 * (1 - after / before) for before, after in pairs]

    def _knee(self, where: Where, metric: Knee) -> Numbers:
        """The smallest value at which a metric nearly reaches its best, by run.

        `None` for a run that lacks the metric at one of the values, because the knee may be there.
        """
        values = sorted(metric.values.items(), key=lambda item: item[1])
        cells = [self.runs({**where, metric.word: name}, metric.of) for name, _ in values]
        found: Numbers = []
        for run in zip(*cells, strict=True):
            known = [value for value in run if value is not None]
            near = ((x, y) for (_, x), y in zip(values, known, strict=False) if y >= metric.share * max(known))
            found.append(next(near)[0] if len(known) == len(values) else None)
        return found

    def _ends(self, where: Where, metric: Ratio | Difference | Reduction | Increase) -> tuple[Numbers, Numbers]:
        """Another metric at both ends of a comparison, by run."""
        one, other = (self.runs({**where, **end}, metric.of) for end in (metric.from_, metric.to))
        return one, other

    def _metric(self, name: str) -> Metric:
        if name not in self.plan.metrics:
            raise LackingError(f"a run does not report {name}", ran=True)
        return self.plan.metrics[name]


def quotients(above: Numbers, below: Numbers, per_cent_more: bool = False) -> Numbers:
    """Ratios by run, or the excess in per cent."""
    pairs = zip(above, below, strict=True)
    found = [None if one is None or not other else one / other for one, other in pairs]
    return [None if ratio is None else 100 * (ratio - 1) for ratio in found] if per_cent_more else [*found]


def _combined(words: Where, read: Where) -> list[tuple[str, dict[str, Any]]]:
    """A cell for each combination of listed words; `read` is included in the label."""
    lists = {key: value for key, value in words.items() if isinstance(value, list)}
    found = []
    for values in product(*lists.values()):
        listed = dict(zip(lists, values, strict=True))
        label = ", ".join(f"{key} {value}" for key, value in {**read, **listed}.items())
        found.append((label, {**words, **listed}))
    return found


def _found(values: Sequence[float | None]) -> list[float]:
    found = [value for value in values if value is not None]
    if not found:
        raise LackingError("no run measured it", ran=True)
    return found


def _paired(one: Sequence[float | None], other: Sequence[float | None]) -> tuple[list[float], list[float]]:
    """Values of the runs that measured both."""
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
