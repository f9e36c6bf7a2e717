"""Sawtooth of a congestion window or a delay: frequency and depth of its cuts, from samples."""

from collections.abc import Sequence
from typing import NamedTuple

# Every congestion control cuts its window by more than this after a loss; BBR's gain cycles stay above it.
# Scalable's cut to 7/8 is the shallowest, and a sample halfway through it is at 0.91.
_CUT = 0.92
_FEWEST_CUTS = 3
"""Enough cuts for two whole periods."""


class Cut(NamedTuple):
    """A cut."""

    place: int
    """First sample below."""
    left: float
    """Remaining share of the window at its end."""


class Sawtooth(NamedTuple):
    """A sawtooth."""

    period_s: float
    """Mean time between cuts."""
    depth: float
    """Mean share of the window that remains after a cut."""


def cuts(values: Sequence[float]) -> list[Cut]:
    """Returns the points at which the values drop by a share of themselves.

    A cut may last several samples, as Linux lowers the window gradually during recovery. Its depth is that of
    the last sample of the falling run, relative to the sample before the run; its place is the run's first
    sample.
    """
    found: list[Cut] = []
    place = 1
    while place < len(values):
        end = place
        while end < len(values) and values[end] < values[end - 1]:
            end += 1
        if end > place and values[end - 1] <= _CUT * values[place - 1]:
            found.append(Cut(place, values[end - 1] / values[place - 1]))
        place = max(end, place + 1)
    return found


def sawtooth(windows: Sequence[float], step_s: float) -> Sawtooth | None:
    """Returns the sawtooth of samples taken every `step_s` seconds; `None` without two whole periods."""
    found = cuts(windows)
    if len(found) < _FEWEST_CUTS:
        return None
    period = step_s * (found[-1].place - found[0].place) / (len(found) - 1)
    return Sawtooth(period, sum(cut.left for cut in found) / len(found))
