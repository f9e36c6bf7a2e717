"""A run of one of Flent's tests (`[test]`): its series under Flent's names, with what Flent makes of them."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from stillair.results.series import Flow, Series, Test
from stillair.results.statistics import jain

Values = list[float | None]

# An interval so many times as long as the usual one, or so much shorter, is no measurement.
_OUTLIER = 10.0
# How much of the usual length is that of the last interval.
_SMOOTHING = 0.5

# Series of which Flent makes others begin so.
_WAYS = ("TCP upload", "TCP download")


class Sample(NamedTuple):
    """A value, and when it was taken in seconds since the start."""

    t: float
    value: float


def flows(series: Series) -> list[Flow]:
    """The flows of the test."""
    return [flow for flow in series.flows if flow.flent is not None]


def parameters(test: Test) -> dict[str, str]:
    """What Flent was told beside the test's name."""
    if test.streams is None:
        return {}
    way = "upload" if test.name.endswith("up") else "download"
    return {f"{way}_streams": str(test.streams)}


def throughput(series: Series, flow: Flow) -> list[Sample]:
    """What netperf says of a TCP flow: Mbit/s since it last said something, which it does when there is something new.

    An interval more than ten times as long or short as usual is left out: the rule of Flent's netperf runner.
    """
    samples: list[Sample] = []
    usual: float | None = None
    since = 0
    begun = False
    test = series.test
    ends = test.delay_ns + test.length_ns if test else series.duration_ns
    for step, count in enumerate(flow.bytes or []):
        # Steps end when intervals do. Before its load and after it netperf does not run.
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
    """Samples by step: the mean of a step's, nothing where there is none."""
    found: list[list[float]] = [[] for _ in range(series.steps)]
    for t, value in samples:
        # A sample at the end of a step is of that step.
        step = math.ceil(round(t * 1e9) / series.step_ns) - 1
        found[min(max(step, 0), series.steps - 1)].append(value)
    return [math.fsum(values) / len(values) if values else None for values in found]


def made(results: dict[str, Values]) -> dict[str, Values]:
    """What Flent makes of the series: averages, sums, fairness, the total, the mean of all pings."""
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
