"""Parallel runs, and reports of those that fail."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from stillair._native import InputError, RunError
from stillair.runs.scenario import processors

Fault = InputError | RunError
Key = TypeVar("Key", bound=Hashable)
Ran = TypeVar("Ran")


def run(
    work: Mapping[Key, Callable[[], Ran]],
    called: Callable[[Key], object],
    jobs: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[dict[Key, Ran], dict[Key, Fault]]:
    """Runs all work, `jobs` at a time.

    Returns results and faults; `called` gives the name of a job in faults.
    """
    done: dict[Key, Ran] = {}
    failed: dict[Key, Fault] = {}
    pool = ThreadPoolExecutor(max_workers=jobs or processors())
    try:
        futures = {pool.submit(one): key for key, one in work.items()}
        for count, future in enumerate(as_completed(futures), start=1):
            key = futures[future]
            try:
                done[key] = future.result()
            except (InputError, RunError) as error:
                failed[key] = type(error)(f"{called(key)}: {error}")
            if progress is not None:
                progress(count)
    finally:
        # After an interrupt, wait for running jobs; each takes seconds.
        pool.shutdown(wait=True, cancel_futures=True)
    return done, failed


def fault(faults: Sequence[Fault]) -> tuple[list[str], Fault] | None:
    """Returns the lines for all faults but the last, and the last one, whose type is that of the first."""
    if not faults:
        return None
    lines = [" ".join(str(one).split()) for one in faults]
    return lines[:-1], type(faults[0])(lines[-1])
