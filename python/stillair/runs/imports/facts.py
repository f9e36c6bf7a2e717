"""Facts that readers return, each with its file and line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rate:
    """A bit rate."""

    name: str | None
    """Scenario name; `None` if unknown."""
    mbps: float
    told: str
    """The file's text."""
    guessed: bool = False
    """True if the file has only Mbit/s, or a rate that is not modelled."""
    doubt: str = ""
    """Contradiction between Mbit/s and MCS, width, streams or guard interval; empty if they agree."""


@dataclass
class Peer:
    """A station of `iw dev ... station dump`."""

    mac: str
    interface: str
    where: str
    signal_dbm: int | None = None
    tx: Rate | None = None
    """Rate of frames that this machine sends to the station."""
    rx: Rate | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """`tx bytes`, `tx packets`, `tx retries`, `rx bytes`, `connected time` in s, `tx duration` in us, and others."""
    noise_dbm: int | None = None
    expected_mbps: float | None = None
    """Throughput that the access point's rate control expects."""
    standard: str | None = None
    """Newest standard that the peer announced, for outputs that list capabilities."""
    mesh: bool = False
    """True for a peer of an 802.11s mesh."""
    said: list[str] = field(default_factory=list)
    """Properties without a scenario key."""


@dataclass(frozen=True)
class Interface:
    """A Wi-Fi interface of `iw dev ... info`."""

    name: str
    kind: str
    """`AP`, `managed`, `mesh point`, `IBSS`, `monitor`, ..."""
    mhz: int | None
    width_mhz: int | None
    txpower_dbm: float | None
    where: str
    said: Sequence[str] = ()
    """Properties without a scenario key, and substitutions."""
    standard: str | None = None
    links: Sequence[tuple[int, int | None]] = ()
    """Frequency and width in MHz of each link, if there are several."""
    power_save: bool | None = None
    """Power save of a station; `None` if the output does not have it."""


@dataclass(frozen=True)
class Phy:
    """Capabilities of a device from `iw phy`: standard, streams and width in MHz, by band in GHz."""

    name: str
    bands: Mapping[float, tuple[str, int, int]]
    where: str


@dataclass(frozen=True)
class Radio:
    """Settings of an access point's radio: hostapd.conf, or a `wifi-device` of OpenWrt."""

    name: str
    band_ghz: float | None
    channel: int | None
    """`None` if the driver selects the channel."""
    width_mhz: int | None
    standard: str | None
    keys: Mapping[str, str]
    """Settings of the access point that are scenario keys: `dtim_period`, `wmm_ac_be_aifs`, ..."""
    where: str
    off: str = ""
    """Reason why the radio has no access point; empty if it has one."""
    interfaces: Sequence[str] = ()
    """Names of its network interfaces, if the file has them."""
    said: Sequence[str] = ()
    """Substitutions."""
    txpower_dbm: float | None = None


@dataclass(frozen=True)
class Qdisc:
    """A queueing discipline, with the option names of `tc -j qdisc`."""

    device: str
    """Empty if the output has no device name."""
    kind: str
    root: bool
    options: dict[str, object]
    counts: Mapping[str, int]
    where: str
    handle: str = ""
    parent: str = ""
    way: str = ""
    """`up` or `down`, as given on the command line."""


@dataclass(frozen=True)
class Class:
    """An htb class of `tc class`."""

    device: str
    handle: str
    parent: str
    """Empty for a class directly below the qdisc."""
    leaf: str
    """Handle of the qdisc below it."""
    rate_bps: int
    burst: int | None
    where: str
    way: str = ""


@dataclass(frozen=True)
class Zone:
    """The side of a router that a network device is on."""

    device: str
    side: str
    """`wan` or `lan`."""
    where: str


@dataclass(frozen=True)
class Netdev:
    """A network device of `ip addr`, `ip link` or `ifconfig`."""

    name: str
    mtu: int | None
    qdisc: str
    """Kind of its root qdisc; empty if unknown."""
    where: str


