"""Throughput against latency, after Winstein: better is up and to the left."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from stillair.plot import data, downsample, style
from stillair.plot.data import Titled
from stillair.plot.style import MARKERS, colour
from stillair.results.series import Series


def throughput_latency(figure: Figure, results: Sequence[Titled]) -> None:
    """Draws each measured step that has a reply, the mean, and its one-sigma ellipse."""
    axes = figure.subplots()
    drawn = 0
    for number, (title, result) in enumerate(results):
        names = data.hosts(results)
        found, some = data.over_runs(result, names, _points)
        for station, name in enumerate(names):
            points = found[name]
            if not points:
                continue
            x, y = np.array(points).T
            look: dict[str, Any] = {"color": colour(station), "marker": MARKERS[number % len(MARKERS)]}
            # Many dots are embedded as a single image; none is left out.
            drawn += len(points)
            many = drawn > downsample.MOST_DOTS
            axes.scatter(x, y, s=6, alpha=0.25, linewidths=0, rasterized=many, zorder=0.9 if many else 1, **look)
            axes.scatter(x.mean(), y.mean(), s=45, label=data.label(results, title, name) + some[name], **look)
            if len(points) > 1:
                axes.add_patch(_ellipse(x, y, colour(station)))
    axes.set_xlabel("ping (ms)")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    style.legend(figure, *axes.get_legend_handles_labels())


def _points(series: Series, name: str) -> list[tuple[float, float]]:
    steps = list(zip(data.step_pings(series, name), data.goodput(series, name), strict=False))
    return [(ms, mbps) for ms, mbps in steps[series.measured_steps()] if ms is not None]


def _ellipse(x: "np.typing.NDArray[np.float64]", y: "np.typing.NDArray[np.float64]", fill: str) -> Ellipse:
    """One standard deviation along the principal axes of the covariance."""
    values, vectors = np.linalg.eigh(np.cov(x, y))
    small, large = 2 * np.sqrt(np.maximum(values, 0))
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    centre = (float(x.mean()), float(y.mean()))
    return Ellipse(centre, large, small, angle=angle, facecolor=fill, edgecolor=fill, alpha=0.3)
