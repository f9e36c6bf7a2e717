"""Child processes of a build. They and their descendants are killed when the build ends."""

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
    """Starts a program in its own process group, which is killed if the block raises."""
    with subprocess.Popen(  # noqa: S603 - our own arguments
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
    """Runs a program to its end and returns its output."""
    with started(words, cwd=cwd, env=env, stdin=stdin, stderr=subprocess.PIPE) as made:
        said, errors = made.communicate()
    return subprocess.CompletedProcess(list(words), made.returncode, said, errors)
