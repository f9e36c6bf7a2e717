"""Scenario text of a network: keys with their sources, and the missing values."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from stillair import _native
from stillair._native import InputError
from stillair.runs.imports.assembly import probe
from stillair.runs.imports.assembly.parts import TRAFFIC, Line, Network, Shaped
from stillair.runs.imports.facts import Crusader, Heard, Load, Setting, Way
from stillair.runs.imports.loads import crusader_flows

_WIDTH = 110
_SHAPED = 0.95
"""Usual ratio of the shaper's rate to the line's."""
_WIDE_KBIT = 1_000_000
"""Rate of an unshaped direction of the line, which is never the bottleneck."""
_TU_MS = 1.024
"""A time unit of 802.11."""
_USUAL_S, _MOST_S = 30, 600
"""Duration without a capture or with a very short one; limit for the duration of a capture."""
_LEAST_LOAD_BPS = 1_000
"""Smallest load of a captured station and direction; slower traffic is ignored."""


def text(network: Network, files: Sequence[str]) -> str:
    """Returns the scenario, after a check by the scenario reader."""
    made = _joined(network, files, network.load)
    if any(station.weight for station in network.stations):
        _weigh(network, json.loads(_native.survey(_joined(network, files, None), "the imported scenario", [])))
        made = _joined(network, files, network.load)
    try:
        _native.survey(made, "the imported scenario", [])
    except InputError:
        if not isinstance(network.load, Load):
            raise
        # The Flent test is not modelled, or requires values that the file does not have.
        network.left.append(f"{network.load.where}: the test {network.load.test}: not modelled")
        network.load = None
        made = _joined(network, files, None)
        _native.survey(made, "the imported scenario", [])
    return made


def _weigh(network: Network, survey: dict[str, Any]) -> None:
    """Sets airtime weights, if the access point's scheme uses them."""
    schemes = [one["scheme"] for node in survey["nodes"] for one in node["interfaces"] if one["kind"] == "ap"]
    for station in network.stations:
        if station.weight is None:
            continue
        if not network.is_ap:
            network.left.append(f"airtime weight {station.weight} is this machine's weight for its access point")
        elif schemes == ["mac80211"] and 1 <= station.weight <= 65535:
            station.keys["airtime_weight"] = str(station.weight)
        else:
            network.left.append(
                f"airtime weight {station.weight} of {station.name}: scheme {schemes[0]} has no weights"
            )
        station.weight = None


def _joined(network: Network, files: Sequence[str], load: Load | Crusader | None) -> str:
    blocks = [
        _head(network, files, load),
        _channel(network),
        _line(network),
        _server(),
        _ap(network),
        *(_station(network, at) for at in range(len(network.stations))),
        *_traffic(network, load),
    ]
    # Comments may quote control characters from damaged files; TOML does not allow them.
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "?", "\n\n".join(blocks)) + "\n"


def _said(words: str) -> str:
    """A comment."""
    return textwrap.fill(words, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False)


def _head(network: Network, files: Sequence[str], load: Load | Crusader | None) -> str:
    lines = [_said(f"Written by 'stillair import' from {', '.join(files)}.")]
    lines.append(_said("Comments give the source of each value; 'guess:' marks values that are not in the files."))
    lines += [_said(f"{what}.") for what in network.guesses]
    lines += [_said(f"not known: {what}.") for what in network.unknown]
    lines += [_said(f"left out: {what}.") for what in network.left]
    lines.append('name = "imported"')
    if isinstance(load, Crusader):
        lines.append(f'duration = "{crusader_flows.seconds(load):.9g} s"')
    elif load is None:
        lines += _duration(network)
    return "\n".join(lines)


def _duration(network: Network) -> list[str]:
    if not network.heard:
        return [f'duration = "{_USUAL_S} s"', 'warm_up = "5 s"  # not measured']
    if network.seconds < 1:
        return [f'duration = "{_USUAL_S} s"  # guess: the capture has only {1000 * network.seconds:.3g} ms']
    if round(network.seconds) > _MOST_S:
        return [f'duration = "{_MOST_S} s"  # guess: the capture has {network.seconds:.0f} s']
    return [f'duration = "{round(network.seconds)} s"  # duration of the capture']


