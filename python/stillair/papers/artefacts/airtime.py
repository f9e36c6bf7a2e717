"""Airtime under UDP: Figure 5 (shares by station) and Figure 6 (Jain's index) of *Ending the Anomaly*."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stillair.papers import style
from stillair.papers.claims import Experiment
from stillair.papers.measure import Measurer
from stillair.papers.table1_model import STATIONS
from stillair.statistics import Interval
from stillair.summary import NOT_MEASURED, figure
from stillair.table import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
TITLES = {"fifo": "FIFO", "fq_codel": "FQ-CoDel", "fq_mac": "FQ-MAC", "airtime": "Airtime fair FQ"}
_TRAFFIC = "UDP down"


def shares_text(of: Measurer) -> str:
    """Figure 5 as a table."""
    rows = [
        [
            TITLES[scheme],
            *(_figure(share(of, scheme, station), 1) for station in STATIONS),
            _figure(jain(of, scheme), 3),
            said(scheme, of.experiment),
        ]
        for scheme in SCHEMES
    ]
    return "Measured share of the airtime, per cent, UDP to each station.\n\n" + table(
        ["scheme", *STATIONS, "Jain", "the paper says"], rows
    )


def shares_picture(of: Measurer) -> "Figure":
    """Figure 5: a stack of the stations' shares for each scheme."""
    with style.styled():
        picture = style.new(6.2, 3.4)
        axes = picture.add_subplot()
        bottoms = [0.0] * len(SCHEMES)
        for station in STATIONS:
            found = [share(of, scheme, station) for scheme in SCHEMES]
            heights = [measured.mean if measured else 0.0 for measured in found]
            axes.bar(
                range(len(SCHEMES)), heights, bottom=bottoms, width=0.62, color=style.STATIONS[station],
                label=station, edgecolor="white", linewidth=0.8,
            )  # fmt: skip
            for place, (height, bottom) in enumerate(zip(heights, bottoms, strict=True)):
                if height >= 6:
                    ink = style.ink_on(style.STATIONS[station])
                    axes.text(place, bottom + height / 2, f"{height:.1f}", ha="center", va="center", color=ink)
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        _schemes(axes)
        axes.set_ylim(0, 100)
        axes.set_ylabel("share of the airtime, %")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
        axes.set_title("Airtime by station, UDP to each", loc="left", fontsize=10)
        return picture


def jain_text(of: Measurer) -> str:
    """The UDP cells of Figure 6 as a table."""
    rows = [[TITLES[scheme], _figure(jain(of, scheme), 4)] for scheme in SCHEMES]
    return "Jain's index of the airtime of the three stations, UDP down; the TCP cells are not run.\n\n" + table(
        ["scheme", "Jain"], rows
    )


def jain_picture(of: Measurer) -> "Figure":
    """The UDP cells of Figure 6."""
    with style.styled():
        picture = style.new(5.2, 3.2)
        axes = picture.add_subplot()
        found = [jain(of, scheme) for scheme in SCHEMES]
        _bars(axes, found)
        for place, measured in enumerate(found):
            if measured:
                axes.text(place, measured.mean + 0.02, f"{measured.mean:.3f}", ha="center", va="bottom")
        _schemes(axes)
        axes.set_ylim(0, 1.12)
        axes.set_ylabel("Jain's index of the airtime")
        axes.set_title("Airtime fairness, UDP down", loc="left", fontsize=10)
        return picture


def share(of: Measurer, scheme: str, station: str) -> Interval | None:
    """A station's share of the airtime, in per cent."""
    return of.of_cell({"scheme": scheme, "traffic": _TRAFFIC, "station": station}, "airtime share")


def jain(of: Measurer, scheme: str) -> Interval | None:
    """Jain's index of the stations' airtime."""
    return of.of_cell({"scheme": scheme, "traffic": _TRAFFIC}, "Jain index")


def said(scheme: str, experiment: Experiment) -> str:
    """The numbers that the paper's text gives for a bar of the figure; most bars have none."""
    parts = []
    for claim in experiment.claims:
        if claim.configuration.get("scheme") == scheme and claim.value is not None:
            station = claim.configuration["station"]
            parts.append(f"{station if isinstance(station, str) else 'each'} {claim.value:g}")
    return ", ".join(parts)


def _schemes(axes: "Axes") -> None:
    axes.set_xticks(range(len(SCHEMES)), [TITLES[scheme] for scheme in SCHEMES])
    axes.tick_params(axis="x", length=0)


def _bars(axes: "Axes", found: Sequence[Interval | None]) -> None:
    means = [measured.mean if measured else 0.0 for measured in found]
    spread = [(m.mean - m.low, m.high - m.mean) if m else (0.0, 0.0) for m in found]
    style.bars(axes, range(len(found)), means, spread, 0.62, style.BLUE, "")


def _figure(measured: Interval | None, digits: int) -> str:
    return figure(measured._asdict(), digits=digits) if measured else NOT_MEASURED
