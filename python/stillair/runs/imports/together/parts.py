"""The network that an import fills: values with their reason, stations, directions of a shaper."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from stillair.runs.imports import facts

_F = TypeVar("_F")
TRAFFIC = {"down": "download", "up": "upload"}
"""Traffic of a direction, in comments."""


class Told(NamedTuple):
    """A value, and why it is that: a file and a line, or that it is a guess."""

    value: str
    why: str


class Shaped(NamedTuple):
    """A direction of a shaper: the rate, and the discipline without it."""

    kbit: int
    options: Mapping[str, object]
    burst: int | None = None
    """Bytes, of an htb."""


class Line(NamedTuple):
    """The access line as the command line names it; each part empty if not given."""

    name: str = ""
    """A line of `stillair new --line`."""
    framing: str = ""
    """Keyword of tc-cake(8), such as `pppoe-ptm`."""
    rates: tuple[str, str] | None = None
    """Rates down and up, as scenario texts."""


@dataclass
class Station:
    """A station with its keys."""

    name: str
    about: list[str] = field(default_factory=list)
    """Comments."""
    keys: dict[str, str] = field(default_factory=dict)
    """Keys of its interface, as TOML."""
    weight: int | None = None
    """Its airtime weight where a dump has another than the default."""


@dataclass
class Network:
    """Everything that is known, and everything that is missing."""

    is_ap: bool
    """True if the files are from the access point."""
    interface: str
    band: Told
    width: Told
    stations: list[Station]
    profile: Told
    scheme: Told | None = None
    ap_keys: dict[str, str] = field(default_factory=dict)
    tx_power: Told | None = None
    """Transmit power, where stations have a distance and no measured signal."""
    lowest_rate: Told | None = None
    """Lowest basic rate, if a file has one."""
    beacon_tu: Told | None = None
    """Time between beacons, where it is not the usual one."""
    sysctl: list[facts.Setting] = field(default_factory=list)
    shaper: dict[str, Shaped] | None = None
    """The shaped ones of `down` and `up`."""
    masquerades: bool = False
    """True if a router with that shaper hides its hosts behind one address."""
    shaper_about: list[str] = field(default_factory=list)
    wired_qdisc: Told | None = None
    """Kind of the wired interface's qdisc."""
    wired_options: Mapping[str, object] = field(default_factory=dict)
    """Its keys; empty for the kind's defaults."""
    mtu: Told | None = None
    """MTU of the line, if it is not 1500 bytes."""
    line: Line = field(default_factory=Line)
    heard: list[facts.Heard] = field(default_factory=list)
    """Stations of a capture, in the order of `stations`."""
    seconds: float = 0.0
    """Of the capture."""
    protected: bool = False
    load: facts.Load | facts.Crusader | None = None
    guesses: list[str] = field(default_factory=list)
    """Guesses about all of it, each beginning with `guess:`."""
    unknown: list[str] = field(default_factory=list)
    """Values that no file has."""
    left: list[str] = field(default_factory=list)
    """Values of files that a scenario does not have."""


def every(found: Iterable[facts.Fact], kind: type[_F]) -> list[_F]:
    """The facts of a kind."""
    return [one for one in found if isinstance(one, kind)]
