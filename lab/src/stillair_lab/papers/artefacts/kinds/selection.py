"""Cells of a figure: those with the words of its experiment, distinguished by a word that these leave open."""

from collections.abc import Sequence

from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED
from stillair_lab.papers.measure.measurer import Measurer


def where(of: Measurer) -> dict[str, str]:
    """The words that hold for the whole experiment."""
    return dict(of.own.where or {})


def first(of: Measurer, words: Sequence[str]) -> str:
    """The first of these words that the experiment leaves open."""
    return next(word for word in words if word not in where(of))


def values(of: Measurer, word: str) -> list[str]:
    """Values of a word in the experiment's cells, in order."""
    own = where(of)
    cells = [cell.where for campaign in of.own.campaigns for cell in campaign.cells]
    fit = [cell for cell in cells if all(cell.get(key) == value for key, value in own.items())]
    return list(dict.fromkeys(cell[word] for cell in fit if word in cell))


def plain(value: Interval | None) -> str:
    """A mean to 0.01."""
    return NOT_MEASURED if value is None else f"{value.mean:.2f}"


def with_interval(value: Interval | None) -> str:
    """A mean with half its interval, which a single run lacks."""
    if value is None or value.low == value.high:
        return plain(value)
    return f"{value.mean:.2f} ± {(value.high - value.low) / 2:.2f}"
