"""OpenWrt's configuration: /etc/config/wireless, sqm and network, as files or as `uci show` prints them.

spec: openwrt.org, the UCI system - `config TYPE ['NAME']`, then lines of `option KEY VALUE` and `list KEY VALUE`;
`uci show` has `PACKAGE.SECTION=TYPE` and `PACKAGE.SECTION.KEY='VALUE'`.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stillair.runs.imports.facts import Radio, Shaper, Unread, Zone
from stillair.runs.imports.lines import Mistakes
from stillair.runs.imports.openwrt import sqm
from stillair.runs.imports.rates import modelled_width

_MOST_DTIM = 255


class Section(NamedTuple):
    """A section of a file."""

    kind: str
    name: str
    options: dict[str, str]
    lines: dict[str, int]
    line: int


_TAKEN = (
    *("band", "hwmode", "htmode", "channel", "disabled", "beacon_int", "dtim_period", "rts", "cell_density"),
    *("legacy_rates", "txpower"),
)
_NAMES = (
    "type",
    "path",
    "phy",
    "radio",
    "device",
    "network",
    "mode",
    "ssid",
    "key",
    "ifname",
    "macaddr",
    "name",
    "bssid",
)
"""Options that only name or identify, without an effect on the air."""
_WHY = {
    "frag": "fragmentation is not modelled",
    "distance": "the coverage class is not modelled",
    "wds": "4-address (WDS) links are not modelled",
    "log_level": "",
}
_MODES = {
    "mesh": "802.11s mesh is not modelled",
    "adhoc": "IBSS is not modelled",
    "sta": "the router's own uplink over Wi-Fi is not imported",
    "monitor": "a monitor interface sends nothing",
    "wds": "WDS is not modelled",
}
_SET = re.compile(r"^(?:uci\s+(?:-\w\s+)*)?(?:set|add_list)\s+(?=\w[\w-]*\.)")
_DONE = re.compile(r"uci\s+(?:-\w\s+)*commit\b|/etc/init\.d/\w+ |wifi( reload| up)?$|reload_config$|service \w+ ")
_SHOWN = re.compile(r"(\w[\w-]*)\.(@[\w-]+\[-?\d+\]|[\w-]+)(?:\.([\w-]+))?=(.*)")
_TRUE, _FALSE = ("1", "on", "true", "yes", "enabled"), ("0", "off", "false", "no", "disabled", "")


def is_on(text: str, otherwise: bool = False) -> bool:
    """Returns a uci boolean."""
    # openwrt: lib/functions.sh config_get_bool, netifd's uci_attr_to_blob - 1, on, true, yes, enabled.
    lower = text.strip().lower()
    return True if lower in _TRUE else False if lower in _FALSE else otherwise


def read(file: str, text: str) -> Sequence[Radio | Shaper | Unread | Zone]:
    """Returns the radios, shapers and device sides of a file, and its options without a use."""
    mistakes = Mistakes(file)
    found: list[Radio | Shaper | Unread | Zone] = []
    others: dict[str, int] = {}
    is_shown = re.search(
        r"^\s*(?!config\b|option\b|list\b)((uci\s+(-\w\s+)*)?(set|add_list)\s+)?[\w-]+\.\S+=", text, re.MULTILINE
    )
    sections = list((_shown if is_shown else _sections)(text, mistakes))
    found += of(file, sections, mistakes, others)
    if others:
        told = ", ".join(f"{count} of {kind}" for kind, count in others.items())
        found.append(Unread(f"sections that are not imported: {told}", file))
    mistakes.tell()
    return found


def of(
    file: str, sections: Sequence[Section], mistakes: Mistakes, others: dict[str, int]
) -> Iterator[Radio | Shaper | Unread | Zone]:
    """Yields the facts of sections; counts sections of other kinds in `others`."""
    radios = [section for section in sections if section.kind == "wifi-device"]
    for section in sections:
        if section.kind == "wifi-device":
            own = _access_point(section.name, sections)
            yield _radio(file, section, own, sections, mistakes)
            yield from _unread(file, section, own)
        elif section.kind == "queue":
            yield _shaper(file, section, mistakes)
        elif section.kind == "wifi-mld":
            yield Unread(f"{section.name}: multi-link operation (802.11be) is not modelled", f"{file}:{section.line}")
        elif section.kind == "wifi-iface":
            yield from _other(file, section, radios, sections)
        elif section.kind in ("interface", "device") and (zones := list(_zones(file, section))):
            yield from zones
        else:
            others[section.kind] = others.get(section.kind, 0) + 1


def _other(
    file: str, section: Section, radios: Sequence[Section], sections: Sequence[Section]
) -> Iterator[Radio | Unread]:
    """Yields a comment for a network other than the radio's first access point."""
    if any(section is _access_point(radio.name, sections) for radio in radios):
        return
    device, mode = section.options.get("device", ""), section.options.get("mode", "ap")
    off = ", which is disabled" if is_on(section.options.get("disabled", "0")) else ""
    what = f"{section.name} of {device or 'no radio'}, mode {mode}{off}"
    yield Unread(f"{what}: {_MODES.get(mode, 'a scenario has one access point')}", f"{file}:{section.line}")


