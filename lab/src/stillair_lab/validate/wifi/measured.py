"""A file of mac80211's measurements: set-up and results of a run. See `mac80211/README.md`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from stillair._native import InputError
from stillair_lab.validate import json_file

# Further stations have no address in the measured network.
_MOST_STATIONS = 200
_MOST_FLOWS = 1000
_LONGEST_S = 100_000
_MOST = 1e18
_PER_MILLE = 1000
MCS = 16
"""802.11n rates with two streams."""
MINSTREL = -1
"""Replaces the MCS if Minstrel-HT chooses the rate."""


@dataclass(frozen=True)
class Flow:
    """A kind of load at a station. Repetitions of a configuration differ in its start."""

    kind: str
    """`udp`, `tcp_down`, `tcp_up` or `ping`."""
    station: int
    cc: str = "cubic"
    number: int = 1
    """Number of parallel connections."""
    bps: float = 0.0
    burst: int = 8
    payload: int = 1470
    start_s: float = field(default=0.0, compare=False)
    stagger_ms: float = field(default=0.0, compare=False)
    """Time between the starts of parallel connections."""


@dataclass(frozen=True)
class Step:
    """A change of the loss table during the run."""

    at_s: float
    loss_by_mcs: tuple[int, ...]


@dataclass(frozen=True)
class Driver:
    """The simulated radio: settings that differ between configurations."""

    depth: int
    aql: bool
    sgi: bool
    pacing_shift: int
    retries: int
    mcs: Mapping[int, int]
    """MCS by station; `MINSTREL` for rate control."""
    counts_tries: bool
    """True if a frame is given up after a number of hardware tries, as in ath9k; else after a number of
    aggregates."""
    loss_by_mcs: tuple[int, ...] = (0,) * MCS
    """Probability of a broken MPDU by MCS, in 1/1000, for all stations."""
    loss_by_station: Mapping[int, int] = field(default_factory=dict)
    """The same by station, in 1/1000, added to the loss by MCS."""


@dataclass(frozen=True)
class Config:
    """The network and its load."""

    stations: int
    idle: int | None
    """Station with pings only."""
    seconds: float
    warm: float
    ping_interval_s: float
    flows: tuple[Flow, ...]
    charge_tx: bool
    charge_rx: bool
    weights: tuple[int, ...]
    sysctl: Mapping[str, int | str]
    steps: tuple[Step, ...]
    queues: Mapping[str, int]
    """Limits of mac80211's flow queues, by its own names."""
    aql_limits: Mapping[str, int]


@dataclass(frozen=True)
class Setup:
    """Common set-up of a configuration's repetitions."""

    kernel: tuple[int, int]
    """Kernel version."""
    hz: int | None
    """HZ, if the file states it."""
    driver: Driver
    config: Config


@dataclass(frozen=True)
class Measurement:
    """A measurement file."""

    name: str
    """Name of the configuration."""
    repetition: int
    setup: Setup
    raw: Mapping[str, Any]
    """Whole content of the file."""
    path: Path

    def at(self, *keys: str) -> Any:  # noqa: ANN401 - any value of the file
        """Returns the value at these keys, or `None`."""
        value: Any = self.raw
        for depth, key in enumerate(keys):
            if value is None:
                return None
            if not isinstance(value, Mapping):
                raise self.wrong(keys[:depth], value, "an object")
            value = value.get(key)
        return value

    def number(self, *keys: str) -> float | None:
        """Returns the number at these keys, or `None`."""
        value = self.at(*keys)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
            raise self.wrong(keys, value, "a number of zero or more")
        return float(value)

    def wrong(self, keys: Sequence[str], found: object, expected: str) -> InputError:
        """Error for these keys: found and expected values."""
        return json_file.wrong(self.path, ".".join(keys), found, expected)


def bundled() -> Path:
    """Folder of the bundled files."""
    return Path(str(resources.files("stillair_lab.validate") / "mac80211"))


