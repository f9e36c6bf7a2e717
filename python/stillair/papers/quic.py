"""What a run reports of its flows over QUIC, as the paper on them speaks of it."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

# Width of a bin of the gaps in us.
_BIN_US = 10
# A peak is the highest of the bins around it, and has so much of all gaps.
_AROUND = 8
_LEAST = 0.01


def of_run(run: Mapping[str, Any], key: str, statistic: str) -> float | None:
    """A number of the flows over QUIC of a run, their mean; none if none has it."""
    found = [value for flow in run["quic"].values() if (value := _of_flow(flow, key, statistic)) is not None]
    return sum(found) / len(found) if found else None


def _of_flow(flow: Mapping[str, Any], key: str, statistic: str) -> float | None:
    if key == "gaps":
        # The last bin holds all that is longer.
        gaps = flow["gaps"][:-1]
        if statistic == "cv":
            return variation(gaps)
        found = sorted(peaks(gaps)[:2])
        place = {"mode1": 0, "mode2": 1}[statistic]
        return found[place] if place < len(found) else None
    if key == "acks_20ms":
        return flow["datagrams_back"] / flow["transfer_s"] * 0.02 if flow["transfer_s"] else None
    value = flow.get(key)
    return None if value is None else float(value)


def peaks(gaps: Sequence[int]) -> list[float]:
    """Where the histogram of gaps has its peaks, in us, the highest first."""
    total = sum(gaps)
    found = [
        (count, (place + 0.5) * _BIN_US)
        for place, count in enumerate(gaps)
        if count >= _LEAST * total and count == max(gaps[max(0, place - _AROUND) : place + _AROUND + 1]) and count
    ]
    return [at for _, at in sorted(found, reverse=True)]


def variation(gaps: Sequence[int]) -> float | None:
    """Standard deviation over mean of the gaps in a histogram."""
    total = sum(gaps)
    if not total:
        return None
    times = [(place + 0.5) * _BIN_US for place in range(len(gaps))]
    mean = sum(t * n for t, n in zip(times, gaps, strict=True)) / total
    square = sum((t - mean) ** 2 * n for t, n in zip(times, gaps, strict=True)) / total
    return sqrt(square) / mean
