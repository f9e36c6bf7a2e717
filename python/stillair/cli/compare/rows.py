"""Each quantity on every side, and its difference from the first side."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.cli.compare.sides import Side
from stillair.results.statistics import Interval, bounds, interval, ratio_interval, t_quantile
from stillair.runs.metrics import quantities
from stillair.runs.metrics.quantities import Columns, Quantity, every_of


class Row(NamedTuple):
    """One quantity of one station, flow or call."""

    of: str
    """Name of the station, flow or call; empty for totals."""
    quantity: Quantity
    values: Sequence[Interval | None]
    """Mean on each side over the runs that have the quantity. With a single run, both ends equal the mean."""
    counts: Sequence[int]
    """Runs of each side that have the quantity."""
    runs: Sequence[int]
    """All runs of each side."""
    ratios: Sequence[Interval | None]
    """Ratio of each further side to the first; the ends are infinite if the spread is unknown."""

    @property
    def name(self) -> str:
        """Name that `--only` matches."""
        return self.quantity.name(self.of)


def differs(ratio: Interval) -> bool:
    """Returns true if chance is an unlikely reason for the difference: the interval excludes 1."""
    return not ratio.low <= 1 <= ratio.high


def rows(sides: Sequence[Side], only: Sequence[str] = (), *, every: bool = False) -> list[Row]:
    """Returns all quantities that any side has, or those whose names match one of the patterns.

    Quantities marked `if_differs` are left out if all sides agree, unless `every` is set.
    """
    columns = [Columns(_loose(side)) for side in sides]
    found = (_row(one.of, one.quantity, [of.values(one) for of in columns], columns) for one in every_of(columns))
    there = (row for row in found if any(value is not None for value in row.values))
    return [row for row in there if (quantities.fits(row.name, only) if only else every or _is_listed(row))]


def _is_listed(row: Row) -> bool:
    """Returns true if a row is shown without `--only`."""
    return not row.quantity.if_differs or len({value and value.mean for value in row.values}) > 1


def _loose(side: Side) -> Sequence[Mapping[str, Any]]:
    """Returns the runs as keyed values."""
    return side.result.runs


def _row(of: str, quantity: Quantity, values: Sequence[Sequence[float | None]], columns: Sequence[Columns]) -> Row:
    scaled = [[None if value is None else value * quantity.scale for value in own] for own in values]
    known = [[value for value in own if value is not None] for own in scaled]
    within = bounds(quantity.key)
    within = within and within.times(quantity.scale)
    means = [interval(own, within=within) if own else None for own in known]
    first = columns[0].runs
    ratios = []
    for side, own, there in zip(columns[1:], scaled[1:], known[1:], strict=True):
        # With the same seeds and run numbers on both sides and no gaps, common variation cancels.
        paired = side.runs == first and len(known[0]) == len(scaled[0]) and len(there) == len(own)
        ratios.append(_ratio(there, known[0], paired))
    return Row(of, quantity, means, [len(own) for own in known], [len(own) for own in scaled], ratios)


def _ratio(above: Sequence[float], below: Sequence[float], paired: bool) -> Interval | None:
    """A ratio of means with its 95 % interval; `None` if the divisor is zero."""
    if not above or not below or math.fsum(below) == 0:
        return None
    if len(above) < 2 or len(below) < 2:
        ratio = math.fsum(above) / len(above) / (math.fsum(below) / len(below))
        return Interval(ratio, -math.inf, math.inf)
    return ratio_interval(above, below) if paired else _independent(above, below)


def _independent(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Ratio of independent runs, with its variance linearised around the means."""
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
    """The mean, and the variance of the mean."""
    own = list(values)
    mean = math.fsum(own) / len(own)
    return mean, math.fsum((value - mean) ** 2 for value in own) / (len(own) - 1) / len(own)
