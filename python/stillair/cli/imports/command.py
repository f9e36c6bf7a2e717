"""`stillair import`: a scenario from a machine's output."""

import dataclasses
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillair._native import InputError, lines
from stillair.cli.common import options
from stillair.runs.imports.openwrt.tc_options import FRAMING

if TYPE_CHECKING:
    from stillair.runs.imports.assembly.parts import Line
    from stillair.runs.imports.facts import Fact


@click.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, type=options.PATH, help="Files of the kinds above.")
@click.option("-o", "target", metavar="FILE", type=options.PATH, show_default="print it", help="Scenario to write.")
@click.option(
    "--interface", metavar="NAME", show_default="the one with most stations", help="The Wi-Fi interface to import."
)
@click.option(
    "--tc",
    "tc_",
    metavar="WAY=FILE",
    multiple=True,
    help="Direction of the qdiscs in FILE, 'up=FILE' or 'down=FILE', for outputs without device names. Repeatable.",
)
@click.option(
    "--internet",
    metavar="DOWN/UP",
    show_default="the shaper's rates are 95 % of the line's",
    help="Rates of the access line in Mbit/s: '100/20'.",
)
@click.option(
    "--line",
    metavar="NAME",
    show_default="none",
    help=f"An access line by name, with its framing: {', '.join(json.loads(lines()))}.",
)
@click.option(
    "--framing",
    metavar="KEYWORD",
    show_default="as the shaper counts",
    help=f"Framing of the access line: {', '.join((*FRAMING, 'conservative'))}.",
)
@options.replace
@click.option("--json", "as_json", is_flag=True, help="Print what was read from each file, as one JSON value.")
def import_(
    files: tuple[Path, ...],
    target: Path | None,
    interface: str | None,
    tc_: tuple[str, ...],
    internet: str | None,
    line: str | None,
    framing: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a scenario from what your machine prints.

    Each file is recognised by its content, and may hold several outputs, as pasted: 'iw dev INTERFACE station dump',
    'iw dev', 'iw phy', 'tc -s qdisc' and 'tc -s class' with or without -j, 'uci show', 'iwinfo', 'ubus call', 'ip
    addr', 'sysctl net.ipv4', 'ethtool -i INTERFACE', 'uname -a', hostapd.conf, 'wpa_cli status', OpenWrt's
    /etc/config/wireless, sqm and network, a capture with radiotap headers, a Flent file, a crusader result. Comments
    in the scenario mark guesses and missing values.
    """
    from stillair.runs.imports import network, scenario  # noqa: PLC0415 - loaded on use

    if force and target is None:
        raise InputError("--force: has no effect without -o, which names the file to write")
    if target is not None:
        from stillair.text import output  # noqa: PLC0415 - not needed without -o

        output.refuse_present([target], force)
    ways = _ways(tc_)
    given = _line(internet, line, framing)
    every_file = (*files, *(file for file in ways if file not in files))
    if not every_file:
        raise InputError("FILE: found none, expected outputs of iw, tc and others: 'stillair import --help'")
    found = _read(every_file, ways)
    if as_json:
        print(
            json.dumps([{"kind": type(one).__name__, **dataclasses.asdict(one)} for one in found], ensure_ascii=False)
        )
        return
    network.require(found)
    made = network.of(found, interface, given)
    text = _shorter(scenario.text(made, [str(file) for file in every_file]), every_file)
    if target is None:
        print(text, end="")
        return
    output.check(target)
    output.write_files(target.parent, {target.name: text})
    guesses = f"{text.count('guess:') - 1} guesses in its comments"
    print(f"stillair: {target}: written, with {guesses}; 'stillair check {target}' shows what it is", file=sys.stderr)


def _read(files: Sequence[Path], ways: Mapping[Path, str]) -> list["Fact"]:
    """Reads the facts of all files. Files without a reader are skipped if another file has one."""
    from stillair.runs.imports import kinds  # noqa: PLC0415 - loaded on use
    from stillair.runs.imports.facts import Unread  # noqa: PLC0415

    faults: list[str] = []
    unknown: list[tuple[Path, str]] = []
    found: list[Fact] = []
    for file in files:
        try:
            found += kinds.read(file, ways.get(file, ""))
        except kinds.UnknownFileError as error:
            unknown.append((file, str(error)))
        except InputError as error:
            faults.append(str(error))
    if faults or (unknown and not found):
        raise InputError("\n".join([*(told for _, told in unknown), *faults]))
    for file, told in unknown:
        what = told.removeprefix(f"{file}: ").partition(", expected")[0]
        found.append(Unread(what, str(file)))
    return found


def _ways(given: Sequence[str]) -> dict[Path, str]:
    """Parses `--tc` into files by direction."""
    made: dict[Path, str] = {}
    for one in given:
        way, equals, file = one.partition("=")
        if way not in ("up", "down") or not equals or not file:
            raise InputError(f'--tc: found "{one}", expected up=FILE or down=FILE')
        made[Path(file)] = way
    return made


def _line(internet: str | None, line: str | None, framing: str | None) -> "Line":
    """Returns the access line given on the command line."""
    from stillair.runs.imports.assembly.parts import Line  # noqa: PLC0415 - loaded on use
    from stillair.text.nearest import hint  # noqa: PLC0415

    rates = None
    if internet is not None:
        at = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)/(\d{1,6}(?:\.\d{1,6})?)", internet)
        if at is None or 0 in (float(at[1]), float(at[2])):
            raise InputError(f'--internet: found "{internet}", expected rates in Mbit/s such as 100/20')
        rates = f"{at[1]} Mbit/s", f"{at[2]} Mbit/s"
    known = list(json.loads(lines()))
    if line is not None and line not in known:
        raise InputError(f'--line: found "{line}", expected one of {", ".join(known)}{hint(line, known)}')
    words = [*FRAMING, "conservative"]
    words.remove("ether-vlan")
    if framing is not None and framing not in words:
        raise InputError(f'--framing: found "{framing}", expected one of {", ".join(words)}')
    return Line(line or "", framing or "", rates)


def _shorter(text: str, files: Sequence[Path]) -> str:
    """Shortens paths to file names if these are distinct."""
    if len({file.name for file in files}) < len(set(files)):
        return text
    for file in files:
        text = text.replace(str(file), file.name)
    return text
