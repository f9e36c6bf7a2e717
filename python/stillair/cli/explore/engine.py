"""A process with the engine in it: requests come in on standard input, answers go out on standard output.

Each is its length in eight bytes, the highest first, and as many bytes. An answer begins with a byte that is 0 if it is
what was asked for.
"""

import contextlib
import sys
from typing import IO

from stillair import _native


def main() -> None:
    """Answers until standard input ends."""
    _limit(int(sys.argv[1]))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while (request := receive(requests)) is not None:
        good, answer = _native.ask(request.decode())
        send(answers, bytes([0 if good else 1]) + answer)


def _limit(memory: int) -> None:
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def send(out: IO[bytes], message: bytes) -> None:
    """Writes a message."""
    out.write(len(message).to_bytes(8, "big") + message)
    out.flush()


def receive(source: IO[bytes]) -> bytes | None:
    """Reads a message; none if there is no whole one any more."""
    head = source.read(8)
    if len(head) < 8:
        return None
    length = int.from_bytes(head, "big")
    message = source.read(length)
    return message if len(message) == length else None


if __name__ == "__main__":
    main()
