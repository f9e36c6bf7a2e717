"""One at a time in a folder: who writes a result there keeps everybody else out until it is done."""

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
    """Holds a folder that exists; an `InputError` if another process, or this one, holds it already.

    Those that hold it `shared` do so side by side, and keep out who wants it alone.

    The folder itself is locked, so nothing is left behind in it, and the lock ends with its process however that ends.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems know no locks: there it is as if nobody else were at work.
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
