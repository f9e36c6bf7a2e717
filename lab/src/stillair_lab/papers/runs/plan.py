"""Plans of a paper's experiments: `experiments.toml` in its folder, so that a new experiment is data.

A campaign is a scenario with its cells: named sets of overrides, each with the words (`where`) by which the
inventory refers to it. Cells that differ in several settings are written as `axes`, with a cell for each
combination. Overrides shared by all cells of several campaigns are a table of `settings`. An experiment names
its campaigns, declares a worked example, or states what is missing to run it. If a paper leaves open which
`settings` are meant, there are `alternatives`: the same campaigns with other settings, judged side by side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.claims.inventory import Where
from stillair_lab.papers.claims.paper_registry import remembered
from stillair_lab.papers.runs import metrics, tagged
from stillair_lab.papers.runs.metrics import Metric
from stillair_lab.papers.runs.scatter_marks import Placing


@dataclass(frozen=True)
class CellPlan:
    """A configuration of a campaign."""

    name: str
    where: Where
    """Words that select it; empty for a cell that is only shown."""
    overrides: Mapping[str, str]
    """Dotted keys with their TOML values, as for `--set`."""


# Compared by identity, so that campaigns can be keys of their outcomes.
@dataclass(frozen=True, eq=False)
class Campaign:
    """A scenario and its cells."""

    paper: str
    id: str
    scenario: str
    needs: str
    """What is missing if the scenario cannot be read."""
    cells: tuple[CellPlan, ...]
    series: bool = False
    """Keep the series, for metrics that count every ping reply."""
    runs: int = 1
    """Repetitions of each cell, if the paper does not state them."""
    once: bool = False
    """Run only once, for a picture of a single run, whatever the number of repetitions."""
    settings: str = ""
    """Name of the settings shared with other campaigns."""
    under: str = ""
    """Name of the alternative that it belongs to; empty for the plan's own."""
    ends: Mapping[str, "Campaign"] | None = None
    """The campaign at the ends of ranges, by name, for settings known only as a range (`ranges.py`)."""


@dataclass(frozen=True)
class Lack:
    """Cells of an experiment that cannot be run yet."""

    where: Where
    needs: str


@dataclass(frozen=True)
class ExperimentPlan:
    """Plan of an experiment."""

    campaigns: tuple[Campaign, ...] = ()
    draws: str = ""
    """Name of its artefact: one of the plan's figures, or one in Python (`artefacts/gallery.py`)."""
    median: Where | None = None
    """Cells with the median over the runs instead of the mean, as in the paper."""
    needs: str = ""
    worked: Mapping[str, Any] | None = None
    """A worked example: the inventory's events for the receiver, or these `ampdus`; no runs."""
    marks: bool = False
    """True if its claims are about marks by data rate (`scatter.py`) instead of cells."""
    lacks: tuple[Lack, ...] = ()
    where: Where | None = None
    """Words for every claim that does not state them: the subject of the whole experiment."""
    reads: Mapping[str, Sequence[Where]] | None = None
    """Cells of claims that do not use the cells' words, by claim."""

    def all_campaigns(self) -> tuple[Campaign, ...]:
        """Its campaigns, including their ends of ranges."""
        return (*self.campaigns, *(end for campaign in self.campaigns for end in (campaign.ends or {}).values()))

    def ends(self) -> list[str]:
        """Ends of ranges at which it is judged as well."""
        return list(dict.fromkeys(name for campaign in self.campaigns for name in campaign.ends or {}))

    def cell(self, where: Where) -> tuple[Campaign, CellPlan] | None:
        """Returns the cell that the words select. Words that a cell does not have select nothing."""
        return next(
            ((campaign, cell) for campaign in self.campaigns for cell in campaign.cells if matches(where, cell.where)),
            None,
        )

    def has_word(self, word: str) -> bool:
        """Returns true if cells are distinguished by this word."""
        return any(word in cell.where for campaign in self.campaigns for cell in campaign.cells)

    def axis_of(self, value: object) -> str:
        """Returns the word that has this value in a cell: `scheme` for `fifo`."""
        cells = [cell for campaign in self.campaigns for cell in campaign.cells]
        return next((key for cell in cells for key, known in cell.where.items() if str(known) == str(value)), "")


