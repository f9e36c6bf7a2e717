"""All combinations of a scenario's `[sweep]` table.

Finished combinations are stored, so that a sweep can be resumed.
"""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from stillair import __version__
from stillair._native import InputError
from stillair.results.result import Result
from stillair.runs import cache, dataset, work
from stillair.runs.cache import Combination, name_of
from stillair.runs.metrics import starvation
from stillair.runs.metrics.sweep_text import SweepText
from stillair.runs.overrides import Overrides, Value, as_set, mistake, pairs
from stillair.runs.scenario import Scenario, check_runs
from stillair.runs.work import Failure, Hear
from stillair.text import output, signals, source

Over = Mapping[str, Sequence[Value] | str] | Sequence[Mapping[str, Value]]
"""Values by key, all combinations of which are run, or a list of combinations with the same keys."""


_MOST_STARVED = 3
"""Combinations for which starved stations are explained."""

_MOST = 100_000
"""Largest number of combinations; more are a mistake."""


@dataclass(frozen=True)
class Shard:
    """One part of a sweep that several processes run into one folder; `number` counts from 1."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str, key: str = "shard") -> "Shard":
        """Parses `2/16`. Raises `InputError` naming `key` for other text."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) <= 1_000_000):
            raise mistake(key, f'found "{text}", expected I/N such as 2/16, I from 1 to N')
        return cls(int(number), int(of))


class Outcome(NamedTuple):
    """Results of the combinations in order; `None` for failed combinations and those of other shards."""

    results: list[Result | None]
    failures: list[Failure]


