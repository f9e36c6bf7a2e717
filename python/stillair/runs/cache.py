"""Combinations kept in a folder, each under the hash of all it depends on and with a checksum of what it holds."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stillair._native import InputError, RunError
from stillair.results.result import Result
from stillair.text import output, source

FOLDER = "combinations"


@dataclass(frozen=True)
class Combination:
    """One combination: what it sets, and what it is recognised by when the sweep is run again."""

    sets: tuple[tuple[str, str], ...]
    fingerprint: str
    least: int = 0
    """Bytes of memory that a run needs at least."""


def name_of(combination: Combination) -> str:
    """Its file, within the folder of the sweep."""
    return f"{FOLDER}/{combination.fingerprint}.json"


def read(folder: Path, combination: Combination, runs: int) -> Result | None:
    """The result of so many runs; none if it is not there, or not as it was written."""
    try:
        data = source.parsed(source.data(folder / name_of(combination), source.most_json()))
        whole = isinstance(data, dict) and data.pop("sha256", None) == _checksum(data)
    except (OSError, ValueError, InputError):
        return None
    result = Result(data) if whole else None
    return result if result is not None and len(result.runs) == runs else None


def write(folder: Path, combination: Combination, data: Mapping[str, Any]) -> None:
    """Keeps a result with a checksum of it: what was edited or damaged must not count as measured."""
    text = json.dumps({**data, "sha256": _checksum(data)}, ensure_ascii=False, allow_nan=False)
    # Several processes may write to the folder.
    with output.whole(folder / name_of(combination), shared=True) as part:
        part.write_bytes(text.encode())
    _runs(folder / FOLDER, combination.fingerprint).unlink(missing_ok=True)


def read_runs(folder: Path, fingerprint: str, runs: int) -> dict[int, dict[str, Any]]:
    """The finished runs under a hash of their inputs, by number, which is less than `runs`."""
    found: dict[int, dict[str, Any]] = {}
    try:
        lines = source.data(_runs(folder, fingerprint), source.most_json()).splitlines()
    except (OSError, InputError):
        return {}
    for line in lines:
        try:
            run = json.loads(line)
            # The last line of a process that was killed is cut off: that run is repeated.
            if run.pop("sha256") == _checksum(run) and 0 <= run["run"] < runs:
                found[run["run"]] = run
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            continue
    return found


def add_run(folder: Path, fingerprint: str, run: Mapping[str, Any]) -> None:
    """Keeps a finished run."""
    path = _runs(folder, fingerprint)
    line = json.dumps({**run, "sha256": _checksum(run)}, ensure_ascii=False, allow_nan=False)
    try:
        # Unbuffered: one write, as several processes may append.
        with path.open("ab", buffering=0) as file:
            # On a line of its own, even after one that was cut off.
            file.write(f"\n{line}\n".encode())
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror}") from None


def _runs(folder: Path, fingerprint: str) -> Path:
    return folder / f"{fingerprint}.runs"


def tidy(folder: Path, names: Iterable[str]) -> None:
    """Removes what processes that were killed had begun; for who has the folder alone."""
    for name in names:
        for part in (folder / name).glob(".*.part"):
            part.unlink(missing_ok=True)


def _checksum(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
