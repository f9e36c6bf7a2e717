"""Pictures over time, of the first run of each result."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stillair.plot import data, downsample, style
from stillair.plot.data import Titled
from stillair.plot.style import LINES, colour
from stillair.results.series import Series
from stillair.results.tidy import Measured


def timeseries(figure: Figure, results: Sequence[Titled]) -> None:
    """Goodput above, ping below."""
    above, below = figure.subplots(2, 1, sharex=True)
    names = data.hosts(results)
    thinned: set[str] = set()
    for number, (title, result) in enumerate(results):
        series = _first(result.runs_with_series())
        until = series.duration_ns / 1e9
        found = {name: data.pings(series, name) for name in names}
        dots = sum(map(len, found.values())) <= downsample.MOST_DOTS
        line = LINES[number % len(LINES)]
        for station, name in enumerate(names):
            label = data.label(results, title, name)
            look = {"color": colour(station), "linestyle": line}
            rates = data.goodput(series, name)
            if rates:
                drawn = downsample.envelope(data.times(series), rates, until)
                above.plot(drawn.x, drawn.y, label=label, **look)
                thinned |= {downsample.said_of_lines(until)} if drawn.thinned else set()
            if found[name]:
                drawn = downsample.envelope([t for t, _ in found[name]], [ms for _, ms in found[name]], until)
                # Mark replies with dots: a line alone would hide lost ones between them.
                dot = {"marker": ".", "markersize": 3} if dots else {}
                below.plot(drawn.x, drawn.y, label=label, linewidth=0.8, **dot, **look)
                thinned |= {downsample.said_of_lines(until)} if drawn.thinned else set()
        if not dots:
            thinned.add(f"More than {downsample.MOST_DOTS} replies have no dots.")
        if number == 0:
            _not_measured([above, below], series)
    above.set_ylabel("goodput (Mbit/s)")
    below.set_ylabel("ping (ms)")
    below.set_xlabel("time (s)")
    for axes in (above, below):
        axes.set_ylim(bottom=0)
    downsample.say(figure, *sorted(thinned))
    style.legend(figure, *(above if above.lines else below).get_legend_handles_labels())


def airtime_stacked(figure: Figure, results: Sequence[Titled]) -> None:
    """Airtime of all stations over time, one panel for each result."""
    panels = figure.subplots(len(results), 1, sharex=True, squeeze=False)[:, 0]
    names = data.stations(results)
    thinned: set[str] = set()
    for axes, (title, result) in zip(panels, results, strict=True):
        series = _first(result.runs_with_series())
        if not names:
            continue
        columns = [[100 * share for share in data.airtime(series, name)] for name in names]
        drawn = downsample.stack(data.times(series), columns)
        axes.stackplot(drawn.t_s, drawn.columns, labels=names, colors=[colour(n) for n in range(len(names))])
        downsample.band(axes, drawn)
        if drawn.each > 1:
            thinned.add(downsample.said_of_stacks(drawn.each, series.step_ns / 1e9))
        axes.set_ylabel("airtime (% of time)")
        if len(results) > 1:
            axes.set_title(title)
        _not_measured([axes], series)
    panels[-1].set_xlabel("time (s)")
    downsample.say(figure, *sorted(thinned))
    style.legend(figure, *panels[0].get_legend_handles_labels())


def _first(measured: Iterator[Measured]) -> Series:
    return next(measured).series


def _not_measured(panels: Sequence[Axes], series: Series) -> None:
    """Shades the time before and after the measured part."""
    since, until = series.measured_ns()
    for axes in panels:
        axes.set_xlim(0, series.duration_ns / 1e9)
        for begin, end in ((0, since), (until, series.duration_ns)):
            if begin < end:
                axes.axvspan(begin / 1e9, end / 1e9, color="#000000", alpha=0.08, linewidth=0)
