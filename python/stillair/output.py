"""Keeping a result: a folder that explains itself."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from stillair._native import InputError
from stillair.result import Result
from stillair.scenario import Overrides, Scenario


def prepare(folder: Path) -> None:
    """Makes the folder and proves that it can be written, before time is spent on runs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{folder}: results cannot be written there: {error.strerror}; give another folder with -o"
        ) from None


def write(folder: Path, scenario: Scenario, overrides: Overrides, result: Result) -> None:
    """Writes `result.json`, the scenario as it was given and as it was resolved."""
    files = {
        "result.json": result.to_json(indent=1) + "\n",
        "scenario.toml": scenario.text,
        "scenario.resolved.json": scenario.resolve(overrides) + "\n",
    }
    write_files(folder, files)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Writes each text under its name."""
    write_bytes(folder, {name: text.encode() for name, text in files.items()})


def write_bytes(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes each file under its name."""
    for name, data in files.items():
        try:
            (folder / name).write_bytes(data)
        except OSError as error:
            raise InputError(f"{folder / name}: cannot be written: {error.strerror}") from None
