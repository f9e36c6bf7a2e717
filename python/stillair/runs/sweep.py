"""All combinations of a scenario's `[sweep]` table, with what is finished kept for the next time."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stillair import __version__, _native
from stillair._native import InputError
from stillair.results.result import Result
from stillair.runs.scenario import Overrides, Scenario, check_runs, pairs, processors
from stillair.text import output
from stillair.text.table import natural, table

Override = tuple[str, str]

_STATION = ("goodput_mbps", "airtime_share", "ping_median_ms")
_MOST_COLUMNS = 8  # more than these are not read at a terminal; the files have all


class _Figure(NamedTuple):
    """One figure of calls, pages or flows: its key, and what stands above it in the table."""

    key: str
    title: str
    digits: int


# What flows of each kind are told by, under the names of the summary over runs.
_APPS = {
    "voip": (_Figure("mos", "MOS", 2), _Figure("delay_ms", "delay ms", 1), _Figure("jitter_ms", "jitter ms", 1)),
    "web": (_Figure("mean_s", "load s", 2),),
    "quic": (_Figure("throughput_mbps", "Mbit/s", 1),),
}
# What a file has of every flow that carries data.
_IN_FILES = {
    "flows": tuple(
        _Figure(key, key, 2)
        for key in ("goodput_mbps", "minrtt_ms", "loss", "delay_p50_ms", "delay_p95_ms", "delay_p99_ms")
    )
}
# Where there are stations, theirs say it at a terminal.
_WIRED = {
    "flows": (_Figure("goodput_mbps", "Mbit/s", 1), _Figure("minrtt_ms", "least RTT ms", 1)),
    "pings": (_Figure("median_ms", "ping ms", 1),),
}


class _Column(NamedTuple):
    """A figure of one flow."""

    group: str
    flow: str
    figure: _Figure

    @property
    def name(self) -> str:
        """Its name in a file."""
        return f"{self.flow}.{self.figure.key}"

    def of(self, over: Mapping[str, Any]) -> Mapping[str, float] | None:
        """What one combination has of it."""
        found: Mapping[str, float] | None = (over.get(self.group) or {}).get(self.flow, {}).get(self.figure.key)
        return found


@dataclass(frozen=True)
class Combination:
    """One combination: what it sets, and what it is recognised by when the sweep is run again."""

    sets: tuple[Override, ...]
    fingerprint: str


class Sweep:
    """The combinations of a scenario, each to be run `runs` times."""

    def __init__(self, scenario: Scenario, overrides: Overrides = (), runs: int = 1, seed: int | None = None) -> None:
        """Reads every combination; a mistake in any is found here. `overrides` act below those of the table.

        `seed` takes the place of the file's; an `InputError` if the table has seeds of its own.
        """
        check_runs(runs, seed, jobs=None)
        self.scenario = scenario
        self.runs = runs
        self.seed = seed
        self.base = pairs(overrides)
        table = scenario.sweep(self.base)
        if seed is not None and any(key == "seed" for key, _ in table[0]):
            raise InputError(
                f"--seed: found {seed}, but the [sweep] table of {scenario.file} sets seed: leave out one of the two"
            )
        self.combinations = [self._combination(sets) for sets in table]

    def _combination(self, sets: list[Override]) -> Combination:
        try:
            resolved = self.scenario.resolve([*self.base, *sets])
        except InputError as error:
            # The reader knows a value of the table only as one that was set.
            values = ", ".join(f"{key} = {value}" for key, value in sets)
            raise InputError(f"{self.scenario.file}: [sweep] with {values}: {error}") if sets else error from None
        # The resolved scenario holds all that decides a run, but for the seed given beside it.
        what = json.dumps([__version__, resolved, self.runs, self.seed])
        return Combination(tuple(sets), hashlib.sha256(what.encode()).hexdigest()[:20])

    def run(
        self,
        jobs: int | None = None,
        folder: Path | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Result]:
        """Runs what `folder` does not have yet, `jobs` runs at once, and keeps each combination as it is finished.

        Results stand in the order of the combinations and do not depend on `jobs`.
        """
        check_runs(self.runs, self.seed, jobs)
        results = [self._kept(folder, combination) for combination in self.combinations]
        missing = [index for index, result in enumerate(results) if result is None]
        found = self.runs * (len(results) - len(missing))

        def finished(count: int) -> None:
            if progress is not None:
                progress(found + count)

        def done(position: int, text: str) -> None:
            index = missing[position]
            results[index] = Result.from_json(text)
            if folder is not None:
                output.write_files(folder, {_name(self.combinations[index]): _sealed(text)})

        finished(0)
        if missing:
            if folder is not None:
                output.prepare(folder / "combinations")
            variants = [[*self.base, *self.combinations[index].sets] for index in missing]
            scenario = self.scenario
            _native.run_variants(
                scenario.text, scenario.file, variants, self.seed, self.runs, jobs or processors(), finished, done
            )
        return [result for result in results if result is not None]

    def _kept(self, folder: Path | None, combination: Combination) -> Result | None:
        if folder is None:
            return None
        result = _unsealed(folder / _name(combination))
        return result if result is not None and len(result.runs) == self.runs else None

    def kept(self, folder: Path) -> int:
        """How many combinations the folder has."""
        return sum(self._kept(folder, combination) is not None for combination in self.combinations)

    def prepare(self, folder: Path) -> None:
        """An `InputError` if files in the folder have the names of a sweep's and are not a sweep's of ours."""
        try:
            data = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
            ours = isinstance(data, dict) and {"version", "scenario", "combinations"} <= data.keys()
        except (OSError, ValueError, RecursionError):
            ours = False
        if not ours:
            output.refuse_others(folder, ("sweep.json", "sweep.csv"), "a sweep")

    def grows(self, folder: Path) -> bool:
        """Whether all that the folder's `sweep.json` tells of is told of by this sweep too, so that nothing is lost."""
        try:
            rows = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))["combinations"]
            told = {row["file"] for row in rows}
        except FileNotFoundError:
            return True
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            return False
        return told <= {_name(combination) for combination in self.combinations}

    def write(self, folder: Path, results: Sequence[Result]) -> None:
        """Writes `sweep.json` and `sweep.csv`."""
        text = self.to_json(results, indent=1) + "\n"
        output.write_files(folder, {"sweep.json": text, "sweep.csv": self.to_csv(results)})

    def to_json(self, results: Sequence[Result], indent: int | None = None) -> str:
        """Every combination with what it sets and its means over the runs."""
        rows = [
            {"set": dict(combination.sets), "file": _name(combination), "over_runs": result.over_runs()}
            for combination, result in zip(self.combinations, results, strict=True)
        ]
        name = results[0].scenario if results else ""
        whole = {
            "version": __version__,
            "scenario": name,
            "runs": self.runs,
            "seed": self.seed,
            "without_effect": self.without_effect(results),
            "combinations": rows,
        }
        return json.dumps(whole, indent=indent, ensure_ascii=False, allow_nan=False)

    def to_csv(self, results: Sequence[Result]) -> str:
        """A row for each combination: the swept keys and the means; empty where nothing was measured.

        Of several runs each mean has the ends of its 95 % confidence interval beside it.
        """
        keys, stations = self._keys(), _stations(results)
        flows = _columns(results, _APPS | _IN_FILES if stations else _APPS | _WIRED | _IN_FILES)
        names = ["goodput_total_mbps", "jain_airtime"]
        names += [f"{station}.{metric}" for station in stations for metric in _STATION]
        names += [column.name for column in flows]
        ends = ("", ".low", ".high") if self.runs > 1 else ("",)
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow([*keys, "runs", *(f"{name}{end}" for name in names for end in ends)])
        for combination, result in zip(self.combinations, results, strict=True):
            over = result.over_runs()
            found = [over.get("goodput_total_mbps"), over.get("jain_airtime")]
            found += [_of(over, station, metric) for station in stations for metric in _STATION]
            found += [column.of(over) for column in flows]
            cells = [_written(it, end[1:] or "mean") for it in found for end in ends]
            out.writerow([*(value for _, value in combination.sets), str(len(result.runs)), *cells])
        return text.getvalue()

    def to_text(self, results: Sequence[Result], width: int | None = None) -> str:
        """The table at the terminal: one row for each combination; no wider than `width`, if it is given."""
        stations = _stations(results)
        flows = _columns(results, _APPS if stations else _APPS | _WIRED)
        shown, told = stations[:_MOST_COLUMNS], flows[:_MOST_COLUMNS]
        rows = []
        for combination, result in zip(self.combinations, results, strict=True):
            over = result.over_runs()
            cells = [_figure(_mean(over.get("goodput_total_mbps")), 2), _figure(_mean(over.get("jain_airtime")), 3)]
            cells += [_cell(over, name) for name in shown]
            cells += [_figure(_mean(column.of(over)), column.figure.digits) for column in told]
            rows.append([*(value for _, value in combination.sets), *cells])
        titles = [f"{column.flow} {column.figure.title}" for column in told]
        heading = [*_short(self._keys()), "total Mbit/s", "Jain", *shown, *titles]
        lines = [table(heading, rows, width=width), ""]
        if stations:
            lines.append("by station: goodput Mbit/s / airtime % / ping median ms")
        if self.runs > 1:
            lines.append(f"means over {self.runs} runs")
        for more, what in ((len(stations) - len(shown), "stations"), (len(flows) - len(told), "figures of flows")):
            if more > 0:
                lines.append(f"and {more} more {what}; sweep.csv in the folder of -o has all")
        lines += [f"{key}: no effect in any combination" for key in self.without_effect(results)]
        return "\n".join(lines).rstrip()

    def without_effect(self, results: Sequence[Result]) -> list[str]:
        """Keys that were swept and changed nothing: with the others alike, every value gives the same traces."""
        return [key for at, key in enumerate(self._keys()) if self._is_idle(at, results)]

    def _is_idle(self, at: int, results: Sequence[Result]) -> bool:
        found: dict[tuple[Override, ...], list[Sequence[str]]] = {}
        for combination, result in zip(self.combinations, results, strict=True):
            others = (*combination.sets[:at], *combination.sets[at + 1 :])
            found.setdefault(others, []).append([run["trace_hash"] for run in result.runs])
        compared = [traces for traces in found.values() if len(traces) > 1]
        return bool(compared) and all(traces == others[0] for others in compared for traces in others)

    def _keys(self) -> list[str]:
        return [key for key, _ in self.combinations[0].sets]


