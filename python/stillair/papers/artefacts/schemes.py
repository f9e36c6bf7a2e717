"""What the figures of *Ending the Anomaly* have in common: the four schemes, their names and colours."""

from typing import TYPE_CHECKING

from stillair.papers import style
from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
TITLES = {"fifo": "FIFO", "fq_codel": "FQ-CoDel", "fq_mac": "FQ-MAC", "airtime": "Airtime fair FQ"}
COLOURS = {"fifo": style.VERMILION, "fq_codel": style.ORANGE, "fq_mac": style.SKY, "airtime": style.BLUE}


def named(measured: Interval | None, digits: int) -> str:
    """A mean with half its interval, or that nothing was measured."""
    return figure(measured._asdict(), digits=digits) if measured else NOT_MEASURED


def along(axes: "Axes", names: list[str]) -> None:
    """Names under groups of bars, without ticks."""
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)


def spread(measured: Interval | None) -> tuple[float, float]:
    """How far the interval reaches below and above the mean."""
    return (measured.mean - measured.low, measured.high - measured.mean) if measured else (0.0, 0.0)
