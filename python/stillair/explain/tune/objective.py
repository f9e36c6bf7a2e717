"""The objective: packet delay and goodput of a run, one number each, and a score."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.explain import losses
from stillair.results.report import Run

GOALS = ("latency", "goodput", "balance")
KEPT = 0.8
"""Share of the goodput to keep if the goal is latency."""
LATER = 1.1
"""Allowed increase of the delay if the goal is goodput."""
_LOST = 0.01
"""Allowed increase of the loss of pings and calls."""
SAME = 0.02
"""Scores closer than this are equal. The tie is then decided by goodput (for delay) or delay (for
goodput)."""
_GETS = 0.9
"""A fixed-rate flow that gets at least this share of its rate is not a transfer. With random gaps, three
standard deviations less are allowed."""
_STEEP = 10.0
"""Weight of a violated bound: 1 % costs as much as 10 % of the objective."""


class Flow(NamedTuple):
    """Figures of a flow whose delay counts."""

    name: str
    p95_ms: float | None
    loss: float | None
    """Share of the packets that the application misses, 0 to 1. `None` for streams and pages."""


class Measured(NamedTuple):
    """Figures that score a run."""

    latency_ms: float
    """Geometric mean of the p95 of pings, calls, fixed-rate flows and page loads; of all flows if there are
    none of these."""
    goodput_mbps: float
    """Geometric mean over the transfers, so that starving one of them is no gain."""
    total_mbps: float
    loss: float
    """Mean loss of pings, calls and fixed-rate flows."""
    flows: tuple[Flow, ...] = ()
    """The flows by name."""


class Counted(NamedTuple):
    """Names of the transfers, which take what they get, and of fixed-rate flows that get their rate."""

    transfers: tuple[str, ...] = ()
    steady: tuple[str, ...] = ()


def counted(run: Run, resolved: Mapping[str, Any]) -> Counted:
    """Classifies the flows by a run of the unchanged scenario. The classes stay fixed during the search."""
    offered = {name: (mbps, is_random) for name, mbps, is_random in _offered(resolved)}
    steady, transfers = list[str](), list[str]()
    for name, flow in run.get("flows", {}).items():
        if flow["protocol"] == "udp" and _gets(flow, *offered.get(name, (0.0, False))):
            steady.append(name)
        elif flow["protocol"] in ("tcp", "quic", "udp"):
            transfers.append(name)
    return Counted(tuple(transfers), tuple(steady))


def _gets(flow: Mapping[str, Any], offered_mbps: float, is_random: bool) -> bool:
    """Returns true if a UDP flow gets what it offers, without loss and without waiting for a full socket."""
    if not flow["packets"] or (flow["loss"] or 0.0) > 1 - _GETS:
        return False
    # The number of datagrams with random gaps varies; allow three standard deviations.
    least = _GETS - (3 / math.sqrt(flow["packets"]) if is_random else 0.0)
    return bool(flow["goodput_mbps"] >= least * offered_mbps)


def _offered(resolved: Mapping[str, Any]) -> Iterator[tuple[str, float, bool]]:
    """Rate that UDP flows offer over the measured time in Mbit/s, and whether their gaps are random."""
    begin, end = resolved["warm_up_ns"], resolved["duration_ns"]
    for flow in resolved["flows"]:
        traffic = flow["traffic"]
        if traffic["kind"] == "udp":
            rates = traffic["rates_bps"]
        elif traffic["kind"] == "video":
            rates = [traffic["rate_bps"]]
        else:
            continue
        stop = end if flow["stop_ns"] is None else min(flow["stop_ns"], end)
        part = max(0, stop - max(flow["start_ns"] + flow["start_spread_ns"], begin)) / max(end - begin, 1)
        for at, to in enumerate(flow["to"]):
            mbps = part * rates[min(at, len(rates) - 1)] / 1e6
            yield f"{flow['name']}.{to}", mbps, traffic.get("gap", "periodic") != "periodic"


def measured(run: Run, steady: Collection[str] = ()) -> Measured | None:
    """Returns the figures of a run; `None` if a flow whose delay counts received nothing."""
    late = list(_late(run, steady)) or [flow["delay_p95_ms"] for flow in run.get("flows", {}).values()]
    found = [ms for ms in late if ms is not None]
    if len(found) < len(late) or not late:
        return None
    flows = run.get("flows", {})
    bulk = [
        flow["goodput_mbps"]
        for name, flow in flows.items()
        if flow["protocol"] in ("tcp", "udp", "quic") and name not in steady
    ]
    lossy = [*run.get("pings", {}), *run.get("voip", {}), *(name for name in flows if name in steady)]
    lost = [losses.part(name, run) or 0.0 for name in lossy]
    goodput = _mean(bulk or [flow["goodput_mbps"] for flow in flows.values()] or [1.0])
    of = tuple(_figures(run, steady))
    return Measured(_mean(found), goodput, run["goodput_total_mbps"], sum(lost) / len(lost) if lost else 0.0, of)


def _figures(run: Run, steady: Collection[str]) -> Iterator[Flow]:
    """Calls, pings, fixed-rate flows and pages; all flows if there are none of these."""
    flows = run.get("flows", {})
    names = [name for name, flow in flows.items() if flow["protocol"] == "voip" or name in steady]
    for name in run.get("pings", {}):
        yield Flow(name, run["pings"][name]["p95_ms"], losses.part(name, run))
    for name in names if names or run.get("pings") or run.get("web") else flows:
        yield Flow(name, flows[name]["delay_p95_ms"], losses.part(name, run))
    for name, page in run.get("web", {}).items():
        yield Flow(name, None if page["p95_s"] is None else 1000 * page["p95_s"], None)


def _late(run: Run, steady: Collection[str]) -> Iterator[float | None]:
    for ping in run.get("pings", {}).values():
        yield ping["p95_ms"]
    for name, flow in run.get("flows", {}).items():
        if flow["protocol"] == "voip" or name in steady:
            yield flow["delay_p95_ms"]
    for page in run.get("web", {}).values():
        yield None if page["p95_s"] is None else 1000 * page["p95_s"]


def _mean(values: list[float]) -> float:
    # A flow without any goodput counts as 0.001 Mbit/s, to keep the logarithm finite.
    return math.exp(math.fsum(math.log(max(value, 1e-3)) for value in values) / len(values))


def check(goal: str) -> None:
    """Raises `InputError` for an unknown goal."""
    if goal not in GOALS:
        raise InputError(f'--for: found "{goal}", expected one of {", ".join(GOALS)}')


def score(goal: str, after: Measured, before: Measured) -> float:
    """Improvement as the natural logarithm of a ratio; 0 for no change, and reduced if a bound is violated."""
    later = math.log(after.latency_ms / before.latency_ms)
    more = math.log(after.goodput_mbps / before.goodput_mbps)
    lost = max(0.0, after.loss - before.loss - _LOST)
    if goal == "latency":
        return -later - _STEEP * (max(0.0, math.log(KEPT) - more) + lost)
    if goal == "goodput":
        return more - _STEEP * (max(0.0, later - math.log(LATER)) + lost)
    # paper: L. Kleinrock, Power and deterministic rules of thumb (1979) - throughput over delay.
    return more - later - _STEEP * lost


def second(goal: str, after: Measured, before: Measured) -> float:
    """Tie-break for equal scores, as a logarithm: goodput for latency, delay for goodput."""
    if goal == "latency":
        return math.log(after.goodput_mbps / before.goodput_mbps)
    return -math.log(after.latency_ms / before.latency_ms) if goal == "goodput" else 0.0


def words(goal: str) -> str:
    """Describes a goal in a sentence."""
    return {
        "latency": f"the lowest delay at p95 that keeps {100 * KEPT:.0f} % of the goodput; ties are decided by goodput",
        "goodput": f"the most goodput with p95 at most {100 * (LATER - 1):.0f} % higher; ties are decided by delay",
        "balance": "the highest ratio of goodput to delay at p95",
    }[goal]


def dominated(one: Measured, other: Measured) -> bool:
    """Returns true if `other` is at least as good in delay and goodput, and better in one of them."""
    better: list[Any] = [other.latency_ms <= one.latency_ms, other.goodput_mbps >= one.goodput_mbps]
    return all(better) and (other.latency_ms, other.goodput_mbps) != (one.latency_ms, one.goodput_mbps)
