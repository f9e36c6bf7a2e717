"""The command `stillair new`, and what it asks."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from stillair._native import InputError
from stillair.cli.new import home, write
from stillair.cli.new.home import Home
from stillair.cli.options import path

_STATIONS = ("laptop=5 m", "tv=15 m")


def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", parser=path, help="File to write.", show_default="the output")
    ] = None,
    stations: Annotated[
        list[str] | None,
        typer.Option(
            "--station",
            metavar="NAME=PLACE",
            help="A station: its distance '5 m', its SNR '30 dB', or a fixed rate such as ht20-mcs0-lgi. Repeatable.",
            show_default=", ".join(_STATIONS),
        ),
    ] = None,
    standard: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(home.STANDARDS)}.", show_default="802.11ac")
    ] = None,
    width: Annotated[
        int | None, typer.Option(help="Width of the channel in MHz.", show_default="the standard's, 80 at most")
    ] = None,
    streams: Annotated[int, typer.Option(min=1, max=4, help="Spatial streams.")] = 2,
    kernel: Annotated[str, typer.Option(help="Profile of all hosts.")] = "linux-6.6",
    scheme: Annotated[
        str | None, typer.Option(help="How the access point queues.", show_default="its driver's in that kernel")
    ] = None,
    internet: Annotated[
        str | None,
        typer.Option(metavar="DOWN/UP", help="Rates of the line in Mbit/s: '100/20'.", show_default="no line"),
    ] = None,
    shaper: Annotated[
        str | None, typer.Option(help=f"At the line: {', '.join(home.SHAPERS)}.", show_default="none")
    ] = None,
    buffer: Annotated[str, typer.Option(metavar="TIME", help="The line's buffers, each way.")] = "200 ms",
    delay: Annotated[str, typer.Option(metavar="TIME", help="One way to the server.")] = "10 ms",
    traffic: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(home.TRAFFIC)}. Repeatable.", show_default="download, ping"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a scenario of a network of one's own, with comments; it is checked before it is written.

    At a terminal, what no option says of stations, line and traffic is asked for if none of them is given.
    """
    if file is not None and file.exists() and not force:
        raise InputError(f"{file}: is there already; --force writes over it, or give another file")
    if force and file is None:
        raise InputError("--force: has no effect without a file to write")
    given = (stations, standard, width, internet, shaper, traffic)
    if all(one is None for one in given) and sys.stdin.isatty() and sys.stderr.isatty():
        stations, standard, internet, shaper, traffic = _asked()
    if shaper not in (None, "none") and internet is None:
        raise InputError("--shaper: has no effect without --internet, whose rates it is set by")
    standard = _one_of("--standard", standard or "802.11ac", home.STANDARDS)
    wanted = Home(
        name=file.stem if file else "home",
        stations=tuple(map(home.station, stations or _STATIONS)),
        traffic=tuple(_one_of("--traffic", one, home.TRAFFIC) for one in traffic or ("download", "ping")),
        standard=standard,
        width_mhz=width or min(home.WIDEST[standard], 80),
        streams=streams,
        kernel=kernel,
        scheme=scheme,
        access=home.access(internet, _one_of("--shaper", shaper or "none", home.SHAPERS), buffer) if internet else None,
        delay=delay,
    )
    home.check(wanted)
    text = write.text(wanted, _fastest)
    _checked(text)
    if file is None:
        print(text, end="")
        return
    from stillair.text import output  # noqa: PLC0415 - not needed for other commands

    output.check(file)
    output.write_files(file.parent, {file.name: text})
    print(f"stillair: {file}: written; 'stillair check {file}' shows what it comes to", file=sys.stderr)


def _one_of(option: str, found: str, known: tuple[str, ...]) -> str:
    """What was said, where it is one of these; the part behind `802.` is enough of a standard."""
    from stillair.text.nearest import hint  # noqa: PLC0415 - for a mistake

    for name in known:
        if found.lower() in (name.lower(), name.removeprefix("802.11")):
            return name
    raise InputError(f'{option}: found "{found}", expected one of {", ".join(known)}{hint(found, known)}')


def _checked(text: str) -> str:
    """The survey of the text; what is wrong with it is told by the option, as far as its reader knows it."""
    from stillair import _native  # noqa: PLC0415 - loaded when there is something to read

    try:
        return _native.survey(text, "the new scenario", [])
    except InputError as error:
        # The same option is in many nodes: the first mistake says it.
        raise InputError(f"new: {str(error).splitlines()[0]}") from None


def _fastest(text: str) -> dict[str, str]:
    """The fastest rate that works at each station."""
    paths = json.loads(_checked(text))["paths"]
    return {
        path["station"].partition(".")[0]: path["down"]["fastest"]["name"] for path in paths if path["down"]["fastest"]
    }


def _asked() -> tuple[list[str], str, str | None, str | None, list[str]]:
    """The answers of a person; an empty one takes what is offered."""

    def ask(question: str, offered: str) -> str:
        return str(typer.prompt(question, default=offered, err=True)).strip()

    standard = ask(f"Standard ({', '.join(home.STANDARDS)})", "802.11ac")
    stations = ask("Stations with their distance, SNR or rate", ", ".join(_STATIONS))
    internet = ask("Line to the Internet, down/up in Mbit/s, or none", "none")
    shaper = ask(f"Shaper at the line ({', '.join(home.SHAPERS)})", "none") if internet != "none" else None
    traffic = ask(f"Traffic ({', '.join(home.TRAFFIC)})", "download, ping")
    listed = [[part.strip() for part in text.split(",") if part.strip()] for text in (stations, traffic)]
    return listed[0], standard, None if internet == "none" else internet, shaper, listed[1]
