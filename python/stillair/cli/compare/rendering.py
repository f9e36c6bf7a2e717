"""A comparison as text, Markdown and JSON."""

import json
import math
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from stillair._native import __version__
from stillair.cli.compare.rows import Row, differs
from stillair.cli.compare.sides import Side
from stillair.results.statistics import Interval, some, spread
from stillair.text import terminal
from stillair.text.table import table

_MOST_ROWS = 60
_NONE = "-"
MAYBE = "~"
"""Marks a difference that may be chance."""
_LEAST_NAME = 24
"""Longest row name on one line, in characters."""


def text(sides: Sequence[Side], rows: Sequence[Row], *, chosen: bool = False) -> str:
    """Returns a table as wide as the terminal, and a legend. Shows every row if they were `chosen`."""
    shown = rows if chosen else rows[:_MOST_ROWS]
    heading, cells = _grid(sides, shown)
    lettered = ["", *_with_letters(len(sides))]
    if not _is_wide([heading, *cells]):
        parts = [_table(heading, cells)]
    elif not _is_wide([lettered, *cells]):
        parts = [*_letters(sides), "", _table(lettered, cells)]
    elif (broken := _broken(heading, cells)) is not None:
        parts = [_table(heading, broken)]
    elif (broken := _broken(lettered, cells)) is not None:
        parts = [*_letters(sides), "", _table(lettered, broken)]
    else:
        parts = [*_letters(sides), "", _table(*_values(sides, cells)), "", _table(*_differences(sides, cells))]
    if len(rows) > len(shown):
        parts.append(f"... and {len(rows) - len(shown)} more; --only 'PATTERN' chooses, --json has all")
    return "\n".join([*parts, "", *_legend(sides, shown)])


def markdown(sides: Sequence[Side], rows: Sequence[Row]) -> str:
    """Returns a Markdown table."""
    heading, cells = _grid(sides, rows)
    rule = ["---", *("---:" for _ in heading[1:])]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in [heading, rule, *cells]]
    return "\n".join([*lines, "", *_legend(sides, rows)])


def as_json(sides: Sequence[Side], rows: Sequence[Row]) -> str:
    """Returns a JSON object with the sides, and a row for each quantity.

    Intervals of a single run are null.
    """
    found = [
        {
            "of": row.of,
            "quantity": row.quantity.words,
            "unit": row.quantity.unit,
            "sides": [ends(*one) for one in zip(row.values, row.counts, row.runs, strict=True)],
            "to_first": [ratio_object(ratio) for ratio in row.ratios],
        }
        for row in rows
    ]
    who = [{"title": side.title, "scenario": side.result.scenario, "runs": len(side.result.runs)} for side in sides]
    whole = {"version": __version__, "sides": who, "rows": found}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False)


def ends(of: Interval | None, count: int, runs: int) -> dict[str, float | None] | None:
    """Returns a mean with its interval; the ends are null if only one run has the quantity.

    If only some runs have the quantity, `runs` counts these, and `all_runs` all.
    """
    if of is None:
        return None
    low, high = (of.low, of.high) if count > 1 else (None, None)
    counts = {"runs": count, "all_runs": runs} if count < runs else {}
    return {"mean": of.mean, "low": low, "high": high, **counts}


def ratio_object(ratio: Interval | None) -> dict[str, Any] | None:
    """Returns a ratio with its interval, and whether it exceeds chance."""
    if ratio is None:
        return None
    is_known = math.isfinite(ratio.low)
    low, high = (ratio.low, ratio.high) if is_known else (None, None)
    return {"ratio": ratio.mean, "low": low, "high": high, "differs": differs(ratio) if is_known else None}