def _zones(file: str, section: Section) -> Iterator[Zone]:
    """Sides of the devices of a network; bridges list their ports."""
    options, where = section.options, f"{file}:{section.line}"
    if section.kind == "device":
        if options.get("type") == "bridge" and (options.get("name", "").startswith("br-")):
            yield from (Zone(name, "lan", where) for name in [options["name"], *options.get("ports", "").split()])
        return
    names = (options.get("device") or options.get("ifname") or "").split()
    proto = options.get("proto", "")
    if not names or proto == "none" or section.name == "loopback" or "lo" in names:
        return
    side = side_of(section.name, proto)
    if side:
        yield from (Zone(name, side, where) for name in names if not name.startswith("@"))
        if options.get("type") == "bridge":
            yield Zone(f"br-{section.name}", "lan", where)
        if proto in ("pppoe", "pppoa"):
            yield Zone(f"{proto}-{section.name}", "wan", where)


def side_of(name: str, proto: str) -> str:
    """The side of a logical interface, by its name, else by its protocol."""
    if re.match(r"(wan|wwan|modem|internet|uplink|dsl|lte|isp)", name.lower()):
        return "wan"
    if re.match(r"(lan|guest|iot|home|dmz)", name.lower()):
        return "lan"
    if proto in ("pppoe", "pppoa", "3g", "qmi", "ncm", "modemmanager", "dhcp", "dhcpv6"):
        return "wan"
    return "lan" if proto == "static" else ""


def _access_point(radio: str, sections: Sequence[Section]) -> Section | None:
    """The first access point of a radio that is not disabled."""
    for section in sections:
        options = section.options
        if _is_of(section, radio) and options.get("mode", "ap") == "ap" and not is_on(options.get("disabled", "0")):
            return section
    return None


def _off(options: Mapping[str, str], radio: str, sections: Sequence[Section]) -> str:
    """Reason why a radio has no access point; empty if it has one."""
    if is_on(options.get("disabled", "0")):
        return "is disabled"
    if options.get("band") == "60g" or options.get("hwmode") in ("11ad", "ad"):
        return "60 GHz is not modelled"
    # A part of the file may have radios without networks.
    own = [section for section in sections if _is_of(section, radio)]
    return "has no access point that is enabled" if own and _access_point(radio, sections) is None else ""


def _unread(file: str, radio: Section, own: Section | None) -> Iterator[Unread]:
    """Yields the options of a radio and its access point without a scenario key."""
    for section in (radio, own):
        left = [key for key in section.options if key not in (*_TAKEN, *_NAMES)] if section else []
        if section and left:
            told = ", ".join(f"{key} ({_WHY[key]})" if _WHY.get(key) else key for key in left)
            at = f"{file}:{radio.line} {radio.name}"
            yield Unread(f"{told} of {section.name}", f"{file}:{section.line}", at)


