"""Process termination: every command handles signals alike, and helper processes end with their parent."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 128 + signal.SIGINT
"""Exit status after Ctrl-C, as in shells."""

# Windows has no SIGHUP.
_OTHERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(KeyboardInterrupt):
    """Raised on SIGTERM or SIGHUP.

    A subclass, so that code that catches Ctrl-C to keep finished work catches it too.
    """

    def __init__(self, number: int) -> None:
        """`number` is the signal number."""
        super().__init__()
        self.number = number


class Status(int):
    """Exit status of a command that was ended by a signal, as a distinct type."""


def status(error: KeyboardInterrupt) -> Status:
    """Returns the exit status for a signal: 128 plus its number, as in shells."""
    return Status(128 + error.number if isinstance(error, Ended) else INTERRUPTED)


def said(code: int) -> str:
    """Describes such a status."""
    names = {128 + number: f"ended by {signal.Signals(number).name}" for number in _OTHERS}
    return names.get(code, "interrupted")


class _Handler:
    """Raises the exception of a signal, or defers it to the end of a block."""

    def __init__(self) -> None:
        self.depth = 0
        self.pending: int | None = None
        self._ending = False

    def __call__(self, number: int, _: FrameType | None) -> None:
        if self.depth:
            self.pending = self.pending or number
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        elif not self._ending:
            # Only once: a second signal must not interrupt the clean-up after the first.
            self._ending = True
            raise Ended(number)


_handler: _Handler | None = None


@contextmanager
def by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise `Ended` in this block, and lets `held_back` defer all signals.

    Signals that were ignored at the start, as under nohup, stay ignored. Only works in the main thread.
    """
    global _handler  # noqa: PLW0603 - signals are the process's
    if _handler is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    _handler = _Handler()
    had = {}
    for one, usual in ((signal.SIGINT, signal.default_int_handler), *((one, signal.SIG_DFL) for one in _OTHERS)):
        if signal.getsignal(one) == usual:
            had[one] = signal.signal(one, _handler)
    try:
        yield
    finally:
        for one, before in had.items():
            signal.signal(one, before)
        _handler = None


@contextmanager
def held_back() -> Iterator[None]:
    """Defers signals to the end of this block, for instance while the files of a run are written."""
    handler = _handler
    if handler is None:
        yield
        return
    handler.depth += 1
    try:
        yield
    finally:
        handler.depth -= 1
        # Also if the block fails; its error becomes the context of the signal's exception.
        if handler.depth == 0 and handler.pending is not None:
            number, handler.pending = handler.pending, None
            handler(number, None)


def with_parent() -> None:
    """Ends this process as soon as the other end of its standard input is closed, even during work.

    The kernel closes the parent's end however the parent dies, so this process does not survive `kill -9` of
    its parent.
    """
    if not hasattr(select, "poll"):
        # On Windows, the process ends when it next reads its input.
        return
    hangs_up = select.poll()
    # Without events, poll still reports a hang-up, but ignores requests.
    hangs_up.register(sys.stdin.fileno(), 0)

    def wait() -> None:
        hangs_up.poll()
        os._exit(1)

    threading.Thread(target=wait, name="stillair-parent", daemon=True).start()