def _grid(sides: Sequence[Side], rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Returns heading and cells. Each further side is followed by its difference from the first."""
    heading = ["", sides[0].title]
    for side in sides[1:]:
        heading += [side.title, f"vs {sides[0].title}" if len(sides) == 2 else "vs first"]
    cells = []
    for row in rows:
        unit = f" {row.quantity.unit}" if row.quantity.unit else ""
        line = [f"{row.name}{unit}", value(row, 0)]
        for number, ratio in enumerate(row.ratios, 1):
            line += [value(row, number), relation(ratio)]
        cells.append(line)
    return heading, cells


def _broken(heading: Sequence[str], cells: Sequence[Sequence[str]]) -> list[list[str]] | None:
    """Breaks long row names over several lines to make room for all columns; empty if that is not enough."""
    widths = [max(map(len, column)) for column in zip(heading, *cells, strict=True)][1:]
    room = terminal.width() - sum(widths) - 2 * len(widths)
    if room < _LEAST_NAME:
        return None
    found = []
    for line in cells:
        *above, last = textwrap.wrap(
            line[0], room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        found += [*([part, *("" for _ in line[1:])] for part in above), [last, *line[1:]]]
    return None if _is_wide([heading, *found]) else found


def _is_wide(lines: Sequence[Sequence[str]]) -> bool:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1) > terminal.width()


def _table(heading: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    return table(
        list(map(terminal.harmless, heading)),
        [list(map(terminal.harmless, row)) for row in cells],
        width=terminal.width(),
        paint=lambda line: terminal.painted(line, terminal.BOLD, sys.stdout),
    )


def _letters(sides: Sequence[Side]) -> list[str]:
    """Lines that assign a letter to each side, for titles too long for headings."""
    return [terminal.harmless(f"{_letter(number)}  {side.title}") for number, side in enumerate(sides)]


def _with_letters(count: int) -> list[str]:
    """Heading of values and differences, by letter."""
    first, *others = map(_letter, range(count))
    return [first, *(title for other in others for title in (other, f"{other} vs {first}"))]


def _values(sides: Sequence[Side], cells: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Values of each side, by letter."""
    return ["", *map(_letter, range(len(sides)))], [[line[0], line[1], *line[2::2]] for line in cells]


def _differences(sides: Sequence[Side], cells: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Difference of each side from the first."""
    heading = ["", *(f"{_letter(number)} vs {_letter(0)}" for number in range(1, len(sides)))]
    return heading, [[line[0], *line[3::2]] for line in cells]


def _letter(number: int) -> str:
    """A to Z, then AA."""
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def value(row: Row, number: int) -> str:
    """A mean with its interval, rounded to the quantity's decimals."""
    own, digits = row.values[number], row.quantity.digits
    if own is None:
        return _NONE
    return f"{own.mean:.{digits}f} {spread(own, digits)}".rstrip() + some(row.counts[number], row.runs[number])


def relation(ratio: Interval | None) -> str:
    """Difference in per cent, marked if it may be chance."""
    if ratio is None:
        return _NONE
    change = f"{100 * (ratio.mean - 1):+.1f}"
    if not math.isfinite(ratio.low):
        return f"{change} %"
    half = 100 * (ratio.high - ratio.low) / 2
    told = f"{change} ±{half:.1f} %" if half else f"{change} %"
    return told if differs(ratio) or ratio.mean == 1 else f"{told} {MAYBE}"


def _legend(sides: Sequence[Side], rows: Sequence[Row]) -> list[str]:
    counts = {len(side.result.runs) for side in sides}
    runs = f"{counts.pop()} runs" if len(counts) == 1 else "runs"
    if all(len(side.result.runs) == 1 for side in sides):
        return ["One run of each: differences may be chance; --runs N adds confidence intervals."]
    lines = [f"Means over {runs} of each side, with 95 % confidence intervals."]
    if any(
        ratio is not None and math.isfinite(ratio.low) and not differs(ratio) for row in rows for ratio in row.ratios
    ):
        lines.append(f"{MAYBE}: the difference may be chance; its 95 % interval includes no change.")
    return lines