@dataclass(frozen=True)
class Shaper:
    """A `queue` of OpenWrt's sqm."""

    device: str
    down_kbit: int
    up_kbit: int
    script: str
    """Empty if the queue has no script; sqm-scripts do not start such a queue."""
    down: Mapping[str, object]
    """Discipline of downloads as scenario options, without its rate."""
    up: Mapping[str, object]
    enabled: bool
    where: str
    unread: Sequence[str] = ()
    """Options without a scenario key."""
    said: Sequence[str] = ()
    """Comments for the scenario."""
    bursts: Mapping[str, int] = field(default_factory=dict)
    """Burst in bytes of the htb of each direction, `down` and `up`; empty for cake."""


@dataclass(frozen=True)
class Unread:
    """A part of a file without a use."""

    what: str
    where: str
    radio: str = ""
    """Place and name of the radio that it belongs to; empty without a radio."""


@dataclass(frozen=True)
class Setting:
    """A line of `sysctl`."""

    key: str
    value: str
    where: str


@dataclass(frozen=True)
class Device:
    """Settings of a device from `ethtool`: `driver`, `firmware-version`, offloads as `on` or `off`, and others."""

    name: str | None
    keys: Mapping[str, str]
    where: str


@dataclass(frozen=True)
class Kernel:
    """A kernel release as `uname -r` prints it, or an OpenWrt release."""

    release: str
    where: str
    openwrt: bool = False


@dataclass
class Way:
    """Traffic of a captured station in one direction."""

    ppdus: int = 0
    frames: int = 0
    """Data frames, each try counted."""
    retried: int = 0
    """Data frames with the Retry bit."""
    broken: int = 0
    """Data frames that the capturing radio received with a wrong check sequence."""
    airtime_us: float = 0.0
    packets: int = 0
    """Data frames with content and without the Retry bit."""
    payload_bytes: int = 0
    """Bytes of the IP packets in `packets`."""
    rates: dict[str, float] = field(default_factory=dict)
    """Airtime in us by scenario rate name."""
    near: dict[str, int] = field(default_factory=dict)
    """PPDUs at rates that are not modelled, by the nearest modelled rate."""

    @property
    def mean_ip_bytes(self) -> float:
        """Mean length of a packet."""
        return self.payload_bytes / self.packets if self.packets else 0.0


@dataclass
class Heard:
    """A station of a capture."""

    mac: str
    bssid: str
    down: Way = field(default_factory=Way)
    up: Way = field(default_factory=Way)


@dataclass(frozen=True)
class Captured:
    """Stations and traffic of a capture."""

    seconds: float
    mhz: int | None
    protected: bool
    stations: Sequence[Heard]
    unread: Mapping[str, int]
    """Number of unused or incomplete frames by reason."""
    where: str
    said: Sequence[str] = ()
    """Sentences about unused frames and damaged or missing parts of the file."""


@dataclass(frozen=True)
class Load:
    """The test of a Flent file."""

    test: str
    seconds: int | None
    host: str | None
    where: str


@dataclass(frozen=True)
class Crusader:
    """The test of a crusader result."""

    version: int
    """Version of the file format."""
    streams: int
    """TCP flows in each direction; 0 if the test was idle."""
    load_s: float
    grace_s: float
    stagger_s: float
    """Time between the starts of two flows."""
    ping_ms: float
    kinds: Sequence[str]
    """`download`, `upload`, `both down`, `both up`."""
    measured: Mapping[str, tuple[float, float | None]]
    """Mbit/s and median round-trip time in ms of each kind."""
    where: str


Fact = (
    Peer
    | Interface
    | Phy
    | Radio
    | Qdisc
    | Class
    | Zone
    | Netdev
    | Shaper
    | Unread
    | Setting
    | Device
    | Kernel
    | Captured
    | Load
    | Crusader
)