def _channel(network: Network) -> str:
    lines = ["[channel.wifi]", f'band = "{network.band.value}"  # {network.band.why}']
    lines.append(f'width = "{network.width.value} MHz"  # {network.width.why}')
    if network.tx_power is not None:
        lines.append(f'tx_power = "{network.tx_power.value} dBm"  # {network.tx_power.why}')
    if network.basic_rate is not None:
        lines.append(f'basic_rate = "{network.basic_rate.value}"  # {network.basic_rate.why}')
    if network.beacon_tu is not None:
        ms = f"{int(network.beacon_tu.value) * _TU_MS:g}"
        lines.append(f'beacon_interval = "{ms} ms"  # {network.beacon_tu.why}')
    if network.protected:
        lines.append('cipher = "ccmp"  # the capture has encrypted frames')
    return "\n".join(lines)


def _line(network: Network) -> str:
    given, mtu = network.line, network.mtu
    more = [f'mtu = "{mtu.value} B"  # {mtu.why}'] if mtu else []
    if given.name:
        about = [
            "# The line of --line; keys here override it.",
            "[link.wan]",
            'kind = "access"',
            f'line = "{given.name}"',
        ]
        own = [*about, *_rates(network), *_given(network)]
        own += [] if _has_buffers(given.name) else ['buffer = "200 ms"  # guess: typical of modems']
        return "\n".join([*own, 'delay = "10 ms"', *more])
    if network.shaper is None and given.rates is None and not given.framing:
        return "\n".join(
            [
                "# guess: a server behind a wired link that is never the bottleneck.",
                *("[link.wan]", 'rate = "1 Gbit/s"', 'delay = "10 ms"', *more),
            ]
        )
    return "\n".join(
        [
            *_assumed(network),
            "[link.wan]",
            'kind = "access"',
            *_rates(network),
            *(_given(network) if given.framing else _framing(network.shaper or {})),
            'buffer = "200 ms"',
            'delay = "10 ms"',
            *more,
        ]
    )


def _has_buffers(name: str) -> bool:
    """Reports whether a named line has buffers of its own."""
    buffers = json.loads(_native.lines()).get(name, {}).get("buffers_ms", [None])
    return all(one is not None for one in buffers)


def _assumed(network: Network) -> Iterator[str]:
    shaper = network.shaper or {}
    if network.line.rates is None and shaper:
        yield "# guess: the shaper has 95 % of the line's rates; buffer and delay are typical."
        for way in ("down", "up"):
            if way not in shaper:
                yield f"# guess: no shaper for {TRAFFIC[way]} traffic, and the line's {TRAFFIC[way]} rate is unknown."
    elif network.line.rates is None:
        yield "# guess: rates, buffer and delay are not in the files."
    else:
        yield "# The rates of --internet. guess: buffer and delay are typical."
    if network.line.framing:
        yield f"# The framing of --framing: {network.line.framing}."
    elif shaper and any("overhead" in one.options for one in shaper.values()):
        yield _said(
            "guess: the line is assumed to add what the shaper counts, because the line's framing is not in the files."
            " If the line's framing differs, the shaper is wrong and this scenario cannot show it: give the framing"
            " with --framing (pppoe-ptm, docsis, pppoe-llcsnap, ...) or --line."
        )
    elif shaper:
        yield _said(
            "guess: the shaper does not count the line's framing; docsis, 18 bytes of Ethernet, is assumed for the"
            " line. --framing (pppoe-ptm, pppoe-llcsnap, ...) or --line gives the line's own."
        )


def _rates(network: Network) -> Iterator[str]:
    """The line's rates: given, else from the shaper."""
    if network.line.rates is not None:
        down, up = network.line.rates
        yield f'rate = {{ down = "{down}", up = "{up}" }}'
        return
    if network.line.name:
        return
    shaped = {way: round(one.kbit / _SHAPED) for way, one in (network.shaper or {}).items()}
    # A direction without a shaper has the rate of the wire.
    kbit = {way: max(shaped.get(way, max(_WIDE_KBIT, *shaped.values(), 0)), 1) for way in ("down", "up")}
    rates = [f'{way} = "{of} kbit/s"' for way, of in kbit.items()]
    yield f"rate = {{ {', '.join(rates)} }}"