def _shown(text: str, mistakes: Mistakes) -> Iterator[Section]:
    """The sections of `uci show`, or of commands that set the options."""
    found: dict[str, Section] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = _SET.sub("", line.strip())
        if not words or _DONE.match(words):
            continue
        at = _SHOWN.fullmatch(words)
        try:
            values = shlex.split(at[4]) if at else []
        except ValueError:
            at = None
        if at is None:
            mistakes.add(number, words, "\"PACKAGE.SECTION.KEY='VALUE'\", as 'uci show' prints it")
            continue
        package, name, key, _ = at.groups()
        path = f"{package}.{name}"
        if key is None:
            found[path] = Section(values[0] if values else "", name, {}, {}, number)
            continue
        if path not in found:  # 'uci show wireless.radio0.htmode' prints no line of the section
            found[path] = Section(_kind_of(package, key), name, {}, {}, number)
        before = found[path].options.get(key) if "add_list" in line else None
        found[path].options[key] = " ".join([*([before] if before else []), *values])
        found[path].lines[key] = number
    yield from found.values()


def _kind_of(package: str, key: str) -> str:
    """Returns the type of a section whose type the output does not have."""
    if package == "wireless":
        is_radio = key in ("htmode", "hwmode", "band", "channel", "country", "type", "path", "txpower", "cell_density")
        return "wifi-device" if is_radio else "wifi-iface"
    return {"sqm": "queue", "network": "interface"}.get(package, package)


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
            before = section.options.get(words[1]) if words[0] == "list" else None
            section.options[words[1]] = f"{before} {words[2]}" if before else words[2]
            section.lines[words[1]] = number
        elif words[0] != "package":
            mistakes.add(number, line.strip(), '"config TYPE NAME", "option KEY VALUE" or "list KEY VALUE"')
    if section:
        yield section


_MODE = re.compile(r"(NOHT|HT|VHT|HE|EHT)(80\+80|\d*)[+-]?")


def _radio(file: str, section: Section, own: Section | None, sections: Sequence[Section], mistakes: Mistakes) -> Radio:
    options: Mapping[str, str] = section.options
    mode = _MODE.fullmatch(options.get("htmode", "NOHT"))
    if not mode and options.get("htmode") not in ("", "NONE", "none", "auto"):
        mistakes.add(section.lines["htmode"], f"htmode {options['htmode']}", "a mode such as HT40, VHT80 or HE80")
    family, width = (mode[1], mode[2]) if mode else ("NOHT", "")
    standard = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11ax"}.get(family)
    said = ["802.11be is not modelled: 802.11ax is used"] if family == "EHT" else []
    width_mhz = 20 if standard is None else None
    if width:
        width_mhz, why = modelled_width(width)
        said += why
    # Before 21.02, `hwmode` selected the band: 11a is 5 GHz, 11g is 2.4 GHz.
    old = {"11a": 5.0, "11g": 2.4, "11b": 2.4, "11ng": 2.4, "11na": 5.0}
    band = {"2g": 2.4, "5g": 5.0, "6g": 6.0}.get(options.get("band", "")) or old.get(options.get("hwmode", ""))
    disabled = options.get("disabled", "0")
    if is_on(disabled) and disabled not in ("1", "true"):
        said.append(f"guess: disabled {disabled} is read as 1; netifd accepts 1 and true")
    elif not is_on(disabled) and is_on(disabled, otherwise=True):
        said.append(f"disabled {disabled} is not a boolean; read as 0")
    if own and (own.options.get("mlo") == "1" or len(own.options.get("device", "").split()) > 1):
        said.append("multi-link operation (802.11be) is not modelled")
    power = options.get("txpower", "")
    channel = options.get("channel", "auto")
    if channel != "auto" and not re.fullmatch(r"\d{1,4}", channel):
        mistakes.add(section.lines["channel"], f"channel {channel}", "a number or auto")
    elif band is None and channel.isdecimal() and channel != "0":
        band = 2.4 if int(channel) <= 14 else 5.0
    keys = {"beacon_int": options["beacon_int"]} if re.fullmatch(r"\d{1,9}", options.get("beacon_int", "")) else {}
    if own and (period := own.options.get("dtim_period")) is not None:
        if re.fullmatch(r"\d{1,9}", period) and 1 <= int(period) <= _MOST_DTIM:
            keys["dtim_period"] = period
        else:
            mistakes.add(own.lines["dtim_period"], f"dtim_period {period}", f"a whole number from 1 to {_MOST_DTIM}")
    keys |= _more(section, band, said)
    names = [one.options["ifname"] for one in sections if _is_of(one, section.name) and one.options.get("ifname")]
    return Radio(
        section.name,
        band,
        int(channel) if channel.isdecimal() and channel != "0" else None,
        width_mhz,
        standard,
        keys,
        f"{file}:{section.line}",
        off=_off(options, section.name, sections),
        interfaces=names,
        said=said,
        txpower_dbm=float(power) if re.fullmatch(r"-?\d{1,2}(\.\d{1,2})?", power) else None,
    )


