"""Packets that an application never gets: lost in the network, skipped by the sender, or too late for playout.

Outages of links, too: times in which a step of the scenario sets a rate at which nothing passes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Run = Mapping[str, Any]
Resolved = Mapping[str, Any]

BOUND = 0.01
"""Share of a flow's packets. A flow that loses less is not reported as lossy."""

_DEAD_S = 1.0
"""Least time without an arrival after which a flow counts as dead."""
_DEAD_PACKETS = 5
_QUEUED = 0.2
"""Share of a flow's packets. If more are still queued at the end of the run, they count as not delivered."""
_SLOWER = 1.5
"""A flow is not dead while the silence is shorter than this multiple of its longest delay."""

KINDS = {"voip": "call", "video": "video", "udp": "UDP", "ping": "ping", "tcp": "TCP", "quic": "QUIC", "web": "page"}

_REASONS = {
    "overlimit": "queue full",
    "codel": "CoDel",
    "pie": "PIE",
    "law": "AQM",
    "retry_limit": "Wi-Fi retry limit",
    "retry_out": "Wi-Fi retry timeout",
    "old_or_duplicate": "behind the Block Ack window",
    "loss": "loss of the link or netem",
    "expired": "expired for a sleeping station",
    "filtered": "given up for a sleeping station",
    "no_route": "no route",
    "no_listener": "no listener",
    "ttl": "TTL",
    "ack_filter": "ACK filter",
    "replaced": "replaced by a newer packet",
}


class Place(NamedTuple):
    """Packets dropped at one place for one reason."""

    place: str
    reason: str
    packets: int

    @property
    def words(self) -> str:
        """Number, place and reason in the field's terms."""
        return f"{self.packets} at {self.place} ({_REASONS.get(self.reason, self.reason)})"


class Lost(NamedTuple):
    """Packets that one flow loses, over all runs."""

    name: str
    kind: str
    """A key of `KINDS`."""
    part: float
    """Share of the packets that the application misses, 0 to 1: lost, skipped and late ones."""
    skipped: float = 0.0
    """Share skipped by the sender because its socket was full. `part` includes it."""
    late: float = 0.0
    """Share that arrives too late for the playout buffer. `part` includes it."""
    queued: int = 0
    """Packets neither received nor dropped by the end of their run, if these are many. `part` includes them."""
    since_s: float | None = None
    """Last arrival, if the flow is dead from then on."""
    places: Sequence[Place] = ()
    """The largest first."""


def kind_of(name: str, run: Run, resolved: Resolved) -> str:
    """The kind of a flow: a key of `KINDS`."""
    if name in run.get("pings", {}):
        return "ping"
    if name in run.get("web", {}):
        return "web"
    for flow in resolved["flows"]:
        if flow["traffic"]["kind"] == "video" and any(name == f"{flow['name']}.{to}" for to in flow["to"]):
            return "video"
    return str(run.get("flows", {}).get(name, {}).get("protocol", "udp"))


def part(name: str, run: Run) -> float | None:
    """Share of a flow's packets that the application misses. `None` for streams and flows without packets."""
    ping = run.get("pings", {}).get(name)
    if ping is not None:
        lost: float | None = ping.get("loss")
    else:
        of = run.get("flows", {}).get(name, {})
        call = run.get("voip", {}).get(name, {})
        known = [one for one in (of.get("loss"), call.get("loss")) if one is not None]
        lost = max(known) + (call.get("late") or 0.0) if known else None
    dead = _dead(name, run)
    missing, queued = _missing(name, run) if ping is None else (0.0, 0.0)
    if dead is not None:
        missing = dead[1]
    if dead is not None or queued > _QUEUED:
        # Packets that are still queued at the end do not reach the application either.
        lost = max(lost or 0.0, missing)
    return None if lost is None else min(1.0, lost)


def found(runs: Sequence[Run], resolved: Resolved) -> list[Lost]:
    """Flows that lose more than `BOUND`: calls, videos and pings before other UDP, the lossiest first."""
    names = dict.fromkeys(name for run in runs for group in ("flows", "pings") for name in run.get(group, {}))
    made = [one for one in (_lost(name, runs, resolved) for name in names) if one is not None]
    order = list(KINDS)
    return sorted(made, key=lambda one: (one.kind == "udp", order.index(one.kind) > order.index("ping"), -one.part))


