"""A common style for all pictures, safe for colour-blind readers and for greyscale print."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# paper: Okabe and Ito, Color Universal Design (2008) - eight colours distinguishable with any kind of colour
# vision. Yellow comes last, as it is too faint for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")

# After eight stations, colours repeat darker, then lighter, then greyer, so that thirty stations differ.
_DARKER = ("#004469", "#803800", "#005e45", "#7d3b60", "#1f6f9c", "#8a5f00", "#5a5a5a", "#8f8600")
_LIGHTER = ("#7fb8d8", "#eaae7f", "#7fceb9", "#e5bcd3", "#aad9f4", "#f2cf7f", "#a0a0a0", "#f7f1a0")
_GREYER = ("#4f7893", "#a6714a", "#4f8a78", "#a88a9b", "#86a5b8", "#b59a5c", "#7a7a7a", "#bdb878")
_ALL = (*COLOURS, *_DARKER, *_LIGHTER, *_GREYER)

# Line styles and fill shades distinguish results; colours distinguish stations.
LINES = ("solid", "dashed", "dotted", "dashdot")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "//", "..", "xx", "\\\\", "--", "++", "oo")

_STYLE: dict[str, Any] = {
    "figure.figsize": (7.0, 4.3),
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.size": 10,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "stillair",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def style() -> AbstractContextManager[Any]:
    """The style as a context, based on matplotlib's defaults instead of the user's."""
    settings: dict[Any, Any] = {**mpl.rcParamsDefault, **_STYLE, "backend": mpl.get_backend()}
    return mpl.rc_context(settings)


def colour(number: int) -> str:
    """Colour of a station by its number."""
    return _ALL[number % len(_ALL)]


# Most names next to a picture, and most unrotated names below an axis.
_BESIDE = 10
_UPRIGHT = 8


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Figure legend: next to the panels, or below them in columns if it is long."""
    if not handles:
        return
    if len(labels) <= _BESIDE:
        figure.legend(handles, labels, loc="outside right upper")
        return
    width, height = figure.get_size_inches()
    # In inches at this text size: the width of a letter, and of the line sample.
    columns = max(1, min(len(labels), int(width / (0.075 * max(map(len, labels)) + 0.5))))
    rows = -(-len(labels) // columns)
    figure.set_size_inches(width, height + 0.16 * rows + 0.1)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize=8, columnspacing=1.0, handlelength=1.5
    )


def names(axes: Axes, count: int, *, slanted: int = 0) -> None:
    """Rotates the names below an axis that would overlap. `slanted` is the angle for few names."""
    if count > _UPRIGHT:
        axes.tick_params(axis="x", rotation=90, labelsize=8 if count <= 40 else 5)
    elif slanted:
        axes.tick_params(axis="x", rotation=slanted)
