"""The saw of a congestion window, or of a delay: how often it is cut, and by how much, from samples of it."""

from collections.abc import Sequence
from typing import NamedTuple

# A loss cuts the window of every control by more than this; BBR's cycles of gain move it by less. Scalable's cut to 7/8
# is the shallowest, and a sample in the middle of it leaves 0.91.
_CUT = 0.92
_FEWEST_CUTS = 3
"""Two whole periods."""


class Cut(NamedTuple):
    """A cut."""

    place: int
    """The first sample below."""
    left: float
    """The share that is left at its end."""


class Sawtooth(NamedTuple):
    """A saw."""

    period_s: float
    """Mean time between two cuts."""
    depth: float
    """What a cut leaves of the window, on average."""


def cuts(values: Sequence[float]) -> list[Cut]:
    """Where the values fall at once by a part of themselves.

    A cut may last several samples, as Linux lowers the window while it recovers: it is as deep as the last sample of a
    falling run is below the one before the run, and stands at the first of the run.
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
    """The saw in samples taken every `step_s` seconds; none if there are not two whole periods of one."""
    found = cuts(windows)
    if len(found) < _FEWEST_CUTS:
        return None
    period = step_s * (found[-1].place - found[0].place) / (len(found) - 1)
    return Sawtooth(period, sum(cut.left for cut in found) / len(found))
