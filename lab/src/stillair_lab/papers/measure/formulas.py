"""The papers' formulas for their own algorithms, as printed."""

from collections.abc import Callable, Mapping

_PACKET = 4352
_CAP = 131_072


def tsq_limit(mss: int, cwnd: int, rtt_us: float, ratio: float) -> int:
    """Limit of a socket's data below it, in bytes."""
    # paper: tsq-pacing alg1, alg2 - the rate is the ratio times a window per round trip; the limit is two
    # packets or the data of 1/1024 s, at most 128 KB. In the kernel, a packet counts by its memory.
    rate = mss * cwnd * ratio / (rtt_us / 1e6)
    return min(max(2 * _PACKET, int(rate) >> 10), _CAP)


def _half_the_rtt() -> float:
    """Ratio of the limits at half the round-trip time and at twice the ratio, for the pair that differs most."""
    pairs = [
        tsq_limit(1448, cwnd, rtt / 2, 1.2) / tsq_limit(1448, cwnd, rtt, 2.4)
        for cwnd in (10, 40, 160, 640)
        for rtt in (1_000, 10_000, 100_000)
    ]
    return max(pairs, key=lambda ratio: abs(ratio - 1))


FORMULAS: Mapping[str, Callable[[], float]] = {"half-the-rtt": _half_the_rtt}
"""Formulas by the name in a metric's `formula`."""
