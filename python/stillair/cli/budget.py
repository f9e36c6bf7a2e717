"""`stillair budget`: runs a transport on a budget's paths and checks its limits."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillair._native import InputError, RunError
from stillair.cli.common import options
from stillair.text import output

if TYPE_CHECKING:
    from stillair.link import Budget, Case

Measured = tuple[str, int, list[tuple[str, float]]]


@click.command()
@click.argument("file", metavar="FILE", type=options.PATH, help="The budget (TOML).")
@click.option("--baseline", metavar="FILE", type=options.PATH, help="Earlier measurements; adds a column of changes.")
@click.option("--keep", is_flag=True, help="Write the measurements to the file of --baseline.")
@click.option("--junit", metavar="FILE", type=options.PATH, help="Write a JUnit XML report.")
@click.option("--markdown", metavar="FILE", type=options.PATH, help="Write the table as Markdown.")
@options.replace
@options.jobs
def budget(
    file: Path,
    baseline: Path | None,
    keep: bool,
    junit: Path | None,
    markdown: Path | None,
    force: bool,
    jobs: int | None,
) -> None:
    """Check a transport against limits on given paths.

    Fails if a limit is broken by more than chance explains.

    Runs the budget's command for each path and seed, in the folder of the file, with STILLAIR_BUDGET, STILLAIR_PATH and
    STILLAIR_SEED set. The last line that the command prints is a JSON object of metrics and values.
    """
    from stillair.link import Budget  # noqa: PLC0415 - loaded on use

    read = Budget(file)
    if not read.command:
        raise InputError(f"{file}: found no command, expected the command to run for each path and seed")
    if keep and baseline is None:
        raise InputError("--keep: found without --baseline, expected the file to write to")
    if force and junit is None and markdown is None:
        raise InputError("--force: has no effect without --junit or --markdown, which name the file to write")
    for option, place in (("--junit", junit), ("--markdown", markdown)):
        if place is not None:
            output.check(place)
            output.refuse_present([place], force, option)
    if keep and baseline is not None:
        output.check(baseline)
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        measured = list(pool.map(lambda case: _run(file, read, case), read.cases))
    before = baseline if baseline is not None and (baseline.exists() or not keep) else None
    verdict = read.judge(measured, before)
    print(verdict.text, end="")
    for place, text in ((junit, verdict.junit), (markdown, verdict.markdown)):
        if place is not None:
            output.write_files(place.parent, {place.name: text})
    if keep and baseline is not None:
        output.write_files(baseline.parent, {baseline.name: verdict.baseline})
    if not verdict.holds:
        raise RunError(f"{file}: a limit is broken")


def _run(file: Path, read: "Budget", case: "Case") -> Measured:
    """Runs the transport once."""
    where = f"{file}: path.{case.path}, seed {case.seed}"
    ours = {
        "STILLAIR_BUDGET": str(file.absolute()),
        "STILLAIR_PATH": case.path,
        "STILLAIR_SEED": str(case.seed),
    }
    try:
        done = subprocess.run(  # noqa: S603 - the user's own command, from the user's own file
            read.command, cwd=file.absolute().parent, env=os.environ | ours, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise InputError(f"{file}: command: {read.command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        says = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RunError(f"{where}: the command ended with {done.returncode}: {says[0]}")
    last = done.stdout.strip().splitlines()[-1:] or [""]
    try:
        found = json.loads(last[0])
        metrics = {str(name): float(value) for name, value in found.items()}
    except (ValueError, AttributeError, TypeError):
        raise RunError(f"{where}: the last line is {last[0][:60]!r}, expected a JSON object of numbers") from None
    return case.measured(**metrics)
