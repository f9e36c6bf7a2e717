"""Samples that `[record]` enables.

Sockets (`ss`), queues (`queues`), exchanges (`air`), and packet delay by layer and cause (`sojourn`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.results import exchanges, sojourn
from stillair.results.frame import Frame, Kind
from stillair.results.series import Queue
from stillair.results.tidy import Measured
from stillair.text import shape

Run = Mapping[str, Any]

SOCKETS = "sockets.csv"
QUEUES = "queues.csv"
EXCHANGES = "exchanges.csv"
SOJOURN = "sojourn.csv"
TABLES = (SOCKETS, QUEUES, EXCHANGES, SOJOURN)
"""Files in a result folder, present if the scenario records such samples."""


_COUNTS = shape.each(shape.number)

_QUEUES = shape.record(
    {
        "interval_ns": shape.whole(1),
        "samples": shape.whole(),
        "queues": shape.each(
            shape.record({"interface": shape.text, "layer": shape.text, "packets": _COUNTS, "bytes": _COUNTS})
        ),
    }
)


def _queues(value: Any) -> None:  # noqa: ANN401 - a mapping once it has the shape
    _QUEUES(value)
    for at, queue in enumerate(value["queues"]):
        for key in ("packets", "bytes"):
            if len(queue[key]) != value["samples"]:
                found = f"{len(queue[key])} values"
                raise shape.Misfit(found, f"{value['samples']}, one for each of samples", "queues", at, key)


_SOCKET = shape.columns(
    {"t_s": shape.number, "state": shape.text}
    | dict.fromkeys(("cwnd", "srtt_ms", "rttvar_ms", "pacing_mbps", "delivery_mbps"), shape.maybe(shape.number))
)


def _samples(value: Mapping[str, Any]) -> None:
    """Checks all columns of a socket's samples, in any engine version."""
    shape.columns(dict.fromkeys(("t_s", *value), shape.single))(value)


SHAPES = {
    "sockets": shape.table(shape.both(_SOCKET, _samples)),
    "queues": _queues,
    "exchanges": exchanges.fits,
    "sojourn": sojourn.fits,
}
"""Samples of a run, by key of the report."""


_QUEUE_KINDS: dict[str, Kind] = {
    "run": "uint64",
    "scenario": "text",
    "seed": "uint64",
    "t_s": "float64",
    "interface": "text",
    "layer": "text",
    "packets": "uint64",
    "bytes": "uint64",
}


class Occupancy(NamedTuple):
    """Occupancy of each layer of each interface, with sample times in seconds."""

    t_s: list[float]
    queues: list[Queue]


def sockets(run: Run) -> Mapping[str, Mapping[str, Sequence[Any]]]:
    """Samples of each TCP sender by flow: columns of equal length, named as in `ss`, with units."""
    found: Mapping[str, Mapping[str, Sequence[Any]]] = run.get("sockets", {})
    return found


def recorded(run: Run) -> Occupancy | None:
    """Queue samples of a run; `None` without `[record] queues`."""
    data = run.get("queues")
    if data is None:
        return None
    shape.check(data, _queues, "run", "queues")
    # The first sample is one interval after the start.
    times = [(n + 1) * data["interval_ns"] / 1_000_000_000 for n in range(data["samples"])]
    return Occupancy(times, [Queue(q["interface"], q["layer"], q["packets"], q["bytes"]) for q in data["queues"]])


def occupancy(measured: Measured) -> Occupancy:
    """Queue occupancy: the recorded samples, or the series at the end of each step."""
    found = recorded(measured.summary)
    if found is None:
        series = measured.series
        found = Occupancy([series.end_ns(step) / 1_000_000_000 for step in range(series.steps)], series.queues)
    return found


