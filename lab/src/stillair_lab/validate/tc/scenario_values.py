"""Numbers in scenario syntax."""


def rate(bits: int) -> str:
    """Bits per second."""
    for unit, scale in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        # One decimal is still readable.
        if bits >= scale and bits * 10 % scale == 0:
            return f"{_decimal(bits, scale)} {unit}"
    return f"{bits} bit/s"


def of_seconds(seconds: float) -> str:
    """A time in seconds."""
    return time(round(seconds * 1_000_000_000))


def time(ns: int) -> str:
    """A time in nanoseconds."""
    if ns % 1_000_000_000 == 0:
        return f"{ns // 1_000_000_000} s"
    unit, scale = ("ms", 1_000_000) if ns >= 100_000 else ("us", 1_000)
    return f"{_decimal(ns, scale)} {unit}"


def _decimal(value: int, scale: int) -> str:
    whole, rest = divmod(value, scale)
    digits = f"{rest:0{len(str(scale)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
