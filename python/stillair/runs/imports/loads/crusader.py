"""A crusader result (`.crr`): its test becomes the scenario's load.

spec: Zoxc/crusader 0.3.2, src/crusader-lib/src/file_format.rs and protocol.rs - a header of a magic number
and a version, 64 bits each; the body is bincode in version 0, and MessagePack in snappy frames in versions 1
and 2.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from stillair._native import InputError
from stillair.runs.imports.facts import Crusader
from stillair.runs.imports.loads.crusader_encoding import Reader, unframed

_MAGIC = (0x5372AB82AE7C59CB).to_bytes(8, "little")
MOST_BYTES = 64 << 20
"""Size limit of a result file."""
_NEWEST = 2
_MOST_FLOWS = 1000
_LONGEST_S = 86_400
_KINDS = {(True, False): "download", (False, False): "upload", (True, True): "both down", (False, True): "both up"}
_T = TypeVar("_T")

_Stream = Sequence[tuple[float, int]]
"""Time in s and cumulative bytes of a TCP flow."""
_Group = tuple[str, Sequence[_Stream]]


def looks_like(data: bytes) -> bool:
    """Reports whether these are the first bytes of a result."""
    return data[:8] == _MAGIC


def read(file: str, data: bytes) -> Sequence[Crusader]:
    """Returns the test of a result."""
    reader = Reader(data)
    try:
        reader.take(8)
        version = reader.whole(8, "little")
        if version > _NEWEST:
            raise InputError(f"{file}: found a crusader result of version {version}, expected 0 to {_NEWEST}")
        return [_old(file, reader) if version == 0 else _new(file, unframed(data[16:]))]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"{file}: found a crusader result that is damaged ({what}), expected one as crusader saves it"
        ) from None


def _old(file: str, reader: Reader) -> Crusader:
    """Version 0: fixed-size integers, lists preceded by their length."""

    def number() -> int:
        return reader.whole(8, "little")

    def seconds() -> float:
        return number() + reader.whole(4, "little") / 1e9

    def several(one: Callable[[], _T]) -> list[_T]:
        return [one() for _ in range(number())]

    def flag() -> bool:
        return bool(reader.whole(1))

    load, grace, ping_ms, _interval = (number() for _ in range(4))
    seconds(), seconds()
    groups = several(lambda: (_KINDS[flag(), flag()], several(lambda: several(lambda: (seconds(), number())))))
    pings = several(lambda: (number(), seconds(), seconds() if flag() else None))
    reader.end()
    return _made(file, 0, (load, grace, 0.0, ping_ms), groups, [(at, took) for _, at, took in pings])


def _new(file: str, packed: bytes) -> Crusader:
    """Versions 1 and 2: maps with field names."""
    reader = Reader(packed)
    found = _table(reader.value())
    reader.end()
    version = found["version"]
    config = _table(found["config"])
    load, grace, stagger, interval = (
        _seconds(config[key]) for key in ("load_duration", "grace_duration", "stagger", "ping_interval")
    )
    groups = [
        (
            _KINDS[bool(group["download"]), bool(group["both"])],
            [
                [(_seconds(point["time"]), _number(point["bytes"])) for point in _tables(stream["data"])]
                for stream in _tables(group["streams"])
            ],
        )
        for group in _tables(found["stream_groups"])
    ]
    pings = []
    for ping in _tables(found["pings"]):
        latency = None if ping["latency"] is None else _table(ping["latency"])["total"]
        pings.append((_seconds(ping["sent"]), None if latency is None else _seconds(latency)))
    return _made(file, _number(version), (load, grace, stagger, 1000 * interval), groups, pings)


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError("no table where one is expected")
    return value


def _tables(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        raise ValueError("no list where one is expected")
    return [_table(one) for one in value]


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError("no number where one is expected")
    return value


def _seconds(value: object) -> float:
    told = _table(value)
    return _number(told["secs"]) + _number(told["nanos"]) / 1e9


def _made(
    file: str,
    version: int,
    config: tuple[float, float, float, float],
    groups: Sequence[_Group],
    pings: Sequence[tuple[float, float | None]],
) -> Crusader:
    load, grace, stagger, ping_ms = config
    measured = {}
    for kind, several in groups:
        # Counting starts before the flow does.
        begins = [
            max(time for time, count in stream if count == 0) for stream in several if stream and not stream[0][1]
        ]
        ends = [stream[-1] for stream in several if stream]
        if not begins:
            continue
        begin, end = min(begins), max(time for time, _ in ends)
        took = [1000 * one for at, one in pings if one is not None and begin <= at <= end]
        mbps = 8 * sum(count for _, count in ends) / 1e6 / (end - begin) if end > begin else 0.0
        measured[kind] = (mbps, statistics.median(took) if took else None)
    streams = max((len(found) for _, found in groups), default=0)
    if groups and not (0 < streams <= _MOST_FLOWS and load > 0):
        raise ValueError(f"a load of {streams} flows for {load:g} s")
    if max(load, grace, stagger * streams, ping_ms / 1000) > _LONGEST_S:
        raise ValueError("a test of more than a day")
    return Crusader(
        version, streams, load, grace, stagger, max(ping_ms, 1.0), [kind for kind, _ in groups], measured, f"{file}"
    )
