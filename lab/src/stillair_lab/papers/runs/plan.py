"""How the experiments of a paper are run: `experiments.toml` of its folder, so that a new experiment is data.

A campaign is a scenario with its cells: named sets of overrides, each with the words (`where`) by which the inventory
refers to it. Cells that differ in several settings are written as `axes`: one cell for each combination; what holds for
all cells of several campaigns is a table of `settings`. An experiment names the campaigns that serve it, says that it
is a worked example, or what it needs before it can be run. Where a paper leaves open which `settings` are meant, there
are `alternatives`: the same campaigns with others in their place, judged side by side.
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
    """One configuration of a campaign."""

    name: str
    where: Where
    """Words that refer to it; none for a cell that is only shown beside the others."""
    overrides: Mapping[str, str]
    """Dotted keys with their value as TOML, as `--set` takes them."""


# Each is the only one of its kind, so that it can be the key of what came of it.
@dataclass(frozen=True, eq=False)
class Campaign:
    """A scenario and the cells in which it is run."""

    paper: str
    id: str
    scenario: str
    needs: str
    """What is missing if the scenario cannot be read."""
    cells: tuple[CellPlan, ...]
    series: bool = False
    """Its runs keep their series, for metrics that count every reply to a ping."""
    runs: int = 1
    """Repetitions of each cell, where the paper does not state them."""
    once: bool = False
    """For a picture of one run: run once, however many repetitions are asked for."""
    settings: str = ""
    """The name of the settings that its cells share with those of other campaigns."""
    under: str = ""
    """The name of the alternative that it is, where it is not the plan's own."""
    ends: Mapping[str, "Campaign"] | None = None
    """The same at the ends of ranges, by their names: settings of which no source says more (`ranges.py`)."""


@dataclass(frozen=True)
class Lack:
    """Cells of an experiment that cannot be run yet."""

    where: Where
    needs: str


@dataclass(frozen=True)
class ExperimentPlan:
    """How one experiment is run."""

    campaigns: tuple[Campaign, ...] = ()
    draws: str = ""
    """The name of its artefact: one of the plan's figures, or one that is made in Python (`artefacts/gallery.py`)."""
    median: Where | None = None
    """Cells whose number is the median over the runs and not the mean, because the paper's is."""
    needs: str = ""
    worked: Mapping[str, Any] | None = None
    """It is a worked example: events for the receiver by itself, the inventory's or these `ampdus`; no runs."""
    marks: bool = False
    """Its claims are about marks over the data rate that each run had (`scatter.py`), not about cells."""
    lacks: tuple[Lack, ...] = ()
    where: Where | None = None
    """Words that hold for every claim which does not say otherwise: what the experiment as a whole is about."""
    reads: Mapping[str, Sequence[Where]] | None = None
    """For claims whose cells are not said in the words of the cells: those meant, by the claim's name."""

    def all_campaigns(self) -> tuple[Campaign, ...]:
        """Its campaigns and their ends of ranges."""
        return (*self.campaigns, *(end for campaign in self.campaigns for end in (campaign.ends or {}).values()))

    def ends(self) -> list[str]:
        """The ends of ranges at which it is judged too."""
        return list(dict.fromkeys(name for campaign in self.campaigns for name in campaign.ends or {}))

    def cell(self, where: Where) -> tuple[Campaign, CellPlan] | None:
        """The cell that the words choose; words that a cell does not know choose nothing."""
        return next(
            ((campaign, cell) for campaign in self.campaigns for cell in campaign.cells if matches(where, cell.where)),
            None,
        )

    def has_word(self, word: str) -> bool:
        """Whether some cell is told apart by this word."""
        return any(word in cell.where for campaign in self.campaigns for cell in campaign.cells)

    def axis_of(self, value: object) -> str:
        """The word whose value this is in some cell: `scheme` for `fifo`."""
        cells = [cell for campaign in self.campaigns for cell in campaign.cells]
        return next((key for cell in cells for key, known in cell.where.items() if str(known) == str(value)), "")


@dataclass(frozen=True)
class Calibration:
    """A number that nobody knows and that was calibrated to numbers of the paper."""

    name: str
    """What was calibrated."""
    keys: tuple[str, ...]
    """The keys of the scenario that hold it."""
    to: tuple[str, ...]
    """The claims that it was calibrated to. Neither they nor claims derived from them are judged (`calibration.py`)."""
    settings: tuple[str, ...] = ()
    """It is in force in the campaigns that share these settings,"""
    campaigns: tuple[str, ...] = ()
    """and in these,"""
    where: Where | None = None
    """in cells with these words; in all, if there are none."""


@dataclass(frozen=True)
class Plan:
    """How a paper's experiments are run."""

    metrics: Mapping[str, Metric]
    stations: Mapping[str, Sequence[str]]
    experiments: Mapping[str, ExperimentPlan]
    means: Mapping[str, Sequence[Where]]
    """Names in an order that are not the value of one word: the cells they mean; of several, the least counts."""
    calibrations: tuple[Calibration, ...] = ()
    """What was calibrated to what."""
    totals: Mapping[str, str] = field(default_factory=dict)
    """Numbers of the whole that are made of one of every station: of which."""
    marks: Placing | None = None
    """How runs become marks of a scatter plot, where experiments have such `marks`."""
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Artefacts that are data, by name: their kind and what it shows (`artefacts/kinds`)."""
    name: str = ""
    """What its own settings are called, where there are others."""
    others: Mapping[str, "Plan"] = field(default_factory=dict)
    """The same with other settings, by their name; none of them is preferred."""


def matches(where: Where, cell: Where) -> bool:
    """Whether a cell with these words fits what is asked for. A number may be written as one or as text."""
    return bool(cell) and all(key in cell and str(cell[key]) == str(value) for key, value in where.items())


@remembered
def plan(paper: str) -> Plan:
    """The plan of a paper."""
    return read(paper, paper_registry.table(paper_registry.folders()[paper], "experiments.toml"))


def read(paper: str, table: Mapping[str, Any]) -> Plan:
    """A plan from its table; a key that is not known is an error."""
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
    """The plan with its alternatives: campaigns whose settings are others are run again, the rest serve all."""
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
    """A campaign as an alternative has it. Cells that no claim speaks of are shown once, by the plan's own."""
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
    """A campaign with its ends of ranges: the same cells with what each end sets, and its number of runs."""
    ends = {name: _end(campaign, name, **entry) for name, entry in ranges.items()}
    return replace(campaign, ends=ends) if ends else campaign


def _end(campaign: Campaign, name: str, *, set: Mapping[str, str], runs: int = 1) -> Campaign:  # noqa: A002
    cells = tuple(replace(cell, overrides={**cell.overrides, **set}) for cell in campaign.cells)
    return replace(campaign, id=f"{campaign.id} {name}", cells=cells, runs=runs, ends=None)


def _axis(*, word: str, values: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str | int, Mapping[str, str]]]:
    """The values of a setting: the word that says it, the value, and what it sets."""
    # A key of TOML is text; where the paper's word is a number, so is the cell's.
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
