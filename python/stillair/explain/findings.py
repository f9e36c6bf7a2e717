"""Causes of late packets, largest first: the delay at the 95th percentile, attributed to causes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.explain import access, air, losses, outages
from stillair.results import sojourn
from stillair.results.sojourn import Around, Delays
from stillair.runs.metrics import starvation

Run = Mapping[str, Any]
Resolved = Mapping[str, Any]

PERCENTILE = 95.0
"""Percentile to attribute: late packets, but not the few latest, which may have another cause."""

_QUEUES = ("qdisc", "driver", "hardware")
_SERVED = ("own", "station", "others")
_BY_CAUSE = {
    "management": "beacons",
    "neighbour": "neighbour",
    "noise": "interference",
    "pacing": "pacing",
    "missing": "reorder",
    "wake": "wake",
    "send_buffer": "send-buffer",
}
"""Causes that are findings in every layer."""

_AT_HOST = {"block_ack_session": "session", "block_ack_window": "ba-window"}
"""Causes in the sending device; their place is the interface."""

UNEXPLAINED = "unexplained"
"""A device holds packets although the channel is idle, for an unknown cause."""

_SOCKET = {"window": "window", "peer_window": "window", "small_queues": "small-queues", "pacing": "pacing"}
_ALONE = 0.25
"""If no cause exceeds this share of the delay, look for a TCP flow's limit in its socket."""

_STANDING = 0.5
"""A queue is standing if three quarters of the packets wait at least this share of a late packet's wait."""

_BELOW_MS = 20.0
"""More than twice the socket's share that TCP small queues allow below it: 1/128 s over Wi-Fi, 1/1024 s
elsewhere."""


_PRICE_MS = 30.0
"""A shorter wait for a shaper's rate is its normal cost; in the modem, packets would wait longer."""

_COVERED = 0.5
"""Share of p95 that named causes and the path must explain."""

_FAR = 2.0
_FAR_MS = 20.0
"""A p95 is far above its p50, or above the path's delay, by this factor and this many ms."""

_WAITS = ("bloat", "shaper", "emulated", "shaper-above", "tsq", "others", "slow-station", "pacing", "starved")
_SHORT_MS = 10.0
"""Shorter waits behind other packets are not a fault: CoDel's target is 5 ms, and its queue reaches twice
that while a flow starts."""

_SLIGHT_MS = 1.0
"""A cause with less of a late packet's delay is not a fault."""

_SLIGHT_PART = 0.1
"""A short wait below this share is not a fault either."""

_BOTH = 0.25
"""A queue is shared between own and other packets if each make up at least this share."""

_SECOND = 0.25
"""A second fault below this share of the first cannot matter; no changes are tried for it."""

_CALLS = 0.5
"""Calls and videos become the main subject if their fault reaches this share of the largest fault."""

_FILLS = 0.1
"""A flow with a smaller share of an interface's traffic is not among those that fill it."""


class Finding(NamedTuple):
    """A cause of late packets."""

    kind: str
    """`bloat`, `slow-station`, `others`, `retries`, `hidden`, `beacons` and so on."""
    place: str
    """Interface or station; empty if the finding concerns all."""
    ms: float
    """Time in a late packet's delay, in ms."""
    part: float
    """Share of the delay, 0 to 1."""
    modem: str = ""
    """`down` or `up` if packets wait in the buffer of an access line's modem, or of its peer."""
    behind: tuple[str, ...] = ()
    """Flows that fill a queue, the largest first."""
    whose: str = ""
    """Owner of the packets in a queue: `own` or `others`; empty for both."""

    @property
    def slight(self) -> bool:
        """Returns true if a working network has this cause too."""
        # Small queues keep data in the socket on purpose while the link is busy.
        if self.kind in ("price", "small-queues"):
            return True
        bound = _SHORT_MS if self.kind in _WAITS or self.part < _SLIGHT_PART else _SLIGHT_MS
        return self.ms < bound

    @property
    def is_in_socket(self) -> bool:
        """Returns true for time in the socket, which precedes a packet's delay."""
        return self.part > 1 or self.kind in ("window", "small-queues")

    @property
    def name(self) -> str:
        """Kind and place."""
        return f"{self.kind} {self.place}".strip()


