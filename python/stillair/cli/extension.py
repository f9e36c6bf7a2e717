"""Commands that other packages add to `stillair`.

A package announces a command as an entry point of the group `stillair.commands`: the name of the command, and a
`click.Command`. Entry points are read only for a command that is not part of this package.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points

import click

from stillair._native import InputError

GROUP = "stillair.commands"

_KNOWN = {
    "paper": "List the papers' experiments, or run and judge them.",
    "validate": "Compare the model with measurements of the real Linux.",
}
"""Commands of the package below, with their line of the help page."""
_PACKAGE = "stillair-lab"
_FOLDER = "./lab"


def names() -> list[str]:
    """Returns the names of all announced commands."""
    return sorted(entry_points(group=GROUP).names)


def command(name: str) -> click.Command | None:
    """Returns an announced command, or `None`. A known one without its package says how to install that."""
    for announced in entry_points(group=GROUP, name=name):
        found = announced.load()
        if not isinstance(found, click.Command):
            raise InputError(f"{announced.value}: found {type(found).__name__}, expected a click.Command")
        return found
    return _missing(name) if name in _KNOWN else None


def _missing(name: str) -> click.Command:
    def refuse(arguments: Sequence[str]) -> None:  # noqa: ARG001 - of any kind
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
