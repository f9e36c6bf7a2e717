"""Options shared by several commands.

Each command is a function with click decorators, which name the function's arguments.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.shell_completion import CompletionItem

from stillair._native import InputError
from stillair.runs.limits import LARGEST_RUN, LARGEST_SEED, MOST_JOBS

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario

MOST_RUNS = 1_000_000
_MOST_SHOWN = 60

_F = TypeVar("_F", bound=Callable[..., object])
Decorator = Callable[[_F], _F]


def _shown(value: object) -> str:
    """Shortens a value for an error message."""
    text = str(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


class _Whole(click.IntRange):
    """An integer within bounds, with errors in the style of scenario errors."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the integer, or fails with the option's name."""
        try:
            number = int(str(value))
        except ValueError:
            number = None
        if number is None or (self.min is not None and number < self.min) or (self.max or number) < number:
            bounds = f"of at least {self.min}" if self.max is None else f"from {self.min} to {self.max}"
            self.fail(f'found "{_shown(value)}", expected a whole number {bounds}', param, ctx)
        return number


def whole(least: int, most: int | None = None) -> click.IntRange:
    """An integer within bounds."""
    return _Whole(least, most)


class Number(click.FloatRange):
    """A number within bounds."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the number, or fails with the option's name."""
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        least, most = self.min or 0, self.max or math.inf
        if not least <= number <= most:
            self.fail(f'found "{_shown(value)}", expected a number from {least:g} to {most:g}', param, ctx)
        return number


class FilePath(click.ParamType[Path]):
    """A path as given.

    `Path` would read an empty string, as from an unset variable, as the current folder.
    """

    name = "path"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Returns the path, or fails with the option's name."""
        if not str(value):
            self.fail("found nothing, expected a path", param, ctx)
        return Path(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Completes file names."""
        return click.Path().shell_complete(ctx, param, incomplete)


PATH = FilePath()


def known_scenarios(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Completes bundled scenarios and scenario files."""
    from stillair.runs import bundled  # noqa: PLC0415 - only for completion

    files = (found.as_posix() for found in Path().glob(f"{incomplete}*") if found.suffix == ".toml" or found.is_dir())
    return [name for name in bundled.names() if name.startswith(incomplete)] + sorted(files)


file = click.argument(
    "file",
    metavar="FILE",
    help="A scenario file (TOML), or the name of one that 'stillair scenarios' lists.",
    shell_complete=known_scenarios,
)
mine = click.option(
    "--mine",
    metavar="HOST[,HOST...]",
    multiple=True,
    help="Only propose settings of these nodes, and changes of their applications. Repeatable.",
)
runs = click.option(
    "--runs", type=whole(1, MOST_RUNS), metavar="N", default=1, help="Repetitions, each with its own run number."
)
jobs = click.option(
    "--jobs",
    type=whole(1, MOST_JOBS),
    metavar="N",
    show_default="all processors",
    help="Parallel runs. A single run uses them for independent parts of its network.",
)
folder = click.option("-o", "folder", metavar="DIR", type=PATH, help="Keep the result in this folder.")
force = click.option("--force", is_flag=True, help="Replace the result in the folder of -o.")
replace = click.option("--force", is_flag=True, help="Replace files that exist.")
seed = click.option(
    "--seed", type=whole(0, LARGEST_SEED), metavar="N", show_default="the file's", help="Seed of all random streams."
)
run_number = click.option(
    "--run", "run_", type=whole(0, LARGEST_RUN), metavar="N", default=0, help="Number of the repetition."
)
at = click.option("--at", metavar="TIME", show_default="the end", help="When to look, such as '5 s'.")
set_ = click.option(
    "--set",
    "set_",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a key of the scenario by its path, such as flow.0.burst=1. Repeatable.",
)
only = click.option(
    "--only",
    metavar="PATTERN",
    multiple=True,
    help="Show only figures with this in their name, such as 'ping*95'. Repeatable.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON value instead of text.")


def scenario(text: str) -> "Scenario":
    """Returns the scenario at a path, or the bundled scenario of that name.

    A file of that name has precedence.
    """
    from stillair.runs import bundled  # noqa: PLC0415 - loaded on use
    from stillair.runs.scenario import Scenario  # noqa: PLC0415
    from stillair.text.nearest import hint  # noqa: PLC0415

    if not Path(text).is_file() and (found := bundled.find(text)) is not None:
        return Scenario(found)
    if text and not Path(text).exists():
        near = hint(text, bundled.names())
        raise InputError(
            f"{text}: no such file; give the path of a scenario file (.toml) or a name that"
            f" 'stillair scenarios' lists{near}"
        )
    return Scenario(Path(text))


@contextmanager
def writing(folder: Path | None, *, shared: bool = False) -> Iterator[None]:
    """Creates a result folder and locks it while it is written: exclusively, or `shared` with other writers."""
    if folder is None:
        yield
        return
    from stillair.text import lock, output  # noqa: PLC0415 - not needed without -o

    output.prepare(folder)
    with lock.held(folder, shared=shared):
        yield


def overrides(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Parses `--set` arguments into keys and values, in order."""
    found = []
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f'--set: found "{text}", expected KEY=VALUE such as flow.0.burst=1')
        found.append((key.strip(), value.strip()))
    return found
