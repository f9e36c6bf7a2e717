"""Mean and confidence interval over runs."""

import math
from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple


class Interval(NamedTuple):
    """A mean with the bounds of its confidence interval."""

    mean: float
    low: float
    high: float


class Bounds(NamedTuple):
    """Smallest and largest possible value of a figure."""

    low: float
    high: float

    def times(self, scale: float) -> "Bounds":
        """Bounds in another unit."""
        return Bounds(self.low * scale, self.high * scale)


SHARE = Bounds(0.0, 1.0)
_PERCENT = Bounds(0.0, 100.0)
# spec: itu-t g.107 annex B - MOS of a rating R is 1 below R = 0 and 4.5 above R = 100.
_MOS = Bounds(1.0, 4.5)
_BOUNDS: Mapping[str, Bounds] = {
    "jain_airtime": SHARE,
    "airtime_share": SHARE,
    "loss": SHARE,
    "late": SHARE,
    "loss_percent": _PERCENT,
    "gaps_below_100us_percent": _PERCENT,
    "mos": _MOS,
    "mos_flent_1_2": _MOS,
    "qoo": _PERCENT,
}
"""Bounded figures, by key in reports."""


def bounds(key: str) -> Bounds | None:
    """Returns the bounds of a figure by its report key; `None` if it is unbounded."""
    return _BOUNDS.get(key)


def interval(values: Sequence[float], confidence: float = 0.95, within: Bounds | None = None) -> Interval:
    """Mean of independent runs with its confidence interval by Student's t, clipped to `within`.

    A single run has no spread; both ends then equal the mean.
    """
    found = _interval(values, confidence)
    # Another program's key may have another meaning: apply the bounds only if the values respect them.
    if within is None or not all(within.low <= value <= within.high for value in values):
        return found
    low, high = max(found.low, within.low), min(found.high, within.high)
    return Interval(found.mean, min(low, found.mean), max(high, found.mean))


def spread(of: Interval, digits: int) -> str:
    """Half-width of an interval: `±0.12`, or `+0.01/-0.12` if a bound shortens one side; empty for a single value."""
    if not of.high > of.low:
        return ""
    above, below = of.high - of.mean, of.mean - of.low
    if math.isclose(above, below, rel_tol=1e-6) or f"{above:.{digits}f}" == f"{below:.{digits}f}":
        return f"±{(above + below) / 2:.{digits}f}"
    return f"+{above:.{digits}f}/-{below:.{digits}f}"


def _interval(values: Sequence[float], confidence: float) -> Interval:
    n = len(values)
    if n == 0:
        raise ValueError("no values to take a mean of")
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, mean, mean)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half = t_quantile((1 + confidence) / 2, n - 1) * math.sqrt(variance / n)
    return Interval(mean, mean - half, mean + half)


class Means:
    """Means of all figures of the runs, by key, with their intervals. Takes 8 bytes per figure and run.

    A figure that only some runs have also has their number in `runs`, and the number of all runs in
    `all_runs`.
    """

    def __init__(self) -> None:
        """Starts without runs."""
        self.runs = 0
        self._root = _Node()
        self._drops: dict[tuple[str, str], array[float]] = {}

    def add(self, run: Mapping[str, Any]) -> None:
        """Adds a run. Runs come in order of their numbers; keys keep the order of their first appearance."""
        for key, value in run.items():
            if key not in _NOT_MEASURED:
                self._root.child(key).add(value)
        for drop in run["drops"]:
            counts = self._drops.setdefault((drop["place"], drop["reason"]), array("d"))
            counts.extend([0.0] * (self.runs + 1 - len(counts)))
            counts[self.runs] += drop["packets"]
        self.runs += 1

    def bytes_per_run(self) -> int:
        """Memory for one more run, in bytes."""
        return 8 * (self._root.numbers() + len(self._drops))

    def summary(self, ci: float = 0.95) -> dict[str, Any]:
        """Same structure as a run, with an interval instead of each number.

        A drop counts as zero in runs without it.
        """
        drops = []
        for (place, reason), counts in self._drops.items():
            packets = array("d", counts)
            packets.extend([0.0] * (self.runs - len(packets)))
            drops.append({"place": place, "reason": reason, "packets": _mean("packets", packets, self.runs, ci)})
        found = {key: node.over(key, self.runs, ci) for key, node in self._root.children.items()}
        return {**found, "drops": drops}


_NOT_MEASURED = ("run", "seed", "trace_hash", "drops", "queues", "exchanges", "sojourn", "series")
"""Keys that identify a run, or hold samples."""


