"""Combinations kept in a folder, each under the hash of all it depends on and with a checksum of what it holds."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stillair.results.result import Result
from stillair.text import output

FOLDER = "combinations"


@dataclass(frozen=True)
class Combination:
    """One combination: what it sets, and what it is recognised by when the sweep is run again."""

    sets: tuple[tuple[str, str], ...]
    fingerprint: str


def name_of(combination: Combination) -> str:
    """Its file, within the folder of the sweep."""
    return f"{FOLDER}/{combination.fingerprint}.json"


def read(folder: Path, combination: Combination, runs: int) -> Result | None:
    """The result of so many runs; none if it is not there, or not as it was written."""
    try:
        data = json.loads((folder / name_of(combination)).read_text(encoding="utf-8"))
        whole = isinstance(data, dict) and data.pop("sha256", None) == _checksum(data)
    except (OSError, ValueError, RecursionError):
        return None
    result = Result(data) if whole else None
    return result if result is not None and len(result.runs) == runs else None


def write(folder: Path, combination: Combination, data: Mapping[str, Any]) -> None:
    """Keeps a result with a checksum of it: what was edited or damaged must not count as measured."""
    text = json.dumps({**data, "sha256": _checksum(data)}, ensure_ascii=False, allow_nan=False)
    # Several processes may write to the folder.
    with output.whole(folder / name_of(combination), shared=True) as part:
        part.write_bytes(text.encode())


def tidy(folder: Path, names: Iterable[str]) -> None:
    """Removes what processes that were killed had begun; for who has the folder alone."""
    for name in names:
        for part in (folder / name).glob(".*.part"):
            part.unlink(missing_ok=True)


def _checksum(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
