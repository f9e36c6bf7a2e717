"""Exchanges on the air in a part of a run, recorded with `[record] air`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.text import shape

Run = Mapping[str, Any]

COLUMNS = (
    "start_ns", "airtime_ns", "end_ns", "from", "to", "ac", "kind", "frames", "received", "attempt", "collided",
    "acknowledged",
)  # fmt: skip

# Time from the end of a PPDU to its acknowledgement. spec: 802.11 10.3.2.3 - 16 us at 5 GHz; at 2.4 GHz 10
# us, after a signal extension of 6 us behind HT frames.
_SIFS_NS = 16_000


_COLUMNS = shape.columns(
    {
        **dict.fromkeys(("start_ns", "airtime_ns", "end_ns", "from", "frames", "received", "attempt"), shape.whole()),
        "to": shape.maybe(shape.whole()),
        **dict.fromkeys(("ac", "kind"), shape.text),
        **dict.fromkeys(("collided", "acknowledged"), shape.truth),
    },
)

_NAMES = shape.both(
    shape.record(dict.fromkeys(("from_ns", "until_ns"), shape.whole()), rest=shape.unread),
    shape.columns({"interfaces": shape.text, "access_points": shape.truth, "channels": shape.text}, rest=shape.unread),
)


def fits(value: Any) -> None:  # noqa: ANN401 - a mapping once it has the first two shapes
    """Checks a run's exchanges: columns of equal length, and interface numbers within range."""
    shape.both(_COLUMNS, _NAMES)(value)
    names = len(value["interfaces"])
    for key in ("from", "to"):
        for at, number in enumerate(value[key]):
            if number is not None and number >= names:
                raise shape.Misfit(f"{number}", f"a number below {names}, one for each of interfaces", key, at)


class Exchange(NamedTuple):
    """One transmission of a PPDU with its acknowledgement."""

    start_ns: int
    airtime_ns: int
    """Airtime of the PPDU alone."""
    end_ns: int
    """End of the acknowledgement, or of the time in which it could have started."""
    sender: str
    receiver: str
    """Empty for a beacon."""
    ac: str
    kind: str
    """`single`, `aggregate`, `bar`, `management` or `beacon`."""
    frames: int
    received: int
    attempt: int
    """Number of the attempt, from 0."""
    collided: bool
    acknowledged: bool
    channel: str

    def answer_ns(self) -> tuple[int, int] | None:
        """Start and end of the acknowledgement, or `None`."""
        begin = self.start_ns + self.airtime_ns + _SIFS_NS
        return (begin, self.end_ns) if self.acknowledged and self.kind != "beacon" and begin < self.end_ns else None


class Exchanges(NamedTuple):
    """Exchanges that started in a part of a run, in the order of their ends."""

    from_ns: int
    until_ns: int
    access_points: list[str]
    stations: list[str]
    all: list[Exchange]


def of_run(run: Run) -> Exchanges | None:
    """Returns the exchanges of a run; `None` if the scenario did not record them."""
    data = run.get("exchanges")
    if data is None:
        return None
    shape.check(data, fits, "run", "exchanges")
    names, is_ap, channels = data["interfaces"], data["access_points"], data["channels"]
    rows = zip(*(data[column] for column in COLUMNS), strict=True)
    found = [
        Exchange._make((start, airtime, end, names[sender], "" if to is None else names[to], *rest, channels[sender]))
        for start, airtime, end, sender, to, *rest in rows
    ]
    aps = [name for name, ap in zip(names, is_ap, strict=True) if ap]
    stations = [name for name, ap in zip(names, is_ap, strict=True) if not ap]
    return Exchanges(data["from_ns"], data["until_ns"], aps, stations, found)


def rows(scenario: str, runs: Sequence[Run]) -> Iterator[list[Any]]:
    """Rows of the exchange table; booleans become numbers."""
    for run in runs:
        found = of_run(run)
        for exchange in found.all if found else ():
            plain = (int(value) if isinstance(value, bool) else value for value in exchange)
            yield [run["run"], scenario, run["seed"], *plain]
