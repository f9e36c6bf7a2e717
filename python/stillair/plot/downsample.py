"""Reduces series to what a picture can resolve, and provides captions for it.

A run of a day has more values than a picture has columns. In each column, the least and greatest value are
drawn, which looks like drawing all values. The caption is placed below the picture or in the page.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMNS = 480
"""Approximate width of a picture on a page, in pixels."""

MOST_DOTS = 2000
"""More dots would overlap."""

_GREY = "#616e7c"

Floats = np.typing.NDArray[np.float64]


class Line(NamedTuple):
    """Points of a line, and whether values were left out."""

    x: Floats
    y: Floats
    thinned: bool


class Stack(NamedTuple):
    """Stacked values by time column, with the least and greatest sum if columns hold several."""

    t_s: Floats
    columns: list[Floats]
    least: Floats
    greatest: Floats
    each: int
    """Values per column."""


def envelope(x: Sequence[float], y: Sequence[float], until: float) -> Line:
    """Reduces a line over the time 0 to `until`, in rising order, to the least and greatest value of each column.

    A column without a value is a gap in the line.
    """
    at, value = np.asarray(x, float), np.asarray(y, float)
    if len(at) <= 2 * COLUMNS:
        return Line(at, value, thinned=False)
    column = np.minimum((at * (COLUMNS / until)).astype(int), COLUMNS - 1)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    xs: list[float] = []
    ys: list[float] = []
    used = column[starts]
    for start, end, here, before, after in zip(
        starts, [*starts[1:], len(at)], used, [-2, *used[:-1]], [*used[1:], COLUMNS + 1], strict=True
    ):
        if before < here - 1 and xs:
            xs.append(np.nan)
            ys.append(np.nan)
        low, high = start + int(value[start:end].argmin()), start + int(value[start:end].argmax())
        if low == high and before < here - 1 and after > here + 1:
            # A single value would not be a line; make it almost as wide as its column.
            xs += [(here + part) * until / COLUMNS for part in (0.1, 0.9)]
            ys += [value[low]] * 2
        else:
            for point in sorted({low, high}):
                xs.append(at[point])
                ys.append(value[point])
    return Line(np.array(xs), np.array(ys), thinned=True)


def distribution(values: Sequence[float], *, log: bool) -> Line:
    """Cumulative distribution, reduced to the first and last value in each column of the axis."""
    x = np.sort(np.asarray(values, float))
    y = np.arange(1, len(x) + 1) / len(x)
    if len(x) <= 2 * COLUMNS:
        return Line(x, y, thinned=False)
    axis = np.log(np.maximum(x, 1e-9)) if log else x
    width = (axis[-1] - axis[0]) / COLUMNS or 1.0
    column = ((axis - axis[0]) / width).astype(int)
    changes = np.flatnonzero(np.diff(column))
    kept = np.unique(np.concatenate(([0, len(x) - 1], changes, changes + 1)))
    return Line(x[kept], y[kept], thinned=True)


def stack(t_s: Sequence[float], columns: Sequence[Sequence[float]]) -> Stack:
    """Reduces values of equal steps to the means of each column, which can be stacked."""
    t, values = np.asarray(t_s, float), np.asarray(columns, float).reshape(len(columns), len(t_s))
    total = values.sum(axis=0)
    if len(t) <= 2 * COLUMNS:
        return Stack(t, list(values), total, total, 1)
    each = -(-len(t) // COLUMNS)
    starts = np.arange(0, len(t), each)
    counts = np.diff(np.append(starts, len(t)))
    return Stack(
        np.add.reduceat(t, starts) / counts,
        list(np.add.reduceat(values, starts, axis=1) / counts),
        np.minimum.reduceat(total, starts),
        np.maximum.reduceat(total, starts),
        each,
    )


def band(axes: Axes, of: Stack) -> None:
    """Shades the range of the sum in each column over the stacked means."""
    if of.each > 1:
        axes.fill_between(of.t_s, of.least, of.greatest, color=_GREY, alpha=0.35, linewidth=0)


def say(figure: Figure, *said: str) -> None:
    """Adds a caption below a picture; a page moves it into its own caption."""
    if said:
        figure.supxlabel("\n".join(said), fontsize=8, color=_GREY)


def said_of_lines(until: float) -> str:
    """Caption of an envelope."""
    return (
        f"Each of {COLUMNS} columns, of {until / COLUMNS:.3g} s, shows its smallest and its largest value;"
        " a column without a value is a gap."
    )


def said_of_stacks(each: int, step_s: float) -> str:
    """Caption of a reduced stack."""
    return (
        f"Stacked means of {each} values, {each * step_s:.3g} s; the grey band spans the smallest to the largest"
        " sum among them."
    )
