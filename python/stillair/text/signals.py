"""Ends of a process: signals end every command in the same way, and a helper process ends with its parent."""

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
    """SIGTERM or SIGHUP: whatever catches Ctrl-C to keep finished work catches these as well."""

    def __init__(self, number: int) -> None:
        """`number` is the signal's."""
        super().__init__()
        self.number = number


class Status(int):
    """The exit status of a command that a signal ended; no other status is of this type."""


def status(error: KeyboardInterrupt) -> Status:
    """The exit status after a signal: 128 plus its number, as in shells."""
    return Status(128 + error.number if isinstance(error, Ended) else INTERRUPTED)


def said(code: int) -> str:
    """The words for such a status."""
    names = {128 + number: f"ended by {signal.Signals(number).name}" for number in _OTHERS}
    return names.get(code, "interrupted")


class _Handler:
    """Raises the exception of a signal, or holds it back until a block has ended."""

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
            # Once: a second one does not cut off the clean-up after the first.
            self._ending = True
            raise Ended(number)


_handler: _Handler | None = None


@contextmanager
def by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise `Ended` in this block, and all signals wait for the end of `held_back`.

    Signals that the process was started to ignore, as under nohup, stay ignored. Only the main thread can do this.
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
    """Lets no signal end this block in the middle, such as between the files of one run."""
    handler = _handler
    if handler is None:
        yield
        return
    handler.depth += 1
    try:
        yield
    finally:
        handler.depth -= 1
        # Also if the block fails: its error stays the context of the signal's exception.
        if handler.depth == 0 and handler.pending is not None:
            number, handler.pending = handler.pending, None
            handler(number, None)


def with_parent() -> None:
    """Ends this process as soon as the other end of its standard input is closed, even in the middle of work.

    The kernel closes the parent's end however the parent dies, so nothing survives `kill -9` of the parent.
    """
    if not hasattr(select, "poll"):
        # Windows. The process still ends when it next reads its input.
        return
    hangs_up = select.poll()
    # No events: a hang-up is reported anyway, and requests are not.
    hangs_up.register(sys.stdin.fileno(), 0)

    def wait() -> None:
        hangs_up.poll()
        os._exit(1)

    threading.Thread(target=wait, name="stillair-parent", daemon=True).start()
