"""`stillair export`, `plot` and `report`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.cli.publish.time_range import parse as parse_window
from stillair.runs.limits import LARGEST_RUN
from stillair.text import terminal

_LARGEST_SNAPLEN = 2**32 - 1  # as in `capture`, which is imported late


@click.command()
@click.argument("result", metavar="RESULT", type=options.PATH, help="A folder that 'stillair run -o' wrote.")
@click.option("--flent", is_flag=True, help="Data files for Flent, one for each run.")
@click.option("--csv", is_flag=True, help="A tidy table.")
@click.option("--parquet", is_flag=True, help="The table as Parquet.")
@click.option(
    "--table",
    metavar="NAME",
    type=click.Choice(("sojourn", "queues", "exchanges", "sockets")),
    show_default="measurements in each step of time",
    help="For --csv and --parquet: a table recorded by [record]: sojourn, queues, exchanges, sockets.",
)
@click.option("--pcap", is_flag=True, help="Captures for Wireshark, one for each run.")
@click.option("--qlog", is_flag=True, help="QUIC logs for qvis, one for each run and flow.")
@click.option("-o", "target", metavar="FILE", type=options.PATH, help="File to write; a folder if there are several.")
@click.option(
    "--run", "number", metavar="N", type=options.whole(0, LARGEST_RUN), show_default="all", help="One run only."
)
@click.option("--title", metavar="TEXT", show_default="the folder's name", help="Title in Flent.")
@click.option(
    "--time",
    "begun",
    metavar="YYYY-MM-DDTHH:MM:SS",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S"]),
    show_default="the start of 2000",
    help="Start of the run in UTC, for Flent.",
)
@click.option(
    "--snaplen",
    metavar="BYTES",
    type=options.whole(0, _LARGEST_SNAPLEN),
    show_default="256: headers",
    help="Bytes kept of each frame in a capture, 160 or more; 0 keeps all.",
)
@click.option(
    "--point",
    "points",
    metavar="POINT",
    multiple=True,
    show_default="the air, or all links",
    help="Capture point, or 'all'; 'list' lists the points. On the air, lost frames are retransmitted by Wi-Fi; for"
    " TCP retransmissions use a wired point, such as server-eth0. Repeatable.",
)
@click.option(
    "--window", metavar="FROM..TO", show_default="all", help="Part of the run in a capture, such as '10 s..10.05 s'."
)
@options.replace
def export(
    result: Path,
    flent: bool,
    csv: bool,
    parquet: bool,
    table: str | None,
    pcap: bool,
    qlog: bool,
    target: Path | None,
    number: int | None,
    title: str | None,
    begun: datetime | None,
    snaplen: int | None,
    points: tuple[str, ...],
    window: str | None,
    force: bool,
) -> None:
    """Write a result in another program's format."""
    from stillair.cli.publish import export as exports  # noqa: PLC0415 - not needed for other commands

    chosen = [kind for kind, wanted in zip(exports.FORMATS, (flent, csv, parquet, pcap, qlog), strict=True) if wanted]
    if len(chosen) != 1:
        raise InputError(f"export: no format, expected one of {', '.join(f'--{kind}' for kind in exports.FORMATS)}")
    _only("flent", chosen[0], {"--title": title, "--time": begun})
    _only("pcap", chosen[0], {"--snaplen": snaplen, "--point": points or None, "--window": window})
    if table is not None:
        if chosen[0] not in ("csv", "parquet"):
            raise InputError(f"--table: applies only to --csv and --parquet, not to --{chosen[0]}")
        print(exports.export_table(chosen[0], table, result, target, number, force=force))
        return
    if points == ("list",):
        print("\n".join(exports.points(result)))
        return
    since = exports.EPOCH if begun is None else begun.replace(tzinfo=UTC)
    frames = exports.USUAL._replace(points=points or ())
    if window is not None:
        first, last = parse_window(window)
        frames = frames._replace(window=(f"{first} ns", f"{last} ns"))
    if snaplen is not None:
        frames = frames._replace(snaplen=snaplen)
    for path in exports.export(chosen[0], result, target, number, title, since, frames, force=force):
        print(path)


def _only(kind: str, chosen: str, options: Mapping[str, object]) -> None:
    """Rejects options that the chosen format does not use."""
    for option, value in options.items():
        if value is not None and kind != chosen:
            raise InputError(f"{option}: applies only to --{kind}, not to --{chosen}")


@click.command()
@click.argument(
    "results", metavar="RESULT...", type=options.PATH, nargs=-1, help="One or more folders of 'stillair run -o'."
)
@click.option("--plot", "name", metavar="NAME", default="timeseries", help="Kind of picture; 'list' lists them.")
@click.option(
    "-o",
    "target",
    metavar="FILE",
    type=options.PATH,
    show_default="NAME.png",
    help="File to write: a .png, .svg or .pdf.",
)
@click.option(
    "--window",
    metavar="FROM..TO",
    show_default="all",
    help="Part of what was recorded, for airtime-timeline, such as '10 s..10.05 s'.",
)
@click.option(
    "--title",
    "titles",
    metavar="TEXT",
    multiple=True,
    show_default="its folder",
    help="Title of a result, in order. Repeatable.",
)
@options.replace
def plot(
    results: tuple[Path, ...], name: str, target: Path | None, window: str | None, titles: tuple[str, ...], force: bool
) -> None:
    """Draw a picture of one or several results."""
    from stillair import plot as plots  # noqa: PLC0415 - not needed for other commands
    from stillair.plot.data import Titled  # noqa: PLC0415
    from stillair.results.result import Result  # noqa: PLC0415
    from stillair.text import output  # noqa: PLC0415

    if name == "list":
        print(plots.listing(terminal.width()))
        return
    target = target or Path(f"{name}.png")
    plots.check(name, target)
    output.refuse_present([target], force)
    if window and name != plots.TIMELINE:
        raise InputError(f"--window: {name} shows the whole run; {plots.TIMELINE} has windows")
    part = parse_window(window) if window else None
    if not results:
        raise InputError("plot: give at least one folder that 'stillair run -o' wrote")
    if titles and len(titles) != len(results):
        raise InputError(f"--title: found {len(titles)}, expected one for each of {len(results)} results")
    titles = titles or tuple(path.resolve().name for path in results)
    loaded = [Titled(title, Result.load(path)) for title, path in zip(titles, results, strict=True)]
    plots.draw(name, loaded, target, part)
    print(target)


@click.command()
@click.argument("result", metavar="RESULT", type=options.PATH, help="A folder that 'stillair run -o' wrote.")
@click.option(
    "-o", "target", metavar="FILE", type=options.PATH, show_default="RESULT's name, .html", help="File to write."
)
@options.replace
def report(result: Path, target: Path | None, force: bool) -> None:
    """Write a result as one HTML page that works offline.

    It has the tables, the pictures and the scenario.
    """
    from stillair.cli.publish import page  # noqa: PLC0415 - not needed for other commands

    print(page.write(result, target, force=force))
