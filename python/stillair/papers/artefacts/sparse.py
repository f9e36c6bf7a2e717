"""Figure 8 of *Ending the Anomaly*: what the sparse station optimisation does for a station that is only pinged."""

from typing import TYPE_CHECKING

from stillair.papers import style
from stillair.papers.measure import Measurer
from stillair.statistics import Interval
from stillair.summary import NOT_MEASURED, figure
from stillair.table import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STATES = {"on": "optimised", "off": "without"}


def text(of: Measurer) -> str:
    """The UDP cells of Figure 8 as a table."""
    rows = []
    for state, title in _STATES.items():
        found = _median(of, state)
        rows.append([title, figure(found._asdict(), digits=3) if found else NOT_MEASURED])
    return "Median ping RTT of the sparse station, UDP to the other three; the TCP cells are not run.\n\n" + table(
        ["airtime fair FQ", "ms"], rows
    )


def picture(of: Measurer) -> "Figure":
    """The UDP cells of Figure 8: the medians, where the paper draws whole distributions."""
    with style.styled():
        drawn = style.new(4.2, 3.2)
        axes = drawn.add_subplot()
        for place, (state, title) in enumerate(_STATES.items()):
            found = _median(of, state)
            if found:
                colour = style.BLUE if state == "on" else style.ORANGE
                spread = [(found.mean - found.low, found.high - found.mean)]
                style.bars(axes, [place], [found.mean], spread, 0.55, colour, title)
        axes.set_xticks(range(len(_STATES)), list(_STATES.values()))
        axes.tick_params(axis="x", length=0)
        axes.set_ylabel("median ping RTT, ms")
        axes.set_title("Sparse station, UDP to the others", loc="left", fontsize=10)
        return drawn


def _median(of: Measurer, state: str) -> Interval | None:
    return of.of_cell({"optimisation": state, "traffic": "UDP down", "station": "fast3"}, "median ping RTT")
