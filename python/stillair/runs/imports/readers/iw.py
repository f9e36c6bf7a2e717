"""Outputs of `iw`: `dev ... station dump`, `dev ... link`, `dev` and `dev ... info`, `phy` and `list`.

iw has no machine-readable format. Since 3.15 its lines have hardly changed, apart from new ones.
"""

import re
from collections.abc import Sequence

from stillair.runs.imports.facts import Interface, Peer, Phy, Unread
from stillair.runs.imports.lines import Mistakes, unrecognised
from stillair.runs.imports.rates import band_ghz, modelled_width, told
from stillair.runs.imports.readers import recognised

# Addresses are often redacted; accept any word.
_STATION = re.compile(r"Station (?:(\S.*?) )?\(on (\S+)\)")
_LINK = re.compile(r"Connected to (\S.*?) \(on (\S+)\)")
_COUNTS = (
    *("rx bytes", "rx packets", "tx bytes", "tx packets", "tx retries", "tx failed", "rx drop misc", "beacon loss"),
    *("airtime weight", "DTIM period"),
)
_TIMES = {"inactive time": "ms", "connected time": "seconds", "tx duration": "us", "rx duration": "us"}
_STANDARDS = ("802.11a", "802.11n", "802.11ac", "802.11ax")


def stations(file: str, text: str) -> Sequence[Peer | Unread]:
    """The stations of a dump; an `InputError` with a line for each that cannot be read."""
    mistakes, found, lost = Mistakes(file), list[Peer](), False
    strange: list[tuple[int, str]] = []
    link = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words:
            continue
        if words.startswith("Station "):
            head = _STATION.fullmatch(words)
            lost, link = not head, ""  # skips the lines below a damaged head
            if head:
                found.append(Peer((head[1] or "without an address").lower(), head[2], f"{file}:{number}"))
            else:
                mistakes.add(number, line, '"Station MAC (on INTERFACE)"')
        elif lost:
            continue
        elif not found:
            lost = True
            mistakes.add(number, line, 'a line "Station MAC (on INTERFACE)" first')
        elif at := re.fullmatch(r"Link (?:ID )?(\d+):?.*", words):
            link = at[1]
            found[-1].said.append(f"link {link} of a multi-link device (802.11be)")
        elif not recognised.is_of_station(words):
            strange.append((number, words))
        elif ":" in words and not link:  # values of the multi-link device are above those of its links
            _of_station(found[-1], number, line, mistakes)
    mistakes.tell()
    return [*found, *unrecognised(file, strange)]


def _of_station(peer: Peer, number: int, line: str, mistakes: Mistakes) -> None:
    key, colon, value = (part.strip() for part in line.partition(":"))
    expected = ""
    if not colon:
        expected = '"NAME: VALUE", as iw prints it'
    elif key in _COUNTS:
        expected = _count(peer, key, value, r"(\d+)", "a whole number")
    elif key in _TIMES:
        expected = _count(peer, key, value, rf"(\d+) {_TIMES[key]}", f"a whole number of {_TIMES[key]}")
    elif key in ("signal", "signal avg"):
        expected = _level(peer, key, value)
    elif key in ("tx bitrate", "rx bitrate") and not value.startswith("(unknown)"):
        expected = _bitrate(peer, key, value)
    elif key == "expected throughput" and (rate := re.fullmatch(r"([\d.]+) ?Mb(?:ps|it/s)", value)):
        peer.expected_mbps = _number(rate[1])
    elif key in ("mesh llid", "mesh plid", "mesh plink", "mesh local PS mode", "mesh peer PS mode"):
        peer.mesh = True
    elif key == "TDLS peer" and value == "yes":
        peer.said.append("TDLS peer: a direct link between stations")
    if expected:
        mistakes.add(number, line, expected)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _count(peer: Peer, key: str, value: str, form: str, expected: str) -> str:
    found = re.fullmatch(form, value)
    if found:
        peer.counts[key] = int(found[1])
    return "" if found else expected


def _level(peer: Peer, key: str, value: str) -> str:
    found = re.match(r"(-?\d+)(?: \[[-\d, ]*\])? dBm$", value)
    if found and int(found[1]) < 0 and (key == "signal avg" or peer.signal_dbm is None):
        # Prefer the average. Drivers without a level report 0 or a positive number.
        peer.signal_dbm = int(found[1])
    return "" if found else "a level in dBm"


