"""Progress on stderr, for people only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def runs_progress(total: int, quiet: bool) -> Iterator[Callable[[int], object] | None]:
    """Gives a callback for the number of runs finished; none if nobody watches or `quiet`."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("runs", total=total)
        yield lambda finished: progress.update(task, completed=finished)
