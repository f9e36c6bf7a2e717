"""Scenarios from files, text or dictionaries."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stillair import _native
from stillair._native import InputError, RunError
from stillair.runs.limits import LARGEST_RUN, LARGEST_SEED, MOST_JOBS
from stillair.runs.overrides import Overrides, mistake, pairs
from stillair.text import source
from stillair.text.toml import to_toml

if TYPE_CHECKING:
    from stillair.results.result import Result


BUNDLED = Path(__file__).resolve().parents[1] / "scenarios"
"""Folder of the bundled scenarios."""


class Scenario:
    """A scenario from a file, its text, or an equivalent dictionary."""

    def __init__(self, source: str | os.PathLike[str] | Mapping[str, object]) -> None:
        """Takes a path, a text (anything with a line break) or a dictionary with the keys of the file.

        If there is no such file, a name from `stillair scenarios` selects the bundled scenario.
        """
        if isinstance(source, Mapping):
            self.file = "scenario"
            self.text = to_toml(source)
        elif isinstance(source, str) and "\n" in source:
            self.file = "scenario"
            self.text = source
        else:
            path = _bundled(source) or Path(source)
            self.file = os.fspath(path)
            self.text = _read(path)

    def run(
        self,
        runs: int = 1,
        seed: int | None = None,
        jobs: int | None = None,
        overrides: Overrides = (),
        first_run: int = 0,
        progress: Callable[[int], object] | None = None,
        series: bool = False,
        keep: Callable[[str], object] | None = None,
        passed: Callable[[float], object] | None = None,
    ) -> "Result":
        """Runs the scenario `runs` times, `jobs` at once (default: one per processor).

        `overrides` are dotted keys with values: numbers, lists and tables, or text in the syntax of `--set`.
        `seed` replaces the file's. Runs are numbered from `first_run`. With `series`, each run includes its
        series. With `keep`, that function receives each finished run as JSON, and the result only has
        summaries. `progress` is called with the number of finished runs, and `passed` with that number plus
        the fractions of running ones. Raises `InputError` for a malformed scenario or an argument out of
        bounds.
        """
        from stillair.results.result import Result  # noqa: PLC0415 - not needed to read a scenario, and slow to load

        # Used twice, and may be an iterator.
        overrides = pairs(overrides)
        held: list[dict[str, Any]] = []

        def hold(text: str) -> None:
            if keep is not None:
                keep(text)
            held.append({key: value for key, value in json.loads(text).items() if key != "series"})

        holds = None if keep is None else hold
        text = self.run_text(runs, seed, jobs, overrides, first_run, progress, series, holds, passed)
        data = json.loads(text)
        if held:
            data["runs"] = sorted(held, key=lambda run: run["run"])
        return Result(data, resolved=self.resolve(overrides) if series else None)

    def run_text(
        self,
        runs: int = 1,
        seed: int | None = None,
        jobs: int | None = None,
        overrides: Overrides = (),
        first_run: int = 0,
        progress: Callable[[int], object] | None = None,
        series: bool = False,
        keep: Callable[[str], object] | None = None,
        passed: Callable[[float], object] | None = None,
        kept: Sequence[int] = (),
    ) -> str:
        """The result as JSON; with `keep` it has no runs. Runs whose numbers are in `kept` are skipped."""
        check_runs(runs, seed, jobs, first_run)
        if self.kernels(overrides):
            numbers = [n for n in range(first_run, first_run + runs) if n not in set(kept)]
            return self._with_kernels(pairs(overrides), seed, numbers, progress, keep, series)
        return _native.run(
            self.text,
            self.file,
            pairs(overrides),
            seed,
            runs,
            first_run,
            jobs or processors(),
            progress,
            series=series,
            keep=keep,
            passed=passed,
            kept=sorted(kept),
        )

    def kernels(self, overrides: Overrides = ()) -> dict[str, str]:
        """The kernel of each node that runs a real one."""
        if not any("uml" in text for text in (self.text, *(str(value) for _, value in pairs(overrides)))):
            return {}
        hosts = {node["name"]: node.get("host") for node in json.loads(self.resolve(overrides))["nodes"]}
        return {name: host["kernel"] for name, host in hosts.items() if isinstance(host, dict)}

    def _with_kernels(
        self,
        overrides: list[tuple[str, str]],
        seed: int | None,
        runs: Sequence[int],
        progress: Callable[[int], object] | None,
        keep: Callable[[str], object] | None,
        series: bool,
    ) -> str:
        """Runs with real kernels, one after the other. Raises `RunError` if a traffic program fails."""
        whole: dict[str, Any] = {}
        found: list[Any] = []
        asked = {"text": self.text, "file": self.file, "overrides": overrides, "seed": seed, "series": series}
        for made, n in enumerate(runs, 1):
            text, status = _native.uml(json.dumps(asked | {"run": n}))
            whole = json.loads(text)
            if status:
                raise RunError("; ".join(whole["notes"]))
            if keep is None:
                found += whole["runs"]
            else:
                keep(json.dumps(whole["runs"][0], separators=(",", ":")))
            if progress is not None and progress(made) is False:
                raise RunError("interrupted")
        return json.dumps(whole | {"runs": found})

    def resolve(self, overrides: Overrides = ()) -> str:
        """Resolved scenario as JSON, with `inherits`, defaults and overrides applied."""
        return _native.resolve(self.text, self.file, pairs(overrides))

    def describe(self, overrides: Overrides = ()) -> "Described":
        """The output of `resolve`, and what callers need before the runs."""
        resolved, name, notes, (least, _) = _native.describe(self.text, self.file, pairs(overrides))
        return Described(resolved, name, notes, least)

    def notes(self, overrides: Overrides = ()) -> list[str]:
        """Notes about the scenario, such as a rate that its signal cannot carry."""
        return self.describe(overrides).notes

    def sweep(self, overrides: Overrides = ()) -> list[list[tuple[str, str]]]:
        """Overrides of each combination of the `[sweep]` table, to be applied after `overrides`."""
        return _native.sweep(self.text, self.file, pairs(overrides))


class Described(NamedTuple):
    """A scenario before it is run."""

    resolved: str
    """Scenario with all defaults, as JSON. With thousands of stations it is too large to parse just for a
    name."""
    name: str
    notes: list[str]
    least: int
    """Least memory of a run in bytes."""


def check_runs(runs: int, seed: int | None, jobs: int | None, first_run: int = 0) -> None:
    """Raises `InputError` if an argument is out of bounds."""
    check_number("runs", runs, 1, LARGEST_RUN + 1)
    check_number("first_run", first_run, 0, LARGEST_RUN + 1 - runs)
    if seed is not None:
        check_number("seed", seed, 0, LARGEST_SEED)
    if jobs is not None:
        check_number("jobs", jobs, 1, MOST_JOBS)


def check_number(name: str, value: int, least: int, most: int) -> None:
    """Raises `InputError` if a number is out of bounds."""
    if not least <= value <= most:
        raise mistake(name, f"found {value}, expected a whole number from {least} to {most}")


def processors() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _bundled(source: str | os.PathLike[str]) -> Path | None:
    """Returns the file of a bundled scenario by name, or `None`."""
    if not isinstance(source, str) or source.endswith(".toml") or Path(source).exists():
        return None
    # Compare with known paths: a path could lead out of the folder.
    return next((path for path in BUNDLED.rglob("*.toml") if path == BUNDLED / f"{source}.toml"), None)


def _read(path: Path) -> str:
    try:
        return source.text(path, "a scenario file")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; give the path of a scenario file (.toml)") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; give the path of a scenario file (.toml)") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; save the scenario as UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