def _given(network: Network) -> Iterator[str]:
    """The framing of --framing, and a note if the shaper's framing differs."""
    given = network.line
    if given.framing:
        yield f'overhead = "{given.framing}"'
    line = framing_of(given)
    if line is None:
        return
    for way, one in (network.shaper or {}).items():
        if one.options.get("kind") != "cake":
            yield _said(
                f"The shaper counts no framing ({way}, {one.options.get('kind')}), and the line adds {_worded(line)}."
                " With small packets it lets more through than the line carries."
            )
        elif (own := _counted(one)) != line:
            yield _said(
                f"The framing differs: the shaper counts {_worded(own)} ({way}), the line adds {_worded(line)}."
                f" Set the shaper's to the line's."
            )


Framing = tuple[int, int, str]
"""Overhead, mpu, and ATM/PTM mode."""


def _counted(one: Shaped) -> Framing:
    """Framing of a cake. Without `overhead`, cake counts the packet with its Ethernet header."""
    overhead = one.options.get("overhead", 14)
    mpu, atm = one.options.get("mpu", 0), one.options.get("atm", "noatm")
    return (
        overhead if isinstance(overhead, int) else 14,
        mpu if isinstance(mpu, int) else 0,
        str(atm),
    )


def framing_of(line: Line) -> Framing | None:
    """The framing of a named line or keyword."""
    if not (line.framing or line.name):
        return None
    key = f'overhead = "{line.framing}"' if line.framing else f'line = "{line.name}"'
    rate = "" if line.name and not line.framing else 'rate = "10 Mbit/s", '
    text = f"""
name = "probe"
link.l = {{ kind = "access", {key}, {rate}buffer = "100 ms", delay = "1 ms" }}
node.a = {{ profile = "linux-6.6", forward = true, interface.e.link = "l" }}
node.b = {{ profile = "linux-6.6", interface.e.link = "l" }}
"""
    medium = json.loads(_native.resolve(text, "probe", []))["links"][0]["medium"]["line"]
    return int(medium["overhead_bytes"]), int(medium["mpu_bytes"]), str(medium["atm"])


def _worded(framing: Framing) -> str:
    overhead, mpu, atm = framing
    least = f", at least {mpu}" if mpu else ""
    cells = {"atm": ", in ATM cells", "ptm": ", with the 64/65 coding of PTM"}.get(atm, "")
    return f"{overhead} bytes per packet{least}{cells}"


def _framing(ways: Mapping[str, Shaped]) -> Iterator[str]:
    """The framing that the shaper counts."""
    if not ways:
        return
    options = (ways.get("up") or ways["down"]).options
    if "overhead" in options:
        yield f"overhead = {options['overhead']}  # guess: the shaper's"
        yield f"mpu = {options.get('mpu', 0)}"
        yield f'atm = "{options.get("atm", "noatm")}"'
        other = ways["down"].options if "up" in ways and "down" in ways else options
        if [other.get(key) for key in ("overhead", "mpu", "atm")] != [
            options.get(k) for k in ("overhead", "mpu", "atm")
        ]:
            yield "# guess: the shaper's download framing differs; the line has its upload framing."


def _server() -> str:
    return (
        "# guess: a current server.\n"
        '[node.server]\nprofile = "linux-6.12"\ninterface.eth0 = { link = "wan", address = "10.0.0.2" }'
    )


