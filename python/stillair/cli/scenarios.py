"""`stillair scenarios`: what the package can run by name."""

import json
import sys
import textwrap

from stillair.cli.options import AsJson
from stillair.text import terminal


def scenarios(as_json: AsJson = False) -> None:
    """List the scenarios that come with Stillair; 'stillair run NAME' runs one."""
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
            room = terminal.width() - names - 4
            print(f"  {one.name.ljust(names)}  {textwrap.shorten(_short(one.about), room, placeholder=' ...')}")


def _place(group: str) -> tuple[bool, bool, str]:
    """What people ask comes first, then the papers, and benchmarks last."""
    return (group == "bench", group.startswith("paper "), group)


def _short(about: str) -> str:
    """What stands before a colon; behind it, if that is the name of the group."""
    first, colon, rest = about.partition(": ")
    if colon and " " not in first:
        return rest[:1].upper() + rest[1:]
    return first
