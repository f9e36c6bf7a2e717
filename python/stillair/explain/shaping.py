"""Cake before an access line: what a router has there, and the scenario's keys for another rate of it."""

from collections.abc import Mapping
from typing import Any

from stillair.explain.access import Framing

Options = dict[str, Any]
"""Options of a cake, as a scenario has them."""

_RTT_NS = 100_000_000
"""What cake takes a round trip for by itself."""
_OTHER_WAY = {
    "srchost": "dsthost",
    "dsthost": "srchost",
    "dual-srchost": "dual-dsthost",
    "dual-dsthost": "dual-srchost",
}


def kept(interface: Mapping[str, Any]) -> dict[str, Options]:
    """What the cakes of both directions have beside rate and framing.

    Of one that is alone the other direction gets what is of no direction: the hosts at home are the sources of what
    leaves and the destinations of what comes in, and neither DSCP nor acknowledgements are the same matter both ways.
    """
    there = {"down": interface.get("ingress"), "up": interface["qdisc"]["config"]}
    found = {way: options(one) for way, one in there.items() if one and one["kind"] == "cake" and one["bandwidth_bps"]}
    if len(found) == 1:
        ((way, one),) = found.items()
        other = {key: value for key, value in one.items() if key not in ("ingress", "wash", "ack_filter")}
        if one.get("isolation") in _OTHER_WAY:
            other["isolation"] = _OTHER_WAY[one["isolation"]]
        found["up" if way == "down" else "down"] = other
    return {way: found.get(way, {}) for way in ("down", "up")}


def options(cake: Mapping[str, Any]) -> Options:
    """The options of a resolved cake that are not the default, without rate and framing."""
    defaults = (("tins", "diffserv3"), ("isolation", "triple-isolate"), ("ack_filter", "no-ack-filter"))
    made: Options = {key: cake[key] for key, default in defaults if cake[key] != default}
    made |= {key: True for key in ("ingress", "wash") if cake[key]}
    if not cake["split_gso"]:
        made["split_gso"] = False
    if cake["rtt_ns"] != _RTT_NS:
        made["rtt"] = f"{max(1, cake['rtt_ns'] // 1000)} us"
    if cake["memlimit_bytes"]:
        made["memlimit"] = f"{cake['memlimit_bytes']} B"
    return made


def masquerades(interface: Mapping[str, Any]) -> bool:
    """Whether a cake at it sees one host for all behind it, but for `nat`."""

    def hides(discipline: Mapping[str, Any] | None) -> bool:
        return discipline is not None and (discipline.get("masquerade") is True or hides(discipline.get("child")))

    return hides(interface.get("ingress")) or hides(interface["qdisc"]["config"])


def framed(of: Mapping[str, Any], framing: Framing, hidden: bool) -> Options:
    """Options of a cake with the line's framing, and with `nat` where hosts would be one (`hidden`)."""
    # A scenario takes `nat` only where something masquerades; elsewhere its hosts are told apart without it.
    nat = {"nat": True} if hidden and of.get("isolation") not in ("flows", "flowblind") else {}
    overhead = {} if framing.overhead is None else {"overhead": framing.overhead}
    return {**of, **nat, **overhead, "mpu": framing.mpu, "atm": framing.atm}


def keys(cakes: Mapping[str, Options], rates: Mapping[str, str], has_qdisc: bool) -> dict[str, dict[str, Any]]:
    """Tables of an interface that set a cake for both directions, each whole.

    One that has a discipline of its own in the file (`has_qdisc`) keeps it so: beside it a shaper has `down` alone.
    """
    cake = {way: {"kind": "cake", **one} for way, one in cakes.items()}
    if not has_qdisc:
        down = {"qdisc_down": cake["down"]} if cake["down"] != cake["up"] else {}
        return {"shaper": {**rates, "qdisc": cake["up"], **down}}
    leaves = {"kind": "cake", "bandwidth": rates["up"], **cakes["up"]}
    return {"shaper": {"down": rates["down"], "qdisc": cake["down"]}, "qdisc": leaves}
