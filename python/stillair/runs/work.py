"""Runs a sweep's cells: on threads of the engine, or on any executor of `concurrent.futures`, on any machine."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from stillair import _native
from stillair._native import InputError, RunError
from stillair.runs import limits
from stillair.runs.scenario import Scenario, processors
from stillair.text import signals

IN_FLIGHT = 1_000
"""Cells submitted to an executor at a time; results wait in memory until they are stored."""


class Cell(NamedTuple):
    """Everything that a worker needs to run a combination, as picklable text and numbers."""

    text: str
    file: str
    sets: tuple[tuple[str, str], ...]
    seed: int | None
    runs: int


@dataclass(frozen=True)
class Failure:
    """A failed combination, by number, with its error."""

    cell: int
    error: str


class Hear(NamedTuple):
    """Callbacks."""

    runs: Callable[[int], object]
    """Called with the number of finished runs."""
    made: Callable[[int, dict[str, Any]], object]
    """Called with the position of a cell and its finished run. Executors report whole cells only."""
    done: Callable[[int, dict[str, Any]], object]
    """Called with the position of a finished cell and its result."""
    failed: Callable[[int, str], object]
    """Called with the position of a failed cell and the error."""


def run_cell(cell: Cell) -> str:
    """Runs a cell in this process, one run at a time, and returns its result as JSON."""
    return _native.run(cell.text, cell.file, list(cell.sets), cell.seed, cell.runs, 0, 1, None)


def cells(scenario: Scenario, variants: Sequence[Sequence[tuple[str, str]]], seed: int | None, runs: int) -> list[Cell]:
    """Returns a scenario's cells.

    Paths in the scenario are resolved relative to its file, wherever a cell runs.
    """
    path = Path(scenario.file)
    file = str(path.absolute()) if path.exists() else scenario.file
    return [Cell(scenario.text, file, tuple(sets), seed, runs) for sets in variants]


_SPREAD = 20
"""Largest memory use of a run, as a multiple of its least memory."""


def by_threads(
    work: Sequence[Cell],
    kept: Sequence[Mapping[int, dict[str, Any]]],
    least: Sequence[int],
    jobs: int | None,
    hear: Hear,
) -> None:
    """Runs cells of one scenario on this machine, `jobs` runs at once. Skips the runs in `kept`, by cell and number.

    `least` is the least memory in bytes of a run of each cell. Cells share threads of this process. If memory
    could run out, which would kill this process, a cell runs in a separate process, one cell at a time. A
    cell that cannot fit fails.
    """
    made = [dict(runs) for runs in kept]
    counts = [len(runs) for runs in kept]
    jobs, room = jobs or processors(), limits.memory()

    def take(position: int, text: str) -> None:
        run = json.loads(text)
        made[position][run["run"]] = run
        hear.made(position, run)
        counts[position] += 1
        hear.runs(sum(counts) - already)

    def done(position: int, head: str) -> None:
        runs, made[position] = made[position], {}
        hear.done(position, {**json.loads(head), "runs": [runs[number] for number in sorted(runs)]})

    already = sum(counts)
    together: list[int] = []
    apart: list[int] = []
    for position, need in enumerate(least):
        if need > room:
            there = f"{limits.size(room)} are available"
            hear.failed(position, f"a run needs at least {limits.size(need)} of memory, and {there}")
        else:
            (apart if is_risky(need, jobs) else together).append(position)
    if together:
        first = work[together[0]]
        _native.run_variants(
            first.text,
            first.file,
            [list(work[position].sets) for position in together],
            first.seed,
            first.runs,
            jobs,
            [sorted(kept[position]) for position in together],
            lambda at, text: take(together[at], text),
            lambda at, head: done(together[at], head),
            lambda at, why: hear.failed(together[at], why),
        )
    for position in apart:
        side_by_side = max(1, min(jobs, room // (2 * _SPREAD * least[position])))
        alone(
            work[position],
            sorted(kept[position]),
            side_by_side,
            partial(take, position),
            partial(done, position),
            partial(hear.failed, position),
        )


def is_risky(least: int, jobs: int | None) -> bool:
    """Returns true if concurrent runs with this least memory could exhaust memory."""
    return least * _SPREAD * (jobs or processors()) > limits.memory() // 2


def alone(
    cell: Cell,
    kept: Sequence[int],
    jobs: int | None,
    take: Callable[[str], object],
    done: Callable[[str], object],
    failed: Callable[[str], object],
    series: bool = False,
) -> None:
    """Runs a cell in a separate process. If that process dies, only this cell fails."""
    command = [sys.executable, "-m", "stillair.runs.work"]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 - this interpreter
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            text=True,
            encoding="utf-8",
        ) as worker,
    ):
        try:
            assert worker.stdin is not None  # noqa: S101 - pipes, as asked for
            assert worker.stdout is not None  # noqa: S101
            with suppress(BrokenPipeError):
                worker.stdin.write(json.dumps([cell, kept, jobs or processors(), series]) + "\n")
                worker.stdin.flush()
            is_over = False
            for line in worker.stdout:
                # The process may have died while writing a line.
                with suppress(ValueError):
                    kind, text = json.loads(line)
                    is_over = kind != "run"
                    {"run": take, "done": done, "failed": failed}[kind](text)
            with suppress(BrokenPipeError):
                worker.stdin.close()
            status = worker.wait()
        except BaseException:
            worker.kill()
            raise
        if not is_over:
            errors.seek(0)
            failed(_death(status, errors.read().decode(errors="replace")))


def _death(status: int, errors: str) -> str:
    """Describes why a process died."""
    if "memory allocation of" in errors or "MemoryError" in errors or status == -signal.SIGKILL:
        return f"ran out of memory; {limits.size(limits.memory())} are available"
    if status < 0:
        return f"its process was ended by {signal.Signals(-status).name}"
    return f"its process ended with status {status}: {(errors.strip().splitlines() or ['no message'])[-1]}"


def _work() -> None:
    """Main function of that process: reads one cell from standard input, writes its runs to standard output."""
    fields, kept, jobs, series = json.loads(sys.stdin.readline())
    signals.with_parent()
    with suppress(OSError):
        # If memory runs out, let the kernel kill this process instead of the sweep.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    text, file, sets, seed, runs = fields
    out = sys.stdout

    def say(kind: str, what: str) -> None:
        print(json.dumps([kind, what]), file=out, flush=True)

    try:
        head = _native.run(
            text,
            file,
            [(key, value) for key, value in sets],
            seed,
            runs,
            0,
            jobs,
            None,
            series=series,
            keep=partial(say, "run"),
            kept=kept,
        )
    except (InputError, RunError) as error:
        say("failed", said(error))
    else:
        say("done", head)


def by_executor(work: Sequence[Cell], executor: Executor, hear: Hear) -> None:
    """Runs cells on an executor, one task each. A cell whose worker dies fails like a cell whose run fails.

    If the worker that holds a result dies while it is fetched, Dask's executor mistakes the result for an
    error and raises ValueError (distributed 2026.8, `_cascade_future`). Such a cell is submitted once more;
    no run raises a ValueError of its own.
    """
    ended: SimpleQueue[tuple[int, Future[str]]] = SimpleQueue()
    waiting = iter(enumerate(work))
    repeated: set[int] = set()
    under_way: dict[int, Future[str]] = {}
    finished = 0

    def submit() -> None:
        """Submits the next cell that the executor accepts."""
        hand_over(waiting)

    def hand_over(cells: Iterable[tuple[int, Cell]]) -> None:
        for position, cell in cells:
            try:
                future = executor.submit(run_cell, cell)
            except RuntimeError as error:
                # The executor is shut down or broken, like a pool with a killed process.
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
            except Exception as error:  # noqa: BLE001 - any error of a worker or executor fails this cell
                is_ours = isinstance(error, InputError | RunError)
                if isinstance(error, ValueError) and not is_ours and position not in repeated:
                    repeated.add(position)
                    hand_over([(position, work[position])])
                    continue
                hear.failed(position, said(error))
            else:
                hear.done(position, json.loads(text))
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
    """An error on one line, without the type for our own errors."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    if isinstance(error, InputError | RunError):
        return text
    return f"{kind}: {text}" if text else kind


if __name__ == "__main__":
    _work()
