"""One look for all pictures, safe for colour-blind readers and for print in grey."""

from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
from cycler import cycler

# paper: Okabe and Ito, Color Universal Design (2008) - eight colours told apart with any kind of colour vision; yellow,
# which is too faint for lines, comes last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")

# Results are told apart by these and by shades of fill, so that colour is left to the stations.
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
    """The style as a context, on top of matplotlib's own defaults and not of the user's."""
    settings: dict[Any, Any] = {**mpl.rcParamsDefault, **_STYLE, "backend": mpl.get_backend()}
    return mpl.rc_context(settings)


def colour(number: int) -> str:
    """The colour of the station of that number."""
    return COLOURS[number % len(COLOURS)]
