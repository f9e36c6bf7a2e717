"""Writing a result folder while its runs finish, so that what has finished is there whatever comes after."""

import json
from pathlib import Path
from typing import Any

from stillair import folder, output, sampled, tidy
from stillair._native import InputError, __version__
from stillair.result import Result
from stillair.scenario import Overrides, Scenario, pairs


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
            old = ("result.json", "table.csv", "pings.csv", *sampled.TABLES)
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
        tidy.write_csv(self._path / "table.csv", (folder.measured(self._path, name, run) for run in runs))
        tidy.write_pings_csv(self._path / "pings.csv", (folder.measured(self._path, name, run) for run in runs))
        sampled.write_tables(self._path, name, runs)
        head = {"format": folder.FORMAT, "planned_runs": self._planned, "seeds": sorted({run["seed"] for run in runs})}
        text = json.dumps(head | result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        output.write_files(self._path, {"result.json": text + "\n"})
