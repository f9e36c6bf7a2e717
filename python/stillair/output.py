"""Writing files so that none is ever half there."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from stillair._native import InputError, RunError


def prepare(folder: Path) -> None:
    """Makes the folder and proves that it can be written, before time is spent on runs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{folder}: results cannot be written there: {error.strerror}; give another folder with -o"
        ) from None


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Gives a temporary path beside `path`, which takes its name at the end and is removed on an error."""
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        # The error that led here says more than one of this.
        with suppress(OSError):
            part.unlink(missing_ok=True)


@contextmanager
def text_file(path: Path) -> Iterator[IO[str]]:
    """A text file in UTF-8 with the same line ends on every machine."""
    with whole(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Writes each text under its name."""
    write_bytes(folder, {name: text.encode() for name, text in files.items()})


def write_bytes(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes each file under its name."""
    for name, data in files.items():
        with whole(folder / name) as part:
            part.write_bytes(data)
