"""The command `stillair compare`."""

import sys
from pathlib import Path

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.cli.common.progress import runs_progress
from stillair.text import terminal

_RUNS = 5
"""Enough runs for a useful interval."""


@click.command()
@click.argument(
    "sides",
    metavar="A [B...]",
    nargs=-1,
    required=True,
    help="Folders of 'stillair run -o', or scenarios by file or name, which are run.",
)
@click.option(
    "--set",
    "set_",
    metavar="KEY=VALUE",
    multiple=True,
    help="Add a side with this key changed; separate several keys by ';'. For one scenario. Repeatable.",
)
@click.option(
    "--runs",
    type=options.whole(1, options.MOST_RUNS),
    metavar="N",
    show_default=str(_RUNS),
    help="Repetitions of each scenario.",
)
@options.seed
@options.jobs
@options.only
@click.option("--markdown", is_flag=True, help="Print a table in Markdown.")
@options.as_json
@click.option(
    "--keep",
    metavar="DIR",
    type=options.PATH,
    help="Keep each run in this folder as it finishes; after an interrupt run the same command again to continue.",
)
@click.option("-o", "target", metavar="FILE", type=options.PATH, help="Draw a picture: a .svg, .png or .pdf.")
@options.replace
def compare(
    sides: tuple[str, ...],
    set_: tuple[str, ...],
    runs: int | None,
    seed: int | None,
    jobs: int | None,
    only: tuple[str, ...],
    markdown: bool,
    as_json: bool,
    keep: Path | None,
    target: Path | None,
    force: bool,
) -> None:
    """Compare results, scenarios, or settings of one scenario.

    Each row shows the mean over the runs with its 95 % confidence interval, and the difference from the first side.
    Runs with the same number and seed are compared in pairs.
    """
    from stillair.cli.compare import picture, rendering  # noqa: PLC0415 - loaded on use
    from stillair.cli.compare import rows as quantities  # noqa: PLC0415
    from stillair.cli.compare import sides as plans  # noqa: PLC0415

    if markdown and as_json:
        raise InputError("--markdown: found together with --json, expected one of the two")
    if force and target is None:
        raise InputError("--force: has no effect without -o, which names the file to write")
    planned = plans.planned(sides, set_)
    if target is not None:
        picture.check(target, force=force)
    total = (runs or _RUNS) * sum(side.scenario is not None for side in planned)
    if total == 0 and (runs is not None or seed is not None):
        option = "--seed" if runs is None else "--runs"
        raise InputError(f"{option}: has no effect on kept results; it applies to scenarios")
    if keep is not None and total == 0:
        raise InputError("--keep: has no effect on kept results; it applies to scenarios")
    with options.writing(keep):
        folder = None if keep is None else _folder(keep)
        try:
            with runs_progress(max(total, 1), quiet=as_json or total == 0) as watched:
                made = plans.made(planned, runs or _RUNS, seed, jobs, watched.passed, folder)
        except KeyboardInterrupt:
            where = "nothing is kept; --keep names a folder for finished runs"
            if folder is not None:
                where = f"finished runs are kept in {keep}; run the same command again to continue"
            if total:
                print(f"stillair: {terminal.harmless(where)}", file=sys.stderr)
            raise
    found = quantities.rows(made, only)
    if not found:
        there = ", ".join(dict.fromkeys(row.quantity.words for row in quantities.rows(made, ())))
        raise InputError(f"--only: found {', '.join(only)}, expected part of a quantity's name; there are {there}")
    if target is not None and (left := picture.write(target, made, found)):
        print(f"stillair: {target}: {left}", file=sys.stderr)
    if as_json or markdown:
        print((rendering.as_json if as_json else rendering.markdown)(made, found))
    else:
        print(rendering.text(made, found, chosen=bool(only)))


def _folder(keep: Path) -> Path:
    """Returns the folder of runs within that of --keep."""
    from stillair.cli.common import output_folder  # noqa: PLC0415 - only with --keep
    from stillair.text import output  # noqa: PLC0415

    # Runs are keyed by all of their inputs, so runs of another comparison in the folder do no harm.
    output_folder.check(keep, output_folder.COMPARE, replace=False, grows=True)
    folder = keep / "sides"
    output.prepare(folder)
    return folder
