"""Figures of a run's QUIC flows, as in the paper on bursty QUIC."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import sqrt
from typing import Any

# UDP payload of a full gQUIC 39 packet in bytes.
PACKET = 1_350
# Transfer size in bytes.
TRANSFER = 10_000_000
# Throughput interval in s.
_STEP_S = 0.05
# Bin width of the gap histogram in us.
_BIN_US = 10
# A peak is the highest bin in this neighbourhood, with at least this share of all gaps.
_AROUND = 8
_LEAST = 0.01


def of_run(run: Mapping[str, Any], key: str, statistic: str) -> float | None:
    """Mean of a figure over the QUIC flows of a run; `None` if no flow has it."""
    found = [value for flow in run["quic"].values() if (value := _of_flow(flow, key, statistic)) is not None]
    return sum(found) / len(found) if found else None


def _of_flow(flow: Mapping[str, Any], key: str, statistic: str) -> float | None:
    if key == "gaps":
        # The last bin contains all longer gaps.
        gaps = flow["gaps"][:-1]
        if statistic == "cv":
            return variation(gaps)
        found = modes(gaps)
        place = {"mode1": 0, "mode2": 1}[statistic]
        return found[place] if place < len(found) else None
    if key == "acks_20ms":
        return flow["datagrams_back"] / flow["transfer_s"] * 0.02 if flow["transfer_s"] else None
    value = flow.get(key)
    return None if value is None else float(value)


def modes(gaps: Sequence[int]) -> list[float]:
    """The two highest peaks of the gap histogram in us, in ascending order; empty with too few gaps."""
    total = sum(gaps)
    found = [
        (count, (place + 0.5) * _BIN_US)
        for place, count in enumerate(gaps)
        if count and count >= _LEAST * total and count == max(gaps[max(0, place - _AROUND) : place + _AROUND + 1])
    ]
    return sorted(at for _, at in sorted(found, reverse=True)[:2])


def variation(gaps: Sequence[int]) -> float | None:
    """Coefficient of variation of the gaps in a histogram."""
    total = sum(gaps)
    if not total:
        return None
    times = [(place + 0.5) * _BIN_US for place in range(len(gaps))]
    mean = sum(t * n for t, n in zip(times, gaps, strict=True)) / total
    square = sum((t - mean) ** 2 * n for t, n in zip(times, gaps, strict=True)) / total
    return sqrt(square) / mean


Points = tuple[list[float], list[float]]
"""Horizontal and vertical coordinates."""


def window(flow: Mapping[str, Any]) -> Points:
    """Congestion window in packets after each ACK, by time since data could be sent."""
    traces, since = flow["traces"], flow["established_s"]
    return [t - since for t in traces["t_s"]], [cwnd / PACKET for cwnd in traces["cwnd_bytes"]]


def stretch(flow: Mapping[str, Any], since_s: float, length_s: float) -> tuple[Points, Points]:
    """Packets sent and packets acknowledged during an interval: times in ms, numbers relative to the first packet.

    `since_s` is relative to the time when data could be sent.
    """
    traces, begin = flow["traces"], flow["established_s"] + since_s
    sent = [(t, n) for t, n in zip(traces["sent_t_s"], traces["sent_number"], strict=True) if 0 <= t - begin < length_s]
    # A received datagram may contain no acknowledgement.
    back = [
        (t, n) for t, n in zip(traces["back_t_s"], traces["back_acked"], strict=True) if n and 0 <= t - begin < length_s
    ]
    first = sent[0][1] if sent else 0
    left, came = (([1000 * (t - begin) for t, _ in of], [float(n - first) for _, n in of]) for of in (sent, back))
    return left, came


def histogram(flow: Mapping[str, Any]) -> Points:
    """Share of the gaps between datagrams in the sender's capture, in per cent, by the middle of the bin in us.

    The last bin, which contains all longer gaps, is not returned, but its gaps count in the total.
    """
    gaps = flow["gaps"]
    total = sum(gaps) or 1
    return [(place + 0.5) * _BIN_US for place in range(len(gaps) - 1)], [100 * n / total for n in gaps[:-1]]


def cumulated(flow: Mapping[str, Any]) -> Points:
    """Share of shorter gaps, in per cent, by the upper end of each bin in us."""
    middles, shares = histogram(flow)
    return [at + _BIN_US / 2 for at in middles], list(accumulate(shares))


def steps(flow: Mapping[str, Any]) -> Points:
    """Received throughput in steps of 50 ms in Mbit/s, by the end of the step in s since data could be sent."""
    rates = flow["throughput_50ms_mbps"]
    return [_STEP_S * (step + 1) for step in range(len(rates))], list(rates)


def goodput(run: Mapping[str, Any]) -> float | None:
    """Application goodput of a run's single transfer in Mbit/s, over QUIC or TCP.

    For TCP, the time is from the last `ss` sample without an acknowledged byte to the first with all of them;
    `None` if the transfer did not end.
    """
    if run.get("quic"):
        return of_run(run, "goodput_mbps", "mean")
    (socket,) = (socket for name, socket in run["sockets"].items() if name.startswith("tcp."))
    samples = list(zip(socket["t_s"], socket["bytes_acked"], strict=True))
    begun = max((t for t, acked in samples if acked == 0), default=None)
    ended = min((t for t, acked in samples if acked >= TRANSFER), default=None)
    return None if begun is None or ended is None else TRANSFER * 8 / 1e6 / (ended - begun)
