"""Programs that a build starts: neither they nor what they start outlives it."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def started(
    words: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: IO[str] | None = None,
    stderr: int | None = None,
) -> Iterator["subprocess.Popen[str]"]:
    """A program whose output is read, in a group of its own that is killed if this block ends by an exception."""
    with subprocess.Popen(  # noqa: S603 - our own words
        words, start_new_session=True, text=True, cwd=cwd, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr
    ) as made:
        try:
            yield made
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(made.pid, signal.SIGKILL)
            raise


def done(
    words: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: IO[str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """A program that has come to its end, and what it said."""
    with started(words, cwd=cwd, env=env, stdin=stdin, stderr=subprocess.PIPE) as made:
        said, errors = made.communicate()
    return subprocess.CompletedProcess(list(words), made.returncode, said, errors)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Lets SIGINT, SIGTERM and SIGHUP end this block by an exception, so that it clears away, once."""

    def end(number: int, _: FrameType | None) -> None:
        for one in _ENDING:
            signal.signal(one, signal.SIG_IGN)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    try:
        had = {one: signal.signal(one, end) for one in _ENDING}
    except ValueError:
        # In another thread than the first nobody can be told of signals.
        yield
        return
    try:
        yield
    finally:
        for one, before in had.items():
            signal.signal(one, before)
