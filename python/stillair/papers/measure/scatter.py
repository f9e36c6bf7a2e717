"""Marks of a scatter plot: runs placed by the average data rate that they had, and what a paper says of many of them.

The retry-out paper draws a mark for each run and speaks of all marks below a rate, of the largest, of those of one kind
of station against another's. How many frames came broken at which rate it does not say, so the same runs are there for
several answers, the `AIRS`; one of them, `house`, was taken before any run.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stillair.papers.claims import judge
from stillair.papers.claims.inventory import Claim, Experiment
from stillair.papers.claims.judge import Cell, Judgement
from stillair.papers.runs.campaign import Outcome
from stillair.papers.runs.plan import CellPlan, ExperimentPlan
from stillair.results.result import Result, Run
from stillair.results.sampled import recorded
from stillair.results.statistics import Interval, interval, ratio_interval

# What the inventory takes where the paper is silent: 5 to 30 % of the frames at the low rates, less at the high ones.
_HOUSE = ((50.0, 20), (100.0, 10), (float("inf"), 5))
ERRORS = (0, 5, 10, 20, 30)
AIRS = ("house", *(f"{error} %" for error in ERRORS), "Minstrel-HT")
"""Errors by rate as taken for the paper's house, the same at every rate, and as they follow from distance."""

LOW_MBPS = 50.0
"""Between the low rates and the high ones, where the paper parts them."""
LARGE_MS = 350.0
"""An RTT is large from half of the paper's worst on."""

_STATION, _INTERFACE = "sta", "sta.wlan0"
# Queues in which the paper counts: those that the station's own kernel keeps.
_LAYERS = ("qdisc", "driver")


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


Marks = Sequence[Mark]


def marks(own: ExperimentPlan, outcomes: Mapping[str, Outcome], air: str) -> list[Mark]:
    """The marks of an experiment under one of the `AIRS`."""
    found = []
    for campaign in own.campaigns:
        outcome = outcomes.get(campaign.id)
        if outcome is not None and outcome.results is not None:
            found += [_mark(cell, outcome.results[cell.name]) for cell in campaign.cells if under(cell, air)]
    return found


def under(cell: CellPlan, air: str) -> bool:
    """Whether a cell belongs to one of the `AIRS`."""
    error, rate = cell.where.get("error"), cell.where.get("rate")
    if error is None or rate is None:
        return air == AIRS[-1]
    taken = next(error for below, error in _HOUSE if float(rate) < below) if air == AIRS[0] else air
    return str(error) == str(taken).removesuffix(" %")


def _mark(cell: CellPlan, result: Result) -> Mark:
    # A run in which nothing came back or went out has no number; zero is what it had.
    stations = [run["stations"][_STATION] for run in result.runs]
    rates, pings = ([station[key] or 0.0 for station in stations] for key in ("mean_rate_up_mbps", "ping_mean_ms"))
    where = cell.where
    place = f"{where['rate']} Mbit/s" if "rate" in where else f"{where['snr']} dB"
    queues = [queue(run) for run in result.runs]
    goodputs = [station["goodput_mbps"] for station in stations]
    return Mark(str(where["sta"]), str(where["ap_method"]), place, rates, pings, queues, goodputs)


def queue(run: Run) -> float:
    """The average number of packets in the station's discipline and driver, over all samples."""
    found = recorded(run)
    if found is None or not found.t_s:
        return 0.0
    own = [q.packets for q in found.queues if q.interface == _INTERFACE and q.layer in _LAYERS]
    return sum(map(sum, own)) / len(found.t_s)


def cells(claim: Claim, experiment: Experiment, found: Marks) -> list[Cell]:
    """What these marks say of each cell that a claim lists."""
    if not found:
        return [Cell(lacks="not asked to run")]
    method = str(experiment.setup.get("ap_method", "off"))
    if claim.metric not in _CELLS:
        return [Cell(lacks=f"no mark shows {claim.metric}", ran=True)]
    compares = claim.configuration.get("axis") == "ap_method" or claim.metric == "throughput, on over off"
    said = _Said(claim, [mark for mark in found if compares or mark.method == method])
    return _CELLS[claim.metric](said) or [Cell(lacks="no run was at such a rate", ran=True)]


@dataclass(frozen=True)
class _Said:
    claim: Claim
    marks: Marks

    def stations(self) -> list[str]:
        """The kinds of station that the claim is about."""
        named = self.claim.configuration.get("sta", [])
        return [str(name) for name in named] if isinstance(named, list) else [str(named)]

    def of(self, sta: str, method: str | None = None, low: float = 0.0, high: float | None = None) -> list[Mark]:
        """The marks of a station between two rates; the upper one is the claim's if not said."""
        most = float(self.claim.configuration.get("rate_below", "inf")) if high is None else high
        return [
            mark
            for mark in self.marks
            if mark.sta == sta and method in (None, mark.method) and low <= _mean(mark.rate) < most
        ]


