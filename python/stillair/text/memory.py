"""Memory available to this process, and sizes in words."""

import os
from contextlib import suppress
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


def available() -> int:
    """Memory available to this process in bytes, limited by the machine, the container, and ulimit."""
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
    """Limits of this process's control groups, as set by a container or batch system (cgroup v2)."""
    found = []
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            if line.startswith("0::/"):
                own = _GROUPS / line.removeprefix("0::/")
                for group in (own, *own.parents[: len(own.parts) - len(_GROUPS.parts)]):
                    # "max" means no limit; the file is missing outside of a container's subtree.
                    with suppress(OSError, ValueError):
                        found.append(int((group / "memory.max").read_text(encoding="ascii")))
    return found


def size(count: int) -> str:
    """Formats a size."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
