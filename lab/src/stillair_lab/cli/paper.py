"""`stillair paper`: runs and judges the papers' experiments, and shows why a claim is not reproduced."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from stillair._native import InputError, RunError
from stillair.cli.common import options
from stillair.cli.common.options import overrides, writing
from stillair.cli.common.progress import runs_progress
from stillair.text import terminal
from stillair.text.table import fitting


@click.command()
@click.argument(
    "name",
    metavar="[PAPER[/EXPERIMENT]]",
    required=False,
    help="An experiment, or a prefix of its name; with --why also a claim.",
)
@click.option(
    "--runs",
    type=options.whole(1, options.MOST_RUNS),
    metavar="N",
    show_default="the paper's",
    help="Repetitions of each cell.",
)
@options.jobs
@click.option(
    "--set", "set_", metavar="KEY=VALUE", multiple=True, help="Set a key in every cell, as a trial. Repeatable."
)
@options.folder
@options.force
@options.as_json
@click.option(
    "--why",
    "why_",
    is_flag=True,
    help="Show why a claim is not reproduced: the figure as judged, and with the one change that is its likely cause.",
)
def paper(
    name: str | None,
    runs: int | None,
    jobs: int | None,
    set_: tuple[str, ...],
    folder: Path | None,
    force: bool,
    as_json: bool,
    why_: bool,
) -> None:
    """List the papers' experiments, or run and judge them.

    Without a name they are listed. With one, every experiment whose name begins with it is run; `all` runs all.

    With --why the name is a claim, or an experiment, a paper or `all` for each of its claims that are not reproduced.
    --set then replaces the kept cause by a change of your own.
    """
    if force and (folder is None or why_):
        raise InputError("--force: has no effect without -o, which names the folder of the report")
    if why_:
        _why(name, runs, jobs, overrides(set_), folder, as_json)
        return
    from stillair.cli.common import output_folder  # noqa: PLC0415 - the papers are slow to load
    from stillair_lab.papers.pages import export, registry, report  # noqa: PLC0415

    if name is None:
        given = {"--runs": runs is not None, "--set": bool(set_), "-o": folder is not None}
        if unused := [option for option, there in given.items() if there]:
            raise InputError(f"{unused[0]}: without a name nothing is run: give an experiment, or all")
        nothing = report.Report(registry.entries(), {}, asked=False)
        print(report.as_json(nothing.rows()) if as_json else report.listing().rstrip())
        return
    wanted = registry.find(name)
    extra = overrides(set_)
    prepared = report.prepare(wanted, extra)
    with writing(folder):
        if folder is not None:
            export.prepare(folder)
            output_folder.check(folder, output_folder.REPORT, replace=force)
        runs_folder = None if folder is None else export.runs(folder)
        try:
            with runs_progress(report.total_runs(wanted, prepared, runs), quiet=as_json) as watched:
                made = report.run(
                    wanted, prepared, runs, jobs, extra, watched.progress, _finished(len(wanted), as_json), runs_folder
                )
        except (KeyboardInterrupt, RunError) as error:
            # Claims are judged over all runs, so there is no report of a part.
            where = "nothing is kept; -o names a folder for finished runs"
            if folder is not None:
                where = f"finished runs are kept in {folder}; run the same command again to continue"
            if folder is not None or isinstance(error, KeyboardInterrupt):
                print(f"stillair: {terminal.harmless(where)}", file=sys.stderr)
            raise
        if folder is not None:
            export.write(folder, made)
    with fitting(terminal.width()):
        print(report.as_json(made.rows()) if as_json else terminal.folded(report.text(made).rstrip()))


def _finished(experiments: int, as_json: bool) -> Callable[[str], object] | None:
    """Prints each finished experiment if there are several and no progress bar is shown."""
    if experiments == 1 or as_json or sys.stderr.isatty():
        return None
    return lambda told: print(f"stillair: {told}", file=sys.stderr, flush=True)


def _why(
    name: str | None,
    runs: int | None,
    jobs: int | None,
    change: list[tuple[str, str]],
    folder: Path | None,
    as_json: bool,
) -> None:
    if name is None:
        raise InputError("paper: --why asks about a claim: give its name, or that of an experiment or a paper, or all")
    if folder is not None:
        raise InputError("-o: --why keeps nothing; it prints text, or with --json one value")
    from stillair_lab.papers.pages import why  # noqa: PLC0415 - the papers are slow to load

    asked = why.questions(name, change)
    found = []
    with runs_progress(len(asked), quiet=as_json or len(asked) == 1) as watched:
        for one in why.answers(asked, runs, jobs):
            found.append(one)
            if watched.progress is not None:
                watched.progress(len(found))
            if not as_json:
                print(terminal.folded(why.text(one)), end="\n\n" if len(asked) > 1 else "\n", flush=True)
    if as_json:
        print(why.as_json(found))
    elif len(asked) > 1:
        print(terminal.folded(why.summary(found)))
    # With other runs or another change, there is no recorded cause to contradict.
    if len(asked) > 1 and runs is None and not change and not all(one.agrees for one in found):
        click.get_current_context().exit(1)
