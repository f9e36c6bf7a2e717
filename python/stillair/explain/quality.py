"""Quality of Outcome: a path scored against an application's needs (draft-ietf-ippm-qoo-09, text of 2026-05-19)."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.explain import losses
from stillair.results.statistics import percentile
from stillair.results.tidy import Measured
from stillair.text import shape, source


class Bounds(NamedTuple):
    """Bounds of optimal (ROP) and unacceptable (CPUP) performance."""

    optimal: float
    unacceptable: float

    def part(self, measured: float) -> float:
        """1 at or better than optimal, 0 at or worse than unacceptable, linear between."""
        return min(1.0, max(0.0, 1 - (measured - self.optimal) / (self.unacceptable - self.optimal)))


@dataclass(frozen=True)
class Requirement:
    """Requirements of an application. Latencies are round trips for pings and one-way delays for calls."""

    latency_ms: Mapping[float, Bounds]
    """Latency bounds by percentile."""
    loss: Bounds
    """Loss bounds, as shares of all packets (0 to 1)."""
    throughput_mbps: float = 0.0
    """Least throughput of a loaded station: goodput of all its flows, both directions."""

    @classmethod
    def load(cls, path: str | Path) -> "Requirement":
        """Reads a TOML file. Raises `InputError` for a malformed one.

        `latency_ms = [[99, 200, 500], [99.9, 300, 600]]` lists percentiles with their optimal and
        unacceptable values, `loss = [0.01, 0.05]` is the optimal and unacceptable share of lost packets, and
        `throughput_mbps = 4` the least throughput, 0 by default.
        """
        try:
            found = tomllib.loads(source.text(path, "requirements"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: byte {error.start} is not UTF-8") from None
        except (ValueError, RecursionError) as why:
            raise InputError(f"{path}: found malformed TOML ({why}), expected latency_ms and loss") from None
        shape.check(found, _FILE, path)
        latency = {float(at): Bounds(float(good), float(bad)) for at, good, bad in found["latency_ms"]}
        return cls(latency, Bounds(*map(float, found["loss"])), float(found.get("throughput_mbps", 0)))


class Outcome(NamedTuple):
    """A score from 0 to 100: the lowest of its evaluated parts."""

    score: float
    latency: float
    loss: float
    throughput: float | None
    """`None` if not evaluated."""


def outcome(need: Requirement, latencies_ms: Sequence[float], loss: float, throughput_mbps: float | None) -> Outcome:
    """Scores measured latencies, of which there must be at least one, the share of lost packets, and a throughput.

    Percentiles are interpolated between neighbours. A throughput of `None` is not evaluated.
    """
    latency = 100 * min(bounds.part(percentile(latencies_ms, at)) for at, bounds in need.latency_ms.items())
    parts = (latency, 100 * need.loss.part(loss))
    throughput = None
    if throughput_mbps is not None:
        throughput = 100.0 if throughput_mbps >= need.throughput_mbps else 0.0
    return Outcome(min(*parts, 100.0 if throughput is None else throughput), *parts, throughput)


def _rising(value: Sequence[float]) -> None:
    optimal, unacceptable = value[-2:]
    if optimal >= unacceptable:
        found, expected = (
            f"{optimal:g}, then {unacceptable:g}",
            "the optimum, then a greater value that is unacceptable",
        )
        raise shape.Misfit(found, expected)


def _of_percentile(value: Sequence[float]) -> None:
    if not 0 <= value[0] <= 100:
        raise shape.Misfit(f"{value[0]:g}", "a percentile from 0 to 100, such as 99.9", 0)


def _unknown(value: object) -> None:
    raise shape.Misfit(shape.shown(value), "latency_ms, loss and throughput_mbps alone")


_LATENCY = shape.both(shape.row(shape.number, shape.number, shape.number), _of_percentile, _rising)
_LOSS = shape.both(shape.row(shape.number, shape.number), _rising)
_FILE = shape.record(
    {"latency_ms": shape.each(_LATENCY, least=1), "loss": _LOSS}, {"throughput_mbps": shape.number}, rest=_unknown
)


def of_run(measured: Measured, need: Requirement) -> dict[str, Outcome]:
    """Scores each ping (round trips) and call (one way) of a run, over the measured time.

    Lost packets, packets skipped by the sender, and packets too late for playout count as lost.

    The throughput is the goodput of the flow's station. It is evaluated if it suffices, or if the station was
    loaded: the goodput of an idle station says nothing about the path.
    """
    found = {}
    since, until = measured.series.measured_ns()
    for flow in measured.series.flows:
        lost = losses.part(flow.name, measured.summary)
        samples = [(ping.at_ns, ping.rtt_ns) for ping in flow.pings or ()]
        # As in the summary, packets of a call count by the time at which they were due.
        samples += [(packet.at_ns - packet.delay_ns, packet.delay_ns) for packet in flow.voip or ()]
        latencies = [ns / 1e6 for at, ns in samples if since <= at <= until]
        # A call or ping without any arrival has no delay, and is unacceptable.
        if latencies or (lost == 1.0 and _is_judged(flow.name, measured)):
            throughput = _throughput(measured, flow.station, need.throughput_mbps)
            found[flow.name] = outcome(need, latencies or [math.inf], lost or 0.0, throughput)
    return found


def videos_of(summary: Mapping[str, Any]) -> list[str]:
    """Names of the video flows of a run, which have no score."""
    flows: Mapping[str, Mapping[str, Any]] = summary.get("flows") or {}
    calls: Mapping[str, Any] = summary.get("voip") or {}
    # Only calls and videos skip datagrams.
    return [name for name, of in flows.items() if of.get("skipped") is not None and name not in calls]


def _is_judged(name: str, measured: Measured) -> bool:
    """Returns true for calls and pings."""
    groups: list[Mapping[str, Any]] = [measured.summary.get("voip") or {}, measured.summary.get("pings") or {}]
    return any(name in group for group in groups)


_STEADY = 0.9
"""A TCP flow that delivers in at least this share of the steps always has data to send."""


def _throughput(measured: Measured, station: str | None, least_mbps: float) -> float | None:
    """Goodput of a station; `None` without a station, or if less than the requirement was offered."""
    of = measured.summary["stations"].get(station or "")
    if of is None:
        return None
    carried: float = of["goodput_mbps"] or 0.0
    return carried if carried >= least_mbps or _loaded(measured, station, least_mbps) else None


def _loaded(measured: Measured, station: str | None, least_mbps: float) -> bool:
    """Returns true if TCP kept the station busy all the time, or UDP offered at least this rate."""
    flows: Mapping[str, Mapping[str, Any]] = measured.summary.get("flows") or {}
    offered = 0.0
    for flow in measured.series.flows:
        of = flows.get(flow.name)
        if flow.station != station or flow.bytes is None or of is None:
            continue
        if of.get("protocol") == "tcp":
            steps = flow.bytes[measured.series.measured_steps()]
            # A flow waiting for a retransmission time-out has data to send.
            if of.get("timeouts") or sum(map(bool, steps)) >= _STEADY * max(1, len(steps)):
                return True
        loss = of.get("loss")
        if loss is not None and loss < 1:
            offered += (of.get("goodput_mbps") or 0.0) / (1 - loss)
    return offered >= least_mbps
