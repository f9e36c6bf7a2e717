"""`stillair live` with `live exec`, `live set` and `live ps`, and `stillair crosscheck`."""

import json
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.text import terminal

if TYPE_CHECKING:
    from stillair.runs.live import Request
    from stillair.runs.scenario import Scenario

_command = click.argument("command", nargs=-1, metavar="[-- COMMAND ...]", type=click.UNPROCESSED)
_run_of = click.option(
    "--run",
    "run",
    type=options.whole(1),
    metavar="PID",
    show_default="the only one",
    help="The run, as 'stillair live ps' lists it.",
)
_late = click.option(
    "--late",
    type=options.whole(1),
    metavar="US",
    default=1000,
    help="The 99th percentile of lateness, in us, above which a run is invalid.",
)


class _Live(click.Group):
    """Treats the first argument as a scenario, unless it names a subcommand.

    A scenario file with the name of a subcommand is written as `./NAME`.
    """

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's signature
    ) -> click.Context:
        if args and args[0] in self.commands:
            name = f"{info_name} {args[0]}"
            return self.commands[args[0]].make_context(name, args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    # Without a subcommand, options may follow the scenario.
    allow_interspersed_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return click.Command.parse_args(self, ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        return click.Command.invoke(self, ctx)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return click.Command.collect_usage_pieces(self, ctx)


def _scenarios_and_subcommands(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    own = [name for name in live.commands if name.startswith(incomplete)]
    return [*own, *options.known_scenarios(context, parameter, incomplete)]


@click.group(cls=_Live, invoke_without_command=True)
@click.argument(
    "file",
    metavar="FILE",
    help="A scenario file (TOML), or the name of one that 'stillair scenarios' lists.",
    shell_complete=_scenarios_and_subcommands,
)
@_command
@options.set_
@options.seed
@click.option("--host", metavar="HOST", show_default="the first station", help="The host in which COMMAND runs.")
@_late
@click.option("--uplink", is_flag=True, help="Let hosts reach the Internet, by slirp4netns.")
@click.option(
    "--servers", is_flag=True, help="Start servers of netperf, irtt and iperf3 in all live hosts except COMMAND's."
)
@click.option(
    "--attach",
    metavar="HOST=PLACE",
    multiple=True,
    help="Use an existing network namespace as HOST: netns:PATH, netns:NAME or pid:N. Repeatable; needs root.",
)
@click.option(
    "--capture",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write frames to FILE as pcapng while the run goes on.",
)
@click.option(
    "--point",
    "points",
    multiple=True,
    metavar="POINT",
    show_default="the air of every channel",
    help="Capture point, or 'all'. Repeatable.",
)
@click.option(
    "--snaplen", type=options.whole(0), metavar="BYTES", default=0, help="Bytes kept of each frame; 0 keeps all."
)
@options.folder
@options.force
@options.as_json
def live(
    file: str,
    command: tuple[str, ...],
    set_: tuple[str, ...],
    seed: int | None,
    host: str | None,
    late: int,
    uplink: bool,
    servers: bool,
    attach: tuple[str, ...],
    capture: Path | None,
    points: tuple[str, ...],
    snaplen: int,
    folder: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Run a scenario with real Linux hosts at its ends.

    The run ends with COMMAND, with the scenario's duration, or with Ctrl-C.

    Exit status 3 says that packets came too late for the run to be valid. Subcommands act on a run in progress.
    """
    from stillair.runs import live as engine  # noqa: PLC0415 - loaded on use

    scenario = options.scenario(file)
    # A command gets the terminal to itself.
    request = engine.Request.of(
        scenario,
        options.overrides(set_),
        seed=seed,
        command=list(command),
        host=host,
        table=not command and not as_json,
        late_us=late,
        uplink=uplink,
        servers=servers,
        attach=[_attached(text) for text in attach],
        capture=None if capture is None else str(capture),
        points=list(points),
        snaplen=snaplen,
    )
    if force and folder is None and capture is None:
        raise InputError("--force: has no effect without -o, which names the folder of the result, or --capture")
    if capture is None and (points or snaplen):
        raise InputError(f"{'--point' if points else '--snaplen'}: has no effect without --capture")
    if capture is not None:
        from stillair.text import output  # noqa: PLC0415 - not needed without --capture

        output.refuse_present([capture], force, "--capture")
    text, status = engine.run(request) if folder is None else _kept(request, scenario, folder, force=force)
    _show(text, sys.stderr if command else sys.stdout, as_json=as_json)
    click.get_current_context().exit(status)


def _attached(text: str) -> tuple[str, str]:
    host, equals, place = text.partition("=")
    if not equals:
        raise InputError(f'--attach: found "{text}", expected HOST=netns:PATH or HOST=pid:N')
    return host, place


def _show(text: str, stream: IO[str], *, as_json: bool) -> None:
    """Prints a result, and its notes on stderr."""
    from stillair.results.result import Result  # noqa: PLC0415 - slow to load; a run should start without delay
    from stillair.results.summary import summary  # noqa: PLC0415

    result = Result.from_json(text)
    for note in result.notes:
        print(f"stillair: {terminal.harmless(note)}", file=sys.stderr)
    if as_json:
        print(text)
        return
    print(summary(result, stream).rstrip(), file=stream)
    live = json.loads(text)["runs"][0]["live"]
    print(_lateness(live), file=stream)
    if "capture" in live:
        print(_captured(live["capture"]), file=stream)


def _lateness(said: dict[str, Any]) -> str:
    """Lateness of packets given to hosts, in one line."""
    late = said["lateness"]
    words = (("p50_us", "median"), ("p99_us", "p99"), ("max_us", "max"))
    shown = ", ".join(f"{late[key] or 0:.0f} us ({word})" for key, word in words)
    return f"late by {shown}, {said['priority']} priority: {'valid' if said['valid'] else 'not valid'}"


def _captured(said: dict[str, Any]) -> str:
    """Summary of a capture, in one line."""
    points = ", ".join(f"{count} frames of {point}" for point, count in said["frames"].items())
    return f"{terminal.harmless(said['path'])}: {points}; {said['lost']} lost"


def _kept(request: "Request", scenario: "Scenario", folder: Path, *, force: bool) -> tuple[str, int]:
    """Runs the scenario and stores the result in a folder."""
    from stillair.cli.common import output_folder  # noqa: PLC0415 - not needed without -o
    from stillair.runs import live as engine  # noqa: PLC0415
    from stillair.runs import result_writer  # noqa: PLC0415

    scenario.resolve(request.overrides)
    request.series = True
    with options.writing(folder):
        result_writer.refuse_others(folder)
        output_folder.check(folder, output_folder.RUN, replace=force)
        writer = result_writer.ResultWriter(folder, scenario, request.overrides, 1)
        text, status = engine.run(request)
        writer.keep(json.dumps(json.loads(text)["runs"][0]))
        writer.finish()
    return text, status


@live.command("exec")
@click.argument("host", metavar="HOST")
@_command
@_run_of
def exec_(host: str, command: tuple[str, ...], run: int | None) -> None:
    """Run COMMAND in a host of a live run; without one, a shell."""
    from stillair.runs import live as engine  # noqa: PLC0415 - as above

    words = list(command) or [os.environ.get("SHELL", "/bin/sh")]
    click.get_current_context().exit(engine.execute(run, host, words))


@live.command("set")
@click.argument("change", metavar="KEY=VALUE")
@_run_of
def set_(change: str, run: int | None) -> None:
    """Change a key of a live run's scenario while it goes on."""
    from stillair.runs import live as engine  # noqa: PLC0415 - as above

    [(key, value)] = options.overrides([change])
    engine.change(run, key, value)


@live.command()
@options.as_json
def ps(as_json: bool) -> None:
    """List the live runs of this user, their hosts and addresses."""
    from stillair.runs import live as engine  # noqa: PLC0415 - as above

    found = engine.runs()
    if as_json:
        print(json.dumps(found))
        return
    for one in found:
        status = one["status"]
        print(f"{one['pid']}  {terminal.harmless(status['scenario'])}  {status['elapsed_s']:.0f} s")
        for name, of in status["hosts"].items():
            print(f"    {name}  {of['device']}  {of['address']}  {of['address6']}")


@click.command()
@options.file
@options.set_
@options.seed
@click.option(
    "--runs",
    type=options.whole(1, 100),
    metavar="N",
    default=1,
    help="Runs of each side; their means are compared.",
)
@_late
@click.option(
    "--hosts",
    metavar="uml:KERNEL",
    show_default="live hosts",
    help="Real kernels in virtual time at the ends of flows; 'uml:6.12:NODE,NODE' at these alone.",
)
@options.as_json
def crosscheck(
    file: str, set_: tuple[str, ...], seed: int | None, runs: int, late: int, hosts: str | None, as_json: bool
) -> None:
    """Compare live runs, or real kernels, with the model.

    Each combination of its [sweep] table is run. Exit status 1 says that they differ, 3 that a run was not valid.
    """
    from stillair.runs import crosscheck as sides  # noqa: PLC0415
    from stillair.runs import live as engine  # noqa: PLC0415 - as above

    def tell(text: str) -> None:
        print(f"stillair: {terminal.harmless(text)}", file=sys.stderr)

    asked = options.scenario(file), options.overrides(set_), seed, runs
    found = sides.crosscheck_with_kernels(*asked, hosts, tell) if hosts else sides.crosscheck(*asked, late, tell)
    print(found.to_json() if as_json else found.to_text())
    if found.late:
        click.get_current_context().exit(engine.INVALID)
    if not found.holds:
        click.get_current_context().exit(1)