class _Node:
    """Values of one key over the runs."""

    __slots__ = ("_is_table", "_other", "_values", "children")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self._values = array("d")
        self._is_table = self._other = False

    def child(self, key: str) -> "_Node":
        found = self.children.get(key)
        if found is None:
            found = self.children[key] = _Node()
        return found

    def add(self, value: object) -> None:
        if isinstance(value, int | float):
            self._values.append(value)
        elif isinstance(value, Mapping):
            self._is_table = True
            for key, of in value.items():
                self.child(key).add(of)
        elif value is not None:
            self._other = True

    def numbers(self) -> int:
        own = 1 if self._values else 0
        return own + sum(child.numbers() for child in self.children.values())

    def over(self, key: str, runs: int, ci: float) -> Any:  # noqa: ANN401 - the shape follows the report's
        # Text and lists have no mean, nor does a key that is a number in one run and a table in another.
        if self._other or (self._is_table and self._values):
            return None
        if self._is_table:
            return {inner: child.over(inner, runs, ci) for inner, child in self.children.items()}
        return _mean(key, self._values, runs, ci) if self._values else None


def _mean(key: str, values: Sequence[float], runs: int, ci: float) -> dict[str, float | None]:
    """Mean with its confidence interval; the ends are null for a single value."""
    mean, low, high = interval(values, ci, bounds(key))
    found: dict[str, float | None] = {"mean": mean, "low": None, "high": None}
    if len(values) > 1:
        found |= {"low": low, "high": high}
    return {**found, "runs": len(values), "all_runs": runs} if len(values) < runs else found


def some_runs(value: Mapping[str, Any]) -> str:
    """` (45 of 300 runs)` if only some runs have a figure; empty if all have it."""
    return some(value["runs"], value["all_runs"]) if "runs" in value else ""


def some(count: int, runs: int) -> str:
    """` (45 of 300 runs)`; empty if it is all of them."""
    return f" ({count} of {runs} runs)" if count < runs else ""


def jain(values: Sequence[float]) -> float | None:
    """Jain's fairness index: 1 if all values are equal, 1/n if one has everything; `None` for zeros."""
    squares = len(values) * math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / squares if squares else None


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Median of independent runs with a confidence interval from order statistics, which assumes no distribution.

    Fewer than six runs cannot give 95 %; the interval then covers all of them.
    """
    n = len(values)
    if n == 0:
        raise ValueError("no values to take a median of")
    ranked = sorted(values)
    # The number of runs to leave out at each end: the count below the median is binomial.
    left, chance = 0, 0.5**n
    while 2 * chance <= 1 - confidence:
        left += 1
        chance += math.comb(n, left) * 0.5**n
    left = max(left - 1, 0)
    middle = (ranked[(n - 1) // 2] + ranked[n // 2]) / 2
    return Interval(middle, ranked[left], ranked[n - 1 - left])


def percentile(values: Sequence[float], per_cent: float) -> float:
    """Percentile with linear interpolation."""
    ranked = sorted(values)
    place = (len(ranked) - 1) * per_cent / 100
    below = int(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (place - below)


def ratio_interval(above: Sequence[float], below: Sequence[float], confidence: float = 0.95) -> Interval:
    """Ratio of two means over the same runs, with its confidence interval.

    Runs are paired by seed, so common variation cancels; the variance is linearised around the means.
    """
    mean_above, mean_below = interval(above).mean, interval(below).mean
    if mean_below == 0:
        raise ValueError("a ratio to nothing")
    ratio = mean_above / mean_below
    residuals = [(a - ratio * b) / mean_below for a, b in zip(above, below, strict=True)]
    around = interval(residuals, confidence)
    half = (around.high - around.low) / 2
    return Interval(ratio, ratio - half, ratio + half)


def t_cdf(t: float, freedom: int) -> float:
    """Cumulative distribution of Student's t with `freedom` degrees of freedom."""
    return 0.5 * (1 + math.copysign(_central(math.atan(abs(t) / math.sqrt(freedom)), freedom), t))


@lru_cache(maxsize=1024)
def t_quantile(chance: float, freedom: int) -> float:
    """Quantile of Student's t, to about twelve digits."""
    if not 0 < chance < 1:
        raise ValueError(f"a probability between 0 and 1 is needed, not {chance}")
    if freedom < 1:
        raise ValueError(f"at least one degree of freedom is needed, not {freedom}")
    if chance < 0.5:
        return -t_quantile(1 - chance, freedom)
    # Bisect over the angle, where the distribution is smooth and bounded.
    low, high = 0.0, math.pi / 2
    wanted = 2 * chance - 1
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return math.sqrt(freedom) * math.tan(middle)
        if _central(middle, freedom) < wanted:
            low = middle
        else:
            high = middle


def _central(angle: float, freedom: int) -> float:
    """Probability that |t| <= sqrt(freedom) * tan(angle): a finite series, exact for integer degrees of freedom."""
    # spec: Abramowitz and Stegun 26.7.3, 26.7.4 - odd and even degrees of freedom in powers of the cosine.
    sin, cos = math.sin(angle), math.cos(angle)
    odd = freedom % 2 == 1
    term = cos if odd else 1.0
    terms = [] if freedom == 1 else [term]
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cos * cos * (k - 1) / k
        terms.append(term)
    series = sin * math.fsum(terms)
    return 2 / math.pi * (angle + series) if odd else series
