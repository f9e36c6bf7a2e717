"""Writes a result folder while its runs finish, so that finished runs survive any failure.

A new result is written to `.new-result` and replaces the old one when it is complete. Tables and summary are
extended with each run, in order of the run numbers. Memory use is constant.
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
"""Files of a result besides `result.json` and the runs."""

_OLD = "old.json"
"""Summary of the old result, kept in the new folder while the other old files are removed."""

_BESIDE = 1.5
"""Size of all files of a result relative to the files of its runs."""

_INPUTS = "inputs.json"
"""In `.new-result`: the hash of all inputs, by which the next call recognises the runs."""


class ResultWriter:
    """Writes a result folder while the runs finish."""

    def __init__(
        self, path: Path, scenario: Scenario, overrides: Overrides, planned: int, seed: int | None = None
    ) -> None:
        """Starts a result in an existing folder, which the caller must have locked, or continues an interrupted one.

        Raises `InputError` if the scenario is malformed, or if the folder has foreign files with our names.
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
                # The result is complete, but replacing the old one was interrupted.
                self._take_place()
            kept = unfinished(path, self._inputs, planned)
            (self._new / "runs").mkdir(parents=True, exist_ok=True)
            for file in kept:
                _same(file, self._new / "runs" / file.name)
            _remove(self._new, but={file.name for file in kept})
            (self._new / "runs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"{self._new}: the unfinished result there cannot be removed: {why}") from None
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
        """Number of stored runs, including those of an earlier call."""
        return len(self._kept)

    @property
    def unfinished(self) -> Path:
        """Folder of the incomplete result."""
        return self._new

    @property
    def kept(self) -> list[int]:
        """Numbers of the stored runs, sorted."""
        return sorted(self._kept)

    @property
    def digest(self) -> Digest:
        """Means over the stored runs."""
        return self._digest

    def keep(self, text: str) -> None:
        """Stores a finished run. After the first, checks that the remaining runs fit on the disk."""
        run = json.loads(text)
        with signals.held_back():
            try:
                output.write_files(self._new / "runs", {f"run-{run['run']}.json": text + "\n"})
            except RunError:
                self.broken = True
                # The run was measured, even if it cannot be stored.
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
        # A run that finished early is read again when it is next in order.
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
        """Completes tables and summary, then replaces the old result.

        If runs are missing, the result goes into a separate folder next to an existing old result. Returns
        the folder of the runs; `None` without runs, in which case the old result stays. If a file cannot be
        written, as on a full disk, finished runs stay in `.new-result` and the next call continues.
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
        """After a failed write: keeps the finished runs for the next call, and frees all other space."""
        self.broken = True
        self._tables.drop()
        self._summary.drop()
        if self._kept:
            return self._new
        self.discard()
        return None

    def discard(self) -> None:
        """Removes the new result if possible."""
        self._tables.drop()
        self._summary.drop()
        with suppress(OSError):
            _remove(self._new)

    def _stand_beside(self) -> Path:
        """Moves the incomplete new result to a separate folder, because a complete old result is worth more."""
        name = self._path.resolve().name
        names = (f"{name}.interrupted{n}" for n in ("", *(f"-{n}" for n in range(2, 1_000))))
        beside = next(p for p in map(self._path.resolve().with_name, names) if not os.path.lexists(p))
        (self._new / _INPUTS).unlink()
        self._new.rename(beside)
        return beside

    def _take_place(self) -> None:
        """Replaces the old result. `result.json` is moved last, so that it implies all other files.

        Can be interrupted at any point and repeated: the old summary is hidden first and removed last.
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
    """CSV tables of a result, to which each run appends rows. Most exist only if a run has rows for them."""

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
            # Python writes the shortest representation that reads back exactly.
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
    """`result.json` with one run per line, under a temporary name until it is complete."""

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        """`head` contains the keys before the seeds."""
        self._target, self._part = folder / "result.json", folder / ".result.json.part"
        self._head = head
        self._file: IO[str] | None = None

    def add(self, run: Mapping[str, Any]) -> None:
        """Appends a run."""
        try:
            if self._file is None:
                self._file = self._part.open("w", encoding="utf-8", newline="")
                # All runs of a call have the same seed.
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
        """Removes the partial file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        with suppress(OSError):
            self._part.unlink(missing_ok=True)


def inputs(resolved: str, seed: int | None) -> str:
    """Hash of everything that determines the runs: resolved scenario, seed, and version."""
    return hashlib.sha256(json.dumps([__version__, resolved, seed]).encode()).hexdigest()[:20]


def unfinished(path: Path, inputs: str, planned: int | None = None) -> list[Path]:
    """Returns the runs with which the next call can continue, in order, up to number `planned`.

    They belong to an interrupted result with the same inputs.
    """
    found: dict[int, Path] = {}
    new = path / result_folder.NEW
    for runs, own in ((path / "runs", _partial(path)), (new / "runs", _json(new / _INPUTS))):
        if own == inputs:
            found |= {_number(file): file for file in runs.glob("run-*.json") if _is_whole(file)}
    return [found[number] for number in sorted(found) if planned is None or number < planned]


def _partial(path: Path) -> object:
    """Returns the inputs of a result with missing runs; `None` for other results."""
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
    """Returns true if a file contains the run of its name. After a power loss it may be empty."""
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
    """Creates a hard link, or a copy if the file system does not support links."""
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
    """Run files by name; other files are not ours."""
    return [f"runs/{file.name}" for file in path.glob("runs/*") if re.fullmatch(r"run-\d+\.json", file.name)]


def _remove(new: Path, but: Collection[str] = ()) -> None:
    """Removes the folder of a new result with our files. Raises `OSError` if it contains others.

    Keeps the runs named in `but`, and the folder with them.
    """
    for name in (*_runs(new), *_FILES, "result.json", _OLD, _INPUTS):
        if name.removeprefix("runs/") not in but:
            (new / name).unlink(missing_ok=True)
    # Temporary files of a killed process.
    for part in (*new.glob(".*.part"), *new.glob("runs/.*.part")):
        part.unlink()
    for empty in () if but else (new / "runs", new):
        with suppress(FileNotFoundError):
            empty.rmdir()


def refuse_others(path: Path) -> None:
    """Raises `InputError` if a folder has files with our names that do not belong to a result."""
    new = path / result_folder.NEW
    if os.path.lexists(path / "result.json"):
        result_folder.recognise(path)
        return
    # A complete result that was interrupted while replacing the old one has already moved some files.
    if not (new / "result.json").exists():
        output.refuse_others(path, (*_FILES, *_runs(path)), "a result")
    if os.path.lexists(path / "runs") and not (path / "runs").is_dir():
        raise InputError(f"{path / 'runs'}: is in the way, and not a folder; give another folder with -o")
