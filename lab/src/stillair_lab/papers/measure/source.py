"""Sources of cells' numbers, by run, from which a measurer derives all others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stillair.results.result import Result
from stillair_lab.papers.claims.inventory import Where
from stillair_lab.papers.measure import samples
from stillair_lab.papers.runs.campaign import Outcome
from stillair_lab.papers.runs.metrics import Metric, Reported, Sampled
from stillair_lab.papers.runs.plan import ExperimentPlan, Plan, matches

Numbers = list[float | None]
"""A number for each run, or `None`."""

NOT_ASKED = "not asked to run"


class LackingError(Exception):
    """A number does not exist, with the reason; `ran` if its cell was run nevertheless."""

    def __init__(self, why: str, ran: bool = False) -> None:
        """Takes the reason."""
        super().__init__(why)
        self.ran = ran


class Source(Protocol):
    """Source of a cell's numbers: its runs, random draws, or a recorder of the requests."""

    def numbers(self, name: str, metric: Metric, where: Where) -> Numbers:
        """Numbers of a metric in the cell that the words select; `name` is the paper's name of the metric."""

    def repetitions(self) -> int:
        """Number of repetitions of each cell."""


def stations(plan: Plan, name: str) -> Sequence[str]:
    """Stations by the name in a claim: a class, a sum (`fast1 + fast2`), or a single one."""
    return plan.stations.get(name) or name.split(" + ")


def without_station(where: Where) -> dict[str, Any]:
    """The words that select a cell, without the station."""
    return {key: value for key, value in where.items() if key != "station"}


@dataclass(frozen=True)
class Runs:
    """The runs of an experiment's campaigns."""

    own: ExperimentPlan
    plan: Plan
    outcomes: Mapping[str, Outcome]
    """Outcomes by campaign name."""

    def numbers(self, name: str, metric: Metric, where: Where) -> Numbers:
        """A metric by run: of a station, a class, a sum, or the whole."""
        station = where.get("station")
        result = self.result(without_station(where))
        match metric:
            case Sampled() if station is None or not metric.station:
                of = None if station is None else stations(self.plan, station)
                found = [samples.of_run(result, run, metric.of, metric.statistic, of) for run in result.runs]
                return [_scaled(value, metric.scale) for value in found]
            case Reported() if metric.run and station in (None, "total"):
                return [_scaled(_of_run(run, metric.run), metric.scale) for run in result.runs]
            case Sampled() | Reported() if metric.station and station is not None:
                names = stations(self.plan, station)
                share = 1 / len(names) if station in self.plan.stations else 1.0
                return [_sum([_station(run, one, metric) for one in names], share) for run in result.runs]
        raise LackingError(f"a run does not report {name} for {station or 'the whole'}", ran=True)

    def result(self, where: Where) -> Result:
        """Result of the cell that the words select."""
        for lack in self.own.lacks:
            if matches(lack.where, where):
                raise LackingError(f"needs {lack.needs}")
        found = self.own.cell(where)
        if found is None:
            raise LackingError(f"no run stands for {_words(where)}")
        campaign, cell = found
        outcome = self.outcomes.get(campaign.id)
        if outcome is None or outcome.results is None:
            raise LackingError(outcome.lacks if outcome and outcome.lacks else NOT_ASKED)
        return outcome.results[cell.name]

    def repetitions(self) -> int:
        """Number of runs of each cell."""
        ran = [outcome.results for outcome in self.outcomes.values() if outcome.results]
        if not ran:
            raise LackingError(NOT_ASKED)
        return len(next(iter(ran[0].values())).runs)


def _station(run: Mapping[str, Any], name: str, metric: Sampled | Reported) -> float | None:
    if name not in run["stations"]:
        raise LackingError(f"the scenario has no station {name}", ran=True)
    return _scaled(run["stations"][name].get(metric.station), metric.scale)


def _of_run(run: Mapping[str, Any], key: str) -> float | None:
    found: float | None = run.get(key)
    return found


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _sum(values: Sequence[float | None], share: float) -> float | None:
    found = [value for value in values if value is not None]
    return share * sum(found) if len(found) == len(values) else None


def _words(where: Where) -> str:
    return ", ".join(f"{key} {value}" for key, value in where.items()) or "the claim"
