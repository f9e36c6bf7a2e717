"""The measurements of a scenario's runs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from stillair._native import InputError
from stillair.results import result_folder as folders
from stillair.results import sampled, summary, tidy
from stillair.results.flent import file as flent
from stillair.results.frame import Columns, Frame, Kind, Tabular
from stillair.results.report import Figure, Run, Summary, Whole, figures
from stillair.results.series import Series
from stillair.results.statistics import Means
from stillair.results.tidy import Measured
from stillair.text import markup

if TYPE_CHECKING:
    from stillair import Picture

NO_SERIES = "the result has no series: run the scenario with series=True, or with -o and load the folder"


class Result(Tabular):
    """The measurements of a scenario's runs. As a table: the tidy table of all series."""

    def __init__(
        self,
        data: Mapping[str, Any],
        resolved: str | None = None,
        folder: Path | None = None,
        load: Callable[[Mapping[str, Any]], Series] | None = None,
    ) -> None:
        """Wraps the engine's report. `load` returns the series of a run that the report does not include.

        Raises `InputError` if there are no runs.
        """
        if not data["runs"]:
            raise InputError("runs: found none, expected at least one")
        self.version: str = data["version"]
        self.scenario: str = data["scenario"]
        is_lazy = isinstance(data["runs"], folders.Runs)
        self.runs: Sequence[Run] = (
            data["runs"] if is_lazy else [cast("Run", _without_series(run)) for run in data["runs"]]
        )
        """Each run's report, as in `stillair run --json`."""
        self.planned: int = max(data.get("planned_runs", 0), len(self.runs))
        """Requested number of runs, which is larger than the number of runs after an interruption."""
        self.notes: list[str] = list(data.get("notes", ()))
        """Notes about the scenario, such as a rate that its signal cannot carry."""
        self.resolved = resolved
        """Resolved scenario as JSON, if the result has series."""
        self.folder = folder
        """Folder that the result was loaded from."""
        self._series = {} if is_lazy else {run["run"]: run["series"] for run in data["runs"] if "series" in run}
        self._load = load
        self._summaries: dict[float, Summary] = {}

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """Parses the output of the engine or of `to_json`."""
        return cls(json.loads(text))

    @classmethod
    def load(cls, folder: str | Path) -> "Result":
        """Loads a folder written by `stillair run -o`."""
        path = Path(folder)
        kept = folders.read(path)
        # A partial instead of a closure, so that a result can be pickled.
        load = partial(_series, path, kept.data["scenario"], kept.nodes)
        return cls(kept.data, kept.resolved, path, load)

    def run_with_series(self, run: int) -> Measured:
        """Returns a run by number, with its series."""
        numbers = self.runs.numbers if isinstance(self.runs, folders.Runs) else [found["run"] for found in self.runs]
        if run not in numbers:
            raise InputError(f"run: found {run}, expected {_numbers(numbers)}")
        return self._measured(self.runs[numbers.index(run)])

    def _measured(self, summary: Run) -> Measured:
        if summary["run"] in self._series:
            return Measured(self.scenario, summary, Series(self._series[summary["run"]]))
        if self._load is None:
            raise InputError(NO_SERIES)
        return Measured(self.scenario, summary, self._load(summary))

    def runs_with_series(self) -> Iterator[Measured]:
        """Yields all runs with their series, one at a time."""
        return (self._measured(summary) for summary in self.runs)

    def kinds(self) -> Mapping[str, Kind]:
        """Columns of the tidy table."""
        return tidy.KINDS

    def batches(self) -> Iterator[Columns]:
        """The tidy table, one run per batch. Raises `InputError` if the result has no series."""
        if self._load is None and not self._series:
            raise InputError(NO_SERIES)
        return (tidy.columns([measured]) for measured in self.runs_with_series())

    def pings(self) -> Frame:
        """All ping replies. Raises `InputError` if the result has no series."""
        return tidy.pings(self.runs_with_series())

    def figures(self) -> Frame:
        """All figures of all runs, one per row: `stations`, `fast1`, `goodput_mbps`, 40.8."""
        kinds: dict[str, Kind] = {"run": "uint64", "seed": "uint64", **dict.fromkeys(Figure._fields[:3], "text")}
        found = [(run["run"], run["seed"], *figure) for run in self.runs for figure in figures(run)]
        columns = dict(zip((*kinds, "value"), map(list, zip(*found, strict=True)), strict=True))
        return Frame(f"{self.scenario}, figures", kinds | {"value": "float64"}, columns)

    def sockets(self) -> Frame:
        """Samples of all TCP senders, as in `ss`. Raises `InputError` without `[record] ss`."""
        return sampled.sockets_frame(self.scenario, self.runs)

    def queues(self) -> Frame:
        """Queue samples. Raises `InputError` without `[record] queues`."""
        return sampled.queues_frame(self.scenario, self.runs)

    def exchanges(self) -> Frame:
        """All exchanges on the air. Raises `InputError` without `[record] air`."""
        return sampled.exchanges_frame(self.scenario, self.runs)

    def sojourn(self) -> Frame:
        """Packet delay by layer and cause. Raises `InputError` without `[record] sojourn`."""
        return sampled.sojourn_frame(self.scenario, self.runs)

    def plot(self, name: str = "timeseries", *, window: tuple[float, float] | None = None) -> "Picture":
        """Returns a picture, as drawn by `stillair plot`. `window`, in seconds, applies to the timeline."""
        # Imported from the package, which re-exports it: results must not depend on plots.
        from stillair import Picture  # noqa: PLC0415

        return Picture(name, self, window)

    def __repr__(self) -> str:
        """Scenario, runs and goodput."""
        return f"<Result of {summary.head(self)}: {summary.totals(self.summary())}>"

    def _repr_html_(self) -> str:
        """The summary, for notebooks."""
        over = self.summary()
        tables = [summary.stations(over), *summary.traffic(self), summary.drops(over)]
        shown = (
            f"<p><b>{markup.lines(table.title)}</b></p>\n{markup.grid(table.header, map(markup.row, table.rows))}\n"
            for table in tables
            if table.rows
        )
        head = markup.lines("\n".join([summary.head(self), summary.totals(over), *self.notes]))
        return f"<p>{head}</p>\n{''.join(shown)}"

    def save(self, path: str | Path, run: int | None = None) -> None:
        """Writes a file in the format of its suffix: `.csv`, `.parquet`, or `.flent.gz` (one run)."""
        path = Path(path)
        runs = self.runs_with_series() if run is None else iter([self.run_with_series(run)])
        name = path.name.lower()
        if name.endswith(".flent.gz"):
            if run is None and len(self.runs) > 1:
                raise InputError(f"{path}: a Flent file holds one run of {len(self.runs)}; select one with run=N")
            flent.write(path, next(runs), self.resolved_json())
        elif name.endswith(".csv"):
            tidy.write_csv(path, runs)
        elif name.endswith(".parquet"):
            tidy.write_parquet(path, runs, self.resolved_json())
        else:
            raise InputError(f"{path}: the name must end in .flent.gz, .csv or .parquet")

    def resolved_json(self) -> str:
        """Resolved scenario as JSON. Raises `InputError` if the result has no series, and so no scenario."""
        if self.resolved is None:
            raise InputError(NO_SERIES)
        return self.resolved

    def summary(self, ci: float = 0.95) -> Summary:
        """Keys of a run as mean, low and high over the runs, with confidence level `ci`.

        With a single value, low and high are `None`. A value that no run measured is `None`. A drop counts as
        zero in runs without it. `to_dict` and files contain 95 % intervals under `over_runs`.
        """
        if not 0 < ci < 1:
            raise InputError(f"ci: found {ci}, expected a level between 0 and 1, such as 0.95")
        if ci not in self._summaries:
            means = Means()
            for run in self.runs:
                means.add(run)
            self._summaries[ci] = cast("Summary", means.summary(ci))
        return self._summaries[ci]

    def to_dict(self) -> Whole:
        """The object that `stillair run --json` prints."""
        head = {"version": self.version, "scenario": self.scenario, **({"notes": self.notes} if self.notes else {})}
        return cast("Whole", head | {"runs": self.runs, "over_runs": self.summary()})

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as text. Raises an error for values that JSON cannot represent."""
        if indent is None:
            return "".join(self.json_parts())
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def json_parts(self) -> Iterator[str]:
        """`to_json` in pieces, one run at a time."""
        head = {"version": self.version, "scenario": self.scenario, **({"notes": self.notes} if self.notes else {})}
        return joined(head, map(as_json, self.runs), self.summary())


def _without_series(run: Mapping[str, Any]) -> Mapping[str, Any]:
    # Return the run itself if it has no series: it may load lazily.
    return {key: run[key] for key in run if key != "series"} if "series" in run else run


def _series(folder: Path, scenario: str, nodes: frozenset[str], run: Mapping[str, Any]) -> Series:
    return folders.measured(folder, scenario, run, nodes).series


def _numbers(runs: Sequence[int]) -> str:
    """Describes the available run numbers."""
    if len(runs) == 1:
        return f"{runs[0]}, the only run"
    if list(runs) == list(range(runs[0], runs[-1] + 1)):
        return f"one of the runs {runs[0]} to {runs[-1]}"
    return f"one of the runs {', '.join(map(str, runs))}"


class Digest:
    """Means over runs and the rest of the printed summary, without the runs themselves."""

    def __init__(self, scenario: str, notes: Sequence[str], planned: int) -> None:
        """Starts without runs."""
        self.scenario, self.notes, self.planned = scenario, list(notes), planned
        self.means = Means()
        self._runs: list[Run] = []
        self.runs: Sequence[Run] = self._runs
        """Number and seed of each run, and flows that no earlier run has."""
        self._flows: set[str] = set()

    def add(self, run: Mapping[str, Any]) -> None:
        """Adds a run; runs must come in order of their numbers."""
        self.means.add(run)
        flows = {name: flow for name, flow in (run.get("flows") or {}).items() if name not in self._flows}
        self._flows |= flows.keys()
        kept = {"run": run["run"], "seed": run["seed"], **({"flows": flows} if flows else {})}
        self._runs.append(cast("Run", kept))

    def summary(self, ci: float = 0.95) -> Summary:
        """Same as `Result.summary`."""
        return cast("Summary", self.means.summary(ci))


class InOrder:
    """Passes on runs in order of their numbers, although they finish in any order."""

    def __init__(self, take: Callable[[Mapping[str, Any]], None], first: int = 0) -> None:
        """`take` receives each run."""
        self._take, self._next = take, first
        self._early: dict[int, Callable[[], Mapping[str, Any]]] = {}

    def is_next(self, number: int) -> bool:
        """Returns true if the run is the next to be passed on."""
        return number == self._next

    def add(self, number: int, load: Callable[[], Mapping[str, Any]]) -> None:
        """Adds a run. `load` is called once it is the next."""
        self._early[number] = load
        while self._next in self._early:
            run = self._early.pop(self._next)()
            self._next += 1
            self._take(run)

    def rest(self) -> None:
        """Passes on runs that wait for a missing one."""
        for number in sorted(self._early):
            self._take(self._early.pop(number)())


def as_json(value: object) -> str:
    """JSON on one line. Raises an error for values that JSON cannot represent."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def joined(head: Mapping[str, Any], runs: Iterable[str], over_runs: Mapping[str, Any]) -> Iterator[str]:
    """The object that `stillair run --json` prints, in pieces; `runs` are already JSON."""
    yield as_json(head)[:-1] + ', "runs": ['
    for number, run in enumerate(runs):
        yield f", {run}" if number else run
    yield f'], "over_runs": {as_json(over_runs)}' + "}"
