"""Options that several commands have, and what they mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from stillair._native import InputError
from stillair.runs.scenario import LARGEST_RUN, LARGEST_SEED, MOST_JOBS
from stillair.text import lock, output

MOST_RUNS = 1_000_000


def path(text: str) -> Path:
    """A path as it was given; `Path` alone takes an empty one, as of a variable that is not set, for this folder."""
    if not text:
        raise typer.BadParameter("found nothing, expected a path")
    return Path(text)


Runs = Annotated[int, typer.Option(min=1, max=MOST_RUNS, help="Repetitions, each with its own run number.")]
Jobs = Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, help="Runs at once.", show_default="all processors")]
Folder = Annotated[Path | None, typer.Option("-o", metavar="DIR", parser=path, help="Keep the result in this folder.")]
Force = Annotated[bool, typer.Option("--force", help="Put the result of -o in the place of one that is there.")]
Seed = Annotated[int | None, typer.Option(min=0, max=LARGEST_SEED, help="Seed.", show_default="the file's")]
RunNumber = Annotated[int, typer.Option("--run", min=0, max=LARGEST_RUN, help="Number of the repetition.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key, dotted: flow.0.burst=1. Repeatable."),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file (TOML).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]


@contextmanager
def writing(folder: Path | None, *, shared: bool = False) -> Iterator[None]:
    """Makes the folder of a result, and holds it while one is made: alone, or beside others who make parts of it."""
    if folder is None:
        yield
        return
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
