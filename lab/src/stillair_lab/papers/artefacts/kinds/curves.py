"""Curves: metrics over the values of a word, one picture each, and a curve for each value of another word."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.kinds import selection
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = (style.GREEN, style.BLUE, style.VERMILION)


@dataclass(frozen=True)
class Curves:
    """Metrics over the values of a word."""

    along: str
    """The word of the axis."""
    along_label: str
    """Label of the axis."""
    heading: str
    """Heading of its column."""
    metrics: Mapping[str, Sequence[str]]
    """Metrics, each with its unit and the label of its axis."""
    curves: Mapping[str, Mapping[str, str]]
    """Words with the values that have a curve, and their labels. The first word that an experiment leaves
    open is used."""
    said: str
    """Text above the table."""
    within: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Further words of the cells, by word, for experiments that do not set them."""

    def text(self, of: Measurer) -> str:
        """A row for each value along the axis."""
        word, names = self._curves(of)
        rows = [
            [
                place,
                *(
                    selection.plain(self._of(of, word, name, place, metric))
                    for name in names
                    for metric in self.metrics
                ),
            ]
            for place in self._along(of)
        ]
        units = [unit for unit, _ in self.metrics.values()]
        heading = [self.heading, *(f"{label} {unit}" for label in names.values() for unit in units)]
        return f"{self.said}\n\n" + table(heading, rows)

    def picture(self, of: Measurer) -> "Figure":
        """The metrics side by side."""
        word, names = self._curves(of)
        places = self._along(of)
        with style.styled():
            drawn = style.new(7.2, 3.2)
            for place, (metric, (_, label)) in enumerate(self.metrics.items()):
                axes = drawn.add_subplot(1, len(self.metrics), place + 1)
                for (name, called), colour in zip(names.items(), _COLOURS, strict=True):
                    points = list(self._points(of, word, name, places, metric))
                    axes.errorbar(
                        [at for at, _ in points],
                        [measured.mean for _, measured in points],
                        yerr=[[m.mean - m.low for _, m in points], [m.high - m.mean for _, m in points]],
                        color=colour,
                        marker="o",
                        markersize=3.5,
                        linewidth=1.2,
                        capsize=2,
                        label=called,
                    )
                axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
                axes.set_xlabel(self.along_label)
                axes.set_ylabel(label)
                if place == 0:
                    axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
                    axes.legend(loc="lower right")
            return drawn

    def _curves(self, of: Measurer) -> tuple[str, Mapping[str, str]]:
        word = selection.first(of, list(self.curves))
        return word, self.curves[word]

    def _along(self, of: Measurer) -> list[str]:
        cells = [cell.where for campaign in of.own.campaigns for cell in campaign.cells]
        return list(dict.fromkeys(cell[self.along] for cell in cells if self.curves.keys() & cell.keys()))

    def _points(
        self, of: Measurer, word: str, name: str, places: Sequence[str], metric: str
    ) -> Iterator[tuple[int, Interval]]:
        for at, place in enumerate(places, 1):
            measured = self._of(of, word, name, place, metric)
            if measured is not None:
                yield at, measured

    def _of(self, of: Measurer, word: str, name: str, place: str, metric: str) -> Interval | None:
        return of.of_cell({**self.within.get(word, {}), **selection.where(of), word: name, self.along: place}, metric)