def read(path: Path) -> Measurement:
    """Reads a file. Raises an error for a setting that scenarios cannot express."""
    raw = json_file.load(path, "driver, config and results")
    name, repetition = raw.get("name"), raw.get("repetition")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]{1,100}", name):
        raise json_file.wrong(path, "name", name, "the name of a configuration")
    if not _whole(1, 10**6)(repetition):
        raise json_file.wrong(path, "repetition", repetition, "a whole number from 1 on")
    for part in ("driver", "config", "results"):
        if not isinstance(raw.get(part), Mapping):
            raise json_file.wrong(path, part, raw.get(part), "an object")
    config = _config(_Table(path, "config", raw["config"]))
    driver = _driver(_Table(path, "driver", raw["driver"]), config, name)
    kernel = raw.get("kernel")
    version, hz = json_file.version(path, kernel), json_file.ticks(path, kernel)
    setup = Setup(version, hz, driver, config)
    return Measurement(name, int(raw["repetition"]), setup, raw, path)


_Check = Callable[[object], bool]


class _Table:
    """An object of the file, with the keys that were read."""

    def __init__(self, path: Path, name: str, values: Mapping[str, Any]) -> None:
        self.path, self.name, self.values = path, name, values
        self.known: set[str] = set()

    def get(self, key: str, good: _Check, expected: str, default: Any = None) -> Any:  # noqa: ANN401 - as it is
        """Returns the value of a key, which must be `good`; the default, if given, for a missing key."""
        self.known.add(key)
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if not good(value):
            raise self.wrong(key, value, expected)
        return value

    def words(self, key: str, *begins: str) -> None:
        """Checks a description that is the same in all files; another one would mean another set-up."""
        value = self.get(key, lambda it: isinstance(it, str), "words", default=begins[0])
        if not value.startswith(begins):
            raise self.wrong(key, value, f'words that begin with "{begins[0]}": a scenario has no other')

    def passed_over(self, *keys: str) -> None:
        """Skips keys without any effect on the scenario."""
        self.known.update(keys)

    def finish(self) -> None:
        """Raises an error for keys that were not read."""
        for key, value in self.values.items():
            if key not in self.known and value is not None:
                raise self.wrong(key, value, "a setting that a scenario has")

    def wrong(self, key: str, found: object, expected: str) -> InputError:
        return json_file.wrong(self.path, f"{self.name}.{key}", found, expected)


def _driver(table: _Table, config: Config, name: str) -> Driver:
    table.get("name", lambda it: it == "simwifi", '"simwifi"')
    # Fixed properties of the model, without a scenario key.
    table.get("frames_max", lambda it: it == 32, "32, as ath9k has it")
    table.get("aggregate_limit_ms", lambda it: it == 4, "4, as ath9k has it")
    table.words("retry_chain_of_a_fixed_rate", "10 tries at that rate")
    table.words("channel", "HT20, 5 GHz, two streams")
    if table.get("edca", lambda it: isinstance(it, Mapping), "an object", default=_EDCA) != _EDCA:
        raise table.wrong("edca", table.values["edca"], "the parameters that hostapd has by default")
    by_station = "an object of stations, numbered from 1 on"
    mcs = table.get("mcs_by_station", _numbered(config.stations, _whole(MINSTREL, MCS - 1)), by_station)
    if len(mcs) != config.stations:
        raise table.wrong("mcs_by_station", mcs, f"a rate for each of {config.stations} stations")
    losses = table.get("loss_by_station_per_mille", _numbered(config.stations, _chance), by_station, default={})
    made = Driver(
        depth=table.get("depth", _whole(1, 64), "a whole number from 1 to 64"),
        aql=bool(table.get("aql", _flag, "0 or 1")),
        sgi=bool(table.get("sgi", _flag, "0 or 1")),
        pacing_shift=table.get("pacing_shift", _whole(4, 10), "a shift from 4 to 10: 64 ms to 1 ms"),
        retries=table.get("software_retries", _whole(0, 255), "a whole number from 0 to 255"),
        mcs={int(station): value for station, value in mcs.items()},
        counts_tries=bool(table.get("retry_by_tries", _flag, "0 or 1", default=int(name.endswith(_COUNTS_TRIES)))),
        loss_by_mcs=tuple(table.get("loss_by_mcs_per_mille", _loss_table, _LOSS_TABLE, default=[0] * MCS)),
        loss_by_station={int(station): value for station, value in losses.items() if value},
    )
    table.passed_over("seed")
    table.finish()
    return made


