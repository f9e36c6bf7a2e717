"""The inventory of a paper, read from its file in `data/`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Claim:
    """One thing a paper says came out of an experiment."""

    id: str
    kind: str
    statement: str
    configuration: Mapping[str, Any]
    metric: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    ordering: tuple[Any, ...]
    qualifier: str
    role: str
    reproduce: bool

    def stated(self) -> object:
        """What the paper says: a number, bounds, or an order from the smallest to the largest."""
        if self.value is not None:
            return self.value
        return list(self.ordering) if self.ordering else {"low": self.low, "high": self.high}

    def cell(self) -> tuple[Any, Any, str]:
        """Scheme, station and metric: where the number stands in a table."""
        return self.configuration.get("scheme"), self.configuration.get("station"), self.metric


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper."""

    paper: str
    id: str
    artefact: str
    setup: Mapping[str, Any]
    claims: tuple[Claim, ...]

    @property
    def name(self) -> str:
        """The name on the command line."""
        return f"{self.paper}/{self.id}"

    def printed(self) -> dict[tuple[Any, Any, str], float]:
        """The numbers that the paper prints, by cell of its table."""
        return {
            claim.cell(): claim.value
            for claim in self.claims
            if claim.value is not None and isinstance(claim.configuration.get("station"), str)
        }


@cache
def experiments() -> tuple[Experiment, ...]:
    """Every experiment of every paper, papers in the order of their names."""
    folder = resources.files("stillair.papers") / "data"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda f: f.name)
    return tuple(experiment for file in files for experiment in _paper(tomllib.loads(file.read_text(encoding="utf-8"))))


def _paper(inventory: Mapping[str, Any]) -> list[Experiment]:
    short = inventory["paper"]["short"]
    return [
        Experiment(
            paper=short,
            id=entry["id"],
            artefact=entry["artefact"],
            setup=entry.get("setup", {}),
            claims=tuple(_claim(claim) for claim in entry.get("claim", ())),
        )
        for entry in inventory.get("experiment", ())
    ]


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
    )
