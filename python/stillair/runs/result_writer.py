"""Writing a result folder while its runs finish, so that finished runs survive whatever comes after.

A new result is written beside the old one, in `.new-result`, and replaces it when it is complete. Tables and summary
grow with each run, in the order of the runs' numbers. Memory does not.
"""

import csv
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from stillair._native import InputError, RunError, __version__
from stillair.results import result_folder, sampled, tidy
from stillair.results.report import Run
from stillair.results.result import Digest, InOrder, as_json
from stillair.results.series import Series
from stillair.results.tidy import Measured
from stillair.runs import limits
from stillair.runs.overrides import Overrides, pairs
from stillair.runs.scenario import Scenario
from stillair.text import output, signals, source

_GIVEN = ("scenario.toml", "scenario.resolved.json", "overrides.json")
_FILES = (*_GIVEN, "table.csv", "pings.csv", "probes.csv", *sampled.TABLES)
"""What a result has beside `result.json` and its runs."""

_OLD = "old.json"
"""The summary of the old result, in the folder of the new one, while its other files are removed."""

_BESIDE = 1.5
"""Bytes in all files of a result for each byte in the file of a run."""

_INPUTS = "inputs.json"
"""In `.new-result`: the hash of everything that decides the runs, by which the next call recognises them."""


class ResultWriter:
    """Writes a result folder while the runs finish."""

    def __init__(
        self, path: Path, scenario: Scenario, overrides: Overrides, planned: int, seed: int | None = None
    ) -> None:
        """Starts a result in a folder that exists and that nobody else writes to, or continues one that was cut off.

        `InputError` if the scenario is wrong, or if the folder holds somebody else's files under our names.
        """
        resolved, name, scenario_notes, _ = scenario.describe(overrides)
        self._path = path
        self._new = path / result_folder.NEW
        self._planned = planned
        self._inputs = inputs(resolved, seed)
        self._digest = Digest(name, scenario_notes, planned)
        self._order = InOrder(self._take)
        self._kept: set[int] = set()
        self._is_measured = False
        self.broken = False
        """True after a failed write."""
        self._tables = _Tables(self._new, name)
        notes = {"notes": self._digest.notes} if self._digest.notes else {}
        head = {"format": result_folder.FORMAT, "planned_runs": planned, "inputs": self._inputs, "version": __version__}
        self._summary = _Summary(self._new, {**head, "scenario": name, **notes})
        refuse_others(path)
        try:
            if (self._new / "result.json").exists():
                # Complete, but cut off while it replaced the old one.
                self._take_place()
            kept = unfinished(path, self._inputs, planned)
            (self._new / "runs").mkdir(parents=True, exist_ok=True)
            for file in kept:
                _same(file, self._new / "runs" / file.name)
            _remove(self._new, but={file.name for file in kept})
            (self._new / "runs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"{self._new}: what was begun there cannot be removed: {why}") from None
        self._begin(scenario, resolved, overrides)
        for file in kept:
            self._add(_number(file), None)

    def _begin(self, scenario: Scenario, resolved: str, overrides: Overrides) -> None:
        texts = (scenario.text, resolved + "\n", json.dumps(pairs(overrides), ensure_ascii=False) + "\n")
        try:
            output.write_files(self._new, dict(zip(_GIVEN, texts, strict=True)))
            output.write_files(self._new, {_INPUTS: json.dumps(self._inputs) + "\n"})
        except RunError:
            self.discard()
            raise

    @property
    def finished(self) -> int:
        """Runs kept so far, those of an earlier call among them."""
        return len(self._kept)

    @property
    def unfinished(self) -> Path:
        """The folder of a result that is not complete."""
        return self._new

    @property
    def kept(self) -> list[int]:
        """Numbers of the runs kept so far, sorted."""
        return sorted(self._kept)

    @property
    def digest(self) -> Digest:
        """Means over the runs kept so far."""
        return self._digest

    def keep(self, text: str) -> None:
        """Keeps a run that has finished. After the first, refuses further ones for which there is no room."""
        run = json.loads(text)
        with signals.held_back():
            try:
                output.write_files(self._new / "runs", {f"run-{run['run']}.json": text + "\n"})
            except RunError:
                self.broken = True
                # It is measured, though nothing more can be kept.
                if self._order.is_next(run["run"]):
                    self._digest.add(run)
                raise
            self._add(run["run"], run)
        if not self._is_measured:
            self._is_measured = True
            left = self._planned - len(self._kept)
            limits.check_memory(self._planned, self._digest.means.bytes_per_run())
            limits.check_disk(self._new, left, int(len(text) * _BESIDE))

    def _add(self, number: int, run: Mapping[str, Any] | None) -> None:
        self._kept.add(number)
        is_next = self._order.is_next(number)
        # A run that is early is read again when its turn comes.
        self._order.add(number, (lambda: run) if run is not None and is_next else (lambda: self._read(number)))

    def _read(self, number: int) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", json.loads((self._new / "runs" / f"run-{number}.json").read_bytes()))

    def _take(self, run: Mapping[str, Any]) -> None:
        """Adds the next run in order to summary and tables."""
        summary = {key: value for key, value in run.items() if key != "series"}
        self._digest.add(summary)
        try:
            self._summary.add(summary)
            self._tables.add(summary, Series(run["series"], f"runs/run-{run['run']}.json"))
        except RunError:
            self.broken = True
            raise

    def finish(self) -> Path | None:
        """Completes tables and summary, and only then replaces the old result.

        Fewer runs than planned go beside an old result, into a folder of their own. Returns the folder that has them;
        none without a run, when the old result stays and nothing of the new one. If a file cannot be written, as on a
        full disk, the finished runs stay in `.new-result`, where the next call continues.
        """
        with signals.held_back():
            return self._finish()

    def _finish(self) -> Path | None:
        if self.broken:
            return self._set_aside()
        if not self._kept:
            self.discard()
            return None
        try:
            self._order.rest()
            self._tables.close()
            self._summary.close(self._digest.summary())
        except RunError:
            self._set_aside()
            raise
        is_partial = len(self._kept) < self._planned
        try:
            if is_partial and (self._path / "result.json").exists() and _partial(self._path) != self._inputs:
                return self._stand_beside()
            self._take_place()
        except OSError as error:
            why = error.strerror or error
            raise RunError(f"{self._path}: the new result stays in {self._new}, complete: {why}") from None
        return self._path

    def _set_aside(self) -> Path | None:
        """After a failed write: leaves the finished runs for the next call, and frees the space of everything else."""
        self.broken = True
        self._tables.drop()
        self._summary.drop()
        if self._kept:
            return self._new
        self.discard()
        return None

    def discard(self) -> None:
        """Removes the new result if that is possible."""
        self._tables.drop()
        self._summary.drop()
        with suppress(OSError):
            _remove(self._new)

    def _stand_beside(self) -> Path:
        """Moves the new result to a folder beside that of the old one, which is worth more than a part of a new one."""
        name = self._path.resolve().name
        names = (f"{name}.interrupted{n}" for n in ("", *(f"-{n}" for n in range(2, 1_000))))
        beside = next(p for p in map(self._path.resolve().with_name, names) if not os.path.lexists(p))
        (self._new / _INPUTS).unlink()
        self._new.rename(beside)
        return beside

    def _take_place(self) -> None:
        """Moves the new result to the place of the old; `result.json` comes last, so that it implies all other files.

        This can be cut off anywhere and repeated: the old summary is removed last of the old files, but hidden first.
        """
        old = self._new / _OLD
        if (self._path / "result.json").exists():
            (self._path / "result.json").replace(old)
        if old.exists():
            for name in (*_runs(self._path), *_FILES):
                (self._path / name).unlink(missing_ok=True)
            old.unlink()
        (self._path / "runs").mkdir(exist_ok=True)
        for name in (*_runs(self._new), *_FILES, "result.json"):
            if (self._new / name).exists():
                (self._new / name).replace(self._path / name)
        _remove(self._new)


class _Tables:
    """The CSV tables of a result, to which each run appends its rows. Most exist only if a run has rows for them."""

    def __init__(self, folder: Path, scenario: str) -> None:
        self._folder, self._scenario = folder, scenario
        self._open: dict[str, IO[str]] = {}

    def add(self, summary: Mapping[str, Any], series: Series) -> None:
        measured = Measured(self._scenario, cast("Run", summary), series)
        self._write("table.csv", tidy.Row._fields, tidy.rows(measured))
        self._write("pings.csv", tidy.PingRow._fields, tidy.ping_rows(measured))
        probes = list(tidy.probe_rows(measured))
        if probes:
            self._write("probes.csv", tidy.ProbeRow._fields, probes)
        for name, header, rows in sampled.tables(self._scenario, summary):
            self._write(name, header, rows)

    def _write(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        path = self._folder / name
        try:
            file = self._open.get(name)
            if file is None:
                file = self._open[name] = path.open("w", encoding="utf-8", newline="")
                csv.writer(file, lineterminator="\n").writerow(header)
            # Python writes a float in the fewest digits that read back as the same one.
            csv.writer(file, lineterminator="\n").writerows(rows)
        except OSError as error:
            raise _unwritable(path, error) from None

    def close(self) -> None:
        for name, file in self._open.items():
            try:
                file.close()
            except OSError as error:
                raise _unwritable(self._folder / name, error) from None

    def drop(self) -> None:
        for name, file in self._open.items():
            with suppress(OSError):
                file.close()
            with suppress(OSError):
                (self._folder / name).unlink(missing_ok=True)


class _Summary:
    """`result.json`, a line for each run, under another name until it is complete."""

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        """`head` is what comes before the seeds."""
        self._target, self._part = folder / "result.json", folder / ".result.json.part"
        self._head = head
        self._file: IO[str] | None = None

    def add(self, run: Mapping[str, Any]) -> None:
        """Appends a run."""
        try:
            if self._file is None:
                self._file = self._part.open("w", encoding="utf-8", newline="")
                # All runs of a call have one seed.
                self._file.write(as_json({**self._head, "seeds": [run["seed"]]})[:-1] + ', "runs": [\n')
            else:
                self._file.write(",\n")
            self._file.write(as_json(run))
        except OSError as error:
            raise _unwritable(self._target, error) from None

    def close(self, over_runs: Mapping[str, Any]) -> None:
        """Completes the file."""
        try:
            assert self._file is not None  # noqa: S101 - there is a run
            self._file.write(f'\n], "over_runs": {as_json(over_runs)}}}\n')
            self._file.close()
            self._part.replace(self._target)
        except OSError as error:
            raise _unwritable(self._target, error) from None

    def drop(self) -> None:
        """Removes what is written."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        with suppress(OSError):
            self._part.unlink(missing_ok=True)


def inputs(resolved: str, seed: int | None) -> str:
    """The hash of everything that decides the runs: the resolved scenario, the seed beside it, and the version."""
    return hashlib.sha256(json.dumps([__version__, resolved, seed]).encode()).hexdigest()[:20]


def unfinished(path: Path, inputs: str, planned: int | None = None) -> list[Path]:
    """The runs in a folder with which the next call continues, in the order of their numbers; up to number `planned`.

    They are those of a result that was cut off, by whatever signal, and has the same inputs.
    """
    found: dict[int, Path] = {}
    new = path / result_folder.NEW
    for runs, own in ((path / "runs", _partial(path)), (new / "runs", _json(new / _INPUTS))):
        if own == inputs:
            found |= {_number(file): file for file in runs.glob("run-*.json") if _is_whole(file)}
    return [found[number] for number in sorted(found) if planned is None or number < planned]


def _partial(path: Path) -> object:
    """The inputs of a result with fewer runs than planned; none of any other."""
    file = path / "result.json"
    try:
        with file.open("rb") as text:
            head = json.loads(text.readline(source.TEXT).rstrip() + b"]}")
            lines = iter(lambda: text.readline(source.most_json()), b"")
            made = sum(line.startswith(b'{"run"') for line in lines)
        return head["inputs"] if made < head["planned_runs"] else None
    except (OSError, ValueError, RecursionError, TypeError, KeyError):
        return None


def _json(file: Path) -> object:
    try:
        return source.parsed(source.data(file))
    except (OSError, ValueError, InputError):
        return None


def _is_whole(file: Path) -> bool:
    """Returns true if a file has a run of the number in its name. A file of a machine that lost power may be empty."""
    if not re.fullmatch(r"run-\d{1,10}\.json", file.name):
        return False
    try:
        with file.open("rb") as text:
            begin = text.read(20)
            text.seek(-2, os.SEEK_END)
            return begin.startswith(b'{"run":%d,' % _number(file)) and text.read() == b"}\n"
    except OSError:
        return False


def _number(file: Path) -> int:
    return int(file.stem.removeprefix("run-"))


def _same(file: Path, target: Path) -> None:
    """Gives a file a second name, or copies it if the file system has no such names."""
    if file == target:
        return
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(file)
    except OSError:
        shutil.copyfile(file, target)


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(f"{path}: cannot be written: {os.strerror(error.errno) if error.errno else error}")


def _runs(path: Path) -> list[str]:
    """Our files of runs, by name; any other file there is somebody else's."""
    return [f"runs/{file.name}" for file in path.glob("runs/*") if re.fullmatch(r"run-\d+\.json", file.name)]


def _remove(new: Path, but: Collection[str] = ()) -> None:
    """Removes the folder of a new result with what this program writes there; an `OSError` if it holds more.

    Runs whose names are in `but` stay, and the folder with them.
    """
    for name in (*_runs(new), *_FILES, "result.json", _OLD, _INPUTS):
        if name.removeprefix("runs/") not in but:
            (new / name).unlink(missing_ok=True)
    # What `output.whole` had begun when its process was killed.
    for part in (*new.glob(".*.part"), *new.glob("runs/.*.part")):
        part.unlink()
    for empty in () if but else (new / "runs", new):
        with suppress(FileNotFoundError):
            empty.rmdir()


def refuse_others(path: Path) -> None:
    """An `InputError` if files in a folder have our names and are not of a result of ours."""
    new = path / result_folder.NEW
    if os.path.lexists(path / "result.json"):
        result_folder.recognise(path)
        return
    # A whole result that was taking its place when it was cut off has moved some of its files already.
    if not (new / "result.json").exists():
        output.refuse_others(path, (*_FILES, *_runs(path)), "a result")
    if os.path.lexists(path / "runs") and not (path / "runs").is_dir():
        raise InputError(f"{path / 'runs'}: is in the way, and no folder; give another folder with -o")
