"""Airtime: Figure 5 (shares by station) and Figure 6 (Jain's index) of *Ending the Anomaly*."""

from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly.schemes import COLOURS, SCHEMES, TITLES
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.claims.inventory import Experiment
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.table1_model import STATIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TRAFFIC = "UDP down"
_TRAFFICS = (_TRAFFIC, "TCP down", "TCP up and down")


def shares_text(of: Measurer) -> str:
    """Figure 5 as a table."""
    rows = [
        [
            TITLES[scheme],
            *(named(share(of, scheme, station), 1) for station in STATIONS),
            named(jain(of, scheme), 3),
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
        along(axes, [TITLES[scheme] for scheme in SCHEMES])
        axes.set_ylim(0, 100)
        axes.set_ylabel("share of the airtime, %")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
        axes.set_title("Airtime by station, UDP to each", loc="left", fontsize=10)
        return picture


def jain_text(of: Measurer) -> str:
    """Figure 6 as a table."""
    rows = [[TITLES[scheme], *(named(jain(of, scheme, traffic), 4) for traffic in _TRAFFICS)] for scheme in SCHEMES]
    return "Jain's index of the airtime of the three stations.\n\n" + table(["scheme", *_TRAFFICS], rows)


def jain_picture(of: Measurer) -> "Figure":
    """Figure 6: a group of bars for each traffic."""
    with style.styled():
        picture = style.new(6.6, 3.2)
        axes = picture.add_subplot()
        width = 0.8 / len(SCHEMES)
        for number, scheme in enumerate(SCHEMES):
            found = [jain(of, scheme, traffic) for traffic in _TRAFFICS]
            places = [at + (number - (len(SCHEMES) - 1) / 2) * width for at in range(len(found))]
            means = [measured.mean if measured else 0.0 for measured in found]
            style.bars(axes, places, means, [spread(m) for m in found], width, COLOURS[scheme], TITLES[scheme])
            for place, measured in zip(places, found, strict=True):
                if measured:
                    axes.text(place, measured.mean + 0.02, f"{measured.mean:.2f}", ha="center", fontsize=7)
        along(axes, list(_TRAFFICS))
        axes.set_ylim(0, 1.12)
        axes.set_ylabel("Jain's index of the airtime")
        axes.set_title("Airtime fairness", loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return picture


def share(of: Measurer, scheme: str, station: str) -> Interval | None:
    """A station's share of the airtime, in per cent."""
    return of.of_cell({"scheme": scheme, "traffic": _TRAFFIC, "station": station}, "airtime share")


def jain(of: Measurer, scheme: str, traffic: str = _TRAFFIC) -> Interval | None:
    """Jain's index of the stations' airtime."""
    return of.of_cell({"scheme": scheme, "traffic": traffic}, "Jain index")


def said(scheme: str, experiment: Experiment) -> str:
    """Values that the paper's text states for a bar of the figure; most bars have none."""
    parts = []
    for claim in experiment.claims:
        if claim.configuration.get("scheme") == scheme and claim.value is not None:
            station = claim.configuration["station"]
            parts.append(f"{station if isinstance(station, str) else 'each'} {claim.value:g}")
    return ", ".join(parts)
