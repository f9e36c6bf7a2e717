"""Progress on stderr: a bar at a terminal, elsewhere an occasional line."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

_QUIET_S = 20.0
"""Without a terminal: time before the first line, and between lines."""


class Watched(NamedTuple):
    """Progress callbacks; `None` if progress is not shown."""

    progress: Callable[[int], object] | None = None
    """Called with the number of finished runs."""
    passed: Callable[[float], object] | None = None
    """Called with the number of finished runs plus the fractions of running ones."""


@contextmanager
def runs_progress(total: int, quiet: bool, clock: Callable[[], float] = time.monotonic) -> Iterator[Watched]:
    """Shows the progress of `total` runs, unless `quiet`."""
    if quiet:
        yield Watched()
    elif sys.stderr.isatty():
        yield from _bar(total)
    else:
        yield _lines(total, clock)


def _bar(total: int) -> Iterator[Watched]:
    from rich.console import Console  # noqa: PLC0415 - slow to load
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    # Show a percentage instead of 0/1 for a single run.
    count = TextColumn("{task.percentage:>3.0f} %") if total == 1 else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("run" if total == 1 else "runs", total=total)

        def move(made: float) -> None:
            # Workers report out of order; never move the bar backwards.
            progress.update(task, completed=max(made, progress.tasks[task].completed))

        yield Watched(move, move)


def _lines(total: int, clock: Callable[[], float]) -> Watched:
    said = clock()

    def say(made: float) -> None:
        nonlocal said
        if clock() - said >= _QUIET_S and made < total:
            said = clock()
            part = f"{100 * made / total:.0f} % of the run" if total == 1 else f"{int(made)} of {total} runs"
            print(f"stillair: {part}", file=sys.stderr, flush=True)

    return Watched(say, say)


@contextmanager
def files_progress(
    total: int, quiet: bool, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int], object]]:
    """Shows how many of about `total` files have been compiled, unless `quiet`."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        from rich.console import Console  # noqa: PLC0415 - slow to load
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        columns = (TextColumn("files {task.completed}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=total)
            yield lambda done: progress.update(task, completed=done, total=max(total, done))
    else:
        said = clock()

        def say(done: int) -> None:
            nonlocal said
            if clock() - said >= _QUIET_S:
                said = clock()
                print(f"stillair: {done} of about {max(total, done)} files", file=sys.stderr, flush=True)

        yield say