class Spikes(NamedTuple):
    """The few packets that are much later than the percentile analysed."""

    packets: int
    beyond_ms: float
    """Their delay exceeds this."""
    most_ms: float
    """Largest delay, accurate to 3 %."""
    above: float
    """Percentile above which they are: 95 or 99."""
    mean: Around
    finding: Finding | None
    """Their largest cause; `None` if no cause exceeds a quarter of their delay."""


class Subject(NamedTuple):
    """Packets of a station or flow, with the causes of their delay."""

    delays: Delays
    late: Around
    findings: list[Finding]
    modems: frozenset[str] = frozenset()
    """Interfaces at access lines. Their hardware queue is the modem's buffer."""
    spikes: Spikes | None = None
    has_calls: bool = False
    """True if calls or videos are among the packets."""

    @property
    def path_ms(self) -> float:
        """The path's own delay at p95: wires, the frame's exchange, and access to an idle channel."""
        return path_ms(self.late)

    @property
    def named_ms(self) -> float:
        """Part of p95 that named causes and the path explain, in ms."""
        named = sum(one.ms for one in self.findings if one.kind not in (UNEXPLAINED, *_SOCKET.values()))
        return min(self.late.delay_ms, named + self.path_ms)

    @property
    def is_covered(self) -> bool:
        """Returns true if named causes and the path explain at least half of p95."""
        return self.named_ms >= _COVERED * self.late.delay_ms

    @property
    def is_far(self) -> bool:
        """Returns true if p95 is far above its p50, or above the path's own delay and the price of a shaper."""
        price = sum(one.ms for one in self.findings if one.kind == "price")
        usual = max(self.delays.around(50.0).delay_ms, self.path_ms + price)
        return self.late.delay_ms > max(_FAR * usual, usual + _FAR_MS)

    @property
    def faults(self) -> list[Finding]:
        """Findings without those that a working network has too."""
        return [one for one in self.findings if not one.slight]

    @property
    def to_try(self) -> list[Finding]:
        """Faults to try changes for: the first, and the second unless it is small compared with the first."""
        faults = self.faults
        return faults[:1] + [one for one in faults[1:2] if one.ms >= _SECOND * faults[0].ms]


def subjects(runs: Sequence[Run], resolved: Resolved) -> list[Subject]:
    """Returns each direction of each station, or the flows without stations; largest single cause first."""
    found = [delays for delays in sojourn.in_network(sojourn.over(runs)) if delays.packets()]
    of = "station" if any(delays.of == "station" for delays in found) else "flow"
    lost = air.failed_serving(runs[0], sojourn.in_network(sojourn.of_run(runs[0])), resolved) if runs else 0.0
    calls = losses.with_calls(resolved)
    made = [
        _subject(delays, runs[0], resolved, lost)._replace(has_calls=delays[:3] in calls)
        for delays in found
        if delays.of == of
    ]
    return sorted(made, key=lambda one: -max((f.ms for f in one.findings), default=0.0))


def main(runs: Sequence[Run], resolved: Resolved) -> Finding | None:
    """Returns the largest cause of late packets; `None` without followed packets or without a fault."""
    first = worst(subjects(runs, resolved))
    return first.faults[0] if first else None


def worst(found: Sequence[Subject]) -> Subject | None:
    """Returns the subject with the largest fault; `None` without a fault.

    Calls and videos come before pings and transfers if their fault is not much smaller.
    """
    faulty = [one for one in found if one.faults]
    most = max((one.faults[0].ms for one in faulty), default=0.0)
    calls = [one for one in faulty if one.has_calls and one.faults[0].ms >= _CALLS * most]
    return max(calls or faulty, key=lambda one: one.faults[0].ms, default=None)


