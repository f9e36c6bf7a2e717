"""Limits of arguments, and of the machine's memory and disk space."""

import shutil
from pathlib import Path

from stillair._native import InputError
from stillair.text.memory import available as memory
from stillair.text.memory import size

__all__ = ("LARGEST_RUN", "LARGEST_SEED", "MOST_JOBS", "check_disk", "check_memory", "check_run", "memory", "size")

LARGEST_RUN = 2**32 - 2
"""Highest run number."""
LARGEST_SEED = 2**63 - 1
"""As in a scenario file: TOML integers have 63 bits and a sign."""
MOST_JOBS = 1024


def check_run(what: str, least: int) -> None:
    """Raises `InputError` if a run of `what`, which needs at least `least` bytes, does not fit into memory."""
    if least > memory():
        raise InputError(
            f"{what}: a run needs at least {size(least)} of memory, and {size(memory())} are available;"
            " shorten the run, lengthen the intervals of [record], or take fewer stations"
        )


def check_memory(runs: int, each: int) -> None:
    """Raises `InputError` if means over `runs` runs, of `each` bytes per run, do not fit into memory."""
    if runs * each > memory():
        raise InputError(
            f"runs: found {runs}, whose numbers need about {size(runs * each)} of memory, and"
            f" {size(memory())} are available; expected at most {memory() // each}"
        )


def check_disk(folder: Path, runs: int, each: int) -> None:
    """Raises `InputError` if `runs` further runs, of `each` bytes, do not fit on the disk."""
    free = shutil.disk_usage(folder).free
    if runs * each > free:
        raise InputError(
            f"runs: found {runs} more to keep in {folder.parent}, which need about {size(runs * each)} on disk, and"
            f" {size(free)} are free; expected at most {free // each}"
        )
