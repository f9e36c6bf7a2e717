"""`stillair validate`: compares the model with measurements of the real kernel and of the real mac80211."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from stillair._native import InputError, RunError
from stillair.cli.common import options
from stillair.cli.common.progress import runs_progress


def _measured(whose: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The argument for a folder of measurements."""
    about = f"A folder of {whose} measurements, or one file."
    return click.argument("folder", metavar="[DIR]", type=options.PATH, required=False, help=about)


@click.group(invoke_without_command=True)
@click.pass_context
def validate(context: click.Context) -> None:
    """Compare the model with measurements of the real Linux."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@validate.command()
@_measured("the kernel's")
@options.jobs
@options.as_json
def linux(folder: Path | None, jobs: int | None, as_json: bool) -> None:
    """Compare with measurements of the real kernel.

    Without DIR: those that come with Stillair.
    """
    from stillair_lab.validate import command  # noqa: PLC0415 - not needed for other commands

    plan = command.plan(folder)
    for note in plan.notes:
        print(f"stillair: {note}", file=sys.stderr)
    with runs_progress(len(plan.subjects), quiet=as_json) as watched:
        report = command.run(plan, jobs, watched.progress)
    if report.rows:
        print(command.as_json(report.rows) if as_json else command.text(report.rows))
    _tell(report.fault())


@validate.command()
@_measured("mac80211's")
@click.option("--only", metavar="NAMES", help="Configurations with these names, such as tcp_up*.")
@options.jobs
@options.as_json
@options.replace
@click.option(
    "-o", "into", metavar="DIR", type=options.PATH, help="Write report.txt and comparison.json into this folder."
)
@click.option(
    "--scenarios", metavar="DIR", type=options.PATH, help="Write the scenario of each configuration there; run nothing."
)
def wifi(
    folder: Path | None,
    only: str | None,
    jobs: int | None,
    as_json: bool,
    force: bool,
    into: Path | None,
    scenarios: Path | None,
) -> None:
    """Compare with measurements of the real mac80211.

    Without DIR: those that come with Stillair.
    """
    from stillair.text import output  # noqa: PLC0415 - not needed for other commands
    from stillair_lab.validate import batch  # noqa: PLC0415
    from stillair_lab.validate.wifi import command, report  # noqa: PLC0415

    if force and into is None and scenarios is None:
        raise InputError("--force: has no effect without -o or --scenarios, which name the folder to write into")
    for target in (into, scenarios):
        if target is not None:
            output.prepare(target)
    if into is not None:
        output.refuse_present([into / "report.txt", into / "comparison.json"], force)
    plan = command.plan(folder, only)
    for note in plan.notes:
        print(f"stillair: {note}", file=sys.stderr)
    if scenarios is not None:
        files = command.scenarios(plan)
        output.refuse_present([scenarios / name for name in files], force, "--scenarios")
        output.write_files(scenarios, files)
        _tell(batch.fault(plan.faults))
        return
    with runs_progress(len(plan.configurations), quiet=as_json) as watched:
        made = command.run(plan, jobs, watched.progress)
    if made.rows:
        rows = command.as_json(made.rows)
        if into is not None:
            output.write_files(into, {"report.txt": f"{report.text(made.rows)}\n", "comparison.json": f"{rows}\n"})
        print(rows if as_json else report.text(made.rows))
    _tell(made.fault())


@validate.command()
@_measured("the kernel's")
@click.option(
    "--kernel", metavar="NAME", default="6.12", help="Kernel of the guests, from 'stillair kernel list' (6.12)."
)
@options.jobs
@options.as_json
def guests(folder: Path | None, kernel: str, jobs: int | None, as_json: bool) -> None:
    """Repeat measurements of the kernel with real kernels as guests."""
    from stillair_lab.validate import batch, json_file, kernel_file  # noqa: PLC0415 - not needed for other commands
    from stillair_lab.validate import guests as real  # noqa: PLC0415

    files = [kernel_file.read(path) for path in json_file.paths(folder or kernel_file.bundled())]
    left_out = {file.name: why for file in files if (why := real.lacks(file))}
    work = {file.name: partial(real.run, file, kernel) for file in files if file.name not in left_out}
    with runs_progress(len(work), quiet=as_json) as watched:
        done, failed = batch.run(work, str, jobs, watched.progress)
    ran = {name: done[name] for name in work if name in done}
    print(real.as_json(ran, left_out, kernel) if as_json else real.text(ran, left_out, kernel))
    _tell(batch.fault(list(failed.values())))


def _tell(fault: tuple[list[str], InputError | RunError] | None) -> None:
    """Prints all faults but the last, one per line, and raises the last."""
    if fault is not None:
        before, last = fault
        for line in before:
            print(f"stillair: {line}", file=sys.stderr)
        raise last
