"""`stillair check`: prints a scenario with its defaults, without running it."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from stillair.cli.common import options
from stillair.text import terminal

Survey = Mapping[str, Any]

_MOST_RADIOS = 12
"""Larger matrices are unreadable on a terminal."""
_MOST_ROWS = 50
_MTU = 1500
"""MTU of links that do not set it."""


@click.command()
@options.file
@options.set_
@options.as_json
def check(file: str, set_: tuple[str, ...], as_json: bool) -> None:
    """Check a scenario without running it, and print what it is.

    Prints nodes and links; who hears whom, and how loud; each station's rates, and the fastest that works at its
    signal-to-noise ratio; the traffic; keys without effect. Nothing is run.
    """
    from stillair import _native  # noqa: PLC0415 - loaded on use
    from stillair.cli.scenarios import framing  # noqa: PLC0415

    scenario, overrides = options.scenario(file), options.overrides(set_)
    found = json.loads(_native.survey(scenario.text, scenario.file, overrides))
    resolved = json.loads(_native.resolve(scenario.text, scenario.file, overrides))
    found["notes"] += framing.differences(resolved)
    for flow, of in zip(found["flows"], resolved["flows"], strict=True):
        flow["start_spread_s"] = of["start_spread_ns"] / 1e9
    # With overrides, check the scenario as `stillair run` would run it; they may set swept keys.
    combinations = len(scenario.sweep(())) if not overrides else 1
    if as_json:
        print(json.dumps({**found, "combinations": combinations}, ensure_ascii=False))
    else:
        print("\n\n".join(_parts(found, combinations)))


def _parts(found: Survey, combinations: int) -> Iterator[str]:
    """The printed text, part by part."""
    yield _head(found, combinations)
    yield _titled("Nodes", _nodes(found["nodes"]))
    if found["links"]:
        yield _titled("Links", _links(found["links"]))
    for channel in found["channels"]:
        band = f"{channel['band_ghz']:g} GHz, {channel['width_mhz']} MHz"
        radios = f"{len(channel['radios'])} radio{'s' if len(channel['radios']) != 1 else ''}"
        yield _titled(f"Channel {channel['name']}: {band}, {radios}", _hearing(channel))
    if found["paths"]:
        yield _titled("Rates", _rates(found["paths"]))
    if found["flows"]:
        yield _titled("Traffic", _flows(found["flows"]))
    from stillair.results.summary import together  # noqa: PLC0415 - loaded on use

    for title, key in (("Without effect", "without_effect"), ("Notes", "notes")):
        if found[key]:
            yield _titled(title, "\n".join(_filled(line, "- ") for line in together(found[key])))
    if not found["flows"]:
        yield "No traffic: nothing is sent."


def _head(found: Survey, combinations: int) -> str:
    parts = [f"{found['name']}: {found['duration_s']:g} s"]
    if found["warm_up_s"]:
        parts.append(f"the first {found['warm_up_s']:g} s not measured")
    if found["cool_down_s"]:
        parts.append(f"the last {found['cool_down_s']:g} s not measured")
    parts.append(f"seed {found['seed']}")
    if combinations > 1:
        parts.append(f"a [sweep] table with {combinations} combinations")
    return _filled(", ".join(parts))


def _titled(title: str, text: str) -> str:
    return f"{terminal.painted(terminal.harmless(title), terminal.BOLD, sys.stdout)}\n{text}"


def _filled(text: str, bullet: str = "") -> str:
    import textwrap  # noqa: PLC0415 - only used here

    wrapped = textwrap.TextWrapper(terminal.width(), initial_indent=bullet, subsequent_indent=" " * len(bullet))
    wrapped.break_on_hyphens = wrapped.break_long_words = False
    return wrapped.fill(terminal.harmless(text))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    from stillair.text.table import table  # noqa: PLC0415 - only used here

    shown = [[terminal.harmless(cell) for cell in row] for row in rows[:_MOST_ROWS]]
    text = table(header, shown, indent="  ", width=terminal.width(), words=words)
    more = len(rows) - len(shown)
    return f"{text}\n  ... and {more} more; --json has all" if more > 0 else text


def _nodes(nodes: Sequence[Survey]) -> str:
    rows = []
    interfaces = [interface for node in nodes for interface in node["interfaces"]]
    is_one_cell = sum(interface["kind"] == "ap" for interface in interfaces) == 1
    for node in nodes:
        first = [node["name"], node["profile"]]
        for interface in node["interfaces"]:
            on = interface.get("link") or interface.get("channel")
            station = "station" if is_one_cell else f"of {interface.get('ap')}"
            role = {"ap": "AP", "station": station, "wired": "wired"}[interface["kind"]]
            queues = _shaped(interface["qdisc"], interface["shaped_bps"])
            if "scheme" in interface:
                queues = f"{interface['scheme']}, {queues}"
            if interface["ingress"] is not None:
                queues += f"; in: {_shaped(interface['ingress'], interface['ingress_bps'])}"
            rows.append([*first, interface["name"], on, role, interface["address"], queues])
            first = ["", ""]
    table = _table(("node", "kernel", "interface", "on", "role", "address", "queues"), rows, words=7)
    named = [(node["name"], i) for node in nodes for i in node["interfaces"] if "device" in i]
    devices = [
        [f"{node}.{i['name']}" if n == 0 else "", i["device"] if n == 0 else "", what]
        for node, i in named
        for n, what in enumerate(i["numbers"])
    ]
    return f"{table}\n\n{_table(('interface', 'device', 'has'), devices, words=3)}" if devices else table


def _shaped(disciplines: str, bps: int | None) -> str:
    """Disciplines with the rate of a shaper among them."""
    return disciplines if bps is None else f"{disciplines} {_rate(bps)}"


def _links(links: Sequence[Survey]) -> str:
    rows = []
    for link in links:
        rates, delays = map(_both, (map(_rate, link["rates_bps"]), (f"{ms:g} ms" for ms in link["delays_ms"])))
        rows.append([link["name"], " - ".join(link["ends"]), rates, delays, str(link["mtu"])])
    usual = all(link["mtu"] == _MTU for link in links)
    heading = ("link", "between", "rate", "delay", *(() if usual else ("MTU",)))
    return _table(heading, [row[: len(heading)] for row in rows], words=4)


def _both(texts: Iterable[str]) -> str:
    """Values of both directions; one value if they are equal."""
    return " / ".join(dict.fromkeys(texts))


def _rate(bps: int | None) -> str:
    if bps is None:
        return "no limit"
    unit, scale = next((u, s) for u, s in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1)) if bps >= s)
    return f"{bps / scale:g} {unit}"


def _hearing(channel: Survey) -> str:
    """Matrix of radios that hear each other; each row is a receiver."""
    radios, hearing, snr = channel["radios"], channel["hearing"], channel["snr_db"]
    if hearing is None:
        return "\n".join(_groups(radios, channel["worse"]))
    pairs = [(a, b) for a in range(len(radios)) for b in range(a)]
    worse = [(radios[b], radios[a], hearing[a][b]) for a, b in pairs if hearing[a][b] != "clear"]
    known = any(snr[a][b] is not None for a, b in pairs)
    loud = "each other" if len(radios) > 1 else "alone"
    lines = [] if worse or len(radios) < 2 else [f"  All hear {loud}."]
    if len(radios) > _MOST_RADIOS:
        told = [f"  {a} and {b}: {_WORDS[how]}" for a, b, how in worse[:_MOST_ROWS]]
        more = [f"  ... and {len(worse) - _MOST_ROWS} more pairs; --json has all"] if len(worse) > _MOST_ROWS else []
        return "\n".join(
            [*lines, *told, *more, "  --json has the signal level of each pair."] if known else [*lines, *told, *more]
        )
    if worse or known:
        cells = [
            [name, *("-" if a == b else _heard(hearing[a][b], snr[a][b]) for b in range(len(radios)))]
            for a, name in enumerate(radios)
        ]
        lines.append(_table(("SNR in dB", *radios), cells, words=1))
        marks = {"sense_only": "~ sensed, not decoded", "hidden": "! not heard at all"}
        legend = [text for how, text in marks.items() if any(how == found for *_, found in worse)]
        if any(snr[a][b] is None for a, b in pairs):
            legend.append("? heard, level unknown")
        if legend:
            lines.append(f"  {', '.join(legend)}")
    if channel["capture"]:
        lines.append("  A frame is received despite weaker ones (capture).")
    return "\n".join(lines) or "  Nobody else is there."


def _groups(radios: Sequence[str], worse: Sequence[Survey]) -> Iterator[str]:
    """Radios that do not hear each other, in groups, for channels with too many pairs to list."""
    if not worse:
        yield "  All hear each other."
        return
    yield f"  All {len(radios)} hear each other, except for those below."
    for group in worse[:_MOST_ROWS]:
        names = group["radios"]
        shown = " and ".join(names) if len(names) == 2 else f"{names[0]} to {names[-1]} ({len(names)} radios)"
        yield f"  {shown}: {_WORDS[group['hearing']]}"
    if len(worse) > _MOST_ROWS:
        yield "  ... and more; --json has the first 1,000 groups"


_WORDS = {"sense_only": "sense each other without decoding", "hidden": "do not hear each other"}


def _heard(how: str, snr: float | None) -> str:
    loud = "" if snr is None else f"{snr:.1f}"
    return {"clear": loud or "?", "sense_only": f"~{loud}", "hidden": f"!{loud}"}[how]


def _rates(paths: Sequence[Survey]) -> str:
    rows = []
    nodes = [path["station"].partition(".")[0] for path in paths]
    counts = Counter(nodes)
    for path, node in zip(paths, nodes, strict=True):
        name = node if counts[node] == 1 else path["station"]
        ways = (
            [("both ways", path["down"])]
            if path["down"] == path["up"]
            else [("down", path["down"]), ("up", path["up"])]
        )
        for way, of in ways:
            rows.append([name, way, _signal(path), *_chosen(of)])
            name = ""
    heading = ("station", "way", "SNR dB", "sent at", "loss %", "fastest that works", "Mbit/s")
    below = _filled("Losses are for full frames of 1,538 bytes; a rate works if it loses less than 10 % of them.", "  ")
    return f"{_table(heading, rows, words=2)}\n{below}"


def _signal(path: Survey) -> str:
    if path["losses"] != "snr":
        return {"none": "no losses", "given": "given", "trace": "a file"}[path["losses"]]
    steps = [f"{step['snr_db']:.1f}" for step in path["snr"]]
    return steps[0] if len(steps) == 1 else f"{min(steps, key=float)} to {max(steps, key=float)}"


def _chosen(of: Survey) -> list[str]:
    """The configured rate with its loss, and the fastest rate that works, with its bit rate."""
    rate, works = of["rate"], of["fastest"]
    if of["control"] == "fixed":
        sent = [rate["name"], _share(rate)]
    else:
        sent = [of["control"] if of["control"] == "trace" else f"{of['control']}, {of['rates']} rates", "-"]
    return [*sent, *([works["name"], f"{works['mbps']:.1f}"] if works else ["none", "-"])]


def _share(rate: Survey) -> str:
    return f"{100 * rate['loss']:.1f}"


def _flows(flows: Sequence[Survey]) -> str:
    rows = []
    for flow in flows:
        receivers = flow["to"]
        to = ", ".join(receivers[:3]) + (f" and {len(receivers) - 3} more" if len(receivers) > 3 else "")
        load = _both(map(_rate, flow["rates_bps"])) if flow["rates_bps"] else ""
        kind = f"{flow['kind']} over IPv6" if flow["ip"] == 6 else flow["kind"]
        rows.append([flow["name"], kind, flow["from"], to, load, _when(flow)])
    return _table(("flow", "kind", "from", "to", "offers", "when"), rows, words=6)


def _when(flow: Survey) -> str:
    """Start and stop. With `start_spread` the earliest and the latest start."""
    start, stop, spread = flow["start_s"], flow["stop_s"], flow["start_spread_s"]
    until = "" if stop is None else f" to {stop:g} s"
    if spread:
        return f"from {start:g} s + 0 to {spread:g} s (start_spread){until}"
    return f"from {start:g} s{until}" if start or until else ""
