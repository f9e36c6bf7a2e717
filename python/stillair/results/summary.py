"""The printed summary."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

from stillair.results.report import Reported
from stillair.results.statistics import Interval, some_runs, spread
from stillair.text import terminal
from stillair.text.table import natural, table

Columns = Sequence[tuple[str, str, float, int]]
"""Report keys with their headings, scale factors, and decimals."""

_STATIONS = (
    ("goodput_mbps", "goodput Mbit/s", 1, 2),
    ("airtime_share", "airtime share %", 100, 1),
    ("mean_aggregate", "frames per aggregate", 1, 2),
    ("ping_median_ms", "ping p50 ms", 1, 1),
    ("ping_p95_ms", "ping p95 ms", 1, 1),
    ("ping_p99_ms", "ping p99 ms", 1, 1),
    ("udp_ping_median_ms", "UDP ping p50 ms", 1, 1),
    ("udp_ping_p95_ms", "UDP ping p95 ms", 1, 1),
    ("udp_ping_p99_ms", "UDP ping p99 ms", 1, 1),
)

NOT_MEASURED = "-"
_ASSUMED = ": not known: "
"""Marks notes about undocumented parameters, for which the model assumes a value."""
_MOST_ROWS = 50  # longer tables are unreadable on a terminal


class Table(NamedTuple):
    """Figures of one kind of object, a row each."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    """Number of leading text columns."""


def summary(result: Reported, stream: IO[str] | None = None) -> str:
    """Returns the summary of the runs. With a stream, it is as wide as the terminal."""
    over = result.summary()

    def text(of: Table) -> str:
        return as_text(of, stream)

    dropped = text(drops(over)) or NO_DROPS
    air_ = _air(over)
    if stream is not None:
        air_ = "\n".join(map(_wrapped, air_.splitlines()))
    heading = terminal.harmless(head(result))
    parts = [heading, text(stations(over)), totals(over), *map(text, traffic(result)), dropped, air_]
    return "\n\n".join(part for part in parts if part) + "\n"


def traffic(result: Reported) -> list[Table]:
    """Traffic tables by kind; some may be empty."""
    over = result.summary()
    return [_flows(result), _pings(over), _calls(over), _pages(over), _responsiveness(over), _transfers(over)]


def as_text(of: Table, stream: IO[str] | None = None) -> str:
    """A table as text; empty without rows."""
    if not of.rows:
        return ""
    more = len(of.rows) - _MOST_ROWS
    rows = [[terminal.harmless(cell) for cell in row] for row in of.rows[:_MOST_ROWS]]
    if stream is None:
        text = table(of.header, rows, words=of.words)
    else:
        text = table(
            of.header,
            rows,
            width=terminal.width(),
            words=of.words,
            paint=lambda line: terminal.painted(line, terminal.BOLD, stream),
        )
    return f"{text}\n... and {more} more; --json has all" if more > 0 else text


def figure(value: Mapping[str, Any] | None, scale: float = 1, digits: int = 2) -> str:
    """A mean with its interval: `5.91 ±0.12`, or `0.998 +0.002/-0.004` at a bound.

    If only some runs have the figure, their number follows: `5.91 ±0.12 (45 of 300 runs)`.
    """
    if value is None:
        return NOT_MEASURED
    mean = f"{value['mean'] * scale:.{digits}f}"
    if value["low"] is None:
        return f"{mean}{some_runs(value)}"
    of = Interval(value["mean"] * scale, value["low"] * scale, value["high"] * scale)
    return f"{mean} {spread(of, digits)}".rstrip() + some_runs(value)


def together(notes: Iterable[str]) -> list[str]:
    """Merges notes that only differ in their key: names the first key and the number of others."""
    keys: dict[str, dict[str, None]] = {}
    for note in notes:
        key, _, said = note.partition(": ")
        keys.setdefault(said, {})[key] = None
    return [f"{_first(list(of))}: {said}" if said else next(iter(of)) for said, of in keys.items()]


def briefly(notes: Iterable[str]) -> list[str]:
    """Merges notes. If several are about assumed parameters, only their number is given."""
    all_notes = list(notes)
    assumed = [note for note in all_notes if note.partition(_ASSUMED)[0].count(" ") == 0 and _ASSUMED in note]
    things = together(assumed)
    if len(things) < 2:
        return together(all_notes)
    nodes = list(dict.fromkeys(".".join(note.split(".")[:2]) for note in assumed))
    counted = (
        f"{len(things)} parameters of {_first(nodes)} are assumed because no source documents them;"
        " list them with 'stillair check'"
    )
    return [*together(note for note in all_notes if note not in assumed), counted]


def _first(keys: Sequence[str]) -> str:
    return keys[0] if len(keys) == 1 else f"{keys[0]} and {len(keys) - 1} more"


def head(result: Reported) -> str:
    """Scenario, number of runs and seed."""
    runs = len(result.runs)
    seeds = sorted({run["seed"] for run in result.runs})
    of = f" of {result.planned} planned" if runs < result.planned else ""
    if runs == 1:
        return f"{result.scenario}: run {result.runs[0]['run']}{of and f' (1{of} runs)'}, seed {seeds[0]}"
    return (
        f"{result.scenario}: {runs}{of} runs, seed {', '.join(map(str, seeds))}; "
        "means with 95 % confidence intervals over the runs"
    )


def stations(over: Mapping[str, Any]) -> Table:
    """The stations, without columns that none of them has."""
    found = _counted(over.get("stations") or {})
    # Leave out columns that no station has, such as UDP pings in most scenarios or keys missing in older
    # results.
    columns = [
        column
        for column in _STATIONS
        if not column[0].startswith(("udp_", "ping_p99")) or any(station.get(column[0]) for _, station in found)
    ]
    return _table("Stations", "station", columns, found)


def _table(title: str, what: str, columns: Columns, found: Iterable[tuple[str, Mapping[str, Any]]]) -> Table:
    rows = [[name, *(figure(of.get(key), scale, digits) for key, _, scale, digits in columns)] for name, of in found]
    return Table(title, [what, *(heading for _, heading, _, _ in columns)], rows)


def totals(over: Mapping[str, Any]) -> str:
    """Totals over stations and pings."""
    goodput = f"total goodput {figure(over.get('goodput_total_mbps'))} Mbit/s"
    jain = over.get("jain_airtime")
    text = goodput if jain is None else f"{goodput}, Jain's index of the airtime {figure(jain, digits=3)}"
    return "\n".join([text, *_pings_together(over)])


def _pings_together(over: Mapping[str, Any]) -> Iterator[str]:
    """Totals of all pings and the longest round trip. Older results may lack some of these."""
    keys = ("sent", "received", "lost")
    pings = [ping for ping in (over.get("pings") or {}).values() if all(ping.get(key) for key in keys)]
    if pings:
        sent, received, lost = (sum(ping[key]["mean"] for ping in pings) for key in keys)
        open_ = sent - received - lost
        late = f", {_count(open_)} under way at the end" if open_ > 0 else ""
        yield f"pings: {_count(sent)} sent, {_count(received)} received, {_count(lost)} lost{late}"
    of_each = [(name, ping["longest_ms"]) for name, ping in (over.get("pings") or {}).items() if ping.get("longest_ms")]
    if of_each:
        name, longest = max(of_each, key=lambda one: one[1]["mean"])
        yield f"longest ping: {figure(longest)} ms, of {name}"


def _count(mean: float) -> str:
    return f"{mean:.0f}" if mean == round(mean) else f"{mean:.1f}"


_FLOWS = (
    ("goodput_mbps", "goodput Mbit/s", 1, 2),
    ("loss", "loss %", 100, 2),
    ("skipped", "skipped", 1, 0),
    ("unsent", "unsent", 1, 0),
    ("longest_gap_ms", "longest gap ms", 1, 0),
    ("retransmissions", "retransmissions", 1, 0),
    ("timeouts", "timeouts", 1, 0),
    ("minrtt_ms", "least RTT ms", 1, 1),
    ("delay_p50_ms", "one-way p50 ms", 1, 2),
    ("delay_p95_ms", "p95 ms", 1, 2),
    ("delay_p99_ms", "p99 ms", 1, 2),
)
_FREEZE_MS = 200
"""Shortest gap that a viewer notices. Without a longer one, the column for gaps is left out."""
_LEAST = {"skipped": 0, "unsent": 0, "longest_gap_ms": _FREEZE_MS}
"""Columns shown only if the mean of a row exceeds this value."""
_PINGS = (
    ("median_ms", "p50 ms", 1, 1),
    ("p95_ms", "p95 ms", 1, 1),
    ("p99_ms", "p99 ms", 1, 1),
    ("longest_ms", "longest ms", 1, 1),
    ("replies", "replies", 1, 0),
)
_SENT = (("sent", "sent", 1, 0), ("received", "received", 1, 0), ("lost", "lost", 1, 0), ("loss", "loss %", 100, 2))


def _flows(result: Reported) -> Table:
    """Each flow with data and its endpoints, without columns that none of them has."""
    found = _counted(result.summary().get("flows") or {})
    # Text has no mean: take protocol and endpoints from the first run with the flow.
    about: dict[str, Mapping[str, Any]] = {}
    for run in result.runs:
        for name, flow in (run.get("flows") or {}).items():
            about.setdefault(name, flow)
    columns = [column for column in _FLOWS if any(_is_shown(column[0], of) for _, of in found)]
    of_each = _table("Flows", "flow", columns, found)
    header = [of_each.header[0], "from", "over", *of_each.header[1:]]
    rows = [
        [row[0], *(str(about[row[0]].get(key) or NOT_MEASURED) for key in ("from", "protocol")), *row[1:]]
        for row in of_each.rows
    ]
    return Table(of_each.title, header, rows, words=3)


def _counted(found: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Measurements by name, in natural order."""
    return [(name, found[name]) for name in natural(found)]