class Sweep:
    """The combinations of a scenario, each with `runs` runs."""

    def __init__(
        self,
        scenario: Scenario,
        overrides: Overrides = (),
        runs: int = 1,
        seed: int | None = None,
        over: Over | None = None,
    ) -> None:
        """Reads and checks every combination. The table's values take precedence over `overrides`.

        `over` replaces the file's table, `seed` its seed. Raises `InputError` if the table sweeps seeds as
        well.
        """
        check_runs(runs, seed, jobs=None)
        self.scenario = scenario
        self.runs = runs
        self.seed = seed
        self.base = pairs(overrides)
        table = _table(scenario, self.base, over)
        if seed is not None and any(key == "seed" for key, _ in table[0]):
            raise InputError(
                f"--seed: found {seed}, but the [sweep] table of {scenario.file} sets seed: leave out one of the two"
            )
        self.combinations = [self._combination(sets) for sets in table]

    def _combination(self, sets: list[tuple[str, str]]) -> Combination:
        try:
            described = self.scenario.describe([*self.base, *sets])
        except InputError as error:
            if not sets:
                raise
            # To the scenario reader, a table value is just an override, so name the combination in the error.
            values = ", ".join(f"{key} = {value}" for key, value in sets)
            named = InputError(f"{self.scenario.file}: [sweep] with {values}: {error}")
            named.file, named.key = self.scenario.file, error.key
            raise named from None
        # The resolved scenario determines a run, except for the seed argument.
        what = json.dumps([__version__, described.resolved, self.runs, self.seed])
        return Combination(tuple(sets), hashlib.sha256(what.encode()).hexdigest()[:20], described.least)

    def run(
        self,
        jobs: int | None = None,
        folder: Path | None = None,
        progress: Callable[[int], object] | None = None,
        executor: Executor | None = None,
        shard: Shard | None = None,
        parquet: bool = False,
    ) -> Outcome:
        """Runs what is missing in `folder`, and stores each run and combination there when it finishes.

        Uses `jobs` threads of this process, or `executor` with a task per combination; results do not depend
        on either. A failed combination does not stop the others.
        """
        check_runs(self.runs, self.seed, jobs)
        if executor is not None and jobs is not None:
            raise mistake("jobs", f"found {jobs}, which has no effect with an executor: leave out one of the two")
        asked = [cell for chunk in self._chunks(shard) for cell in chunk]
        results: list[Result | None] = [None] * len(self.combinations)
        if folder is not None:
            for cell in asked:
                results[cell] = cache.read(folder, self.combinations[cell], self.runs)
        missing = [cell for cell in asked if results[cell] is None]
        table = self._data_set(folder, parquet)
        left = {chunk: sum(results[cell] is None for cell in chunk) for chunk in self._chunks(shard)}
        chunk_of = {cell: chunk for chunk in left for cell in chunk}
        partly = [self._runs_of(folder, cell) for cell in missing]
        found = self.runs * (len(asked) - len(missing)) + sum(map(len, partly))
        failures: list[Failure] = []

        def ended(cell: int) -> None:
            chunk = chunk_of[cell]
            left[chunk] -= 1
            if table is not None and left[chunk] == 0:
                table.write(chunk, results)

        def finished(count: int) -> None:
            if progress is not None:
                progress(found + count)

        def made(position: int, run: dict[str, Any]) -> None:
            if folder is not None and self.runs > 1:
                with signals.held_back():
                    cache.add_run(folder / cache.FOLDER, self.combinations[missing[position]].fingerprint, run)

        def done(position: int, data: dict[str, Any]) -> None:
            cell = missing[position]
            with signals.held_back():
                results[cell] = Result(data)
                if folder is not None:
                    cache.write(folder, self.combinations[cell], data)
                ended(cell)

        def failed(position: int, why: str) -> None:
            failures.append(Failure(missing[position], why))
            ended(missing[position])

        finished(0)
        if table is not None:
            for chunk in (chunk for chunk, count in left.items() if count == 0):
                table.write(chunk, results)
        if missing:
            if folder is not None:
                output.prepare(folder / cache.FOLDER)
            sets = [[*self.base, *self.combinations[cell].sets] for cell in missing]
            cells = work.cells(self.scenario, sets, self.seed, self.runs)
            hear = Hear(finished, made, done, failed)
            if executor is None:
                work.by_threads(cells, partly, [self.combinations[cell].least for cell in missing], jobs, hear)
            else:
                work.by_executor(cells, executor, hear)
        return Outcome(results, sorted(failures, key=lambda failure: failure.cell))

    def resolve(self, cell: int) -> str:
        """Resolved scenario of a combination, as JSON."""
        return self.scenario.resolve([*self.base, *self.combinations[cell].sets])

    def starved(self, results: Sequence[Result | None]) -> list[str]:
        """Explains starved stations, for a limited number of combinations."""
        found = []
        for cell, result in enumerate(results):
            if result is not None and (
                told := starvation.starvation_over(result.summary(), partial(self.resolve, cell))
            ):
                found.append([f"{self.told(results).named(cell)}: {sentence}" for sentence in told])
        more = len(found) - _MOST_STARVED
        lines = [line for of in found[:_MOST_STARVED] for line in of]
        return [*lines, f"The same holds for {more} more combinations."] if more > 0 else lines

    def _runs_of(self, folder: Path | None, cell: int) -> dict[int, dict[str, Any]]:
        """Finished runs of an incomplete combination, by number."""
        if folder is None or self.runs == 1:
            return {}
        found = cache.read_runs(folder / cache.FOLDER, self.combinations[cell].fingerprint, self.runs)
        if len(found) == self.runs:
            # The engine completes a combination with its last run, so leave one to run.
            found.pop(max(found))
        return found

    def _chunks(self, shard: Shard | None) -> list[range]:
        """Combinations by file of the data set. A shard has every `of`-th file."""
        chunks = dataset.chunks(len(self.combinations))
        return chunks if shard is None else chunks[shard.number - 1 :: shard.of]

    def _data_set(self, folder: Path | None, parquet: bool) -> dataset.DataSet | None:
        if not parquet:
            return None
        if folder is None:
            raise mistake("parquet", "found no folder, expected that of the sweep for the data set")
        made = dataset.DataSet(folder, self.combinations)
        output.prepare(folder / dataset.FOLDER)
        return made

    def kept(self, folder: Path, shard: Shard | None = None) -> int:
        """Number of stored combinations, of all or of a shard."""
        cells = (cell for chunk in self._chunks(shard) for cell in chunk)
        return sum(cache.read(folder, self.combinations[cell], self.runs) is not None for cell in cells)

    def kept_runs(self, folder: Path, shard: Shard | None = None) -> int:
        """Number of stored runs of incomplete combinations, of all or of a shard."""
        cells = [cell for chunk in self._chunks(shard) for cell in chunk]
        open_ = [cell for cell in cells if cache.read(folder, self.combinations[cell], self.runs) is None]
        names = (self.combinations[cell].fingerprint for cell in open_)
        return sum(len(cache.read_runs(folder / cache.FOLDER, name, self.runs)) for name in names)

    def share(self, shard: Shard | None) -> int:
        """Number of combinations, of all or of a shard."""
        return sum(map(len, self._chunks(shard)))

    def prepare(self, folder: Path) -> None:
        """Raises `InputError` if the folder has files with a sweep's names that are not a sweep's."""
        try:
            data = source.parsed(source.data(folder / "sweep.json", source.most_json()))
            ours = isinstance(data, dict) and {"version", "scenario", "combinations"} <= data.keys()
        except (OSError, ValueError, InputError):
            ours = False
        if not ours:
            output.refuse_others(folder, ("sweep.json", "sweep.csv"), "a sweep")

    def grows(self, folder: Path) -> bool:
        """Returns true if this sweep includes everything in the folder's `sweep.json`, so that nothing is lost."""
        try:
            rows = source.parsed(source.data(folder / "sweep.json", source.most_json()))["combinations"]
            told = {row["file"] for row in rows}
        except FileNotFoundError:
            return True
        except (OSError, ValueError, InputError, TypeError, KeyError):
            return False
        return told <= {name_of(combination) for combination in self.combinations}

    def told(self, results: Sequence[Result | None], failures: Sequence[Failure] = ()) -> SweepText:
        """The outcome as text."""
        return SweepText(self.combinations, results, self.runs, self.seed, failures)

    def write(self, folder: Path, outcome: Outcome, parquet: bool = False) -> None:
        """Writes `sweep.json` and `sweep.csv`, and removes obsolete files.

        The caller must hold the folder exclusively.
        """
        told = self.told(*outcome)
        output.write_files(folder, {"sweep.json": told.to_json(indent=1) + "\n", "sweep.csv": told.to_csv()})
        cache.tidy(folder, (cache.FOLDER, dataset.FOLDER))
        if parquet:
            dataset.DataSet(folder, self.combinations).prune(outcome.results)


