"""The page of text: what is late, why, who has the air, what limits throughput, and what would change it."""

import shlex
import textwrap
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from stillair.explain import changes, findings
from stillair.explain.findings import Finding, Spikes, Subject
from stillair.explain.tried import SEEDS, Refused, Tried
from stillair.results import sojourn
from stillair.results.sojourn import Around
from stillair.text.terminal import WIDTH

Run = Mapping[str, Any]

_WORDS = {
    "slow-station": "waits while a slow station takes most of the airtime",
    "tsq": "the host's TCP has too much of its data below its socket: small queues are too large, or off",
    "shaper-above": "waits below a shaper that is set at what the link carries, or above",
    "others": "waits while other stations send",
    "retries": "tries on the air fail",
    "hidden": "stations that do not hear each other collide",
    "beacons": "beacons and management frames take the airtime",
    "power-save": "the station sleeps",
    "scan": "the station is on other channels, scanning",
    "ap-scan": "the access point is on other channels, scanning",
    "neighbour": "a neighbouring network sends",
    "interference": "interference that is no Wi-Fi",
    "reorder": "frames wait for one before them that is tried again",
    "wake": "the receiving host hears late of what has come",
    "pacing": "pacing holds packets back",
    "price": "the shaper holds packets back, as it should: this is its price",
    "emulated": "an emulated delay (netem) holds packets back",
    "shaper": "a shaper holds packets back for long: its rate is low, or its queue is too long",
    "window": "the window is too small for the path",
    "small-queues": "TCP small queues hold the socket back",
}
_PERCENTILES = (50.0, 95.0, 99.0)
_LARGEST = 3
_MOST_SUBJECTS = 8
_DIRECTIONS = {"down": "packets to", "up": "packets from", "round_trip": "round trips of", "": "packets of"}
_LAYERS = {
    "qdisc": "in the queueing discipline",
    "modem": "in the modem's buffer, or in its peer's at the provider",
    "driver": "queued in the Wi-Fi driver",
    "hardware": "given to the device",
    "contention": "waiting for a turn on the channel",
    "tries": "on the air, and lost",
    "air": "on the air, and received",
    "reorder": "waiting for an earlier frame that is sent again",
    "wire": "on cables and lines",
    "receiver": "received, before the host is told",
}


def text(scenario: str, runs: Sequence[Run], found: Sequence[Subject], tried: Sequence[Tried | Refused] | None) -> str:
    """The page, in lines of 80 columns. `tried` is none if nothing was tried."""
    return "\n".join(_narrow(_lines(scenario, runs, found, tried)))


def _lines(
    scenario: str, runs: Sequence[Run], found: Sequence[Subject], tried: Sequence[Tried | Refused] | None
) -> Iterator[str]:
    yield f"{scenario}: where the time of packets goes ({len(runs)} run{'s' if len(runs) > 1 else ''})"
    yield ""
    dead = _dead(runs)
    if dead:
        yield f"Nothing arrives of {', '.join(dead)}: 'stillair check' says which rates work."
    if not found:
        yield "No packet was delivered that was followed: nothing else to explain."
        return
    worst = findings.worst(found)
    yield _main(worst) if worst else "Of what arrives nothing is late." if dead else _healthy(found)
    shown = found[:_MOST_SUBJECTS]
    for subject in shown:
        yield ""
        yield from _subject(subject)
    if len(found) > _MOST_SUBJECTS:
        yield ""
        yield f"{len(found) - _MOST_SUBJECTS} more are less late than these."
    yield ""
    told = ((subject, subject.delays.around(percentile)) for subject in shown for percentile in _PERCENTILES)
    layers = {layer for subject, around in told for layer in _layers(subject, around)}
    yield "Where: " + "; ".join(f"{layer}: {words}" for layer, words in _LAYERS.items() if layer in layers) + "."
    yield from _air(runs)
    yield from _throughput(runs)
    if worst:
        yield ""
        yield from _tried(tried, worst, len(runs))


def _main(subject: Subject) -> str:
    first = subject.faults[0]
    delay = f"{_ms(subject.late.delay_ms)} ms, p95 of {_head(subject)}"
    if first.ms > subject.late.delay_ms:
        return f"Main cause: {sentence(first)}: {_ms(first.ms)} ms in the socket, before {delay}."
    return f"Main cause: {sentence(first)}: {_ms(first.ms)} of {delay}."


