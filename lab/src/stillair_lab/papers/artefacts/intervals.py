"""A mean with its confidence interval, as text and as an error bar."""

from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def named(measured: Interval | None, digits: int) -> str:
    """A mean with half its interval, or a note that nothing was measured."""
    return figure(measured._asdict(), digits=digits) if measured else NOT_MEASURED


def along(axes: "Axes", names: list[str]) -> None:
    """Labels groups of bars, without ticks."""
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)


def spread(measured: Interval | None) -> tuple[float, float]:
    """Distance of the interval's ends below and above the mean."""
    return (measured.mean - measured.low, measured.high - measured.mean) if measured else (0.0, 0.0)
