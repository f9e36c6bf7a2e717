"""Each quantity on every side, and by how much it differs from the first."""

import fnmatch
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.cli.compare.sides import Side
from stillair.results.statistics import Interval, interval, ratio_interval, t_quantile
from stillair.text.table import natural


class Quantity(NamedTuple):
    """A key of a run's report."""

    key: str
    words: str
    unit: str
    scale: float = 1
    digits: int = 2


class Row(NamedTuple):
    """One quantity of one thing."""

    of: str
    """A station, a flow, a call; nothing for all together."""
    quantity: Quantity
    values: Sequence[Interval | None]
    """On each side the mean over the runs that have it; the ends are the mean itself where one run has."""
    counts: Sequence[int]
    """How many runs have it."""
    ratios: Sequence[Interval | None]
    """Of each further side to the first; the ends are infinite where nothing is known of the spread."""

    @property
    def name(self) -> str:
        """What it is called, as `--only` takes it."""
        return f"{self.of} {self.quantity.words}".strip()


def differs(ratio: Interval) -> bool:
    """Whether chance alone is no likely reason: the interval leaves out what is equal."""
    return not ratio.low <= 1 <= ratio.high


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
        Quantity("retransmissions", "retransmissions", "", 1, 0),
        Quantity("delay_p50_ms", "one-way p50", "ms"),
        Quantity("delay_p95_ms", "one-way p95", "ms"),
        Quantity("delay_p99_ms", "one-way p99", "ms"),
    ),
    "voip": (Quantity("mos", "MOS", ""), Quantity("jitter_ms", "jitter", "ms")),
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
    "pings": (*_PINGS, Quantity("loss", "ping loss", "%", 100)),
}


def rows(sides: Sequence[Side], only: Sequence[str] = ()) -> list[Row]:
    """All quantities that any side has, or those whose names fit one of the patterns."""
    found = (row for row in _all(sides) if any(value is not None for value in row.values))
    patterns = [f"*{pattern.lower()}*" for pattern in only]
    return [row for row in found if not only or any(fnmatch.fnmatchcase(row.name.lower(), own) for own in patterns)]


def _all(sides: Sequence[Side]) -> Iterator[Row]:
    for quantity in _TOTALS:
        yield _row("", quantity, [[run.get(quantity.key) for run in _loose(side)] for side in sides], sides)
    for group, quantities in _GROUPS.items():
        # Stations tell of their own pings, but not of what was lost.
        if group == "pings" and any(run.get("stations") for side in sides for run in _loose(side)):
            quantities = [quantity for quantity in quantities if quantity.key == "loss"]  # noqa: PLW2901
        names = natural({name for side in sides for run in _loose(side) for name in run.get(group) or {}})
        for quantity in quantities:
            for name in names:
                yield _row(name, quantity, [_of(side, group, name, quantity.key) for side in sides], sides)


def _of(side: Side, group: str, name: str, key: str) -> list[Any]:
    return [((run.get(group) or {}).get(name) or {}).get(key) for run in _loose(side)]


def _loose(side: Side) -> Sequence[Mapping[str, Any]]:
    """The runs by keys that are worked out."""
    return side.result.runs


def _row(of: str, quantity: Quantity, values: Sequence[Sequence[float | None]], sides: Sequence[Side]) -> Row:
    scaled = [[None if value is None else value * quantity.scale for value in own] for own in values]
    known = [[value for value in own if value is not None] for own in scaled]
    means = [interval(own) if own else None for own in known]
    first = _runs(sides[0])
    ratios = []
    for side, own, there in zip(sides[1:], scaled[1:], known[1:], strict=True):
        # The same seeds and numbers, and no gap: what runs share cancels.
        paired = _runs(side) == first and len(known[0]) == len(scaled[0]) and len(there) == len(own)
        ratios.append(_ratio(there, known[0], paired))
    return Row(of, quantity, means, [len(own) for own in known], ratios)


def _runs(side: Side) -> list[tuple[int, int]]:
    return [(run["run"], run["seed"]) for run in side.result.runs]


def _ratio(above: Sequence[float], below: Sequence[float], paired: bool) -> Interval | None:
    """A ratio of means, with its 95 % interval; none to nothing."""
    if not above or not below or math.fsum(below) == 0:
        return None
    if len(above) < 2 or len(below) < 2:
        ratio = math.fsum(above) / len(above) / (math.fsum(below) / len(below))
        return Interval(ratio, -math.inf, math.inf)
    return ratio_interval(above, below) if paired else _independent(above, below)


def _independent(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The ratio of runs that have nothing to do with each other, taken as linear near its mean."""
    # paper: Welch, The generalization of Student's problem (Biometrika 34, 1947) - degrees of freedom of a sum of
    # variances.
    (mean_a, var_a), (mean_b, var_b) = _moments(above), _moments(below)
    ratio = mean_a / mean_b
    parts = [(var_a / mean_b**2, len(above) - 1), (ratio**2 * var_b / mean_b**2, len(below) - 1)]
    variance = math.fsum(part for part, _ in parts)
    if variance == 0:
        return Interval(ratio, ratio, ratio)
    freedom = max(1, int(variance**2 / math.fsum(part**2 / free for part, free in parts)))
    half = t_quantile(0.975, freedom) * math.sqrt(variance)
    return Interval(ratio, ratio - half, ratio + half)


def _moments(values: Iterable[float]) -> tuple[float, float]:
    """The mean, and the variance of that mean."""
    own = list(values)
    mean = math.fsum(own) / len(own)
    return mean, math.fsum((value - mean) ** 2 for value in own) / (len(own) - 1) / len(own)
