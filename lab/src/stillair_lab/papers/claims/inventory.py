"""The inventory of a paper, read from its file in `data/`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stillair._native import InputError
from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.claims.paper_registry import remembered

# Words of a claim's configuration that select a cell, such as {"scheme": "fifo", "traffic": "UDP down"}.
Where = Mapping[str, Any]
# An entry of an `ordering`: a name, or an unordered group.
Rank = str | int | float | list[Any]


@dataclass(frozen=True)
class Claim:
    """A paper's statement about the outcome of an experiment."""

    id: str
    kind: str
    statement: str
    configuration: Mapping[str, Any]
    metric: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    ordering: tuple[Rank, ...]
    qualifier: str
    role: str
    reproduce: bool
    source: str
    calibrated: str = ""
    """Why it depends on a calibrated number (`calibration.py`); not part of the inventory."""

    def stated(self) -> object:
        """The paper's statement: a number, bounds, or an order from smallest to largest."""
        if self.value is not None:
            return self.value
        return list(self.ordering) if self.ordering else {"low": self.low, "high": self.high}

    def cell(self) -> tuple[Any, Any, str]:
        """Scheme, station and metric: the place of the number in a table."""
        return self.configuration.get("scheme"), self.configuration.get("station"), self.metric


@dataclass(frozen=True)
class Setting:
    """A setting that a paper leaves open, and the assumed value."""

    setting: str
    take: str
    why: str


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper."""

    paper: str
    id: str
    artefact: str
    topology: str
    setup: Mapping[str, Any]
    unstated: tuple[Setting, ...]
    claims: tuple[Claim, ...]

    @property
    def name(self) -> str:
        """Name on the command line."""
        return f"{self.paper}/{self.id}"

    def printed(self) -> dict[tuple[Any, Any, str], float]:
        """Printed numbers by table cell."""
        return {
            claim.cell(): claim.value
            for claim in self.claims
            if claim.value is not None and isinstance(claim.configuration.get("station"), str)
        }


@dataclass(frozen=True)
class Paper:
    """A paper with its experiments, in inventory order."""

    short: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    experiments: tuple[Experiment, ...]


@remembered
def papers() -> tuple[Paper, ...]:
    """All papers, by name."""
    return tuple(
        _paper(paper_registry.table(folder, paper_registry.INVENTORY), name)
        for name, folder in paper_registry.folders().items()
    )


@remembered
def experiments() -> tuple[Experiment, ...]:
    """All experiments of all papers, by paper name."""
    return tuple(experiment for paper in papers() for experiment in paper.experiments)


def _paper(inventory: Mapping[str, Any], name: str) -> Paper:
    head = inventory["paper"]
    if head["short"] != name:
        raise InputError(
            f'{paper_registry.INVENTORY}: paper.short: found "{head["short"]}", expected "{name}" as its folder'
        )
    sets = {entry["id"]: entry["unstated"] for entry in inventory.get("unstated_set", ())}
    return Paper(
        short=head["short"],
        title=head["title"],
        authors=tuple(head["authors"]),
        year=head["year"],
        venue=head["venue"],
        experiments=tuple(_experiment(head["short"], entry, sets) for entry in inventory["experiment"]),
    )


def _experiment(paper: str, entry: Mapping[str, Any], sets: Mapping[str, Any]) -> Experiment:
    shared = [setting for name in entry.get("unstated_sets", ()) for setting in sets[name]]
    return Experiment(
        paper=paper,
        id=entry["id"],
        artefact=entry["artefact"],
        topology=entry.get("topology", ""),
        setup=entry.get("setup", {}),
        unstated=tuple(
            Setting(open_["setting"], str(open_["take"]), open_.get("why", ""))
            for open_ in (*shared, *entry.get("unstated", ()))
        ),
        claims=tuple(_claim(claim) for claim in entry.get("claim", ())),
    )


def _claim(entry: Mapping[str, Any]) -> Claim:
    return Claim(
        id=entry["id"],
        kind=entry["kind"],
        statement=entry["statement"],
        configuration=entry.get("configuration", {}),
        metric=entry.get("metric", ""),
        unit=entry.get("unit", ""),
        value=entry.get("value"),
        low=entry.get("low"),
        high=entry.get("high"),
        ordering=tuple(entry.get("ordering", ())),
        qualifier=entry.get("qualifier", ""),
        role=entry.get("role", ""),
        reproduce=entry.get("reproduce", True),
        source=entry.get("source", ""),
    )