@dataclass(frozen=True)
class Calibration:
    """An unknown number that was calibrated to the paper's results."""

    name: str
    """What was calibrated."""
    keys: tuple[str, ...]
    """Scenario keys of the number."""
    to: tuple[str, ...]
    """Claims that it was calibrated to. Neither they nor claims derived from them are judged
    (`calibration.py`)."""
    settings: tuple[str, ...] = ()
    """It is in force in campaigns with these settings."""
    campaigns: tuple[str, ...] = ()
    """It is in force in these campaigns."""
    where: Where | None = None
    """Restricts it to cells with these words; `None` for all cells."""


@dataclass(frozen=True)
class Plan:
    """Plans of a paper's experiments."""

    metrics: Mapping[str, Metric]
    stations: Mapping[str, Sequence[str]]
    experiments: Mapping[str, ExperimentPlan]
    means: Mapping[str, Sequence[Where]]
    """Names in an order that are not the value of a word, with their cells; of several, the smallest
    counts."""
    calibrations: tuple[Calibration, ...] = ()
    """Calibrations with their targets."""
    totals: Mapping[str, str] = field(default_factory=dict)
    """Totals over all stations, with the metric that they are the sum of."""
    marks: Placing | None = None
    """Definition of the marks, for experiments with `marks`."""
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Artefacts that are data, by name: their kind and content (`artefacts/kinds`)."""
    name: str = ""
    """Name of its own settings, if there are alternatives."""
    others: Mapping[str, "Plan"] = field(default_factory=dict)
    """The plan with alternative settings, by name; none is preferred."""


def matches(where: Where, cell: Where) -> bool:
    """Returns true if a cell matches the words. Numbers may be written as numbers or text."""
    return bool(cell) and all(key in cell and str(cell[key]) == str(value) for key, value in where.items())


@remembered
def plan(paper: str) -> Plan:
    """The plan of a paper."""
    return read(paper, paper_registry.table(paper_registry.folders()[paper], "experiments.toml"))


def read(paper: str, table: Mapping[str, Any]) -> Plan:
    """Reads a plan from its table. Raises an error for an unknown key."""
    axes, shared, ranges = table.get("axis", {}), table.get("settings", {}), table.get("range", {})
    campaigns = {
        name: _with_ends(_campaign(paper, name, axes, shared, **entry), ranges)
        for name, entry in table.get("campaign", {}).items()
    }
    own = _plan(table, campaigns)
    if "alternatives" not in table:
        return own
    return _beside(own, paper, table, campaigns, **table["alternatives"])


def _plan(table: Mapping[str, Any], campaigns: Mapping[str, Campaign]) -> Plan:
    return Plan(
        metrics={name: metrics.read(name, entry) for name, entry in table.get("metric", {}).items()},
        stations=table.get("station", {}),
        experiments={name: _experiment(campaigns, **entry) for name, entry in table["experiment"].items()},
        means={name: cells if isinstance(cells, list) else [cells] for name, cells in table.get("means", {}).items()},
        calibrations=tuple(_calibration(campaigns, **entry) for entry in table.get("calibration", ())),
        totals=table.get("totals", {}),
        marks=tagged.fill("marks", Placing, table["marks"]) if "marks" in table else None,
        figures=table.get("figure", {}),
    )


def _calibration(
    known: Mapping[str, Campaign],
    *,
    name: str,
    keys: Sequence[str],
    to: Sequence[str],
    settings: Sequence[str] = (),
    campaigns: Sequence[str] = (),
    where: Where | None = None,
) -> Calibration:
    unknown = sorted({*campaigns} - known.keys() | {*settings} - {own.settings for own in known.values()})
    if unknown:
        raise ValueError(f"calibration {name}: there are no campaigns or settings {', '.join(unknown)}")
    return Calibration(name, tuple(keys), tuple(to), tuple(settings), tuple(campaigns), where)


def _beside(
    own: Plan,
    paper: str,
    table: Mapping[str, Any],
    campaigns: Mapping[str, Campaign],
    *,
    own_name: str,
    others: Mapping[str, Mapping[str, Mapping[str, str]]],
) -> Plan:
    """Adds the alternatives: campaigns with other settings are run again, the rest serve all."""
    plans = {}
    for name, settings in others.items():
        unknown = set(settings) - set(table.get("settings", {}))
        if unknown:
            raise ValueError(
                f"{paper}: alternatives: {name}: no campaign has the settings {', '.join(sorted(unknown))}"
            )
        again = {
            key: _again(_campaign(paper, key, table.get("axis", {}), settings, **entry), name)
            for key, entry in table["campaign"].items()
            if entry.get("settings") in settings
        }
        plans[name] = _plan(table, {**campaigns, **again})
    return replace(own, name=own_name, others=plans)


def _again(campaign: Campaign, name: str) -> Campaign:
    """A campaign under an alternative. Cells without a claim are only shown by the plan's own campaign."""
    return replace(campaign, under=name, cells=tuple(cell for cell in campaign.cells if cell.where))


