"""A Wi-Fi path inside a transport's tests: virtual time, no I/O, the same packets for the same seed.

>>> from stillair.link import Link, Packet
>>> link = Link.preset("home-80211ac-far", seed=1)
>>> _ = link.send(5_000_000, "client", "server", b"hello", ecn=2)
>>> packet = link.poll(1_000_000_000)
>>> assert isinstance(packet, Packet) and (packet.to, packet.payload) == ("server", b"hello")
>>> assert 1_000_000 < packet.delay < 100_000_000
>>> seen = link.finish()  # raises an error if packets are unaccounted for
>>> seen["hosts"]["client"]["from"]["packets"]
1

Times are integer nanoseconds since the link's start. The driver polls the link with the time of its own next
timer. `poll` returns earlier if a packet arrives, so that the driver can answer at the time of arrival.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from stillair import _native
from stillair._native import InputError
from stillair.runs.scenario import Scenario
from stillair.text import source

__all__ = ["Budget", "Case", "Link", "Packet", "Preset", "Sent", "Verdict", "Wait", "Writable", "presets"]


class Preset(NamedTuple):
    """A bundled path: its scenario, a description, its sources, and what it must not be used for."""

    name: str
    text: str
    about: str
    sources: str
    not_for: str


class Sent(NamedTuple):
    """A sent datagram. Numbers start at 1 for each host; `queue` is "queued", "congested" or "dropped"."""

    number: int
    queue: str


class Packet(NamedTuple):
    """A received datagram. Queues may have set `ecn` to 3. `together`: it arrived with the previous one."""

    at: int
    sent: int
    source: str
    to: str
    ports: tuple[int, int]
    number: int
    ecn: int
    dscp: int
    together: bool
    payload: bytes

    @property
    def delay(self) -> int:
        """Time from `send` to arrival in nanoseconds, including the host's queue."""
        return self.at - self.sent


class Writable(NamedTuple):
    """An endpoint whose socket was full can send again."""

    endpoint: str


class Wait(NamedTuple):
    """Nothing happened until the given time.

    Without a send, the next event is at `next`; `None` if there is none.
    """

    next: int | None


def presets() -> list[Preset]:
    """Returns all presets, by name."""
    return [Preset(*preset) for preset in _native.link_presets()]


class Link:
    """A path between endpoints. Wrong input raises `stillair.InputError` or `ValueError`."""

    def __init__(self, scenario: str | Path, *, seed: int = 1, overrides: Mapping[str, str] | None = None) -> None:
        """Creates a link from a scenario given like `stillair.Scenario`: a path, a name, or text.

        At least two nodes must have `host = "external"`; they are the link's endpoints.
        """
        found = Scenario(scenario)
        self._begin(_native.Link(found.text, found.file, list((overrides or {}).items()), seed))

    @classmethod
    def preset(cls, name: str, *, seed: int = 1, overrides: Mapping[str, str] | None = None) -> Self:
        """Creates a link from a preset. `overrides` sets scenario keys, like `--set`."""
        return cls._of(_native.Link(None, name, list((overrides or {}).items()), seed))

    @classmethod
    def _of(cls, link: _native.Link) -> Self:
        self = cls.__new__(cls)
        self._begin(link)
        return self

    def _begin(self, link: _native.Link) -> None:
        self._link = link
        self.endpoints = self._link.endpoints
        self._numbers = {name: number for number, name in enumerate(self.endpoints)}

    def _number(self, endpoint: str) -> int:
        if endpoint not in self._numbers:
            raise ValueError(f"the path has no endpoint {endpoint!r}, expected one of {', '.join(self.endpoints)}")
        return self._numbers[endpoint]

    @property
    def now(self) -> int:
        """Current time of the link."""
        return self._link.now

    @property
    def max_payload(self) -> int:
        """Largest payload of a datagram, in bytes."""
        return self._link.max_payload

    def limit(self, endpoint: str, limit: int, resume: int) -> None:
        """Limits an endpoint's socket: full at `limit` bytes, writable again below `resume`."""
        if not self._link.limit(self._number(endpoint), limit, resume):
            raise ValueError("the link has been used")

    def send(
        self,
        now: int,
        source: str,
        to: str,
        payload: bytes,
        *,
        ecn: int = 0,
        dscp: int = 0,
        ports: tuple[int, int] = (49_152, 443),
    ) -> Sent | None:
        """Sends a UDP datagram. Returns `None` if the endpoint's socket is full."""
        ends = (self._number(source), self._number(to))
        sent = self._link.send(now, ends, ports, payload, (ecn, dscp))
        return sent and Sent(*sent)

    def poll(self, until: int) -> Packet | Writable | Wait:
        """Advances to a time, or to the first event before it."""
        came, writable, following = self._link.poll(until)
        if came is not None:
            at, sent, source, to, ports, number, ecn, dscp, together, payload = came
            ends = (self.endpoints[source], self.endpoints[to])
            return Packet(at, sent, *ends, ports, number, ecn, dscp, together, payload)
        return Wait(following) if writable is None else Writable(self.endpoints[writable])

    def finish(self) -> dict[str, Any]:
        """Ends the link.

        Returns its measurements as in a run's result: delays, drops, airtime, aggregates.
        """
        seen: dict[str, Any] = json.loads(self._link.finish())
        return seen


class Verdict(NamedTuple):
    """Outcome of a budget: `holds` is false if a limit is broken.

    Contains a table, Markdown, JUnit XML, and the measurements to keep as a baseline.
    """

    holds: bool
    text: str
    markdown: str
    junit: str
    baseline: str


class Case(NamedTuple):
    """A path of a budget with a seed: one run of the transport."""

    budget: "Budget"
    path: str
    seed: int

    def link(self) -> Link:
        """Returns a link to run the transport over."""
        return Link._of(self.budget._read.link(self.path, self.seed))

    def measured(self, **metrics: float) -> tuple[str, int, list[tuple[str, float]]]:
        """Returns the case's measurements, named after the metrics."""
        return (self.path, self.seed, list(metrics.items()))


class Budget:
    r"""Limits of metrics on paths, from a file, for `stillair budget` and for tests.

    >>> budget = Budget("seeds = 3\n[path.vdsl-40-10]\ndelay_p99_ms = { at_most = 60.0 }")
    >>> runs = [case.measured(delay_p99_ms=float(case.seed)) for case in budget.cases]
    >>> budget.judge(runs).holds
    True
    """

    def __init__(self, budget: str | Path) -> None:
        """Reads a file, or the text itself if it contains a line break."""
        found = Scenario(budget)
        self._read = _native.Budget(found.text, found.file)

    @property
    def command(self) -> list[str]:
        """The command that `stillair budget` runs for each case."""
        return self._read.command

    @property
    def cases(self) -> list[Case]:
        """All cases: each path with each seed."""
        return [Case(self, path, seed) for path, seed in self._read.cases]

    def case(self, path: str, seed: int) -> Case:
        """Returns a single case. Under `stillair budget`, STILLAIR_PATH and STILLAIR_SEED name it."""
        return Case(self, path, seed)

    def judge(self, measured: list[tuple[str, int, list[tuple[str, float]]]], baseline: Path | None = None) -> Verdict:
        """Checks the measurements of all cases, also against a kept baseline."""
        before = None if baseline is None else (_baseline(baseline), str(baseline))
        return Verdict(*self._read.judge(measured, before))


def _baseline(path: Path) -> str:
    try:
        return source.text(path, "a baseline")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; --keep writes it") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8, expected a baseline as --keep writes it") from None
