"""Reads result folders, which `runs.result_writer` writes run by run.

A folder contains `result.json` (summary), `scenario.toml` (as given), `scenario.resolved.json`,
`overrides.json`, `runs/run-N.json` (summary and series of a run), `table.csv`, `pings.csv`, `probes.csv` for
responsiveness tests, and `sockets.csv` and `queues.csv` if recorded.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast, overload

from stillair._native import InputError, __version__
from stillair.results import qlog, sampled
from stillair.results.report import Run
from stillair.results.series import Series
from stillair.results.tidy import Measured
from stillair.text import shape, source

# Folder format. Raised when an older program could no longer read it.
FORMAT = 1

NEW = ".new-result"
"""Subfolder for an incomplete result."""


_HEAD = shape.record(
    {"format": shape.whole(), "version": shape.text, "scenario": shape.text, "runs": shape.each(shape.unread)},
    {"planned_runs": shape.whole()},
)

_STATION = dict.fromkeys(("goodput_mbps", "airtime_share", "mean_aggregate"), shape.maybe(shape.number))

_COUNTS = ("packets", "lost", "loss", "late", "mos", "retransmissions", "timeouts")
_UNITS = ("_ms", "_mbps", "_s", "_share")


def _numbers(value: Mapping[str, Any]) -> None:
    """Checks that keys named as numbers are numbers or null, in any engine version."""
    for key, of in value.items():
        if (key in _COUNTS or key.endswith(_UNITS)) and of is not None:
            try:
                shape.number(of)
            except shape.Misfit as misfit:
                misfit.keys.append(key)
                raise


_OF_ONE = shape.record(
    {},
    {
        "traces": shape.unread,
        **dict.fromkeys(("goodput_mbps", "loss", "late"), shape.maybe(shape.number)),
        **dict.fromkeys(("protocol", "from", "to"), shape.text),
    },
    rest=shape.single,
)
_OF_EACH = shape.table(shape.both(_OF_ONE, _numbers))
"""Keys of each flow or call, by name."""

_TINS = shape.table(shape.record({}, rest=shape.single))
_DISCIPLINES = shape.table(shape.record({}, {"tins": _TINS}, rest=shape.single))
"""Counters of each discipline by name, for cake also of each tin."""

_TESTS = shape.table(shape.record({}, {"probes": _TINS}, rest=shape.single))
"""Keys of each responsiveness test, and of its probes by kind."""

_SLEEP = shape.record({}, dict.fromkeys(("dozing_s", "sleeps", "away_s", "trips"), shape.number))

_MEANS = dict.fromkeys(("goodput_total_mbps", "jain_airtime"), shape.maybe(shape.number))
_TABLES = {
    **dict.fromkeys(("flows", "pings", "voip", "web"), _OF_EACH),
    "qdiscs": _DISCIPLINES,
    "responsiveness": _TESTS,
}

_SUMMARY = shape.record(
    {
        "run": shape.whole(most=2**32 - 1),
        "seed": shape.whole(most=2**64 - 1),
        "trace_hash": shape.text,
        "stations": shape.table(shape.record(_STATION, rest=shape.maybe(shape.number))),
        "drops": shape.each(shape.record({"place": shape.text, "reason": shape.text, "packets": shape.whole()})),
    },
    {
        **sampled.SHAPES,
        **_MEANS,
        **_TABLES,
        "air": shape.table(shape.table(shape.maybe(shape.number))),
        "losses": shape.table(shape.table(shape.number)),
        "power": shape.table(_SLEEP),
        "quic": shape.both(shape.table(_OF_ONE), qlog.SHAPE),
    },
)

_RESULT = shape.record({"runs": shape.each(_SUMMARY, least=1)}, {"notes": shape.each(shape.text)}, rest=shape.unread)

_RUN = shape.record({"trace_hash": shape.text, "series": shape.unread}, rest=shape.unread)

_INTERFACE = shape.record(
    {
        "name": shape.text,
        "medium": shape.record({}, {"role": shape.record({"kind": shape.text}, {"ap": shape.text})}),
        "qdisc": shape.record({"config": shape.record({"kind": shape.text})}),
    }
)

_RESOLVED = shape.record(
    {
        "nodes": shape.each(
            shape.record(
                {
                    "name": shape.text,
                    "interfaces": shape.each(_INTERFACE, least=1),
                    "profile": shape.record({"name": shape.text, "tcp": shape.record({})}),
                }
            ),
            least=1,
        )
    }
)
"""Required keys of a resolved scenario."""


_LARGE = 32 << 20
"""Size of `result.json` in bytes beyond which runs are read one at a time, on use."""

_RUN_LINE = re.compile(rb'\{"run": (\d{1,10}), ')


class Runs(Sequence["Run"]):
    """Summaries of a large `result.json` with one run per line. Keeps only the last one in memory."""

    def __init__(self, file: Path, places: list[tuple[int, int]], numbers: list[int]) -> None:
        """`places` is the offset and length of each run, `numbers` its number."""
        self._file, self._places, self.numbers = file, places, numbers
        self._last: tuple[int, Run] | None = None

    @classmethod
    def places_in(cls, file: Path) -> "tuple[dict[str, Any], Runs] | None":
        """Returns the result without its runs, and the runs; `None` if the file is not in lines."""
        numbers: list[int] = []
        places: list[tuple[int, int]] = []
        with file.open("rb") as lines:
            longest = source.most_json()
            first = lines.readline(source.TEXT).rstrip()
            if not first.endswith(b'"runs": ['):
                return None
            at = lines.tell()
            # A file without line ends must not be read as one line.
            for line in iter(lambda: lines.readline(longest), b""):
                if line.startswith(b"]"):
                    try:
                        head = json.loads(first + line)
                    except ValueError:
                        return None
                    return head, cls(file, places, numbers)
                found = _RUN_LINE.match(line)
                if found is None:
                    return None
                numbers.append(int(found[1]))
                places.append((at, len(line.rstrip().rstrip(b","))))
                at += len(line)
        return None

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> "Run": ...

    @overload
    def __getitem__(self, at: slice) -> "list[Run]": ...

    def __getitem__(self, at: int | slice) -> "Run | list[Run]":
        """Summary at a position."""
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        if self._last is None or self._last[0] != at:
            begin, length = self._places[at]
            with self._file.open("rb") as file:
                file.seek(begin)
                text = file.read(length)
            self._last = (at, self._read(at, text))
        return self._last[1]

    def __iter__(self) -> "Iterator[Run]":
        """All summaries, one at a time."""
        return (self[at] for at in range(len(self)))

    def _read(self, at: int, text: bytes) -> "Run":
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{self._file}: runs.{at}: is not JSON") from None
        shape.check(data, _SUMMARY, self._file)
        return cast("Run", data)


class Kept(NamedTuple):
    """Content of a folder, except for the series."""

    data: dict[str, Any]
    """The summaries."""
    resolved: str
    """The resolved scenario as JSON."""
    nodes: frozenset[str]
    """Names of the nodes, and of their interfaces as NODE.INTERFACE, which a flow may also name."""


def read(path: Path) -> Kept:
    """Reads a result folder. Use `measured` for the series of a run."""
    if not path.exists():
        raise InputError(f"{path}: no such folder; give the folder that 'stillair run -o' wrote")
    if not path.is_dir():
        raise InputError(f"{path}: is a file; give the folder that 'stillair run -o' wrote")
    file = path / "result.json"
    if not file.exists():
        for runs in (path / NEW / "runs", path / "runs"):
            if runs.is_dir():
                raise InputError(
                    f"{file}: missing: the runs were cut off; {len(list(runs.glob('run-*.json')))} finished ones are"
                    f" in {runs}; repeat 'stillair run' with -o {path} to continue"
                )
        if (path / "combinations").is_dir():
            raise InputError(
                f"{path}: is the folder of a sweep, which has no series;"
                " run one combination with 'stillair run FILE --set KEY=VALUE -o FOLDER'"
            )
        raise InputError(f"{file}: missing: {path} is not a result folder")
    lazy = Runs.places_in(file) if file.stat().st_size > _LARGE else None
    data = _read(file) if lazy is None else lazy[0]
    shape.check(data, _HEAD, file)
    if data["format"] != FORMAT:
        raise InputError(f"{file}: format: found {data['format']}, but Stillair {__version__} reads format {FORMAT}")
    if lazy is None:
        shape.check(data, _RESULT, file)
        numbers = [run["run"] for run in data["runs"]]
    else:
        data["runs"] = lazy[1]
        numbers = lazy[1].numbers
    again = shape.repeated(numbers)
    if again is not None:
        raise InputError(f"{file}: runs.{again}.run: found {numbers[again]} again, expected unique numbers")
    resolved = path / "scenario.resolved.json"
    given = _text(resolved)
    scenario = _parsed(resolved, given)
    shape.check(scenario, _RESOLVED, resolved)
    named = {node["name"]: node["interfaces"] for node in scenario["nodes"]}
    nodes = frozenset(named) | {f"{name}.{interface['name']}" for name in named for interface in named[name]}
    return Kept(data, given.strip(), nodes)


def recognise(path: Path) -> None:
    """Raises `InputError` unless the folder's `result.json` was written by this program, in any version."""
    file = path / "result.json"
    try:
        shape.check(_read(file), _HEAD, file)
    except InputError as error:
        raise InputError(f"{error}: it is in the way, and no Stillair result; give another folder with -o") from None


