"""Where the numbers of cells come from, run by run. A measurer makes all other numbers of them."""

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
"""A number for each run; none of a run that has none."""

NOT_ASKED = "not asked to run"


class LackingError(Exception):
    """A number that there is not, and why; `ran` if its cell was run all the same."""

    def __init__(self, why: str, ran: bool = False) -> None:
        """Why there is no number."""
        super().__init__(why)
        self.ran = ran


class Source(Protocol):
    """What gives the numbers of a cell: its runs, draws in place of them, or nothing but a note of what is asked."""

    def numbers(self, name: str, metric: Metric, where: Where) -> Numbers:
        """A metric that is made of no other, in the cell that the words choose; `name` is the paper's for it."""

    def repetitions(self) -> int:
        """How many numbers there are of each cell."""


def stations(plan: Plan, name: str) -> Sequence[str]:
    """The stations that a claim calls so: a class, a sum of some (`fast1 + fast2`), or one."""
    return plan.stations.get(name) or name.split(" + ")


def without_station(where: Where) -> dict[str, Any]:
    """The words that choose a cell."""
    return {key: value for key, value in where.items() if key != "station"}


@dataclass(frozen=True)
class Runs:
    """The runs of an experiment's campaigns."""

    own: ExperimentPlan
    plan: Plan
    outcomes: Mapping[str, Outcome]
    """Outcomes by the name of their campaign."""

    def numbers(self, name: str, metric: Metric, where: Where) -> Numbers:
        """A metric run by run: of a station, a class of them, a sum of some, or the whole."""
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
            raise LackingError(outcome.lacks if outcome and outcome.lacks else NOT_ASKED)
        return outcome.results[cell.name]

    def repetitions(self) -> int:
        """Runs of each cell, of those that were run."""
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
