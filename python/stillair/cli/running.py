"""`stillair run` and `stillair sweep`."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from stillair import _native
from stillair._native import InputError, RunError
from stillair.cli.common import options
from stillair.cli.common.progress import Watched, runs_progress
from stillair.text import signals, terminal

if TYPE_CHECKING:
    from stillair.results.result import Digest
    from stillair.runs.scenario import Described, Scenario
    from stillair.runs.sweep import Shard


@click.command()
@options.file
@options.seed
@options.runs
@options.jobs
@options.set_
@options.folder
@options.force
@options.as_json
def run(
    file: str,
    seed: int | None,
    runs: int,
    jobs: int | None,
    set_: tuple[str, ...],
    folder: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Run a scenario and print what it measured."""
    from stillair.runs import limits  # noqa: PLC0415 - loaded on use

    _unused(folder, force)
    overrides = options.overrides(set_)
    scenario = options.scenario(file)
    described = scenario.describe(overrides)
    limits.check_run(scenario.file, described.least)
    asked = _Asked(scenario, overrides, runs, seed, jobs)
    if folder is None:
        with runs_progress(runs, quiet=as_json) as watched:
            _run(asked, described, watched, as_json=as_json)
        return
    from stillair.cli.common import output_folder  # noqa: PLC0415 - not needed without -o
    from stillair.runs import result_writer  # noqa: PLC0415

    with options.writing(folder):
        result_writer.refuse_others(folder)
        kept = result_writer.unfinished(folder, result_writer.inputs(described.resolved, seed), runs)
        output_folder.check(folder, output_folder.RUN, replace=force, grows=bool(kept))
        if kept:
            say(f"{len(kept)} of {runs} runs are kept in {folder} by an earlier call, and are not repeated")
        with runs_progress(runs, quiet=as_json) as watched:
            digest = _run_and_keep(folder, asked, described, watched)
        _print(asked, digest, folder, as_json=as_json)


class _Asked(NamedTuple):
    """The requested runs."""

    scenario: "Scenario"
    overrides: list[tuple[str, str]]
    runs: int
    seed: int | None
    jobs: int | None


def _run(asked: _Asked, described: "Described", watched: Watched, *, as_json: bool) -> None:
    """Runs a scenario and prints the result. Holds only means, or each run's text for --json."""
    from stillair.results import result as results  # noqa: PLC0415 - loaded on use
    from stillair.runs import limits  # noqa: PLC0415

    digest = results.Digest(described.name, described.notes, asked.runs)
    texts: list[str] = []

    def take(run: Mapping[str, Any]) -> None:
        digest.add(run)
        if as_json:
            texts.append(results.as_json(run))
        if len(digest.runs) == 1:
            limits.check_memory(asked.runs, digest.means.bytes_per_run() + sum(map(len, texts)))

    order = results.InOrder(take)

    def keep(text: str) -> None:
        run = json.loads(text)
        with signals.held_back():
            order.add(run["run"], lambda: run)

    try:
        _engine(asked, described, keep, watched, series=False)
    except (RunError, KeyboardInterrupt):
        order.rest()
        if digest.runs and not as_json:
            # Nothing is stored, but hours of finished runs have means worth printing.
            _show(asked, digest)
        raise
    if not as_json:
        _show(asked, digest)
        return
    mention(digest.notes)
    _mention_sweep(asked.scenario, asked.overrides)
    head = {
        "version": _native.__version__,
        "scenario": digest.scenario,
        **({"notes": digest.notes} if digest.notes else {}),
    }
    sys.stdout.writelines(results.joined(head, texts, digest.summary()))
    print()


