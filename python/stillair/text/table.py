"""Plain text tables: a header, rows, columns in line."""

import re
from collections.abc import Iterable, Sequence

_PARTS = re.compile("([0-9]+)")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Lays out a table. The first column is words and stands left, the others are figures and stand right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        (indent + "  ".join(_cell(text, widths[column], column) for column, text in enumerate(line))).rstrip()
        for line in lines
    )


def _cell(text: str, width: int, column: int) -> str:
    return text.ljust(width) if column == 0 else text.rjust(width)


def figure(value: float | None) -> str:
    """A number with three digits, or all before the point; a dash for none."""
    if value is None:
        return "-"
    digits = max(0, 3 - len(str(int(abs(value)))))
    return f"{value:.{digits}f}"


def natural(names: Iterable[str]) -> list[str]:
    """Names in the order in which people count: `sta2` before `sta10`."""
    # Of the parts every other one is a number, the first is none.
    return sorted(names, key=lambda name: [int(part) if at % 2 else part for at, part in enumerate(_PARTS.split(name))])
