"""What a network has of which a scenario is written."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from stillair._native import InputError

STANDARDS = ("802.11g", "802.11a", "802.11n", "802.11ac", "802.11ax")
SHAPERS = ("none", "cake", "fq_codel")
TRAFFIC = ("download", "upload", "call", "web", "ping")

WIDEST = {"802.11g": 20, "802.11a": 20, "802.11n": 40, "802.11ac": 80, "802.11ax": 160}
"""MHz; 160 of 802.11ac are not among what Minstrel-HT has."""


class Station(NamedTuple):
    """A station: how far it is, how loud, or at which rate."""

    name: str
    place: str
    """A key of its interface: `distance`, `snr` or `rate`."""
    value: str


class Access(NamedTuple):
    """The way to the Internet."""

    down_mbps: float
    up_mbps: float
    shaper: str = "none"
    buffer: str = "200 ms"
    """Of the modem and of its peer: how long a packet waits at most."""


@dataclass(frozen=True)
class Home:
    """An access point with its stations, a server, and what they do."""

    name: str
    stations: tuple[Station, ...]
    traffic: tuple[str, ...]
    standard: str = "802.11ac"
    width_mhz: int = 80
    streams: int = 2
    kernel: str = "linux-6.6"
    scheme: str | None = None
    access: Access | None = None
    delay: str = "10 ms"
    """One way, between server and home."""

    @property
    def band(self) -> str:
        """The channel's band."""
        return "2.4 GHz" if self.standard == "802.11g" else "5 GHz"


def station(text: str) -> Station:
    """A station as `NAME=10 m`, `NAME=30 dB` or `NAME=RATE`."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not re.fullmatch(r"[A-Za-z0-9_-]+", name) or not value:
        raise InputError(
            f'--station: found "{text}", expected NAME=DISTANCE, NAME=SNR or NAME=RATE,'
            ' such as "laptop=5 m", "tv=30 dB" or "old=ht20-mcs0-lgi"'
        )
    if re.fullmatch(r"\d+(\.\d+)?\s*m", value):
        return Station(name, "distance", _spaced(value, "m"))
    if re.fullmatch(r"-?\d+(\.\d+)?\s*dB", value):
        return Station(name, "snr", _spaced(value, "dB"))
    return Station(name, "rate", value)


def access(text: str, shaper: str, buffer: str) -> Access:
    """A way to the Internet as `DOWN/UP` in Mbit/s."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*(?:Mbit/s)?\s*", text)
    if not found or not all(0.1 <= float(rate) <= 10_000 for rate in found.groups()):
        raise InputError(
            f'--internet: found "{text}", expected rates down and up in Mbit/s, 0.1 to 10000, such as "100/20"'
        )
    return Access(float(found[1]), float(found[2]), shaper, buffer)


def check(home: Home) -> None:
    """An `InputError` if what was asked for is no network."""
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
    if "ping" in home.traffic and len(home.traffic) != len(set(home.traffic)):
        raise InputError("--traffic: found one twice, expected each once")


def _spaced(value: str, unit: str) -> str:
    return f"{value.removesuffix(unit).strip()} {unit}"
