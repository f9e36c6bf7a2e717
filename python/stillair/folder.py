"""A result folder: a result that explains itself, kept run by run. This reads one; `keeper` writes it.

`result.json` (summary), `scenario.toml` (as given), `scenario.resolved.json`, `overrides.json`, `runs/run-N.json`
(summary and series of a run), `table.csv` and `pings.csv`; `sockets.csv` and `queues.csv` if asked for.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError, __version__
from stillair.series import Series
from stillair.tidy import Measured

# Of the folder, not of the program: raised when an older program could not read it.
FORMAT = 1

NEW = ".new-result"
"""Within a result folder, the folder of a result that is not whole yet."""


class Kept(NamedTuple):
    """What a folder holds, but for the series."""

    data: dict[str, Any]
    """The summaries."""
    resolved: str
    """The resolved scenario as JSON."""


def read(path: Path) -> Kept:
    """Reads a result folder; `measured` reads the series of a run."""
    if not path.exists():
        raise InputError(f"{path}: no such folder; give the folder that 'stillair run -o' wrote")
    if not path.is_dir():
        raise InputError(f"{path}: is a file; give the folder that 'stillair run -o' wrote")
    file = path / "result.json"
    if not file.exists():
        for runs in (path / NEW / "runs", path / "runs"):
            if runs.is_dir():
                raise InputError(f"{file}: missing: the runs were cut off; those that had finished are in {runs}")
        if (path / "combinations").is_dir():
            raise InputError(
                f"{path}: is the folder of a sweep, which keeps no series;"
                " run the combination that is meant with 'stillair run FILE --set KEY=VALUE -o FOLDER'"
            )
        raise InputError(f"{file}: missing: {path} is no result folder")
    data = _read(file)
    found = _get(file, data, "format", int)
    if found != FORMAT:
        raise InputError(f"{file}: format: found {found}, but Stillair {__version__} reads format {FORMAT}")
    _get(file, data, "version", str)
    _get(file, data, "scenario", str)
    if not _get(file, data, "runs", list):
        raise InputError(f"{file}: runs: found none, expected at least one")
    for number, run in enumerate(data["runs"]):
        for key, kind in (("run", int), ("seed", int), ("trace_hash", str), ("stations", dict), ("drops", list)):
            _get(file, run, key, kind, f"runs.{number}.")
    resolved = path / "scenario.resolved.json"
    _get(resolved, _read(resolved), "nodes", list)
    return Kept(data, resolved.read_text(encoding="utf-8").strip())


def recognise(path: Path) -> None:
    """An `InputError` unless the `result.json` of a folder is one that this program wrote, in whatever version."""
    file = path / "result.json"
    try:
        data = _read(file)
        for key, kind in (("format", int), ("version", str), ("scenario", str), ("runs", list)):
            _get(file, data, key, kind)
    except InputError as error:
        raise InputError(f"{error}: it is in the way, and no result of Stillair; give another folder with -o") from None


def overrides(path: Path) -> list[tuple[str, str]]:
    """The overrides that the scenario of a result folder was run with."""
    return [(key, value) for key, value in _read(path / "overrides.json", list)]


def measured(path: Path, name: str, run: dict[str, Any]) -> Measured:
    """A run of a result folder with its series."""
    file = path / "runs" / f"run-{run['run']}.json"
    data = _read(file)
    if _get(file, data, "trace_hash", str) != run["trace_hash"]:
        raise InputError(f"{file}: is not of the result beside it: their trace hashes differ")
    series = _get(file, data, "series", dict)
    return Measured(name, run, Series(series, str(file)))


def _read(file: Path, kind: type = dict) -> Any:  # noqa: ANN401 - JSON
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file}: missing") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{file}:{error.lineno}: is not JSON, or cut off: {error.msg}") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    if not isinstance(data, kind):
        raise InputError(f"{file}: found {_KINDS[type(data)]}, expected {_KINDS[kind]}")
    return data


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _get(file: Path, data: Any, key: str, kind: type, where: str = "") -> Any:  # noqa: ANN401 - JSON
    if not isinstance(data, dict) or key not in data:
        raise InputError(f'{file}: the key "{where}{key}" is missing')
    if not isinstance(data[key], kind) or isinstance(data[key], bool):
        raise InputError(f"{file}: {where}{key}: found {_KINDS[type(data[key])]}, expected {_KINDS[kind]}")
    return data[key]
