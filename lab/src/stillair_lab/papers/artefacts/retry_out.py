"""Figures 6 to 8 of the retry-out paper: a mark for each run by average data rate, and where its claims hold."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import Claim, Experiment, experiments
from stillair_lab.papers.measure import scatter
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.scatter import Mark
from stillair_lab.papers.runs.metrics import Marks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Kinds of station, named as in the paper, with their style.
_STATIONS = {
    "none": ("Linux, no method", style.VERMILION, "o"),
    "tsq": ("Linux, TSQ", style.BLUE, "s"),
    "codel": ("Linux, CoDel", style.GREEN, "D"),
    "windows": ("Windows", style.ORANGE, "^"),
    "mac": ("Mac", style.PURPLE, "v"),
}
# Content of a figure, by the start of its name.
_DRAWN: dict[str, tuple[str, Callable[[Mark], Sequence[float]]]] = {
    "fig6": ("average ping RTT, ms", lambda mark: mark.rtt),
    "fig7": ("average transmission queue, packets", lambda mark: mark.queue),
    "fig8": ("throughput, Mbit/s", lambda mark: mark.goodput),
}
_SHORT = {judge.REPRODUCED: "reproduced", judge.NOT_REPRODUCED: "not reproduced"}
_SHADES = {judge.REPRODUCED: style.GREEN, judge.NOT_REPRODUCED: style.ORANGE}


def text(of: Measurer) -> str:
    """A row for each place, a column for each station; means over the runs."""
    label, values = _drawn(of)
    stations = _stations(of)
    parts = []
    for air in _both(of):
        own = _marks(of, air)
        places = dict.fromkeys(mark.place for mark in own)
        rows = [[place, *(_cell(own, place, sta, values) for sta in stations)] for place in places]
        named = "Fixed rates, errors of the house" if air == _both(of)[0] else "Minstrel-HT, by signal-to-noise ratio"
        parts.append(f"{named}: {label} (average data rate, Mbit/s).\n\n" + table(["place", *stations], rows))
    return "\n\n".join(parts)


def picture(of: Measurer) -> "Figure":
    """The scatter plot: filled marks are fixed rates, hollow ones Minstrel-HT."""
    label, values = _drawn(of)
    with style.styled():
        drawn = style.new(6.4, 3.8)
        axes = drawn.add_subplot()
        for air in _both(of):
            for mark in _marks(of, air):
                if mark.sta in _stations(of):
                    name, colour, marker = _STATIONS[mark.sta]
                    face = colour if air == _both(of)[0] else "none"
                    axes.scatter(mark.rate, values(mark), s=26, marker=marker, facecolors=face, edgecolors=colour)
        for sta in _stations(of):
            name, colour, marker = _STATIONS[sta]
            axes.scatter([], [], s=26, marker=marker, color=colour, label=name)
        axes.set_xscale("log")
        axes.set_xticks([6.5, 13, 26, 50, 100, 150, 300])
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda *_: "")
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
        axes.set_xlabel("average data rate of all A-MPDUs, Mbit/s (hollow: Minstrel-HT)")
        axes.set_ylabel(label)
        axes.grid(axis="x")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def region_text(of: Measurer) -> str:
    """Verdict of each claim by assumed error rates: where the paper's findings hold."""
    return (
        "Verdicts by the share of data frames that come broken: as taken for the house (20 % below 50 Mbit/s,"
        " 10 % below 100, 5 % above),\nthe same at every rate, and as it follows from distance under Minstrel-HT.\n\n"
        + region_table(_region(of), list(scatter.placing(of.plan).airs))
    )


def region_table(verdicts: Mapping[str, Sequence[str]], airs: Sequence[str]) -> str:
    """Table of verdicts by claim, with a column for each assumed error rate."""
    rows = [[claim, *(_SHORT.get(one, "-") for one in judged)] for claim, judged in verdicts.items()]
    return table(["claim", *airs], rows)


def region_picture(of: Measurer) -> "Figure":
    """The same as a coloured grid."""
    return region_field(_region(of), list(scatter.placing(of.plan).airs))


def region_field(judged: Mapping[str, Sequence[str]], airs: Sequence[str]) -> "Figure":
    """Verdicts by claim as a coloured grid, with a column for each assumed error rate."""
    with style.styled():
        drawn = style.new(8.8, 0.6 + 0.3 * len(judged))
        axes = drawn.add_subplot()
        for row, verdicts in enumerate(judged.values()):
            for column, one in enumerate(verdicts):
                shade = _SHADES.get(one, "#e4e7eb")
                axes.bar(column, 0.84, width=0.94, bottom=row - 0.42, color=shade)
                said = _SHORT.get(one, "-")
                axes.text(column, row, said, ha="center", va="center", fontsize=8, color=style.ink_on(shade))
        axes.set_ylim(len(judged) - 0.5, -0.5)
        axes.set_yticks(range(len(judged)), list(judged))
        axes.set_xticks(range(len(airs)), airs)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        return drawn


def _region(of: Measurer) -> dict[str, list[str]]:
    said: list[tuple[Experiment, Claim]] = [
        (experiment, claim)
        for experiment in experiments()
        if experiment.paper == of.experiment.paper
        for claim in experiment.claims
        if isinstance(of.plan.metrics.get(claim.metric), Marks) and not judge.unjudged(claim)
    ]
    found = scatter.region(said, of.plan, of.own, of.outcomes)
    return {claim: [one.verdict for one in judged] for claim, judged in found.items()}


def _both(of: Measurer) -> tuple[str, str]:
    """The error rates assumed before any run, and those that follow from distance."""
    by = scatter.placing(of.plan)
    return by.airs[0], by.other


def _drawn(of: Measurer) -> tuple[str, Callable[[Mark], Sequence[float]]]:
    return _DRAWN[of.experiment.id[:4]]


def _stations(of: Measurer) -> list[str]:
    return [str(name) for name in of.experiment.setup["stations"]]


def _marks(of: Measurer, air: str) -> list[Mark]:
    method = of.experiment.setup[scatter.placing(of.plan).methods]
    return [mark for mark in scatter.marks(of.plan, of.own, of.outcomes, air) if mark.method == method]


def _cell(marks: Sequence[Mark], place: str, sta: str, values: Callable[[Mark], Sequence[float]]) -> str:
    mark = next(mark for mark in marks if (mark.place, mark.sta) == (place, sta))
    mean, rate = (sum(numbers) / len(numbers) for numbers in (values(mark), mark.rate))
    return f"{mean:.1f} ({rate:.0f})"
