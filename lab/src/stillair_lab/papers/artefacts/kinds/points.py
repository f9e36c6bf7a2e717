"""Points: one metric against another, both with confidence intervals, and a point for each value of a word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.kinds import selection
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PURPLE, style.SKY, style.INK)
# Not as many as the colours: with equal periods, the eighth point would look like the first.
_MARKERS = "osD^vPX*<>"


@dataclass(frozen=True)
class Points:
    """One metric against others, such as goodput against ping."""

    words: Sequence[str]
    """The first of these words that an experiment leaves open distinguishes the points."""
    across: str
    """The metric of the horizontal, logarithmic axis."""
    across_label: str
    """Label of the horizontal axis."""
    up: Mapping[str, str]
    """Metrics of the vertical axis, with their names in the table."""
    up_label: str
    """Label of the vertical axis."""
    unit: str
    """Unit of the vertical axis."""
    said: str
    """Text above the table."""
    columns: Mapping[str, str]
    """Metrics of further table columns, by heading. `across` is shown with its interval, others without."""
    ordered: Sequence[str] = ()
    """Words with ordered values, drawn in ordered colours."""
    instead: Sequence[Mapping[str, Mapping[str, str]]] = ()
    """Metrics that replace `up` in experiments with the words `where`."""
    hollow: str = ""
    """Name of the points that are drawn hollow."""

    def text(self, of: Measurer) -> str:
        """The metrics of each cell."""
        word = selection.first(of, self.words)
        ups = self._up(of)
        rows = []
        for name in selection.values(of, word):
            cell = {**selection.where(of), word: name}
            shown = [selection.with_interval(of.of_cell(cell, metric)) for metric in ups]
            for metric in self.columns.values():
                as_text = selection.with_interval if metric == self.across else selection.plain
                shown.append(as_text(of.of_cell(cell, metric)))
            rows.append([name, *shown])
        heading = [word, *(f"{label} {self.unit}" for label in ups.values()), *self.columns]
        return f"{self.said}\n\n" + table(heading, rows)

    def picture(self, of: Measurer) -> "Figure":
        """A point for each cell, or one per metric if there are several."""
        word = selection.first(of, self.words)
        ups = self._up(of)
        with style.styled():
            drawn = style.new(6.6, 3.8)
            axes = drawn.add_subplot()
            points = _alike(of, word, (self.across, *ups))
            for place, ((across, *heights), alike) in enumerate(points.items()):
                look = self._look(word, place, len(points))
                for way, height in zip(ups.values(), heights, strict=True):
                    if across is not None and height is not None:
                        hollow = way == self.hollow
                        fill, label = ("white", "") if hollow else (look[0], ", ".join(alike))
                        _point(axes, across, height, look, fill, label)
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
            axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
            axes.set_xlabel(self.across_label)
            hollow_ = f" (hollow: {self._hollow(ups)})" if len(ups) > 1 else ""
            axes.set_ylabel(f"{self.up_label}, {self.unit}{hollow_}")
            axes.grid(axis="x")
            axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
            return drawn

    def _hollow(self, ups: Mapping[str, str]) -> str:
        """Label of hollow points: the first word of their metric."""
        return next((metric.split()[0] for metric, name in ups.items() if name == self.hollow), self.hollow)

    def _up(self, of: Measurer) -> Mapping[str, str]:
        own = selection.where(of)
        fit = (one["up"] for one in self.instead if all(own.get(key) == value for key, value in one["where"].items()))
        return next(fit, self.up)

    def _look(self, word: str, place: int, count: int) -> tuple[str, str]:
        """Colour and marker of a point; no two points have the same."""
        colour = style.in_order(place, count) if word in self.ordered else _COLOURS[place % len(_COLOURS)]
        return colour, _MARKERS[place % len(_MARKERS)]


def _alike(of: Measurer, word: str, metrics: Sequence[str]) -> dict[tuple[Interval | None, ...], list[str]]:
    """Cells by their point: a limit that is never reached gives the same runs as a larger one."""
    points: dict[tuple[Interval | None, ...], list[str]] = {}
    for name in selection.values(of, word):
        where = {**selection.where(of), word: name}
        points.setdefault(tuple(of.of_cell(where, metric) for metric in metrics), []).append(name)
    return points


def _point(axes: "Axes", across: Interval, up: Interval, look: tuple[str, str], fill: str, label: str) -> None:
    colour, marker = look
    axes.errorbar(
        across.mean,
        up.mean,
        xerr=[[across.mean - across.low], [across.high - across.mean]],
        yerr=[[up.mean - up.low], [up.high - up.mean]],
        fmt="none",
        color=colour,
        elinewidth=1,
        capsize=2,
    )
    # Drawn separately from its intervals, so that they do not cover it in the legend.
    axes.plot(across.mean, up.mean, marker, color=colour, markerfacecolor=fill, markersize=7, label=label)
