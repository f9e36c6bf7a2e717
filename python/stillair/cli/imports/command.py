"""`stillair import`: a scenario of what a machine tells."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillair._native import InputError
from stillair.cli.common import options

if TYPE_CHECKING:
    from stillair.runs.imports.facts import Fact


@click.command("import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=options.PATH, help="Files of the kinds above."
)
@click.option("-o", "target", metavar="FILE", type=options.PATH, show_default="print it", help="Scenario to write.")
@click.option(
    "--interface", metavar="NAME", show_default="the one with most stations", help="The Wi-Fi interface to import."
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@click.option("--json", "as_json", is_flag=True, help="Print what was read from each file, as one JSON value.")
def import_(files: tuple[Path, ...], target: Path | None, interface: str | None, force: bool, as_json: bool) -> None:
    """Write a scenario from what your machine prints.

    Each file is recognised by its content: 'iw dev INTERFACE station dump', 'iw dev', 'iw phy', 'tc -j -s qdisc',
    'sysctl net.ipv4', 'ethtool -i INTERFACE', 'uname -a', hostapd.conf, OpenWrt's /etc/config/wireless and sqm, a
    capture with radiotap headers, a Flent file, a crusader result. Comments in the scenario mark guesses and missing
    values.
    """
    from stillair.runs.imports import kinds, network, scenario  # noqa: PLC0415 - loaded when there is something to read

    if force and target is None:
        raise InputError("--force: has no effect without -o, which names the file to write")
    if target is not None and target.exists() and not force:
        raise InputError(f"{target}: exists already; --force replaces it, or give another file with -o")
    faults: list[str] = []
    found: list[Fact] = []
    for file in files:
        try:
            found += kinds.read(file)
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise InputError("\n".join(faults))
    if as_json:
        print(
            json.dumps([{"kind": type(one).__name__, **dataclasses.asdict(one)} for one in found], ensure_ascii=False)
        )
        return
    text = _shorter(scenario.text(network.of(found, interface), [str(file) for file in files]), files)
    if target is None:
        print(text, end="")
        return
    from stillair.text import output  # noqa: PLC0415 - not needed without -o

    output.check(target)
    output.write_files(target.parent, {target.name: text})
    guesses = f"{text.count('guess:') - 1} guesses in its comments"
    print(f"stillair: {target}: written, with {guesses}; 'stillair check {target}' shows what it is", file=sys.stderr)


def _shorter(text: str, files: tuple[Path, ...]) -> str:
    """The text with the names of the files alone, where these tell them apart."""
    if len({file.name for file in files}) < len(set(files)):
        return text
    for file in files:
        text = text.replace(str(file), file.name)
    return text
