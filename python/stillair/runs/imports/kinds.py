"""The reader of each part of a file, chosen by its content."""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.runs.imports import pasted, qdiscs
from stillair.runs.imports.captures import capture, frames
from stillair.runs.imports.facts import Class, Fact, Interface, Peer, Qdisc, Unread
from stillair.runs.imports.lines import quoted, unrecognised
from stillair.runs.imports.loads import crusader, flent
from stillair.runs.imports.openwrt import uci
from stillair.runs.imports.pasted import Part
from stillair.runs.imports.readers import iw, iwinfo, netdevs, recognised, settings, tc, ubus, wpa
from stillair.text import source
from stillair.text.source import Stream

MOST_BYTES = source.TEXT
"""Size limit of a text; captures are read packet by packet."""


class UnknownFileError(InputError):
    """A file without a reader: others can still make a scenario."""


class Kind(NamedTuple):
    """A kind of text."""

    name: str
    head: str
    """Pattern of a line that starts it; empty if it has no such line."""
    sign: str
    """Pattern that identifies a text without a head line; empty if a head line is required."""
    read: Callable[[str, str], Sequence[Fact]]


_SHOWN_WORDS = 60
_NEED = "'iw dev INTERFACE station dump' and 'iw dev' print what is read"


_LISTED: list[Callable[[str, str], Sequence[Fact]]] = [netdevs.routes]
"""Readers that only list their output as left out."""