def _lost(name: str, runs: Sequence[Run], resolved: Resolved) -> Lost | None:
    parts = [one for one in (part(name, run) for run in runs) if one is not None]
    dead = [one for one in (_dead(name, run) for run in runs) if one is not None]
    kind = kind_of(name, runs[0], resolved)
    stalled = _stalled(name, runs, resolved) if kind in ("tcp", "quic") else None
    mean = sum(parts) / len(parts) if parts else 0.0
    if mean <= BOUND and not dead and stalled is None:
        return None
    flows = [run.get("flows", {}).get(name, {}) for run in runs]
    skipped = [(of.get("skipped") or of.get("unsent") or 0) / of["due"] for of in flows if of.get("due")]
    late = [run.get("voip", {}).get(name, {}).get("late") or 0.0 for run in runs]
    return Lost(
        name,
        kind,
        mean,
        sum(skipped) / len(skipped) if skipped else 0.0,
        sum(late) / len(late),
        round(sum(_queued(name, run) for run in runs)),
        min((one[0] for one in dead), default=stalled),
        _places(name, runs),
    )


def _delivery(name: str, run: Run) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (run.get("sojourn") or {}).get("delivery", {}).get(name, {})
    return found


def _queued(name: str, run: Run) -> float:
    """Packets still queued at the end of a run, if they are many or the flow is dead."""
    of, (_, queued) = _delivery(name, run), _missing(name, run)
    is_many = queued > _QUEUED or _dead(name, run) is not None
    return queued * of["sent"] if is_many and name not in run.get("pings", {}) else 0.0


def _missing(name: str, run: Run) -> tuple[float, float]:
    """Share of a flow's packets that did not arrive, and share that was neither received nor dropped."""
    of = _delivery(name, run)
    if not of or not of["sent"]:
        return 0.0, 0.0
    missing = max(0, of["sent"] - of["received"])
    dropped = sum(drop["packets"] for drop in of["drops"])
    return missing / of["sent"], max(0, missing - dropped) / of["sent"]


def _dead(name: str, run: Run) -> tuple[float, float] | None:
    """Last arrival in s, and the share of packets that did not arrive. `None` if the flow is alive."""
    of = _delivery(name, run)
    if not of or of["last_sent_ns"] is None or of["sent_since"] < _DEAD_PACKETS or not of["sent"]:
        return None
    last = of["last_received_ns"] or 0
    slowest = (run["sojourn"]["slowest"].get(name) or {}).get("delay_ns", 0)
    if of["last_sent_ns"] - last < max(1e9 * _DEAD_S, _SLOWER * slowest):
        return None
    missing, _ = _missing(name, run)
    return last / 1e9, missing


_STALLED = 0.2
"""Share of the run, at its end, in which a transfer without limit receives nothing."""


def _stalled(name: str, runs: Sequence[Run], resolved: Resolved) -> float | None:
    """The last arrival in s of a transfer without limit that stopped. `None` if it goes on, or ends by itself."""
    for flow in resolved["flows"]:
        if any(name == f"{flow['name']}.{to}" for to in flow["to"]):
            traffic = flow["traffic"]
            if traffic["kind"] != "tcp" or traffic.get("bytes", 0) is not None or flow["stop_ns"] is not None:
                return None
    end = resolved["duration_ns"]
    lasts = [_delivery(name, run).get("last_received_ns") for run in runs]
    stopped = [last / 1e9 for last in lasts if last is not None and end - last > max(_STALLED * end, 1e9 * _DEAD_S)]
    return min(stopped) if stopped and len(stopped) == len(runs) else None


def _places(name: str, runs: Sequence[Run]) -> list[Place]:
    sums: dict[tuple[str, str], int] = {}
    for run in runs:
        for drop in _delivery(name, run).get("drops", ()):
            at = drop["place"], drop["reason"]
            sums[at] = sums.get(at, 0) + drop["packets"]
    return [Place(*at, packets) for at, packets in sorted(sums.items(), key=lambda one: -one[1])]


_MOST = 8
"""Lossy flows with lines of their own."""
_MOST_PLACES = 3


def headline(lost: Sequence[Lost]) -> str:
    """One sentence about the worst flow; empty without losses."""
    if not lost:
        return ""
    first = lost[0]
    more = f"; {len(lost) - 1} more lossy flow{'s' if len(lost) > 2 else ''} below" if len(lost) > 1 else ""
    return f"Main problem: {_what(first)}{_where(first)}{more}."


