"""Style of the papers' pictures: safe for colour-blind readers, small, byte-identical for equal numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

from stillair.text import extras

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# paper: Okabe and Ito, Color Universal Design (2008) - distinguishable with any common colour deficiency.
BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE = "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7"
INK, FAINT = "#1f2933", "#8a939d"

# Each station has the same colour everywhere; the slow one stands out.
STATIONS = {"fast1": BLUE, "fast2": SKY, "slow": VERMILION, "fast3": PURPLE}

# Text colour inside a bar.
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
    # Element ids in an SVG derive from its content instead of random numbers.
    "svg.hashsalt": "stillair",
    "svg.fonttype": "path",
}

FORMATS = ("svg", "png", "pdf")
# Pictures contain no date, so that equal runs give equal pictures.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "stillair"},
    "png": {"Software": "stillair"},
    "pdf": {"CreationDate": None, "Creator": "stillair", "Producer": "stillair"},
}


@contextmanager
def styled() -> Iterator[None]:
    """Applies the style within the block, without changing the caller's settings."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra: the program works without it

    with mpl.rc_context(_SETTINGS):  # type: ignore[arg-type] # its stub lists every key by name
        yield


def new(width: float, height: float) -> "Figure":
    """An empty figure, with its size in inches; needs no display."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(width, height), layout="constrained")


def save(picture: "Figure", form: str) -> bytes:
    """Returns the picture as a file, byte-identical each time."""
    held = BytesIO()
    # Settings of vector files apply when they are written, not when they are drawn.
    with styled():
        picture.savefig(held, format=form, dpi=200, metadata=_METADATA[form])
    return held.getvalue()


def available() -> bool:
    """Returns true if matplotlib is installed."""
    return extras.there("matplotlib")


def in_order(place: int, count: int) -> str:
    """Colour of one of `count` ordered values, from dark to light but not too faint."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra, as above
    from matplotlib.colors import to_hex  # noqa: PLC0415

    # Viridis is perceptually uniform for any kind of colour vision.
    return to_hex(mpl.colormaps["viridis"](0.92 * place / max(count - 1, 1)))


def ink_on(colour: str) -> str:
    """Colour of text inside a bar of this colour."""
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
    """Bars with their confidence intervals; `spread` is the distance of each end below and above."""
    axes.bar(where, heights, width=width, color=colour, label=label, edgecolor="white", linewidth=0.5)
    down, up = [s[0] for s in spread], [s[1] for s in spread]
    axes.errorbar(where, heights, yerr=[down, up], fmt="none", ecolor=INK, elinewidth=1, capsize=2)