def _ap(network: Network) -> str:
    told = network.profile if network.is_ap else None
    lines = ["[node.ap]"]
    lines.append(
        f'profile = "{told.value}"  # {told.why}'
        if told
        else 'profile = "linux-6.6"  # guess: the files are from a station'
    )
    lines.append("forward = true")
    if network.is_ap:
        lines += _sysctl(network.sysctl)
    wired: dict[str, object] = {"link": "wan", "address": "10.0.0.1"}
    if network.shaper is not None:
        lines += [_said(about) for about in network.shaper_about]
        if network.masquerades:
            lines.append("# guess: the router masquerades, as home routers do; delete masquerade and nat for a bridge.")
            wired["masquerade"] = True
        keys = dict(_shaper(network.shaper))
        wired |= keys
        lines.append(_said(_without(keys, masquerades=network.masquerades)))
    elif network.is_ap and network.wired_qdisc is not None:
        lines.append(_said(f"{network.wired_qdisc.why}."))
        options = network.wired_options
        wired["qdisc"] = dict(options) if len(options) > 1 else network.wired_qdisc.value
    whole = f"interface.eth0 = {probe.inline(wired)}"
    lines += [whole] if len(whole) <= _WIDTH else _sections("node.ap.interface.eth0", wired)
    lines += ["[node.ap.interface.wlan0]", 'channel = "wifi"', 'role = "ap"', 'address = "10.0.1.1"']
    if network.is_ap and network.scheme is not None:
        lines.append(f'scheme = "{network.scheme.value}"  # {network.scheme.why}')
    for key, value in network.ap_keys.items():
        lines.append(f"{key} = {value}")
    return "\n".join(lines)


def _without(keys: Mapping[str, object], *, masquerades: bool) -> str:
    """Returns the `--set` that removes the shaper, and the qdisc of outgoing packets if it shapes."""
    at = "node.ap.interface.eth0"
    off = [f"{at}.shaper=off"] if "shaper" in keys else []
    off += [f"{at}.qdisc=fq_codel"] if "qdisc" in keys else []
    # Masquerading has no effect without a cake that isolates hosts.
    off += [f"{at}.masquerade=false"] if masquerades else []
    return f"Without the shaper, in 'stillair compare': --set '{'; '.join(off)}'."


def _sections(path: str, table: Mapping[str, object]) -> Iterator[str]:
    """Yields a table as a section; nested tables too long for a line become sections of their own."""
    yield f"[{path}]"
    below = []
    for key, of in table.items():
        line = f"{key} = {probe.value(of)}"
        if isinstance(of, Mapping) and len(line) > _WIDTH:
            below.append((key, of))
        else:
            yield line
    for key, of in below:
        yield from _sections(f"{path}.{key}", of)


def _shaper(ways: Mapping[str, Shaped]) -> Iterator[tuple[str, object]]:
    """Yields the keys of an interface: a shaper, and an htb as `qdisc` for uploads with a burst."""
    up = ways.get("up")
    if up is not None and up.burst is not None:
        burst = dict.fromkeys(("burst", "cburst"), f"{up.burst} B")
        yield "qdisc", {"kind": "htb", "rate": f"{up.kbit} kbit/s", **burst, "child": up.options}
        ways = {way: one for way, one in ways.items() if way != "up"}
    if ways:
        rates = {way: f"{ways[way].kbit} kbit/s" for way in ("down", "up") if way in ways}
        own = ways["up" if "up" in ways else "down"].options
        comes = ways["down"].options if "down" in ways else own
        down = {"qdisc_down": comes} if comes != own else {}
        yield "shaper", {**rates, "qdisc": own, **down}


