"""Access lines, the routers' shapers before them, and the nodes on each side of an interface."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stillair.text import shape

Resolved = Mapping[str, Any]

_FRAMING = {"overhead_bytes": shape.maybe(shape.whole(-64)), "mpu_bytes": shape.whole(), "atm": shape.text}


def _framed(value: Mapping[str, Any]) -> None:
    """A line or discipline that has one framing key must have all."""
    if "overhead_bytes" in value:
        shape.record(_FRAMING, rest=shape.unread)(value)


_LINE = shape.both(shape.record({"rate_bps": shape.whole()}, _FRAMING), _framed)
_MEDIUM = shape.record({}, {"line": _LINE, "role": shape.record({}, {"ap": shape.text, "kind": shape.text})})
_RATES = dict.fromkeys(("bandwidth_bps", "rate_bps"), shape.maybe(shape.whole()))
_QDISC = shape.both(shape.record({"kind": shape.text}, {**_RATES, **_FRAMING}), _framed)
_INTERFACE = shape.record(
    {"name": shape.text, "medium": _MEDIUM, "qdisc": shape.record({"config": _QDISC})},
    {"ingress": shape.maybe(_QDISC)},
)
_NODE = shape.record({"name": shape.text, "forward": shape.truth, "interfaces": shape.each(_INTERFACE)})


def _both_ways(link: Mapping[str, Any]) -> None:
    """An access line must be one in both directions."""
    if "line" in link["medium"] and link.get("medium_back"):
        back = shape.record({"line": shape.unread}, rest=shape.unread)
        shape.record({"medium_back": back}, rest=shape.unread)(link)


_ENDS = {"name": shape.text, "ends": shape.row(shape.text, shape.text), "medium": _MEDIUM}
_LINK = shape.both(shape.record(_ENDS, {"medium_back": shape.maybe(_MEDIUM)}), _both_ways)
_FLOW = shape.record(
    {
        "name": shape.text,
        "to": shape.each(shape.text),
        "traffic": shape.record({"kind": shape.text}),
        "stop_ns": shape.maybe(shape.whole()),
    }
)
RESOLVED = shape.record(
    {
        "nodes": shape.each(_NODE),
        "links": shape.each(_LINK),
        "channels": shape.each(shape.record({"name": shape.text})),
        "flows": shape.each(_FLOW),
        **dict.fromkeys(("duration_ns", "warm_up_ns", "cool_down_ns"), shape.whole()),
    }
)
"""Parts of a resolved scenario that `explain` reads. Results of other versions may lack some of them."""

_COUNTED = shape.record({"protocol": shape.text, "goodput_mbps": shape.number}, rest=shape.unread)
RUN = shape.record(
    {}, {"flows": shape.table(_COUNTED), "air": shape.table(shape.table(shape.number))}, rest=shape.unread
)
"""Parts of a run's summary that `explain` reads, beyond those that every reader of a result needs."""

SHARE = 0.95
"""Share of a line's rates to which a router shapes, so that packets queue in the router and not in the modem.

A shaper up to this share keeps the modem's buffer empty, if it counts packets as the line does.
"""
_FULL = 1500
"""Size of a full packet in bytes."""
_ETHERNET = 14


class Framing(NamedTuple):
    """Per-packet overhead of a line, or as assumed by a shaper."""

    overhead: int | None = None
    """Bytes added to each IP packet; `None` (`raw`) adds only the Ethernet header."""
    mpu: int = 0
    atm: str = "noatm"

    def size(self, packet: int) -> int:
        """Returns an IP packet's size on the line, in bytes."""
        # linux: net/sched/sch_cake.c cake_calc_overhead (6.1).
        whole = max(packet + (_ETHERNET if self.overhead is None else self.overhead), self.mpu)
        if self.atm == "atm":
            return math.ceil(whole / 48) * 53
        return whole + math.ceil(whole / 64) if self.atm == "ptm" else whole


RAW = Framing()
"""Framing of htb, and of cake without framing options."""


def framing(of: Mapping[str, Any]) -> Framing:
    """Returns the framing of a resolved line or discipline."""
    if "overhead_bytes" not in of:
        return RAW
    return Framing(of["overhead_bytes"], of["mpu_bytes"], of["atm"])


def share(line: Framing, counted: Framing = RAW) -> float:
    """Returns the share of a line's rates for a shaper that counts packets as `counted`, at most `SHARE`."""
    part = SHARE * counted.size(_FULL) / line.size(_FULL)
    return SHARE if part >= SHARE else math.floor(100 * part) / 100


class Line(NamedTuple):
    """An access line: the interfaces at its ends, and the rates of both directions."""

    near: str
    """The customer's end, such as `router.wan`."""
    far: str
    down_bps: int
    up_bps: int
    framing: Framing

    def way(self, place: str) -> str:
        """Direction of packets sent by an interface: `down` or `up`; empty if it is not an end of the line."""
        return {self.far: "down", self.near: "up"}.get(place, "")


def lines(resolved: Resolved) -> list[Line]:
    """The access lines of a scenario."""
    found = []
    for link in resolved["links"]:
        for near, far in ends(link, resolved):
            forth, back = link["medium"]["line"], (link.get("medium_back") or link["medium"])["line"]
            up, down = (forth, back) if link["ends"][0] == near else (back, forth)
            found.append(Line(near, far, down["rate_bps"], up["rate_bps"], framing(up)))
    return found


def ends(link: Mapping[str, Any], resolved: Resolved) -> list[tuple[str, str]]:
    """Returns the customer's end of an access line and the far end; empty for other links."""
    if "line" not in link["medium"]:
        return []
    forwards = {node["name"] for node in resolved["nodes"] if node["forward"]}
    one, other = link["ends"]
    return [(one, other) if one.partition(".")[0] in forwards else (other, one)]