def _is_of(section: Section, radio: str) -> bool:
    # A multi-link network lists several radios.
    return section.kind == "wifi-iface" and radio in section.options.get("device", "").split()


def _more(section: Section, band: float | None, said: list[str]) -> dict[str, str]:
    """RTS threshold and lowest basic rate."""
    options, made = section.options, dict[str, str]()
    rts = options.get("rts", "off")
    if re.fullmatch(r"\d{1,5}", rts) and int(rts) in RTS_OFF:
        said.append(f"rts {rts}: longer than any MPDU, so RTS/CTS is off")
    elif re.fullmatch(r"\d{1,5}", rts) and int(rts) <= _MOST_RTS:
        made["rts_threshold"] = rts
    elif rts not in ("off", "", "-1"):
        said.append(f"rts {rts} is not a threshold from 0 to {_MOST_RTS}")
    # openwrt: hostapd.sh hostapd_set_rates (23.05) - cell_density 1, 2 and 3 begin with 6, 12 and 24 Mbit/s.
    density = {"1": "ofdm-6", "2": "ofdm-12", "3": "ofdm-24"}.get(options.get("cell_density", ""))
    if density:
        made["basic_rate"] = density
    elif band == 2.4 and "legacy_rates" in options and not is_on(options["legacy_rates"]):
        made["basic_rate"] = "ofdm-6"
    return made


_MOST_RTS = 65_535
RTS_OFF = (2_346, 2_347)
"""Thresholds that disable RTS in examples: the longest MPDU with one MSDU has 2,346 bytes."""


def _shaper(file: str, section: Section, mistakes: Mistakes) -> Shaper:
    options = section.options
    device, script = options.get("interface", section.name), options.get("script", "")

    def number(key: str, otherwise: int = 0) -> int:
        found = options.get(key) or str(otherwise)
        if not re.fullmatch(r"-?\d{1,15}" if key == "overhead" else r"\d{1,15}", found):
            mistakes.add(section.lines[key], f"{key} {found}", "a whole number")
            return 0
        return int(found)

    rates = {way: number(key, sqm.RATES[key]) for way, key in (("down", "download"), ("up", "upload"))}
    for key in ("overhead", "tcMPU"):
        number(key)
    enabled = options.get("enabled", "0")
    queue = sqm.queue(options, rates) if script else sqm.Queue({}, {}, [], [], {})
    unsaid = [key for key in sqm.RATES if not options.get(key)] if script else []
    odd = [f"guess: enabled {enabled} is read as 1"] if is_on(enabled) and enabled != "1" else []
    return Shaper(
        device,
        rates["down"],
        rates["up"],
        script,
        queue.down,
        queue.up,
        is_on(enabled),
        f"{file}:{section.line}",
        queue.unread,
        [*odd, *(f"no {key}: sqm-scripts use {sqm.RATES[key]} kbit/s" for key in unsaid), *queue.said],
        queue.bursts,
    )
