"""Every exchange on the air in a part of a run, as `[record] air` asks for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair._native import InputError

Run = Mapping[str, Any]

COLUMNS = (
    "start_ns", "airtime_ns", "end_ns", "from", "to", "ac", "kind", "frames", "received", "attempt", "collided",
    "acknowledged",
)  # fmt: skip

# From the end of a PPDU to its acknowledgement.
# spec: 802.11 10.3.2.3 - 16 us at 5 GHz; at 2.4 GHz 10 us, after a signal extension of 6 us behind HT frames.
_SIFS_NS = 16_000


class Exchange(NamedTuple):
    """One try of a PPDU and the time of its acknowledgement."""

    start_ns: int
    airtime_ns: int
    """Of the PPDU alone."""
    end_ns: int
    """The acknowledgement is over, or where none came the time in which it could have begun."""
    sender: str
    receiver: str
    """Empty for a beacon."""
    ac: str
    kind: str
    """`single`, `aggregate`, `bar`, `management` or `beacon`."""
    frames: int
    received: int
    attempt: int
    """Number of the try, from 0."""
    collided: bool
    acknowledged: bool

    def answer_ns(self) -> tuple[int, int] | None:
        """Beginning and end of the acknowledgement, if there was one."""
        begin = self.start_ns + self.airtime_ns + _SIFS_NS
        return (begin, self.end_ns) if self.acknowledged and self.kind != "beacon" and begin < self.end_ns else None


class Exchanges(NamedTuple):
    """The exchanges that began in a part of a run, in the order in which they ended."""

    from_ns: int
    until_ns: int
    access_points: list[str]
    stations: list[str]
    all: list[Exchange]


def of_run(run: Run) -> Exchanges | None:
    """The exchanges of a run; none if its scenario did not ask for them."""
    data = run.get("exchanges")
    if data is None:
        return None
    try:
        names, is_ap = data["interfaces"], data["access_points"]
        rows = zip(*(data[column] for column in COLUMNS), strict=True)
        found = [
            Exchange(start, airtime, end, names[sender], "" if to is None else names[to], *rest)
            for start, airtime, end, sender, to, *rest in rows
        ]
        aps = [name for name, ap in zip(names, is_ap, strict=True) if ap]
        stations = [name for name, ap in zip(names, is_ap, strict=True) if not ap]
        return Exchanges(data["from_ns"], data["until_ns"], aps, stations, found)
    except (KeyError, IndexError, TypeError, ValueError):
        raise InputError("exchanges: they do not have the shape that this program writes") from None


def rows(scenario: str, runs: Sequence[Run]) -> Iterator[list[Any]]:
    """Lines of the table of exchanges; truths are numbers."""
    for run in runs:
        found = of_run(run)
        for exchange in found.all if found else ():
            plain = (int(value) if isinstance(value, bool) else value for value in exchange)
            yield [run["run"], scenario, run["seed"], *plain]
