"""Bars of summary figures, with 95 % confidence intervals over the runs."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from stillair.plot import data, style
from stillair.plot.data import Titled
from stillair.plot.style import HATCHES, colour
from stillair.results.statistics import some_runs


def airtime(figure: Figure, results: Sequence[Titled]) -> None:
    """Each station's share of the airtime."""
    _bars(figure, results, "airtime_share", "share of the airtime (%)", 100)


def aggregates(figure: Figure, results: Sequence[Titled]) -> None:
    """Frames per data PPDU."""
    _bars(figure, results, "mean_aggregate", "frames per aggregate", 1)


def _bars(figure: Figure, results: Sequence[Titled], key: str, label: str, scale: float) -> None:
    axes = figure.subplots()
    names = data.stations(results)
    width = 0.8 / len(results)
    ticks = list(names)
    for number, (title, result) in enumerate(results):
        over = result.summary()["stations"]
        for station, name in enumerate(names):
            value = over.get(name, {}).get(key)
            if value is None:
                continue
            if of := some_runs(value):
                ticks[station] += f"\n{title if len(results) > 1 else ''}{of}".replace("\n ", "\n")
            mean = value["mean"] * scale
            # A single run has no interval.
            low, high = (mean if end is None else end * scale for end in (value["low"], value["high"]))
            axes.bar(
                station + (number - (len(results) - 1) / 2) * width,
                mean,
                width * 0.92,
                color=colour(station),
                hatch=HATCHES[number % len(HATCHES)],
                edgecolor="white",
                yerr=[[mean - low], [high - mean]] if high > low else None,
                capsize=3,
            )
    axes.set_xticks(range(len(names)), ticks)
    style.names(axes, len(names))
    axes.set_ylabel(label)
    axes.grid(visible=False, axis="x")
    if len(results) > 1:
        keys = [
            Patch(facecolor="#999999", edgecolor="white", hatch=HATCHES[n % len(HATCHES)]) for n in range(len(results))
        ]
        figure.legend(keys, [title for title, _ in results], loc="outside upper center", ncols=min(4, len(results)))
