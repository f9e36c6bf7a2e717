"""The network that an import fills: values with their reason, stations, directions of a shaper."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from stillair.runs.imports import facts

_F = TypeVar("_F")
TRAFFIC = {"down": "download", "up": "upload"}
"""Traffic of a direction, in comments."""


class Told(NamedTuple):
    """A value and its source: a file and line, or a guess."""

    value: str
    why: str


class Shaped(NamedTuple):
    """A direction of a shaper: the rate, and the discipline without it."""

    kbit: int
    options: Mapping[str, object]
    burst: int | None = None
    """Burst in bytes of an htb."""


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
    """Airtime weight, if a dump has a value other than the default."""


@dataclass
class Network:
    """The imported values, and the missing ones."""

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
    """Transmit power, if stations have a distance instead of a measured signal."""
    basic_rate: Told | None = None
    """Lowest basic rate, if a file has one."""
    beacon_tu: Told | None = None
    """Beacon interval in time units, if it differs from the default."""
    sysctl: list[facts.Setting] = field(default_factory=list)
    shaper: dict[str, Shaped] | None = None
    """Shaper of each shaped direction, `down` and `up`."""
    masquerades: bool = False
    """True if the router masquerades its hosts."""
    shaper_about: list[str] = field(default_factory=list)
    wired_qdisc: Told | None = None
    """Kind of the wired interface's qdisc."""
    wired_options: Mapping[str, object] = field(default_factory=dict)
    """Options of the wired qdisc; empty for the defaults."""
    mtu: Told | None = None
    """MTU of the line, if it is not 1500 bytes."""
    line: Line = field(default_factory=Line)
    heard: list[facts.Heard] = field(default_factory=list)
    """Stations of a capture, in the order of `stations`."""
    seconds: float = 0.0
    """Duration of the capture."""
    protected: bool = False
    load: facts.Load | facts.Crusader | None = None
    guesses: list[str] = field(default_factory=list)
    """Guesses about the network, each starting with `guess:`."""
    unknown: list[str] = field(default_factory=list)
    """Values that no file has."""
    left: list[str] = field(default_factory=list)
    """Values of files that a scenario does not have."""


def every(found: Iterable[facts.Fact], kind: type[_F]) -> list[_F]:
    """The facts of a kind."""
    return [one for one in found if isinstance(one, kind)]
