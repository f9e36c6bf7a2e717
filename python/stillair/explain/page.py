"""The text page: losses, late packets and their causes, airtime, throughput limits, and changes."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from stillair.explain import advice, findings, losses, outages
from stillair.explain.advice import head as _head
from stillair.explain.advice import ms as _ms
from stillair.explain.evaluation import Refused, Tried
from stillair.explain.findings import Finding, Spikes, Subject
from stillair.explain.losses import Lost
from stillair.results import sojourn
from stillair.results.sojourn import Around
from stillair.runs.metrics import starvation
from stillair.text.terminal import WIDTH

Run = Mapping[str, Any]

Resolved = Mapping[str, Any]

_WORDS = {
    "outage": "waits until the link is up again",
    "slow-station": "waits while a slow station takes most of the airtime",
    "starved": "the access point skips this station: in the round robin of Linux 4.10 a station that finds the hardware"
    " queue full loses its turn",
    "tsq": "too much TCP data below the socket: the TCP small queues limit is too high, or off",
    "shaper-above": "waits below a shaper whose rate is the line's rate, or higher",
    "others": "waits while other stations send",
    "retries": "failed transmissions and retries",
    "hidden": "collisions of stations that do not hear each other",
    "beacons": "beacons and management frames take the airtime",
    "session": "frames are held while a Block Ack session is negotiated (ADDBA)",
    "ba-window": "the Block Ack window is full, the channel idle: a frame at its start is not acknowledged",
    "firmware": "firmware or a USB device holds frames while the channel is idle",
    "reports": "waits for late transmit reports of the device (interrupt, NAPI, USB)",
    "unexplained": "unexplained: the device holds packets while the channel is idle",
    "send-buffer": "datagrams wait for room in the sender's socket",
    "power-save": "the station sleeps",
    "scan": "the station is on other channels, scanning",
    "ap-scan": "the access point is on other channels, scanning",
    "neighbour": "a neighbouring network sends",
    "interference": "interference that is not Wi-Fi",
    "reorder": "waits in the reorder buffer for an earlier frame",
    "wake": "the receiving host gets packets late (interrupt coalescing, NAPI, CPU)",
    "pacing": "pacing holds packets back",
    "price": "the shaper holds packets back, as intended: the price of an empty modem buffer",
    "emulated": "an emulated delay (netem) holds packets back",
    "shaper": "a shaper holds packets back for long: its rate is low, or its queue is too long",
    "window": "the window is too small for the path",
    "small-queues": "TCP small queues hold the socket back",
}
_PERCENTILES = (50.0, 95.0, 99.0)
_LARGEST = 3
_MOST_SUBJECTS = 8
_LAYERS = {
    "qdisc": "in the queueing discipline",
    "modem": "in the modem's buffer, or in its peer's at the provider",
    "driver": "queued in the Wi-Fi driver",
    "hardware": "given to the device",
    "contention": "waiting for a turn on the channel",
    "tries": "on the air, and lost",
    "air": "on the air, and received",
    "reorder": "waiting for the retransmission of an earlier frame",
    "wire": "on cables and lines",
    "receiver": "received, before the host is notified",
}


def text(
    scenario: str,
    runs: Sequence[Run],
    found: Sequence[Subject],
    tried: Sequence[Tried | Refused] | None,
    resolved: Resolved,
    left_out: str = "",
) -> str:
    """Returns the page in 80 columns.

    `tried` is `None` if no change was tried; `left_out` names changes not allowed.
    """
    return "\n".join(_narrow(_lines(scenario, runs, found, tried, resolved, left_out)))


def _lines(
    scenario: str,
    runs: Sequence[Run],
    found: Sequence[Subject],
    tried: Sequence[Tried | Refused] | None,
    resolved: Resolved,
    left_out: str,
) -> Iterator[str]:
    yield f"{scenario}: delay of packets by layer and cause ({len(runs)} run{'s' if len(runs) > 1 else ''})"
    yield ""
    dead = _dead(runs)
    lost = [one for one in losses.found(runs, resolved) if one.name not in dead]
    if dead:
        yield f"Nothing arrives for {', '.join(dead)}: 'stillair check' shows which rates work."
    down = _main_outage(lost, dead, findings.worst(found), resolved)
    if down:
        yield f"Main cause: outage: {outages.sentence(down, resolved)}."
    if lost:
        yield losses.headline(lost)
    yield from outages.outage_lines(resolved, down)
    if not found:
        yield "No followed packet was delivered: nothing else to explain."
        return
    worst = findings.worst(found)
    if worst:
        yield _main(worst, "Largest cause of late packets" if down else "Main cause")
    elif not outages.outages(resolved):
        yield _without(found, dead, lost)
    if lost:
        yield ""
        yield from losses.lines(lost, len(runs))
    shown = found[:_MOST_SUBJECTS]
    for subject in shown:
        yield ""
        yield from _subject(subject, _runs_with(subject, runs), len(runs))
    if len(found) > _MOST_SUBJECTS:
        yield ""
        yield f"{len(found) - _MOST_SUBJECTS} more groups of packets are less late than these."
    yield ""
    told = ((subject, subject.delays.around(percentile)) for subject in shown for percentile in _PERCENTILES)
    layers = {layer for subject, around in told for layer in _layers(subject, around)}
    if _leaves_out(runs):
        yield (
            "Percentiles are of the packets that arrived, without the wait of datagrams in the send buffer; they leave"
            " out datagrams that the sender skipped or never sent."
        )
    yield "Where: " + "; ".join(f"{layer}: {words}" for layer, words in _LAYERS.items() if layer in layers) + "."
    yield from _air(runs, resolved)
    yield from _throughput(runs)
    if worst:
        yield ""
        yield from advice.lines(tried, worst, len(runs), left_out)


def _leaves_out(runs: Sequence[Run]) -> bool:
    """Returns true if datagrams waited in a send buffer, were skipped or were never sent."""
    if any(of.get("skipped") or of.get("unsent") for run in runs for of in run.get("flows", {}).values()):
        return True
    return any(
        ns and cell == ("socket", "send_buffer") for delays in sojourn.over(runs) for cell, ns in delays.total().items()
    )


def _main_outage(
    lost: Sequence[Lost], dead: Sequence[str], worst: Subject | None, resolved: Resolved
) -> outages.Outage | None:
    """Returns the Wi-Fi outage that is the main cause, or `None`.

    An outage is the main cause if its station has the lossiest flow or a dead flow, or if no other cause is
    found.
    """
    stations = {name.rpartition(".")[2] for name in (*(one.name for one in lost[:1]), *dead)}
    stations |= _senders({one.name for one in lost[:1]} | set(dead), resolved)
    found = [one for one in outages.outages(resolved) if one.is_wifi]
    hit = [one for one in found if one.place.partition(".")[0] in stations]
    is_only = not lost and not dead and worst is None
    return max(hit or (found if is_only else []), key=lambda one: one.ms, default=None)


def _senders(names: Collection[str], resolved: Resolved) -> set[str]:
    """Nodes that send these flows."""
    return {
        flow["from"].partition(".")[0]
        for flow in resolved["flows"]
        if any(f"{flow['name']}.{to}" in names for to in flow["to"])
    }


def _main(subject: Subject, title: str) -> str:
    first = subject.faults[0]
    delay = f"{_ms(subject.late.delay_ms)} ms, p95 of {_head(subject)}"
    if first.is_in_socket:
        return f"{title}: {sentence(first)}: {_ms(first.ms)} ms in the socket, before {delay}."
    return f"{title}: {sentence(first)}: {_ms(first.ms)} of {delay}.{_uncovered(subject)}"


def _uncovered(subject: Subject) -> str:
    """A note if named causes explain less than half of p95."""
    if subject.is_covered:
        return ""
    return f" Named causes cover only {_ms(subject.named_ms)} of these {_ms(subject.late.delay_ms)} ms."


def _without(found: Sequence[Subject], dead: Sequence[str], lost: Sequence[Lost]) -> str:
    """The main line if no cause of late packets is a fault."""
    odd = findings.unclear(found)
    if odd is not None:
        first = f" The largest is: {sentence(odd.findings[0])}, {_ms(odd.findings[0].ms)} ms." if odd.findings else ""
        return (
            f"No cause stands out, but p95 of {_head(odd)} is {_ms(odd.late.delay_ms)} ms; p50 is"
            f" {_ms(odd.delays.around(50.0).delay_ms)} ms, and the path itself takes {_ms(odd.path_ms)} ms."
            f"{_uncovered(odd)}{first}"
        )
    return "Packets that arrive are not late." if dead or lost else _healthy(found)


def _dead(runs: Sequence[Run]) -> list[str]:
    """Flows and pings that received nothing in any run."""
    flows = {name for name, of in runs[0].get("flows", {}).items() if of["protocol"] in ("tcp", "udp")}
    pings = {name for name, of in runs[0].get("pings", {}).items() if of["sent"]}
    came = {
        name for run in runs for name, of in run.get("flows", {}).items() if of["goodput_mbps"] or of.get("delivered")
    }
    answered = {name for run in runs for name, of in run.get("pings", {}).items() if of["received"]}
    return sorted((flows - came) | (pings - answered))


def _healthy(found: Sequence[Subject]) -> str:
    first = next((one for one in found if one.findings), None)
    little = "no cause takes more than 1 % of the delay of late packets (p95)."
    if first is not None:
        most = first.findings[0]
        little = (
            "queues and other stations delay late packets (p95) little."
            f" The largest cause is {_ms(most.ms)} of {_ms(first.late.delay_ms)} ms, {_head(first)}: {sentence(most)}."
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
    """Returns true if the latest packets have another cause than late packets."""
    faults, of = subject.faults, subject.spikes
    return not faults or (of is not None and of.finding is not None and of.finding.kind != faults[0].kind)


def _spikes(spikes: Spikes) -> str:
    """Number of packets that are much later than the others, and their cause."""
    many = f"{spikes.packets} packet{'s are' if spikes.packets > 1 else ' is'}"
    late = f"{many} later than {_ms(spikes.beyond_ms)} ms, up to {_ms(spikes.most_ms)} ms"
    if spikes.finding is None:
        (layer, _), ms = next(iter(spikes.mean.parts_ms.items()))
        return f"{late}: most of it {_LAYERS.get(layer, layer)}, {_ms(ms)} of {_ms(spikes.mean.delay_ms)} ms on average"
    of = f"{_ms(spikes.finding.ms)} of {_ms(spikes.mean.delay_ms)} ms on average"
    return f"{late}: {sentence(spikes.finding)}, {of}"


def _narrow(lines: Iterable[str]) -> Iterator[str]:
    """Wraps lines to 80 columns, except for command line arguments."""
    for line in lines:
        start = len(line) - len(line.lstrip())
        if len(line) <= WIDTH or line.startswith(advice.PASTED):
            yield line
            continue
        wrapper = textwrap.TextWrapper(WIDTH, subsequent_indent=" " * (start + 2))
        wrapper.break_on_hyphens = wrapper.break_long_words = False
        yield from wrapper.wrap(line)


def packet(runs: Sequence[Run], flow: str | None = None, modems: Collection[str] = ()) -> str:
    """Describes the slowest packet of a flow, or of all flows, layer by layer.

    The hardware queue of the interfaces `modems`, which are at access lines, is named the modem.
    """
    slowest = {name: found for run in runs for name, found in run["sojourn"]["slowest"].items()}
    names = [name for name in slowest if flow in (None, name)]
    if not names:
        return "No followed packet was delivered."
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
    """Describes a finding and its place."""
    words = _queue(finding) if finding.kind == "bloat" else _WORDS.get(finding.kind, finding.kind)
    return f"{words} ({finding.place})" if finding.place else words


def _queue(finding: Finding) -> str:
    """Describes a queue by its place and by what fills it."""
    where = {"down": "the buffer at the provider (down)", "up": "the modem's buffer (up)"}.get(finding.modem)
    if where is None:
        where = "a queue" if finding.slight else "a queue that is too long"
    more = f" and {len(finding.behind) - _NAMED} more" if len(finding.behind) > _NAMED else ""
    names = (", " if more else " and ").join(finding.behind[:_NAMED]) + more
    own = f"its own traffic{f', {names}' if names else ''}"
    return f"waits in {where}, behind {own if finding.whose == 'own' else names or 'the traffic of others'}"


_NAMED = 2
"""Flows of a queue to name."""


def _share(finding: Finding) -> str:
    return "in the socket" if finding.is_in_socket else f"{100 * finding.part:.0f} % of p95"


def _layers(subject: Subject, around: Around) -> dict[str, float]:
    """Time by layer, with modems separate, largest first; small parts are left out."""
    layers: dict[str, float] = {}
    for (layer, _), ms in around.parts_ms.items():
        if layer != "socket":
            layers[layer] = layers.get(layer, 0.0) + ms
    modem = sum(ms for (place, at), ms in around.places_ms.items() if at == "hardware" and place in subject.modems)
    if modem:
        layers |= {"modem": modem, "hardware": layers.get("hardware", 0.0) - modem}
    largest = sorted(layers.items(), key=lambda one: -one[1])[:5]
    return {layer: ms for layer, ms in largest if ms > 0.005 * around.delay_ms}


def _runs_with(subject: Subject, runs: Sequence[Run]) -> int:
    """Number of runs in which packets of the subject arrived."""
    of, name, way, _ = subject.delays
    followed = [run.get("sojourn") or {} for run in runs]
    if of == "station":
        found = [run.get("stations", {}).get(name, {}).get(way, {}) for run in followed]
    else:
        found = [run.get("flows", {}).get(name, {}) for run in followed]
    return sum(bool(histogram.get("packets")) for histogram in found)


def _subject(subject: Subject, count: int, runs: int) -> Iterator[str]:
    of = f", in {count} of {runs} runs" if 0 < count < runs else ""
    yield f"{_head(subject)} ({subject.delays.packets()}{of})"
    for percentile in _PERCENTILES:
        around = subject.delays.around(percentile)
        parts = ", ".join(f"{layer} {_ms(ms)}" for layer, ms in _layers(subject, around).items())
        yield f"  p{percentile:g}  {around.delay_ms:8.3f} ms: {parts}"
    for rank, finding in enumerate(subject.findings[:_LARGEST], 1):
        yield f"  {rank}. {sentence(finding)}: {_ms(finding.ms)} ms, {_share(finding)}"
    if subject.spikes and _is_news(subject):
        yield f"  of {subject.delays.packets()}, {_spikes(subject.spikes)}"


_SHOWN = 0.001
"""Smaller uses of the airtime are left out."""

_USES = {
    "contention": "gaps and back-off before frames",
    "ack": "acknowledgements",
    "protection": "RTS/CTS",
    "overlap": "overlapping frames",
    "collision": "collisions",
    "beacon": "beacons",
    "neighbour": "neighbouring networks",
}
"""Printed names of airtime uses. Other uses are printed by key."""


def _air(runs: Sequence[Run], resolved: Resolved) -> Iterator[str]:
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
    yield from starvation.starvation(run, resolved)


def _throughput(runs: Sequence[Run]) -> Iterator[str]:
    """Limit of each TCP or blocking UDP flow: the cause for which its data waited in the socket."""
    for delays in sojourn.over(runs):
        if delays.of != "flow":
            continue
        waits = {cause: ns for (layer, cause), ns in delays.total().items() if layer == "socket"}
        whole = sum(waits.values())
        if whole:
            cause, ns = max(waits.items(), key=lambda one: one[1])
            flow = runs[0].get("flows", {}).get(delays.name, {})
            rate = f" at {flow['goodput_mbps']:.3g} Mbit/s" if "goodput_mbps" in flow else ""
            part = f"{100 * ns / whole:.0f} % of its time in the socket"
            yield f"{delays.name}{rate} is limited by {_LIMITS.get(cause, cause)} ({part})"


_LIMITS = {
    "window": "its congestion window",
    "peer_window": "its receiver's window",
    "small_queues": "TCP small queues",
    "pacing": "its pacing rate",
    "send_buffer": "its send buffer, as it offers more than the path carries",
    "deferral": "the wait for larger segments (TSO deferral, Nagle) or for the handshake",
}
