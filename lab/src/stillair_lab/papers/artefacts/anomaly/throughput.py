"""TCP throughput by station and scheme: Figure 7 of *Ending the Anomaly*."""

from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly.schemes import COLOURS, SCHEMES, TITLES
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.table1_model import STATIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def text(of: Measurer) -> str:
    """A row for each scheme."""
    rows = [
        [TITLES[scheme], *(named(_goodput(of, scheme, station), 2) for station in (*STATIONS, "total"))]
        for scheme in SCHEMES
    ]
    return "TCP goodput in Mbit/s; where there are uploads, both directions of a station together.\n\n" + table(
        ["scheme", *STATIONS, "total"], rows
    )


def picture(of: Measurer) -> "Figure":
    """A group of bars for each station and for their mean, as in the paper."""
    with style.styled():
        drawn = style.new(6.8, 3.4)
        axes = drawn.add_subplot()
        width = 0.8 / len(SCHEMES)
        for number, scheme in enumerate(SCHEMES):
            found = [_goodput(of, scheme, station) for station in STATIONS]
            total = _goodput(of, scheme, "total")
            found.append(Interval(*(value / len(STATIONS) for value in total)) if total else None)
            places = [at + (number - (len(SCHEMES) - 1) / 2) * width for at in range(len(found))]
            means = [measured.mean if measured else 0.0 for measured in found]
            style.bars(axes, places, means, [spread(m) for m in found], width, COLOURS[scheme], TITLES[scheme])
        along(axes, [*STATIONS, "average"])
        axes.set_ylabel("TCP goodput, Mbit/s")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def _goodput(of: Measurer, scheme: str, station: str) -> Interval | None:
    return of.of_cell({"scheme": scheme, "station": station}, "TCP throughput")
