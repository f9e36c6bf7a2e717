"""The command line."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from stillair import __version__, _native
from stillair._native import InputError, RunError
from stillair.cli import place, sweeps
from stillair.cli.options import AsJson, File, Folder, Force, Jobs, RunNumber, Runs, Seed, Set
from stillair.cli.options import overrides as _overrides
from stillair.cli.options import path as _path
from stillair.cli.options import writing as _writing
from stillair.cli.paper import paper
from stillair.cli.progress import runs_progress
from stillair.cli.time_range import parse as parse_window
from stillair.results.result import Result
from stillair.results.summary import summary
from stillair.runs.scenario import LARGEST_RUN, Scenario
from stillair.runs.sweep import Sweep
from stillair.text import output
from stillair.text.rc import rc_text
from stillair.text.tc import tc_text

app = typer.Typer(
    add_completion=False,
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


@app.command()
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
    _unused(folder, force)
    overrides = _overrides(set_)
    scenario = Scenario(file)
    if folder is None:
        with runs_progress(runs, quiet=as_json) as progress:
            result = scenario.run(runs=runs, seed=seed, jobs=jobs, overrides=overrides, progress=progress)
    else:
        from stillair.runs import result_writer  # noqa: PLC0415 - not needed without -o

        # A mistake is found before anything is made.
        scenario.resolve(overrides)
        with _writing(folder), runs_progress(runs, quiet=as_json) as progress:
            result_writer.refuse_others(folder)
            place.check(folder, place.RUN, replace=force)
            result = _run_and_keep(folder, scenario, overrides, runs, seed, jobs, progress)
    _mention(result.notes)
    _mention_sweep(scenario, overrides)
    print(result.to_json() if as_json else summary(result).rstrip())


def _run_and_keep(
    folder: Path,
    scenario: Scenario,
    overrides: list[tuple[str, str]],
    runs: int,
    seed: int | None,
    jobs: int | None,
    progress: Callable[[int], object] | None,
) -> Result:
    """Runs a scenario and keeps its runs, even if only some have finished when one fails or all are interrupted."""
    from stillair.runs.result_writer import ResultWriter  # noqa: PLC0415 - not needed without -o

    writer = ResultWriter(folder, scenario, overrides, runs)
    try:
        result = scenario.run(runs, seed, jobs, overrides, progress=progress, series=True, keep=writer.keep)
    except (InputError, RunError, KeyboardInterrupt):
        kept = writer.finish()
        if kept is not None:
            stays = "" if kept == folder else f"; the old result is still in {folder}"
            finished = f"{writer.finished} of {runs} runs had finished"
            print(f"stillair: {finished} and are kept in {kept}{stays}", file=sys.stderr)
        raise
    writer.finish()
    return result


def _unused(folder: Path | None, force: bool) -> None:
    if force and folder is None:
        raise InputError("--force: has no effect without -o, which names the folder of the result")


def _mention(notes: Iterable[str]) -> None:
    """Says beside the results what should be known of the scenario; each thing once."""
    for note in dict.fromkeys(notes):
        print(f"stillair: note: {note}", file=sys.stderr)


def _mention_sweep(scenario: Scenario, overrides: list[tuple[str, str]]) -> None:
    """Says that there is more to run; a table that does not fit the overrides is for `stillair sweep` to refuse."""
    try:
        combinations = scenario.sweep(overrides)
    except InputError:
        return
    if any(combinations):
        print(
            f"stillair: {scenario.file}: this is the scenario as it stands; "
            f"'stillair sweep' runs the {len(combinations)} combinations of its [sweep] table",
            file=sys.stderr,
        )


@app.command()
def sweep(
    file: File,
    seed: Seed = None,
    runs: Runs = 1,
    jobs: Jobs = None,
    set_: Set = None,
    folder: Folder = None,
    force: Force = False,
    as_json: AsJson = False,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Run part I of N into the folder of -o, which the others share; then gather."),
    ] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Also write a Parquet data set into the folder.")] = False,
) -> None:
    """Run all combinations of a scenario's [sweep] table; with -o, what the folder has already is not run again."""
    _unused(folder, force)
    part = sweeps.part(shard, folder, as_json=as_json, parquet=parquet)
    table = Sweep(Scenario(file), _overrides(set_), runs, seed)
    with _writing(folder, shared=part is not None):
        if folder is not None:
            table.prepare(folder)
            place.check(folder, place.SWEEP, replace=force, grows=table.grows(folder))
        count = table.share(part)
        try:
            with runs_progress(runs * count, quiet=as_json) as progress:
                outcome = table.run(jobs, folder, progress, shard=part, parquet=parquet)
        except KeyboardInterrupt:
            if folder is not None:
                kept = f"{table.kept(folder, part)} of {count} combinations"
                print(f"stillair: {kept} are kept in {folder}; the same command goes on from there", file=sys.stderr)
            raise
        if folder is not None and part is None:
            table.write(folder, outcome, parquet)
    told = table.told(*outcome)
    _mention(note for result in outcome.results if result is not None for note in result.notes)
    print(sweeps.said(told, part, folder, count, outcome.failures, as_json=as_json))
    sweeps.refuse(told, outcome.failures, count, folder)


@app.command()
def ss(
    file: File,
    seed: Seed = None,
    run_: RunNumber = 0,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When to look, such as '5 s'.", show_default="the end"),
    ] = None,
    set_: Set = None,
) -> None:
    """Print the TCP sockets of a run at one instant, as 'ss -tinm' of iproute2 6.1 prints them."""
    scenario = Scenario(file)
    print(_native.ss(scenario.text, scenario.file, _overrides(set_), seed, run_, at).rstrip())


@app.command()
def tc(
    file: File,
    seed: Seed = None,
    run_: RunNumber = 0,
    set_: Set = None,
) -> None:
    """Print the queueing disciplines of a run as they are at its end, as 'tc -s qdisc' prints them without handles.

    A discipline inside another has that one's kind as its parent, or the number of its queue under an mq.
    """
    scenario, overrides = Scenario(file), _overrides(set_)
    result = scenario.run(seed=seed, overrides=overrides, first_run=run_)
    print(tc_text(result.runs[0], json.loads(scenario.resolve(overrides))))


@app.command()
def rc(
    file: File,
    seed: Seed = None,
    run_: RunNumber = 0,
    set_: Set = None,
) -> None:
    """Print what rate control knows at the end of a run, by columns of 'rc_stats' of mac80211.

    They are mode, best, rate, tp(avg), prob(avg), retry, and successes and attempts in the last interval and in sum, of
    rates that were tried or have a place. Its idx, airtime, max_tp, deviation and lines of totals are not there.
    """
    result = Scenario(file).run(seed=seed, overrides=_overrides(set_), first_run=run_)
    print(rc_text(result.runs[0]))


@app.command()
def schema(
    reference: Annotated[bool, typer.Option("--reference", help="Print the reference for people.")] = False,
) -> None:
    """Print the JSON Schema of a scenario file, for editors."""
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
    with runs_progress(len(plan.subjects), quiet=as_json) as progress:
        report = command.run(plan, jobs, progress)
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
    from stillair.validate import batch  # noqa: PLC0415 - not needed for other commands
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
    with runs_progress(len(plan.configurations), quiet=as_json) as progress:
        made = command.run(plan, jobs, progress)
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