def _pings(over: Mapping[str, Any]) -> Table:
    """The pings. If stations have rows with round-trip times, only the pings with losses."""
    pings = _counted(over.get("pings") or {})
    if over.get("stations"):
        return _table("Pings", "ping", _SENT, [(name, of) for name, of in pings if _is_above_zero(of.get("lost"))])
    # Older results lack the number of sent pings.
    tells = any(of.get("sent") is not None for _, of in pings)
    columns = [one for one in _PINGS if one[0] != "longest_ms" or any(of.get(one[0]) for _, of in pings)]
    return _table("Pings", "ping", (*columns[:-1], *_SENT) if tells else columns, pings)


def _is_shown(key: str, of: Mapping[str, Any]) -> bool:
    value = of.get(key)
    return value is not None and (key not in _LEAST or value["mean"] > _LEAST[key])


def _is_above_zero(value: Mapping[str, Any] | None) -> bool:
    return value is not None and value["mean"] > 0


_CALLS = (
    ("mos", "MOS", 1, 2),
    ("delay_ms", "delay ms", 1, 1),
    ("jitter_ms", "jitter ms", 1, 2),
    ("loss", "loss %", 100, 2),
    ("skipped", "skipped", 1, 0),
    ("late", "late %", 100, 2),
    ("playout_ms", "playout ms", 1, 1),
    ("packets", "packets", 1, 0),
)


