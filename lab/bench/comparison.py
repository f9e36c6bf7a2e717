"""The comparison: medians over runs, one row for each scenario and program, and their tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import median

from programs import Run, Station

NS3 = "ns-3"
STILLAIR = "stillair"
LISTED = 4
"""Up to this many stations of a scenario are listed individually."""


@dataclass(frozen=True)
class Row:
    """One scenario in one program: medians over its runs."""

    scenario: str
    program: str
    runs: int
    cpu_s: float
    simulated_per_cpu: float
    us_per_delivered: float
    us_per_offered: float | None
    peak_mb: float
    goodput_mbps: float
    stations: tuple[Station, ...]


@dataclass(frozen=True)
class NotRun:
    """A scenario that a program cannot run, and the reason."""

    scenario: str
    program: str
    reason: str


def summarise(scenario: str, program: str, payload: int, runs: Sequence[Run], look: Run | None = None) -> Row:
    """Medians over runs. Figures that only `look` measured are taken from there."""
    per_offered = [1e6 * run.cpu_s / run.offered for run in runs if run.offered]
    detailed = look.stations if look else runs[0].stations
    return Row(
        scenario,
        program,
        len(runs),
        median(run.cpu_s for run in runs),
        median(run.simulated_s / run.cpu_s for run in runs),
        median(1e6 * run.cpu_s / run.delivered(payload) for run in runs),
        median(per_offered) if per_offered else None,
        median(run.peak_mb for run in runs),
        median(run.goodput_mbps for run in runs),
        tuple(
            _station(same, [detail] if look else same)
            for same, detail in zip(zip(*(run.stations for run in runs), strict=True), detailed, strict=True)
        ),
    )


def _station(runs: Sequence[Station], looks: Sequence[Station]) -> Station:
    def over(stations: Iterable[Station], value: Callable[[Station], float | None]) -> float | None:
        known = [x for station in stations if (x := value(station)) is not None]
        return median(known) if known else None

    return Station(
        runs[0].name,
        median(station.goodput_mbps for station in runs),
        over(runs, lambda s: s.ping_median_ms),
        over(runs, lambda s: s.ping_p95_ms),
        over(looks, lambda s: s.airtime_share),
        over(looks, lambda s: s.mean_aggregate_down),
        over(looks, lambda s: s.mean_aggregate_up),
    )


def cost_table(rows: Sequence[Row | NotRun]) -> str:
    """Cost of the programs."""
    header = ["scenario", "program", "CPU s", "us/delivered", "us/offered", "sim s/CPU s", "peak MB", "Mbit/s"]
    lines = [
        [row.scenario, row.program, f"not-run: {row.reason}"]
        if isinstance(row, NotRun)
        else [
            row.scenario,
            row.program,
            f"{row.cpu_s:.3f}",
            f"{row.us_per_delivered:.2f}",
            _figure(row.us_per_offered, 2),
            f"{row.simulated_per_cpu:.2f}",
            f"{row.peak_mb:.1f}",
            f"{row.goodput_mbps:.2f}",
        ]
        for row in rows
    ]
    return _table(header, lines)


def station_table(rows: Sequence[Row | NotRun]) -> str:
    """Results by station."""
    header = ["scenario", "program", "station", "Mbit/s", "ping ms", "p95 ms", "airtime %", "frames down", "frames up"]
    lines = [
        [
            row.scenario,
            row.program,
            station.name,
            f"{station.goodput_mbps:.2f}",
            _figure(station.ping_median_ms, 1),
            _figure(station.ping_p95_ms, 1),
            _figure(None if station.airtime_share is None else 100 * station.airtime_share, 1),
            _figure(station.mean_aggregate_down, 1),
            _figure(station.mean_aggregate_up, 1),
        ]
        for row in rows
        if isinstance(row, Row)
        for station in _shown(row.stations)
    ]
    return _table(header, lines)


def ratios(rows: Sequence[Row | NotRun]) -> list[str]:
    """Ratio of ns-3's CPU time to Stillair's, for scenarios that both ran."""
    cost = {(row.scenario, row.program): row for row in rows if isinstance(row, Row)}
    lines = []
    for (scenario, program), theirs in cost.items():
        ours = cost.get((scenario, STILLAIR))
        if program == NS3 and ours is not None:
            delivered = theirs.us_per_delivered / ours.us_per_delivered
            lines.append(f"{scenario}: ns-3 takes {delivered:.0f} times the CPU time per delivered packet")
    return lines


def _shown(stations: Sequence[Station]) -> Sequence[Station]:
    """The first and last of many stations, and the mean of the others."""
    if len(stations) <= LISTED:
        return stations
    others = stations[1:-1]

    def mean(name: str) -> float | None:
        known = [x for station in others if (x := getattr(station, name)) is not None]
        return sum(known) / len(known) if known else None

    means = {field.name: mean(field.name) for field in fields(Station) if field.name not in {"name", "goodput_mbps"}}
    goodput = sum(station.goodput_mbps for station in others) / len(others)
    return [stations[0], Station(f"mean of {len(others)}", goodput, **means), stations[-1]]


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Aligns columns: words left, figures right. A shorter line ends in words that may overhang."""
    whole = [header, *(line for line in lines if len(line) == len(header))]
    widths = [max(len(line[i]) for line in whole) for i in range(len(header))]
    words = sum(name in {"scenario", "program", "station"} for name in header)
    for line in lines:
        for i in range(words):
            widths[i] = max(widths[i], len(line[i]))

    def cell(line: Sequence[str], i: int) -> str:
        left = i < words or len(line) < len(header)
        return line[i].ljust(widths[i]) if left else line[i].rjust(widths[i])

    return "\n".join("  ".join(cell(line, i) for i in range(len(line))).rstrip() for line in [header, *lines])
