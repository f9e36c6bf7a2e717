"""Tidy tables: a row for each value, byte-identical on every machine."""

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stillair.results import frame
from stillair.results.frame import Frame, Kind
from stillair.results.report import Run
from stillair.results.series import Series, VoiceStep
from stillair.text import extras, output


class Measured(NamedTuple):
    """One run with its series."""

    scenario: str
    summary: Run
    series: Series


class Row(NamedTuple):
    """A value.

    `t` is the end of its step in seconds; `station` is a station, an interface or a place of drops.
    """

    run: int
    scenario: str
    seed: int
    t: float
    station: str
    flow: str
    ac: str
    metric: str
    value: float
    unit: str


class PingRow(NamedTuple):
    """A ping reply; `t` is its arrival time in seconds."""

    run: int
    scenario: str
    seed: int
    t: float
    station: str
    flow: str
    ac: str
    seq: int
    rtt_ms: float


class ProbeRow(NamedTuple):
    """A responsiveness probe; `t` is the time of the answer in seconds."""

    run: int
    scenario: str
    seed: int
    t: float
    test: str
    timed: str
    """`tcp`, `tls`, `http` on a new connection, `foreign` for these together, `loaded` on a loaded
    connection."""
    took_ms: float


class _Values(NamedTuple):
    """The subject of the rows, and their values as pairs of step and value."""

    station: str | None
    flow: str
    ac: str
    metric: str
    unit: str
    steps: Iterable[tuple[int, float]]


def rows(measured: Measured) -> Iterator[Row]:
    """All values of a run: flows, stations, drops, queues, each by time."""
    series = measured.series
    run, seed = measured.summary["run"], measured.summary["seed"]
    for station, flow, ac, metric, unit, steps in (*_of_flows(series), *_of_stations(series), *_of_queues(series)):
        for step, value in steps:
            # Use floats throughout: some readers infer a column's type from its first rows.
            t = series.end_ns(step) / 1_000_000_000
            yield Row(run, measured.scenario, seed, t, station or "", flow, ac, metric, float(value), unit)


def _of_flows(series: Series) -> Iterator[_Values]:
    for flow in series.flows:
        about = (flow.station, flow.name, flow.ac)
        if flow.bytes is not None:
            yield _Values(*about, "delivered_bytes", "bytes", enumerate(flow.bytes))
            yield _Values(*about, "goodput_mbps", "Mbit/s", enumerate(series.mbps(flow)))
            if flow.voip is not None:
                yield from _of_call(about, series.voice(flow))
            if flow.loads is not None:
                loads = [(step, ms) for step, ms in enumerate(series.load_ms(flow)) if ms is not None]
                yield _Values(*about, "page_load_ms", "ms", loads)
        else:
            replies = ((step, ms) for step, ms in enumerate(series.ping_ms(flow)) if ms is not None)
            yield _Values(*about, "ping_ms", "ms", replies)


def _of_call(about: tuple[str | None, str, str], steps: Sequence[VoiceStep]) -> Iterator[_Values]:
    for metric in ("delay_ms", "jitter_ms"):
        values = [(step, getattr(voice, metric)) for step, voice in enumerate(steps)]
        yield _Values(*about, f"voip_{metric}", "ms", [value for value in values if value[1] is not None])
    yield _Values(*about, "voip_lost", "packets", enumerate(voice.lost for voice in steps))


def _of_stations(series: Series) -> Iterator[_Values]:
    for station in series.stations:
        about = (station.name, "", station.ac)
        for metric, ns in (("airtime_down_us", station.airtime_down_ns), ("airtime_up_us", station.airtime_up_ns)):
            yield _Values(*about, metric, "us", enumerate(n / 1000 for n in ns))
        for metric in ("ppdus_down", "ppdus_up", "mpdus_down", "mpdus_up"):
            yield _Values(*about, metric, "count", enumerate(getattr(station, metric)))


def _of_queues(series: Series) -> Iterator[_Values]:
    for drops in series.drops:
        yield _Values(drops.place, "", "", f"drops_{drops.reason}", "packets", drops.steps)
    for queue in series.queues:
        for unit, values in (("packets", queue.packets), ("bytes", queue.bytes)):
            yield _Values(queue.interface, "", "", f"queue_{queue.layer}_{unit}", unit, enumerate(values))


def ping_rows(measured: Measured) -> Iterator[PingRow]:
    """All replies of a run, flow by flow."""
    run, seed = measured.summary["run"], measured.summary["seed"]
    for flow in measured.series.flows:
        for ping in flow.pings or []:
            t, rtt = ping.at_ns / 1_000_000_000, ping.rtt_ns / 1_000_000
            yield PingRow(run, measured.scenario, seed, t, flow.station or "", flow.name, flow.ac, ping.seq, rtt)


def probe_rows(measured: Measured) -> Iterator[ProbeRow]:
    """All probes of a run, test by test."""
    run, seed = measured.summary["run"], measured.summary["seed"]
    for flow in measured.series.flows:
        for probe in flow.probes or []:
            t, took = probe.at_ns / 1_000_000_000, probe.took_ns / 1_000_000
            yield ProbeRow(run, measured.scenario, seed, t, flow.name, probe.timed, took)


def write_csv(path: Path, runs: Iterable[Measured]) -> None:
    """Writes the tidy table. The same scenario, seed and version give the same file."""
    _write(path, Row._fields, (row for measured in runs for row in rows(measured)))


def write_pings_csv(path: Path, runs: Iterable[Measured]) -> None:
    """Writes the samples of all pings."""
    _write(path, PingRow._fields, (row for measured in runs for row in ping_rows(measured)))


def write_probes_csv(path: Path, runs: Iterable[Measured]) -> None:
    """Writes the samples of all responsiveness tests; no file without such a test."""
    found = (row for measured in runs for row in probe_rows(measured))
    first = next(found, None)
    if first is not None:
        _write(path, ProbeRow._fields, itertools.chain([first], found))


def _write(path: Path, header: tuple[str, ...], lines: Iterable[tuple[Any, ...]]) -> None:
    with output.text_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        # Python writes the shortest representation that reads back exactly.
        writer.writerows(lines)


def columns(runs: Iterable[Measured]) -> dict[str, list[Any]]:
    """The table as columns; all values are floats."""
    table: list[list[Any]] = [[] for _ in Row._fields]
    for measured in runs:
        for row in rows(measured):
            for column, value in zip(table, row, strict=True):
                column.append(value)
    return dict(zip(Row._fields, table, strict=True))


def pings(runs: Iterable[Measured]) -> Frame:
    """The samples of all pings as a table."""
    found = [row for measured in runs for row in ping_rows(measured)]
    columns = {name: [row[at] for row in found] for at, name in enumerate(PingRow._fields)}
    return Frame("replies to pings", _kinds(PingRow), columns)


def _kinds(row: type[NamedTuple]) -> dict[str, Kind]:
    kinds: dict[type, Kind] = {int: "uint64", float: "float64", str: "text"}
    return {name: kinds[kind] for name, kind in row.__annotations__.items()}


KINDS = _kinds(Row)
"""The columns of the tidy table."""


def write_parquet(path: Path, runs: Iterable[Measured], resolved: str) -> None:
    """Writes the table as Parquet with zstd. The metadata key `scenario` is the resolved scenario as JSON."""
    parquet = extras.need("pyarrow.parquet", "arrow")
    schema = frame.schema(KINDS, {"scenario": resolved})
    # One row group per run.
    with output.whole(path) as part, parquet.ParquetWriter(part, schema, compression="zstd") as writer:
        for measured in runs:
            writer.write_batch(frame.batch(schema, columns([measured])))
