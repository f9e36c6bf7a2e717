"""Packets that an application never receives: lost in the network, skipped by the sender, or late for playout."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Run = Mapping[str, Any]
Resolved = Mapping[str, Any]

BOUND = 0.01
"""Share of a flow's packets. A flow that loses less is not reported as lossy."""

_DEAD_S = 1.0
"""Shortest silence after which a flow counts as dead."""
_DEAD_PACKETS = 5
_QUEUED = 0.2
"""Share of a flow's packets. If more are still queued at the end of the run, they count as undelivered."""
_SLOWER = 1.5
"""A flow is not dead while the silence is shorter than this multiple of its longest delay."""

KINDS = {"voip": "call", "video": "video", "udp": "UDP", "ping": "ping", "tcp": "TCP", "quic": "QUIC", "web": "page"}

_REASONS = {
    "overlimit": "queue full",
    "codel": "CoDel",
    "pie": "PIE",
    "aqm": "AQM",
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
        """Count, place and reason."""
        return f"{self.packets} at {self.place} ({_REASONS.get(self.reason, self.reason)})"


class Lost(NamedTuple):
    """Packets that one flow loses, over all runs."""

    name: str
    kind: str
    """A key of `KINDS`."""
    part: float
    """Share of the packets that the application misses, 0 to 1: lost, skipped and late."""
    skipped: float = 0.0
    """Share skipped by the sender because its socket was full. `part` includes it."""
    late: float = 0.0
    """Share that arrives too late for playout. `part` includes it."""
    queued: int = 0
    """Packets neither received nor dropped by the end of their run, if many. `part` includes them."""
    since_s: float | None = None
    """Time of the last arrival, if the flow is dead afterwards."""
    places: Sequence[Place] = ()
    """Drops by place, largest first."""
    packets: int | None = None
    """Packets over all runs that `part` is a share of; `None` if not counted."""
    runs: tuple[int, int] = (1, 1)
    """Runs in which the flow was measured, and all runs."""
    dead_runs: int = 0
    """Runs in which nothing arrives after some time."""
    blocks: bool = False
    """True for a UDP source that waits for room in its socket. It only skips what is left when it stops."""


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


def with_calls(resolved: Resolved) -> set[tuple[str, str, str]]:
    """Groups of packets that include calls and videos, as `of`, `name` and `way`."""
    found = set()
    for flow in resolved["flows"]:
        if flow["traffic"]["kind"] in ("voip", "video"):
            found |= {("flow", f"{flow['name']}.{to}", "") for to in flow["to"]}
            found |= {("station", to, "down") for to in flow["to"]}
            found.add(("station", str(flow.get("from", "")), "up"))
    return found


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
        # Packets still queued at the end do not reach the application either.
        lost = max(lost or 0.0, missing)
    return None if lost is None else min(1.0, lost)


def found(runs: Sequence[Run], resolved: Resolved) -> list[Lost]:
    """Flows that lose more than `BOUND`: calls and videos, then pings, then others; lossiest first."""
    names = dict.fromkeys(name for run in runs for group in ("flows", "pings") for name in run.get(group, {}))
    made = [one for one in (_lost(name, runs, resolved) for name in names) if one is not None]
    return sorted(made, key=lambda one: (_RANK.get(one.kind, 2), -one.part))


def _blocks(name: str, resolved: Resolved) -> bool:
    """Returns true for a UDP source with `when_full = "block"`."""
    return any(
        flow["traffic"].get("when_full") == "block" and any(name == f"{flow['name']}.{to}" for to in flow["to"])
        for flow in resolved["flows"]
    )


_RANK = {"voip": 0, "video": 0, "ping": 1, "udp": 3}
"""Order of lossy flows by kind. TCP, QUIC and pages are between pings and UDP."""


def packets(name: str, runs: Sequence[Run]) -> int | None:
    """Packets of a flow over all runs; `None` if a run has no count."""
    counts = []
    for run in runs:
        ping, flow = run.get("pings", {}).get(name), run.get("flows", {}).get(name, {})
        count = ping.get("sent") if ping is not None else flow.get("due")
        counts.append(_delivery(name, run).get("sent") if count is None else count)
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(runs) else None


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
        packets(name, runs),
        (len(parts) or len(runs), len(runs)),
        len(dead),
        _blocks(name, resolved),
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
    """Share of a flow's packets that did not arrive, and share neither received nor dropped."""
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
"""Share of the run, at its end, without data for an unlimited transfer."""


def _stalled(name: str, runs: Sequence[Run], resolved: Resolved) -> float | None:
    """Last arrival in s of an unlimited transfer that stalled; `None` if it continues or is limited."""
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
"""Lossy flows listed with figures."""
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
    yield f"Losses (means of shares and sums of packets over {runs} runs):" if runs > 1 else "Losses:"
    for one in lost[:_MOST]:
        yield f"  {_what(one)}"
        for words in _details(one):
            yield f"    {words}"
    if len(lost) > _MOST:
        rest = ", ".join(f"{one.name} {_share(one.part, one)}" for one in lost[_MOST:])
        yield f"  also lossy: {rest}"


def _what(one: Lost) -> str:
    dead = f"nothing arrives after {one.since_s:.1f} s" if one.since_s is not None else ""
    if dead and 0 < one.dead_runs < one.runs[1]:
        dead += f" (in {one.dead_runs} of {one.runs[1]} runs)"
    if one.part <= BOUND:
        return f"{one.name} ({KINDS[one.kind]}): {dead}"
    of = f" ({one.runs[0]} of {one.runs[1]} runs)" if one.runs[0] < one.runs[1] else ""
    loses = f"{one.name} ({KINDS[one.kind]}) loses {_share(one.part, one)} {_whose(one)}{of}"
    return f"{loses}, {dead}" if dead else loses


def _where(one: Lost) -> str:
    if one.late > max(one.part - one.late - one.skipped, one.skipped):
        return ", most of them too late for the playout buffer"
    if one.skipped > one.part / 2:
        what = "never sent by the source, whose socket was full until it stopped"
        return f", most of them {what if one.blocks else 'skipped by the sender, whose socket was full'}"
    dropped = sum(place.packets for place in one.places)
    if one.queued > dropped:
        return ", most of them still queued at the end of the run"
    return f", most of them dropped at {one.places[0].place} ({_reason(one.places[0])})" if one.places else ""


def _reason(place: Place) -> str:
    return _REASONS.get(place.reason, place.reason)


_SKIPPED = "skipped by the sender because its socket was full"


def _details(one: Lost) -> Iterator[str]:
    if one.places:
        more = f" and {len(one.places) - _MOST_PLACES} more places" if len(one.places) > _MOST_PLACES else ""
        yield f"dropped: {', '.join(place.words for place in one.places[:_MOST_PLACES])}{more}"
    if one.skipped:
        what = "never sent: its socket was full until it stopped" if one.blocks else _SKIPPED
        yield f"{what}: {_share(one.skipped, one)}"
    if one.late:
        yield f"too late for the playout buffer: {_share(one.late, one)}"
    if one.queued:
        yield f"still queued at the end: {one.queued} packets"


FEW = 10
"""Shares of fewer packets are printed as counts."""


def _share(part: float, one: Lost) -> str:
    """A share of a flow's packets as a percentage, or as `3 of 7` for few packets."""
    if one.packets is not None and one.packets < FEW:
        return f"{round(part * one.packets)} of {one.packets}"
    return f"{100 * part:.1f} %"


def _whose(one: Lost) -> str:
    return "packets" if one.packets is not None and one.packets < FEW else "of its packets"
