"""What is good: how late packets are and how much comes through, each as one number of a run, and a score of both."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.explain import losses
from stillair.results.report import Run

GOALS = ("latency", "goodput", "balance")
KEPT = 0.8
"""Part of the goodput that has to stay where it is latency that counts."""
LATER = 1.1
"""How much later packets may be where it is goodput that counts."""
_LOST = 0.01
"""So much more of pings and calls may be lost than before."""
SAME = 0.02
"""Scores that differ by less are equal: then goodput decides between delays, and delay between goodputs."""
_GETS = 0.9
"""A flow of a fixed rate that gets this part of it or more is no transfer; one with random gaps may have three standard
deviations less."""
_STEEP = 10.0
"""A bound that is missed by a hundredth costs as much as a tenth of what counts."""


class Flow(NamedTuple):
    """Figures of one flow of which the delay counts."""

    name: str
    p95_ms: float | None
    loss: float | None
    """Share of the packets that the application misses, 0 to 1. `None` for streams and pages."""


class Measured(NamedTuple):
    """What a run is judged by."""

    latency_ms: float
    """Geometric mean over pings, calls, flows of a fixed rate and page loads of their 95th percentile; of all flows
    where there are none."""
    goodput_mbps: float
    """Geometric mean over the transfers, so that what starves one of them is no gain."""
    total_mbps: float
    loss: float
    """Part of pings and of the packets of calls and of flows of a fixed rate that was lost, the mean over them."""
    flows: tuple[Flow, ...] = ()
    """The flows, by name."""


class Counted(NamedTuple):
    """Which flows are transfers and take what they get, and which have a fixed rate and get it, by their names."""

    transfers: tuple[str, ...] = ()
    steady: tuple[str, ...] = ()


def counted(run: Run, resolved: Mapping[str, Any]) -> Counted:
    """What the flows of a scenario are, by a run of it as it is: they stay that whatever is changed."""
    offered = {name: (mbps, is_random) for name, mbps, is_random in _offered(resolved)}
    steady, transfers = list[str](), list[str]()
    for name, flow in run.get("flows", {}).items():
        if flow["protocol"] == "udp" and _gets(flow, *offered.get(name, (0.0, False))):
            steady.append(name)
        elif flow["protocol"] in ("tcp", "quic", "udp"):
            transfers.append(name)
    return Counted(tuple(transfers), tuple(steady))


def _gets(flow: Mapping[str, Any], offered_mbps: float, is_random: bool) -> bool:
    """Whether a flow of datagrams gets what it offers: neither is it lost nor does it wait before a full socket."""
    if not flow["packets"] or (flow["loss"] or 0.0) > 1 - _GETS:
        return False
    # Datagrams that come at random are not always as many: three standard deviations are chance.
    least = _GETS - (3 / math.sqrt(flow["packets"]) if is_random else 0.0)
    return bool(flow["goodput_mbps"] >= least * offered_mbps)


def _offered(resolved: Mapping[str, Any]) -> Iterator[tuple[str, float, bool]]:
    """Mbit/s that flows of datagrams offer over the time that is measured, and whether their gaps are random."""
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
    """The numbers of a run; none if something of which the delay counts never arrived."""
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
    """Calls, pings, flows of a fixed rate and pages; of a run without these all flows."""
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


def second(goal: str, after: Measured, before: Measured) -> float:
    """What decides where scores are equal, as a logarithm too: goodput beside delay, delay beside goodput."""
    if goal == "latency":
        return math.log(after.goodput_mbps / before.goodput_mbps)
    return -math.log(after.latency_ms / before.latency_ms) if goal == "goodput" else 0.0


def words(goal: str) -> str:
    """What a goal means, in a sentence."""
    return {
        "latency": f"the least delay at p95 that keeps {100 * KEPT:.0f} % of the goodput;"
        " of equal ones the most goodput",
        "goodput": f"the most goodput with p95 at most {100 * (LATER - 1):.0f} % later; of equal ones the least delay",
        "balance": "the most goodput over delay at p95",
    }[goal]


def dominated(one: Measured, other: Measured) -> bool:
    """Whether another has no less goodput and is no later, and is better in one of them."""
    better: list[Any] = [other.latency_ms <= one.latency_ms, other.goodput_mbps >= one.goodput_mbps]
    return all(better) and (other.latency_ms, other.goodput_mbps) != (one.latency_ms, one.goodput_mbps)