def _values(key: str, values: Sequence[Value] | str) -> Sequence[Value]:
    """Values of an axis. As in a file, a range stands for consecutive integers."""
    if isinstance(values, str):
        ends = re.fullmatch(r"(-?\d{1,18})\.\.(-?\d{1,18})", values)
        values = range(int(ends[1]), min(int(ends[2]), int(ends[1]) + _MOST) + 1) if ends else ()
    if not values:
        raise mistake(f"over.{key}", 'expected a list of values or a range such as "1..30"')
    return values


def _table(scenario: Scenario, base: list[tuple[str, str]], over: Over | None) -> list[list[tuple[str, str]]]:
    """Overrides of all combinations."""
    if over is None:
        return scenario.sweep(base)
    if isinstance(over, Mapping):
        axes = [[(key, as_set(key, value)) for value in _values(key, values)] for key, values in over.items()]
        if math.prod(map(len, axes)) > _MOST:
            raise mistake("over", f"found {math.prod(map(len, axes))} combinations, expected at most {_MOST}")
        return [list(sets) for sets in itertools.product(*axes)]
    # Interpret each value by its key, as in a table of values.
    cells = [{key: as_set(key, value) for key, value in cell.items()} for cell in over]
    if not cells:
        raise mistake("over", "found no combination, expected at least one")
    keys = list(cells[0])
    for number, cell in enumerate(cells):
        lacks = [f"no {key}" for key in keys if key not in cell]
        differs = lacks + [f"an additional {key}" for key in cell if key not in cells[0]]
        if differs:
            raise mistake(f"over.{number}", f"found {', '.join(differs)}, expected the keys of over.0")
    return [[(key, cell[key]) for key in keys] for cell in cells]