def _engine(
    asked: _Asked,
    described: "Described",
    keep: "Callable[[str], object]",
    watched: Watched,
    kept: Sequence[int] = (),
    *,
    series: bool,
) -> None:
    """Runs in this process, or in a separate process if memory could run out."""
    from stillair.runs import work  # noqa: PLC0415 - loaded on use

    scenario = asked.scenario
    if not work.is_risky(described.least, asked.jobs) or scenario.kernels(asked.overrides):
        scenario.run_text(
            asked.runs, asked.seed, asked.jobs, asked.overrides, 0, watched.progress, series, keep, watched.passed, kept
        )
        return
    finished, errors = 0, list[str]()

    def take(text: str) -> None:
        nonlocal finished
        keep(text)
        finished += 1
        if watched.progress:
            watched.progress(finished)

    [cell] = work.cells(scenario, [asked.overrides], asked.seed, asked.runs)
    work.alone(cell, sorted(kept), asked.jobs, take, lambda _: None, errors.append, series)
    if errors:
        fewer = "" if asked.jobs == 1 else "; --jobs 1 takes the least"
        raise RunError(f"{scenario.file}: {errors[0]}{fewer}")


def _show(asked: _Asked, digest: "Digest") -> None:
    from stillair.results.summary import summary  # noqa: PLC0415 - loaded on use

    mention(digest.notes)
    _mention_sweep(asked.scenario, asked.overrides)
    print(summary(digest, sys.stdout).rstrip())
    from stillair.runs.metrics import starvation  # noqa: PLC0415 - loaded on use

    for told in starvation.starvation_over(digest.summary(), lambda: asked.scenario.resolve(asked.overrides)):
        print(f"\n{terminal.folded(terminal.harmless(told))}")


def _run_and_keep(folder: Path, asked: _Asked, described: "Described", watched: Watched) -> "Digest":
    """Runs a scenario and stores each finished run, even if a later one fails or a signal arrives."""
    from stillair.runs.result_writer import ResultWriter  # noqa: PLC0415 - not needed without -o

    writer = ResultWriter(folder, asked.scenario, asked.overrides, asked.runs, asked.seed)
    before = writer.finished

    def heard(finished: float) -> object:
        return watched.passed(before + finished) if watched.passed else None

    error: BaseException | None = None
    try:
        shown = Watched(heard, heard)
        _engine(asked, described, writer.keep, shown, writer.kept, series=True)
    except BaseException as raised:  # noqa: BLE001 - raised again below
        error = raised
    try:
        kept = writer.finish()
    except RunError as full:
        if not writer.broken:
            raise
        kept, error = writer.unfinished, full
    if error is None:
        return writer.digest
    if writer.broken and writer.digest.runs:
        # The disk is full, but the results are still in memory.
        _show(asked, writer.digest)
    if kept is not None:
        inside = kept in (folder, writer.unfinished)
        stays = "" if inside else f"; the old result is still in {folder}"
        again = "the same command" if inside else f"with -o {kept} the same command"
        say(f"{writer.finished} of {asked.runs} runs had finished and are kept in {kept}{stays}; {again} continues")
    raise error


def _print(asked: _Asked, digest: "Digest", folder: Path, *, as_json: bool) -> None:
    """Prints a stored result, one run at a time."""
    if not as_json:
        _show(asked, digest)
        return
    from stillair.results.result import Result  # noqa: PLC0415 - only for --json

    mention(digest.notes)
    _mention_sweep(asked.scenario, asked.overrides)
    sys.stdout.writelines(Result.load(folder).json_parts())
    print()


