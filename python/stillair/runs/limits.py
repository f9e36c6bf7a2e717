"""The numbers that the engine can be asked for, and the memory and space that the machine has."""

import os
import shutil
from pathlib import Path

from stillair._native import InputError

LARGEST_RUN = 2**32 - 2
"""The highest number of a run."""
LARGEST_SEED = 2**64 - 1
MOST_JOBS = 1024

_CGROUP = Path("/sys/fs/cgroup/memory.max")


def memory() -> int:
    """Bytes of memory that this process may have: of the machine, of its container, and by ulimit."""
    found = [1 << 63]
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        pass
    try:
        # "max" in a container without a limit.
        found.append(int(_CGROUP.read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    try:
        import resource  # noqa: PLC0415 - not on Windows

        of = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
        found += [limit for limit in of if limit != resource.RLIM_INFINITY]
    except (ImportError, ValueError, OSError):
        pass
    return min(found)


def check_run(what: str, least: int) -> None:
    """An `InputError` if a run of `what`, which needs at least so many bytes, cannot fit into memory."""
    if least > memory():
        raise InputError(
            f"{what}: a run needs at least {size(least)} of memory, and there are {size(memory())};"
            " shorten the run, lengthen the intervals of [record], or take fewer stations"
        )


def check_memory(runs: int, each: int) -> None:
    """An `InputError` if means over so many runs, of so many bytes each, cannot fit into memory."""
    if runs * each > memory():
        raise InputError(
            f"runs: found {runs}, whose numbers need about {size(runs * each)} of memory, and there are"
            f" {size(memory())}; expected at most {memory() // each}"
        )


def check_disk(folder: Path, runs: int, each: int) -> None:
    """An `InputError` if so many further runs, of so many bytes each, do not fit on the disk."""
    free = shutil.disk_usage(folder).free
    if runs * each > free:
        raise InputError(
            f"runs: found {runs} more to keep in {folder.parent}, which need about {size(runs * each)} on disk, and"
            f" {size(free)} are free; expected at most {free // each}"
        )


def size(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
