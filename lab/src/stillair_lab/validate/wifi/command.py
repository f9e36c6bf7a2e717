"""`stillair validate wifi`: simulates every configuration and compares the results."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from stillair._native import InputError
from stillair.kernels import profiles
from stillair_lab.validate import batch, json_file
from stillair_lab.validate.batch import Fault
from stillair_lab.validate.wifi import compare, measured, scenario
from stillair_lab.validate.wifi.compare import Configuration, Row
from stillair_lab.validate.wifi.measured import Measurement
from stillair_lab.validate.wifi.outcome import Outcome, outcome

RUNS = 3
"""Fewest runs of each configuration, each with its own seed and the flow starts of one of the kernel's
repetitions."""


@dataclass(frozen=True)
class Plan:
    """What to run, and what cannot be run."""

    configurations: list[Configuration]
    faults: list[Fault]
    """Reasons for skipped files or configurations, in order."""
    notes: list[str]
    """Notes for the user."""


@dataclass(frozen=True)
class Report:
    """All comparisons, and why some are missing."""

    rows: list[Row]
    faults: list[Fault]

    def fault(self) -> tuple[list[str], Fault] | None:
        """Lines for all faults but the last, and the last one, whose type is that of the first."""
        return batch.fault(self.faults)


def plan(folder: Path | None, only: str | None = None) -> Plan:
    """Reads the files of a folder, by default the bundled ones, and their scenarios.

    `only` is a name pattern such as `tcp_up*`.
    """
    read: dict[str, list[Measurement]] = {}
    made = Plan([], [], [])
    for path in json_file.paths(folder or measured.bundled()):
        try:
            one = measured.read(path)
            if only is not None and not fnmatchcase(one.name, only):
                continue
            first = read.setdefault(one.name, [one])[0]
            if first.setup != one.setup:
                raise InputError(f"{path}: another set-up than {first.path.name} has, under the same name {one.name}")
        except InputError as error:
            made.faults.append(error)
            continue
        if one is not first:
            read[one.name].append(one)
    if only is not None and not read and not made.faults:
        raise InputError(
            f'--only: found "{only}", expected a pattern of names that a configuration has, such as "tcp_*"'
        )
    for name, repetitions in read.items():
        configuration = Configuration(name, repetitions[0].setup, tuple(repetitions))
        try:
            compare.check(configuration)
            scenario.scenario(repetitions[0]).resolve()
        except InputError as error:
            made.faults.append(error)
            continue
        made.configurations.append(configuration)
        made.notes.extend(f"{name}: {note}" for note in _notes(configuration))
    return made


def _notes(of: Configuration) -> Iterator[str]:
    """Notes about settings that differ from the files'."""
    kernel = of.setup.kernel
    if not profiles.is_exact(kernel):
        version = ".".join(str(number) for number in kernel)
        yield f"kernel: Linux {version} has no profile; {profiles.profile(kernel)} is used instead"


def run(of: Plan, jobs: int | None = None, progress: Callable[[int], object] | None = None) -> Report:
    """Runs every configuration, `jobs` at a time, and compares.

    A failing run only skips its own configuration.
    """
    work = {one.name: partial(_run, one) for one in of.configurations}
    outcomes, failed = batch.run(work, str, jobs, progress)
    rows = [row for one in of.configurations if one.name in outcomes for row in compare.rows(one, outcomes[one.name])]
    late = [failed[one.name] for one in of.configurations if one.name in failed]
    return Report(rows, [*of.faults, *late])


def _run(of: Configuration) -> list[Outcome]:
    made = []
    for run in range(max(RUNS, len(of.repetitions))):
        repetition = of.repetitions[run % len(of.repetitions)]
        result = json.loads(scenario.scenario(repetition).run_text(jobs=1, first_run=run, series=True))
        made += [outcome(one, of.setup) for one in result["runs"]]
    return made


def scenarios(of: Plan) -> dict[str, str]:
    """Scenario of each configuration, by file name."""
    return {f"{one.name}.toml": scenario.text(one.repetitions[0]) for one in of.configurations}


def as_json(rows: Sequence[Row]) -> str:
    """JSON of `stillair validate wifi --json`."""
    return json.dumps([row.as_dict() for row in rows], ensure_ascii=False, allow_nan=False)
