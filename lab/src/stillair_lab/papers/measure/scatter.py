"""Marks of a scatter plot: runs by their average data rate, and claims about many of them.

A paper may draw a mark for each run, and make claims about all marks below a rate, about the largest, or
about one kind of station compared with another. If it does not state how many frames are corrupted at which
rate, the same runs exist for several assumptions, the `airs`; the first was chosen before any run. The plan
defines all of this (`runs/scatter_marks.py`).
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
    """Runs of a station at a place: one mark each."""

    sta: str
    method: str
    place: str
    """Rate or distance at which stations and methods are compared."""
    rate: Sequence[float]
    """Average data rate of its A-MPDUs in Mbit/s, by run."""
    rtt: Sequence[float]
    """Average RTT of the ping in ms."""
    queue: Sequence[float]
    """Average number of packets in the station's queues."""
    goodput: Sequence[float]
    """Throughput in Mbit/s."""


Scatter = Sequence[Mark]


def placing(plan: Plan) -> Placing:
    """Definition of the marks in a plan."""
    if plan.marks is None:
        raise InputError("experiments.toml: found an experiment with marks, expected a table marks that says how")
    return plan.marks


def marks(plan: Plan, own: ExperimentPlan, outcomes: Mapping[str, Outcome], air: str) -> list[Mark]:
    """Marks of an experiment under one of the `airs`."""
    by = placing(plan)
    found = []
    for campaign in own.campaigns:
        outcome = outcomes.get(campaign.id)
        if outcome is not None and outcome.results is not None:
            found += [_mark(by, cell, outcome.results[cell.name]) for cell in campaign.cells if under(by, cell, air)]
    return found


def under(by: Placing, cell: CellPlan, air: str) -> bool:
    """Returns true if a cell belongs to one of the `airs`."""
    error, rate = cell.where.get("error"), cell.where.get(by.rate)
    if error is None or rate is None:
        return air == by.other
    taken = next(f"{error:g}" for below, error in by.house if float(rate) < below) if air == by.airs[0] else air
    return str(error) == taken.removesuffix(" %")


def _mark(by: Placing, cell: CellPlan, result: Result) -> Mark:
    # A run without traffic has no number; use zero.
    stations = [run["stations"][by.station] for run in result.runs]
    rates, pings = ([station[key] or 0.0 for station in stations] for key in ("mean_rate_up_mbps", "ping_mean_ms"))
    where = cell.where
    place = next(f"{where[word]} {unit}" for word, unit in by.places.items() if word in where)
    queues = [queue(by, run) for run in result.runs]
    goodputs = [station["goodput_mbps"] for station in stations]
    return Mark(str(where[by.kinds]), str(where[by.methods]), place, rates, pings, queues, goodputs)


def queue(by: Placing, run: Run) -> float:
    """Mean number of packets in the station's queues, over all samples."""
    found = recorded(run)
    if found is None or not found.t_s:
        return 0.0
    own = [q.packets for q in found.queues if q.interface == by.interface and q.layer in by.layers]
    return sum(map(sum, own)) / len(found.t_s)


def compares_methods(claim: Claim, plan: Plan) -> bool:
    """Returns true if a claim compares the access point's methods."""
    metric = plan.metrics.get(claim.metric)
    over = metric.over if isinstance(metric, Marks) else {}
    return placing(plan).methods in (claim.configuration.get("axis"), *over)


def cells(claim: Claim, experiment: Experiment, plan: Plan, found: Scatter) -> list[Cell]:
    """Evaluates the marks for each cell that a claim lists."""
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
        """Kinds of station in the claim."""
        named = self.claim.configuration.get(self.by.kinds, [])
        return [str(name) for name in named] if isinstance(named, list) else [str(named)]

    def of(self, sta: str, method: str | None = None, low: float = 0.0, high: float | None = None) -> list[Mark]:
        """Marks of a station between two rates. The default upper bound is the claim's."""
        most = float(self.claim.configuration.get("rate_below", "inf")) if high is None else high
        return [
            mark
            for mark in self.marks
            if mark.sta == sta and method in (None, mark.method) and low <= _mean(mark.rate) < most
        ]

    def values(self, mark: Mark) -> Sequence[float]:
        """Quantity of the claim for a mark, by run."""
        own: Sequence[float] = getattr(mark, self.metric.of)
        if not self.metric.large:
            return own
        return [value if rtt > self.by.large_ms else 0.0 for value, rtt in zip(own, mark.rtt, strict=True)]

    def over(self, marks: Iterable[Mark]) -> list[float]:
        """The statistic over several marks, by run."""
        statistic = max if self.metric.statistic == "max" else _mean
        return [statistic(values) for values in zip(*map(self.values, marks), strict=True)]

    def low_and_high(self) -> tuple[str, list[Mark], list[Mark]]:
        """The claim's single kind of station, its marks at low rates, and those at high rates."""
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
    """Marks of each member of an order, by kind of station, or under an empty key if the kinds are compared."""
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
    """Each mark divided by the mark at the same place that the metric's word selects."""
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
    """Verdict of each claim under each of the `airs`, in their order."""
    by_air = [marks(plan, own, outcomes, air) for air in placing(plan).airs]
    return {
        claim.id: [judge.judge(claim, cells(claim, experiment, plan, found)) for found in by_air]
        for experiment, claim in claims
    }