def unclear(found: Sequence[Subject]) -> Subject | None:
    """Returns, if there is no fault, the subject with an unusually high or unexplained p95; `None` if all is well."""
    odd = (one for one in found if one.is_far or (not one.is_covered and one.late.delay_ms - one.named_ms > _SHORT_MS))
    return max(odd, key=lambda one: one.late.delay_ms - one.named_ms, default=None)


def path_ms(late: Around) -> float:
    """The path's own part of a delay: wires, the frame's exchange, and access to an idle channel."""
    access = ("backoff", "idle")
    return sum(
        ms
        for (layer, cause), ms in late.parts_ms.items()
        if layer in ("wire", "air") or (layer == "contention" and cause in access)
    )


def most_spiked(found: Sequence[Subject]) -> Subject | None:
    """Returns the subject whose latest packets exceed its p95 most; `None` without such packets."""
    spiked = ((one.spikes.most_ms - one.late.delay_ms, one) for one in found if one.spikes)
    return max(spiked, key=lambda one: one[0], default=(0.0, None))[1]


def _subject(delays: Delays, run: Run, resolved: Resolved, lost: float) -> Subject:
    late = delays.around(PERCENTILE)
    found = _causes(delays, late, run, resolved, lost)
    return Subject(delays, late, found, access.modems(resolved), _spikes(delays, late, run, resolved, lost))


def _spikes(delays: Delays, late: Around, run: Run, resolved: Resolved, lost: float) -> Spikes | None:
    """Packets later than p95 by more than the delay of a working queue; `None` without such packets."""
    beyond = late.delay_ms + _SHORT_MS
    tail = delays._replace(buckets=[one for one in delays.buckets if one.delay_ns > 1e6 * beyond * one.packets])
    packets = tail.packets()
    if not packets:
        return None

    def mean(sums: Iterable[Mapping[sojourn.Cell, int]]) -> dict[sojourn.Cell, float]:
        whole: dict[sojourn.Cell, int] = {}
        for cell, ns in (one for times in sums for one in times.items()):
            whole[cell] = whole.get(cell, 0) + ns
        return {cell: ns / packets / 1e6 for cell, ns in sorted(whole.items(), key=lambda one: -one[1])}

    delay = sum(one.delay_ns for one in tail.buckets) / packets / 1e6
    parts, places = mean(one.parts_ns for one in tail.buckets), mean(one.places_ns for one in tail.buckets)
    around = Around(100.0, delay, parts, places)
    first = next(iter(_causes(delays, around, run, resolved, lost)), None)
    above = 99.0 if delays.around(99.0).delay_ms <= beyond else PERCENTILE
    told = first if first and first.ms >= _ALONE * delay else None
    most = tail.buckets[-1]
    return Spikes(packets, beyond, most.delay_ns / most.packets / 1e6, above, around, told)


def _causes(delays: Delays, late: Around, run: Run, resolved: Resolved, lost: float) -> list[Finding]:
    """Causes of a delay, the largest first."""
    times: dict[tuple[str, str], float] = {}
    known = late._replace(parts_ms=_known_to_fail(late, lost, resolved))
    for (kind, place), ms in _network(delays, known, run, resolved):
        down = _outage(delays, place, ms, resolved)
        of = ("outage", down) if down else (kind, place)
        times[of] = times.get(of, 0.0) + ms
    if max(times.values(), default=0.0) < _ALONE * late.delay_ms:
        # Time in the socket follows from the network's causes.
        for (layer, cause), ms in late.parts_ms.items():
            if layer == "socket" and cause in _SOCKET:
                times[_SOCKET[cause], ""] = times.get((_SOCKET[cause], ""), 0.0) + ms
        if times.get(("small-queues", ""), 0.0) > times.get(("window", ""), 0.0):
            # The link is the limit: the sender has more data than the link carries.
            times.pop(("window", ""), None)
    whole = max(late.delay_ms, 1e-9)
    found = [Finding(kind, place, ms, ms / whole) for (kind, place), ms in times.items() if ms > 0.01 * whole]
    found = [_filled(one, delays, late, run, resolved) if one.kind == "bloat" else one for one in found]
    return sorted(found, key=lambda f: -f.ms)


