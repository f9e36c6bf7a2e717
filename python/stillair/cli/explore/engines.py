"""A pool of engine processes with a limit of concurrent requests, and time and memory limits for each."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from stillair.cli.explore import engine

PATIENCE_S = 0.05


class Limits(NamedTuple):
    """Limits of requests."""

    seconds: float = 60.0
    memory: int = 4 << 30
    """Per process, in bytes."""
    at_once: int = 2
    waiting: int = 64


class Refused(Exception):  # noqa: N818 - reported to the page
    """The request was refused."""

    def __init__(self, kind: str, message: str) -> None:
        """Takes the page's error kind, and the message."""
        super().__init__(message)
        self.kind = kind


class Gone(Exception):  # noqa: N818 - nobody is told
    """The client disconnected."""


class _Process:
    def __init__(self, limits: Limits) -> None:
        command = [sys.executable, "-m", "stillair.cli.explore.engine", str(limits.memory), str(limits.seconds)]
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter, and a number
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, request: bytes) -> bytes | None:
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            return None
        try:
            engine.send(stdin, request)
            return engine.receive(stdout)
        except OSError:
            return None

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


class Engines:
    """Processes that are reused between requests.

    A process whose request takes too long is killed and replaced.
    """

    def __init__(self, limits: Limits) -> None:
        """Starts one process per concurrent request, and a spare one."""
        self._limits = limits
        self._free = threading.Semaphore(limits.at_once)
        self._lock = threading.Lock()
        self._waiting = 0
        self._closed = False
        self._idle = [_Process(limits) for _ in range(limits.at_once + 1)]

    def ask(self, request: bytes, goes_on: Callable[[], bool]) -> tuple[bool, bytes]:
        """Returns the answer, and whether the request succeeded.

        `goes_on` reports whether the client still waits.
        """
        with self._lock:
            if self._waiting >= self._limits.waiting:
                raise Refused("limit", f"{self._waiting} requests are waiting already: try again")
            self._waiting += 1
        try:
            while not self._free.acquire(timeout=PATIENCE_S):
                if not goes_on():
                    raise Gone
        finally:
            with self._lock:
                self._waiting -= 1
        try:
            return self._answer(request, goes_on)
        finally:
            self._free.release()

    def _answer(self, request: bytes, goes_on: Callable[[], bool]) -> tuple[bool, bytes]:
        with self._lock:
            process = self._idle.pop() if self._idle else _Process(self._limits)
        answers: list[bytes | None] = []
        asker = threading.Thread(target=lambda: answers.append(process.ask(request)), daemon=True)
        asker.start()
        until = time.monotonic() + self._limits.seconds
        answer: bytes | None = None
        why: Refused | Gone | None = None
        while why is None:
            asker.join(PATIENCE_S)
            if not asker.is_alive():
                answer = answers[0] if answers else None
                break
            if not goes_on():
                why = Gone()
            elif time.monotonic() > until:
                why = Refused("limit", f"this took more than {self._limits.seconds:g} s and was stopped")
        if answer:
            self._keep(process)
            return answer[0] == 0, answer[1:]
        process.end()
        self._keep(None)
        gibibytes = self._limits.memory / (1 << 30)
        raise why or Refused(
            "broken", f"the engine ended without an answer: perhaps it needed more than {gibibytes:g} GiB"
        )

    def _keep(self, process: _Process | None) -> None:
        """Returns a process to the pool, or replaces a killed one."""
        with self._lock:
            if self._closed:
                if process:
                    process.end()
                return
            self._idle.append(process or _Process(self._limits))

    def close(self) -> None:
        """Ends all idle processes."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()
