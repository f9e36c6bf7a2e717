"""Ping under load: round trips of stations under a scheme, as percentiles and as a CDF."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from stillair.results.statistics import percentile
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly.schemes import COLOURS
from stillair_lab.papers.measure import samples
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PERCENTILES = (10, 50, 90, 95)
# A few hundred points suffice for the curve; every reply would take megabytes.
_POINTS = 400


class Curve(NamedTuple):
    """A curve: whose replies, its label and its style."""

    scheme: str
    stations: str
    title: str
    line: str = "-"


def text(of: Measurer, curves: Iterable[Curve]) -> str:
    """Percentiles, a row for each curve."""
    rows = []
    for curve in curves:
        found = round_trips(of, curve.scheme, curve.stations)
        values = [percentile(found, at) if found else None for at in _PERCENTILES]
        rows.append([curve.title, *(NOT_MEASURED if value is None else f"{value:.1f}" for value in values)])
    heading = ["", *(f"p{at} ms" for at in _PERCENTILES)]
    return "Ping under load, replies of all runs together.\n\n" + table(heading, rows)


def picture(of: Measurer, curves: Iterable[Curve], width: float, height: float) -> "Figure":
    """CDFs in the colours of the schemes."""
    with style.styled():
        drawn = style.new(width, height)
        axes = drawn.add_subplot()
        for scheme, stations, title, line in curves:
            found = sorted(round_trips(of, scheme, stations))
            shown = [found[at * (len(found) - 1) // _POINTS] for at in range(_POINTS + 1)] if found else []
            parts = [at / _POINTS for at in range(len(shown))]
            axes.plot(shown, parts, color=COLOURS[scheme], linestyle=line, label=title)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_ylim(0, 1)
        axes.set_xlabel("ping RTT, ms")
        axes.set_ylabel("part of the replies")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def round_trips(of: Measurer, scheme: str, stations: str) -> list[float]:
    """Round trips in ms of all runs to a class of stations, or to all stations."""
    result = of.result({"scheme": scheme})
    asked = of.stations(stations) if stations else None
    return [ms for run in result.runs for ms in samples.pings(result, run, asked)]
