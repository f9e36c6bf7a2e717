"""`stillair validate linux`: simulates every file's run and compares the results."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stillair._native import InputError, RunError
from stillair.kernels import profiles
from stillair.text.table import figure, table
from stillair_lab.validate import batch, compare, json_file, kernel_file, scenario, settings
from stillair_lab.validate.compare import OUTSIDE, WITHIN, Row, Subject
from stillair_lab.validate.kernel_file import Config
from stillair_lab.validate.outcome import Outcome, outcome
from stillair_lab.validate.quantities import QUANTITIES


@dataclass(frozen=True)
class Plan:
    """What to run, and what cannot be run."""

    subjects: list[Subject]
    faults: list[InputError | RunError]
    """Reasons for skipped files, in order."""
    notes: list[str]
    """Notes for the user."""


@dataclass(frozen=True)
class Report:
    """All comparisons, and why some are missing."""

    rows: list[Row]
    faults: list[InputError | RunError]

    def fault(self) -> tuple[list[str], InputError | RunError] | None:
        """Lines for all faults but the last, and the last one, whose type is that of the first."""
        return batch.fault(self.faults)


def plan(folder: Path | None) -> Plan:
    """Reads the files of a folder, by default the bundled ones, and their scenarios."""
    made = Plan([], [], [])
    for path in json_file.paths(folder or kernel_file.bundled()):
        try:
            subject = _subject(path)
        except InputError as error:
            made.faults.append(error)
            continue
        made.subjects.append(subject)
        made.notes.extend(f"{path}: {note}" for note in _notes(subject.file.config))
    return made


def _notes(config: Config) -> Iterator[str]:
    """Notes about settings that differ from the file's."""
    if not profiles.is_exact(config.kernel):
        version = ".".join(str(number) for number in config.kernel)
        yield f"kernel: Linux {version} has no profile; {profiles.profile(config.kernel)} is used instead"
    _, idle = settings.split(config.sysctl)
    keys = [*config.idle, *(f"sysctl.{name}" for name in idle)]
    if keys:
        names = ", ".join(f"config.{key}" for key in keys)
        yield f"{names}: changes nothing here, and is left out of the scenario"


def _subject(path: Path) -> Subject:
    """Reads a file and checks its scenario."""
    file = kernel_file.read(path)
    subject = compare.subject(file, scenario.disciplines(file))
    try:
        profiles.profile(file.config.kernel)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    try:
        scenario.scenario(file).resolve()
    except InputError as error:
        raise InputError(scenario.in_terms_of_the_file(str(error))) from None
    return subject


def run(of: Plan, jobs: int | None = None, progress: Callable[[int], object] | None = None) -> Report:
    """Runs every file once, `jobs` at a time, and compares. A failing run only skips its own file."""
    work = {subject.file.path: partial(_run, subject) for subject in of.subjects}
    outcomes, failed = batch.run(work, str, jobs, progress)
    rows = [
        row
        for subject in of.subjects
        if (ran := outcomes.get(subject.file.path)) is not None
        for row in compare.rows(subject, ran, of.subjects)
    ]
    late = [failed[subject.file.path] for subject in of.subjects if subject.file.path in failed]
    return Report(rows, [*of.faults, *late])


def _run(subject: Subject) -> Outcome:
    result = scenario.scenario(subject.file).run(jobs=1, series=True)
    return outcome(result, subject.file.config, subject.trees)


def as_json(rows: Sequence[Row]) -> str:
    """JSON of `stillair validate --json`."""
    return json.dumps([row.as_dict() for row in rows], ensure_ascii=False, allow_nan=False)


def text(rows: Sequence[Row]) -> str:
    """Comparisons by file, then counts by quantity and by file."""
    files = list(dict.fromkeys(row.file for row in rows))
    parts = []
    for file in files:
        own = [row for row in rows if row.file == file]
        cells = [
            [row.quantity, figure(row.kernel), figure(row.model), figure(row.low), figure(row.high), row.verdict]
            for row in own
        ]
        parts.append(f"{file}\n{table(['', 'kernel', 'model', 'from', 'to', ''], cells, indent='  ')}")
    by_quantity = [_counted(name, [row for row in rows if row.quantity == name]) for name in QUANTITIES]
    parts.append(_totals("quantity", [line for line in by_quantity if line[1:] != ["0", "0"]]))
    parts.append(_totals("file", [_counted(file, [row for row in rows if row.file == file]) for file in files]))
    counted = _counted("", rows)
    parts.append(f"{len(rows)} comparisons in {len(files)} files: {counted[1]} within, {counted[2]} outside")
    return "\n\n".join(parts)


def _totals(title: str, lines: Sequence[Sequence[str]]) -> str:
    return table([title, WITHIN, OUTSIDE], lines)


def _counted(name: str, rows: Sequence[Row]) -> list[str]:
    return [name, *(str(sum(row.verdict == verdict for row in rows)) for verdict in (WITHIN, OUTSIDE))]