def _name(combination: Combination) -> str:
    return f"combinations/{combination.fingerprint}.json"


def _sealed(text: str) -> str:
    """A result as JSON with a checksum of all else in it: what was edited or damaged must not count as measured."""
    data = json.loads(text)
    return json.dumps(data | {"sha256": _checksum(data)}, ensure_ascii=False, allow_nan=False)


def _unsealed(file: Path) -> Result | None:
    """The result in a file; none if it is not there, or not as it was written."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        whole = isinstance(data, dict) and data.pop("sha256", None) == _checksum(data)
    except (OSError, ValueError, RecursionError):
        return None
    return Result(data) if whole else None


def _checksum(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _stations(results: Sequence[Result]) -> list[str]:
    """The stations of all combinations, as people count."""
    return natural({name for result in results for name in result.over_runs().get("stations") or {}})


def _columns(results: Sequence[Result], groups: Mapping[str, Sequence[_Figure]]) -> list[_Column]:
    """The figures of flows that any combination has."""
    overs = [result.over_runs() for result in results]
    flows = {group: dict.fromkeys(flow for over in overs for flow in over.get(group) or {}) for group in groups}
    every = [
        _Column(group, flow, figure) for group, figures in groups.items() for flow in flows[group] for figure in figures
    ]
    return [column for column in every if any(column.of(over) is not None for over in overs)]


def _of(over: Mapping[str, Any], station: str, metric: str) -> Mapping[str, float] | None:
    found: Mapping[str, float] | None = (over.get("stations") or {}).get(station, {}).get(metric)
    return found


def _mean(value: Mapping[str, float] | None) -> float | None:
    return None if value is None else value["mean"]


def _figure(value: float | None, digits: int, scale: float = 1) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"


def _cell(over: Mapping[str, Any], station: str) -> str:
    goodput, airtime, ping = (_mean(_of(over, station, metric)) for metric in _STATION)
    return f"{_figure(goodput, 1)} / {_figure(airtime, 1, 100)} / {_figure(ping, 1)}"


def _written(value: Mapping[str, float | None] | None, part: str) -> str:
    """A part of an interval as a file has it; what was not measured, or has no interval, is empty."""
    found = None if value is None else value[part]
    return "" if found is None else repr(found)


def _short(keys: Sequence[str]) -> list[str]:
    """The keys by as few of their last parts as tell them apart."""
    parts = [key.split(".") for key in keys]
    most = max((len(part) for part in parts), default=1)
    for count in range(1, most + 1):
        names = [".".join(part[-count:]) for part in parts]
        # A number alone says nothing: `flow.0` is better than `0`.
        if len(set(names)) == len(names) and not any(name.isdigit() for name in names):
            return names
    return list(keys)