def _calls(over: Mapping[str, Any]) -> Table:
    found = _counted(over.get("voip") or {})
    # Older results lack playout delay and late packets.
    columns = [one for one in _CALLS if any(_is_shown(one[0], of) for _, of in found)]
    return _table("Calls", "call", columns, found)


_TRANSFERS = (
    ("throughput_mbps", "UDP payload Mbit/s", 1, 2),
    ("transfer_s", "transfer s", 1, 3),
    ("measured_s", "of it measured s", 1, 3),
    ("srtt_ms", "srtt ms", 1, 1),
    ("loss_percent", "loss %", 1, 3),
    ("acks_sent", "ACKs", 1, 0),
    ("gaps_below_100us_percent", "gaps < 100 us %", 1, 1),
)


def _transfers(over: Mapping[str, Any]) -> Table:
    return _table("QUIC", "QUIC", _TRANSFERS, _counted(over.get("quic") or {}))


_RESPONSIVENESS = (
    ("rpm", "RPM", 1, 0),
    ("foreign_rpm", "new connections", 1, 0),
    ("loaded_rpm", "loaded ones", 1, 0),
    ("rpm_draft_01", "draft -01", 1, 0),
    ("rpm_goresponsiveness_p90", "goresp. P90", 1, 0),
    ("goodput_mbps", "Mbit/s", 1, 1),
)


def _responsiveness(over: Mapping[str, Any]) -> Table:
    return _table("Responsiveness", "test", _RESPONSIVENESS, _counted(over.get("responsiveness") or {}))


_PAGES = (
    ("mean_s", "page load mean s", 1, 3),
    ("median_s", "p50 s", 1, 3),
    ("p95_s", "p95 s", 1, 3),
    ("p99_s", "p99 s", 1, 3),
    ("loads", "loads", 1, 0),
    ("unfinished_s", "unfinished s", 1, 1),
)


def _pages(over: Mapping[str, Any]) -> Table:
    return _table("Web pages", "page", _PAGES, _counted(over.get("web") or {}))


NO_DROPS = "no drops"


def drops(over: Mapping[str, Any]) -> Table:
    """Packets dropped, by place and reason."""
    rows = [[drop["place"], drop["reason"], figure(drop["packets"], digits=0)] for drop in over["drops"]]
    return Table("Drops", ["dropped at", "reason", "packets"], rows, words=2)


def air(over: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Airtime uses of each channel in %, without unused channels."""
    channels = (over.get("air") or {}).items()
    return {name: uses for name, accounts in channels if (uses := _uses(accounts))}


def _uses(accounts: Mapping[str, Any]) -> list[tuple[str, str]]:
    means = [(use.removesuffix("_us"), value["mean"]) for use, value in accounts.items() if value is not None]
    whole = sum(us for _, us in means)
    return [(use, f"{100 * us / whole:.1f} %") for use, us in means] if whole > 0 else []


def _wrapped(line: str) -> str:
    """Wraps a line to the terminal's width, keeping numbers and % together."""
    kept = textwrap.fill(line.replace(" %", "\xa0%"), terminal.width(), subsequent_indent="  ")
    return kept.replace("\xa0", " ")


def _air(over: Mapping[str, Any]) -> str:
    return "\n".join(f"air of {name}, whole run: " + ", ".join(map(" ".join, uses)) for name, uses in air(over).items())
