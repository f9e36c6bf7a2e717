"""A Wi-Fi path inside the tests of a transport: in virtual time, without I/O, the same packets for the same seed.

>>> from stillair.link import Link, Packet
>>> link = Link.preset("home-80211ac-far", seed=1)
>>> _ = link.send(5_000_000, "client", "server", b"hello", ecn=2)
>>> packet = link.poll(1_000_000_000)
>>> assert isinstance(packet, Packet) and (packet.to, packet.payload) == ("server", b"hello")
>>> assert 1_000_000 < packet.delay < 100_000_000
>>> seen = link.finish()  # accounts close, or it is an error
>>> seen["hosts"]["client"]["from"]["packets"]
1

Times are whole nanoseconds since the link began. Who drives a link polls it with the time of its own next timer.
The link goes on until then, or until a packet arrives before: the answer can be sent at the instant at which it came.
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
    """A path that is shipped: its scenario, what it is, its sources, and what it must not be used for."""

    name: str
    text: str
    about: str
    sources: str
    not_for: str


class Sent(NamedTuple):
    """A datagram that was sent: the first of a host has the number 1; `queue` is "queued", "congested" or "dropped"."""

    number: int
    queue: str


class Packet(NamedTuple):
    """A datagram that has arrived. Queues may have set `ecn` to 3. One that is `together` came with the one before."""

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
        """How long it was under way, in nanoseconds, its host's queue included."""
        return self.at - self.sent


class Writable(NamedTuple):
    """An endpoint whose socket was full may send again."""

    endpoint: str


class Wait(NamedTuple):
    """Nothing happened until the given time; nothing happens before `next` unless something is sent. None: never."""

    next: int | None


def presets() -> list[Preset]:
    """All presets, in the order of their names."""
    return [Preset(*preset) for preset in _native.link_presets()]


class Link:
    """A path between endpoints. Wrong input raises `stillair.InputError` or `ValueError`."""

    def __init__(self, scenario: str | Path, *, seed: int = 1, overrides: Mapping[str, str] | None = None) -> None:
        """A link over a scenario, as `stillair.Scenario` takes it: the path of a file, its name, or its text.

        At least two of its nodes are `host = "external"`: the link's endpoints.
        """
        found = Scenario(scenario)
        self._begin(_native.Link(found.text, found.file, list((overrides or {}).items()), seed))

    @classmethod
    def preset(cls, name: str, *, seed: int = 1, overrides: Mapping[str, str] | None = None) -> Self:
        """A link over a preset; `overrides` sets keys of its scenario, as `--set` does."""
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
        """The link's time."""
        return self._link.now

    @property
    def max_payload(self) -> int:
        """The largest payload of a datagram, in bytes."""
        return self._link.max_payload

    def limit(self, endpoint: str, limit: int, resume: int) -> None:
        """Makes an endpoint one socket: with `limit` bytes below it is full, below `resume` it may send again."""
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
        """Sends a datagram of UDP; none if the endpoint's socket is full."""
        ends = (self._number(source), self._number(to))
        sent = self._link.send(now, ends, ports, payload, (ecn, dscp))
        return sent and Sent(*sent)

    def poll(self, until: int) -> Packet | Writable | Wait:
        """Goes on until a time, or until something happens before."""
        came, writable, following = self._link.poll(until)
        if came is not None:
            at, sent, source, to, ports, number, ecn, dscp, together, payload = came
            ends = (self.endpoints[source], self.endpoints[to])
            return Packet(at, sent, *ends, ports, number, ecn, dscp, together, payload)
        return Wait(following) if writable is None else Writable(self.endpoints[writable])

    def finish(self) -> dict[str, Any]:
        """Ends the link. What was seen of it, as a run's result has it: delays, drops, airtime, aggregates."""
        seen: dict[str, Any] = json.loads(self._link.finish())
        return seen


class Verdict(NamedTuple):
    """What became of a budget: `holds` unless a limit is broken.

    A table, Markdown, JUnit's XML, and what was measured as a baseline.
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
        """A link to run the transport over."""
        return Link._of(self.budget._read.link(self.path, self.seed))

    def measured(self, **metrics: float) -> tuple[str, int, list[tuple[str, float]]]:
        """What was measured in it, by the names of the metrics."""
        return (self.path, self.seed, list(metrics.items()))


class Budget:
    r"""Limits of metrics on paths, from a file; `stillair budget` and tests judge by it.

    >>> budget = Budget("seeds = 3\n[path.vdsl-40-10]\ndelay_p99_ms = { at_most = 60.0 }")
    >>> runs = [case.measured(delay_p99_ms=float(case.seed)) for case in budget.cases]
    >>> budget.judge(runs).holds
    True
    """

    def __init__(self, budget: str | Path) -> None:
        """Reads the path of a file, or its text (anything with a line break in it)."""
        found = Scenario(budget)
        self._read = _native.Budget(found.text, found.file)

    @property
    def command(self) -> list[str]:
        """What `stillair budget` runs for each case."""
        return self._read.command

    @property
    def cases(self) -> list[Case]:
        """All runs: each path with each seed."""
        return [Case(self, path, seed) for path, seed in self._read.cases]

    def case(self, path: str, seed: int) -> Case:
        """One of them; what `stillair budget` runs finds its own in STILLAIR_PATH and STILLAIR_SEED."""
        return Case(self, path, seed)

    def judge(self, measured: list[tuple[str, int, list[tuple[str, float]]]], baseline: Path | None = None) -> Verdict:
        """Judges what was measured of all cases, beside a kept baseline."""
        before = None if baseline is None else (_baseline(baseline), str(baseline))
        return Verdict(*self._read.judge(measured, before))


def _baseline(path: Path) -> str:
    try:
        return source.text(path, "a baseline")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; --keep writes it") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8, expected a baseline as --keep writes it") from None
