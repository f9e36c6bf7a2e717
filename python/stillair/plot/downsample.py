"""Fewer points where a picture cannot show them all, and words for what was left out.

A run of a day has more values than any picture has columns. What is drawn then is what a reader would see of all of
them: in each column the least and the greatest value. The words go below the picture, or into its caption.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMNS = 480
"""A picture on a page is about as many pixels wide."""

MOST_DOTS = 2000
"""More dots than these run into one another."""

_GREY = "#616e7c"

Floats = np.typing.NDArray[np.float64]


class Line(NamedTuple):
    """The points of a line, and whether there were more."""

    x: Floats
    y: Floats
    thinned: bool


class Stack(NamedTuple):
    """Values to be stacked, by column of time; of the sum the least and the greatest, if columns hold several."""

    t_s: Floats
    columns: list[Floats]
    least: Floats
    greatest: Floats
    each: int
    """Values in a column."""


def envelope(x: Sequence[float], y: Sequence[float], until: float) -> Line:
    """A line over time from 0 to `until`, in rising order: in each column its least and its greatest value.

    A column without a value is a gap in the line: nothing came.
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
            # A value alone would be no line: it is almost as wide as its column.
            xs += [(here + part) * until / COLUMNS for part in (0.1, 0.9)]
            ys += [value[low]] * 2
        else:
            for point in sorted({low, high}):
                xs.append(at[point])
                ys.append(value[point])
    return Line(np.array(xs), np.array(ys), thinned=True)


def distribution(values: Sequence[float], *, log: bool) -> Line:
    """The parts of values up to each of them: in each column of the axis the first and the last value."""
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
    """Values of equal steps, to be stacked: in each column of time their means, which may be added up."""
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
    """Over the means of a stack, how far its sum went in each column."""
    if of.each > 1:
        axes.fill_between(of.t_s, of.least, of.greatest, color=_GREY, alpha=0.35, linewidth=0)


def say(figure: Figure, *said: str) -> None:
    """Puts words below a picture; a page takes them into the caption."""
    if said:
        figure.supxlabel("\n".join(said), fontsize=8, color=_GREY)


def said_of_lines(until: float) -> str:
    """What an envelope shows."""
    return (
        f"Each of {COLUMNS} columns, of {until / COLUMNS:.3g} s, shows its least and its greatest value;"
        " one without a value is a gap."
    )


def said_of_stacks(each: int, step_s: float) -> str:
    """What a thinned stack shows."""
    return (
        f"Stacked are means of {each} values, {each * step_s:.3g} s; the grey band is from the least to the greatest"
        " sum among them."
    )
