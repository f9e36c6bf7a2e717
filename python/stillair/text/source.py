"""Files read within a limit. Every reader of a file that a user names takes it from here.

A file is refused by what it is (a device, a pipe by name) or by its length before it is read. What a compressed file
holds counts, not its own length, so a small file that unpacks to gigabytes costs no more than the limit.
"""

import io
import json
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from stillair._native import InputError
from stillair.text import memory

MIB = 1 << 20

TEXT = 16 * MIB
"""Limit in bytes for files that people write or paste. The engine has the same for files that a scenario names."""

_JSON_COST = 8
"""Bytes of memory for a byte of JSON, values of Python included: 6 to 8 for lists of numbers."""

_PIECE = MIB
_GIVEN = "/proc/self/fd", "/dev/fd"

_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
"""By the first bytes."""
_UNPACKS = {"zstd": "zstd -d", "xz": "xz -d"}


class Stream:
    """The bytes of a file, one piece after the other; those of gzip and bzip2 are unpacked on the way."""

    def __init__(self, file: object, raw: BinaryIO) -> None:
        """Reads `raw` from its beginning; `file` is its name in messages."""
        self.file = str(file)
        self.at = 0
        """Bytes that were read, unpacked."""
        self.damage = ""
        """Why unpacking ended before the end; the bytes before that are given."""
        head = raw.read(6)
        self.form = _form(head)
        if self.form in _UNPACKS:
            raise InputError(
                f"{file}: found a file compressed by {self.form}, expected one that is not compressed, or by gzip or"
                f" bzip2; '{_UNPACKS[self.form]}' unpacks it"
            )
        if raw.seekable():
            raw.seek(0)
        else:
            raw = io.BufferedReader(_Again(head, raw))
        self._raw: BinaryIO = raw
        if self.form == "gzip":
            import gzip  # noqa: PLC0415 - slow to load, and not needed for other files

            self._raw = gzip.GzipFile(fileobj=raw)  # type: ignore[assignment]
        elif self.form == "bzip2":
            import bz2  # noqa: PLC0415

            self._raw = bz2.BZ2File(raw)  # type: ignore[assignment]
        self._ahead, self._from = b"", 0

    def peek(self, count: int) -> bytes:
        """The next bytes, which stay; fewer at the end. The caller bounds `count`."""
        if len(self._ahead) - self._from < count:
            kept = self._ahead[self._from :]
            self._ahead, self._from = kept + self._more(max(count - len(kept), _PIECE)), 0
        return self._ahead[self._from : self._from + count]

    def read(self, count: int) -> bytes:
        """The next bytes; fewer at the end. The caller bounds `count`."""
        taken = self.peek(count)
        self._from += len(taken)
        self.at += len(taken)
        return taken

    def skip(self, count: int) -> int:
        """Passes over bytes, a piece at a time; how many there were."""
        left = count
        while left and (got := len(self.read(min(left, _PIECE)))):
            left -= got
        return count - left

    def whole(self, most: int, what: str) -> bytes:
        """All bytes from here on; an `InputError` if there are more than `most`."""
        made = bytearray()
        while piece := self.read(min(_PIECE, most + 1 - len(made))):
            made += piece
            if len(made) > most:
                raise _too_large(self.file, 0, most, what, ", unpacked" if self.form else "")
        if self.damage:
            raise InputError(f"{self.file}: found damaged {self.form} ({self.damage}), expected a whole file")
        return bytes(made)

    def _more(self, count: int) -> bytes:
        """So many bytes of the file, fewer at its end or where it is damaged."""
        made = b""
        try:
            # Of a pipe a piece may be short before the end.
            while len(made) < count and (piece := self._raw.read(count - len(made))):
                made += piece
        except (EOFError, zlib.error) as error:
            self.damage = str(error)
        except OSError as error:
            # Both tell damage by an error without a number.
            if self.form is None or error.errno:
                raise
            self.damage = str(error)
        return made


