"""Airtime of a run: slow stations that use most of it, and the cost of hidden stations."""

from collections.abc import Mapping, Sequence
from typing import Any

from stillair.results.sojourn import Delays

Run = Mapping[str, Any]
Resolved = Mapping[str, Any]

_MOST_OF_THE_AIR = 0.4
_LITTLE = 0.5
"""A station is slow if it has the first share of the airtime, but carries less than the second share of the
others' throughput per airtime."""

_OVERLAP = 0.05
"""Overlap below this share of data airtime is normal contention."""

_SERVES = ("data_us", "ack_us", "protection_us")


def slow_station(run: Run) -> str:
    """Returns the station that uses most of the airtime and carries little; empty if there is no such station."""
    stations: dict[str, Mapping[str, Any]] = {
        name: of for name, of in run.get("stations", {}).items() if of.get("airtime_share")
    }
    for name, of in stations.items():
        others = [other for key, other in stations.items() if key != name]
        share = sum(other["airtime_share"] for other in others)
        if of["airtime_share"] < _MOST_OF_THE_AIR or not share:
            continue
        usual = sum(other["goodput_mbps"] or 0.0 for other in others) / share
        if (of["goodput_mbps"] or 0.0) / of["airtime_share"] < _LITTLE * usual:
            return name
    return ""


def hidden(run: Run) -> bool:
    """Returns true if senders start during frames that they cannot sense, and frames overlap for a relevant time."""
    begun = sum(losses.get("begun_amid", 0) for losses in run.get("losses", {}).values())
    channels = run.get("air", {}).values()
    overlap, data = (sum(uses.get(use, 0.0) for uses in channels) for use in ("overlap_us", "data_us"))
    return bool(begun) and overlap > _OVERLAP * data


def interfered(run: Run, resolved: Resolved) -> bool:
    """Returns true if a channel had non-Wi-Fi interference.

    Interference too weak to be sensed corrupts frames but does not appear in the accounting. If the scenario
    has interference on a channel and no radio sensed it, this function assumes that it did.
    """
    weak = {channel["name"] for channel in resolved["channels"] if channel.get("interference")}
    return any(uses.get("noise_us", 0.0) > 0 or name in weak for name, uses in run.get("air", {}).items())


def failed_serving(run: Run, delays: Sequence[Delays], resolved: Resolved) -> float:
    """Returns the share of time counted as serving packets that was spent on failed exchanges.

    If frames overlap, the outcome of an exchange is unknown while it is in progress, so its time counts as
    serving. The successful part follows from the airtime of delivered packets. 0 if all stations hear each
    other.
    """
    if not hidden(run):
        return 0.0
    serves = sum(uses.get(use, 0.0) for uses in run["air"].values() if uses.get("overlap_us") for use in _SERVES)
    came = sum(_came_us(one, run) for one in delays if one.of == "station") * run["sojourn"]["sample"]
    whole = resolved["duration_ns"]
    measured = whole - resolved["warm_up_ns"] - resolved["cool_down_ns"]
    return max(0.0, 1 - came * whole / measured / serves) if serves and measured > 0 else 0.0


def _came_us(delays: Delays, run: Run) -> float:
    """Airtime of the exchanges that delivered a station's packets, counting aggregates once."""
    key = "mean_aggregate_up" if delays.way == "up" else "mean_aggregate"
    frames = run["stations"].get(delays.name, {}).get(key) or 1.0
    return sum(ns for (layer, _), ns in delays.total().items() if layer == "air") / frames / 1000