def _quoted(what: str) -> Callable[[str, str], Sequence[Fact]]:
    """Returns a reader that lists each line verbatim."""

    def read(file: str, text: str) -> Sequence[Fact]:
        lines = [(number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        return [Unread(f'{what}: "{line[:_SHOWN_WORDS]}"', f"{file}:{number}") for number, line in lines]

    _LISTED.append(read)
    return read


def _unread(what: str) -> Callable[[str, str], Sequence[Fact]]:
    """Returns a reader for a kind without scenario keys."""

    def read(file: str, text: str) -> Sequence[Fact]:
        first = next((number for number, line in enumerate(text.splitlines(), 1) if line.strip()), 1)
        return [Unread(what, f"{file}:{first}")]

    _LISTED.append(read)
    return read


_ERRORS = (
    r"\s*(command failed: .*\(-?\d+\)|Usage:\s|Cannot find device \"|Device \"[^\"]*\" does not exist"
    r"|uci: (Entry|Parse)|(-?(ba|a|z)?sh|sudo): .*|nl80211 not found|RTNETLINK answers: |Error: |Command failed: "
    r"|Failed to connect to (ubus|.*wpa_supplicant|.*hostapd|non-global ctrl_ifname)|No such wireless device"
    r"|Could not connect to (wpa_supplicant|hostapd)|cat: .*: No such file or directory)"
)
KINDS = (
    Kind("error messages", _ERRORS, "", _quoted("the command failed")),
    Kind(
        "commands of tc",
        r"\s*(sudo\s+)?tc\s+(-\S+\s+)*(qdisc|class|filter)\s+(add|replace|change|del|delete)\b",
        "",
        _quoted("a command, not its effect, which 'tc -s qdisc' prints"),
    ),
    Kind("tc monitor", r"\s*[Dd]eleted (qdisc|class|filter) ", "", _quoted("no longer there")),
    Kind(
        "LuCI's status page",
        r"\s*(Mode:? +\w+ *\| *SSID|Network\s+MAC[- ][Aa]ddress\s+Host)",
        "",
        _unread(f"LuCI's status page is not read: {_NEED}"),
    ),
    Kind(
        "iw dev INTERFACE station dump",
        r"\s*Station (\S.* \(on|\(on |[0-9A-Za-z*]{2}[:-]|<|REDACTED|\[)",
        "",
        iw.stations,
    ),
    Kind("iw dev INTERFACE link", r"\s*(Connected to \S.* \(on|Not connected\.\s*$)", "", iw.link),
    Kind("iw dev INTERFACE get power_save", r"\s*Power save: (on|off)\s*$", "", iw.power_save),
    Kind("iw phy", r"\s*Wiphy \S+\s*$", "", iw.phys),
    Kind("iw dev", r"\s*(phy#\d+|Interface \S+|Unnamed/non-netdev interface)\s*$", "", iw.interfaces),
    Kind("tc -s qdisc", r"\s*qdisc [\w-]+ \S+ ", "", tc.qdiscs),
    Kind("tc -s class", r"\s*class [\w-]+ \S*:\S* ", "", tc.classes),
    Kind("tc -j -s qdisc, tc -j class, ip -j addr, ubus call", r"\s*(\{|\[\s*(\{|\]|$))", "", lambda *_: []),
    Kind(
        "OpenWrt's /etc/config/wireless, sqm, network, and uci show",
        r"\s*(config [\w-]+(\s|$)|package \w+\s*$|((uci\s+(-\w\s+)*)?(set|add_list)\s+)?"
        r"(wireless|sqm|network|dhcp|firewall|system)\.\S+?=|uci\s+(-\w\s+)*(commit|delete|del_list|revert)\b)",
        "",
        uci.read,
    ),
    Kind("iwinfo", r"\s*\S+\s+ESSID: ", "", iwinfo.interfaces),
    Kind(
        "iwinfo INTERFACE assoclist",
        r"\s*(\S+\s+(-?\d+|unknown)( dBm)? / (-?\d+|unknown)( dBm)? \(SNR |No station connected\s*$)",
        "",
        iwinfo.associated,
    ),
    Kind("iwconfig", r"\s*\S+ +(IEEE 802\.11|no wireless extensions\.)", "", iwinfo.iwconfig),
    Kind("ip addr, ip link", r"\s*\d+: [\w.:@-]+: <[A-Z,_0-9-]*>", "", netdevs.ip),
    Kind("ip route", recognised.ROUTE_HEAD, "", netdevs.routes),
    Kind("ifconfig", r"\s*\S+(\s+Link encap:|: flags=\d+<)", "", netdevs.ifconfig),
    Kind("sysctl net.ipv4", r"\s*net[./]\w+[./]\S+\s*=", "", settings.sysctl),
    Kind(
        "ethtool",
        r"\s*(driver: |(Features|Coalesce parameters|Ring parameters|Settings) for \S+:)",
        "",
        settings.ethtool,
    ),
    Kind(
        "uname -a",
        rf"\s*({settings.KERNEL}|(DISTRIB_\w+|PRETTY_NAME|VERSION_ID|NAME)=|"
        r"(Firmware Version:?\s+)?OpenWrt (SNAPSHOT|\d+\.\d+\S*),? r\d+)",
        "",
        settings.kernel,
    ),
    Kind("/etc/openwrt_version", "", r"\A\Z", settings.openwrt_version),
    Kind(
        "iw dev INTERFACE survey dump", r"\s*Survey data from \S+", "", _unread("iw survey: channel load is not read")
    ),
    Kind("iw reg get", r"\s*(global|phy#\d+ .*managed.*)$", "", _unread("iw reg: regulatory rules are not read")),
    Kind("iw dev INTERFACE scan", r"\s*BSS \S+\(on \S+\)", "", _unread("iw scan: neighbouring networks")),
    Kind(
        "wpa_supplicant.conf", r"\s*network=\{\s*$", "", _unread("wpa_supplicant.conf: networks that a station knows")
    ),
    Kind("wpa_cli status", "", r"^\s*wpa_state=", wpa.status),
    Kind("wpa_cli signal_poll", "", r"^\s*LINKSPEED=", wpa.signal),
    Kind(
        "hostapd_cli status", "", r"^\s*state=(ENABLED|DISABLED|DFS|ACS|HT_SCAN|COUNTRY_UPDATE)\s*$", wpa.hostapd_status
    ),
    Kind("hostapd_cli all_sta", "", r"^\s*((rx|tx)_rate_info=|flags=\[AUTH|dot11RSNAStats)", wpa.all_stations),
    Kind(
        "cake-autorate's config",
        "",
        r"^\s*(dl_if|ul_if|adjust_dl_shaper_rate|min_dl_shaper_rate_kbps)=",
        _unread("cake-autorate: rates that change while the router runs; 'tc -s qdisc' has those of a moment"),
    ),
    Kind("nvram", "", r"^\s*(wl\d?|ath\d)_\w+=", _unread("nvram of DD-WRT or another firmware: settings are not read")),
    Kind(
        "hostapd.conf",
        "",
        r"^\s*(hw_mode|ieee80211(n|ac|ax|be)|he_oper_chwidth|vht_oper_chwidth)=|^\s*interface=\S+\s(?:.*\n)*\s*(ssid|channel)=",
        settings.hostapd,
    ),
)
_JSON = next(kind for kind in KINDS if kind.name.startswith("tc -j"))
_HEADS = [(re.compile(kind.head), kind.name) for kind in KINDS if kind.head]
_BY_NAME = {kind.name: kind for kind in KINDS}


def names() -> str:
    """The kinds that are read, as text."""
    read = [kind.name for kind in KINDS if kind.read not in _LISTED]
    return "; ".join(read) + "; a capture with radiotap; a Flent file; a crusader result"


def read(path: Path, way: str = "") -> Sequence[Fact]:
    """Returns the facts of a file; raises an `InputError` with its mistakes, `UnknownFileError` if it has no reader.

    `way` is `up` or `down` for the qdiscs of a file without device names.
    """
    file = str(path)
    with _opened(path) as stream:
        if frames.looks_like(stream.peek(8)):
            return capture.read(stream)
        if crusader.looks_like(stream.peek(8)):
            return crusader.read(file, _whole(stream, crusader.MOST_BYTES, "a crusader result"))
        if flent.looks_like(stream.peek(flent.HEAD)):
            try:
                return flent.read(file, _whole(stream, flent.MOST_BYTES, "a Flent file"))
            except InputError as error:
                # A compressed file may be any archive; a plain one is a damaged Flent file.
                raise UnknownFileError(str(error)) if stream.form else error from None
        data = _whole(stream, MOST_BYTES, "text")
    if not data.strip():
        raise UnknownFileError(f"{file}: is empty")
    if data[257:262] == b"ustar":
        raise UnknownFileError(
            f"{file}: is a tar archive, such as a backup of OpenWrt, expected files unpacked from it"
        )
    if pasted.is_binary(data):
        at = next((at for at, byte in enumerate(data) if byte > 126 or byte < 9), 0)
        raise UnknownFileError(
            f"{file}: found a byte at {at} that is not text, expected text, a capture, a Flent file or a"
            " crusader result"
        )
    found = text(file, pasted.decoded(data))
    return [dataclasses.replace(one, way=way) if isinstance(one, (Qdisc, Class)) else one for one in found]


@contextmanager
def _opened(path: Path) -> Iterator[Stream]:
    """The content of a file, unpacked if it is compressed."""
    with ExitStack() as held:
        try:
            stream = held.enter_context(source.opened(path))
        except IsADirectoryError:
            raise UnknownFileError(f"{path}: is a directory, expected a file") from None
        except OSError as error:
            raise UnknownFileError(f"{path}: cannot be read: {error.strerror}") from None
        except InputError as error:
            raise UnknownFileError(str(error)) from None
        yield stream


def _whole(stream: Stream, most: int, what: str) -> bytes:
    """Returns the content of a file other than a capture; raises `UnknownFileError` if it is too large or damaged."""
    try:
        return stream.whole(most, what)
    except InputError as error:
        raise UnknownFileError(str(error)) from None


def text(file: str, content: str) -> Sequence[Fact]:
    """The facts of a text with one or more outputs."""
    if long := re.search(r"\d{400}", content):
        where = f"{file}:{content.count(chr(10), 0, long.start()) + 1}"
        raise InputError(f"{where}: found a number of hundreds of digits, expected what a program prints")
    found: list[Fact] = []
    unknown: list[Part] = []
    known = False
    parts = list(pasted.parts(pasted.clean(content), _head))
    for at, part in enumerate(parts):
        if not part.lines:
            found += _nothing(file, part)
            known = known or pasted.is_output(part.command)
            continue
        if part.own and any(
            one.own and (one.command, one.kind) == (part.command, part.kind) for one in parts[at + 1 :]
        ):
            found.append(Unread(f"an earlier output of '{part.command}'", f"{file}:{part.first}"))
            continue
        kind = _BY_NAME[part.kind] if part.kind else _of_sign(part)
        if kind is None:
            unknown.append(part)
            continue
        known = True
        facts = _json(file, part) if kind is _JSON else kind.read(file, part.text())
        found += _named(facts, part.command)
    if not known:
        first = f' (it begins "{_first(unknown[0])}")' if unknown else ""
        raise UnknownFileError(f"{file}: found nothing that is recognised{first}, expected one of: {names()}")
    for part in unknown:
        found.append(Unread(quoted(_first(part), len(part.lines)), f"{file}:{part.first}"))
    return found


def _first(part: Part) -> str:
    return " ".join(next(iter(part.lines.values())).split())[:_SHOWN_WORDS]


def _nothing(file: str, part: Part) -> list[Fact]:
    """Returns facts about a command without output."""
    if not pasted.is_output(part.command):
        return []
    why = ": no station is connected" if re.search(r"station\s+dump|assoclist", part.command) else ""
    return [Unread(f"'{part.command}' printed nothing{why}", f"{file}:{part.at}")]


def _head(line: str) -> str | None:
    return next((name for head, name in _HEADS if head.match(line)), None)


def _of_sign(part: Part) -> Kind | None:
    if part.command.endswith("/etc/openwrt_version"):
        return _BY_NAME["/etc/openwrt_version"]
    own = "\n".join(part.lines.values())
    return next((kind for kind in KINDS if kind.sign and re.search(kind.sign, own, re.MULTILINE)), None)


def _json(file: str, part: Part) -> list[Fact]:
    """The facts of one or more JSON values."""
    content, at, found = part.text(), 0, list[Fact]()
    decoder = json.JSONDecoder()
    while rest := content[at:].lstrip(" \n\t,;"):
        at = len(content) - len(rest)
        line = content.count("\n", 0, at) + 1
        if rest[0] not in "[{":
            others = [(number, one) for number, one in enumerate(rest.splitlines(), line) if one.strip()]
            found += unrecognised(file, others)
            break
        try:
            value, at = decoder.raw_decode(content, at)
            source.check_letters(value, content)
        except (json.JSONDecodeError, RecursionError) as error:
            where = (
                f"{error.lineno}: found text that is not JSON at column {error.colno} ({error.msg})"
                if isinstance(error, json.JSONDecodeError)
                else f"{line}: found JSON that is nested too deep"
            )
            raise InputError(f"{file}:{where}, expected what 'tc -j -s qdisc' or 'ubus call' prints") from None
        except ValueError as error:  # a number of thousands of digits
            raise InputError(f"{file}:{line}: found JSON that cannot be read: {error}") from None
        found += _of_value(file, value, line)
    return found


def _of_value(file: str, value: Any, line: int) -> Sequence[Fact]:  # noqa: ANN401 - any JSON value
    rows = value if isinstance(value, list) else [value]
    if not rows or any(isinstance(row, dict) and ("kind" in row or "class" in row) for row in rows):
        return qdiscs.of(file if line == 1 else f"{file}:{line}", value)
    if any(isinstance(row, dict) and "ifname" in row and "flags" in row for row in rows):
        return netdevs.ip_json(file, rows)
    found = ubus.of(file, value, line)
    return [Unread("JSON of an unknown kind", f"{file}:{line}")] if found is None else found


def _named(found: Sequence[Fact], command: str) -> list[Fact]:
    """Facts with the device of the command that printed them; several devices name the outputs in their order."""
    devices = re.findall(r"\bdev\s+([\w.@-]+)", command)
    outputs = _outputs(found)
    fits = len(devices) == 1 or len(devices) == max(outputs.values(), default=-1) + 1
    made: list[Fact] = []
    for at, one in enumerate(found):
        if at in outputs and devices and fits:
            one = dataclasses.replace(one, device=devices[0 if len(devices) == 1 else outputs[at]])  # noqa: PLW2901
        elif isinstance(one, Peer) and not one.interface:
            one.interface = _interface(command)
        elif isinstance(one, Interface) and not one.name:
            one = dataclasses.replace(one, name=_interface(command))  # noqa: PLW2901
        made.append(one)
    return made


def _outputs(found: Sequence[Fact]) -> dict[int, int]:
    """Maps nameless disciplines and classes to outputs; a second root or a repeated class starts the next output."""
    made, number, seen = dict[int, int](), 0, set[str]()
    for at, one in enumerate(found):
        if isinstance(one, (Qdisc, Class)) and one.device == qdiscs.NAMELESS:
            key = f"class {one.handle}" if isinstance(one, Class) else "root" if one.root else ""
            if key and key in seen:
                number, seen = number + 1, set()
            seen.add(key)
            made[at] = number
    return made


def _interface(command: str) -> str:
    """The Wi-Fi interface of a command; empty if there are several or none."""
    form = r"\biw(?:\s+dev)?\s+([\w.-]+)\s+get\b"
    form += r"|hostapd\.([\w.-]+)|iwinfo ([\w.-]+)|-i\s*([\w.-]+)|\"device\"\s*:\s*\"([\w.-]+)\""
    names = {next(word for word in one if word) for one in re.findall(form, command)} - {"info", "assoclist"}
    return names.pop() if len(names) == 1 else ""
