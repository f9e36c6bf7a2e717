"""The command: reads the named files, prints the address, runs the server."""

import os
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.text import source

if TYPE_CHECKING:
    from stillair.cli.explore.server import Shown

_MOST_AT_ONCE = 8
_PORTS = options.whole(0, 65_535)


@click.command()
@click.argument(
    "files",
    metavar="[SCENARIO]...",
    nargs=-1,
    help="Scenario files or names, and the files that they name, such as traces.",
)
@click.option("--port", type=_PORTS, default=0, metavar="N", show_default="any that is free", help="Port on 127.0.0.1.")
@click.option("--open", "opens", is_flag=True, help="Also open the page in the browser.")
@click.option(
    "--seconds", type=options.whole(1, 3_600), default=60, metavar="N", help="Longest time for one request, in seconds."
)
def explore(files: tuple[str, ...], port: int, opens: bool, seconds: int) -> None:
    """Open a page on which you turn a scenario's knobs.

    Serves the page for this machine only, at a secret address, until Ctrl-C. It reads the files named here and no
    others, and writes none.
    """
    # The HTTP server modules are slow to import.
    import webbrowser  # noqa: PLC0415

    from stillair.cli.explore.engines import Limits  # noqa: PLC0415
    from stillair.cli.explore.server import PAGE, Server  # noqa: PLC0415

    if not (PAGE / "index.html").exists():
        raise InputError(f"the page is not built: {PAGE} is missing; 'make web' in Stillair's repository builds it")
    shown = named(files)
    limits = Limits(seconds=seconds, at_once=min(_MOST_AT_ONCE, os.cpu_count() or 1))
    try:
        server = Server(port, secrets.token_urlsafe(24), shown, limits)
    except OSError as error:
        raise InputError(f"--port: found {port}, which cannot be used: {error.strerror}") from None
    with server:
        print(server.address, flush=True)
        print("stillair: Ctrl-C ends it", file=sys.stderr)
        if opens:
            webbrowser.open(server.address)
        server.serve_forever(poll_interval=0.1)


def named(files: Iterable[str]) -> "Shown":
    """Reads the named scenarios and the files that they refer to."""
    from stillair.cli.explore.server import Shown  # noqa: PLC0415 - slow to load

    scenarios: list[tuple[str, str]] = []
    beside: list[tuple[str, str]] = []
    for name in files:
        if scenarios and not name.endswith(".toml") and Path(name).is_file():
            text = _text(Path(name))
            beside += [(key, text) for key in dict.fromkeys((name, Path(name).name))]
        else:
            scenario = options.scenario(name)
            scenarios.append((name, scenario.text))
    return Shown(scenarios, beside)


def _text(path: Path) -> str:
    try:
        return source.text(path, "a file of a scenario")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read as text") from None