def _dead(runs: Sequence[Run]) -> list[str]:
    """Flows and pings of which nothing arrived in any run."""
    flows = {name for name, of in runs[0].get("flows", {}).items() if of["protocol"] in ("tcp", "udp")}
    pings = {name for name, of in runs[0].get("pings", {}).items() if of["sent"]}
    came = {
        name for run in runs for name, of in run.get("flows", {}).items() if of["goodput_mbps"] or of.get("delivered")
    }
    answered = {name for run in runs for name, of in run.get("pings", {}).items() if of["received"]}
    return sorted((flows - came) | (pings - answered))


def _ms(value: float) -> str:
    """Three digits, and all before the point."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def _healthy(found: Sequence[Subject]) -> str:
    first = next((one for one in found if one.findings), None)
    little = "late packets (p95) wait for nothing that takes more than 1 % of their delay."
    if first is not None:
        most = first.findings[0]
        little = (
            "queues and other stations cost late packets (p95) little."
            f" The most is {_ms(most.ms)} of {_ms(first.late.delay_ms)} ms, {_head(first)}: {sentence(most)}."
        )
    spiked = findings.most_spiked(found)
    if spiked is None or spiked.spikes is None:
        return f"Nothing is wrong here: {little} Nothing was tried."
    above = min(one.spikes.above for one in found if one.spikes)
    return (
        f"Nothing is wrong here up to p{above:g}: {little} But {_spikes(spiked.spikes)}, {_head(spiked)}."
        " Nothing was tried: changes are judged by p95."
    )


def _is_news(subject: Subject) -> bool:
    """Whether the latest packets are late for another cause than the late ones."""
    faults, of = subject.faults, subject.spikes
    return not faults or (of is not None and of.finding is not None and of.finding.kind != faults[0].kind)


def _spikes(spikes: Spikes) -> str:
    """How many packets are much later than the others, and why."""
    many = f"{spikes.packets} packet{'s are' if spikes.packets > 1 else ' is'}"
    late = f"{many} later than {_ms(spikes.beyond_ms)} ms, up to {_ms(spikes.most_ms)} ms"
    if spikes.finding is None:
        (layer, _), ms = next(iter(spikes.mean.parts_ms.items()))
        return f"{late}: most of it {_LAYERS.get(layer, layer)}, {_ms(ms)} of {_ms(spikes.mean.delay_ms)} ms on average"
    of = f"{_ms(spikes.finding.ms)} of {_ms(spikes.mean.delay_ms)} ms on average"
    return f"{late}: {sentence(spikes.finding)}, {of}"


def _narrow(lines: Iterable[str]) -> Iterator[str]:
    """Lines of 80 columns; what is to be pasted stays whole."""
    for line in lines:
        start = len(line) - len(line.lstrip())
        if len(line) <= WIDTH or line.startswith(_PASTED):
            yield line
            continue
        wrapper = textwrap.TextWrapper(WIDTH, subsequent_indent=" " * (start + 2))
        wrapper.break_on_hyphens = wrapper.break_long_words = False
        yield from wrapper.wrap(line)


def packet(runs: Sequence[Run], flow: str | None = None, modems: Collection[str] = ()) -> str:
    """The slowest packet of a flow, or of all, through all layers.

    What is in the hardware of one of `modems`, which are interfaces at access lines, is in the modem.
    """
    slowest = {name: found for run in runs for name, found in run["sojourn"]["slowest"].items()}
    names = [name for name in slowest if flow in (None, name)]
    if not names:
        return "No packet was delivered that was followed."
    name = max(names, key=lambda one: slowest[one]["delay_ns"])
    found = slowest[name]
    lines = [
        f"The slowest packet of {name}: handed down at {found['sent_ns'] / 1e9:.6f} s, {found['delay_ns'] / 1e6:.3f} ms"
    ]
    for step in found["steps"]:
        at = (step["from_ns"] - found["sent_ns"]) / 1e6
        took = (step["until_ns"] - step["from_ns"]) / 1e6
        causes = sorted(step["causes_ns"].items(), key=lambda one: -one[1])
        why = ", ".join(f"{cause} {ns / 1e6:.3f}" for cause, ns in causes)
        place = step["interface"] or ""
        layer = "modem" if step["layer"] == "hardware" and place in modems else step["layer"]
        lines.append(f"  {at:10.3f} ms  {layer:<10} {place:<16} {took:9.3f} ms: {why}")
    return "\n".join(_narrow(lines))


def sentence(finding: Finding) -> str:
    """What a finding means, and where."""
    words = _queue(finding) if finding.kind == "bloat" else _WORDS.get(finding.kind, finding.kind)
    return f"{words} ({finding.place})" if finding.place else words


def _queue(finding: Finding) -> str:
    """A queue, by where it is and what fills it."""
    where = {"down": "the buffer at the provider (down)", "up": "the modem's buffer (up)"}.get(finding.modem)
    if where is None:
        where = "a queue" if finding.slight else "a queue that is too long"
    more = f" and {len(finding.behind) - _NAMED} more" if len(finding.behind) > _NAMED else ""
    names = (", " if more else " and ").join(finding.behind[:_NAMED]) + more
    own = f"its own traffic{f', {names}' if names else ''}"
    return f"waits in {where}, behind {own if finding.whose == 'own' else names or 'the traffic of others'}"


_NAMED = 2
"""Flows of a queue that are named."""


def _head(subject: Subject) -> str:
    return f"{_DIRECTIONS[subject.delays.way]} {subject.delays.name}"


def _share(finding: Finding) -> str:
    return "in the socket" if finding.part > 1 else f"{100 * finding.part:.0f} % of p95"


def _layers(subject: Subject, around: Around) -> dict[str, float]:
    """Time by layer, that in a modem apart, the largest first; without what is too little to tell."""
    layers: dict[str, float] = {}
    for (layer, _), ms in around.parts_ms.items():
        if layer != "socket":
            layers[layer] = layers.get(layer, 0.0) + ms
    modem = sum(ms for (place, at), ms in around.places_ms.items() if at == "hardware" and place in subject.modems)
    if modem:
        layers |= {"modem": modem, "hardware": layers.get("hardware", 0.0) - modem}
    largest = sorted(layers.items(), key=lambda one: -one[1])[:5]
    return {layer: ms for layer, ms in largest if ms > 0.005 * around.delay_ms}


def _subject(subject: Subject) -> Iterator[str]:
    yield f"{_head(subject)} ({subject.delays.packets()})"
    for percentile in _PERCENTILES:
        around = subject.delays.around(percentile)
        parts = ", ".join(f"{layer} {_ms(ms)}" for layer, ms in _layers(subject, around).items())
        yield f"  p{percentile:g}  {around.delay_ms:8.3f} ms: {parts}"
    for rank, finding in enumerate(subject.findings[:_LARGEST], 1):
        yield f"  {rank}. {sentence(finding)}: {_ms(finding.ms)} ms, {_share(finding)}"
    if subject.spikes and _is_news(subject):
        yield f"  of {subject.delays.packets()}, {_spikes(subject.spikes)}"


_SHOWN = 0.001
"""Uses of the air below this part are left out."""

_USES = {
    "contention": "gaps and back-off before frames",
    "ack": "acknowledgements",
    "protection": "RTS/CTS",
    "overlap": "frames on top of each other",
    "collision": "collisions",
    "beacon": "beacons",
    "neighbour": "neighbouring networks",
}
"""In the words of those who did not define them; the others are plain."""


def _air(runs: Sequence[Run]) -> Iterator[str]:
    run = runs[0]
    for channel, uses in run.get("air", {}).items():
        whole = sum(uses.values()) or 1
        parts = ((use.removesuffix("_us"), us / whole) for use, us in uses.items())
        used = sorted((one for one in parts if one[1] > _SHOWN), key=lambda one: -one[1])
        yield f"Air of {channel}: " + ", ".join(f"{_USES.get(use, use)} {100 * share:.1f} %" for use, share in used)
    shares = {n: s["airtime_share"] for n, s in run.get("stations", {}).items() if s.get("airtime_share")}
    if shares:
        ordered = sorted(shares.items(), key=lambda one: -one[1])[:6]
        yield "Airtime by station: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in ordered)


def _throughput(runs: Sequence[Run]) -> Iterator[str]:
    """What keeps each TCP flow from sending more: where its data waited in the socket."""
    for delays in sojourn.over(runs):
        if delays.of != "flow":
            continue
        waits = {cause: ns for (layer, cause), ns in delays.total().items() if layer == "socket"}
        whole = sum(waits.values())
        if whole:
            cause, ns = max(waits.items(), key=lambda one: one[1])
            flow = runs[0].get("flows", {}).get(delays.name, {})
            rate = f" at {flow['goodput_mbps']:.3g} Mbit/s" if "goodput_mbps" in flow else ""
            part = f"{100 * ns / whole:.0f} % of the time that data waits in its socket"
            yield f"{delays.name}{rate} waits most for {_LIMITS[cause]} ({part})"


_LIMITS = {
    "window": "its congestion window",
    "peer_window": "its receiver's window",
    "small_queues": "TCP small queues",
    "pacing": "its pacing rate",
    "deferral": "acknowledgements that let it send larger packets (TSO deferral, Nagle), or for its handshake",
}


def _tried(tried: Sequence[Tried | Refused] | None, subject: Subject | None = None, runs: int = SEEDS) -> Iterator[str]:
    if tried is None:
        yield "Nothing was tried against it (--no-try)."
        return
    if not tried:
        yield "No setting is known that helps against this cause: none was tried."
        return
    whose = f"; p95 and p99 of {_head(subject)}, the mean of each run's" if subject else ""
    yield f"Tried, with the same seeds{whose} (95 % confidence in brackets):"
    for one in sorted(tried, key=_rank):
        if isinstance(one, Refused):
            yield f"  {one.change.words}: could not be tried: {one.says.splitlines()[0]}"
            continue
        more = f"not certain with {runs} runs; --runs {10 if runs < _SURE else 3 * runs}"
        yield f"  {one.change.words}: {_VERDICTS[one.verdict].format(more=more)}"
        by, goodput = one.by_ms, one.goodput_mbps
        lost = f", {100 * one.lost:.0f} % less" if one.lost >= _TOLD else ""
        yield f"    p95 {_ms(one.before_ms)} to {_ms(one.before_ms + by.mean)} ms ({_by(by.low)} to {_by(by.high)})"
        yield f"    p99 {_ms(one.latest_ms)} to {_ms(one.latest_ms + one.latest_by_ms.mean)} ms"
        yield f"    goodput {goodput.mean:+.2f} Mbit/s{lost}"
        for heard in one.heard[:_HEARD]:
            yield f"    {heard.name}: p95 {_ms(heard.before_ms)} to {_ms(heard.after_ms)} ms"
        if len(one.heard) > _HEARD:
            yield f"    and {len(one.heard) - _HEARD} more pings and calls"
        if one.change.real and one.change.action:
            yield f"    in practice: {one.change.action}"
        if one.change.real and len(one.sets) <= _MOST_SETS:
            yield from (line for key, value in one.sets for line in _pasted(key, value))


def _by(value: float) -> str:
    return f"+{_ms(value)}" if value >= 0 else _ms(value)


_VERDICTS = {
    "helps": "helps",
    "probably": "probably helps, {more}",
    "more": "carries more; late packets come no earlier",
    "perhaps": "carries more; whether late packets come earlier or later is {more}",
    "trade": "a trade: earlier packets for much of the goodput",
    "later": "no clear help: p95 falls and p99 rises",
    "little": "changes too little to be worth it",
    "unsure": "no clear effect: the runs differ by more than it changes; {more}",
    "shows": "no setting, but what it takes away is this cause",
    "nothing": "changes nothing",
    "worse": "makes it worse",
}
"""The best first."""

_SURE = 10
"""Runs that tell most effects from chance."""

_HEARD = 4
"""So many pings and calls are told of a change."""

_TOLD = 0.01
"""Less of the goodput lost is not told as a part."""

_PASTED = "    --set "

_MOST_SETS = 3
"""Keys of a change that are printed for the command line; with more of them it is the words that count."""


def _rank(one: Tried | Refused) -> tuple[int, float]:
    """What helps first, and of that what helps most."""
    if isinstance(one, Refused):
        return len(_VERDICTS), 0.0
    return list(_VERDICTS).index(one.verdict), one.by_ms.mean


def _pasted(key: str, value: str) -> Iterator[str]:
    """A key with its value for the command line."""
    text = f"{_PASTED}{shlex.quote(f'{key}={value}')}"
    table = tomllib.loads(f"of = {value}")["of"] if value.startswith("{") else {}
    # A shaper with `up` has all keys that there are: set one by one they leave nothing of an older one.
    if len(text) <= WIDTH or "up" not in table:
        yield text
        return
    for name, inner in table.items():
        yield f"{_PASTED}{shlex.quote(f'{key}.{name}={changes.toml(inner)}')}"
