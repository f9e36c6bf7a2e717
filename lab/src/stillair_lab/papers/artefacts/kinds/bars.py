"""Bars: metrics for each value of a word, with their confidence intervals, beside the numbers that the paper states."""

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
    """The word that tells the bars apart."""
    metrics: Mapping[str, str]
    """The metrics, each with its unit; one picture each."""
    said: str = ""
    """What stands above the table."""
    digits: int = 2

    def text(self, of: Measurer) -> str:
        """A row for each bar: ours, then the paper's."""
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
        """A bar each; the paper's number is a line over it."""
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
        """The number that the paper states for a bar; nothing if it states none."""
        stated = (
            claim.value
            for claim in of.experiment.claims
            if claim.metric == metric and claim.configuration.get(self.along) == name and claim.value is not None
        )
        value = next(stated, None)
        return "" if value is None else f"{value:g}"
