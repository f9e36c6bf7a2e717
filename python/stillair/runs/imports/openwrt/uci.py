"""OpenWrt's configuration: the files /etc/config/wireless, sqm and network.

spec: openwrt.org, the UCI system - `config TYPE ['NAME']`, then lines of `option KEY VALUE` and `list KEY VALUE`.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stillair.runs.imports.facts import Radio, Shaper
from stillair.runs.imports.lines import Mistakes
from stillair.runs.imports.openwrt import sqm


class Section(NamedTuple):
    """A section of a file."""

    kind: str
    name: str
    options: dict[str, str]
    lines: dict[str, int]
    line: int


def read(file: str, text: str) -> Sequence[Radio | Shaper]:
    """The radios and the shapers; of a file of /etc/config/network nothing is taken but that it can be read."""
    mistakes = Mistakes(file)
    found: list[Radio | Shaper] = []
    for section in list(_sections(text, mistakes)):
        if section.kind == "wifi-device":
            found.append(_radio(file, section, mistakes))
        elif section.kind == "queue":
            found.append(_shaper(file, section, mistakes))
    mistakes.tell()
    return found


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


def _radio(file: str, section: Section, mistakes: Mistakes) -> Radio:
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
