"""A bar with its interval for each of a few cases; a panel for each measure."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from textwrap import fill

from stillair.results.statistics import Interval
from stillair.text import extras


def picture(title: str, panels: Sequence[tuple[str, Mapping[str, Interval]]]) -> bytes:
    """Returns an SVG. Equal numbers give equal files."""
    extras.need("matplotlib", "plot")
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to load

    from stillair.plot import style  # noqa: PLC0415

    with style.style():
        figure = Figure(figsize=(7.0, 3.2), layout="constrained")
        for axes, (name, bars) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            means = [one.mean for one in bars.values()]
            errors = [[one.mean - one.low for one in bars.values()], [one.high - one.mean for one in bars.values()]]
            colours = [style.colour(number) for number in range(len(bars))]
            axes.bar(range(len(bars)), means, yerr=errors, color=colours, capsize=3)
            axes.set_xticks(range(len(bars)), [fill(case, 14) for case in bars], fontsize=8)
            axes.set_ylabel(name)
            axes.grid(visible=False, axis="x")
        figure.suptitle(fill(title, 80))
        held = BytesIO()
        figure.savefig(held, format="svg", metadata={"Date": None})
    return held.getvalue()
