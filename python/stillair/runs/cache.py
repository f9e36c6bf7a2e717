"""Combinations cached in a folder, each under the hash of its inputs and with a checksum of its content."""

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
    """A combination: its overrides, and the hash that identifies it in a later sweep."""

    sets: tuple[tuple[str, str], ...]
    fingerprint: str
    least: int = 0
    """Least memory of a run in bytes."""


def name_of(combination: Combination) -> str:
    """File name in the sweep's folder."""
    return f"{FOLDER}/{combination.fingerprint}.json"


def read(folder: Path, combination: Combination, runs: int) -> Result | None:
    """Returns the result with `runs` runs; `None` if the file is missing or does not match its checksum."""
    try:
        data = source.parsed(source.data(folder / name_of(combination), source.most_json()))
        whole = isinstance(data, dict) and data.pop("sha256", None) == _checksum(data)
    except (OSError, ValueError, InputError):
        return None
    result = Result(data) if whole else None
    return result if result is not None and len(result.runs) == runs else None


def write(folder: Path, combination: Combination, data: Mapping[str, Any]) -> None:
    """Writes a result with a checksum, so that an edited or damaged file is not taken for a measurement."""
    text = json.dumps({**data, "sha256": _checksum(data)}, ensure_ascii=False, allow_nan=False)
    # Several processes may write to the folder.
    with output.whole(folder / name_of(combination), shared=True) as part:
        part.write_bytes(text.encode())
    _runs(folder / FOLDER, combination.fingerprint).unlink(missing_ok=True)


def read_runs(folder: Path, fingerprint: str, runs: int) -> dict[int, dict[str, Any]]:
    """Returns the finished runs for a hash of inputs, by number up to `runs`."""
    found: dict[int, dict[str, Any]] = {}
    try:
        lines = source.data(_runs(folder, fingerprint), source.most_json()).splitlines()
    except (OSError, InputError):
        return {}
    for line in lines:
        try:
            run = json.loads(line)
            # A killed process leaves a truncated last line; that run is repeated.
            if run.pop("sha256") == _checksum(run) and 0 <= run["run"] < runs:
                found[run["run"]] = run
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            continue
    return found


def add_run(folder: Path, fingerprint: str, run: Mapping[str, Any]) -> None:
    """Appends a finished run."""
    path = _runs(folder, fingerprint)
    line = json.dumps({**run, "sha256": _checksum(run)}, ensure_ascii=False, allow_nan=False)
    try:
        # Unbuffered, so that each line is a single write: several processes may append.
        with path.open("ab", buffering=0) as file:
            # Start a new line, even after a truncated one.
            file.write(f"\n{line}\n".encode())
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror}") from None


def _runs(folder: Path, fingerprint: str) -> Path:
    return folder / f"{fingerprint}.runs"


def tidy(folder: Path, names: Iterable[str]) -> None:
    """Removes temporary files of killed processes. The caller must hold the folder exclusively."""
    for name in names:
        for part in (folder / name).glob(".*.part"):
            part.unlink(missing_ok=True)


def _checksum(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
