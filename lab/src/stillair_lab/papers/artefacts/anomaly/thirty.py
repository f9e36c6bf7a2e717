"""Thirty stations, one of them at 1 Mbit/s: Figures 9 and 10 of *Ending the Anomaly*, and totals from its text."""

from typing import TYPE_CHECKING

from stillair.results.statistics import SHARE, Interval, interval, jain
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly import replies
from stillair_lab.papers.artefacts.anomaly.replies import Curve
from stillair_lab.papers.artefacts.anomaly.schemes import COLOURS, TITLES
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("fq_codel", "fq_mac", "airtime")
_FAST = "28 fast"
_WITHOUT = "airtime without the sparse optimisation"
_CURVES = tuple(
    Curve(scheme, stations, f"{TITLES[scheme]}, {name}", line)
    for scheme in SCHEMES
    for stations, name, line in ((_FAST, "fast", "-"), ("slow", "slow", "--"), ("sparse", "sparse", ":"))
)
_WITHOUT_CURVE = Curve(_WITHOUT, "sparse", "no priority, sparse", ":")


def airtime_text(of: Measurer) -> str:
    """Figure 9 as a table."""
    rows = []
    for scheme in SCHEMES:
        fast = [share(of, scheme, station) for station in of.stations(_FAST)]
        means = [measured.mean for measured in fast if measured]
        rows.append(
            [
                TITLES[scheme],
                named(share(of, scheme, "slow"), 1),
                *(f"{value:.2f}" for value in (min(means), sum(means) / len(means), max(means))),
                named(fairness(of, scheme), 3),
            ]
            if means
            else [TITLES[scheme], *[NOT_MEASURED] * 5]
        )
    heading = ["scheme", "slow", "least fast", "mean fast", "most fast", "Jain of 29"]
    return "Measured share of the airtime, per cent, of those with a download.\n\n" + table(heading, rows)


def airtime_picture(of: Measurer) -> "Figure":
    """Figure 9: the slow station's share, and the range of the 28 fast ones."""
    with style.styled():
        drawn = style.new(6.2, 3.4)
        axes = drawn.add_subplot()
        for place, scheme in enumerate(SCHEMES):
            slow = share(of, scheme, "slow")
            fast = [measured.mean for one in of.stations(_FAST) if (measured := share(of, scheme, one))]
            label = place == 0
            heights = [slow.mean if slow else 0.0]
            style.bars(
                axes, [place - 0.2], heights, [spread(slow)], 0.34, style.STATIONS["slow"], "slow" if label else ""
            )
            axes.text(place - 0.2, heights[0] + 2, f"{heights[0]:.1f}", ha="center", fontsize=7)
            axes.plot(
                [place + 0.2] * len(fast), fast, "_", color=style.STATIONS["fast1"], markersize=16, alpha=0.6,
                label="each of 28 fast" if label else None,
            )  # fmt: skip
        axes.axhline(100 / 29, color=style.FAINT, linewidth=0.8)
        along(axes, [TITLES[scheme] for scheme in SCHEMES])
        axes.set_ylim(0, 100)
        axes.set_ylabel("share of the airtime, %")
        axes.set_title("Airtime of thirty stations, TCP to 29", loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def throughput_text(of: Measurer) -> str:
    """The totals, and the shares of both kinds of stations."""
    rows = []
    for scheme in SCHEMES:
        fast = of.of_cell({"scheme": scheme, "station": _FAST}, "TCP throughput")
        slow = of.of_cell({"scheme": scheme, "station": "slow"}, "TCP throughput")
        rows.append([TITLES[scheme], named(total(of, scheme), 2), named(fast, 3), named(slow, 3)])
    return "TCP goodput in Mbit/s.\n\n" + table(["scheme", "total", "a fast station", "slow"], rows)


def throughput_picture(of: Measurer) -> "Figure":
    """The totals as bars."""
    with style.styled():
        drawn = style.new(5.2, 3.2)
        axes = drawn.add_subplot()
        for place, scheme in enumerate(SCHEMES):
            found = total(of, scheme)
            heights = [found.mean if found else 0.0]
            style.bars(axes, [place], heights, [spread(found)], 0.6, COLOURS[scheme], TITLES[scheme])
            axes.text(place, heights[0] * 1.02, f"{heights[0]:.1f}", ha="center", va="bottom", fontsize=7)
        along(axes, [TITLES[scheme] for scheme in SCHEMES])
        axes.set_ylabel("total TCP goodput, Mbit/s")
        axes.set_title("Thirty stations, TCP to 29", loc="left", fontsize=10)
        return drawn


def latency_text(of: Measurer) -> str:
    """Figure 10 as a table."""
    means = [
        [TITLES[scheme], named(of.of_cell({"scheme": scheme, "station": "all"}, "average ping RTT"), 1)]
        for scheme in SCHEMES
    ]
    return (
        replies.text(of, (*_CURVES, _WITHOUT_CURVE))
        + "\n\nMean over all replies of all stations.\n\n"
        + table(["", "mean ms"], means)
    )


def latency_picture(of: Measurer) -> "Figure":
    """Figure 10: the distributions."""
    return replies.picture(of, _CURVES, 6.6, 3.8)


def share(of: Measurer, scheme: str, station: str) -> Interval | None:
    """A station's share of the airtime, in per cent."""
    return of.of_cell({"scheme": scheme, "station": station}, "airtime share")


def total(of: Measurer, scheme: str) -> Interval | None:
    """Goodput of all stations."""
    return of.of_cell({"scheme": scheme}, "mean total throughput")


def fairness(of: Measurer, scheme: str) -> Interval | None:
    """Jain's index of the airtime of stations with a download; the station with pings only demands no airtime."""
    loaded = [*of.stations(_FAST), "slow"]
    runs = of.result({"scheme": scheme}).runs
    found = [jain([run["stations"][one]["airtime_share"] or 0.0 for one in loaded]) for run in runs]
    return interval([value for value in found if value is not None], within=SHARE) if all(found) else None
