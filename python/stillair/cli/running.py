"""`stillair run` and `stillair sweep`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from stillair._native import InputError, RunError
from stillair.cli import options
from stillair.cli.options import AsJson, File, Folder, Force, Jobs, Runs, Seed, Set
from stillair.cli.progress import Watched, runs_progress
from stillair.text import terminal

if TYPE_CHECKING:
    from stillair.results.result import Result
    from stillair.runs.scenario import Scenario


def run(
    file: File,
    seed: Seed = None,
    runs: Runs = 1,
    jobs: Jobs = None,
    set_: Set = None,
    folder: Folder = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario and print what it measured."""
    from stillair.results.summary import summary  # noqa: PLC0415 - loaded when there is something to run

    _unused(folder, force)
    overrides = options.overrides(set_)
    scenario = options.scenario(file)
    if folder is None:
        with runs_progress(runs, quiet=as_json) as watched:
            result = scenario.run(runs, seed, jobs, overrides, progress=watched.progress, passed=watched.passed)
    else:
        from stillair.cli import place  # noqa: PLC0415 - not needed without -o
        from stillair.runs import result_writer  # noqa: PLC0415

        # A mistake is found before anything is made.
        scenario.resolve(overrides)
        with options.writing(folder), runs_progress(runs, quiet=as_json) as watched:
            result_writer.refuse_others(folder)
            place.check(folder, place.RUN, replace=force)
            result = _run_and_keep(folder, scenario, overrides, runs, seed, jobs, watched)
    mention(result.notes)
    _mention_sweep(scenario, overrides)
    print(result.to_json() if as_json else summary(result, sys.stdout).rstrip())


def _run_and_keep(
    folder: Path,
    scenario: "Scenario",
    overrides: list[tuple[str, str]],
    runs: int,
    seed: int | None,
    jobs: int | None,
    watched: Watched,
) -> "Result":
    """Runs a scenario and keeps its runs, even if only some have finished when one fails or all are interrupted."""
    from stillair.runs.result_writer import ResultWriter  # noqa: PLC0415 - not needed without -o

    writer = ResultWriter(folder, scenario, overrides, runs)
    try:
        result = scenario.run(
            runs,
            seed,
            jobs,
            overrides,
            progress=watched.progress,
            series=True,
            keep=writer.keep,
            passed=watched.passed,
        )
    except (InputError, RunError, KeyboardInterrupt):
        kept = writer.finish()
        if kept is not None:
            stays = "" if kept == folder else f"; the old result is still in {folder}"
            finished = f"{writer.finished} of {runs} runs had finished"
            say(f"{finished} and are kept in {kept}{stays}")
        raise
    writer.finish()
    return result


def sweep(
    file: File,
    seed: Seed = None,
    runs: Runs = 1,
    jobs: Jobs = None,
    set_: Set = None,
    folder: Folder = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Run all combinations of a scenario's [sweep] table; with -o, what the folder has already is not run again."""
    from stillair.cli import place  # noqa: PLC0415 - loaded when there is something to run
    from stillair.runs.sweep import Sweep  # noqa: PLC0415

    _unused(folder, force)
    table = Sweep(options.scenario(file), options.overrides(set_), runs, seed)
    with options.writing(folder):
        if folder is not None:
            table.prepare(folder)
            place.check(folder, place.SWEEP, replace=force, grows=table.grows(folder))
        try:
            with runs_progress(runs * len(table.combinations), quiet=as_json) as watched:
                results = table.run(jobs, folder, watched.progress)
        except KeyboardInterrupt:
            if folder is not None:
                kept = f"{table.kept(folder)} of {len(table.combinations)} combinations"
                say(f"{kept} are kept in {folder}; the same command goes on from there")
            raise
        if folder is not None:
            table.write(folder, results)
    mention(note for result in results for note in result.notes)
    print(table.to_json(results) if as_json else terminal.harmless(table.to_text(results, terminal.width())))


def _unused(folder: Path | None, force: bool) -> None:
    if force and folder is None:
        raise InputError("--force: has no effect without -o, which names the folder of the result")


def say(text: str) -> None:
    """A line on stderr."""
    print(f"stillair: {terminal.harmless(text)}", file=sys.stderr)


def mention(notes: Iterable[str]) -> None:
    """Says beside the results what should be known of the scenario; each thing once."""
    word = terminal.painted("note:", terminal.YELLOW, sys.stderr)
    for note in dict.fromkeys(notes):
        print(f"stillair: {word} {terminal.harmless(note)}", file=sys.stderr)


def _mention_sweep(scenario: "Scenario", overrides: list[tuple[str, str]]) -> None:
    """Says that there is more to run; a table that does not fit the overrides is for `stillair sweep` to refuse."""
    try:
        combinations = scenario.sweep(overrides)
    except InputError:
        return
    if any(combinations):
        say(
            f"{scenario.file}: this is the scenario as it stands; "
            f"'stillair sweep' runs the {len(combinations)} combinations of its [sweep] table"
        )
