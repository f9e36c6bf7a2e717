"""Latency against goodput of tried settings: the front, and the settings confirmed over seeds."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from stillair.results.statistics import Interval
from stillair.text import extras, output

SUFFIXES = (".png", ".svg", ".pdf")


class Point(NamedTuple):
    """A confirmed choice: its name, and both figures over the seeds."""

    name: str
    latency_ms: Interval
    goodput_mbps: Interval


Pair = tuple[float, float]
"""p95 delay in ms, and goodput in Mbit/s."""


def draw(path: Path, title: str, tried: Sequence[Pair], front: Sequence[Pair], points: Sequence[Point]) -> None:
    """Draws all tried settings and the front, with intervals where known. Better is up and to the left."""
    extras.need("matplotlib", "plot")
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to load
    from matplotlib.ticker import LogLocator  # noqa: PLC0415

    from stillair.plot import style  # noqa: PLC0415

    with style.style():
        figure = Figure(layout="constrained")
        axes = figure.subplots()
        axes.scatter(*_columns(tried), s=9, color="#bbbbbb", label="tried (one run)")
        axes.plot(*_columns(front), color=style.colour(0), drawstyle="steps-post", label="front (one run)")
        names = list(dict.fromkeys(point.name for point in points))
        for at, point in enumerate(points):
            number, again = names.index(point.name) + 1, point.name in [one.name for one in points[:at]]
            late, more = point.latency_ms, point.goodput_mbps
            axes.errorbar(
                late.mean,
                more.mean,
                xerr=[[late.mean - late.low], [late.high - late.mean]],
                yerr=[[more.mean - more.low], [more.high - more.mean]],
                marker=style.MARKERS[number % len(style.MARKERS)],
                color=style.colour(number),
                linestyle="none",
                label=None if again else f"{point.name} (95 %)",
            )
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("{x:g}")
        axes.set_xlabel("delay at p95 (ms)")
        axes.set_ylabel("goodput (Mbit/s)")
        axes.set_title(title)
        style.legend(figure, *axes.get_legend_handles_labels())
        held = BytesIO()
        kind = path.suffix.lower()[1:]
        # Without a date, the same picture gives the same file.
        dates: dict[str, dict[str, str | None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
        figure.savefig(held, format=kind, metadata=dates[kind])
    output.write_bytes(path.parent, {path.name: held.getvalue()})


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