def lines(lost: Sequence[Lost], runs: int) -> Iterator[str]:
    """A line for each lossy flow. Packets are counted over all runs."""
    if not lost:
        return
    yield f"Losses (packets counted over {runs} runs):" if runs > 1 else "Losses:"
    for one in lost[:_MOST]:
        yield f"  {_what(one)}"
        for words in _details(one):
            yield f"    {words}"
    if len(lost) > _MOST:
        rest = ", ".join(f"{one.name} {_percent(one.part)}" for one in lost[_MOST:])
        yield f"  also lossy: {rest}"


def _what(one: Lost) -> str:
    dead = f"nothing arrives after {one.since_s:.1f} s" if one.since_s is not None else ""
    if one.part <= BOUND:
        return f"{one.name} ({KINDS[one.kind]}): {dead}"
    loses = f"{one.name} ({KINDS[one.kind]}) loses {_percent(one.part)} of its packets"
    return f"{loses}, {dead}" if dead else loses


def _where(one: Lost) -> str:
    if one.late > max(one.part - one.late - one.skipped, one.skipped):
        return ", most of them too late for the playout buffer"
    if one.skipped > one.part / 2:
        return ", most of them skipped by the sender, whose socket was full"
    dropped = sum(place.packets for place in one.places)
    if one.queued > dropped:
        return ", most of them still queued at the end of the run"
    return f", most of them dropped at {one.places[0].place} ({_reason(one.places[0])})" if one.places else ""


def _reason(place: Place) -> str:
    return _REASONS.get(place.reason, place.reason)


def _details(one: Lost) -> Iterator[str]:
    if one.places:
        more = f" and {len(one.places) - _MOST_PLACES} more places" if len(one.places) > _MOST_PLACES else ""
        yield f"dropped: {', '.join(place.words for place in one.places[:_MOST_PLACES])}{more}"
    if one.skipped:
        yield f"skipped by the sender because its socket was full: {_percent(one.skipped)}"
    if one.late:
        yield f"too late for the playout buffer: {_percent(one.late)}"
    if one.queued:
        yield f"still queued at the end: {one.queued} packets"


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"


_FULL_BITS = 8 * 1500
_SLOW_S = 1.0
"""A link at which a full packet takes longer than this is down."""


class Outage(NamedTuple):
    """A direction of a link that is down."""

    link: str
    place: str
    """The interface that sends in this direction."""
    from_ns: int
    until_ns: int

    @property
    def ms(self) -> float:
        """Its length."""
        return (self.until_ns - self.from_ns) / 1e6


def outages(resolved: Resolved) -> list[Outage]:
    """The outages of a run, in the order of links and time."""
    states = [(0, resolved["links"]), *((step["at_ns"], step["to"]["links"]) for step in resolved.get("steps") or ())]
    ends = [*(at for at, _ in states[1:]), resolved["duration_ns"]]
    down: list[Outage] = []
    for (at, links), end in zip(states, ends, strict=True):
        down += [Outage(name, place, at, end) for name, place in _down(links)]
    # A step that changes something else cuts no outage in two.
    joined: list[Outage] = []
    for one in sorted(down):
        if joined and joined[-1][:2] == one[:2] and joined[-1].until_ns == one.from_ns:
            joined[-1] = joined[-1]._replace(until_ns=one.until_ns)
        else:
            joined.append(one)
    return joined


def _down(links: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for link in links:
        media = (link["medium"], link.get("medium_back") or link["medium"])
        for place, medium in zip(link["ends"], media, strict=True):
            of = medium.get("line") or medium
            if "rate_bps" in of and of["rate_bps"] * _SLOW_S < _FULL_BITS:
                yield link["name"], place


def outage_ms(place: str, resolved: Resolved) -> float:
    """The longest outage of the link behind an interface; 0 if there is none."""
    return max((one.ms for one in outages(resolved) if one.place == place), default=0.0)


def outage_lines(resolved: Resolved) -> Iterator[str]:
    """A sentence for each outage; one for both directions of a link."""
    every = outages(resolved)
    for one in every:
        same = [other for other in every if (other.link, *other[2:]) == (one.link, *one[2:])]
        if same[0] is one:
            way = "" if len(same) > 1 else f" from {one.place}"
            times = f"from {one.from_ns / 1e9:g} to {one.until_ns / 1e9:g} s"
            yield f"Outage: link {one.link} carries nothing{way} {times}."