_OUTAGE = 0.25
"""Packets at a link in an outage wait at least this share of the outage."""


def _outage(delays: Delays, place: str, ms: float, resolved: Resolved) -> str:
    """Returns the interface whose link or Wi-Fi path is down while packets wait; empty if the wait is too short."""
    if ms <= _SHORT_MS:
        return ""
    whole = outages.outage_ms(place, resolved)
    if whole > 0 and ms > _OUTAGE * whole:
        return place
    wifi = outages.of_station(delays.name, resolved) if delays.of == "station" else None
    return wifi.place if wifi and ms > _OUTAGE * wifi.ms else ""


def _filled(finding: Finding, delays: Delays, late: Around, run: Run, resolved: Resolved) -> Finding:
    """A queue, with the owners of its packets and their flows."""
    place = finding.place
    line = access.at(place, resolved)
    deep = late.places_ms.get((place, "hardware"), 0.0) > late.places_ms.get((place, "qdisc"), 0.0)
    own = _own(late)
    others = sum(ms for (layer, cause), ms in late.parts_ms.items() if layer in _QUEUES and cause == "others")
    whose = "own" if others < _BOTH * (own + others) else "others" if own < _BOTH * (own + others) else ""
    inside = access.behind(place, resolved)
    through = {
        name: of.get("goodput_mbps") or 0.0
        for name, of in run.get("flows", {}).items()
        if of.get("from") in inside and of.get("to") not in inside and _is_active(name, delays, place, run, resolved)
    }

    def is_own(flow: str) -> bool:
        return delays.name in _ends(flow, run) if delays.of == "station" else flow == delays.name

    names = [
        name
        for name, mbps in sorted(through.items(), key=lambda one: -one[1])
        if mbps > _FILLS * sum(through.values()) and (not whose or (whose == "own") == is_own(name))
    ]
    return finding._replace(modem=line.way(place) if line and deep else "", behind=tuple(names), whose=whose)


def _is_active(flow: str, delays: Delays, place: str, run: Run, resolved: Resolved) -> bool:
    """Returns true if a flow was sending while the packets of `delays` waited at an interface."""
    times = [
        (step["from_ns"], step["until_ns"])
        for name, packet in run["sojourn"]["slowest"].items()
        if name == delays.name or (delays.of == "station" and delays.name in _ends(name, run))
        for step in packet["steps"]
        if step["interface"] == place and step["layer"] in _QUEUES
    ]
    if not times:
        return True
    # Times are only known for the slowest packet of each flow; use the longest wait.
    since, until = max(times, key=lambda one: one[1] - one[0])
    for of in resolved["flows"]:
        if any(flow == f"{of['name']}.{to}" for to in of["to"]) and of.get("start_ns", 0) >= until:
            return False
    last = run["sojourn"].get("delivery", {}).get(flow, {}).get("last_received_ns")
    return last is None or last >= since


def _ends(flow: str, run: Run) -> set[str]:
    of = run.get("flows", {}).get(flow, {})
    return {of.get("from", ""), of.get("to", "")} - {""}


def _known_to_fail(late: Around, lost: float, resolved: Resolved) -> dict[sojourn.Cell, float]:
    """Delay parts without serving time that is now known to be spent on failed exchanges."""
    parts = dict(late.parts_ms)
    for (layer, cause), ms in late.parts_ms.items():
        if lost and cause in _SERVED and layer in (*_QUEUES, "contention") and _on_air(late, layer, resolved):
            parts[layer, cause] = ms * (1 - lost)
            parts[layer, "failed"] = parts.get((layer, "failed"), 0.0) + ms * lost
    return parts


