"""The look of the papers' pictures: colour-blind safe, small, the same bytes for the same numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

from stillair.text import extras

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# paper: Okabe and Ito, Color Universal Design (2008) - told apart with any of the common colour deficiencies.
BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE = "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7"
INK, FAINT = "#1f2933", "#8a939d"

# One colour a station, wherever it appears; the slow one stands out.
STATIONS = {"fast1": BLUE, "fast2": SKY, "slow": VERMILION, "fast3": PURPLE}

# What stands in a bar of the colour must be read.
_ON = {BLUE: "white", VERMILION: "white", GREEN: "white"}

_SETTINGS: dict[str, object] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e4e7eb",
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "white",
    # The names inside a vector file come from its contents and not from chance.
    "svg.hashsalt": "stillair",
    "svg.fonttype": "path",
}

FORMATS = ("svg", "png", "pdf")
# A picture says nothing of when it was drawn, so that two of the same runs are the same.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "stillair"},
    "png": {"Software": "stillair"},
    "pdf": {"CreationDate": None, "Creator": "stillair", "Producer": "stillair"},
}


@contextmanager
def styled() -> Iterator[None]:
    """Draws in this look, without touching the caller's settings."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra: the program works without it

    with mpl.rc_context(_SETTINGS):  # type: ignore[arg-type] # its stub lists every key by name
        yield


def new(width: float, height: float) -> "Figure":
    """An empty picture, in inches; needs no screen."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(width, height), layout="constrained")


def save(picture: "Figure", form: str) -> bytes:
    """The picture as a file of this form, the same bytes each time."""
    held = BytesIO()
    # The settings of vector files are read when they are written, not when they are drawn.
    with styled():
        picture.savefig(held, format=form, dpi=200, metadata=_METADATA[form])
    return held.getvalue()


def available() -> bool:
    """Whether there is something to draw with."""
    return extras.there("matplotlib")


def in_order(place: int, count: int) -> str:
    """The colour of one of so many values that rise: from dark to light, and not so light as to be faint."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra, as above
    from matplotlib.colors import to_hex  # noqa: PLC0415

    # Viridis is even to the eye with any kind of colour vision.
    return to_hex(mpl.colormaps["viridis"](0.92 * place / max(count - 1, 1)))


def ink_on(colour: str) -> str:
    """The colour of text within a bar of this colour."""
    return _ON.get(colour, INK)


def bars(
    axes: "Axes",
    where: Sequence[float],
    heights: Sequence[float],
    spread: Sequence[tuple[float, float]],
    width: float,
    colour: str,
    label: str,
) -> None:
    """Bars with their confidence intervals: `spread` is how far each reaches down and up."""
    axes.bar(where, heights, width=width, color=colour, label=label, edgecolor="white", linewidth=0.5)
    down, up = [s[0] for s in spread], [s[1] for s in spread]
    axes.errorbar(where, heights, yerr=[down, up], fmt="none", ecolor=INK, elinewidth=1, capsize=2)
