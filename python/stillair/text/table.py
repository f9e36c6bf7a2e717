"""Plain text tables with aligned columns."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_PARTS = re.compile("([0-9]+)")
_GAP = "  "


_room: ContextVar[int | None] = ContextVar("room", default=None)

Paint = Callable[[str], str]


@contextmanager
def fitting(width: int | None) -> Iterator[None]:
    """Limits the width of tables that are laid out in this block without a width of their own."""
    before = _room.set(width)
    try:
        yield
    finally:
        _room.reset(before)


def room() -> int | None:
    """Width limit of tables, or `None`."""
    return _room.get()


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    indent: str = "",
    width: int | None = None,
    words: int = 1,
    paint: Paint | None = None,
    labels: int = 1,
) -> str:
    """Lays out a table. The first `words` columns are left-aligned text, the others right-aligned figures.

    If a table exceeds `width`, headings are wrapped first. Then the columns are split into parts below each
    other, each starting with the first `labels` columns. `paint` styles heading lines.
    """
    width = room() if width is None else width
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    if width is None or _whole(widths, indent) <= width:
        return _laid_out([lines[0]], lines[1:], widths, indent, words, paint)
    # As wide as the cells below the heading, or as its longest word.
    least = [max([len(line[column]) for line in lines[1:]], default=0) for column in range(len(header))]
    most = [max(own, *(len(word) for word in header[column].split() or [""])) for column, own in enumerate(least)]
    parts = _parts(most, width - len(indent), labels)
    blocks = []
    for columns in parts:
        own = [most[column] for column in columns]
        heading = _broken([header[column] for column in columns], own)
        cells = [[row[column] for column in columns] for row in lines[1:]]
        blocks.append(_laid_out(heading, cells, own, indent, words, paint))
    return "\n\n".join(blocks)


def _whole(widths: Sequence[int], indent: str) -> int:
    return len(indent) + sum(widths) + len(_GAP) * (len(widths) - 1)


def _parts(widths: Sequence[int], width: int, labels: int) -> list[list[int]]:
    """Columns of each part: the labels, and as many others as fit, at least one."""
    first = list(range(min(labels, len(widths))))
    least = sum(widths[column] for column in first) + len(_GAP) * (len(first) - 1)
    parts, used = [first[:]], least
    for column in range(len(first), len(widths)):
        wanted = len(_GAP) + widths[column]
        if used + wanted > width and len(parts[-1]) > len(first):
            parts.append(first[:])
            used = least
        parts[-1].append(column)
        used += wanted
    return parts


def _broken(header: Sequence[str], widths: Sequence[int]) -> list[list[str]]:
    """Lines of a heading whose words are wrapped to the column widths; the last line is always full."""
    columns = []
    for text, width in zip(header, widths, strict=True):
        lines = [""]
        for word in text.split():
            if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1]} {word}".strip()
        columns.append(lines)
    height = max(map(len, columns))
    filled = [[""] * (height - len(lines)) + lines for lines in columns]
    return [list(line) for line in zip(*filled, strict=True)]


def _laid_out(
    heading: Sequence[Sequence[str]],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    indent: str,
    words: int,
    paint: Paint | None,
) -> str:
    def line(cells: Sequence[str]) -> str:
        return (indent + _GAP.join(_cell(text, widths[at], at < words) for at, text in enumerate(cells))).rstrip()

    above = [paint(line(cells)) if paint else line(cells) for cells in heading]
    return "\n".join([*above, *map(line, rows)])


def _cell(text: str, width: int, is_word: bool) -> str:
    return text.ljust(width) if is_word else text.rjust(width)


def pairs(rows: Sequence[tuple[str, str]], header: tuple[str, str] | None, width: int) -> str:
    """A table of names and texts; texts are wrapped to the width."""
    import textwrap  # noqa: PLC0415 - only used here

    every = [header, *rows] if header else rows
    names = max(len(name) for name, _ in every)
    lines = []
    for name, text in every:
        filled = textwrap.wrap(text, max(width - names - len(_GAP), 20), break_on_hyphens=False) or [""]
        lines += [f"{name if not at else '':{names}}{_GAP}{part}".rstrip() for at, part in enumerate(filled)]
    return "\n".join(lines)


def figure(value: float | None) -> str:
    """A number with three digits, or all integer digits; a dash for `None`."""
    if value is None:
        return "-"
    digits = max(0, 3 - len(str(int(abs(value)))))
    return f"{value:.{digits}f}"


def natural(names: Iterable[str]) -> list[str]:
    """Sorts names in natural order: `sta2` before `sta10`."""
    # The split alternates text and numbers, starting with text.
    return sorted(names, key=lambda name: [int(part) if at % 2 else part for at, part in enumerate(_PARTS.split(name))])
