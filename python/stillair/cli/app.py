"""The command line."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from stillair._native import InputError, RunError, __version__
from stillair.cli.check import check
from stillair.cli.compare.command import compare
from stillair.cli.look import rc, ss, tc
from stillair.cli.new.command import new
from stillair.cli.options import AsJson, Jobs
from stillair.cli.options import path as _path
from stillair.cli.paper import paper
from stillair.cli.progress import runs_progress
from stillair.cli.running import run, sweep
from stillair.cli.scenarios import scenarios
from stillair.cli.time_range import parse as parse_window
from stillair.runs.limits import LARGEST_RUN

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Stillair: a Wi-Fi latency testbed in one program.",
)

_LARGEST_SNAPLEN = 2**32 - 1  # of `capture`, which is loaded late


def _version(wanted: bool) -> None:
    if wanted:
        print(f"stillair {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _stillair(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback has done the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


for command in (run, sweep, compare, check, new, scenarios, ss, tc, rc):
    app.command()(command)


@app.command()
def schema(
    reference: Annotated[bool, typer.Option("--reference", help="Print the reference for people.")] = False,
) -> None:
    """Print the JSON Schema of a scenario file, for editors."""
    from stillair import _native  # noqa: PLC0415 - it is there already

    print((_native.reference() if reference else _native.schema()).rstrip())


app.command()(paper)

validate = typer.Typer(help="Hold the model against measurements of the real thing.")
app.add_typer(validate, name="validate")


@validate.callback()
def _validate() -> None:
    """A name of its own for what is held against, with room for others beside the kernel."""


@validate.command()
def linux(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A folder of the kernel's measurements, or one file.", show_default=False),
    ] = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Run what the real kernel was measured at, and compare. Without DIR: the measurements that come with it."""
    from stillair.validate import command  # noqa: PLC0415 - not needed for other commands

    plan = command.plan(folder)
    for note in plan.notes:
        print(f"stillair: {note}", file=sys.stderr)
    with runs_progress(len(plan.subjects), quiet=as_json) as watched:
        report = command.run(plan, jobs, watched.progress)
    if report.rows:
        print(command.as_json(report.rows) if as_json else command.text(report.rows))
    _tell(report.fault())


@validate.command()
def wifi(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A folder of mac80211's measurements, or one file.", show_default=False),
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Configurations of these names, as tcp_up*.")
    ] = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    into: Annotated[
        Path | None, typer.Option("-o", metavar="DIR", parser=_path, help="Write report.txt and comparison.json there.")
    ] = None,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", parser=_path, help="Write the scenario of each configuration there, and run nothing."
        ),
    ] = None,
) -> None:
    """Run what the real mac80211 was measured at, and compare. Without DIR: the measurements that come with it."""
    from stillair.text import output  # noqa: PLC0415 - not needed for other commands
    from stillair.validate import batch  # noqa: PLC0415
    from stillair.validate.wifi import command, report  # noqa: PLC0415

    for target in (into, scenarios):
        if target is not None:
            output.prepare(target)
    plan = command.plan(folder, only)
    for note in plan.notes:
        print(f"stillair: {note}", file=sys.stderr)
    if scenarios is not None:
        output.write_files(scenarios, command.scenarios(plan))
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


def _tell(fault: tuple[list[str], InputError | RunError] | None) -> None:
    """Says all that could not be done, a line each; the last is raised."""
    if fault is not None:
        before, last = fault
        for line in before:
            print(f"stillair: {line}", file=sys.stderr)
        raise last


def _only(kind: str, chosen: str, options: Mapping[str, object]) -> None:
    """Refuses options of one format beside another, where they would say nothing."""
    for option, value in options.items():
        if value is not None and kind != chosen:
            raise InputError(f"{option}: --{kind} has that, --{chosen} has not")


