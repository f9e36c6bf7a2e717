"""The parts of a network for `stillair new`."""

import json
import re
from dataclasses import dataclass
from typing import NamedTuple

from stillair._native import InputError
from stillair.explain.access import RAW, Framing
from stillair.explain.access import lines as access_lines

STANDARDS = ("802.11g", "802.11a", "802.11n", "802.11ac", "802.11ax")
SHAPERS = ("none", "cake", "fq_codel")
POWER_SAVES = ("none", "mac80211", "iwlwifi", "ath10k", "brcmfmac", "mwifiex", "qcacld", "phone", "static")
BUFFER = "200 ms"
"""Default buffer of the modem and its peer."""
TRAFFIC = ("download", "upload", "call", "video", "streaming", "web", "game", "ping")
TO_ALL = ("download", "upload", "ping")
"""Default traffic: `TO_ALL` kinds on every station, the others on the first."""
TRAFFIC_MEANS = (
    "KIND=STATION selects a station; by default, download, upload and ping apply to every station, the others to the"
    " first; call is voice and video the picture of a video call, both at constant rates; streaming is video in"
    " segments over TCP"
)
KERNEL = "linux-6.6"
"""Default kernel of all hosts; the server always has it."""
KERNELS = (
    *(f"linux-{version}" for version in ("3.13", "3.19", "4.4", "4.6", "4.14", "4.19")),
    *(f"linux-{version}" for version in ("5.10", "5.15", "6.1", "6.6", "6.12", "6.18")),
    *("windows-10", "macos-10.11", "openwrt-23.05", "openwrt-24.10"),
)
"""Accepted `profile` values."""

WIDEST = {"802.11g": 20, "802.11a": 20, "802.11n": 40, "802.11ac": 80, "802.11ax": 160}
"""In MHz. Minstrel-HT has no 160 MHz rates for 802.11ac."""


class Station(NamedTuple):
    """A station, by distance, SNR or rate."""

    name: str
    place: str
    """Interface key: `distance`, `snr` or `rate`."""
    value: str
    power_save: str | None = None
    """Overrides the power save of all stations."""


class Traffic(NamedTuple):
    """Traffic of one of the `TRAFFIC` kinds, and its station."""

    kind: str
    station: str | None = None
    """`None`: every station for `TO_ALL` kinds, else the first."""


class Access(NamedTuple):
    """The access line."""

    down_mbps: float
    up_mbps: float
    shaper: str = "none"
    buffer: str | None = None
    """Longest queueing delay in the modem and its peer; `None` if the preset defines both."""
    line: str | None = None
    """Preset with these rates."""
    framing: Framing = RAW
    """Per-packet framing."""


@dataclass(frozen=True)
class Home:
    """An access point with its stations, a server, and their traffic."""

    name: str
    stations: tuple[Station, ...]
    traffic: tuple[Traffic, ...]
    standard: str = "802.11ac"
    width_mhz: int = 80
    streams: int = 2
    kernel: str = KERNEL
    """Kernel of the access point, and of stations unless it is an OpenWrt release."""
    scheme: str | None = None
    access: Access | None = None
    delay: str = "10 ms"
    """One-way delay between server and home."""
    power_save: str | None = None
    """Default power save of the stations."""

    def having(self, kind: str) -> list[str]:
        """Stations with traffic of this kind, in order."""
        wanted = {one.station for one in self.traffic if one.kind == kind}
        names = [one.name for one in self.stations]
        if None in wanted:
            wanted |= set(names if kind in TO_ALL else names[:1])
        return [name for name in names if name in wanted]

    @property
    def is_openwrt(self) -> bool:
        """True if the access point runs OpenWrt."""
        return self.kernel.startswith("openwrt-")

    @property
    def station_kernel(self) -> str:
        """Kernel of the stations. Clients never run OpenWrt."""
        return KERNEL if self.is_openwrt else self.kernel

    @property
    def band(self) -> str:
        """The channel's band."""
        return "2.4 GHz" if self.standard == "802.11g" else "5 GHz"


def station(text: str) -> Station:
    """Parses `NAME=10 m`, `NAME=30 dB` or `NAME=RATE`, optionally with `,power-save` or `,power-save=KIND`."""
    placed, comma, more = text.partition(",")
    own = _placed(text, *(part.strip() for part in placed.partition("=")))
    return own._replace(power_save=_saves(text, more.strip())) if comma else own


