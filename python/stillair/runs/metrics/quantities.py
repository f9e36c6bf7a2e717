"""Names of the figures of a run, and their selection by patterns (`--only` of `compare` and `sweep`)."""

import fnmatch
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.text.table import natural


class Quantity(NamedTuple):
    """A key of a run's report."""

    key: str
    words: str
    unit: str
    scale: float = 1
    digits: int = 2
    if_differs: bool = False
    """Compared only if the sides differ, or if a pattern selects it."""

    def name(self, of: str) -> str:
        """Name of the quantity of one station or flow, which `--only` matches."""
        return f"{of} {self.words}".strip()


_TOTALS = (
    Quantity("goodput_total_mbps", "total goodput", "Mbit/s"),
    Quantity("jain_airtime", "Jain's index", "", 1, 3),
)
_PINGS = (
    Quantity("median_ms", "ping p50", "ms", 1, 1),
    Quantity("p95_ms", "ping p95", "ms", 1, 1),
    Quantity("p99_ms", "ping p99", "ms", 1, 1),
)
_GROUPS: Mapping[str, Sequence[Quantity]] = {
    "stations": (
        Quantity("goodput_mbps", "goodput", "Mbit/s"),
        Quantity("airtime_share", "airtime", "%", 100, 1),
        Quantity("mean_aggregate", "frames per aggregate", ""),
        *(own._replace(key=f"ping_{own.key}") for own in _PINGS),
        *(own._replace(key=f"udp_ping_{own.key}", words=f"UDP {own.words}") for own in _PINGS),
    ),
    "flows": (
        Quantity("goodput_mbps", "goodput", "Mbit/s"),
        Quantity("loss", "loss", "%", 100),
        Quantity("skipped", "skipped at the sender", "packets", 1, 0),
        Quantity("retransmissions", "retransmissions", "", 1, 0),
        Quantity("delay_p50_ms", "one-way p50", "ms"),
        Quantity("delay_p95_ms", "one-way p95", "ms"),
        Quantity("delay_p99_ms", "one-way p99", "ms"),
        Quantity("longest_gap_ms", "longest gap", "ms", 1, 0, if_differs=True),
    ),
    "voip": (
        Quantity("mos", "MOS", ""),
        Quantity("loss", "call loss", "%", 100),
        Quantity("late", "late for playout", "%", 100),
        Quantity("jitter_ms", "jitter", "ms"),
    ),
    "web": (
        Quantity("mean_s", "page load mean", "s", 1, 3),
        Quantity("median_s", "page load p50", "s", 1, 3),
        Quantity("p95_s", "page load p95", "s", 1, 3),
        Quantity("p99_s", "page load p99", "s", 1, 3),
    ),
    "responsiveness": (
        Quantity("rpm", "RPM", "", 1, 0),
        Quantity("foreign_rpm", "RPM of new connections", "", 1, 0),
        Quantity("loaded_rpm", "RPM of loaded connections", "", 1, 0),
    ),
    "pings": (
        *_PINGS,
        Quantity("loss", "ping loss", "%", 100),
        Quantity("longest_ms", "longest ping", "ms", 1, 1, if_differs=True),
    ),
}


class Figure(NamedTuple):
    """A quantity of a station, flow or call; with an empty name, of the total."""

    group: str
    of: str
    quantity: Quantity

    @property
    def name(self) -> str:
        """Name that `--only` matches."""
        return self.quantity.name(self.of)

    def values(self, runs: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Values of each run, unscaled."""
        key = self.quantity.key
        if not self.group:
            return [run.get(key) for run in runs]
        return [((run.get(self.group) or {}).get(self.of) or {}).get(key) for run in runs]


class Columns:
    """Figures of many runs, read once, at 8 bytes per figure and run."""

    def __init__(self, runs: Iterable[Mapping[str, Any]]) -> None:
        """Reads each run once; those of a large result are loaded from its file."""
        self.runs: list[tuple[int, int]] = []
        """Number and seed of each run."""
        self._names: dict[str, dict[str, None]] = {group: {} for group in _GROUPS}
        self._values: dict[tuple[str, str, str], array[float]] = {}
        for run in runs:
            for quantity in _TOTALS:
                self._add("", "", quantity.key, run.get(quantity.key))
            for group, quantities in _GROUPS.items():
                for name, of in (run.get(group) or {}).items():
                    self._names[group][name] = None
                    for quantity in quantities:
                        self._add(group, name, quantity.key, of.get(quantity.key))
            self.runs.append((run["run"], run["seed"]))

    def _add(self, group: str, name: str, key: str, value: float | None) -> None:
        if value is not None:
            column = self._values.setdefault((group, name, key), array("d"))
            column.extend([math.nan] * (len(self.runs) - len(column)))
            column.append(value)

    def names(self, group: str) -> Iterable[str]:
        """Names in a group, such as those of all flows."""
        return self._names[group]

    def values(self, figure: Figure) -> list[float | None]:
        """A figure of each run, unscaled."""
        column = self._values.get((figure.group, figure.of, figure.quantity.key), array("d"))
        found = [None if math.isnan(value) else value for value in column]
        return [*found, *[None] * (len(self.runs) - len(found))]


def every(runs: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """All figures that these runs may have, by quantity, with names in natural order."""
    return _every({group: {name for run in runs for name in run.get(group) or {}} for group in _GROUPS})


def every_of(columns: Sequence[Columns]) -> Iterator[Figure]:
    """All figures of the given columns."""
    return _every({group: {name for one in columns for name in one.names(group)} for group in _GROUPS})


def _every(names_of: Mapping[str, set[str]]) -> Iterator[Figure]:
    for quantity in _TOTALS:
        yield Figure("", "", quantity)
    for group, quantities in _GROUPS.items():
        # Station rows already contain the percentiles of their pings.
        if group == "pings" and names_of["stations"]:
            quantities = [quantity for quantity in quantities if quantity not in _PINGS]  # noqa: PLW2901
        names = natural(names_of[group])
        for quantity in quantities:
            for name in names:
                yield Figure(group, name, quantity)


def fits(name: str, only: Sequence[str]) -> bool:
    """Returns true if a name contains one of the patterns, ignoring case."""
    return any(fnmatch.fnmatchcase(name.lower(), f"*{pattern.lower()}*") for pattern in only)