@click.command()
@options.file
@options.seed
@options.runs
@options.jobs
@options.set_
@options.folder
@options.force
@options.as_json
@options.only
@click.option("--shard", metavar="I/N", help="Run part I of N into the folder of -o, which all parts share.")
@click.option("--parquet", is_flag=True, help="Also write a Parquet data set into the folder.")
def sweep(
    file: str,
    seed: int | None,
    runs: int,
    jobs: int | None,
    set_: tuple[str, ...],
    folder: Path | None,
    force: bool,
    as_json: bool,
    only: tuple[str, ...],
    shard: str | None,
    parquet: bool,
) -> None:
    """Run all combinations of a scenario's [sweep] table.

    With -o each combination is kept as soon as it is finished, and the same command again runs only what is missing.
    Where there are many flows of a kind, the table has the worst of them; --only chooses other figures.
    With --shard several machines share a folder; the same command without --shard gathers what they left.
    """
    from stillair.cli.common import output_folder  # noqa: PLC0415 - loaded on use
    from stillair.runs.sweep import Sweep  # noqa: PLC0415

    _unused(folder, force)
    part = _part(shard, folder, as_json=as_json, parquet=parquet)
    if only and (as_json or part is not None):
        raise InputError(f"--only: has no effect beside {'--json' if as_json else '--shard'}; it applies to the table")
    table = Sweep(options.scenario(file), options.overrides(set_), runs, seed)
    with options.writing(folder, shared=part is not None):
        if folder is not None:
            table.prepare(folder)
            output_folder.check(folder, output_folder.SWEEP, replace=force, grows=table.grows(folder))
        count = table.share(part)
        try:
            with runs_progress(runs * count, quiet=as_json) as watched:
                outcome = table.run(jobs, folder, watched.progress, shard=part, parquet=parquet)
        except KeyboardInterrupt:
            if folder is not None:
                more = table.kept_runs(folder, part)
                others = f" and {more} run{'s' if more > 1 else ''} of others" if more else ""
                kept = f"{table.kept(folder, part)} of {count} combinations{others}"
                say(f"{kept} are kept in {folder}; run the same command again to continue")
            raise
        if folder is not None and part is None:
            table.write(folder, outcome, parquet)
    told, failed = table.told(*outcome), outcome.failures
    mention(note for result in outcome.results if result is not None for note in result.notes)
    if part is not None:
        kept = f"{count - len(failed)} of its {count} combinations are kept in {folder}"
        print(f"part {part.number} of {part.of}: {kept}; the same command without --shard gathers all parts")
    else:
        print(told.to_json() if as_json else terminal.harmless(told.to_text(terminal.width(), only)))
        if not as_json:
            for sentence in table.starved(outcome.results):
                print(f"\n{terminal.folded(terminal.harmless(sentence))}")
    if failed:
        print(terminal.harmless(told.failed(terminal.width())), file=sys.stderr)
        again = "" if folder is None else f"; the others are kept in {folder}, and the same command retries these"
        raise RunError(f"{len(failed)} of {count} combinations failed{again}")


def _part(shard: str | None, folder: Path | None, *, as_json: bool, parquet: bool) -> "Shard | None":
    """Returns the requested shard. Raises `InputError` for options without effect."""
    from stillair.runs.sweep import Shard  # noqa: PLC0415 - loaded on use

    if parquet and folder is None:
        raise InputError("--parquet: has no effect without -o, which names the folder of the data set")
    if shard is None:
        return None
    found = Shard.read(shard, "--shard")
    if folder is None:
        raise InputError("--shard: has no effect without -o, which names the folder that all parts share")
    if as_json:
        raise InputError("--json: a part has no result of its own; the same command without --shard gathers all")
    return found


def _unused(folder: Path | None, force: bool) -> None:
    if force and folder is None:
        raise InputError("--force: has no effect without -o, which names the folder of the result")


def say(text: str) -> None:
    """Prints a line on stderr."""
    print(f"stillair: {terminal.harmless(text)}", file=sys.stderr)


def mention(notes: Iterable[str]) -> None:
    """Prints the scenario's notes on stderr, each once."""
    word = terminal.painted("note:", terminal.YELLOW, sys.stderr)
    from stillair.results.summary import briefly  # noqa: PLC0415 - loaded on use

    for note in briefly(notes):
        print(f"stillair: {word} {_broken(terminal.harmless(note))}", file=sys.stderr)


def _broken(note: str) -> str:
    """Wraps a note to the terminal's width, or to 80 columns."""
    import textwrap  # noqa: PLC0415 - only used here

    first = len("stillair: note: ")
    wrapper = textwrap.TextWrapper(terminal.width() - 1, initial_indent=" " * first, subsequent_indent="  ")
    wrapper.break_on_hyphens = wrapper.break_long_words = False
    return wrapper.fill(note).strip()


def _mention_sweep(scenario: "Scenario", overrides: list[tuple[str, str]]) -> None:
    """Notes that the scenario has a [sweep] table.

    A table that conflicts with the overrides is left to `stillair sweep`.
    """
    try:
        combinations = scenario.sweep(overrides)
    except InputError:
        return
    if any(combinations):
        say(
            f"{scenario.file}: running the base scenario; its [sweep] table ({len(combinations)} combinations)"
            " is ignored, use 'stillair sweep'"
        )
