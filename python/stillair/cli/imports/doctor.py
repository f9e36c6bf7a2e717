"""`stillair doctor`: the settings of this machine."""

import json
import sys
import textwrap
from pathlib import Path

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.text import terminal


@click.command()
@click.option("-o", "target", metavar="FILE", type=options.PATH, help="Also write a scenario from what was found.")
@options.replace
@options.as_json
def doctor(target: Path | None, force: bool, as_json: bool) -> None:
    """Print which settings of this machine matter for latency.

    Kernel, Wi-Fi driver, channel and signal, queueing disciplines, TCP's small queues (TSQ) and congestion control,
    airtime flags and airtime queue limits (AQL) are read. Each comes with its source and a command
    that shows how much it matters. Nothing is changed. Only root can read the last two.
    """
    from stillair.runs.imports import network, scenario  # noqa: PLC0415 - loaded on use
    from stillair.runs.imports.doctor import UNKNOWN, Machine  # noqa: PLC0415

    if force and target is None:
        raise InputError("--force: has no effect without -o, which names the file to write")
    if target is not None:
        from stillair.text import output  # noqa: PLC0415 - not needed without -o

        output.refuse_present([target], force)
    machine = Machine()
    found = machine.findings()
    if target is not None:
        output.check(target)
        text = scenario.text(network.of(machine.facts), ["this machine"])
        output.write_files(target.parent, {target.name: text})
    if as_json:
        print(json.dumps([one._asdict() for one in found], ensure_ascii=False))
        return
    said: set[str] = set()
    for one in found:
        colour = terminal.YELLOW if one.value == UNKNOWN else terminal.BOLD
        print(f"{terminal.painted(one.what, colour, sys.stdout)}: {terminal.harmless(one.value)}")
        print(_filled(f"from: {terminal.harmless(one.source)}"))
        if one.what not in said:
            said.add(one.what)
            print(_filled(f"decides {one.means}"))
            # Keep a command on one line, for copying, if it fits.
            print(
                f"  weight: {one.weight}"
                if len(one.weight) + 10 <= terminal.width()
                else f"  weight:\n{_command(one.weight)}"
            )


def _filled(text: str) -> str:
    return textwrap.fill(
        text,
        terminal.width(),
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _command(text: str) -> str:
    """Breaks a long command with a shell line continuation."""
    head, _, rest = text.partition(" --set ")
    return f"    {head} --set \\\n      {rest}"
