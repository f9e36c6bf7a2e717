"""The command `stillair compare`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stillair._native import InputError
from stillair.cli.options import MOST_RUNS, AsJson, Jobs, Seed, path
from stillair.cli.progress import runs_progress

_RUNS = 5
"""Enough for an interval that means something."""


def compare(
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="A [B...]", help="Folders of 'stillair run -o', or scenarios by file or name, which are run."
        ),
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="With one scenario a side of its own beside it; several keys apart by ';'. Repeatable.",
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, max=MOST_RUNS, help="Repetitions of each scenario.", show_default="5")
    ] = None,
    seed: Seed = None,
    jobs: Jobs = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Quantities with this in their name: 'ping*95'. Repeatable."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a table in Markdown.")] = False,
    as_json: AsJson = False,
    target: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", parser=path, help="Draw it: a .svg, .png or .pdf.")
    ] = None,
) -> None:
    """Put results, scenarios, or one scenario with other settings side by side.

    Each quantity has its mean over the runs, with a 95 % confidence interval, and by how much it differs from the first
    side. Runs of the same number and seed are compared pair by pair.
    """
    from stillair.cli.compare import picture, shown  # noqa: PLC0415 - loaded when there is something to compare
    from stillair.cli.compare import rows as quantities  # noqa: PLC0415
    from stillair.cli.compare import sides as plans  # noqa: PLC0415

    if markdown and as_json:
        raise InputError("--markdown: is text, and --json is none; give one of the two")
    planned = plans.planned(sides, set_ or [])
    if target is not None:
        picture.check(target)
    total = (runs or _RUNS) * sum(side.scenario is not None for side in planned)
    if total == 0 and (runs is not None or seed is not None):
        option = "--seed" if runs is None else "--runs"
        raise InputError(f"{option}: has no effect on results that were kept; it is for scenarios")
    with runs_progress(max(total, 1), quiet=as_json or total == 0) as watched:
        made = plans.made(planned, runs or _RUNS, seed, jobs, watched.passed)
    found = quantities.rows(made, only or [])
    if not found:
        raise InputError(f"--only: found {', '.join(only or [])}, and no quantity has that in its name")
    if target is not None and (left := picture.write(target, made, found)):
        print(f"stillair: {target}: {left}", file=sys.stderr)
    show = shown.as_json if as_json else shown.markdown if markdown else shown.text
    print(show(made, found))
