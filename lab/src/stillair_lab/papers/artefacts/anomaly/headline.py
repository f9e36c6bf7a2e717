"""The abstract of *Ending the Anomaly*: delay, throughput and fairness by traffic and scheme."""

from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly.schemes import COLOURS, SCHEMES, TITLES
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TRAFFIC = ("UDP down", "TCP down", "TCP up and down")
# A quantity, its digits, and the traffic for it: under saturating UDP, delay only shows the queue's length.
_SHOWN = {
    "latency under load": ("ping RTT, median ms", 1, _TRAFFIC[1:]),
    "total throughput": ("total, Mbit/s", 1, _TRAFFIC),
    "Jain index": ("Jain's index of the airtime", 3, _TRAFFIC),
}


def text(of: Measurer) -> str:
    """A row for each traffic and scheme."""
    rows = [
        [
            f"{traffic}, {TITLES[scheme]}",
            *(named(_found(of, traffic, scheme, name), digits) for name, (_, digits, _) in _SHOWN.items()),
        ]
        for traffic in _TRAFFIC
        for scheme in SCHEMES
    ]
    return table(["", *(label for label, _, _ in _SHOWN.values())], rows)


def picture(of: Measurer) -> "Figure":
    """A panel for each quantity, with delay on a logarithmic scale."""
    with style.styled():
        drawn = style.new(10.5, 3.4)
        width = 0.8 / len(SCHEMES)
        for place, (name, (label, _, _)) in enumerate(_SHOWN.items()):
            axes = drawn.add_subplot(1, len(_SHOWN), place + 1)
            for number, scheme in enumerate(SCHEMES):
                found = [_found(of, traffic, scheme, name) for traffic in _TRAFFIC]
                places = [at + (number - (len(SCHEMES) - 1) / 2) * width for at in range(len(found))]
                means = [measured.mean if measured else 0.0 for measured in found]
                style.bars(axes, places, means, [spread(m) for m in found], width, COLOURS[scheme], TITLES[scheme])
            along(axes, list(_TRAFFIC))
            axes.tick_params(axis="x", labelsize=7)
            if "latency" in name:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.set_ylabel(label)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def _found(of: Measurer, traffic: str, scheme: str, name: str) -> Interval | None:
    return of.of_cell({"traffic": traffic, "scheme": scheme}, name) if traffic in _SHOWN[name][2] else None
