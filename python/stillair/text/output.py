"""Writes files so that none is ever incomplete."""

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
    """Creates the folder and checks that it is writable, before any run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{folder}: results cannot be written there: {error.strerror}; give another folder with -o"
        ) from None


def refuse_present(paths: Iterable[Path], force: bool, option: str = "-o") -> None:
    """Raises `InputError` if one of the files exists, unless `force` is set.

    `option` is the option that names the file. Devices and pipes may exist, as writing to them replaces
    nothing.
    """
    for path in () if force else paths:
        if path.is_file():
            raise InputError(f"{path}: exists already; --force replaces it, or give another file{_by(option)}")


def _by(option: str) -> str:
    return f" with {option}" if option else ""


def check(path: Path) -> None:
    """Checks that a file can be written, before its content is computed."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not in_place(path):
            with tempfile.TemporaryFile(dir=path.parent):
                pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}; give another file with -o") from None


def check_kind(path: Path, suffix: str, what: str) -> None:
    """Checks that a file can be written, and rejects other suffixes, which are probably a mistake."""
    check(path)
    # Devices and links may have any name.
    if not path.name.lower().endswith(suffix) and not in_place(path):
        raise InputError(f"{path}: the name of {what} must end in {suffix}")


def refuse_others(folder: Path, names: Iterable[str], whose: str) -> None:
    """Raises `InputError` if a folder has foreign files with these names, which would be overwritten."""
    for name in names:
        if os.path.lexists(folder / name):
            raise InputError(
                f"{folder / name}: is in the way, and not of {whose} of Stillair; give another folder with -o"
            )


def in_place(path: Path) -> bool:
    """Returns true if a path is a device, pipe or link, which is written to instead of replaced."""
    return path.is_symlink() or path.is_char_device() or path.is_block_device() or path.is_fifo()


@contextmanager
def whole(path: Path, *, shared: bool = False) -> Iterator[Path]:
    """Yields a temporary path next to `path`, which is renamed at the end, or removed on an error.

    An existing device, pipe or link is written to instead: `/dev/stdout` must not be replaced. With `shared`,
    several processes may write the same file at once, each to its own temporary path.
    """
    there = in_place(path)
    own = f".{secrets.token_hex(4)}" if shared else ""
    part = path if there else path.with_name(f".{path.name}{own}.part")
    try:
        yield part
        if not there:
            part.replace(path)
    except OSError as error:
        # Use the error number: a library's own text is longer and adds nothing.
        raise RunError(f"{path}: cannot be written: {os.strerror(error.errno) if error.errno else error}") from None
    finally:
        # The original error is more useful than one about the clean-up.
        if not there:
            with suppress(OSError):
                part.unlink(missing_ok=True)


@contextmanager
def text_file(path: Path) -> Iterator[IO[str]]:
    """Opens a UTF-8 text file with the same line ends on every machine."""
    with whole(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Writes texts by file name."""
    write_bytes(folder, {name: text.encode() for name, text in files.items()})


def write_bytes(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files by name."""
    for name, data in files.items():
        with whole(folder / name) as part:
            part.write_bytes(data)