def _placed(text: str, name: str, equals: str, value: str) -> Station:
    if equals and value and name and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise InputError(f'--station: found the name "{name}", expected letters, digits, "-" and "_", without blanks')
    if not equals or not name or not value:
        raise InputError(
            f'--station: found "{text}", expected NAME=DISTANCE, NAME=SNR or NAME=RATE,'
            ' such as "laptop=5 m", "tv=30 dB" or "old=ht20-mcs0-lgi"'
        )
    if found := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:m|meters?|metres?)", value):
        return Station(name, "distance", f"{found[1]} m")
    if found := re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*dB", value, re.IGNORECASE):
        return Station(name, "snr", f"{found[1]} dB")
    if re.match(r"-?[\d.]", value):
        raise InputError(
            f'--station: found "{text}", expected a distance in m such as "{name}=5 m", a signal-to-noise ratio in dB'
            f' such as "{name}=30 dB", or the name of a rate'
        )
    return Station(name, "rate", value)


def _saves(text: str, said: str) -> str:
    """Parses the power save of one station. The default kind is `phone`."""
    key, equals, kind = (part.strip() for part in said.partition("="))
    kind = kind if equals else "phone"
    if key != "power-save" or kind not in POWER_SAVES:
        kinds = ", ".join(POWER_SAVES)
        raise InputError(
            f'--station: found "{text}", expected only "power-save" (a phone) after the place,'
            f' or "power-save=KIND" with one of {kinds}'
        )
    return kind


def width(text: str) -> int:
    """Parses a channel width: `80` or `80 MHz`."""
    found = re.fullmatch(r"(20|40|80|160)\s*(?:MHz)?", text.strip(), re.IGNORECASE)
    if not found:
        raise InputError(f'--width: found "{text}", expected 20, 40, 80 or 160 MHz')
    return int(found[1])


def access(text: str, shaper: str, buffer: str | None) -> Access:
    """Parses an access line: `DOWN/UP` in Mbit/s."""
    unit = r"\s*(?:Mbit/s|Mbps|M)?\s*"
    found = re.fullmatch(rf"\s*(\d+(?:\.\d+)?){unit}/\s*(\d+(?:\.\d+)?){unit}", text, re.IGNORECASE)
    if not found or not all(0.1 <= float(rate) <= 10_000 for rate in found.groups()):
        raise InputError(
            f'--internet: found "{text}", expected rates down and up in Mbit/s, 0.1 to 10000, such as "100/20"'
        )
    return Access(float(found[1]), float(found[2]), shaper, buffer or BUFFER, framing=_framing(None))


def line(name: str, shaper: str, buffer: str | None) -> Access:
    """Returns an access line by its preset."""
    from stillair._native import lines  # noqa: PLC0415 - only used here
    from stillair.text.nearest import hint  # noqa: PLC0415 - only for errors

    known = json.loads(lines())
    if name not in known:
        raise InputError(f'--line: found "{name}", expected one of {", ".join(known)}{hint(name, known)}')
    own = known[name]
    if buffer is None and None in own["buffers_ms"]:
        buffer = BUFFER  # no source documents this line's buffer
    down, up = (bps / 1e6 for bps in own["rates_bps"])
    return Access(down, up, shaper, buffer, name, _framing(name))


_PROBE = """
name = "probe"
link.wan = {{ kind = "access", {line}, buffer = "1 s", delay = "1 ms" }}
node.server = {{ profile = "linux-6.6", interface.eth0.link = "wan" }}
node.ap = {{ profile = "linux-6.6", forward = true, interface.eth0.link = "wan" }}
"""


def _framing(line: str | None) -> Framing:
    """Returns the framing that the scenario reader assigns to a preset, or to a line with rates only."""
    from stillair._native import resolve  # noqa: PLC0415 - only used here

    text = _PROBE.format(line=f'line = "{line}"' if line else 'rate = "1 Mbit/s"')
    (of,) = access_lines(json.loads(resolve(text, "probe", [])))
    return of.framing


def check(home: Home) -> None:
    """Raises `InputError` if the options do not form a network."""
    if not home.stations:
        raise InputError("--station: found none, expected at least one")
    names = [one.name for one in home.stations]
    reserved = {"server", "ap"}
    for at, name in enumerate(names):
        if name in names[:at] or name in reserved:
            raise InputError(f'--station: found "{name}" a second time, expected a name of its own')
    widest = WIDEST[home.standard]
    if home.width_mhz > widest:
        raise InputError(f"--width: found {home.width_mhz}, expected at most {widest} MHz with {home.standard}")
    for at, one in enumerate(home.traffic):
        if one.station is not None and one.station not in names:
            raise InputError(
                f'--traffic: found "{one.kind}={one.station}", expected one of the stations {", ".join(names)}'
            )
        if one in home.traffic[:at]:
            raise InputError("--traffic: found one twice, expected each once")