Values = Callable[[Mark], Sequence[float]]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _over(marks: Iterable[Mark], of: Values, statistic: Callable[[Sequence[float]], float] = _mean) -> list[float]:
    """A statistic over the marks, run by run."""
    return [statistic(values) for values in zip(*map(of, marks), strict=True)]


def _rtt(mark: Mark) -> Sequence[float]:
    return mark.rtt


def _queue(mark: Mark) -> Sequence[float]:
    return mark.queue


def _largest(said: _Said) -> list[Cell]:
    per = [(sta, _over(said.of(sta), _rtt, max)) for sta in said.stations()]
    return [Cell(sta, interval(values)) for sta, values in per if values]


def _knee(said: _Said) -> list[Cell]:
    """The highest rate of a mark whose RTT is large; 0 if none is."""

    def reached(mark: Mark) -> list[float]:
        return [rate if rtt > LARGE_MS else 0.0 for rate, rtt in zip(mark.rate, mark.rtt, strict=True)]

    per = [(sta, _over(said.of(sta), reached, max)) for sta in said.stations()]
    return [Cell(sta, interval(values)) for sta, values in per if values]


def _pings(said: _Said) -> list[Cell]:
    axis = said.claim.configuration.get("axis")
    if axis == "sta":
        return _ordered(said, "", {name: said.of(name) for name in judge.members(said.claim.ordering)}, _rtt)
    if axis == "ap_method":
        names = judge.members(said.claim.ordering)
        every = [_ordered(said, sta, {name: said.of(sta, name) for name in names}, _rtt) for sta in said.stations()]
        return [cell for cells in every for cell in cells]
    return [Cell(sta, interval(_over(own, _rtt))) for sta in said.stations() if (own := said.of(sta))]


def _queues(said: _Said) -> list[Cell]:
    if said.claim.configuration.get("axis") == "rate":
        (sta,) = said.stations()
        low, high = judge.members(said.claim.ordering)
        groups = {low: said.of(sta, high=LOW_MBPS), high: said.of(sta, low=LOW_MBPS)}
        return _ordered(said, sta, groups, _queue)
    return [Cell(f"{sta}, {mark.place}", interval(mark.queue)) for sta in said.stations() for mark in said.of(sta)]


def _flat(said: _Said) -> list[Cell]:
    (sta,) = said.stations()
    low, high = said.of(sta, high=LOW_MBPS), said.of(sta, low=LOW_MBPS)
    return [Cell(sta, ratio_interval(_over(low, _queue), _over(high, _queue)))] if low and high else []


def _between_stations(said: _Said) -> list[Cell]:
    """Every kind of station over the one without a method, at the same place."""
    plain = {mark.place: mark for mark in said.of("none")}
    others = [mark for sta in said.stations() if sta != "none" for mark in said.of(sta)]
    pairs = [(mark, plain[mark.place]) for mark in others if mark.place in plain]
    return [_throughputs(f"{mark.sta} over none, {mark.place}", mark, base) for mark, base in pairs]


def _on_over_off(said: _Said) -> list[Cell]:
    cells = []
    for sta in said.stations():
        off = {mark.place: mark for mark in said.of(sta, "off")}
        on = [mark for mark in said.of(sta, "on") if mark.place in off]
        cells += [_throughputs(f"{sta}, {mark.place}", mark, off[mark.place]) for mark in on]
    return cells


def _throughputs(label: str, above: Mark, below: Mark) -> Cell:
    return Cell(label, ratio_interval(list(above.goodput), list(below.goodput)))


def _ordered(said: _Said, label: str, groups: Mapping[str, Marks], of: Values) -> list[Cell]:
    if not all(groups.values()):
        return []
    runs = {name: _over(own, of) for name, own in groups.items()}
    steps = judge.steps(said.claim.ordering)
    gaps = [[b - a for a, b in zip(runs[low], runs[high], strict=True)] for low, high in steps]
    ranked: dict[str, Interval] = {name: interval(values) for name, values in runs.items()}
    return [Cell(label, ranked=ranked, gaps=tuple(map(interval, gaps)))]


_CELLS: Mapping[str, Callable[[_Said], list[Cell]]] = {
    "largest average ping RTT": _largest,
    "average data rate below which the RTT is large": _knee,
    "average ping RTT": _pings,
    "average transmission queue length": _queues,
    "queue length at low over high rate": _flat,
    "throughput of one STA kind over another at the same rate": _between_stations,
    "throughput, on over off": _on_over_off,
}
METRICS = tuple(_CELLS)


def region(
    claims: Sequence[tuple[Experiment, Claim]], own: ExperimentPlan, outcomes: Mapping[str, Outcome]
) -> dict[str, list[Judgement]]:
    """The verdict of each claim under each of the `AIRS`: by the claim's name, verdicts in their order."""
    by_air = [marks(own, outcomes, air) for air in AIRS]
    return {
        claim.id: [judge.judge(claim, cells(claim, experiment, found)) for found in by_air]
        for experiment, claim in claims
    }
