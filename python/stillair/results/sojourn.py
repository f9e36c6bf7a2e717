"""Packet delay by layer and cause, recorded with `[record] sojourn`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from stillair.text import shape

Run = Mapping[str, Any]
Number = TypeVar("Number", int, float)

COLUMNS = ("of", "name", "way", "packets", "delay_ns", "layer", "cause", "ns")
"""Columns of the table: flow or station, its name, the direction; for packets with about the same delay,
their number, the sum of their delays, and the sum of their time in a layer for a cause."""

WAYS = ("down", "up", "round_trip")
"""To a station, from it, and round trip."""

_HISTOGRAM = shape.record(
    {
        "cells": shape.each(shape.each(shape.whole())),
        **dict.fromkeys(("packets", "delay_ns"), shape.each(shape.whole())),
        "parts_ns": shape.each(shape.each(shape.whole())),
        "places": shape.each(shape.unread),
        "places_ns": shape.each(shape.each(shape.whole())),
    }
)

_STEP = shape.record(
    {
        "layer": shape.text,
        "interface": shape.maybe(shape.text),
        **dict.fromkeys(("from_ns", "until_ns"), shape.whole()),
        "causes_ns": shape.table(shape.whole()),
    }
)

_SLOWEST = shape.record({"sent_ns": shape.whole(), "delay_ns": shape.whole(), "steps": shape.each(_STEP)})

_DELIVERY = shape.record(
    {
        **dict.fromkeys(("sent", "received", "sent_since"), shape.whole()),
        **dict.fromkeys(("last_sent_ns", "last_received_ns"), shape.maybe(shape.whole())),
        "drops": shape.each(shape.record({"place": shape.text, "reason": shape.text, "packets": shape.whole()})),
    }
)

_SHAPE = shape.record(
    {
        "sample": shape.whole(1),
        "layers": shape.each(shape.text),
        "causes": shape.each(shape.text),
        "flows": shape.table(_HISTOGRAM),
        "stations": shape.table(shape.table(_HISTOGRAM)),
        "slowest": shape.table(_SLOWEST),
    },
    {"delivery": shape.table(_DELIVERY)},
)


def _histograms(value: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str, str], Mapping[str, Any]]]:
    yield from ((("flow", name, ""), found) for name, found in value["flows"].items())
    for name, ways in value["stations"].items():
        yield from ((("station", name, way), found) for way, found in ways.items())


def fits(value: Any) -> None:  # noqa: ANN401 - a mapping once it has the shape
    """Checks a run's sojourn report: columns of equal length, and cell numbers within range."""
    _SHAPE(value)
    names = (len(value["layers"]), len(value["causes"]))
    for (_, name, _), found in _histograms(value):
        for at, cell in enumerate(found["cells"]):
            if len(cell) != len(names) or any(n >= most for n, most in zip(cell, names, strict=True)):
                raise shape.Misfit(f"{cell}", "the number of a layer and of a cause", name, "cells", at)
        for at, place in enumerate(found["places"]):
            if not (
                isinstance(place, list | tuple)
                and len(place) == 2
                and isinstance(place[0], str)
                and place[1] in range(names[0])
            ):
                raise shape.Misfit(f"{place}", "an interface and the number of a layer", name, "places", at)
        for key in ("delay_ns", "parts_ns", "places_ns"):
            if len(found[key]) != len(found["packets"]):
                raise shape.Misfit(f"{len(found[key])} values", "one for each of packets", name, key)
        for at, parts in enumerate(found["parts_ns"]):
            if len(parts) != len(found["cells"]):
                raise shape.Misfit(f"{len(parts)} values", "one for each of cells", name, "parts_ns", at)
        for at, times in enumerate(found["places_ns"]):
            if len(times) != len(found["places"]):
                raise shape.Misfit(f"{len(times)} values", "one for each of places", name, "places_ns", at)


Cell = tuple[str, str]
"""A layer and a cause; for places, an interface and a layer."""


class Bucket(NamedTuple):
    """Packets with about the same delay; each bucket is 3 % wide."""

    packets: int
    delay_ns: int
    """Sum of their delays."""
    parts_ns: dict[Cell, int]
    """Sum of their time in each cell. Except for time in sockets, the cells add up to the delays exactly."""
    places_ns: dict[Cell, int]
    """Sum of their time at each interface and layer."""


