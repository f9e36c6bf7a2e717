"""Writing a result folder while its runs finish, so that what has finished is there whatever comes after.

A new result is written beside the old one, in `.new-result`, and takes its place when it is whole.
"""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from stillair._native import InputError, RunError, __version__
from stillair.results import result_folder, sampled, tidy
from stillair.results.result import Result
from stillair.runs.overrides import Overrides, pairs
from stillair.runs.scenario import Scenario
from stillair.text import output

_GIVEN = ("scenario.toml", "scenario.resolved.json", "overrides.json")
_FILES = (*_GIVEN, "table.csv", "pings.csv", "probes.csv", *sampled.TABLES)
"""What a result has beside `result.json` and its runs."""

_OLD = "old.json"
"""The summary of the old result, in the folder of the new one, while its other files are removed."""


class ResultWriter:
    """Writes a result folder while the runs finish."""

    def __init__(self, path: Path, scenario: Scenario, overrides: Overrides, planned: int) -> None:
        """Begins a result in a folder that exists and that nobody else writes to.

        `InputError` if the scenario is wrong, or if the folder holds files of somebody else under our names.
        """
        resolved = scenario.resolve(overrides)
        self._path = path
        self._new = path / result_folder.NEW
        described = json.loads(resolved)
        self._name, self._notes = described["name"], described.get("notes", [])
        self._planned = planned
        self._kept: dict[int, dict[str, Any]] = {}
        refuse_others(path)
        try:
            if (self._new / "result.json").exists():
                # Whole, but cut off while it took its place.
                self._take_place()
            _remove(self._new)
            (self._new / "runs").mkdir(parents=True)
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"{self._new}: what was begun there cannot be removed: {why}") from None
        self._begin(scenario, resolved, overrides)

    def _begin(self, scenario: Scenario, resolved: str, overrides: Overrides) -> None:
        texts = (scenario.text, resolved + "\n", json.dumps(pairs(overrides), ensure_ascii=False) + "\n")
        try:
            output.write_files(self._new, dict(zip(_GIVEN, texts, strict=True)))
        except RunError:
            self.discard()
            raise

    @property
    def finished(self) -> int:
        """Runs kept so far."""
        return len(self._kept)

    def keep(self, text: str) -> None:
        """Keeps a run that has finished."""
        run = json.loads(text)
        run.pop("series")
        output.write_files(self._new / "runs", {f"run-{run['run']}.json": text + "\n"})
        self._kept[run["run"]] = run

    def finish(self) -> Path | None:
        """Writes tables and summary of the runs kept, and only then puts them in the place of the old result.

        What cannot be written, as on a full disk, leaves nothing of the new one. Fewer runs than planned go beside an
        old result, into a folder of their own. Gives the folder where they are; none without a run, when the old result
        stays and nothing of the new one.
        """
        runs = [self._kept[number] for number in sorted(self._kept)]
        if not runs:
            self.discard()
            return None
        try:
            self._complete(runs)
        except RunError:
            self.discard()
            raise
        try:
            if len(runs) < self._planned and (self._path / "result.json").exists():
                return self._stand_beside()
            self._take_place()
        except OSError as error:
            why = error.strerror or error
            raise RunError(f"{self._path}: the new result stays in {self._new}, whole: {why}") from None
        return self._path

    def discard(self) -> None:
        """Removes what there is of the new result, as far as that can be."""
        with suppress(OSError):
            _remove(self._new)

    def _complete(self, runs: list[dict[str, Any]]) -> None:
        """Writes tables and summary beside the runs."""
        result = Result({"version": __version__, "scenario": self._name, "notes": self._notes, "runs": runs})
        # Read once for each table, and never all at once.
        tidy.write_csv(self._new / "table.csv", (result_folder.measured(self._new, self._name, run) for run in runs))
        tidy.write_pings_csv(
            self._new / "pings.csv", (result_folder.measured(self._new, self._name, run) for run in runs)
        )
        tidy.write_probes_csv(
            self._new / "probes.csv", (result_folder.measured(self._new, self._name, run) for run in runs)
        )
        sampled.write_tables(self._new, self._name, runs)
        head = {
            "format": result_folder.FORMAT,
            "planned_runs": self._planned,
            "seeds": sorted({run["seed"] for run in runs}),
        }
        text = json.dumps(head | result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        output.write_files(self._new, {"result.json": text + "\n"})

    def _stand_beside(self) -> Path:
        """Moves what is new to a folder beside that of the old result, which is worth more than a part of a new one."""
        name = self._path.resolve().name
        names = (f"{name}.interrupted{n}" for n in ("", *(f"-{n}" for n in range(2, 1_000))))
        beside = next(p for p in map(self._path.resolve().with_name, names) if not os.path.lexists(p))
        self._new.rename(beside)
        return beside

    def _take_place(self) -> None:
        """Moves what is new to the place of the old; `result.json` comes last, so that who finds it finds all.

        It can be cut off anywhere and begun again: the old summary goes last of what is old, but out of sight first.
        """
        old = self._new / _OLD
        if (self._path / "result.json").exists():
            (self._path / "result.json").replace(old)
        if old.exists():
            for name in (*_runs(self._path), *_FILES):
                (self._path / name).unlink(missing_ok=True)
            old.unlink()
        (self._path / "runs").mkdir(exist_ok=True)
        for name in (*_runs(self._new), *_FILES, "result.json"):
            if (self._new / name).exists():
                (self._new / name).replace(self._path / name)
        _remove(self._new)


def _runs(path: Path) -> list[str]:
    """Our files of runs, by name; any other file there is somebody else's."""
    return [f"runs/{file.name}" for file in path.glob("runs/*") if re.fullmatch(r"run-\d+\.json", file.name)]


def _remove(new: Path) -> None:
    """Removes the folder of a new result with what this program writes there; an `OSError` if it holds more."""
    for name in (*_runs(new), *_FILES, "result.json", _OLD):
        (new / name).unlink(missing_ok=True)
    # What `output.whole` had begun when its process was killed.
    for part in (*new.glob(".*.part"), *new.glob("runs/.*.part")):
        part.unlink()
    for empty in (new / "runs", new):
        with suppress(FileNotFoundError):
            empty.rmdir()


def refuse_others(path: Path) -> None:
    """An `InputError` if files in a folder have our names and are not of a result of ours."""
    new = path / result_folder.NEW
    if os.path.lexists(path / "result.json"):
        result_folder.recognise(path)
        return
    # A whole result that was taking its place when it was cut off has moved some of its files already.
    if not (new / "result.json").exists():
        output.refuse_others(path, (*_FILES, *_runs(path)), "a result")
    if os.path.lexists(path / "runs") and not (path / "runs").is_dir():
        raise InputError(f"{path / 'runs'}: is in the way, and no folder; give another folder with -o")
