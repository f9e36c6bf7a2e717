"""Marks of a scatter plot: runs placed by the average data rate that they had, and what a paper says of many of them.

A paper may draw a mark for each run and speak of all marks below a rate, of the largest, of those of one kind of
station against another's. How many frames came broken at which rate it may not say, so the same runs are there for
several answers, the `airs`; the first of them was taken before any run. The plan states all this
(`runs/scatter_marks.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stillair._native import InputError
from stillair.results.report import Run
from stillair.results.result import Result
from stillair.results.sampled import recorded
from stillair.results.statistics import Interval, interval, ratio_interval
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Claim, Experiment
from stillair_lab.papers.claims.judge import Cell, Judgement
from stillair_lab.papers.runs.campaign import Outcome
from stillair_lab.papers.runs.metrics import Marks
from stillair_lab.papers.runs.plan import CellPlan, ExperimentPlan, Plan
from stillair_lab.papers.runs.scatter_marks import Placing


@dataclass(frozen=True)
class Mark:
    """The runs of one station at one place: one mark each."""

    sta: str
    method: str
    place: str
    """Rate or distance, which stations and methods are compared at."""
    rate: Sequence[float]
    """Average data rate of its A-MPDUs in Mbit/s, run by run."""
    rtt: Sequence[float]
    """Average RTT of the ping in ms."""
    queue: Sequence[float]
    """Average number of packets in the station's queues."""
    goodput: Sequence[float]
    """Throughput in Mbit/s."""


Scatter = Sequence[Mark]


def placing(plan: Plan) -> Placing:
    """How the paper's runs become marks."""
    if plan.marks is None:
        raise InputError("experiments.toml: found an experiment with marks, expected a table marks that says how")
    return plan.marks


def marks(plan: Plan, own: ExperimentPlan, outcomes: Mapping[str, Outcome], air: str) -> list[Mark]:
    """The marks of an experiment under one of the `airs`."""
    by = placing(plan)
    found = []
    for campaign in own.campaigns:
        outcome = outcomes.get(campaign.id)
        if outcome is not None and outcome.results is not None:
            found += [_mark(by, cell, outcome.results[cell.name]) for cell in campaign.cells if under(by, cell, air)]
    return found


def under(by: Placing, cell: CellPlan, air: str) -> bool:
    """Whether a cell belongs to one of the `airs`."""
    error, rate = cell.where.get("error"), cell.where.get(by.rate)
    if error is None or rate is None:
        return air == by.other
    taken = next(f"{error:g}" for below, error in by.house if float(rate) < below) if air == by.airs[0] else air
    return str(error) == taken.removesuffix(" %")


def _mark(by: Placing, cell: CellPlan, result: Result) -> Mark:
    # A run in which nothing came back or went out has no number; zero is what it had.
    stations = [run["stations"][by.station] for run in result.runs]
    rates, pings = ([station[key] or 0.0 for station in stations] for key in ("mean_rate_up_mbps", "ping_mean_ms"))
    where = cell.where
    place = next(f"{where[word]} {unit}" for word, unit in by.places.items() if word in where)
    queues = [queue(by, run) for run in result.runs]
    goodputs = [station["goodput_mbps"] for station in stations]
    return Mark(str(where[by.kinds]), str(where[by.methods]), place, rates, pings, queues, goodputs)


def queue(by: Placing, run: Run) -> float:
    """The average number of packets in the station's queues, over all samples."""
    found = recorded(run)
    if found is None or not found.t_s:
        return 0.0
    own = [q.packets for q in found.queues if q.interface == by.interface and q.layer in by.layers]
    return sum(map(sum, own)) / len(found.t_s)


def compares_methods(claim: Claim, plan: Plan) -> bool:
    """Whether a claim sets one method of the access point against the other."""
    metric = plan.metrics.get(claim.metric)
    over = metric.over if isinstance(metric, Marks) else {}
    return placing(plan).methods in (claim.configuration.get("axis"), *over)


def cells(claim: Claim, experiment: Experiment, plan: Plan, found: Scatter) -> list[Cell]:
    """What these marks say of each cell that a claim lists."""
    if not found:
        return [Cell(lacks="not asked to run")]
    by, metric = placing(plan), plan.metrics.get(claim.metric)
    method = str(experiment.setup.get(by.methods, "off"))
    if not isinstance(metric, Marks):
        return [Cell(lacks=f"no mark shows {claim.metric}", ran=True)]
    compares = compares_methods(claim, plan)
    said = _Said(claim, metric, by, [mark for mark in found if compares or mark.method == method])
    return _cells(said) or [Cell(lacks="no run was at such a rate", ran=True)]


