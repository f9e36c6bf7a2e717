"""What the papers say of their own algorithms, worked out by them as printed."""

from collections.abc import Callable, Mapping

_PACKET = 4352
_CAP = 131_072


def tsq_limit(mss: int, cwnd: int, rtt_us: float, ratio: float) -> int:
    """Bytes that a socket may have below it."""
    # paper: tsq-pacing alg1, alg2 - the rate is a window a round trip times the ratio; the limit is two packets or the
    # data of 1/1024 s, at most 128 KB. In the kernel a packet is its memory.
    rate = mss * cwnd * ratio / (rtt_us / 1e6)
    return min(max(2 * _PACKET, int(rate) >> 10), _CAP)


def _half_the_rtt() -> float:
    """The limit at half the round-trip time over that at twice the ratio: the pair that differs most."""
    pairs = [
        tsq_limit(1448, cwnd, rtt / 2, 1.2) / tsq_limit(1448, cwnd, rtt, 2.4)
        for cwnd in (10, 40, 160, 640)
        for rtt in (1_000, 10_000, 100_000)
    ]
    return max(pairs, key=lambda ratio: abs(ratio - 1))


FORMULAS: Mapping[str, Callable[[], float]] = {"half-the-rtt": _half_the_rtt}
"""By the name under which a metric says `formula`."""
