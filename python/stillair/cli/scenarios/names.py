"""`stillair scenarios`: bundled scenarios; `stillair schema`: scenario keys."""

import json
import sys

import click

from stillair.cli.common import options
from stillair.text import terminal
from stillair.text.table import pairs


@click.command()
@options.as_json
def scenarios(as_json: bool) -> None:
    """List the scenarios that come with Stillair.

    'stillair run NAME' runs one, 'stillair check NAME' shows what it is.
    """
    from stillair.runs import bundled  # noqa: PLC0415 - not needed for other commands

    found = bundled.listed()
    if as_json:
        rows = [one._asdict() | {"file": str(one.file)} for one in found]
        print(json.dumps(rows, ensure_ascii=False))
        return
    names = max(len(one.name) for one in found)
    for number, group in enumerate(sorted({one.group for one in found}, key=_place)):
        print(("\n" if number else "") + terminal.painted(group, terminal.BOLD, sys.stdout))
        for one in (one for one in found if one.group == group):
            print(pairs([(f"  {one.name.ljust(names)}", _short(one.about))], None, terminal.width()))


@click.command()
@click.option("--reference", is_flag=True, help="Print the reference for people: each key, its default, its meaning.")
def schema(reference: bool) -> None:
    """Print the JSON Schema of a scenario file, for editors."""
    from stillair import _native  # noqa: PLC0415 - already loaded

    print((_native.reference() if reference else _native.schema()).rstrip())


def _place(group: str) -> tuple[bool, bool, str]:
    """Sort key: general scenarios first, then papers, then benchmarks."""
    return (group == "bench", group.startswith("paper "), group)


def _short(about: str) -> str:
    """Shortens a description: the part before a colon, or the part after it if the first is the group's name."""
    first, colon, rest = about.partition(": ")
    if colon and " " not in first:
        return rest[:1].upper() + rest[1:]
    return first
