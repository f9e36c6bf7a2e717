"""Runs of settings, in parallel and cached in a file, so that a search can be resumed."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError, RunError, __version__
from stillair.explain.tune import objective
from stillair.explain.tune.objective import Counted, Measured
from stillair.explain.tune.parts import Sets
from stillair.results.report import Run
from stillair.runs.scenario import Scenario, processors
from stillair.text import shape, signals, source

FILE = "runs.jsonl"


class Refused(NamedTuple):
    """Settings that cannot be run, or whose run has no score."""

    says: str


Outcome = Measured | Refused


class Job(NamedTuple):
    """A run to make: its overrides and run number."""

    sets: Sets
    run: int = 0


def _hash(*parts: object) -> str:
    """Hash of everything that a run and its figures depend on."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _measured(found: dict[str, Any]) -> Measured:
    """Parses a cached run."""
    return Measured(**{**found, "flows": tuple(objective.Flow(*one) for one in found.get("flows", ()))})


def _outcome(run: Run, counted: Counted) -> Outcome:
    found = objective.measured(run, counted.steady)
    return Refused("a ping, a call or a flow received nothing") if found is None else found


_FLOW = shape.row(shape.text, *[shape.maybe(shape.number)] * (len(objective.Flow._fields) - 1))
_LINE = shape.record(
    {"key": shape.text},
    {
        "says": shape.text,
        **dict.fromkeys(Counted._fields, shape.each(shape.text)),
        **dict.fromkeys(("latency_ms", "goodput_mbps", "total_mbps", "loss"), shape.number),
        "flows": shape.each(_FLOW),
    },
    rest=shape.unread,
)
"""A line of the file: a cached run, a rejected one, or the classes of the flows."""


class Runs:
    """Cached runs of a scenario."""

    def __init__(
        self,
        scenario: Scenario,
        overrides: Sequence[tuple[str, str]],
        seed: int | None,
        jobs: int | None,
        folder: Path | None,
        progress: Callable[[int], object] | None,
    ) -> None:
        """With a folder, cached runs are read from it and new ones are added."""
        self._scenario, self._overrides, self._seed = scenario, list(overrides), seed
        self._jobs, self._file, self._progress = jobs or processors(), folder and folder / FILE, progress
        self._known: dict[str, Outcome] = {}
        self._learned: dict[str, Counted] = {}
        self._counted: Counted | None = None
        self._began = time.process_time()
        self.made = 0
        """Runs used so far, including cached ones."""
        if self._file and self._file.is_file():
            self._read(self._file)

    def cpu_s(self) -> float:
        """CPU time of this process since the start of the search, over all threads."""
        return time.process_time() - self._began

    def counted(self) -> Counted:
        """Classes of the flows, from run 0 of the unchanged scenario."""
        if self._counted is None:
            self._counted = self._learn()
        return self._counted

    def _learn(self) -> Counted:
        try:
            resolved = self._scenario.resolve(self._overrides)
            key = _hash(__version__, resolved, self._seed, "counted")
            if key in self._learned:
                return self._learned[key]
            run = self._scenario.run(1, self._seed, 1, self._overrides).runs[0]
        except (InputError, RunError):
            # The caller reports the error.
            return Counted()
        found = objective.counted(run, json.loads(resolved))
        self._write({"key": key, **found._asdict()})
        self._keep(_hash(__version__, resolved, self._seed, 0, found.steady), _outcome(run, found))
        return found

    def measure(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Returns the outcome of each job, in order. The outcome is independent of the number of workers."""
        keys = [self._key(job) for job in jobs]
        new: dict[str, Job] = {}
        for key, job in zip(keys, jobs, strict=True):
            if isinstance(key, str) and key not in self._known:
                new.setdefault(key, job)
        with ThreadPoolExecutor(self._jobs) as pool:
            made = {pool.submit(self._run, job): key for key, job in new.items()}
            try:
                for one in as_completed(made):
                    with signals.held_back():
                        self._keep(made[one], one.result())
            except BaseException:
                # On an interrupt, wait for running jobs, which are stored, and start no others.
                pool.shutdown(cancel_futures=True)
                for one, key in made.items():
                    if key not in self._known and not one.cancelled() and one.exception() is None:
                        self._keep(key, one.result())
                raise
        # Cached runs count as well, so that a resumed search takes the same path.
        self.made += len({key for key in keys if isinstance(key, str)})
        if self._progress:
            self._progress(self.made)
        return [self._known[key] if isinstance(key, str) else key for key in keys]

    def _key(self, job: Job) -> str | Refused:
        """Returns the hash of everything that the run depends on."""
        try:
            resolved = self._scenario.resolve([*self._overrides, *job.sets])
        except InputError as error:
            return Refused(str(error).splitlines()[0])
        return _hash(__version__, resolved, self._seed, job.run, self.counted().steady)

    def _run(self, job: Job) -> Outcome:
        try:
            made = self._scenario.run(1, self._seed, 1, [*self._overrides, *job.sets], first_run=job.run)
        except (InputError, RunError) as error:
            return Refused(str(error).splitlines()[0])
        return _outcome(made.runs[0], self.counted())

    def _keep(self, key: str, outcome: Outcome) -> None:
        self._known[key] = outcome
        self._write({"key": key, **outcome._asdict()})

    def _write(self, line: dict[str, Any]) -> None:
        if self._file:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(line)}\n")

    def _read(self, file: Path) -> None:
        for line in source.text(file, "kept runs", source.most_json(), "replace").splitlines():
            try:
                found = source.parsed(line)
                shape.check(found, _LINE, file)
                key = found.pop("key")
                if "steady" in found:
                    self._learned[key] = Counted(*(tuple(found[name]) for name in Counted._fields))
                else:
                    self._known[key] = Refused(**found) if "says" in found else _measured(found)
            except (ValueError, TypeError, KeyError, InputError):
                # The incomplete last line of a killed process: run it again.
                continue
