"""Bars: metrics for each value of a word, with their confidence intervals, compared with the paper's numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.artefacts.kinds import selection
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 0.6


@dataclass(frozen=True)
class Bars:
    """Metrics for each value of a word."""

    along: str
    """The word whose values are the bars."""
    metrics: Mapping[str, str]
    """Metrics with their units; one picture each."""
    said: str = ""
    """Text above the table."""
    digits: int = 2

    def text(self, of: Measurer) -> str:
        """A row for each bar: the simulated values, then the paper's."""
        rows = []
        for name in selection.values(of, self.along):
            row = [str(name)]
            for metric in self.metrics:
                ours = of.of_cell({**selection.where(of), self.along: name}, metric)
                row += [named(ours, self.digits), self._paper(of, name, metric)]
            rows.append(row)
        heading = [text for metric, unit in self.metrics.items() for text in (f"{metric} {unit}", "paper")]
        return (f"{self.said}\n\n" if self.said else "") + table([self.along, *heading], rows)

    def picture(self, of: Measurer) -> "Figure":
        """One bar per value; a line marks the paper's number."""
        names = selection.values(of, self.along)
        with style.styled():
            drawn = style.new(1.6 + 2.6 * len(self.metrics), 3.2)
            for place, (metric, unit) in enumerate(self.metrics.items()):
                axes = drawn.add_subplot(1, len(self.metrics), place + 1)
                found = [of.of_cell({**selection.where(of), self.along: name}, metric) for name in names]
                heights = [measured.mean if measured else 0.0 for measured in found]
                style.bars(axes, range(len(names)), heights, [spread(m) for m in found], _WIDTH, style.BLUE, "")
                for at, name in enumerate(names):
                    if stated := self._paper(of, name, metric):
                        axes.hlines(float(stated), at - _WIDTH / 2, at + _WIDTH / 2, color=style.INK, linewidth=1.5)
                along(axes, [str(name) for name in names])
                axes.set_ylabel(f"{metric}, {unit}")
                if place == 0:
                    axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
            return drawn

    def _paper(self, of: Measurer, name: object, metric: str) -> str:
        """The paper's number for a bar; empty if it states none."""
        stated = (
            claim.value
            for claim in of.experiment.claims
            if claim.metric == metric and claim.configuration.get(self.along) == name and claim.value is not None
        )
        value = next(stated, None)
        return "" if value is None else f"{value:g}"
