"""Distributions and box plots over the measured part of all runs."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from stillair.plot import data, downsample, style
from stillair.plot.data import Titled
from stillair.plot.style import LINES, colour
from stillair.results.series import Series

_MOST_BESIDE = 10
"""Most boxes in each of two panels side by side."""


def ping_cdf(figure: Figure, results: Sequence[Titled]) -> None:
    """CDF of round trips. The curve of a station that loses pings ends below 1."""
    _cdf(figure, results, log=False)


def _cdf(figure: Figure, results: Sequence[Titled], *, log: bool) -> Axes:
    axes = figure.subplots()
    names = data.hosts(results)
    for number, (title, result) in enumerate(results):
        found, some = data.over_runs(result, names, _pings)
        lost = data.ping_loss(result)
        for station, name in enumerate(names):
            share = lost.get(name, 0.0)
            if not found[name] and not share:
                continue
            label = data.label(results, title, name)
            notes = [f"{100 * share:.3g} % lost"] if share else []
            notes += [f"replies in {some[name].strip(' ()')}"] if found[name] and some[name] else []
            # A station without replies has no curve, but a legend entry.
            drawn = downsample.distribution(found[name], log=log) if found[name] else None
            axes.step(
                drawn.x if drawn else [],
                drawn.y * (1 - share) if drawn else [],
                where="post",
                label=f"{label} ({', '.join(notes)})" if notes else label,
                color=colour(station),
                linestyle=LINES[number % len(LINES)],
            )
    axes.set_xlabel("ping (ms)")
    axes.set_ylabel("share of pings")
    axes.set_ylim(0, 1)
    style.legend(figure, *axes.get_legend_handles_labels())
    return axes


def ping_cdf_log(figure: Figure, results: Sequence[Titled]) -> None:
    """CDF of round trips on a logarithmic axis."""
    axes = _cdf(figure, results, log=True)
    axes.set_xscale("log")
    # Label only 1, 2 and 5 of each decade, as plain numbers; others would overlap.
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def box(figure: Figure, results: Sequence[Titled]) -> None:
    """Goodput of the steps and round trips: median, quartiles, whiskers at 5 and 95 %."""
    if len(data.hosts(results)) * len(results) > _MOST_BESIDE:
        # Stack the panels: side by side, the boxes would be too narrow.
        figure.set_size_inches(7.0, 7.0)
        left, right = figure.subplots(2, 1)
    else:
        left, right = figure.subplots(1, 2)
    _boxes(left, results, _goodput)
    _boxes(right, results, _pings)
    left.set_ylabel("goodput (Mbit/s)")
    right.set_ylabel("ping (ms)")


def _boxes(axes: Axes, results: Sequence[Titled], values: data.Values[float]) -> None:
    names = data.hosts(results)
    found = [(title, data.over_runs(result, names, values)) for title, result in results]
    boxes = [
        (data.label(results, title, name) + some[name], station, of[name])
        for station, name in enumerate(names)
        for title, (of, some) in found
        if of[name]
    ]
    if not boxes:
        return
    drawn = axes.boxplot(
        [found for _, _, found in boxes],
        tick_labels=[label for label, _, _ in boxes],
        whis=(5, 95),
        showfliers=False,
        patch_artist=True,
        medianprops={"color": "black"},
    )
    for patch, (_, station, _) in zip(drawn["boxes"], boxes, strict=True):
        patch.set_facecolor(colour(station))
        patch.set_alpha(0.7)
    axes.set_ylim(bottom=0)
    style.names(axes, len(boxes), slanted=30 if len(results) == 1 else 60)


def _pings(series: Series, name: str) -> list[float]:
    return data.measured_pings(series, name)


def _goodput(series: Series, name: str) -> list[float]:
    return data.goodput(series, name)[series.measured_steps()]
