"""An engine process: reads requests from standard input and writes answers to standard output.

A message is its length in eight bytes, big-endian, followed by the body. The first byte of an answer is 0 on
success.
"""

import contextlib
import math
import os
import sys
import time
from typing import IO

from stillair import _native
from stillair.text import signals

try:
    import resource
except ImportError:  # not a Unix
    resource = None  # type: ignore[assignment]

_GRACE_S = 5.0
"""Grace period in which the server can end a request with a message."""


def main() -> None:
    """Answers requests until standard input ends."""
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    _limit_memory(memory)
    # The server normally ends slow requests, but it may be killed itself.
    signals.with_parent()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while (request := receive(requests)) is not None:
        _limit_time(seconds)
        good, answer = _native.ask(request.decode())
        send(answers, bytes([0 if good else 1]) + answer)


def _limit_memory(memory: int) -> None:
    if resource is None:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _limit_time(seconds: float) -> None:
    """Sets the CPU limit for the next request: its time limit on all processors."""
    if resource is None:
        return
    most = time.process_time() + (seconds + _GRACE_S) * (os.cpu_count() or 1)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(most), resource.getrlimit(resource.RLIMIT_CPU)[1]))


def send(out: IO[bytes], message: bytes) -> None:
    """Writes a message."""
    out.write(len(message).to_bytes(8, "big") + message)
    out.flush()


def receive(source: IO[bytes]) -> bytes | None:
    """Reads a message; `None` at the end of the input."""
    head = source.read(8)
    if len(head) < 8:
        return None
    length = int.from_bytes(head, "big")
    message = source.read(length)
    return message if len(message) == length else None


if __name__ == "__main__":
    main()