@app.command()
def export(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A folder that 'stillair run -o' wrote.")],
    flent: Annotated[bool, typer.Option("--flent", help="Data files that Flent opens, one a run.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="A tidy table.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="The table as Parquet.")] = False,
    pcap: Annotated[bool, typer.Option("--pcap", help="Captures that Wireshark opens, one a run.")] = False,
    qlog: Annotated[bool, typer.Option("--qlog", help="Logs of QUIC that qvis opens, one a run and flow.")] = False,
    target: Annotated[
        Path | None,
        typer.Option("-o", metavar="FILE", parser=_path, help="File to write; a folder if there are several."),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--run", min=0, max=LARGEST_RUN, help="One run only.", show_default="all")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title in Flent.", show_default="the folder's name")] = None,
    begun: Annotated[
        datetime | None,
        typer.Option("--time", formats=["%Y-%m-%dT%H:%M:%S"], help="When the run began, in UTC, for Flent."),
    ] = None,
    snaplen: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=_LARGEST_SNAPLEN,
            help="Bytes kept of each frame in a capture, 160 or more; 0 keeps all.",
            show_default="256: headers",
        ),
    ] = None,
    points: Annotated[
        list[str] | None,
        typer.Option(
            "--point",
            metavar="POINT",
            help="Where frames are captured, or 'all'; 'list' lists the points. Repeatable.",
            show_default="the air, or all links",
        ),
    ] = None,
    window: Annotated[
        str | None, typer.Option(help="Part of the run in a capture, such as '10 s..10.05 s'.", show_default="all")
    ] = None,
) -> None:
    """Write a result in another program's format."""
    from stillair.cli import export as exports  # noqa: PLC0415 - not needed for other commands

    chosen = [kind for kind, wanted in zip(exports.FORMATS, (flent, csv, parquet, pcap, qlog), strict=True) if wanted]
    if len(chosen) != 1:
        raise InputError(f"export: say which format, one of {', '.join(f'--{kind}' for kind in exports.FORMATS)}")
    _only("flent", chosen[0], {"--title": title, "--time": begun})
    _only("pcap", chosen[0], {"--snaplen": snaplen, "--point": points, "--window": window})
    if points == ["list"]:
        print("\n".join(exports.points(result)))
        return
    begun = exports.EPOCH if begun is None else begun.replace(tzinfo=UTC)
    frames = exports.USUAL._replace(points=points or ())
    if window is not None:
        first, last = parse_window(window)
        frames = frames._replace(window=(f"{first} ns", f"{last} ns"))
    if snaplen is not None:
        frames = frames._replace(snaplen=snaplen)
    for path in exports.export(chosen[0], result, target, number, title, begun, frames):
        print(path)


@app.command()
def plot(
    results: Annotated[
        list[Path] | None, typer.Argument(metavar="RESULT...", help="One or more folders of 'stillair run -o'.")
    ] = None,
    name: Annotated[str, typer.Option("--plot", help="Which; 'list' lists them.")] = "timeseries",
    target: Annotated[
        Path | None,
        typer.Option("-o", metavar="FILE", parser=_path, help="A .png, .svg or .pdf.", show_default="PLOT.png"),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="Part of what was recorded, for airtime-timeline, such as '10 s..10.05 s'.", show_default="all"
        ),
    ] = None,
    titles: Annotated[
        list[str] | None,
        typer.Option("--title", help="Title of a result, in their order. Repeatable.", show_default="its folder"),
    ] = None,
) -> None:
    """Draw a picture of one or several results."""
    from stillair import plot as plots  # noqa: PLC0415 - not needed for other commands
    from stillair.plot.data import Titled  # noqa: PLC0415
    from stillair.results.result import Result  # noqa: PLC0415

    if name == "list":
        print(plots.listing())
        return
    target = target or Path(f"{name}.png")
    plots.check(name, target)
    if window and name != plots.TIMELINE:
        raise InputError(f"--window: {name} shows the whole run; {plots.TIMELINE} has windows")
    part = parse_window(window) if window else None
    if not results:
        raise InputError("plot: give at least one folder that 'stillair run -o' wrote")
    if titles and len(titles) != len(results):
        raise InputError(f"--title: found {len(titles)}, expected one for each of {len(results)} results")
    titles = titles or [path.resolve().name for path in results]
    loaded = [Titled(title, Result.load(path)) for title, path in zip(titles, results, strict=True)]
    plots.draw(name, loaded, target, part)
    print(target)


@app.command("report")
def report_(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A folder that 'stillair run -o' wrote.")],
    target: Annotated[
        Path | None,
        typer.Option("-o", metavar="FILE", parser=_path, help="File to write.", show_default="RESULT's name, .html"),
    ] = None,
) -> None:
    """Write a result as one page that works offline: tables, pictures, the scenario."""
    from stillair.cli import page  # noqa: PLC0415 - not needed for other commands

    print(page.write(result, target))