def _network(delays: Delays, late: Around, run: Run, resolved: Resolved) -> list[tuple[tuple[str, str], float]]:
    """Findings below the sockets, with their times."""
    found = []
    busy = {layer: _busy(late, layer) for layer in (*_QUEUES, "contention")}
    slow = air.slow_station(run)
    for (layer, cause), ms in late.parts_ms.items():
        if layer == "socket":
            continue
        if cause in _AT_HOST:
            found.append(((_AT_HOST[cause], _fullest(late, layer)), ms))
        elif cause == "idle" and layer in _QUEUES:
            found.append((_idle(late, layer, resolved), ms))
        elif cause in _BY_CAUSE:
            found.append(((_BY_CAUSE[cause], ""), ms))
        elif cause == "shaper":
            found.append((_held(late, ms, resolved), ms))
        elif cause == "power_save":
            found.append((_asleep(delays, run, resolved), ms))
        elif cause in _SERVED:
            # Back-off between the exchanges that are waited for belongs to them.
            share = ms / busy[layer] if busy.get(layer) else 0.0
            overhead = share * sum(late.parts_ms.get((layer, idle), 0.0) for idle in ("backoff", "slow_rate"))
            if cause == "others" and _on_air(late, layer, resolved):
                found.append((_of_others(delays, late, layer, run, resolved, slow), ms + overhead))
            elif layer in _QUEUES:
                found.append((_queue(delays, late, layer, run, slow, resolved), ms + overhead))
        elif cause == "failed":
            share = ms / busy[layer] if busy.get(layer) else 0.0
            overhead = share * late.parts_ms.get((layer, "backoff"), 0.0)
            found.append((_failed(delays, layer, run, resolved), ms + overhead))
    return found


def _of_others(delays: Delays, late: Around, layer: str, run: Run, resolved: Resolved, slow: str) -> tuple[str, str]:
    """Returns why packets wait while other stations send."""
    if slow not in ("", delays.name):
        return ("slow-station", slow)
    place = _fullest(late, layer)
    if layer == "driver" and starvation.is_starved(delays.name, place, run, resolved):
        return ("starved", place)
    return ("others", "")


def _idle(late: Around, layer: str, resolved: Resolved) -> tuple[str, str]:
    """Returns why packets wait while their resource is idle: firmware, late reports, or an unknown cause."""
    place = _fullest(late, layer)
    if layer == "hardware" and _is_wifi(place, resolved):
        return ("firmware", place)
    if layer == "qdisc":
        return ("reports", place)
    return (UNEXPLAINED, place)


def _busy(late: Around, layer: str) -> float:
    return sum(late.parts_ms.get((layer, cause), 0.0) for cause in (*_SERVED, "failed", "management", "neighbour"))


def _fullest(late: Around, layer: str) -> str:
    """Returns the interface where packets wait longest in a layer."""
    return next((interface for interface, at in late.places_ms if at == layer), "")


def _on_air(late: Around, layer: str, resolved: Resolved) -> bool:
    return layer == "contention" or _is_wifi(_fullest(late, layer), resolved)


def _is_wifi(name: str, resolved: Resolved) -> bool:
    node, _, interface = name.partition(".")
    interfaces = station(node, resolved).get("interfaces", ())
    return any(one["name"] == interface and "link" not in one["medium"] for one in interfaces)


def station(name: str, resolved: Resolved) -> Mapping[str, Any]:
    """Returns a node of the resolved scenario by name; empty if it does not exist."""
    return next((node for node in resolved["nodes"] if node["name"] == name), {})