# linux: hostapd 2.10 ap_config.c hostapd_config_defaults - defaults of an access point and its stations.
_EDCA = {
    "access_point": {
        "VO": {"aifs": 1, "cwmin": 3, "cwmax": 7, "txop_not_used": 47},
        "VI": {"aifs": 1, "cwmin": 7, "cwmax": 15, "txop_not_used": 94},
        "BE": {"aifs": 3, "cwmin": 15, "cwmax": 63, "txop_not_used": 0},
        "BK": {"aifs": 7, "cwmin": 15, "cwmax": 1023, "txop_not_used": 0},
    },
    "station": {
        "VO": {"aifs": 2, "cwmin": 3, "cwmax": 7, "txop_not_used": 47},
        "VI": {"aifs": 2, "cwmin": 7, "cwmax": 15, "txop_not_used": 94},
        "BE": {"aifs": 3, "cwmin": 15, "cwmax": 1023, "txop_not_used": 0},
        "BK": {"aifs": 7, "cwmin": 15, "cwmax": 1023, "txop_not_used": 0},
    },
}
# The first files only state it in their names.
_COUNTS_TRIES = "_hwtries"
_LOSS_TABLE = f"a list of {MCS} chances per mille, by MCS"
_SECONDS = "seconds above zero"


def _config(table: _Table) -> Config:
    stations = table.get("stations", _whole(1, _MOST_STATIONS), f"a whole number from 1 to {_MOST_STATIONS}")
    idle = table.get("idle_station", lambda it: it is None or _whole(1, stations)(it), "a station, or null")
    table.words(
        "wired", "veth between server and access point: netem, 1 Gbit/s and 250 us from the server, 250 us without"
    )
    table.words("server", "tso off, gso off, gso_max_segs 1")
    table.words("reader", "epoll, reads until EAGAIN")
    flags = table.get(
        "airtime_flags", lambda it: isinstance(it, list) and all(one in ("TX", "RX") for one in it), 'of "TX" and "RX"'
    )
    flows = table.get("flows", _objects(1, _MOST_FLOWS), "a list of flows")
    counts = "an object of names and whole numbers"
    seconds = table.get("seconds", _above_zero, _SECONDS)
    made = Config(
        stations=stations,
        idle=idle,
        seconds=seconds,
        warm=table.get("warm", lambda it: _above_zero(it) and it < seconds, f"{_SECONDS} and below the whole time"),
        ping_interval_s=table.get("ping_interval_s", _above_zero, _SECONDS),
        flows=tuple(_flow(_Table(table.path, f"config.flows[{at}]", flow), stations) for at, flow in enumerate(flows)),
        charge_tx="TX" in flags,
        charge_rx="RX" in flags,
        weights=tuple(
            table.get(
                "weights",
                lambda it: isinstance(it, list) and len(it) <= stations and all(map(_whole(1, 65535), it)),
                "airtime weights from 1 to 65535, by station",
                default=[],
            )
        ),
        sysctl=_sysctl(table),
        steps=_steps(table),
        queues=table.get("fq", _counts, counts, default={}),
        aql_limits=table.get("aql_limits", _counts, counts, default={}),
    )
    for command in table.get("commands", _texts, "a list of commands", default=[]):
        # `airtime_flags` and `weights` contain both as well.
        if not re.fullmatch(
            r"echo \d+ > \S*/airtime_flags|iw dev wlan0 station set [\da-f:]+ airtime_weight \d+", command
        ):
            raise table.wrong("commands", command, "a command for airtime flags or weights: a scenario has no other")
    table.finish()
    return made


