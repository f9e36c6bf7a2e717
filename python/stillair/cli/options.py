"""Options that several commands have, and what they mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stillair._native import InputError
from stillair.runs.limits import LARGEST_RUN, LARGEST_SEED, MOST_JOBS

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario

MOST_RUNS = 1_000_000


def path(text: str) -> Path:
    """A path as it was given; `Path` alone takes an empty one, as of a variable that is not set, for this folder."""
    if not text:
        raise typer.BadParameter("found nothing, expected a path")
    return Path(text)


def _known(incomplete: str) -> list[str]:
    """Scenarios of the package for a shell that completes, and files by their names."""
    from stillair.runs import bundled  # noqa: PLC0415 - for completion alone

    files = (found.as_posix() for found in Path().glob(f"{incomplete}*") if found.suffix == ".toml" or found.is_dir())
    return [name for name in bundled.names() if name.startswith(incomplete)] + sorted(files)


Runs = Annotated[int, typer.Option(min=1, max=MOST_RUNS, help="Repetitions, each with its own run number.")]
Jobs = Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, help="Runs at once.", show_default="all processors")]
Folder = Annotated[Path | None, typer.Option("-o", metavar="DIR", parser=path, help="Keep the result in this folder.")]
Force = Annotated[bool, typer.Option("--force", help="Put the result of -o in the place of one that is there.")]
Seed = Annotated[int | None, typer.Option(min=0, max=LARGEST_SEED, help="Seed.", show_default="the file's")]
RunNumber = Annotated[int, typer.Option("--run", min=0, max=LARGEST_RUN, help="Number of the repetition.")]
At = Annotated[
    str | None, typer.Option("--at", metavar="TIME", help="When to look, such as '5 s'.", show_default="the end")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key, dotted: flow.0.burst=1. Repeatable."),
]
File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A scenario file (TOML), or the name of one that 'stillair scenarios' lists.",
        autocompletion=_known,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]


def scenario(text: str) -> "Scenario":
    """The scenario of a path, or of a name that the package has; a file of that name is taken first."""
    from stillair.runs import bundled  # noqa: PLC0415 - loaded when there is something to run
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
    """Makes the folder of a result, and holds it while one is made: alone, or beside others who make parts of it."""
    if folder is None:
        yield
        return
    from stillair.text import lock, output  # noqa: PLC0415 - not needed without -o

    output.prepare(folder)
    with lock.held(folder, shared=shared):
        yield


def overrides(texts: list[str] | None) -> list[tuple[str, str]]:
    """What `--set` gave, as keys and values in order."""
    found = []
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f'--set: found "{text}", expected KEY=VALUE such as flow.0.burst=1')
        found.append((key.strip(), value.strip()))
    return found
