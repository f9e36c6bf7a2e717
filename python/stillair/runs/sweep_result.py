"""`run_sweep`: runs a sweep from Python, on one or many machines, and returns its results as a table."""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from html import escape
from pathlib import Path
from typing import NamedTuple

from stillair._native import RunError
from stillair.results.frame import Columns, Kind, Tabular
from stillair.results.result import Result
from stillair.runs import dataset
from stillair.runs.metrics.sweep_text import SweepText
from stillair.runs.overrides import Overrides
from stillair.runs.scenario import Scenario
from stillair.runs.sweep import Outcome, Over, Shard, Sweep
from stillair.runs.work import Failure
from stillair.text import lock, markup, output


class Cell(NamedTuple):
    """A finished combination: its number from 0, its overrides, and its result."""

    number: int
    overrides: Mapping[str, str]
    result: Result


class SweepResult(Tabular):
    """The result of a sweep: its cells, and a table with a row for each figure of each run.

    Columns: `cell`, the cell's overrides by key, `run`, `seed`, `group`, `subject`, `metric` and `value`.
    pyarrow, polars, pandas and DuckDB read it directly.
    """

    def __init__(self, sweep: Sweep, outcome: Outcome) -> None:
        """Wraps the outcome of a sweep."""
        self._sweep, self._outcome = sweep, outcome
        self._rows = dataset.Rows(sweep.combinations)

    @property
    def cells(self) -> list[Cell]:
        """Finished combinations, in order."""
        both = zip(self._sweep.combinations, self._outcome.results, strict=True)
        return [
            Cell(number, dict(combination.sets), result)
            for number, (combination, result) in enumerate(both)
            if result is not None
        ]

    @property
    def failures(self) -> list[Failure]:
        """Failed combinations with their errors."""
        return self._outcome.failures

    def overrides(self, cell: int) -> Mapping[str, str]:
        """Values of the swept keys in a combination, by its number."""
        return dict(self._sweep.combinations[cell].sets)

    def __len__(self) -> int:
        """Number of finished combinations."""
        return sum(result is not None for result in self._outcome.results)

    def __iter__(self) -> Iterator[Cell]:
        """Iterates over the finished combinations."""
        return iter(self.cells)

    def kinds(self) -> Mapping[str, Kind]:
        """The columns of the table."""
        return self._rows.kinds

    def batches(self) -> Iterator[Columns]:
        """Rows of the table, one combination per batch."""
        return dataset.joined(self._rows, self._outcome.results)

    def to_csv(self) -> str:
        """A row for each combination, with its overrides and means over the runs, as in `sweep.csv`."""
        return self._told.to_csv()

    def to_json(self, indent: int | None = None) -> str:
        """All combinations with their means over the runs, as in `sweep.json`."""
        return self._told.to_json(indent)

    def __repr__(self) -> str:
        """The terminal table."""
        failed = f"\n\n{self.failed()}" if self.failures else ""
        return "\n\n".join([self._told.to_text(), *self._sweep.starved(self._outcome.results)]) + failed

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        heading, rows, notes = self._told.grid()
        failed = f"<pre>{escape(self.failed())}</pre>" if self.failures else ""
        notes = [*notes, *self._sweep.starved(self._outcome.results)]
        return markup.grid(heading, map(markup.row, rows)) + markup.lines("\n".join(notes)) + failed

    def failed(self) -> str:
        """Failed combinations, as a table of overrides and errors."""
        return self._told.failed()

    @property
    def _told(self) -> SweepText:
        return self._sweep.told(*self._outcome)


class SweepError(RunError):
    """Some combinations of a sweep failed; `result` has the others, and the errors."""

    def __init__(self, says: str, result: SweepResult) -> None:
        """`says` has a line for each failed combination."""
        super().__init__(says)
        self.result = result


def run_sweep(
    scenario: Scenario | str | os.PathLike[str] | Mapping[str, object],
    over: Over | None = None,
    *,
    overrides: Overrides = (),
    runs: int = 1,
    seed: int | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    folder: str | os.PathLike[str] | None = None,
    parquet: bool = False,
    shard: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> SweepResult:
    """Runs all combinations of a scenario's `[sweep]` table, or of `over`, each `runs` times.

    `over` is a table of values by key, all combinations of which are run, or a list of combinations. Runs
    share `jobs` threads of this process (default: one per processor), or each combination is a task of
    `executor`: a process pool, Dask's, or any other executor of `concurrent.futures`. Results do not depend
    on the choice.

    With `folder`, finished combinations are stored there and not run again; `parquet` adds the table as a
    Parquet data set in `table/`. `shard`, such as "2/16", runs one part of the combinations: several
    processes can run their shards into the same folder, and a call without `shard` collects them.

    Raises `SweepError` if any combination fails. The others have been run and are in its `result`.
    """
    sweep = Sweep(scenario if isinstance(scenario, Scenario) else Scenario(scenario), overrides, runs, seed, over)
    part = None if shard is None else Shard.read(shard)
    if folder is None:
        outcome = sweep.run(jobs, None, progress, executor, part, parquet)
    else:
        path = Path(folder)
        output.prepare(path)
        with lock.held(path, shared=part is not None):
            sweep.prepare(path)
            outcome = sweep.run(jobs, path, progress, executor, part, parquet)
            if part is None:
                sweep.write(path, outcome, parquet)
    result = SweepResult(sweep, outcome)
    if result.failures:
        says = f"{len(result.failures)} of {len(result.failures) + len(result)} combinations failed"
        raise SweepError(f"{says}\n{result.failed()}", result)
    return result
