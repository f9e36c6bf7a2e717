"""Pictures over time, of the first run of each result."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stillair.plot import data
from stillair.plot.data import Titled
from stillair.plot.style import LINES, colour
from stillair.results.series import Series
from stillair.results.tidy import Measured


def timeseries(figure: Figure, results: Sequence[Titled]) -> None:
    """Goodput above, ping below."""
    above, below = figure.subplots(2, 1, sharex=True)
    names = data.hosts(results)
    for number, (title, result) in enumerate(results):
        series = _first(result.all_measured())
        line = LINES[number % len(LINES)]
        for station, name in enumerate(names):
            label = data.label(results, title, name)
            look = {"color": colour(station), "linestyle": line}
            rates = data.goodput(series, name)
            if rates:
                above.plot(data.times(series), rates, label=label, **look)
            samples = data.pings(series, name)
            if samples:
                # Dots show where replies are: a line alone hides that those between were lost.
                below.plot(*zip(*samples, strict=True), label=label, linewidth=0.8, marker=".", markersize=3, **look)
        if number == 0:
            _not_measured([above, below], series)
    above.set_ylabel("goodput (Mbit/s)")
    below.set_ylabel("ping (ms)")
    below.set_xlabel("time (s)")
    for axes in (above, below):
        axes.set_ylim(bottom=0)
    _legend(figure, above if above.lines else below)


def airtime_stacked(figure: Figure, results: Sequence[Titled]) -> None:
    """Airtime of all stations over time, one panel for each result."""
    panels = figure.subplots(len(results), 1, sharex=True, squeeze=False)[:, 0]
    names = data.stations(results)
    for axes, (title, result) in zip(panels, results, strict=True):
        series = _first(result.all_measured())
        columns = [[100 * share for share in data.airtime(series, name)] for name in names]
        if not names:
            continue
        axes.stackplot(data.times(series), columns, labels=names, colors=[colour(n) for n in range(len(names))])
        axes.set_ylabel("airtime (% of time)")
        if len(results) > 1:
            axes.set_title(title)
        _not_measured([axes], series)
    panels[-1].set_xlabel("time (s)")
    _legend(figure, panels[0])


def _first(measured: Iterator[Measured]) -> Series:
    return next(measured).series


def _not_measured(panels: Sequence[Axes], series: Series) -> None:
    """Shades what is before and after the measured part."""
    since, until = series.measured_ns()
    for axes in panels:
        axes.set_xlim(0, series.duration_ns / 1e9)
        for begin, end in ((0, since), (until, series.duration_ns)):
            if begin < end:
                axes.axvspan(begin / 1e9, end / 1e9, color="#000000", alpha=0.08, linewidth=0)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper")
