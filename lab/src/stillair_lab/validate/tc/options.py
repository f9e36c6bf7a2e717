"""Options of the disciplines, with the names of `tc` and of scenarios."""

# spec: tc-htb(8), tc-tbf(8), tc-netem(8), tc-bfifo(8), tc-codel(8), tc-pie(8), tc-sfq(8), tc-fq(8), tc-fq_codel(8),
# tc-cake(8) of iproute2 6.1.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stillair_lab.validate.tc import units


class Bits(int):
    """Bits per second."""


class Nanoseconds(int):
    """A time."""


Value = Bits | Nanoseconds | int | float | bool | str
_Read = Callable[[str], Value]


def _rate(word: str) -> Value:
    return Bits(units.rate(word))


def _time(word: str) -> Value:
    return Nanoseconds(units.time(word))


def _fine_time(word: str) -> Value:
    return Nanoseconds(units.fine_time(word))


def _seconds(word: str) -> Value:
    return Nanoseconds(units.count(word) * 10**9)


def _signed(word: str) -> Value:
    return -units.count(word[1:]) if word.startswith("-") else units.count(word)


@dataclass(frozen=True)
class Options:
    """Words accepted after the name of a discipline."""

    takes: Mapping[str, tuple[str, _Read]] = field(default_factory=dict)
    """Options with a value, by word: scenario name, and the parser of the value."""
    also: Mapping[str, Sequence[tuple[str, _Read]]] = field(default_factory=dict)
    """Further positional values after an option's value, in order, by the option's scenario name."""
    flags: Mapping[str, tuple[str, Value]] = field(default_factory=dict)
    """Words without a value: scenario name and value."""
    skips: frozenset[str] = frozenset()
    """Words before an option's value without effect."""
    does: Mapping[str, Callable[[dict[str, Value]], None]] = field(default_factory=dict)
    """Words without a value that change several options."""
    idle: frozenset[str] = frozenset()
    """Options without effect in the supported set-ups; skipped with their value."""


def _same(**readers: _Read) -> dict[str, tuple[str, _Read]]:
    return {word: (word, read) for word, read in readers.items()}


def _switch(*words: str) -> dict[str, tuple[str, Value]]:
    on: dict[str, tuple[str, Value]] = {word: (word, True) for word in words}
    return on | {f"no{word}": (word, False) for word in words}


def _choice(key: str, *words: str) -> dict[str, tuple[str, Value]]:
    return {word: (key, word) for word in words}


def _framing(atm: str | None = None, add: int = 0, mpu: int | None = None) -> Callable[[dict[str, Value]], None]:
    """Effect of a framing keyword: its overhead is added to that of earlier keywords."""

    def change(options: dict[str, Value]) -> None:
        before = options.get("overhead", 0)
        options["overhead"] = add + (before if isinstance(before, int) else 0)
        if atm is not None:
            options["atm"] = atm
        if mpu is not None:
            options["mpu"] = mpu

    return change


def _raw(options: dict[str, Value]) -> None:
    options.pop("overhead", None)
    options["atm"] = "noatm"


def _conservative(options: dict[str, Value]) -> None:
    options.update(overhead=48, atm="atm")


def _nothing(options: dict[str, Value]) -> None:
    """Without address translation, looking through it has no effect."""


def _unlimited(options: dict[str, Value]) -> None:
    options.pop("bandwidth", None)


_BURST: dict[str, tuple[str, _Read]] = dict.fromkeys(("burst", "buffer", "maxburst"), ("burst", units.size))
_CODEL = _same(target=_time, interval=_time)

