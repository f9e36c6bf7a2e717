"""A result folder: a result that explains itself, kept run by run.

`result.json` (summary), `scenario.toml` (as given), `scenario.resolved.json`, `overrides.json`, `runs/run-N.json`
(summary and series of a run), `table.csv` and `pings.csv`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stillair import output, tidy
from stillair._native import InputError, __version__
from stillair.result import Result
from stillair.scenario import Overrides, Scenario, pairs
from stillair.series import Series

# Of the folder, not of the program: raised when an older program could not read it.
FORMAT = 1


class Keeper:
    """Writes a result folder while the runs finish."""

    def __init__(self, path: Path, scenario: Scenario, overrides: Overrides, planned: int) -> None:
        """Begins a result; one that was there before is removed once the scenario has proved to be good."""
        resolved = scenario.resolve(overrides)
        output.prepare(path)
        self._path = path
        self._planned = planned
        self._kept: dict[int, dict[str, Any]] = {}
        try:
            (path / "runs").mkdir(exist_ok=True)
            old = ("result.json", "table.csv", "pings.csv")
            for file in (*(path / name for name in old), *(path / "runs").glob("run-*.json")):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"{path}: an old result cannot be removed: {error.strerror}") from None
        files = {
            "scenario.toml": scenario.text,
            "scenario.resolved.json": resolved + "\n",
            "overrides.json": json.dumps(pairs(overrides), ensure_ascii=False) + "\n",
        }
        output.write_files(path, files)

    @property
    def finished(self) -> int:
        """Runs kept so far."""
        return len(self._kept)

    def keep(self, text: str) -> None:
        """Keeps a run that has finished."""
        run = json.loads(text)
        run.pop("series")
        output.write_files(self._path / "runs", {f"run-{run['run']}.json": text + "\n"})
        self._kept[run["run"]] = run

    def finish(self) -> None:
        """Writes tables and summary of the runs kept; `result.json` comes last, so that who finds it finds all."""
        runs = [self._kept[number] for number in sorted(self._kept)]
        if not runs:
            return
        name = json.loads((self._path / "scenario.resolved.json").read_text(encoding="utf-8"))["name"]
        result = Result({"version": __version__, "scenario": name, "runs": runs})
        # Read once for each table, and never all at once.
        tidy.write_csv(self._path / "table.csv", (_measured(self._path, name, run) for run in runs))
        tidy.write_pings_csv(self._path / "pings.csv", (_measured(self._path, name, run) for run in runs))
        head = {"format": FORMAT, "planned_runs": self._planned, "seeds": sorted({run["seed"] for run in runs})}
        text = json.dumps(head | result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        output.write_files(self._path, {"result.json": text + "\n"})


def load(path: Path) -> Result:
    """Reads a result folder; the series are read when they are asked for."""
    if not path.exists():
        raise InputError(f"{path}: no such folder; give the folder that 'stillair run -o' wrote")
    if not path.is_dir():
        raise InputError(f"{path}: is a file; give the folder that 'stillair run -o' wrote")
    file = path / "result.json"
    if not file.exists():
        if (path / "runs").is_dir():
            raise InputError(f"{file}: missing: the runs were cut off; those that had finished are in {path / 'runs'}")
        raise InputError(f"{file}: missing: {path} is no result folder")
    data = _read(file)
    found = _get(file, data, "format", int)
    if found != FORMAT:
        raise InputError(f"{file}: format: found {found}, but Stillair {__version__} reads format {FORMAT}")
    _get(file, data, "version", str)
    name = _get(file, data, "scenario", str)
    if not _get(file, data, "runs", list):
        raise InputError(f"{file}: runs: found none, expected at least one")
    for number, run in enumerate(data["runs"]):
        for key, kind in (("run", int), ("seed", int), ("trace_hash", str), ("stations", dict), ("drops", list)):
            _get(file, run, key, kind, f"runs.{number}.")
    resolved = path / "scenario.resolved.json"
    _get(resolved, _read(resolved), "nodes", list)
    return Result(
        data,
        resolved=resolved.read_text(encoding="utf-8").strip(),
        folder=path,
        load=lambda run: _measured(path, name, run).series,
    )


def scenario(path: Path) -> tuple[Scenario, list[tuple[str, str]]]:
    """The scenario of a result folder, to run it again, and its overrides."""
    overrides = _read(path / "overrides.json", list)
    return Scenario(path / "scenario.toml"), [(key, value) for key, value in overrides]


def loaded(paths: list[Path]) -> Iterator[tuple[str, Result]]:
    """Several result folders, each with its own name as a title."""
    for path in paths:
        yield path.resolve().name, load(path)


def _measured(path: Path, name: str, run: dict[str, Any]) -> tidy.Measured:
    file = path / "runs" / f"run-{run['run']}.json"
    data = _read(file)
    if _get(file, data, "trace_hash", str) != run["trace_hash"]:
        raise InputError(f"{file}: is not of the result beside it: their trace hashes differ")
    series = _get(file, data, "series", dict)
    return tidy.Measured(name, run, Series(series, str(file)))


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