def _campaign(
    paper: str,
    name: str,
    known: Mapping[str, Any],
    shared: Mapping[str, Mapping[str, str]],
    *,
    scenario: str,
    settings: str = "",
    cell: Sequence[Any] = (),
    axes: Sequence[str] = (),
    set: Mapping[str, str] | None = None,  # noqa: A002
    where: Where | None = None,
    needs: str = "",
    series: bool = False,
    runs: int = 1,
    once: bool = False,
) -> Campaign:
    cells = [_cell(where or {}, **entry) for entry in cell]
    if axes:
        cells += [_crossed(where or {}, set or {}, values) for values in product(*(_axis(**known[a]) for a in axes))]
    # A cell's own settings come last.
    first = shared[settings] if settings else {}
    cells = [replace(one, overrides={**first, **one.overrides}) for one in cells]
    return Campaign(paper, name, scenario, needs, tuple(cells), series, runs, once, settings)


def _with_ends(campaign: Campaign, ranges: Mapping[str, Mapping[str, Any]]) -> Campaign:
    """Adds the ends of ranges: the same cells with each end's overrides and number of runs."""
    ends = {name: _end(campaign, name, **entry) for name, entry in ranges.items()}
    return replace(campaign, ends=ends) if ends else campaign


def _end(campaign: Campaign, name: str, *, set: Mapping[str, str], runs: int = 1) -> Campaign:  # noqa: A002
    cells = tuple(replace(cell, overrides={**cell.overrides, **set}) for cell in campaign.cells)
    return replace(campaign, id=f"{campaign.id} {name}", cells=cells, runs=runs, ends=None)


def _axis(*, word: str, values: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str | int, Mapping[str, str]]]:
    """Values of a setting: its word, the value, and the overrides."""
    # TOML keys are text; if the paper's word is a number, make the cell's a number as well.
    return [(word, int(value) if value.isdecimal() else value, sets) for value, sets in values.items()]


def _crossed(
    common: Where, first: Mapping[str, str], values: Sequence[tuple[str, str | int, Mapping[str, str]]]
) -> CellPlan:
    overrides = dict(first)
    for _, _, sets in values:
        overrides |= sets
    return CellPlan(
        ", ".join(str(value) for _, value, _ in values), {**common, **{word: v for word, v, _ in values}}, overrides
    )


def _cell(common: Where, *, name: str, set: Mapping[str, str], where: Where | None = None) -> CellPlan:  # noqa: A002
    return CellPlan(name, {**common, **where} if where else {}, set)


def _experiment(
    known: Mapping[str, Campaign],
    *,
    campaigns: Sequence[str] = (),
    draws: str = "",
    median: Where | None = None,
    needs: str = "",
    worked: Mapping[str, Any] | None = None,
    marks: bool = False,
    lacks: Sequence[Any] = (),
    where: Where | None = None,
    reads: Mapping[str, Sequence[Where]] | None = None,
) -> ExperimentPlan:
    served = tuple(known[name] for name in campaigns)
    lacking = tuple(Lack(**entry) for entry in lacks)
    return ExperimentPlan(served, draws, median, needs, worked, marks, lacking, where, reads)
