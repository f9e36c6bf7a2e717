"""Figure 8 of *Ending the Anomaly*: effect of the sparse station optimisation on a station with pings only."""

from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STATES = {"on": "optimised", "off": "without"}
_TRAFFIC = ("UDP down", "TCP down")


def text(of: Measurer) -> str:
    """Figure 8 as a table of medians."""
    rows = [
        [title, *(named(_median(of, state, traffic), 3) for traffic in _TRAFFIC)] for state, title in _STATES.items()
    ]
    return "Median ping RTT in ms of the sparse station, by the traffic to the other three.\n\n" + table(
        ["airtime fair FQ", *_TRAFFIC], rows
    )


def picture(of: Measurer) -> "Figure":
    """Figure 8: medians, where the paper draws whole distributions."""
    with style.styled():
        drawn = style.new(5.2, 3.2)
        axes = drawn.add_subplot()
        for number, (state, title) in enumerate(_STATES.items()):
            found = [_median(of, state, traffic) for traffic in _TRAFFIC]
            means = [measured.mean if measured else 0.0 for measured in found]
            places = [at + (number - 0.5) * 0.4 for at in range(len(found))]
            colour = style.BLUE if state == "on" else style.ORANGE
            style.bars(axes, places, means, [spread(m) for m in found], 0.4, colour, title)
        along(axes, list(_TRAFFIC))
        axes.set_ylabel("median ping RTT, ms")
        axes.set_title("Sparse station beside three loaded ones", loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def _median(of: Measurer, state: str, traffic: str) -> Interval | None:
    return of.of_cell({"optimisation": state, "traffic": traffic, "station": "fast3"}, "median ping RTT")
