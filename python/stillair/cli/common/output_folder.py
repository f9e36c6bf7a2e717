"""Checks whether a folder may take a new result: empty, or a result of the same kind to be replaced."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from stillair._native import InputError
from stillair.results import result_folder as results

RUN, SWEEP, REPORT, TUNE, COMPARE = "run", "sweep", "paper", "tune", "compare"

_HOLDS: Mapping[str, Sequence[str]] = {
    RUN: ("result.json", results.NEW, "runs"),
    SWEEP: ("sweep.json", "combinations"),
    TUNE: ("tune.json", "runs.jsonl"),
    COMPARE: ("sides",),
    REPORT: ("report.html", "runs.json"),
}
"""Files that each kind of result has in its folder, by command."""


def check(folder: Path, kind: str, *, replace: bool, grows: bool = False) -> None:
    """Raises `InputError` if a new result would be mixed with other files or replace a result without `replace`.

    A result that `grows` continues the existing one and replaces nothing. Hidden files are ignored.
    """
    if not folder.is_dir():
        return
    found = {path.name for path in folder.iterdir()}
    for other, names in _HOLDS.items():
        if other != kind and not found.isdisjoint(names) and found.isdisjoint(_HOLDS[kind]):
            raise InputError(
                f"{folder}: holds a result of 'stillair {other}', not to be mixed with one of 'stillair {kind}';"
                " give another folder with -o"
            )
    if found.isdisjoint(_HOLDS[kind]):
        if strangers := sorted(name for name in found if not name.startswith(".")):
            raise InputError(
                f"{folder}: is not empty and holds no result of 'stillair {kind}' (it has {strangers[0]});"
                " give an empty or a new folder with -o"
            )
        return
    if not replace and not grows:
        raise InputError(
            f"{folder}: already holds a result of 'stillair {kind}'; replace it with --force,"
            " or give another folder with -o"
        )
