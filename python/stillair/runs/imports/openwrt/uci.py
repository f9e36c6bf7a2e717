"""OpenWrt's configuration: the files /etc/config/wireless, sqm and network.

spec: openwrt.org, the UCI system - `config TYPE ['NAME']`, then lines of `option KEY VALUE` and `list KEY VALUE`.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stillair.runs.imports.facts import Radio, Shaper, Unread
from stillair.runs.imports.lines import Mistakes
from stillair.runs.imports.openwrt import sqm

_MOST_DTIM = 255


class Section(NamedTuple):
    """A section of a file."""

    kind: str
    name: str
    options: dict[str, str]
    lines: dict[str, int]
    line: int


_TAKEN = ("band", "hwmode", "htmode", "channel", "disabled", "beacon_int", "dtim_period")
_NAMES = ("type", "path", "phy", "device", "network", "mode", "ssid", "key", "ifname", "macaddr", "name")
"""Options that say which, and nothing of what happens on the air."""


def read(file: str, text: str) -> Sequence[Radio | Shaper | Unread]:
    """The radios and the shapers, and what else the file has."""
    mistakes = Mistakes(file)
    found: list[Radio | Shaper | Unread] = []
    others: dict[str, int] = {}
    sections = list(_sections(text, mistakes))
    radios = [section for section in sections if section.kind == "wifi-device"]
    for section in sections:
        if section.kind == "wifi-device":
            own = _access_point(section.name, sections)
            found.append(_radio(file, section, own, mistakes))
            found += _unread(file, section, own)
        elif section.kind == "queue":
            found.append(_shaper(file, section, mistakes))
        elif section.kind == "wifi-iface":
            device = section.options.get("device", "")
            if not any(section is _access_point(radio.name, sections) for radio in radios):
                off = ", which is disabled" if section.options.get("disabled") == "1" else ""
                what = f"{section.name} of {device or 'no radio'}, mode {section.options.get('mode', 'ap')}{off}"
                found.append(Unread(f"{what}: a scenario has one access point", f"{file}:{section.line}"))
        else:
            others[section.kind] = others.get(section.kind, 0) + 1
    if others:
        told = ", ".join(f"{count} of {kind}" for kind, count in others.items())
        found.append(Unread(f"sections that nothing is taken of: {told}", file))
    mistakes.tell()
    return found


def _access_point(radio: str, sections: Sequence[Section]) -> Section | None:
    """The first access point of a radio that is not disabled."""
    for section in sections:
        options = section.options
        is_ap = section.kind == "wifi-iface" and options.get("mode", "ap") == "ap"
        if is_ap and options.get("device") == radio and options.get("disabled") != "1":
            return section
    return None


def _unread(file: str, radio: Section, own: Section | None) -> Iterator[Unread]:
    """The options of a radio and of its access point that a scenario has no key for."""
    for section in (radio, own):
        left = [key for key in section.options if key not in (*_TAKEN, *_NAMES)] if section else []
        if section and left:
            at = f"{file}:{radio.line}"
            yield Unread(f"{', '.join(left)} of {section.name}", f"{file}:{section.line}", at)


def _sections(text: str, mistakes: Mistakes) -> Iterator[Section]:
    section: Section | None = None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            mistakes.add(number, line.strip(), "a closing quotation mark")
            continue
        if not words:
            continue
        if words[0] == "config" and len(words) in (2, 3):
            if section:
                yield section
            section = Section(words[1], words[2] if len(words) == 3 else words[1], {}, {}, number)
        elif words[0] in ("option", "list") and len(words) == 3 and section:
            section.options[words[1]] = words[2]
            section.lines[words[1]] = number
        elif words[0] != "package":
            mistakes.add(number, line.strip(), '"config TYPE NAME", "option KEY VALUE" or "list KEY VALUE"')
    if section:
        yield section


def _radio(file: str, section: Section, own: Section | None, mistakes: Mistakes) -> Radio:
    options: Mapping[str, str] = section.options
    mode = re.fullmatch(r"(NOHT|HT|VHT|HE|EHT)(\d*)[+-]?", options.get("htmode", "NOHT"))
    if not mode:
        mistakes.add(section.lines["htmode"], f"htmode {options['htmode']}", "a mode such as HT40, VHT80 or HE80")
    family, width = (mode[1], mode[2]) if mode else ("NOHT", "")
    standard = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11ax"}.get(family)
    # Before 21.02 `hwmode` said the band: 11a at 5 GHz, 11g at 2.4 GHz.
    old = {"11a": 5.0, "11g": 2.4, "11b": 2.4, "11ng": 2.4, "11na": 5.0}
    band = {"2g": 2.4, "5g": 5.0, "6g": 6.0}.get(options.get("band", "")) or old.get(options.get("hwmode", ""))
    channel = options.get("channel", "auto")
    if channel != "auto" and not channel.isdecimal():
        mistakes.add(section.lines["channel"], f"channel {channel}", "a number or auto")
    elif band is None and channel.isdecimal() and channel != "0":
        band = 2.4 if int(channel) <= 14 else 5.0
    keys = {"beacon_int": options["beacon_int"]} if options.get("beacon_int", "").isdecimal() else {}
    if own and (period := own.options.get("dtim_period")) is not None:
        if period.isdecimal() and 1 <= int(period) <= _MOST_DTIM:
            keys["dtim_period"] = period
        else:
            mistakes.add(own.lines["dtim_period"], f"dtim_period {period}", f"a whole number from 1 to {_MOST_DTIM}")
    return Radio(
        section.name,
        band,
        int(channel) if channel.isdecimal() and channel != "0" else None,
        min(int(width), 160) if width else 20 if standard is None else None,
        standard,
        keys,
        f"{file}:{section.line}",
        disabled=options.get("disabled") == "1",
    )


def _shaper(file: str, section: Section, mistakes: Mistakes) -> Shaper:
    options = section.options
    device, script = options.get("interface", section.name), options.get("script", "")

    def number(key: str, otherwise: int = 0) -> int:
        found = options.get(key) or str(otherwise)
        if not re.fullmatch(r"-?\d+", found):
            mistakes.add(section.lines[key], f"{key} {found}", "a whole number")
            return 0
        return int(found)

    rates = {way: number(key, sqm.RATES[key]) for way, key in (("down", "download"), ("up", "upload"))}
    for key in ("overhead", "tcMPU"):
        number(key)
    queue = sqm.queue(options, rates) if script else sqm.Queue({}, {}, [], [], {})
    unsaid = [key for key in sqm.RATES if not options.get(key)] if script else []
    return Shaper(
        device,
        rates["down"],
        rates["up"],
        script,
        queue.down,
        queue.up,
        options.get("enabled", "0") == "1",
        f"{file}:{section.line}",
        queue.unread,
        [*(f"no {key}: sqm-scripts take {sqm.RATES[key]} kbit/s then" for key in unsaid), *queue.said],
        queue.bursts,
    )
