"""Candlesticks: for each value of a word, a box between two percentiles with a line at the median, by another word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.kinds import selection
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PURPLE, style.SKY, style.INK)
_WIDTH = 0.34


@dataclass(frozen=True)
class Candles:
    """A box for each cell, whose ends and line are metrics."""

    words: Sequence[str]
    """The first of these words that an experiment leaves open is the axis."""
    sides: str
    """The word whose values are drawn side by side, each in its colour."""
    box: Sequence[str]
    """Metrics: low end, line, high end."""
    columns: Mapping[str, str]
    """Metrics of the table's columns, by heading."""
    label: str
    said: str
    """Text above the table."""

    def text(self, of: Measurer) -> str:
        """A row for each candlestick."""
        word = selection.first(of, self.words)
        rows = [
            [f"{name}, {side}", *(selection.plain(self._of(of, word, name, side, m)) for m in self.columns.values())]
            for name in selection.values(of, word)
            for side in selection.values(of, self.sides)
        ]
        return f"{self.said}\n\n" + table(["", *self.columns], rows)

    def picture(self, of: Measurer) -> "Figure":
        """The candlesticks."""
        word = selection.first(of, self.words)
        names = selection.values(of, word)
        with style.styled():
            drawn = style.new(6.0, 3.4)
            axes = drawn.add_subplot()
            for number, side in enumerate(selection.values(of, self.sides)):
                colour = _COLOURS[number]
                for at, name in enumerate(names):
                    low, line, high = (self._of(of, word, name, side, metric) for metric in self.box)
                    if low is None or line is None or high is None:
                        continue
                    middle = at + (number - 0.5) * (_WIDTH + 0.06)
                    label = "" if at else side
                    height = high.mean - low.mean
                    axes.bar(middle, height, width=_WIDTH, bottom=low.mean, color=colour, edgecolor=colour, label=label)
                    ends = middle - _WIDTH / 2, middle + _WIDTH / 2
                    axes.hlines(line.mean, *ends, color=style.ink_on(colour), linewidth=1)
            axes.set_xticks(range(len(names)), list(names))
            axes.tick_params(axis="x", length=0)
            axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
            axes.set_ylabel(self.label)
            axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
            axes.legend(loc="upper left", ncols=2)
            return drawn

    def _of(self, of: Measurer, word: str, name: str, side: str, metric: str) -> Interval | None:
        return of.of_cell({**selection.where(of), word: name, self.sides: side}, metric)
