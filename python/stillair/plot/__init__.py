"""Pictures of results: PNG, SVG or PDF, by the file name's suffix.

`PLOTS` lists them. Modules are imported on use, because matplotlib is slow to import.

    bars           a bar for each station or flow
    scatter        throughput against delay
    pareto         the same for tried settings
    cases          a bar for each of a few cases
    distributions  distributions over replies and over runs
    time           throughput, delay and cuts over time
    timeline       every exchange on the air
    layers         packets queued in each layer, sockets over time
    sojourn        packet delay by layer and cause
    downsample     fewer points than values, and the captions for it
    data           data of the plots
    style          colours, lines and hatches, legends
"""

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.plot.data import Titled, UndrawnError
from stillair.results.result import Result
from stillair.text import extras, output
from stillair.text.table import pairs

SUFFIXES = (".png", ".svg", ".pdf")


class Plot(NamedTuple):
    """A kind of picture: its module and function in this package."""

    description: str
    module: str
    function: str


TIMELINE = "airtime-timeline"
"""The only plot with a time window."""

PLOTS = {
    "timeseries": Plot("goodput and ping over time, stacked (first run)", "time", "timeseries"),
    "ping_cdf": Plot("distribution of ping times", "distributions", "ping_cdf"),
    "ping_cdf_log": Plot("the same on a logarithmic axis", "distributions", "ping_cdf_log"),
    "box": Plot("goodput and ping times as boxes", "distributions", "box"),
    "airtime": Plot("each station's share of the airtime, as bars", "bars", "airtime"),
    "airtime_stacked": Plot("airtime of the stations over time, stacked (first run)", "time", "airtime_stacked"),
    "occupancy": Plot("what waits in each layer over time, stacked (first run)", "layers", "occupancy"),
    "sockets": Plot("window, round-trip time and rates of TCP senders over time (first run)", "layers", "sockets"),
    TIMELINE: Plot("every PPDU on the air in a lane for each station (first run)", "timeline", "airtime_timeline"),
    "sojourn": Plot("delay by layer over its percentiles, stacked (first run)", "sojourn", "layers"),
    "sojourn_p99": Plot("layers and causes of packets at the 99th percentile (first run)", "sojourn", "flame"),
    "aggregates": Plot("frames per aggregate, as bars", "bars", "aggregates"),
    "throughput_latency": Plot("goodput against ping, with an ellipse of one sigma", "scatter", "throughput_latency"),
}

DEFAULT = "timeseries"


def listing(width: int = 80) -> str:
    """Lists the plots with their descriptions, no wider than `width`."""
    return pairs([(name, plot.description) for name, plot in PLOTS.items()], None, width)


def check(name: str, path: Path) -> None:
    """Rejects an unknown plot or format before any work."""
    if name not in PLOTS:
        raise InputError(f'--plot: found "{name}", expected one of {", ".join(PLOTS)}')
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def draw(name: str, results: Sequence[Titled], path: Path, window: tuple[int, int] | None = None) -> None:
    """Draws a plot of one or several results, or of a window in ns. Equal results give equal SVG files."""
    check(name, path)
    output.check(path)
    output.write_bytes(path.parent, {path.name: picture(name, results, path.suffix.lower()[1:], window)})


def picture(name: str, results: Sequence[Titled], kind: str, window: tuple[int, int] | None = None) -> bytes:
    """Returns a plot in this format. Raises `UndrawnError` if the results have no data for it."""
    return _drawn(name, results, kind, window, inline=False)[0]


def inline(name: str, results: Sequence[Titled], window: tuple[int, int] | None = None) -> tuple[str, str]:
    """Returns a plot as SVG with a transparent background, and its caption."""
    drawn, said = _drawn(name, results, "svg", window, inline=True)
    return drawn.decode(), said


def _drawn(
    name: str, results: Sequence[Titled], kind: str, window: tuple[int, int] | None, *, inline: bool
) -> tuple[bytes, str]:
    extras.need("matplotlib", "plot")
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to load

    from stillair.plot.style import style  # noqa: PLC0415

    plot = PLOTS[name]
    function: Callable[..., None] = getattr(extras.need(f"stillair.plot.{plot.module}", "plot"), plot.function)
    with style():
        figure = Figure(layout="constrained")
        if name == TIMELINE:
            function(figure, results, window)
        else:
            function(figure, results)
        if not any(axes.has_data() for axes in figure.axes):
            raise UndrawnError(f"{name}: nothing to draw: no station or flow has measured this")
        said = figure.get_supxlabel().replace("\n", " ")
        if inline:
            # The caption replaces this text.
            figure.supxlabel("")
        # Without a date, the same picture gives the same file.
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
        held = BytesIO()
        # Resolution of embedded images, close to that of the page.
        looks: dict[str, Any] = {"transparent": True, "dpi": 80} if inline else {}
        figure.savefig(held, format=kind, metadata=dates[kind], **looks)
        return held.getvalue(), said


class Picture:
    """A picture of a result. Notebooks display it; `save` writes PNG, SVG or PDF."""

    def __init__(self, name: str, result: Result, window: tuple[float, float] | None = None) -> None:
        """Checks the arguments; drawing is deferred. `window` is in seconds."""
        if name not in PLOTS:
            raise InputError(f'plot: found "{name}", expected one of {", ".join(PLOTS)}')
        if window is not None and name != TIMELINE:
            raise InputError(f"window: {name} shows the whole run; {TIMELINE} has windows")
        self.name = name
        self._results = [Titled(result.scenario, result)]
        self._window = None if window is None else (round(window[0] * 1e9), round(window[1] * 1e9))

    def svg(self) -> str:
        """Returns the picture as SVG. Raises `InputError` if the result has no data for it."""
        return picture(self.name, self._results, "svg", self._window).decode()

    def save(self, path: str | Path) -> None:
        """Writes a file in the format of its suffix: `.png`, `.svg` or `.pdf`."""
        draw(self.name, self._results, Path(path), self._window)

    def __repr__(self) -> str:
        """Title and description."""
        return f"<Picture of {self._results[0].title}: {PLOTS[self.name].description}>"

    def _repr_html_(self) -> str:
        """The picture for notebooks."""
        svg = self.svg()
        # Without the XML declaration, which is invalid inside a page.
        return svg[svg.index("<svg") :]
