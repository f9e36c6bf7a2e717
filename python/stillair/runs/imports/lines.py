"""Lines of a text that cannot be read: mistakes, which refuse the file, and unrecognised lines, which are listed."""

from collections.abc import Sequence

from stillair._native import InputError
from stillair.runs.imports.facts import Unread

_MOST = 10
_MOST_RUNS = 5
"""Runs of unrecognised lines listed per output."""
_SHOWN = 60
"""Characters shown of an unrecognised line."""


class Mistakes:
    """Collects the mistakes of one file and reports them together."""

    def __init__(self, file: str) -> None:
        """Starts an empty list for `file`."""
        self._file, self._found = file, list[str]()

    def add(self, line: int, found: str, expected: str) -> None:
        """Adds a line's text and the expected form."""
        found = " ".join(found.split())
        shown = found if len(found) <= 60 else f"{found[:57]}..."
        self._found.append(f'{self._file}:{line}: found "{shown}", expected {expected}')

    def tell(self) -> None:
        """Raises an `InputError` with a line per mistake; returns if the list is empty."""
        if self._found:
            more = len(self._found) - _MOST
            rest = [f"{self._file}: and {more} more lines that cannot be read"] if more > 0 else []
            raise InputError("\n".join([*self._found[:_MOST], *rest]))


def unrecognised(file: str, lines: Sequence[tuple[int, str]]) -> list[Unread]:
    """Facts for lines that an output does not have, given with their numbers.

    Each run of consecutive lines is one fact; lines beyond the first runs are counted.
    """
    runs: list[list[tuple[int, str]]] = []
    for number, line in lines:
        if runs and runs[-1][-1][0] + 1 == number:
            runs[-1].append((number, line))
        else:
            runs.append([(number, line)])
    made = [Unread(quoted(run[0][1], len(run)), f"{file}:{run[0][0]}") for run in runs[:_MOST_RUNS]]
    if rest := [row for run in runs[_MOST_RUNS:] for row in run]:
        more = "1 more line" if len(rest) == 1 else f"{len(rest)} more lines"
        made.append(Unread(f"not recognised: {more}", f"{file}:{rest[0][0]}"))
    return made


def quoted(line: str, count: int) -> str:
    """The first of `count` unrecognised lines, quoted, with the number of the others."""
    more = {1: "", 2: " and 1 more line"}.get(count, f" and {count - 1} more lines")
    return f'not recognised: "{" ".join(line.split())[:_SHOWN]}"{more}'
