"""A file of the kernel's measurements: set-up and results of a run. See `linux/README.md`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from stillair._native import InputError
from stillair_lab.validate import json_file
from stillair_lab.validate.json_file import wrong

WARM_UP_S = 2
"""The kernel's summaries start at this second."""

_MOST_FLOWS = 1000
_LONGEST_S = 1_000_000
_MOST = 1e18
# Scenario settings can only express some shifts of the period: 1 to 64 ms.
_LARGEST_SHIFT = 6
_KNOWN = {
    "set", "name", "bottleneck", "qdisc", "rate", "base_rtt_ms", "ss",  # descriptions; the commands are complete
    "cc", "flows", "seconds", "sample_ms", "gso", "notsq", "tsq_shift", "sysctl", "stagger_ms", "ping", "tc",
}  # fmt: skip


# Informative keys without any effect.
_HARMLESS = {
    "about", "author", "command", "comment", "cpu", "date", "description", "host", "hostname", "iperf", "machine",
    "note", "notes", "repeat", "run", "start", "time", "tool", "uname", "user", "version",
}  # fmt: skip


@dataclass(frozen=True)
class Config:
    """Everything that determines a run."""

    cc: str
    flows: int
    seconds: float
    sample_ms: float
    """Sampling interval of each socket."""
    tc: tuple[str, ...]
    """Commands that set up the disciplines."""
    kernel: tuple[int, int]
    """Kernel version."""
    hz: int | None = None
    """HZ, if the file states it."""
    gso: bool = True
    """True with segmentation offload; without it, each buffer in a queue is one segment."""
    small_queues: bool = True
    tsq_shift: int = 0
    """Period of TCP small queues: 1 ms times two to the power of this."""
    stagger_ms: float = 0.0
    """Time between the flows' starts."""
    sysctl: Mapping[str, int | str] = field(default_factory=dict)
    ping: bool = True
    set: str = ""
    """Series of measurements that it belongs to."""
    idle: tuple[str, ...] = ()
    """Keys without any effect."""


@dataclass(frozen=True)
class KernelFile:
    """A measurement file."""

    name: str
    config: Config
    measured: Mapping[str, Any]
    """Whole content of the file."""
    path: Path

    def number(self, *keys: str) -> float | None:
        """Returns the number at these keys, or `None`."""
        value: Any = self.measured
        for depth, key in enumerate(keys):
            if value is None:
                return None
            if not isinstance(value, Mapping):
                raise self.wrong(".".join(keys[:depth]), value, "an object")
            value = value.get(key)
        return None if value is None else self._checked(".".join(keys), value)

    def numbers(self, *keys: str) -> list[float] | None:
        """Returns the list of numbers at these keys; `None` if missing or empty."""
        value: Any = self.measured
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        where = ".".join(keys)
        if value is None or value == []:
            return None
        if not isinstance(value, list):
            raise self.wrong(where, value, "a list of numbers")
        return [self._checked(f"{where}[{index}]", item) for index, item in enumerate(value)]

    def queues(self) -> dict[str, list[Mapping[str, Any]]]:
        """Output of `tc -s` at the end, by device; a row for each discipline without children."""
        stats = self.measured.get("qdisc_stats") or {}
        if not isinstance(stats, Mapping):
            raise self.wrong("qdisc_stats", stats, "an object")
        for device, rows in stats.items():
            if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
                raise self.wrong(f"qdisc_stats.{device}", rows, "a list of objects")
            for index, row in enumerate(rows):
                if row.get("dropped") is not None:
                    self._checked(f"qdisc_stats.{device}[{index}].dropped", row["dropped"])
        return dict(stats)

    def wrong(self, key: str, found: object, expected: str) -> InputError:
        """Error for a key: found and expected values."""
        return wrong(self.path, key, found, expected)

    def _checked(self, where: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(where, value, "a number")
        # No quantity is negative or too large for a float.
        if not 0 <= value <= _MOST:
            raise self.wrong(where, value, "a number of zero or more")
        return float(value)


def bundled() -> Path:
    """Folder of the bundled files."""
    return Path(str(resources.files("stillair_lab.validate") / "linux"))


def read(path: Path) -> KernelFile:
    """Reads a file. Measurements may be missing or empty; existing ones must be well-formed."""
    measured = json_file.load(path, "config and summary")
    config = _config(path, measured)
    return KernelFile(path.name, config, measured, path)


def _config(path: Path, measured: Mapping[str, Any]) -> Config:
    config = measured.get("config")
    if not isinstance(config, Mapping):
        raise wrong(path, "config", config, "an object with the settings of the run")

    def get(key: str, default: object, good: bool | None, expected: str) -> Any:  # noqa: ANN401 - any value of the file
        """Returns the value of a key if it is present and `good`."""
        if config.get(key) is None and default is not None:
            return default
        if not good:
            raise wrong(path, f"config.{key}", config.get(key), expected)
        return config[key]

    for key, value in config.items():
        if key not in _KNOWN and key not in _HARMLESS and value is not None:
            raise wrong(
                path,
                f"config.{key}",
                value,
                "a setting that a scenario has; what changes nothing may stand under notes",
            )
    cc, flows, commands = config.get("cc"), config.get("flows"), config.get("tc")
    shift, sysctl = config.get("tsq_shift"), config.get("sysctl")
    made = Config(
        cc=get("cc", None, isinstance(cc, str) and cc.isidentifier(), "the name of a congestion control"),
        flows=get("flows", None, _whole(flows, 1, _MOST_FLOWS), f"a whole number from 1 to {_MOST_FLOWS}"),
        seconds=get("seconds", None, _above_zero(config.get("seconds")), "a number of seconds above zero"),
        sample_ms=get("sample_ms", None, _above_zero(config.get("sample_ms")), "milliseconds above zero"),
        tc=tuple(get("tc", None, bool(commands) and _texts(commands), "a list of tc commands")),
        kernel=json_file.version(path, measured.get("kernel") or "Linux 6.1"),
        hz=json_file.ticks(path, measured.get("kernel")),
        gso=get("gso", "on", config.get("gso") in ("on", "off"), '"on" or "off"') == "on",
        small_queues=not get("notsq", 0, config.get("notsq") in (0, 1), "0 or 1"),
        tsq_shift=get("tsq_shift", 0, _whole(shift, 0, _LARGEST_SHIFT), f"a whole number from 0 to {_LARGEST_SHIFT}"),
        stagger_ms=get("stagger_ms", 0.0, _number(config.get("stagger_ms")), "milliseconds"),
        sysctl=_sysctl(path, get("sysctl", {}, isinstance(sysctl, Mapping), "an object of names and values")),
        ping=bool(get("ping", True, config.get("ping") in (0, 1), "true or false")),
        set=get("set", "", isinstance(config.get("set"), str), "a name"),
        idle=tuple(key for key in config if key in _HARMLESS),
    )
    # Acknowledged bytes are counted between two samples.
    least = WARM_UP_S + 2 * made.sample_ms / 1000
    if made.seconds < least:
        raise wrong(path, "config.seconds", made.seconds, f"{least:g} or more: quantities count from {WARM_UP_S} s on")
    return made


def _sysctl(path: Path, table: Mapping[str, Any]) -> dict[str, int | str]:
    values: dict[str, int | str] = {}
    for name, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise wrong(path, f"config.sysctl.{name}", value, "a whole number or text")
        # Several numbers were passed to a shell, including their quotes.
        text = value.strip("'\" ") if isinstance(value, str) else value
        values[name] = int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else text
    return values


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LONGEST_S


def _above_zero(value: object) -> bool:
    return _number(value) and value != 0


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _texts(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(item, str) for item in value)
