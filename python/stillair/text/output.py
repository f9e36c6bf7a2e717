"""Writing files so that none is ever half there."""

import errno
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
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


def refuse_present(paths: Iterable[Path], force: bool, option: str = "-o") -> None:
    """An `InputError` if one of the files is there already, unless `force`: nothing is replaced unasked.

    `option` is what names the file. Devices and pipes are written to, and lose nothing.
    """
    for path in () if force else paths:
        if path.is_file():
            raise InputError(f"{path}: exists already; --force replaces it, or give another file{_by(option)}")


def _by(option: str) -> str:
    return f" with {option}" if option else ""


def check(path: Path) -> None:
    """Proves that a file can be written there, before time is spent on what it is to hold."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not in_place(path):
            with tempfile.TemporaryFile(dir=path.parent):
                pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}; give another file with -o") from None


def check_kind(path: Path, suffix: str, what: str) -> None:
    """Proves that a file can be written, and refuses a name of another kind: more likely a slip that costs a file."""
    check(path)
    # A device or a link has the name that it has.
    if not path.name.lower().endswith(suffix) and not in_place(path):
        raise InputError(f"{path}: the name of {what} has to end in {suffix}")


def refuse_others(folder: Path, names: Iterable[str], whose: str) -> None:
    """An `InputError` if a folder has files of these names, which are none of ours and would be written over."""
    for name in names:
        if os.path.lexists(folder / name):
            raise InputError(
                f"{folder / name}: is in the way, and not of {whose} of Stillair; give another folder with -o"
            )


def in_place(path: Path) -> bool:
    """Whether a path is a device, a pipe or a link, which is written to and not replaced."""
    return path.is_symlink() or path.is_char_device() or path.is_block_device() or path.is_fifo()


@contextmanager
def whole(path: Path, *, shared: bool = False) -> Iterator[Path]:
    """Gives a temporary path beside `path`, which takes its name at the end and is removed on an error.

    A device, a pipe or a link that is there already is written to, not replaced: who names `/dev/stdout` wants it to
    stay. `shared`, several may write the same file at once, and each has a temporary path of its own.
    """
    there = in_place(path)
    own = f".{secrets.token_hex(4)}" if shared else ""
    part = path if there else path.with_name(f".{path.name}{own}.part")
    try:
        yield part
        if not there:
            part.replace(path)
    except OSError as error:
        # By number: a library's own text for the same is longer and says no more.
        raise RunError(f"{path}: cannot be written: {os.strerror(error.errno) if error.errno else error}") from None
    finally:
        # The error that led here says more than one of this.
        if not there:
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