def _queue(delays: Delays, late: Around, layer: str, run: Run, slow: str, resolved: Resolved) -> tuple[str, str]:
    """Returns why packets of the same station wait for each other at an interface."""
    place = _fullest(late, layer)
    node = place.split(".")[0]
    sender = delays.name if delays.way == "up" else run.get("flows", {}).get(delays.name, {}).get("from")
    limited = node == sender and late.parts_ms.get(("socket", "small_queues"))
    if limited and _in_stack(late, layer, resolved) and _own_in_stack(late, resolved) > _BELOW_MS:
        return ("tsq", place)
    shapes = any(of["overlimits"] for name, of in run.get("qdiscs", {}).items() if name.split("/")[0] == place)
    if layer == "hardware" and shapes:
        return ("shaper-above", place)
    stands = _own(delays.around(25.0)) >= _STANDING * _own(late)
    return ("slow-station", slow) if slow == delays.name and not stands else ("bloat", place)


def _held(late: Around, ms: float, resolved: Resolved) -> tuple[str, str]:
    """Returns why a discipline holds packets although the device is ready: a normal or slow shaper, or netem."""
    place = _fullest(late, "qdisc")
    of = access.interface(place, resolved)
    both = [one for one in (of.get("qdisc", {}).get("config"), of.get("ingress")) if one]
    kinds = {one["kind"] for one in both if access.rate_bps(one) or one["kind"] == "netem"}
    if kinds == {"netem"}:
        return ("emulated", place)
    return ("price", place) if kinds and ms < _PRICE_MS and "netem" not in kinds else ("shaper", "")


def _own(around: Around) -> float:
    """Time behind packets of the same station in queues, in ms."""
    return sum(ms for (layer, cause), ms in around.parts_ms.items() if layer in _QUEUES and cause in ("own", "station"))


def _in_stack(late: Around, layer: str, resolved: Resolved) -> bool:
    """Returns true if a layer's packets wait in the sender's stack: not in a modem's buffer, nor in a shaper."""
    place = _fullest(late, layer)
    if layer == "hardware":
        return place not in access.modems(resolved)
    return layer != "qdisc" or not access.has_rate(place, resolved)


def _own_in_stack(late: Around, resolved: Resolved) -> float:
    """Time behind packets of the same station in the sender's stack, in ms."""
    layers = [layer for layer in _QUEUES if _in_stack(late, layer, resolved)]
    return sum(ms for (layer, cause), ms in late.parts_ms.items() if layer in layers and cause in ("own", "station"))


def _asleep(delays: Delays, run: Run, resolved: Resolved) -> tuple[str, str]:
    """Returns why a station or its access point did not receive: power save or a scan.

    Chooses the one with the longer expected wait: packets meet an absence in proportion to its length, and
    then wait for the rest of it.
    """
    of = {name: account for name, account in run.get("power", {}).items() if name.split(".")[0] == delays.name}
    sleeps = sum(_waited(account["dozing_s"], account["sleeps"]) for account in of.values())
    scans = sum(_waited(account["away_s"], account["trips"]) for account in of.values())
    aps = {
        ap: _waited(run["power"][ap]["away_s"], run["power"][ap]["trips"])
        for interface in station(delays.name, resolved).get("interfaces", ())
        if (ap := interface["medium"].get("role", {}).get("ap", "")) in run.get("power", {})
    }
    ap = max(aps, key=lambda name: aps[name], default="")
    causes = {("power-save", delays.name): sleeps, ("scan", delays.name): scans, ("ap-scan", ap): aps.get(ap, 0.0)}
    return max(causes, key=lambda cause: causes[cause])


def _waited(seconds: float, times: int) -> float:
    """Expected wait for the end of absences, for packets that arrive at any time; an unscaled weight."""
    return seconds * seconds / times if times else seconds * seconds


def _failed(delays: Delays, layer: str, run: Run, resolved: Resolved) -> tuple[str, str]:
    if air.hidden(run):
        return ("hidden", "")
    if air.interfered(run, resolved):
        return ("interference", "")
    return ("retries", delays.name if layer == "tries" else "")