def scenario(path: Path) -> str:
    """Scenario text of a result folder."""
    file = path / "scenario.toml"
    try:
        return source.text(file, "a scenario file")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None


def overrides(path: Path) -> list[tuple[str, str]]:
    """Overrides of a result folder's run."""
    file = path / "overrides.json"
    found = _read(file)
    shape.check(found, shape.each(shape.row(shape.text, shape.text)), file)
    return [(key, value) for key, value in found]


def measured(path: Path, name: str, run: Mapping[str, Any], nodes: Collection[str] | None = None) -> Measured:
    """Returns a run with its series. Raises `InputError` if a flow is not between `nodes`, if given."""
    file = path / "runs" / f"run-{run['run']}.json"
    data = _read(file)
    shape.check(data, _RUN, file)
    if data["trace_hash"] != run["trace_hash"]:
        raise InputError(f"{file}: does not belong to this result: the trace hashes differ")
    series = Series(data["series"], str(file))
    ends = [
        (f"series.flows.{number}.{key}", name)
        for number, flow in enumerate(series.flows)
        for key, name in (("from", flow.sender), ("to", flow.receiver), ("station", flow.station))
    ]
    if series.test is not None:
        ends += [("series.test.from", series.test.sender), ("series.test.to", series.test.receiver)]
    for key, end in ends:
        if nodes is not None and end is not None and end not in nodes:
            raise InputError(f'{file}: {key}: found "{end}", expected a node of scenario.resolved.json')
    return Measured(name, cast("Run", run), series)


def _read(file: Path) -> Any:  # noqa: ANN401 - JSON
    return _parsed(file, _text(file))


def _text(file: Path) -> str:
    try:
        return source.text(file, "JSON with the available memory", source.most_json())
    except FileNotFoundError:
        raise InputError(f"{file}: missing") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None


def _parsed(file: Path, text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}:{error.lineno}: is not JSON, or truncated: {error.msg}") from None
    except (RecursionError, ValueError):
        # Python's limits, far beyond this program's output: nesting of 1000 levels, numbers of 4300 digits.
        raise InputError(f"{file}: is not what this program writes: too deep, or a number too long") from None
