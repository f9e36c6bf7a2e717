"""What a run measured of the air: who has it for how little, and what hidden stations cost."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stillair.results.sojourn import Delays

Run = Mapping[str, Any]
Resolved = Mapping[str, Any]

_MOST_OF_THE_AIR = 0.4
_LITTLE = 0.5
"""A station with the first share of the airtime is slow if in the same
time it carries less than the second part of what the others do."""

_OVERLAP = 0.05
"""Frames that overlap for less than this part of the time of data are what contention brings."""

_SERVES = ("data_us", "ack_us", "protection_us")


def slow_station(run: Run) -> str:
    """The station that has most of the air and carries little in it; empty if there is none."""
    stations: dict[str, Mapping[str, Any]] = {
        name: of for name, of in run.get("stations", {}).items() if of.get("airtime_share")
    }
    for name, of in stations.items():
        others = [other for key, other in stations.items() if key != name]
        share = sum(other["airtime_share"] for other in others)
        if of["airtime_share"] < _MOST_OF_THE_AIR or not share:
            continue
        usual = sum(other["goodput_mbps"] for other in others) / share
        if of["goodput_mbps"] / of["airtime_share"] < _LITTLE * usual:
            return name
    return ""


_STARVED = 0.5
"""A station is starved if it gets less than this part of an equal share of the airtime."""


def is_starved(station: str, ap: str, run: Run, resolved: Resolved) -> bool:
    """Returns true if an access point's round robin skips a station, which gets little airtime for it.

    That is ath9k of Linux 4.10 (`fq_mac` with `since = "linux-4.10"`): a station whose turn finds the hardware queue
    full loses its turn. A fast station fills the queue again and again.
    """
    return station in short_of_air(_shares(run)) and loses_turn(ap, resolved)


def _shares(run: Run) -> dict[str, float]:
    """Airtime by station, of those that have traffic."""
    return {name: of["airtime_share"] for name, of in run.get("stations", {}).items() if of.get("airtime_share")}


def short_of_air(shares: Mapping[str, float]) -> list[str]:
    """Stations with less than half of an equal share of the airtime."""
    return [name for name, share in shares.items() if share < _STARVED / len(shares)]


def loses_turn(ap: str, resolved: Resolved) -> bool:
    """Returns true if a station loses its turn at an access point whose hardware queue is full."""
    node, _, name = ap.partition(".")
    interfaces = (one for of in resolved["nodes"] if of["name"] == node for one in of["interfaces"])
    drivers = (one["medium"].get("driver") for one in interfaces if one["name"] == name)
    return any(isinstance(of, Mapping) and of.get("scheduler") == "round_robin_loses_turn" for of in drivers)


def starved(run: Run, resolved: Resolved) -> dict[str, str]:
    """Stations that an access point's round robin skips, each with that access point's interface."""
    found = {}
    for node in resolved["nodes"]:
        for interface in node["interfaces"]:
            ap = interface["medium"].get("role", {}).get("ap")
            if ap and is_starved(node["name"], ap, run, resolved):
                found[node["name"]] = ap
    return found


def starvation(run: Run, resolved: Resolved) -> list[str]:
    """A sentence for each starved station: its share, the cause, and the setting that helps."""
    shares = _shares(run)
    return [
        f"{name} gets {100 * shares[name]:.0f} % of the airtime because {place} shares turns, not airtime. In ath9k's"
        " round robin of Linux 4.10 (fq_mac), a station whose turn finds the hardware queue full loses its turn, and"
        " the faster station fills the queue again. Since 4.11, stations keep their turns, and airtime fairness is the"
        ' default: set scheme = "airtime".'
        for name, place in starved(run, resolved).items()
        if _is_late(name, run, shares)
    ]


_LATE, _LATE_MS = 2.0, 20.0
"""Packets to a starved station are later than those to others by this factor, and take longer than this."""


def _is_late(station: str, run: Run, shares: Mapping[str, float]) -> bool:
    """Returns true if packets to a station wait for long. A station with little traffic needs little airtime."""
    served = [_late_ms(name, run) for name in shares if name not in short_of_air(shares)]
    least = min((ms for ms in served if ms is not None), default=0.0)
    own = _late_ms(station, run)
    return own is not None and own > max(_LATE * least, _LATE_MS)


def _late_ms(station: str, run: Run) -> float | None:
    """The longest p95 of a station's pings and of the flows to it."""
    of = run["stations"].get(station, {})
    found = [of.get("ping_p95_ms"), of.get("udp_ping_p95_ms")]
    flows = run.get("flows", {}).items()
    found += [flow.get("delay_p95_ms") for name, flow in flows if name.rpartition(".")[2] == station]
    return max((ms for ms in found if ms is not None), default=None)


def starvation_over(over_runs: Mapping[str, Any], resolve: Callable[[], str]) -> list[str]:
    """The same of means over runs. `resolve` gives the resolved scenario as JSON, and is called only if needed."""
    run = {group: _means(over_runs.get(group) or {}) for group in ("stations", "flows")}
    return starvation(run, json.loads(resolve())) if short_of_air(_shares(run)) else []


def _means(of_each: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Means over runs, by name and key."""
    return {
        name: {key: value["mean"] for key, value in of.items() if isinstance(value, Mapping) and "mean" in value}
        for name, of in of_each.items()
    }


def hidden(run: Run) -> bool:
    """Whether senders began amid frames that they do not hear, and frames overlap for it."""
    begun = sum(losses.get("begun_amid", 0) for losses in run.get("losses", {}).values())
    channels = run.get("air", {}).values()
    overlap, data = (sum(uses.get(use, 0.0) for uses in channels) for use in ("overlap_us", "data_us"))
    return bool(begun) and overlap > _OVERLAP * data


def interfered(run: Run, resolved: Resolved) -> bool:
    """Whether interference that is no Wi-Fi was on the air of a channel, by the run's account.

    What is too weak to be sensed breaks frames and is in no account: of a channel that has it by its scenario, and on
    which nobody sensed it, that is taken for true.
    """
    weak = {channel["name"] for channel in resolved["channels"] if channel.get("interference")}
    return any(uses.get("noise_us", 0.0) > 0 or name in weak for name, uses in run.get("air", {}).items())


def failed_serving(run: Run, delays: Sequence[Delays], resolved: Resolved) -> float:
    """The part of what counts as serving packets that was of exchanges that failed.

    Where frames overlap, nobody knows how an exchange ends while it is under way, so that its time counts as serving.
    What has come is known from the packets' time on the air. 0 where all hear all.
    """
    if not hidden(run):
        return 0.0
    serves = sum(uses.get(use, 0.0) for uses in run["air"].values() if uses.get("overlap_us") for use in _SERVES)
    came = sum(_came_us(one, run) for one in delays if one.of == "station") * run["sojourn"]["sample"]
    whole = resolved["duration_ns"]
    measured = whole - resolved["warm_up_ns"] - resolved["cool_down_ns"]
    return max(0.0, 1 - came * whole / measured / serves) if serves and measured > 0 else 0.0


def _came_us(delays: Delays, run: Run) -> float:
    """Time of the exchanges in which a station's packets came, those of an aggregate together."""
    key = "mean_aggregate_up" if delays.way == "up" else "mean_aggregate"
    frames = run["stations"].get(delays.name, {}).get(key) or 1.0
    return sum(ns for (layer, _), ns in delays.total().items() if layer == "air") / frames / 1000
