"""The numbers that the engine can be asked for, and the memory and space that the machine has."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from stillair._native import InputError

LARGEST_RUN = 2**32 - 2
"""The highest number of a run."""
LARGEST_SEED = 2**63 - 1
"""As in a scenario file: integers of TOML have 63 bits and a sign."""
MOST_JOBS = 1024

_GROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """Bytes of memory that this process may have: of the machine, of its container, and by ulimit."""
    found = [1 << 63]
    with suppress(ValueError, OSError, AttributeError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    found += _of_groups()
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on Windows

        of = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
        found += [limit for limit in of if limit != resource.RLIM_INFINITY]
    return min(found)


def _of_groups() -> list[int]:
    """Limits of the control groups that this process is in, as a container or a batch system sets them (cgroup v2)."""
    found = []
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            if line.startswith("0::/"):
                own = _GROUPS / line.removeprefix("0::/")
                for group in (own, *own.parents[: len(own.parts) - len(_GROUPS.parts)]):
                    # "max" without a limit; no file outside a container's own part of the tree.
                    with suppress(OSError, ValueError):
                        found.append(int((group / "memory.max").read_text(encoding="ascii")))
    return found


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