def _bitrate(peer: Peer, key: str, value: str) -> str:
    try:
        rate = told(value)
    except ValueError:
        return "a bit rate such as 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2"
    if key == "tx bitrate":
        peer.tx = rate
    else:
        peer.rx = rate
    return ""


def link(file: str, text: str) -> Sequence[Peer | Interface | Unread]:
    """The access point of `iw dev ... link`, seen from this machine as a station."""
    mistakes, peer = Mistakes(file), None
    found: list[Peer | Interface | Unread] = []
    strange: list[tuple[int, str]] = []
    links: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        key, _, value = (part.strip() for part in line.partition(":"))
        if head := _LINK.fullmatch(line.strip()):
            peer = Peer(head[1].lower(), head[2], f"{file}:{number}", counts={"beacon loss": 0})
            found.append(peer)
        elif line.strip() == "Not connected.":
            found.append(Unread("iw link: the interface is not connected", f"{file}:{number}"))
        elif not found and line.strip():
            mistakes.add(number, line, 'a line "Connected to MAC (on INTERFACE)" first')
            break
        elif peer and key in ("signal", "rx bitrate", "tx bitrate"):
            _of_station(peer, number, line, mistakes)
        elif peer and key == "dtim period":
            _of_station(peer, number, f"DTIM period: {value}", mistakes)
        elif peer and key == "freq":
            if at := re.fullmatch(r"(\d{1,6})(?:\.\d+)?", value):
                links.append(int(at[1]))
            else:
                mistakes.add(number, line, "a frequency in MHz")
        elif peer and re.match(r"Link \d+|MLD", key):
            peer.said.append(f"{line.strip().rstrip(':')}: multi-link operation (802.11be)")
        elif line.strip() and not recognised.LINK.fullmatch(line.strip()):
            strange.append((number, line.strip()))
    mistakes.tell()
    if peer:
        mhz = _of_links(peer, links)
        found.append(Interface(peer.interface, "managed", mhz, None, None, peer.where))
    return [*found, *unrecognised(file, strange)]


def _of_links(peer: Peer, links: Sequence[int]) -> int | None:
    """Returns the frequency of a connection in MHz, for several links that of the band with the rates."""
    if len(set(links)) > 1:
        wide = any(rate and "320MHz" in rate.told for rate in (peer.tx, peer.rx))
        links = sorted(links, key=lambda mhz: band_ghz(mhz) != 6.0) if wide else links
        others = ", ".join(f"{mhz} MHz" for mhz in dict.fromkeys(links) if mhz != links[0])
        peer.said.append(f"guess: all traffic uses the link at {links[0]} MHz, none uses {others}")
    return links[0] if links else None


def power_save(file: str, text: str) -> Sequence[Interface | Unread]:
    """The output of `iw dev INTERFACE get power_save`; the command names the interface."""
    found, strange = list[Interface](), list[tuple[int, str]]()
    for number, line in enumerate(text.splitlines(), 1):
        if at := re.fullmatch(r"Power save: (on|off)", line.strip()):
            where = f"{file}:{number}"
            found.append(Interface("", "unknown", None, None, None, where, power_save=at[1] == "on"))
        elif line.strip():
            strange.append((number, line.strip()))
    return [*found, *unrecognised(file, strange)]


_CHANNEL = re.compile(
    r"channel \d+ \((\d+)(?:\.\d+)? MHz(?: HT\d+[+-]?)?\)"
    r"(?:,? width: (?P<w>80\+80|[\d.]+) MHz| (?:NO HT)| (?P<ht>HT\d+)[+-]?)?"
)


