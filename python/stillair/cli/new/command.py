"""The command `stillair new` and its questions."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from stillair._native import InputError, lines
from stillair.cli.common import options
from stillair.cli.new import home, write
from stillair.cli.new.home import Home

_STATIONS = ("laptop=5 m", "tv=15 m")


@click.command()
@click.argument("file", metavar="[FILE]", type=options.PATH, required=False, help="File to write; without, print it.")
@click.option(
    "--station",
    "stations",
    metavar="NAME=PLACE",
    multiple=True,
    show_default=", ".join(_STATIONS),
    help="A station with its distance '5 m', its SNR '30 dB', or a fixed rate such as ht20-mcs0-lgi;"
    " append ',power-save' for the power save of a phone. Repeatable.",
)
@click.option("--standard", metavar="NAME", show_default="802.11ac", help=f"One of {', '.join(home.STANDARDS)}.")
@click.option(
    "--width",
    metavar="MHZ",
    show_default="the standard's widest, 80 at most",
    help="Width of the channel in MHz.",
)
@click.option("--streams", type=options.whole(1, 4), metavar="N", default=2, help="Spatial streams, 1 to 4.")
@click.option(
    "--kernel",
    metavar="PROFILE",
    default=home.KERNEL,
    help=f"Kernel of access point and stations: {', '.join(home.KERNELS)}. An OpenWrt release applies to the"
    f" access point only; the stations then have {home.KERNEL}, which the server always has.",
)
@click.option(
    "--scheme",
    metavar="NAME",
    show_default="the driver's in that kernel",
    help="How the access point queues for Wi-Fi.",
)
@click.option(
    "--internet",
    metavar="DOWN/UP",
    show_default="none: a wire without a bottleneck",
    help="Rates of the access line in Mbit/s: '100/20', with the framing of a cable line; --line knows others.",
)
@click.option(
    "--line",
    metavar="NAME",
    show_default="none",
    help=f"An access line by name, instead of --internet, with its framing: {', '.join(json.loads(lines()))}.",
)
@click.option(
    "--shaper",
    metavar="NAME",
    show_default="none",
    help=f"Shaper of the access line: {', '.join(home.SHAPERS)};"
    " cake counts the line's framing, fq_codel gets a lower rate instead.",
)
@click.option(
    "--buffer",
    metavar="TIME",
    show_default=f"the named line's, else {home.BUFFER}",
    help="Buffer of the modem, and of the provider's end.",
)
@click.option("--delay", metavar="TIME", default="10 ms", help="One-way delay from the home to the server.")
@click.option(
    "--traffic",
    metavar="KIND[=STATION]",
    multiple=True,
    show_default="download, ping",
    help=f"One of {', '.join(home.TRAFFIC)}; {home.TRAFFIC_MEANS}. Repeatable.",
)
@click.option(
    "--power-save",
    metavar="KIND",
    show_default="none",
    help=f"Power save of stations without their own setting: {', '.join(home.POWER_SAVES)}.",
)
@options.replace
def new(
    file: Path | None,
    stations: Sequence[str],
    standard: str | None,
    width: str | None,
    streams: int,
    kernel: str,
    scheme: str | None,
    internet: str | None,
    line: str | None,
    shaper: str | None,
    buffer: str | None,
    delay: str,
    traffic: Sequence[str],
    power_save: str | None,
    force: bool,
) -> None:
    """Write a scenario of your own network, with comments.

    The scenario is checked before it is written.

    At a terminal it asks for stations, line and traffic, if no option gives any of them.
    """
    from stillair.text import output  # noqa: PLC0415 - not needed for other commands

    output.refuse_present([file] if file else [], force, option="")
    if force and file is None:
        raise InputError("--force: has no effect without a file to write")
    if internet is not None and line is not None:
        raise InputError("--line: found together with --internet, expected one of the two")
    given = (stations, standard, width, internet, line, shaper, traffic, power_save)
    if not any(given) and sys.stdin.isatty() and sys.stderr.isatty():
        stations, standard, internet, shaper, traffic = _asked()
    has_line = internet is not None or line is not None
    if shaper not in (None, "none") and not has_line:
        raise InputError("--shaper: has no effect without --internet or --line, which set its rates")
    if buffer is not None and not has_line:
        raise InputError("--buffer: has no effect without --internet or --line")
    saves = _one_of("--power-save", power_save or "none", home.POWER_SAVES)
    standard = _one_of("--standard", standard or "802.11ac", home.STANDARDS)
    wanted = Home(
        name=file.stem if file else "home",
        stations=tuple(map(home.station, stations or _STATIONS)),
        traffic=tuple(map(_traffic, traffic or ("download", "ping"))),
        standard=standard,
        width_mhz=home.width(width) if width else min(home.WIDEST[standard], 80),
        streams=streams,
        kernel=_one_of("--kernel", kernel, home.KERNELS),
        scheme=scheme,
        access=_access(internet, line, _one_of("--shaper", shaper or "none", home.SHAPERS), buffer),
        delay=delay,
        power_save=None if saves == "none" else saves,
    )
    home.check(wanted)
    text = write.text(wanted, _fastest)
    _checked(text)
    if file is None:
        print(text, end="")
        return
    output.check(file)
    output.write_files(file.parent, {file.name: text})
    print(f"stillair: {file}: written; 'stillair check {file}' shows it", file=sys.stderr)


def _traffic(text: str) -> home.Traffic:
    """Parses `upload` or `upload=laptop`."""
    kind, equals, station = (part.strip() for part in text.partition("="))
    kind = _one_of("--traffic", kind, home.TRAFFIC)
    if equals and not station:
        raise InputError(f'--traffic: found "{text}", expected a station after "=", or "{kind}" alone')
    return home.Traffic(kind, station or None)


def _access(internet: str | None, line: str | None, shaper: str, buffer: str | None) -> home.Access | None:
    """Returns the access line, by rates or by preset."""
    if line is not None:
        return home.line(line, shaper, buffer)
    return home.access(internet, shaper, buffer) if internet is not None else None


def _one_of(option: str, found: str, known: tuple[str, ...]) -> str:
    """Returns the matching known value. A standard may omit its `802.11` prefix."""
    from stillair.text.nearest import hint  # noqa: PLC0415 - only for errors

    for name in known:
        if found.lower() in (name.lower(), name.removeprefix("802.11")):
            return name
    raise InputError(f'{option}: found "{found}", expected one of {", ".join(known)}{hint(found, known)}')


def _checked(text: str) -> str:
    """Returns the survey of the text. Errors that an option caused name the option."""
    from stillair import _native  # noqa: PLC0415 - loaded on use

    try:
        return _native.survey(text, "the new scenario", [])
    except InputError as error:
        # Many nodes share an option; the first error is enough.
        raise InputError(f"new: {str(error).splitlines()[0]}") from None


def _fastest(text: str) -> dict[str, str]:
    """The fastest rate that works at each station."""
    paths = json.loads(_checked(text))["paths"]
    return {
        path["station"].partition(".")[0]: path["down"]["fastest"]["name"] for path in paths if path["down"]["fastest"]
    }


def _asked() -> tuple[list[str], str, str | None, str | None, list[str]]:
    """Asks for the settings; an empty answer accepts the default."""

    def ask(question: str, offered: str) -> str:
        return str(click.prompt(question, default=offered, err=True)).strip()

    standard = ask(f"Standard ({', '.join(home.STANDARDS)})", "802.11ac")
    stations = ask("Stations with their distance, SNR or rate", ", ".join(_STATIONS))
    internet = ask("Line to the Internet, down/up in Mbit/s, or none", "none")
    shaper = ask(f"Shaper at the line ({', '.join(home.SHAPERS)})", "none") if internet != "none" else None
    traffic = ask(f"Traffic ({', '.join(home.TRAFFIC)})", "download, ping")
    stations = re.sub(r",\s*(?=power-save\b)", ";", stations)  # belongs to the preceding station
    listed = [[part.strip() for part in text.split(",") if part.strip()] for text in (stations, traffic)]
    listed[0] = [one.replace(";", ",") for one in listed[0]]
    return listed[0], standard, None if internet == "none" else internet, shaper, listed[1]
