"""Definition of a scatter plot's marks: the runs that they show, their position, and the assumed inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Placing:
    """The table `marks` of a plan."""

    station: str
    """The station whose runs are the marks."""
    interface: str
    """Its interface."""
    layers: Sequence[str]
    """Layers whose packets count: the queues of the station's kernel."""
    kinds: str
    """The word that distinguishes kinds of station."""
    methods: str
    """The word for the access point's method."""
    places: Mapping[str, str]
    """Words for the position of a mark, with units; the first that a cell has is used. The very first is the
    rate."""
    low_mbps: float
    """Boundary between low and high rates in the paper."""
    large_ms: float
    """Smallest large RTT."""
    errors: Sequence[int]
    """Percentages of corrupted frames at every rate. The paper does not state which, so there are runs for
    each."""
    house: Sequence[Sequence[float]]
    """The assumption made before any run, as pairs: below this rate, this percentage."""
    other: str
    """Name of cells without stated errors."""

    @property
    def airs(self) -> tuple[str, ...]:
        """The assumptions for which the same runs exist; the first was chosen before any run."""
        return ("house", *(f"{error} %" for error in self.errors), self.other)

    @property
    def rate(self) -> str:
        """The word for a cell's fixed rate."""
        return next(iter(self.places))