def _station(network: Network, at: int) -> str:
    station = network.stations[at]
    is_own = not network.is_ap and at == 0
    keys = _turned(station.keys) if is_own else station.keys
    lines = [_said(about) for about in station.about]
    if is_own:
        lines.insert(0, "# This machine. iw describes its access point, so tx and rx are swapped.")
    lines.append(f"[node.{station.name}]")
    if is_own:
        lines.append(f'profile = "{network.profile.value}"  # {network.profile.why}')
        lines += _sysctl(network.sysctl)
    else:
        lines.append('profile = "linux-6.6"  # guess: not in the files')
    lines += [
        f"[node.{station.name}.interface.wlan0]",
        'channel = "wifi"',
        'role = "station"',
        'ap = "ap.wlan0"',
        f'address = "10.0.{1 + (at + 10) // 250}.{(at + 10) % 250 + 2}"',
    ]
    if is_own and network.scheme is not None:
        lines.append(f'scheme = "{network.scheme.value}"  # {network.scheme.why}')
    lines += [f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(lines)


def _turned(keys: dict[str, str]) -> dict[str, str]:
    """Swaps the rates of a dump from the station itself, where `tx` is the uplink."""
    if "uplink_rate" not in keys:
        return keys
    return keys | {"rate": keys["uplink_rate"], "uplink_rate": keys["rate"]}


@cache
def _known_settings() -> dict[str, Any]:
    """Returns the modelled `sysctl` settings with their schemas."""
    schema = json.loads(_native.schema())
    found: dict[str, Any] = schema["definitions"]["node"]["properties"]["sysctl"]["properties"]
    return found


def _sysctl(settings: Sequence[Setting]) -> list[str]:
    """Returns lines for modelled settings with accepted values, and comments about the others."""
    known = _known_settings()
    lines, other, refused = [], 0, []
    for one in settings:
        if one.key not in known:
            other += 1
            continue
        value = one.value if re.fullmatch(r"-?\d+", one.value) else json.dumps(_spread(one.value))
        line = f'sysctl."{one.key}" = {value}'
        if probe.takes(line):
            lines.append(f"{line}  # {one.where}")
        else:
            refused.append(_said(f"left out: {one.where}: {one.key} = {one.value}: not modelled."))
    if other:
        lines.append(_said(f"left out: {other} sysctl settings that are not modelled."))
    return [*refused, *lines]


def _spread(value: str) -> object:
    parts = value.split()
    return [int(part) for part in parts] if len(parts) > 1 and all(part.isdecimal() for part in parts) else value


def _traffic(network: Network, load: Load | Crusader | None) -> Iterator[str]:
    names = [station.name for station in network.stations]
    if isinstance(load, Crusader):
        yield from (
            "\n".join(_said(line[2:]) if line[:2] == "# " else line for line in block)
            for block in crusader_flows.flows(load, names[0])
        )
        return
    if load is not None:
        length = f'\nlength = "{load.seconds} s"' if load.seconds else ""
        yield (
            f"# {load.where}: Flent's test, from this machine.\n"
            f'[test]\nname = "{load.test}"\nfrom = "{names[0]}"\nto = "server"{length}'
        )
        return
    made = [one for at, heard in enumerate(network.heard) for one in _flows(names[at], heard, network.seconds)]
    if made:
        yield "# The load of the capture: datagrams with the mean rate and length."
        yield from made
        return
    to = json.dumps(names if len(names) > 1 else names[0])
    yield (
        "# guess: traffic is not in the files. Each station downloads and is pinged.\n"
        f'[[flow]]\nkind = "tcp"\nname = "down"\nfrom = "server"\nto = {to}\nstart = "1 s"\nstart_spread = "10 ms"'
    )
    yield f'[[flow]]\nkind = "ping"\nfrom = "server"\nto = {to}'


def _flows(name: str, heard: Heard, seconds: float) -> Iterator[str]:
    for way, ends, word in (
        (heard.down, ("server", name), "down"),
        (heard.up, (name, "server"), "up"),
    ):
        flow = _flow(way, seconds)
        if flow:
            yield f'[[flow]]\nkind = "udp"\nname = "{word}-{name}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n{flow}'


def _flow(way: Way, seconds: float) -> str:
    # IP and UDP take 28 bytes of each packet.
    payload = min(max(round(way.mean_ip_bytes) - 28, 1), 1472)
    # An A-MSDU has several packets per frame, so bytes are counted, not frames.
    bps = round(8 * way.payload_bytes * payload / (payload + 28) / seconds) if seconds > 0 else 0
    if bps < _LEAST_LOAD_BPS:
        return ""
    rate = f"{bps / 1e6:.6g} Mbit/s" if bps >= 1_000_000 else f"{bps / 1e3:.6g} kbit/s"
    return f'rate = "{rate}"\npayload = "{payload} B"'
