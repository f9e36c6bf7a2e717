"""Pictures of results: PNG, SVG or PDF by the name of the file.

`PLOTS` has them all; a room is loaded when it draws, as matplotlib takes its time.

    bars           a bar for each station or flow
    scatter        throughput against delay
    pareto         the same of settings that were tried
    cases          a bar for each of a few cases
    distributions  distributions over replies and over runs
    time           throughput, delay and cuts over time
    timeline       every exchange on the air
    layers         what waits where, sockets over time
    sojourn        where the time of packets went
    downsample     fewer points where no picture can show all, and words for that
    data           from results to what is drawn
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
    """A kind of picture: its module and function within this package."""

    description: str
    module: str
    function: str


TIMELINE = "airtime-timeline"
"""The one plot that shows a window of time of its own."""

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
    """The plots and what they show; no wider than `width`."""
    return pairs([(name, plot.description) for name, plot in PLOTS.items()], None, width)


def check(name: str, path: Path) -> None:
    """Refuses an unknown plot or format before work is done."""
    if name not in PLOTS:
        raise InputError(f'--plot: found "{name}", expected one of {", ".join(PLOTS)}')
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name has to end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def draw(name: str, results: Sequence[Titled], path: Path, window: tuple[int, int] | None = None) -> None:
    """Draws one plot of one or several results, or of a window in ns; equal results make equal SVG files."""
    check(name, path)
    output.check(path)
    output.write_bytes(path.parent, {path.name: picture(name, results, path.suffix.lower()[1:], window)})


def picture(name: str, results: Sequence[Titled], kind: str, window: tuple[int, int] | None = None) -> bytes:
    """One plot as a file of this kind; an `UndrawnError` if the results have nothing for it."""
    return _drawn(name, results, kind, window, inline=False)[0]


def inline(name: str, results: Sequence[Titled], window: tuple[int, int] | None = None) -> tuple[str, str]:
    """One plot as SVG on whatever is behind it, and what has to be said of it."""
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
            # Where words follow in a caption.
            figure.supxlabel("")
        # Without a date the same picture is the same file.
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
        held = BytesIO()
        # What is an image within the picture has about the pixels of its place on a page.
        looks: dict[str, Any] = {"transparent": True, "dpi": 80} if inline else {}
        figure.savefig(held, format=kind, metadata=dates[kind], **looks)
        return held.getvalue(), said


class Picture:
    """A picture of a result: a notebook shows it, `save` writes it as PNG, SVG or PDF."""

    def __init__(self, name: str, result: Result, window: tuple[float, float] | None = None) -> None:
        """Checks what is asked for; it is drawn when it is shown. `window` is in seconds."""
        if name not in PLOTS:
            raise InputError(f'plot: found "{name}", expected one of {", ".join(PLOTS)}')
        if window is not None and name != TIMELINE:
            raise InputError(f"window: {name} shows the whole run; {TIMELINE} has windows")
        self.name = name
        self._results = [Titled(result.scenario, result)]
        self._window = None if window is None else (round(window[0] * 1e9), round(window[1] * 1e9))

    def svg(self) -> str:
        """The picture as SVG; an `InputError` if the result has nothing for it."""
        return picture(self.name, self._results, "svg", self._window).decode()

    def save(self, path: str | Path) -> None:
        """Writes a file in the format that its name ends in: `.png`, `.svg` or `.pdf`."""
        draw(self.name, self._results, Path(path), self._window)

    def __repr__(self) -> str:
        """What it shows."""
        return f"<Picture of {self._results[0].title}: {PLOTS[self.name].description}>"

    def _repr_html_(self) -> str:
        """The picture, as a notebook shows it."""
        svg = self.svg()
        # Without the declaration of XML, which has no place within a page.
        return svg[svg.index("<svg") :]