QDISCS: Mapping[str, Options] = {
    "pfifo_fast": Options(),
    "pfifo": Options(_same(limit=units.size)),
    "bfifo": Options(_same(limit=units.size)),
    "codel": Options({**_same(limit=units.count), **_CODEL}, flags=_switch("ecn")),
    "fq_codel": Options(
        _same(
            limit=units.count, flows=units.count, quantum=units.count, drop_batch=units.count, memory_limit=units.size
        )
        | _CODEL,
        flags=_switch("ecn"),
    ),
    "pie": Options(
        _same(limit=units.count, target=_time, tupdate=_time, alpha=units.count, beta=units.count),
        flags=_switch("ecn", "bytemode")
        | {"dq_rate_estimator": ("dq_rate_estimator", True), "no_dq_rate_estimator": ("dq_rate_estimator", False)},
    ),
    "sfq": Options(
        _same(
            limit=units.count,
            quantum=units.size,
            perturb=_seconds,
            divisor=units.count,
            flows=units.count,
            depth=units.count,
        ),
        flags={"headdrop": ("headdrop", True)},
    ),
    "fq": Options(
        _same(
            limit=units.count,
            flow_limit=units.count,
            quantum=units.count,
            initial_quantum=units.count,
            maxrate=_rate,
            buckets=units.count,
            low_rate_threshold=_rate,
            refill_delay=_time,
            orphan_mask=units.count,
            ce_threshold=_time,
            timer_slack=_fine_time,
            horizon=_time,
        ),
        flags=_switch("pacing") | {"horizon_drop": ("horizon_drop", True), "horizon_cap": ("horizon_drop", False)},
    ),
    "cake": Options(
        _same(bandwidth=_rate, rtt=_time, memlimit=units.size, overhead=_signed, mpu=units.count),
        flags={"wash": ("wash", True), "nowash": ("wash", False)}
        | {"split-gso": ("split_gso", True), "no-split-gso": ("split_gso", False)}
        | {"ingress": ("ingress", True), "egress": ("ingress", False)}
        | {"diffserv": ("tins", "diffserv4")}
        | _choice("tins", "besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8")
        | _choice("isolation", "flowblind", "srchost", "dsthost", "hosts", "flows")
        | _choice("isolation", "dual-srchost", "dual-dsthost", "triple-isolate")
        | _choice("ack_filter", "no-ack-filter", "ack-filter", "ack-filter-aggressive")
        | _choice("atm", "noatm", "atm", "ptm")
        | {
            preset: ("rtt", Nanoseconds(ns))
            for preset, ns in {
                "datacentre": 100_000,
                "lan": 1_000_000,
                "metro": 10_000_000,
                "regional": 30_000_000,
                "internet": 100_000_000,
                "oceanic": 300_000_000,
                "satellite": 1_000_000_000,
                "interplanetary": 3_600_000_000_000,
            }.items()
        },
        does={
            "unlimited": _unlimited,
            "nat": _nothing,
            "nonat": _nothing,
            "raw": _raw,
            "conservative": _conservative,
            "ipoa-vcmux": _framing("atm", 8),
            "ipoa-llcsnap": _framing("atm", 16),
            "bridged-vcmux": _framing("atm", 24),
            "bridged-llcsnap": _framing("atm", 32),
            "pppoa-vcmux": _framing("atm", 10),
            "pppoa-llc": _framing("atm", 14),
            "pppoe-vcmux": _framing("atm", 32),
            "pppoe-llcsnap": _framing("atm", 40),
            "pppoe-ptm": _framing("ptm", 30),
            "bridged-ptm": _framing("ptm", 22),
            "via-ethernet": _nothing,
            "ethernet": _framing(add=38, mpu=84),
            "ether-vlan": _framing(add=4),
            "docsis": _framing("noatm", 18, 64),
        },
    ),
    "netem": Options(
        _same(
            limit=units.size,
            rate=_rate,
            loss=units.percent,
            reorder=units.percent,
            gap=units.count,
            duplicate=units.percent,
        )
        | dict.fromkeys(("delay", "latency"), ("delay", _fine_time))
        | {"drop": ("loss", units.percent)},
        also={"delay": [("jitter", _fine_time), ("delay_correlation", units.percent)]}
        | {name: [(f"{name}_correlation", units.percent)] for name in ("loss", "duplicate", "reorder")},
        skips=frozenset({"random"}),
        # Another seed is as good.
        idle=frozenset({"seed"}),
    ),
    "tbf": Options(
        _same(rate=_rate, limit=units.size, latency=_time, mtu=units.size, peakrate=_rate)
        | {"minburst": ("mtu", units.size)}
        | _BURST
    ),
    # With a single class, there is no sharing and no ranking.
    "htb": Options(_same(default=str), idle=frozenset({"r2q", "direct_qlen"})),
}

CLASSES: Mapping[str, Options] = {
    "htb": Options(
        _same(rate=_rate, ceil=_rate)
        | _BURST
        | dict.fromkeys(("cburst", "cbuffer", "cmaxburst"), ("cburst", units.size)),
        idle=frozenset({"prio", "quantum"}),
    ),
}
