"""Commands that other packages add to `stillair`.

A package announces a command as an entry point of the group `stillair.commands`: the name of the command, and a
`click.Command`. Entry points are read only for a command that is not part of this package.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module

import click

from stillair._native import InputError

GROUP = "stillair.commands"

_KNOWN = {
    "paper": "List the papers' experiments, or run and judge them.",
    "validate": "Compare the model with measurements of the real Linux.",
}
"""Known commands of other packages, with their help line."""
_PACKAGE = "stillair-lab"
_FOLDER = "./lab"


@cache
def announced(group: str = GROUP) -> Mapping[str, str]:
    """Returns the entry points of a group by name: `package.module:attribute`.

    Equivalent to `importlib.metadata`, whose import takes longer than the rest of the start.
    """
    found: dict[str, str] = {}
    for folder in dict.fromkeys(sys.path):
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                if entry.name.endswith((".dist-info", ".egg-info")):
                    found = _read(f"{entry.path}/entry_points.txt", group) | found
    return found


def _read(file: str, group: str) -> dict[str, str]:
    """Returns the entry points of one `entry_points.txt`; empty if there is no such file."""
    try:
        with open(file, encoding="utf-8") as opened:  # noqa: PTH123 - called hundreds of times
            text = opened.read()
    except (OSError, UnicodeDecodeError):
        return {}
    _, header, section = f"\n{text}".partition(f"\n[{group}]\n")
    lines = section.partition("\n[")[0].splitlines() if header else ()
    entries = (line.partition("=") for line in lines if "=" in line and not line.startswith(("#", ";")))
    # Ignore extras in brackets.
    return {name.strip(): place.partition("[")[0].strip() for name, _, place in entries}


def names() -> list[str]:
    """Returns the names of all announced commands."""
    return sorted(announced())


def command(name: str) -> click.Command | None:
    """Returns an announced command, or `None`.

    A known command whose package is missing explains how to install it.
    """
    if (place := announced().get(name)) is None:
        return _missing(name) if name in _KNOWN else None
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute, None)
    if not isinstance(found, click.Command):
        raise InputError(f"{place}: found {type(found).__name__}, expected a click.Command")
    return found


def _missing(name: str) -> click.Command:
    def refuse(arguments: Sequence[str]) -> None:  # noqa: ARG001 - any kind
        raise InputError(
            f"{name}: is in the package {_PACKAGE}: 'pip install {_PACKAGE}', or 'pip install {_FOLDER}' in a checkout"
        )

    return click.Command(
        name,
        callback=refuse,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        help=_KNOWN[name],
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )
