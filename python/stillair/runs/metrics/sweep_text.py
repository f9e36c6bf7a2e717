"""A sweep as JSON, as CSV, and as a table for the terminal.

Failed combinations have no row.
"""

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stillair import __version__
from stillair._native import InputError
from stillair.results.report import Mean
from stillair.results.result import Result
from stillair.runs.cache import Combination, name_of
from stillair.runs.metrics import kinds, quantities
from stillair.runs.work import Failure
from stillair.text.table import natural, pairs, table

_STATION = ("goodput_mbps", "airtime_share", "ping_median_ms", "ping_p95_ms", "ping_p99_ms")
_MOST_COLUMNS = 8  # wider tables are unreadable on a terminal; the files have all columns
_MOST_FAILURES = 50


class _Figure(NamedTuple):
    """A figure of calls, pages or flows: its key, and its heading in the table."""

    key: str
    title: str
    digits: int


# Figures shown for flows of each kind, by summary key.
_APPS = {
    "voip": (_Figure("mos", "MOS", 2), _Figure("delay_ms", "delay ms", 1), _Figure("jitter_ms", "jitter ms", 1)),
    "web": (_Figure("mean_s", "load s", 2),),
    "responsiveness": (_Figure("rpm", "RPM", 0),),
    "quic": (_Figure("throughput_mbps", "Mbit/s", 1),),
}
# Further figures of flows with data, in files only.
_IN_FILES = {
    "pings": (_Figure("sent", "sent", 0), _Figure("lost", "lost", 0), _Figure("loss", "loss", 4)),
    "flows": tuple(
        _Figure(key, key, 2)
        for key in ("goodput_mbps", "minrtt_ms", "loss", "delay_p50_ms", "delay_p95_ms", "delay_p99_ms")
    ),
}
# Shown at a terminal only if there are no stations.
_WIRED = {
    "flows": (_Figure("goodput_mbps", "Mbit/s", 1), _Figure("minrtt_ms", "least RTT ms", 1)),
    "pings": (
        _Figure("median_ms", "ping p50 ms", 1),
        _Figure("p95_ms", "ping p95 ms", 1),
        _Figure("p99_ms", "ping p99 ms", 1),
    ),
}


# Figures of delay other than pings.
_DELAYS = {"delay_ms", "mean_s", "rpm", "median_ms"}
_DELAY = {"flows": (_Figure("delay_p95_ms", "one-way p95 ms", 1),)}


class _Column(NamedTuple):
    """A figure of one flow."""

    group: str
    flow: str
    figure: _Figure

    @property
    def name(self) -> str:
        """Column name in a file."""
        return f"{self.flow}.{self.figure.key}"

    def of(self, over: Mapping[str, Any]) -> Mean | None:
        """The figure in one combination."""
        found: Mean | None = (over.get(self.group) or {}).get(self.flow, {}).get(self.figure.key)
        return found