class _Again(io.RawIOBase):
    """A pipe whose first bytes were looked at, from its beginning."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, to: Any) -> int:  # noqa: ANN401 - a buffer
        piece, self._head = self._head[: len(to)], self._head[len(to) :]
        piece = piece or self._rest.read(len(to))
        to[: len(piece)] = piece
        return len(piece)


@contextmanager
def opened(path: str | os.PathLike[str], most: int | None = None, what: str = "") -> Iterator[Stream]:
    """The bytes of a file; an `OSError` if it cannot be opened, an `InputError` if it is no file or too large.

    `most` is for files that are not compressed, and checked before a byte is read.
    """
    with _file(path) as raw:
        if most is not None:
            _check_length(raw, path, most, what)
        yield Stream(path, raw)


def data(path: str | os.PathLike[str], most: int = TEXT, what: str = "") -> bytes:
    """The content of a file, as it is; `what` completes "expected at most 16 MiB of ..."."""
    with _file(path) as raw:
        _check_length(raw, path, most, what)
        made = raw.read(most + 1)
    if len(made) > most:
        raise _too_large(path, 0, most, what)
    return made


def text(path: str | os.PathLike[str], what: str = "", most: int = TEXT, errors: str = "strict") -> str:
    """The content of a text file in UTF-8, with the line ends of this program; a `UnicodeDecodeError` for others."""
    return data(path, most, what).decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def json_text(path: str | os.PathLike[str], what: str = "a result of this program") -> str:
    """The text of a JSON file that fits into memory once it is parsed."""
    return data(path, most_json(), what).decode()


def most_json() -> int:
    """The longest text of JSON whose values fit into this machine's memory."""
    return memory.available() // _JSON_COST


def unpacked(file: object, content: bytes, most: int, what: str) -> bytes:
    """Bytes that may be compressed; an `InputError` if they are damaged, or more than `most` when unpacked."""
    return Stream(file, io.BytesIO(content)).whole(most, what)


def parsed(content: str | bytes) -> Any:  # noqa: ANN401 - JSON
    """A value of JSON; a `ValueError` for every text that is none, also for NaN, deep nesting and long numbers."""
    try:
        return json.loads(content, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("objects within objects without end") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _form(head: bytes) -> str | None:
    return next((name for magic, name in _COMPRESSED.items() if head.startswith(magic)), None)


@contextmanager
def _file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that is open for reading. Opening does not wait for the other end of a pipe."""
    try:
        # Without waiting: a pipe that has a name is refused below, whether somebody writes to it or not.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:
        raise InputError(f"{path!s}: cannot be read: {error}") from None
    with open(number, "rb") as file:  # noqa: PTH123 - of a descriptor
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, os.strerror(21))
        if not stat.S_ISREG(mode):
            if not _is_given(path) or stat.S_ISCHR(mode):
                raise InputError(f"{path}: is no regular file, expected one: write the output to a file first")
            os.set_blocking(number, True)
        yield file


def _is_given(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a descriptor that this process was started with, such as /dev/stdin."""
    try:
        link = Path(path)
        return str(link) == "/dev/stdin" or str(link.parent) in _GIVEN
    except (OSError, ValueError):
        return False


def _check_length(raw: BinaryIO, path: object, most: int, what: str) -> None:
    """An `InputError` for a file that is too long, before a byte of it is read."""
    found = os.fstat(raw.fileno())
    if stat.S_ISREG(found.st_mode) and found.st_size > most:
        raise _too_large(path, found.st_size, most, what)


def _too_large(path: object, found: int, most: int, what: str, how: str = "") -> InputError:
    """The error of a file with `found` bytes; 0 if nobody knows, since reading ended at the limit."""
    size, limit = _size(found), _size(most)
    told = f"more than {limit}" if not found or size == limit else size
    return InputError(f"{path}: found {told}{how}, expected at most {limit}{f' of {what}' if what else ''}")


def _size(count: int) -> str:
    """A number of bytes in binary units: limits are powers of two."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