def interfaces(file: str, text: str) -> Sequence[Interface | Unread]:
    """The interfaces of `iw dev` or `iw dev ... info`."""
    mistakes, found = Mistakes(file), list[Interface]()
    strange: list[tuple[int, str]] = []
    name, where, keys = "", "", dict[str, str]()
    channels: list[tuple[int, int | None, list[str]]] = []
    said: list[str] = []

    def end() -> None:
        if name:
            # Several links: use the widest that is modelled, else the first.
            channels.sort(key=lambda one: -(one[1] or 0))
            mhz, width, about = next(iter(channels), (None, None, []))
            links = [(at, wide) for at, wide, _ in channels] if len(channels) > 1 else []
            power = float(keys["txpower"]) if "txpower" in keys else None
            kind = keys.get("type", "unknown")
            found.append(Interface(name, kind, mhz, width, power, where, [*about, *said], links=links))

    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if head := re.fullmatch(r"Interface (\S+)", words):
            end()
            name, where, keys, channels, said = head[1], f"{file}:{number}", {}, [], []
        elif words.startswith("Unnamed/non-netdev"):
            end()
            name = ""
        elif words.startswith("channel "):
            if channel := _CHANNEL.match(words):
                width, about = modelled_width(channel["w"] or (channel["ht"] or "HT20")[2:])
                channels.append((int(channel[1]), width, about))
            else:
                mistakes.add(number, words, '"channel 36 (5180 MHz), width: 80 MHz, ..."')
        elif words.startswith("type "):
            keys["type"] = words.removeprefix("type ")
        elif words == "4addr: on":
            said.append("4addr (WDS): hosts bridged behind the peer are not modelled")
        elif words.startswith("txpower "):
            power = re.fullmatch(r"txpower (-?\d+(?:\.\d+)?) dBm", words)
            if power:
                keys["txpower"] = power[1]
            else:
                mistakes.add(number, words, '"txpower 20.00 dBm"')
        if words and not recognised.INTERFACE.fullmatch(words):
            strange.append((number, words))
    end()
    mistakes.tell()
    return [*found, *unrecognised(file, strange)]


def phys(file: str, text: str) -> Sequence[Phy | Unread]:
    """The devices of `iw phy` or `iw list`: the newest standard of each band, its streams, its greatest width."""
    mistakes, found = Mistakes(file), list[Phy]()
    bands: dict[float, tuple[str, int, int]] = {}
    band = 0.0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if head := re.fullmatch(r"Wiphy (\S+)", words):
            band, bands = 0.0, {}
            found.append(Phy(head[1], bands, f"{file}:{number}"))
        elif at := re.fullmatch(r"Band (\d+):", words):
            # linux: include/uapi/linux/nl80211.h enum nl80211_band (6.12), counted from 1: 2.4, 5, 60, 6 GHz.
            band = {"1": 2.4, "2": 5.0, "4": 6.0}.get(at[1], 0.0)
        elif found and band:
            before = bands.get(band, (_STANDARDS[0], 1, 20))
            after = _can(words, band, before)
            if after is None:
                mistakes.add(number, words, '"... supported: 0-15"')
            else:
                bands[band] = after
    mistakes.tell()
    return [*found, *unrecognised(file, _not_of_phys(text))]


def _not_of_phys(text: str) -> list[tuple[int, str]]:
    """Lines without the indentation of `iw phy`.

    If all have lost it, lines after the last line of a known form.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    others = [(number, line) for number, line in lines if not re.match(r"\s*Wiphy \S+$", line)]
    if any(line[0].isspace() for _, line in others):
        return [(number, line.strip()) for number, line in others if not line[0].isspace()]
    last = max((at for at, (_, line) in enumerate(others) if recognised.PHY.fullmatch(line)), default=-1)
    return others[last + 1 :]


def _can(words: str, band: float, before: tuple[str, int, int]) -> tuple[str, int, int] | None:
    """Returns the capabilities of a band after a line; `None` if the line cannot be read."""
    standard, streams, width = before
    if words.startswith(("HT TX/RX MCS rate indexes", "HT RX MCS rate indexes")):
        highest = re.search(r"0-(\d+)", words)
        if not highest:
            return None
        standard, streams = _newer(standard, "802.11n"), max(streams, int(highest[1]) // 8 + 1)
    elif words == "HT20/HT40":
        width = max(width, 40)
    elif words.startswith("VHT Capabilities") and band != 2.4:
        standard, width = _newer(standard, "802.11ac"), max(width, 80)
    elif words.startswith("HE PHY Capabilities"):
        standard = "802.11ax"
    elif words.startswith("HE40/HE80/5GHz"):
        width = max(width, 80)
    elif words.startswith("HE160/5GHz") or (words.startswith("Supported Channel Width:") and "160 MHz" in words):
        width = 160
    elif at := re.fullmatch(r"([1-8]) streams: MCS .*", words):
        streams = max(streams, int(at[1]))
    return standard, streams, width


def _newer(one: str, other: str) -> str:
    return max(one, other, key=_STANDARDS.index)
