"""Cells of a sweep run: by threads of the engine, or by any executor of `concurrent.futures` on whatever machines."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from stillair import _native
from stillair._native import InputError, RunError
from stillair.runs.scenario import Scenario, processors

IN_FLIGHT = 1_000
"""Cells that an executor has at a time; their results wait in memory until they are kept."""


class Cell(NamedTuple):
    """All that a worker needs to run a combination: text and numbers, which travel anywhere."""

    text: str
    file: str
    sets: tuple[tuple[str, str], ...]
    seed: int | None
    runs: int


@dataclass(frozen=True)
class Failure:
    """A combination, by its number, that failed, and why."""

    cell: int
    error: str


class Hear(NamedTuple):
    """Who is told of what."""

    runs: Callable[[int], object]
    """So many runs are finished."""
    done: Callable[[int, str], object]
    """The cell at this position is finished; its result as JSON."""
    failed: Callable[[int, str], object]
    """The cell at this position failed, and why."""


def run_cell(cell: Cell) -> str:
    """Runs one cell where it is called, one run at a time, and gives its result as JSON."""
    return _native.run(cell.text, cell.file, list(cell.sets), cell.seed, cell.runs, 0, 1, None)


def cells(scenario: Scenario, variants: Sequence[Sequence[tuple[str, str]]], seed: int | None, runs: int) -> list[Cell]:
    """The cells of a scenario; what it names is looked for beside its file from wherever they run."""
    path = Path(scenario.file)
    file = str(path.absolute()) if path.exists() else scenario.file
    return [Cell(scenario.text, file, tuple(sets), seed, runs) for sets in variants]


def by_threads(work: Sequence[Cell], jobs: int | None, hear: Hear) -> None:
    """Runs cells of one scenario on threads of this process, `jobs` runs at once."""
    first = work[0]
    variants = [list(cell.sets) for cell in work]
    _native.run_variants(
        first.text,
        first.file,
        variants,
        first.seed,
        first.runs,
        jobs or processors(),
        hear.runs,
        hear.done,
        hear.failed,
    )


def by_executor(work: Sequence[Cell], executor: Executor, hear: Hear) -> None:
    """Runs cells on an executor, a task each. A cell whose worker dies has failed like one whose run fails.

    If the worker that has a result dies while it is fetched, Dask's executor takes the result for an error and says
    ValueError (distributed 2026.8, `_cascade_future`). Such a cell is handed over once more; no run ends with a
    ValueError that is not ours.
    """
    ended: SimpleQueue[tuple[int, Future[str]]] = SimpleQueue()
    waiting = iter(enumerate(work))
    repeated: set[int] = set()
    under_way: dict[int, Future[str]] = {}
    finished = 0

    def submit() -> None:
        """Hands over the next cell that the executor takes."""
        hand_over(waiting)

    def hand_over(cells: Iterable[tuple[int, Cell]]) -> None:
        for position, cell in cells:
            try:
                future = executor.submit(run_cell, cell)
            except RuntimeError as error:
                # It has shut down or is broken, as a pool is of which a process was killed.
                hear.failed(position, said(error))
                continue
            under_way[position] = future
            future.add_done_callback(partial(_put, ended, position))
            return

    try:
        for _ in range(IN_FLIGHT):
            submit()
        while under_way:
            position, future = ended.get()
            del under_way[position]
            try:
                text = future.result()
            except Exception as error:  # noqa: BLE001 - whatever a worker or its executor raises, it is this cell's
                is_ours = isinstance(error, InputError | RunError)
                if isinstance(error, ValueError) and not is_ours and position not in repeated:
                    repeated.add(position)
                    hand_over([(position, work[position])])
                    continue
                hear.failed(position, said(error))
            else:
                hear.done(position, text)
                finished += work[position].runs
                hear.runs(finished)
            submit()
    finally:
        for future in under_way.values():
            with suppress(Exception):
                future.cancel()


def _put(ended: SimpleQueue[tuple[int, Future[str]]], position: int, future: Future[str]) -> None:
    ended.put((position, future))


def said(error: BaseException) -> str:
    """An error in one line; ours say enough by themselves."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    if isinstance(error, InputError | RunError):
        return text
    return f"{kind}: {text}" if text else kind
