"""What is good: how late packets are and how much comes through, each as one number of a run, and a score of both."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.results.report import Run

GOALS = ("latency", "goodput", "balance")
KEPT = 0.8
"""Part of the goodput that has to stay where it is latency that counts."""
LATER = 1.1
"""How much later packets may be where it is goodput that counts."""
_LOST = 0.01
"""So much more of pings and calls may be lost than before."""
_STEEP = 10.0
"""A bound that is missed by a hundredth costs as much as a tenth of what counts."""


class Measured(NamedTuple):
    """What a run is judged by."""

    latency_ms: float
    """Geometric mean over pings, calls and page loads of their 95th percentile; of all flows where there are none."""
    goodput_mbps: float
    """Geometric mean over the flows that carry data, so that what starves one of them is no gain."""
    total_mbps: float
    loss: float
    """Part of pings and of calls' packets that was lost, the mean over them."""


def measured(run: Run) -> Measured | None:
    """The numbers of a run; none if something of which the delay counts never arrived."""
    late = list(_late(run)) or [flow["delay_p95_ms"] for flow in run.get("flows", {}).values()]
    found = [ms for ms in late if ms is not None]
    if len(found) < len(late) or not late:
        return None
    flows = list(run.get("flows", {}).values())
    bulk = [flow["goodput_mbps"] for flow in flows if flow["protocol"] in ("tcp", "udp", "quic")]
    losses = [ping["loss"] or 0.0 for ping in run.get("pings", {}).values()]
    losses += [call["loss"] for call in run.get("voip", {}).values()]
    goodput = _mean(bulk or [flow["goodput_mbps"] for flow in flows] or [1.0])
    return Measured(_mean(found), goodput, run["goodput_total_mbps"], sum(losses) / len(losses) if losses else 0.0)


def _late(run: Run) -> Iterator[float | None]:
    for ping in run.get("pings", {}).values():
        yield ping["p95_ms"]
    for flow in run.get("flows", {}).values():
        if flow["protocol"] == "voip":
            yield flow["delay_p95_ms"]
    for page in run.get("web", {}).values():
        yield None if page["p95_s"] is None else 1000 * page["p95_s"]


def _mean(values: list[float]) -> float:
    # A flow of which nothing came has a thousandth of 1 Mbit/s: bad, and still a number.
    return math.exp(math.fsum(math.log(max(value, 1e-3)) for value in values) / len(values))


def check(goal: str) -> None:
    """An `InputError` if there is no such goal."""
    if goal not in GOALS:
        raise InputError(f'--for: found "{goal}", expected one of {", ".join(GOALS)}')


def score(goal: str, after: Measured, before: Measured) -> float:
    """How much better it is than before: natural logarithm of a ratio, 0 for the same; less where a bound is missed."""
    later = math.log(after.latency_ms / before.latency_ms)
    more = math.log(after.goodput_mbps / before.goodput_mbps)
    lost = max(0.0, after.loss - before.loss - _LOST)
    if goal == "latency":
        return -later - _STEEP * (max(0.0, math.log(KEPT) - more) + lost)
    if goal == "goodput":
        return more - _STEEP * (max(0.0, later - math.log(LATER)) + lost)
    # paper: L. Kleinrock, Power and deterministic rules of thumb (1979) - throughput over delay.
    return more - later - _STEEP * lost


def words(goal: str) -> str:
    """What a goal means, in a sentence."""
    return {
        "latency": f"the least delay at p95 that keeps {100 * KEPT:.0f} % of the goodput",
        "goodput": f"the most goodput with p95 at most {100 * (LATER - 1):.0f} % later",
        "balance": "the most goodput over delay at p95",
    }[goal]


def dominated(one: Measured, other: Measured) -> bool:
    """Whether another has no less goodput and is no later, and is better in one of them."""
    better: list[Any] = [other.latency_ms <= one.latency_ms, other.goodput_mbps >= one.goodput_mbps]
    return all(better) and (other.latency_ms, other.goodput_mbps) != (one.latency_ms, one.goodput_mbps)
