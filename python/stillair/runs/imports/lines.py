"""Mistakes of a file, a line each."""

from stillair._native import InputError

_MOST = 10


class Mistakes:
    """What is wrong in a file: all of it is told at once."""

    def __init__(self, file: str) -> None:
        """Of the file of that name."""
        self._file, self._found = file, list[str]()

    def add(self, line: int, found: str, expected: str) -> None:
        """What stands in a line, and what would be right."""
        found = " ".join(found.split())
        shown = found if len(found) <= 60 else f"{found[:57]}..."
        self._found.append(f'{self._file}:{line}: found "{shown}", expected {expected}')

    def tell(self) -> None:
        """An `InputError` with a line for each mistake, if there is one."""
        if self._found:
            more = len(self._found) - _MOST
            rest = [f"{self._file}: and {more} more lines that cannot be read"] if more > 0 else []
            raise InputError("\n".join([*self._found[:_MOST], *rest]))