def tables(scenario: str, run: Run) -> Iterator[tuple[str, list[str], Iterable[Sequence[Any]]]]:
    """Sample tables of a run: file name, header, and a row for each time and socket or layer."""
    if sockets(run):
        names = next(list(columns) for columns in sockets(run).values())
        yield SOCKETS, ["run", "scenario", "seed", "flow", *names], _socket_rows(scenario, [run], names)
    if recorded(run):
        yield QUEUES, list(_QUEUE_KINDS), _queue_rows(scenario, [run])
    if run.get("exchanges"):
        header = ["run", "scenario", "seed", *exchanges.Exchange._fields]
        yield EXCHANGES, header, exchanges.rows(scenario, [run])
    if run.get("sojourn"):
        yield SOJOURN, ["run", "scenario", "seed", *sojourn.COLUMNS], sojourn.rows(scenario, [run])


def sockets_frame(scenario: str, runs: Sequence[Run]) -> Frame:
    """Socket samples of all runs as a table."""
    first = next((columns for run in runs for columns in sockets(run).values()), None)
    if first is None:
        raise _missing("ss")
    kinds = {name: _kind(values) for name, values in first.items()}
    # A column may have integers in one sample, and `None` or fractions in another.
    for run in runs:
        for columns in sockets(run).values():
            kinds |= {
                name: "float64" for name, kind in kinds.items() if kind == "uint64" and _kind(columns[name]) != kind
            }
    head: dict[str, Kind] = {"run": "uint64", "scenario": "text", "seed": "uint64", "flow": "text"}
    return _frame(f"{scenario}, sockets", head | kinds, _socket_rows(scenario, runs, list(first)))


def queues_frame(scenario: str, runs: Sequence[Run]) -> Frame:
    """Queue samples as a table."""
    if not any(recorded(run) for run in runs):
        raise _missing("queues")
    return _frame(f"{scenario}, queues", _QUEUE_KINDS, _queue_rows(scenario, runs))


def exchanges_frame(scenario: str, runs: Sequence[Run]) -> Frame:
    """All exchanges on the air as a table."""
    if not any(run.get("exchanges") for run in runs):
        raise _missing("air")
    of: dict[type, Kind] = {int: "uint64", str: "text", bool: "uint64"}
    kinds = {name: of[kind] for name, kind in exchanges.Exchange.__annotations__.items()}
    head: dict[str, Kind] = {"run": "uint64", "scenario": "text", "seed": "uint64"}
    return _frame(f"{scenario}, exchanges", head | kinds, exchanges.rows(scenario, runs))


def sojourn_frame(scenario: str, runs: Sequence[Run]) -> Frame:
    """Packet delay by layer and cause as a table."""
    if not any(run.get("sojourn") for run in runs):
        raise _missing("sojourn")
    numbers = ("run", "seed", "packets", "delay_ns", "ns")
    names = ("run", "scenario", "seed", *sojourn.COLUMNS)
    kinds: dict[str, Kind] = {name: "uint64" if name in numbers else "text" for name in names}
    return _frame(f"{scenario}, sojourn", kinds, sojourn.rows(scenario, runs))


def _frame(title: str, kinds: Mapping[str, Kind], rows: Iterable[Sequence[Any]]) -> Frame:
    columns: list[list[Any]] = [[] for _ in kinds]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return Frame(title, kinds, dict(zip(kinds, columns, strict=True)))


def _kind(values: Sequence[Any]) -> Kind:
    kinds = {type(value) for value in values}
    if kinds <= {int, bool}:
        return "uint64"
    return "text" if str in kinds else "float64"


def _missing(key: str) -> InputError:
    return InputError(f"record.{key}: nothing was sampled; enable these samples in the [record] table of the scenario")


def _socket_rows(scenario: str, runs: Sequence[Run], names: Sequence[str]) -> Iterator[list[Any]]:
    for run in runs:
        for flow, columns in sockets(run).items():
            for values in zip(*(columns[name] for name in names), strict=True):
                # Booleans become numbers.
                plain = (int(value) if isinstance(value, bool) else value for value in values)
                yield [run["run"], scenario, run["seed"], flow, *plain]


def _queue_rows(scenario: str, runs: Sequence[Run]) -> Iterator[list[Any]]:
    for run in runs:
        found = recorded(run)
        for queue in found.queues if found else ():
            for t, packets, octets in zip(found.t_s if found else (), queue.packets, queue.bytes, strict=True):
                yield [run["run"], scenario, run["seed"], t, queue.interface, queue.layer, packets, octets]