def at(place: str, resolved: Resolved) -> Line | None:
    """Returns the line that ends at an interface, or `None`."""
    return next((line for line in lines(resolved) if place in (line.near, line.far)), None)


def is_shaped(line: Line, resolved: Resolved) -> bool:
    """Returns true if the router shapes both directions below the line's rates, with the line's framing."""
    of = interface(line.near, resolved)
    both = ((of.get("ingress") or {}, line.down_bps), (of.get("qdisc", {}).get("config", {}), line.up_bps))
    return all(_holds(qdisc, bps, line.framing) for qdisc, bps in both)


def _holds(qdisc: Mapping[str, Any], bps: int, line: Framing) -> bool:
    rate = rate_bps(qdisc)
    return 0 < rate <= SHARE * bps and rate * line.size(_FULL) < bps * framing(qdisc).size(_FULL)


def rate_bps(qdisc: Mapping[str, Any]) -> int:
    """Returns the shaping rate of a resolved discipline; 0 without a rate."""
    rate: int = qdisc.get("bandwidth_bps") or qdisc.get("rate_bps") or 0
    return rate


def interface(place: str, resolved: Resolved) -> Mapping[str, Any]:
    """Returns an interface by node and name; empty if it does not exist."""
    node, _, name = place.partition(".")
    nodes = (one for one in resolved["nodes"] if one["name"] == node)
    return next((one for of in nodes for one in of["interfaces"] if one["name"] == name), {})


def modems(resolved: Resolved) -> frozenset[str]:
    """Interfaces at access lines. Their hardware queue is the modem's buffer."""
    return frozenset(end for line in lines(resolved) for end in (line.near, line.far))


def has_rate(place: str, resolved: Resolved) -> bool:
    """Returns true if the queueing discipline of an interface shapes to a rate."""
    return rate_bps(interface(place, resolved).get("qdisc", {}).get("config") or {}) > 0


def outside(resolved: Resolved) -> set[str]:
    """Nodes beyond the access lines, which a user at home cannot configure."""
    found, home = set[str](), set[str]()
    for line in lines(resolved):
        found |= _reached(line.far, resolved)
        home |= _reached(line.near, resolved)
    return found - home


def behind(place: str, resolved: Resolved) -> set[str]:
    """The node of an interface, and all nodes reachable without that interface."""
    return _reached(place, resolved)


def _reached(place: str, resolved: Resolved) -> set[str]:
    """Nodes reachable from an interface's node without that interface."""
    arrows = list(_joined(resolved))
    found, fresh = set[str](), {place.partition(".")[0]}
    while fresh:
        found |= fresh
        over = ((a, b) for a, b in arrows if place not in (a, b) and a.partition(".")[0] in found)
        fresh = {b.partition(".")[0] for _, b in over} - found
    return found


def _joined(resolved: Resolved) -> Iterator[tuple[str, str]]:
    """Pairs of connected interfaces, in both orders."""
    pairs = [(link["ends"][0], link["ends"][1]) for link in resolved["links"]]
    for node in resolved["nodes"]:
        for of in node["interfaces"]:
            ap = of["medium"].get("role", {}).get("ap")
            if ap:
                pairs.append((f"{node['name']}.{of['name']}", ap))
    for one, other in pairs:
        yield from ((one, other), (other, one))


Options = dict[str, Any]
"""Options of cake, by scenario key."""

_RTT_NS = 100_000_000
"""Cake's default `rtt`."""
_OTHER_WAY = {
    "srchost": "dsthost",
    "dsthost": "srchost",
    "dual-srchost": "dual-dsthost",
    "dual-dsthost": "dual-srchost",
}


def kept_options(interface: Mapping[str, Any]) -> dict[str, Options]:
    """Returns the options of the cake in each direction, without rate and framing.

    If only one direction has cake, the other gets the options that do not depend on direction. Host
    isolation, DSCP and ACK filtering do: hosts at home are sources in one direction and destinations in the
    other.
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
    """Returns the non-default options of a resolved cake, without rate and framing."""
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
    """Returns true if an interface masquerades, so that cake without `nat` sees a single host."""

    def hides(discipline: Mapping[str, Any] | None) -> bool:
        return discipline is not None and (discipline.get("masquerade") is True or hides(discipline.get("child")))

    return hides(interface.get("ingress")) or hides(interface["qdisc"]["config"])


def with_framing(of: Mapping[str, Any], framing: Framing, hidden: bool) -> Options:
    """Returns cake options with the line's framing, and with `nat` if hosts are behind one address (`hidden`)."""
    # A scenario accepts `nat` only with masquerading; elsewhere cake sees the hosts without it.
    nat = {"nat": True} if hidden and of.get("isolation") not in ("flows", "flowblind") else {}
    overhead = {} if framing.overhead is None else {"overhead": framing.overhead}
    return {**of, **nat, **overhead, "mpu": framing.mpu, "atm": framing.atm}


def shaper_keys(cakes: Mapping[str, Options], rates: Mapping[str, str], has_qdisc: bool) -> dict[str, dict[str, Any]]:
    """Returns complete tables that set cake for both directions of an interface.

    An interface with its own `qdisc` in the file (`has_qdisc`) keeps it there; its shaper then only has
    `down`.
    """
    cake = {way: {"kind": "cake", **one} for way, one in cakes.items()}
    if not has_qdisc:
        down = {"qdisc_down": cake["down"]} if cake["down"] != cake["up"] else {}
        return {"shaper": {**rates, "qdisc": cake["up"], **down}}
    leaves = {"kind": "cake", "bandwidth": rates["up"], **cakes["up"]}
    return {"shaper": {"down": rates["down"], "qdisc": cake["down"]}, "qdisc": leaves}
