"""Programs that a build starts: neither they nor what they start outlives it."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO


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