@dataclass(frozen=True)
class _Said:
    claim: Claim
    metric: Marks
    by: Placing
    marks: Scatter

    def stations(self) -> list[str]:
        """The kinds of station that the claim is about."""
        named = self.claim.configuration.get(self.by.kinds, [])
        return [str(name) for name in named] if isinstance(named, list) else [str(named)]

    def of(self, sta: str, method: str | None = None, low: float = 0.0, high: float | None = None) -> list[Mark]:
        """The marks of a station between two rates; the upper one is the claim's if not said."""
        most = float(self.claim.configuration.get("rate_below", "inf")) if high is None else high
        return [
            mark
            for mark in self.marks
            if mark.sta == sta and method in (None, mark.method) and low <= _mean(mark.rate) < most
        ]

    def values(self, mark: Mark) -> Sequence[float]:
        """What the claim is about, of a mark: run by run."""
        own: Sequence[float] = getattr(mark, self.metric.of)
        if not self.metric.large:
            return own
        return [value if rtt > self.by.large_ms else 0.0 for value, rtt in zip(own, mark.rtt, strict=True)]

    def over(self, marks: Iterable[Mark]) -> list[float]:
        """The statistic over some marks, run by run."""
        statistic = max if self.metric.statistic == "max" else _mean
        return [statistic(values) for values in zip(*map(self.values, marks), strict=True)]

    def low_and_high(self) -> tuple[str, list[Mark], list[Mark]]:
        """The one kind of station that the claim is about, its marks at the low rates, and at the high ones."""
        (sta,) = self.stations()
        return sta, self.of(sta, high=self.by.low_mbps), self.of(sta, low=self.by.low_mbps)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _cells(said: _Said) -> list[Cell]:
    metric, stations = said.metric, said.stations()
    if metric.over:
        return _paired(said)
    if metric.flat:
        sta, low, high = said.low_and_high()
        return [Cell(sta, ratio_interval(said.over(low), said.over(high)))] if low and high else []
    if "axis" in said.claim.configuration:
        return [cell for sta, groups in _along(said).items() for cell in _ordered(said, sta, groups)]
    if metric.statistic == "each":
        return [Cell(f"{sta}, {mark.place}", interval(said.values(mark))) for sta in stations for mark in said.of(sta)]
    return [Cell(sta, interval(said.over(own))) for sta in stations if (own := said.of(sta))]


def _along(said: _Said) -> Mapping[str, Mapping[str, Sequence[Mark]]]:
    """The marks of each member of an order, by the kind of station that it is about; by none if it is about several."""
    names, axis = judge.members(said.claim.ordering), said.claim.configuration["axis"]
    if axis == said.by.kinds:
        return {"": {name: said.of(name) for name in names}}
    if axis == said.by.methods:
        return {sta: {name: said.of(sta, name) for name in names} for sta in said.stations()}
    if axis == said.by.rate:
        sta, *groups = said.low_and_high()
        return {sta: dict(zip(names, groups, strict=True))}
    return {}


def _paired(said: _Said) -> list[Cell]:
    """Every mark over the one at the same place that the metric's word chooses."""
    ((word, base),) = said.metric.over.items()
    cells = []
    for sta in said.stations():
        if word == said.by.methods:
            plain, others = said.of(sta, base), [mark for mark in said.of(sta) if mark.method != base]
        else:
            plain, others = said.of(base), [mark for mark in said.of(sta) if sta != base]
        at = {mark.place: mark for mark in plain}
        label = sta if word == said.by.methods else f"{sta} over {base}"
        cells += [
            Cell(f"{label}, {mark.place}", ratio_interval([*said.values(mark)], [*said.values(at[mark.place])]))
            for mark in others
            if mark.place in at
        ]
    return cells


def _ordered(said: _Said, label: str, groups: Mapping[str, Sequence[Mark]]) -> list[Cell]:
    if not all(groups.values()):
        return []
    runs = {name: said.over(own) for name, own in groups.items()}
    steps = judge.steps(said.claim.ordering)
    gaps = [[b - a for a, b in zip(runs[low], runs[high], strict=True)] for low, high in steps]
    ranked: dict[str, Interval] = {name: interval(values) for name, values in runs.items()}
    return [Cell(label, ranked=ranked, gaps=tuple(map(interval, gaps)))]


def region(
    claims: Sequence[tuple[Experiment, Claim]], plan: Plan, own: ExperimentPlan, outcomes: Mapping[str, Outcome]
) -> dict[str, list[Judgement]]:
    """The verdict of each claim under each of the `airs`: by the claim's name, verdicts in their order."""
    by_air = [marks(plan, own, outcomes, air) for air in placing(plan).airs]
    return {
        claim.id: [judge.judge(claim, cells(claim, experiment, plan, found)) for found in by_air]
        for experiment, claim in claims
    }