class SweepText:
    """Formats combinations with their results."""

    def __init__(
        self,
        combinations: Sequence[Combination],
        results: Sequence[Result | None],
        runs: int,
        seed: int | None,
        failures: Sequence[Failure] = (),
    ) -> None:
        """`results` are in the order of the combinations, each with `runs` runs."""
        pairs = zip(combinations, results, strict=True)
        self._found = [(combination, result) for combination, result in pairs if result is not None]
        self._results = [result for _, result in self._found]
        self._combinations, self._runs, self._seed, self._failures = combinations, runs, seed, failures

    def to_json(self, indent: int | None = None) -> str:
        """All combinations with their overrides and means over the runs."""
        rows = [
            {"set": dict(combination.sets), "file": name_of(combination), "over_runs": result.summary()}
            for combination, result in self._found
        ]
        name = self._results[0].scenario if self._results else ""
        whole: dict[str, Any] = {
            "version": __version__,
            "scenario": name,
            "runs": self._runs,
            "seed": self._seed,
            "without_effect": self.without_effect(),
            "combinations": rows,
        }
        if self._failures:
            sets = [dict(self._combinations[failure.cell].sets) for failure in self._failures]
            whole["failures"] = [
                {"set": of, "error": failure.error} for of, failure in zip(sets, self._failures, strict=True)
            ]
        return json.dumps(whole, indent=indent, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """A row for each combination: swept keys and means. Unmeasured values are empty.

        With several runs, each mean is followed by the ends of its 95 % confidence interval.
        """
        keys, stations = self._keys(), _stations(self._results)
        groups = _APPS | _IN_FILES
        if not stations:
            groups = groups | {"pings": _WIRED["pings"] + _IN_FILES["pings"]}
        flows = _columns(self._results, groups)
        names = ["goodput_total_mbps", "jain_airtime"]
        names += [f"{station}.{metric}" for station in stations for metric in _STATION]
        names += [column.name for column in flows]
        ends = ("", ".low", ".high") if self._runs > 1 else ("",)
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow([*keys, "runs", *(f"{name}{end}" for name in names for end in ends)])
        for combination, result in self._found:
            over = result.summary()
            found = [over.get("goodput_total_mbps"), over.get("jain_airtime")]
            found += [_of(over, station, metric) for station in stations for metric in _STATION]
            found += [column.of(over) for column in flows]
            cells = [_written(it, end[1:] or "mean") for it in found for end in ends]
            out.writerow([*(value for _, value in combination.sets), str(len(result.runs)), *cells])
        return text.getvalue()

    def to_text(self, width: int | None = None, only: Sequence[str] = ()) -> str:
        """Returns the terminal table with a row for each combination, no wider than `width`, if given.

        With `only`, it contains all figures whose names match one of the patterns.
        """
        heading, rows, notes = self.chosen(only) if only else self.grid()
        keys = len(self._keys())
        above = []
        if width is not None and _wide(heading, rows, keys) > width // 2:
            # Swept values would take up the width: list them once, and refer to them by number.
            sets = [
                ", ".join(f"{key} = {_plain(v)}" for key, v in zip(heading, row[:keys], strict=False)) for row in rows
            ]
            numbers = self._numbers()
            above = [pairs(list(zip(numbers, sets, strict=True)), ("cell", "sets"), width), ""]
            heading, rows, keys = (
                ["cell", *heading[keys:]],
                [[n, *row[keys:]] for n, row in zip(numbers, rows, strict=True)],
                1,
            )
        return "\n".join([*above, table(heading, rows, width=width, labels=keys, words=keys), "", *notes]).rstrip()

    def grid(self) -> tuple[list[str], list[list[str]], list[str]]:
        """Returns heading, rows, and notes to print below."""
        stations, worst = _stations(self._results), self._worst()
        flows = _columns(self._results, _APPS if stations else _APPS | _WIRED)
        pinged = any(_of(result.summary(), name, "ping_median_ms") for result in self._results for name in stations)
        if not pinged and not any(column.figure.key in _DELAYS for column in flows):
            flows = [*flows, *_columns(self._results, _DELAY)]
        # Replace many flows of a kind, and many stations, by the worst of them.
        many = {(own.group, member) for own in worst for member in own.members}
        flows = [column for column in flows if (column.group, column.flow) not in many]
        shown = [name for name in stations if ("stations", name) not in many][:_MOST_COLUMNS]
        told = flows[:_MOST_COLUMNS]
        loses = any(_ping_loss(result.summary()) for result in self._results)
        rows = []
        for combination, result in self._found:
            over = result.summary()
            cells = [_figure(_mean(over.get("goodput_total_mbps")), 2), _figure(_mean(over.get("jain_airtime")), 3)]
            cells += [_figure(_ping_loss(over), 1, 100)] if loses else []
            cells += [_figure(own.of(result.runs), own.digits) for own in worst]
            cells += [_cell(over, name, pinged) for name in shown]
            cells += [_figure(_mean(column.of(over)), column.figure.digits) for column in told]
            rows.append([*(value for _, value in combination.sets), *cells])
        titles = [f"{column.flow} {column.figure.title}" for column in told]
        totals = ["total Mbit/s", "Jain", *(["pings lost %"] if loses else [])]
        heading = [*_short(self._keys()), *totals, *(own.name for own in worst), *shown, *titles]
        lines = []
        if shown:
            lines.append(
                f"by station: goodput Mbit/s / airtime share %{' / ping p50 / p95 / p99 ms' if pinged else ''}"
            )
        if worst:
            lines.append("worst, least: of all flows or stations of a kind, in each run")
        if self._runs > 1:
            lines.append(f"means over {self._runs} runs")
        if worst or len(shown) < len(stations) or len(told) < len(flows):
            lines.append("--only 'PATTERN' shows other figures; sweep.csv in the folder of -o has all")
        return heading, rows, lines + self._idle()

    def chosen(self, only: Sequence[str]) -> tuple[list[str], list[list[str]], list[str]]:
        """Returns the table of matching figures. Raises `InputError` if no name matches."""
        runs = [run for result in self._results for run in result.runs]
        figures = [one for one in quantities.every(runs) if any(value is not None for value in one.values(runs))]
        worst = [one for one in self._worst() if quantities.fits(one.name, only)]
        own = [one for one in figures if quantities.fits(one.name, only)]
        if not own and not worst:
            there = ", ".join(dict.fromkeys(one.quantity.words for one in figures))
            raise InputError(f"--only: found {', '.join(only)}, expected part of a figure's name; there are {there}")
        rows = []
        for combination, result in self._found:
            cells = [_figure(one.of(result.runs), one.digits) for one in worst]
            cells += [_figure(_mean_of(one, result), one.quantity.digits, one.quantity.scale) for one in own]
            rows.append([*(value for _, value in combination.sets), *cells])
        names = [f"{one.name} {one.quantity.unit}".rstrip() for one in own]
        heading = [*_short(self._keys()), *(one.name for one in worst), *names]
        lines = [f"means over {self._runs} runs"] if self._runs > 1 else []
        return heading, rows, lines + self._idle()

    def _worst(self) -> list[kinds.Worst]:
        return kinds.worst([run for result in self._results for run in result.runs])

    def _idle(self) -> list[str]:
        return [f"{key}: no effect in any combination" for key in self.without_effect()]

    def failed(self, width: int = 80) -> str:
        """Failed combinations: number, overrides, and error."""
        shown = self._failures[:_MOST_FAILURES]
        rows = []
        for of in shown:
            sets = self.named(of.cell)
            rows.append((str(of.cell), f"{sets}: {of.error}" if sets else of.error))
        more = len(self._failures) - len(shown)
        text = pairs(rows, ("cell", "sets: error"), width)
        return f"{text}\nand {more} more" if more else text

    def named(self, cell: int) -> str:
        """Describes a combination's settings."""
        sets = self._combinations[cell].sets
        return ", ".join(f"{name} = {_plain(v)}" for name, (_, v) in zip(_short(self._keys()), sets, strict=True))

    def _numbers(self) -> list[str]:
        """Numbers of the combinations with a result, from 0."""
        places = {combination: at for at, combination in enumerate(self._combinations)}
        return [str(places[combination]) for combination, _ in self._found]

    def without_effect(self) -> list[str]:
        """Swept keys without effect: all of their values give the same traces, with the other keys equal."""
        return [key for at, key in enumerate(self._keys()) if self._is_idle(at)]

    def _is_idle(self, at: int) -> bool:
        found: dict[tuple[tuple[str, str], ...], list[Sequence[str]]] = {}
        for combination, result in self._found:
            others = (*combination.sets[:at], *combination.sets[at + 1 :])
            found.setdefault(others, []).append([run["trace_hash"] for run in result.runs])
        compared = [traces for traces in found.values() if len(traces) > 1]
        return bool(compared) and all(traces == others[0] for others in compared for traces in others)

    def _keys(self) -> list[str]:
        return [key for key, _ in self._combinations[0].sets]


def _stations(results: Sequence[Result]) -> list[str]:
    """Stations of all combinations, in natural order."""
    return natural({name for result in results for name in result.summary().get("stations") or {}})


def _columns(results: Sequence[Result], groups: Mapping[str, Sequence[_Figure]]) -> list[_Column]:
    """Figures of flows that any combination has."""
    overs: list[Mapping[str, Any]] = [result.summary() for result in results]
    flows = {group: natural({flow for over in overs for flow in over.get(group) or {}}) for group in groups}
    every = [
        _Column(group, flow, figure) for group, figures in groups.items() for flow in flows[group] for figure in figures
    ]
    return [column for column in every if any(column.of(over) is not None for over in overs)]


def _of(over: Mapping[str, Any], station: str, metric: str) -> Mean | None:
    found: Mean | None = (over.get("stations") or {}).get(station, {}).get(metric)
    return found


def _ping_loss(over: Mapping[str, Any]) -> float | None:
    """Share of all pings that was lost; `None` without a ping, or in results that do not count them."""
    pings = [ping for ping in (over.get("pings") or {}).values() if ping.get("sent") and ping.get("lost")]
    sent, lost = (math.fsum(ping[key]["mean"] for ping in pings) for key in ("sent", "lost"))
    return lost / sent if sent else None


def _mean_of(figure: quantities.Figure, result: Result) -> float | None:
    known = [value for value in figure.values(result.runs) if value is not None]
    return math.fsum(known) / len(known) if known else None


def _mean(value: Mean | None) -> float | None:
    return None if value is None else value["mean"]


def _figure(value: float | None, digits: int, scale: float = 1) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"


def _cell(over: Mapping[str, Any], station: str, pinged: bool) -> str:
    """Figures of a station, including pings if any station has them."""
    goodput, airtime, *pings = (_mean(_of(over, station, metric)) for metric in _STATION)
    parts = [_figure(goodput, 1), _figure(airtime, 1, 100), *(_figure(ms, 1) for ms in pings if pinged)]
    return " / ".join(parts)


def _written(value: Mean | None, part: str) -> str:
    """Part of an interval for a file; empty if unmeasured or without an interval."""
    found = None if value is None else {**value}[part]
    return "" if found is None else repr(found)


def _wide(heading: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> int:
    """Width of the first columns."""
    return sum(max(len(row[at]) for row in (heading, *rows)) + 2 for at in range(columns))


def _plain(value: str) -> str:
    """Prints a swept value without quotes around table keys."""
    return re.sub(r'"([A-Za-z0-9_-]+)" =', r"\1 =", value)


def _short(keys: Sequence[str]) -> list[str]:
    """Shortens keys to the fewest trailing parts that keep them distinct."""
    parts = [key.split(".") for key in keys]
    most = max((len(part) for part in parts), default=1)
    for count in range(1, most + 1):
        names = [".".join(part[-count:]) for part in parts]
        # A bare number is meaningless: `flow.0` is better than `0`.
        if len(set(names)) == len(names) and not any(name.isdigit() for name in names):
            return names
    return list(keys)
