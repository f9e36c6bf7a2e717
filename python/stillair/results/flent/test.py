"""Runs of Flent's own tests (`[test]`): series under Flent's names, and the series that Flent derives from them."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from stillair.results.series import Flow, Series, Test
from stillair.results.statistics import jain

Values = list[float | None]

# An interval longer or shorter than usual by this factor is discarded.
_OUTLIER = 10.0
# Weight of the latest interval in the usual length.
_SMOOTHING = 0.5

# Prefixes of series from which Flent derives others.
_WAYS = ("TCP upload", "TCP download")


class Sample(NamedTuple):
    """A value and its time in seconds since the start."""

    t: float
    value: float


def flows(series: Series) -> list[Flow]:
    """The flows of the test."""
    return [flow for flow in series.flows if flow.flent is not None]


def parameters(test: Test) -> dict[str, str]:
    """Test parameters in addition to the name."""
    if test.streams is None:
        return {}
    way = "upload" if test.name.endswith("up") else "download"
    return {f"{way}_streams": str(test.streams)}


def throughput(series: Series, flow: Flow) -> list[Sample]:
    """Throughput of a TCP flow as netperf reports it: Mbit/s since its last report.

    It only reports when it has new data.

    Leaves out intervals ten times longer or shorter than usual, as Flent's netperf runner does.
    """
    samples: list[Sample] = []
    usual: float | None = None
    since = 0
    begun = False
    test = series.test
    ends = test.delay_ns + test.length_ns if test else series.duration_ns
    for step, count in enumerate(flow.bytes or []):
        # Steps end with the intervals. netperf does not run before and after its load.
        end = series.end_ns(step)
        if not begun and end > (test.delay_ns if test else 0):
            begun, since = True, step * series.step_ns
        if not count or not begun or step * series.step_ns >= ends:
            continue
        length = end - since
        fits = usual is None or length / _OUTLIER <= usual <= length * _OUTLIER
        if fits:
            samples.append(Sample(end / 1e9, _bytes_between(series, flow, since, end) * 8000 / length))
        usual = length if usual is None else _SMOOTHING * length + (1 - _SMOOTHING) * usual
        since = end
    return samples


def _bytes_between(series: Series, flow: Flow, since: int, end: int) -> int:
    first = since // series.step_ns
    return sum(count for step, count in enumerate(flow.bytes or []) if first <= step and series.end_ns(step) <= end)


def pings(flow: Flow) -> list[Sample]:
    """Round-trip times in ms."""
    return [Sample(ping.at_ns / 1e9, ping.rtt_ns / 1e6) for ping in flow.pings or []]


def on_grid(series: Series, samples: Sequence[Sample]) -> Values:
    """Mean of the samples in each step; `None` without samples."""
    found: list[list[float]] = [[] for _ in range(series.steps)]
    for t, value in samples:
        # A sample at the end of a step belongs to that step.
        step = math.ceil(round(t * 1e9) / series.step_ns) - 1
        found[min(max(step, 0), series.steps - 1)].append(value)
    return [math.fsum(values) / len(values) if values else None for values in found]


def made(results: dict[str, Values]) -> dict[str, Values]:
    """The series that Flent derives: averages, sums, fairness, the total, the mean of all pings."""
    found: dict[str, Values] = {}
    for begin in _WAYS:
        parts = [values for name, values in results.items() if name.startswith((f"{begin} ", f"{begin}::"))]
        if not parts:
            continue
        found[f"{begin} avg"] = _each(parts, _mean)
        found[f"{begin} sum"] = _each(parts, math.fsum)
        if any(name.startswith(f"{begin}::") for name in results):
            found[f"{begin} fairness"] = _each(parts, jain)
    sums = [values for name, values in found.items() if name.endswith(" sum")]
    if len(sums) > 1:
        found["TCP totals"] = _each(sums, math.fsum)
    rtts = [values for name, values in results.items() if name.startswith("Ping (ms)")]
    if len(sums) > 1 and rtts:
        found["Ping (ms) avg"] = _each(rtts, _mean)
    return found


def _each(parts: Iterable[Values], of: Callable[[list[float]], float | None]) -> Values:
    steps = ([value for value in step if value is not None] for step in zip(*parts, strict=True))
    return [of(values) if values else None for values in steps]


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
