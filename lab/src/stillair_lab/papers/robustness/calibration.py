"""Finds claims that depend on a calibrated number, by tracing each claim to the numbers of its cells.

The `calibration` tables of a plan state which setting was calibrated to which claims. A claim derives from
its own numbers, from both ends of a ratio, difference or reduction, from the members of an order, and a total
from its parts (`totals`). If one of these was the target of a calibration that is in force in its cells, the
claim is not judged.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from stillair._native import InputError
from stillair_lab.papers.claims.inventory import Claim, Experiment, Where
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.source import LackingError, Numbers, stations, without_station
from stillair_lab.papers.runs.metrics import Metric, Reported, Sampled, Spread
from stillair_lab.papers.runs.plan import Calibration, Campaign, CellPlan, ExperimentPlan, Plan, matches

# A cell is identified by scenario and overrides, whatever its campaign.
Cell = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Number:
    """A quantity of a cell, for one station or as a whole."""

    cell: Cell
    station: str
    """Empty for the whole; `ANY` for a value derived from all stations."""
    quantity: str


ANY = "*"


def reached(plan: Plan, experiments: Iterable[Experiment]) -> dict[str, str]:
    """Claims that depend on a calibration, with the reason; empty for a target itself."""
    experiments = list(experiments)
    claims = {claim.id: (claim, experiment) for experiment in experiments for claim in experiment.claims}
    own = {id_: numbers(plan, experiment, claim) for id_, (claim, experiment) in claims.items()}
    targets: set[str] = set()
    by: dict[str, list[str]] = {}
    for calibration in plan.calibrations:
        unknown = sorted(set(calibration.to) - claims.keys())
        if unknown:
            raise InputError(
                f"calibration {calibration.name}: to: found {', '.join(unknown)}, expected claims of the paper"
            )
        aims = {id_: _within(own[id_], plan, calibration) for id_ in calibration.to}
        for id_, aim in aims.items():
            if not aim:
                raise InputError(
                    f"calibration {calibration.name}: to: found {id_},"
                    " which has no number where the calibration is in force"
                )
        targets.update(calibration.to)
        for id_, seen in own.items():
            met = [target for target, aim in aims.items() if _meet(seen, aim)]
            if met:
                by.setdefault(id_, []).append(f"{calibration.name} (to {', '.join(met)})")
    return {id_: "" if id_ in targets else f"it depends on the calibration of {' and '.join(by[id_])}" for id_ in by}


def numbers(plan: Plan, experiment: Experiment, claim: Claim) -> set[Number]:
    """Numbers of runs that a claim derives from."""
    own = plan.experiments[experiment.id]
    if own.needs or own.worked is not None:
        return set()
    if own.marks:
        cells = ((campaign, cell) for campaign in own.campaigns for cell in campaign.cells)
        return {Number(_cell(*one), "", f"marks: {claim.metric}") for one in cells}
    # The mean was calibrated, not the spread.
    if isinstance(plan.metrics.get(claim.metric), Spread):
        return set()
    noted = _Noted(own, plan)
    walk = Measurer(experiment, plan, {}, other=noted)
    for label, where in walk.listed(claim):
        try:
            walk.cell(claim, label, where)
        except LackingError:
            # A cell without a number there cannot depend on a calibration.
            continue
    return noted.seen


def _cell(campaign: Campaign, cell: CellPlan) -> Cell:
    return campaign.scenario, tuple(sorted(cell.overrides.items()))


def in_force(plan: Plan, calibration: Calibration) -> list[tuple[Campaign, CellPlan]]:
    """Cells in which a calibration is in force."""
    campaigns = {own.id: own for experiment in plan.experiments.values() for own in experiment.campaigns}
    return [
        (campaign, cell)
        for campaign in campaigns.values()
        if campaign.id in calibration.campaigns or (campaign.settings and campaign.settings in calibration.settings)
        for cell in campaign.cells
        if calibration.where is None or matches(calibration.where, cell.where)
    ]


def _within(numbers: Iterable[Number], plan: Plan, calibration: Calibration) -> set[Number]:
    cells = {_cell(*one) for one in in_force(plan, calibration)}
    return {number for number in numbers if number.cell in cells}


def _meet(numbers: set[Number], aim: set[Number]) -> bool:
    """Returns true if a number is among the targets. A total is, if one of its parts is."""
    parts = {(number.cell, number.quantity) for number in aim if number.station}
    return bool(numbers & aim) or any(
        number.station == ANY and (number.cell, number.quantity) in parts for number in numbers
    )


@dataclass(frozen=True)
class _Noted:
    """Records the numbers that a claim derives from; each has the value 1."""

    own: ExperimentPlan
    plan: Plan
    seen: set[Number] = field(default_factory=set)

    def numbers(self, name: str, metric: Metric, where: Where) -> Numbers:
        station = where.get("station")
        cell = self.own.cell(without_station(where))
        if cell is None:
            raise LackingError("no cell")
        match metric:
            case Sampled() if station is None or not metric.station:
                quantity = f"{metric.of} {metric.statistic}"
                of = [""] if station is None else stations(self.plan, station)
            case Reported() if metric.run and station in (None, "total"):
                of, quantity = [""], metric.run
            case Sampled() | Reported() if metric.station and station is not None:
                of, quantity = stations(self.plan, station), metric.station
            case _:
                raise LackingError(f"a run does not report {name}")
        key = _cell(*cell)
        self.seen.update(Number(key, one, quantity) for one in of)
        if quantity in self.plan.totals and of == [""]:
            self.seen.add(Number(key, ANY, self.plan.totals[quantity]))
        return [1.0]

    def repetitions(self) -> int:
        return 1
