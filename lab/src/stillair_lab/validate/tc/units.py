"""Numbers in `tc` command-line syntax."""

# spec: tc(8) 6.1, PARAMETERS (RATES, TIMES, SIZES) - SI prefixes for rates and 1024 for sizes; case does not matter.

import re
from decimal import ROUND_DOWN, Decimal

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]{1,2})?|\.[0-9]+)([a-z%]*)", re.IGNORECASE)

_SI = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_IEC = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_BITS = {
    "": 1,
    **{f"{prefix}bit": scale for prefix, scale in {**_SI, **_IEC}.items()},
    **{f"{prefix}bps": 8 * scale for prefix, scale in {**_SI, **_IEC}.items()},
}
_BYTES = {
    "": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": 2**10 // 8, "mbit": 2**20 // 8, "gbit": 2**30 // 8,
}  # fmt: skip
_NANOSECONDS = {
    "s": 10**9, "sec": 10**9, "secs": 10**9, "ms": 10**6, "msec": 10**6, "msecs": 10**6,
    "us": 10**3, "usec": 10**3, "usecs": 10**3, "ns": 1, "nsec": 1, "nsecs": 1,
}  # fmt: skip


class UnitError(ValueError):
    """A malformed number; the text describes a valid one."""


def rate(word: str) -> int:
    """Bits per second. `bit` counts bits and `bps` bytes; a bare number is bits."""
    # linux: tc get_rate (6.1) - passes rates to the kernel in whole bytes per second.
    return _scaled(word, _BITS, "a rate such as 100mbit") // 8 * 8


def size(word: str) -> int:
    """Bytes. `k` and `kb` are 1024 bytes, `kbit` 128; a bare number is bytes."""
    return _scaled(word, _BYTES, "a size such as 1600 or 32kb")


def time(word: str) -> int:
    """Nanoseconds; a bare number is microseconds."""
    # linux: tc get_time (6.1) - microseconds are the finest unit of most options.
    return _scaled(word, {"": 1000, **{unit: ns for unit, ns in _NANOSECONDS.items() if ns > 1}}, "a time such as 5ms")


def fine_time(word: str) -> int:
    """Nanoseconds; a bare number is nanoseconds. For netem options."""
    # linux: tc get_time64 (6.1) - 64-bit options take nanoseconds.
    return _scaled(word, {"": 1, **_NANOSECONDS}, "a time such as 20ms")


def percent(word: str) -> float:
    """A fraction; the % sign is optional."""
    value = _scaled(word, {"": 10**7, "%": 10**7}, "a percentage such as 1%")
    if value > 10**9:
        raise UnitError("a percentage of at most 100%")
    return value / 10**9


def count(word: str) -> int:
    """An integer in C notation: 010 is 8 and 0x10 is 16."""
    try:
        value = int(f"0o{word[1:]}" if re.fullmatch("0[0-7]+", word) else word, 0)
    except ValueError:
        value = -1
    if value < 0:
        raise UnitError("a whole number")
    return value


def _scaled(word: str, units: dict[str, int], expected: str) -> int:
    found = _NUMBER.fullmatch(word)
    scale = units.get(found[2].lower()) if found else None
    if found is None or scale is None:
        raise UnitError(expected)
    return int((Decimal(found[1]) * scale).to_integral_value(ROUND_DOWN))
