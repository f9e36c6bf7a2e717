"""Finds stations that starve under an access point's round robin."""

import json
from collections.abc import Callable, Mapping
from typing import Any

Run = Mapping[str, Any]
Resolved = Mapping[str, Any]

_STARVED = 0.5
"""A station with less than this fraction of an equal airtime share is starved."""


def is_starved(station: str, ap: str, run: Run, resolved: Resolved) -> bool:
    """Returns true if an access point's round robin skips a station, which gets little airtime as a result.

    This happens with ath9k of Linux 4.10 (`fq_mac` with `kernel = "linux-4.10"`): a station whose turn finds
    the hardware queue full loses its turn. A fast station refills the queue again and again.
    """
    return station in short_of_air(_shares(run)) and loses_turn(ap, resolved)


def _shares(run: Run) -> dict[str, float]:
    """Airtime share by station, without idle stations.

    A share of 0 counts if a flow or ping is addressed to the station: nothing was sent to it in the measured
    time.
    """
    shares = {name: of.get("airtime_share") for name, of in run.get("stations", {}).items()}
    return {name: share for name, share in shares.items() if share or (share == 0 and _is_addressed(name, run))}


def _is_addressed(station: str, run: Run) -> bool:
    """Returns true if a flow or ping goes to the station."""
    names = (name for group in ("flows", "pings") for name in run.get(group, {}))
    return any(name.rpartition(".")[2] == station for name in names)


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
"""Packets to a starved station are later than those to others by this factor, and by this time."""


def _is_late(station: str, run: Run, shares: Mapping[str, float]) -> bool:
    """Returns true if packets to a station wait for long, or if nothing was sent to it.

    Otherwise the station may simply have little traffic.
    """
    if shares[station] == 0:
        return True
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
    """Sentences for means over runs. `resolve` returns the resolved scenario as JSON and is only called if needed."""
    run = {group: _means(over_runs.get(group) or {}) for group in ("stations", "flows", "pings")}
    return starvation(run, json.loads(resolve())) if short_of_air(_shares(run)) else []


def _means(of_each: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Means over runs, by name and key."""
    return {
        name: {key: value["mean"] for key, value in of.items() if isinstance(value, Mapping) and "mean" in value}
        for name, of in of_each.items()
    }
