"""The saw of a congestion window: how often it is cut, and by how much, from samples of it."""

from collections.abc import Sequence
from typing import NamedTuple

# A loss cuts the window of every control by more than this; BBR's cycles of gain move it by less. Scalable's cut to 7/8
# is the shallowest, and a sample in the middle of it leaves 0.91.
_CUT = 0.92
_FEWEST_CUTS = 3
"""Two whole periods."""


class Sawtooth(NamedTuple):
    """A saw."""

    period_s: float
    """Mean time between two cuts."""
    depth: float
    """What a cut leaves of the window, on average."""


def sawtooth(windows: Sequence[float], step_s: float) -> Sawtooth | None:
    """The saw in samples taken every `step_s` seconds; none if there are not two whole periods of one.

    A cut may last several samples, as Linux lowers the window while it recovers: it is as deep as the last sample of a
    falling run is below the one before the run, and stands at the first of the run.
    """
    cuts: list[int] = []
    left: list[float] = []
    place = 1
    while place < len(windows):
        end = place
        while end < len(windows) and windows[end] < windows[end - 1]:
            end += 1
        if end > place and windows[end - 1] <= _CUT * windows[place - 1]:
            cuts.append(place)
            left.append(windows[end - 1] / windows[place - 1])
        place = max(end, place + 1)
    if len(cuts) < _FEWEST_CUTS:
        return None
    return Sawtooth(step_s * (cuts[-1] - cuts[0]) / (len(cuts) - 1), sum(left) / len(left))