class Around(NamedTuple):
    """A percentile of the delay with its parts: the mean of the packets in its bucket."""

    percentile: float
    delay_ms: float
    parts_ms: dict[Cell, float]
    """Parts by layer and cause, largest first."""
    places_ms: dict[Cell, float]
    """Parts by interface and layer."""


class Delays(NamedTuple):
    """Delays of the packets of a flow, or of a station in one direction, shortest first."""

    of: str
    """`flow` or `station`."""
    name: str
    way: str
    """`down`, `up` or `round_trip` for a station; empty for a flow."""
    buckets: list[Bucket]

    def packets(self) -> int:
        """Number of packets."""
        return sum(bucket.packets for bucket in self.buckets)

    def around(self, percentile: float) -> Around:
        """Returns the percentile, from 0 to 100, with its parts. Raises an error without packets."""
        wanted, seen = percentile / 100 * self.packets(), 0
        for bucket in self.buckets:
            seen += bucket.packets
            if seen >= wanted:
                break
        parts = {cell: ns / bucket.packets / 1e6 for cell, ns in bucket.parts_ns.items() if ns}
        places = {place: ns / bucket.packets / 1e6 for place, ns in bucket.places_ns.items() if ns}
        return Around(percentile, bucket.delay_ns / bucket.packets / 1e6, _ordered(parts), _ordered(places))

    def total(self) -> dict[Cell, int]:
        """Time of all packets in each cell, in ns, largest first."""
        sums: dict[Cell, int] = {}
        for bucket in self.buckets:
            for cell, ns in bucket.parts_ns.items():
                sums[cell] = sums.get(cell, 0) + ns
        return _ordered(sums)


def _ordered(parts: Mapping[Cell, Number]) -> dict[Cell, Number]:
    return dict(sorted(parts.items(), key=lambda part: -part[1]))


def of_run(run: Run) -> list[Delays]:
    """Delays of each flow, and of each station in each direction; empty if not recorded."""
    data = run.get("sojourn")
    if data is None:
        return []
    shape.check(data, fits, "run", "sojourn")
    layers, causes = data["layers"], data["causes"]
    found = []
    for head, histogram in _histograms(data):
        cells = [(layers[layer], causes[cause]) for layer, cause in histogram["cells"]]
        places = [(interface, layers[layer]) for interface, layer in histogram["places"]]
        columns = (histogram[key] for key in ("packets", "delay_ns", "parts_ns", "places_ns"))
        buckets = [
            Bucket(
                packets,
                delay,
                {c: ns for c, ns in zip(cells, parts, strict=True) if ns},
                {p: ns for p, ns in zip(places, times, strict=True) if ns},
            )
            for packets, delay, parts, times in zip(*columns, strict=True)
        ]
        found.append(Delays(*head, buckets))
    return found


def over(runs: Sequence[Run]) -> list[Delays]:
    """Combines the packets of all runs; each run keeps its own buckets."""
    together: dict[tuple[str, str, str], list[Bucket]] = {}
    for run in runs:
        for of, name, way, buckets in of_run(run):
            together.setdefault((of, name, way), []).extend(buckets)
    return [Delays(*head, sorted(buckets, key=_mean)) for head, buckets in together.items()]


def in_network(found: Sequence[Delays]) -> list[Delays]:
    """Removes the time that datagrams of a blocking source wait for room in the send buffer.

    A source that offers more than its path carries waits there indefinitely, whatever the network does.
    """
    return [delays._replace(buckets=sorted(map(_entered, delays.buckets), key=_mean)) for delays in found]


_WAITS = ("socket", "send_buffer")


def _entered(bucket: Bucket) -> Bucket:
    waited = bucket.parts_ns.get(_WAITS)
    if not waited:
        return bucket
    parts = {cell: ns for cell, ns in bucket.parts_ns.items() if cell != _WAITS}
    return bucket._replace(delay_ns=bucket.delay_ns - waited, parts_ns=parts)


def _mean(bucket: Bucket) -> float:
    return bucket.delay_ns / bucket.packets


def rows(scenario: str, runs: Sequence[Run]) -> Iterator[list[Any]]:
    """Rows of the table: run, scenario, seed and the columns."""
    for run in runs:
        for of, name, way, buckets in of_run(run):
            for bucket in buckets:
                for (layer, cause), ns in bucket.parts_ns.items():
                    head = [run["run"], scenario, run["seed"], of, name, way]
                    yield [*head, bucket.packets, bucket.delay_ns, layer, cause, ns]