def _flow(table: _Table, stations: int) -> Flow:
    kind = table.get(
        "kind", lambda it: it in ("udp", "tcp_down", "tcp_up", "ping"), '"udp", "tcp_down", "tcp_up" or "ping"'
    )
    station = table.get("sta", _whole(1, stations), f"a station from 1 to {stations}")
    start = {
        "start_s": table.get("start", _from_zero, "seconds from zero on", default=0.0),
        "stagger_ms": table.get("stagger_ms", _from_zero, "milliseconds from zero on", default=0.0),
    }
    made = Flow(kind, station, **start)
    if kind == "udp":
        made = Flow(
            kind,
            station,
            bps=table.get("bps", lambda it: _above_zero(it, 1e12), "bits per second"),
            burst=table.get("burst", _whole(1, 10_000), "datagrams at once, from 1 to 10000", default=8),
            payload=table.get("payload", _whole(1, 1472), "bytes from 1 to 1472", default=1470),
            **start,
        )
    elif kind != "ping":
        cc = table.get(
            "cc", lambda it: isinstance(it, str) and it.isidentifier(), "a congestion control", default="cubic"
        )
        number = table.get("n", _whole(1, _MOST_FLOWS), f"a whole number from 1 to {_MOST_FLOWS}", default=1)
        made = Flow(kind, station, cc=cc, number=number, **start)
    table.finish()
    return made


def _sysctl(table: _Table) -> dict[str, int | str]:
    """Settings in the network namespaces: the kernel's defaults, then changes."""
    what = 'settings such as "net.ipv4.tcp_ecn=1"'
    set_to = {
        f"net.ipv4.{name}": str(value)
        for name, value in table.get("sysctl", lambda it: isinstance(it, Mapping), "an object", default={}).items()
    }
    for setting in table.get("sysctls", _texts, f"a list of {what}", default=[]):
        found = re.fullmatch(r"(net\.[\w.]+)=(.+)", setting)
        if found is None:
            raise table.wrong("sysctls", setting, what)
        set_to[found[1]] = found[2].strip("'\" ")
    return {name: int(text) if text.isascii() and text.isdigit() else text for name, text in set_to.items()}


def _steps(table: _Table) -> tuple[Step, ...]:
    made: list[Step] = []
    for at, step in enumerate(table.get("steps", _objects(0, 100), "a list of objects", default=[])):
        inner = _Table(table.path, f"config.steps[{at}]", step)
        when = inner.get("at", _above_zero, _SECONDS)
        command = inner.get("cmd", lambda it: isinstance(it, str), "a command")
        found = re.fullmatch(r"echo ([\d,]+) > /sys/module/simwifi/parameters/lossmcs", command)
        losses = [int(chance) for chance in found[1].split(",") if chance] if found else []
        if not _loss_table(losses):
            raise inner.wrong("cmd", command, "another loss table by MCS: a scenario has no other change in a run")
        inner.finish()
        if made and when <= made[-1].at_s:
            raise inner.wrong("at", when, "a time after the step before")
        made.append(Step(when, tuple(losses)))
    return tuple(made)


def _whole(low: int, high: int) -> _Check:
    return lambda it: isinstance(it, int) and not isinstance(it, bool) and low <= it <= high


def _flag(it: object) -> bool:
    return isinstance(it, int) and it in (0, 1)


def _chance(it: object) -> bool:
    return _whole(0, _PER_MILLE)(it)


def _above_zero(it: object, most: float = _LONGEST_S) -> bool:
    return isinstance(it, int | float) and not isinstance(it, bool) and 0 < it <= most


def _from_zero(it: object) -> bool:
    return isinstance(it, int | float) and not isinstance(it, bool) and 0 <= it <= _LONGEST_S


def _numbered(stations: int, good: _Check) -> _Check:
    names = {str(station) for station in range(1, stations + 1)}
    return lambda it: isinstance(it, Mapping) and set(it) <= names and all(map(good, it.values()))


def _loss_table(it: object) -> bool:
    return isinstance(it, list) and len(it) == MCS and all(map(_chance, it))


def _counts(it: object) -> bool:
    return isinstance(it, Mapping) and all(map(_whole(0, 10**12), it.values()))


def _texts(it: object) -> bool:
    return isinstance(it, list) and all(isinstance(item, str) for item in it)


def _objects(low: int, high: int) -> _Check:
    return lambda it: isinstance(it, list) and low <= len(it) <= high and all(isinstance(one, Mapping) for one in it)
