"""Every exchange on the air in a part of a run, as `[record] air` asks for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.text import shape

Run = Mapping[str, Any]

COLUMNS = (
    "start_ns", "airtime_ns", "end_ns", "from", "to", "ac", "kind", "frames", "received", "attempt", "collided",
    "acknowledged",
)  # fmt: skip

# From the end of a PPDU to its acknowledgement.
# spec: 802.11 10.3.2.3 - 16 us at 5 GHz; at 2.4 GHz 10 us, after a signal extension of 6 us behind HT frames.
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
    """The shape of a run's exchanges, as the engine reports them: columns, and the names that two of them count."""
    shape.both(_COLUMNS, _NAMES)(value)
    names = len(value["interfaces"])
    for key in ("from", "to"):
        for at, number in enumerate(value[key]):
            if number is not None and number >= names:
                raise shape.Misfit(f"{number}", f"a number below {names}, one for each of interfaces", key, at)


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
    channel: str

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
    """Lines of the table of exchanges; truths are numbers."""
    for run in runs:
        found = of_run(run)
        for exchange in found.all if found else ():
            plain = (int(value) if isinstance(value, bool) else value for value in exchange)
            yield [run["run"], scenario, run["seed"], *plain]
