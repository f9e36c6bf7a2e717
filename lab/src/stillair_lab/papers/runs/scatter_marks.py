"""How runs become marks of a scatter plot: whose numbers they show, where they are placed, what was taken as given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Placing:
    """The table `marks` of a plan."""

    station: str
    """The station whose runs are the marks,"""
    interface: str
    """where its packets wait,"""
    layers: Sequence[str]
    """and the queues in which they are counted: those that the station's own kernel keeps."""
    kinds: str
    """The word that tells kinds of station apart,"""
    methods: str
    """and the one that tells what the access point does."""
    places: Mapping[str, str]
    """Words by which marks are compared, each with its unit: the first that a cell has. The very first is the rate."""
    low_mbps: float
    """Between the low rates and the high ones, where the paper parts them."""
    large_ms: float
    """An RTT is large from here on."""
    errors: Sequence[int]
    """Per cent of the frames that come broken at every rate: runs for each, as the paper does not say which,"""
    house: Sequence[Sequence[float]]
    """for what was taken before any run, as pairs: below this rate so many per cent,"""
    other: str
    """and for cells without stated errors."""

    @property
    def airs(self) -> tuple[str, ...]:
        """The answers for which the same runs are there; the first one was taken before any run."""
        return ("house", *(f"{error} %" for error in self.errors), self.other)

    @property
    def rate(self) -> str:
        """The word of a cell's fixed rate."""
        return next(iter(self.places))
