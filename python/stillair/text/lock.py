"""Folder locks: only one process writes a result to a folder at a time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stillair._native import InputError

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]


@contextmanager
def held(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Locks an existing folder. Raises `InputError` if another process, or this one, holds it already.

    Several `shared` holders may coexist, and exclude an exclusive one.

    The lock is on the folder itself, so no lock file remains, and it ends with the process.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems have no locks: continue as if the folder were free.
        with suppress(OSError):
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"{folder}: another run is writing its result there; wait for it, or give another folder with -o"
                ) from None
        yield
    finally:
        os.close(handle)
