"""Samples of a run, and the papers' statistics of them: percentiles, loss cycles, dips."""

from collections.abc import Collection, Mapping
from statistics import median
from typing import Any

from stillair.results.report import Run, Socket
from stillair.results.result import Result
from stillair.results.statistics import percentile
from stillair_lab.papers.measure import quic
from stillair_lab.sawtooth import cuts

# A dip is below this share of the surrounding level. Its samples belong together if they are no further apart
# than this.
_DIP = 0.75
_AROUND_S = 2.0
_TOGETHER_S = 1.0

# Throughput by direction, with the prefix of the series' names.
_WAYS = {"tcp_mbps": "TCP ", "up_mbps": "TCP upload", "down_mbps": "TCP download"}

Curve = list[tuple[float, float]]
"""Times in seconds, and values."""


def of_run(
    result: Result, run: Run, what: str, statistic: str, stations: Collection[str] | None = None
) -> float | None:
    """A statistic of a run's samples; `None` with too few samples.

    `what` is `srtt_ms` or `pacing_mbps` of all sockets, `ping_ms` of all or the given stations, or
    `goodput_mbps` of all flows together. For Flent tests: `tcp_mbps`, `up_mbps`, `down_mbps`, the throughput
    of the TCP flows in each measured step, in total and by direction; `lead_mbps`, by which downloads exceed
    uploads; `gap_mbps`, the absolute difference of the directions.

    `quic.` with a key of the summary of QUIC flows is their mean. `quic.gaps` is the histogram of times
    between datagrams in the sender's capture, with the statistics `mode1` and `mode2`, its two highest peaks
    in us in ascending order, and `cv`, its coefficient of variation. `quic.acks_20ms` counts datagrams
    received in 20 ms.

    Statistics are `mean`, and `p10` and the like, of all samples; of the flows' mean over time also `cycles`,
    the number of cuts, and `dips_s`, the mean time between short dips.
    """
    if what.startswith("quic."):
        return quic.of_run(run, what.removeprefix("quic."), statistic)
    if what in ("lead_mbps", "gap_mbps"):
        up, down = (of_run(result, run, way, "mean") for way in ("up_mbps", "down_mbps"))
        if up is None or down is None:
            return None
        return abs(down - up) if what == "gap_mbps" else down - up
    if statistic in ("cycles", "dips_s"):
        curve = over_time(run, what)
        return float(len(cuts([value for _, value in curve]))) if statistic == "cycles" else _between_dips(curve)
    if what in _WAYS:
        values = carried(result, run, what)
    else:
        values = pings(result, run, stations) if what == "ping_ms" else _pooled(run, what)
    if not values:
        return None
    return sum(values) / len(values) if statistic == "mean" else percentile(values, float(statistic.removeprefix("p")))


def pings(result: Result, run: Run, stations: Collection[str] | None = None) -> list[float]:
    """Round-trip times in ms of ICMP pings to all or the given stations, for replies within the measured time."""
    series = result.run_with_series(run["run"]).series
    since, until = series.measured_ns()
    return [
        ping.rtt_ns / 1_000_000
        for flow in series.flows
        if flow.kind == "ping" and (stations is None or flow.station in stations)
        for ping in flow.pings or ()
        if since <= ping.at_ns < until
    ]


def carried(result: Result, run: Run, what: str) -> list[float]:
    """Total throughput of a test's TCP flows in each measured step, in Mbit/s."""
    series = result.run_with_series(run["run"]).series
    flows = [flow for flow in series.flows if flow.flent is not None and flow.flent.startswith(_WAYS[what])]
    by_flow = [series.mbps(flow)[series.measured_steps()] for flow in flows]
    return [sum(values) for values in zip(*by_flow, strict=True)]


def over_time(run: Run, what: str) -> Curve:
    """Mean of all sockets with a round-trip time (`srtt_ms`), or the sum of their goodput (`goodput_mbps`)."""
    at: dict[float, list[float]] = {}
    for socket in run["sockets"].values():
        for t, value in _goodput(socket) if what == "goodput_mbps" else _srtt(socket):
            at.setdefault(t, []).append(value)
    return [(t, sum(v) if what == "goodput_mbps" else sum(v) / len(v)) for t, v in sorted(at.items())]


def _pooled(run: Run, what: str) -> list[float]:
    if what == "goodput_mbps":
        return [value for _, value in over_time(run, what)]
    if what == "pacing_mbps":
        return [value for socket in run["sockets"].values() for value in socket["pacing_mbps"] if value]
    return [value for socket in run["sockets"].values() for _, value in _srtt(socket)]


def _srtt(socket: Socket) -> Curve:
    # A socket has no round-trip time before its first measurement.
    return [(t, value) for t, value in zip(socket["t_s"], socket["srtt_ms"], strict=True) if value]


def _goodput(socket: Mapping[str, Any]) -> Curve:
    """Bytes acknowledged since the previous sample, or since the start."""
    curve: Curve = []
    before, had = 0.0, 0
    for t, acked in zip(socket["t_s"], socket["bytes_acked"], strict=True):
        if t > before:
            curve.append((t, (acked - had) * 8 / 1_000_000 / (t - before)))
        before, had = t, acked
    return curve


def _between_dips(curve: Curve) -> float | None:
    begun: list[float] = []
    last = -_TOGETHER_S
    # The start of a flow is not a dip.
    for t, value in (point for point in curve if point[0] >= _AROUND_S):
        usual = median(other for at, other in curve if abs(at - t) <= _AROUND_S)
        if value < _DIP * usual:
            if t - last > _TOGETHER_S:
                begun.append(t)
            last = t
    return (begun[-1] - begun[0]) / (len(begun) - 1) if len(begun) > 1 else None
