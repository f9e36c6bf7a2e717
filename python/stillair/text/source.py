"""Reads files with a size limit. All readers of files named by a user use this module.

Devices, named pipes and oversized files are rejected before they are read. For a compressed file, the
unpacked size counts, so that a small file that unpacks to gigabytes costs no more than the limit.
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
"""Limit in bytes for files that people write or paste, as in the engine for files that a scenario names."""

_JSON_COST = 8
"""Memory per byte of JSON, including Python's values: 6 to 8 for lists of numbers."""

_PIECE = MIB
_GIVEN = "/proc/self/fd", "/dev/fd"

_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
"""Compression by first bytes."""
_UNPACKS = {"zstd": "zstd -d", "xz": "xz -d"}


class Stream:
    """Bytes of a file in pieces; gzip and bzip2 are unpacked."""

    def __init__(self, file: object, raw: BinaryIO) -> None:
        """Reads `raw` from its beginning; `file` is its name in messages."""
        self.file = str(file)
        self.at = 0
        """Number of unpacked bytes read."""
        self.damage = ""
        """Why unpacking failed; the bytes before the damage are returned."""
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
        """Returns the next bytes without consuming them; fewer at the end. The caller bounds `count`."""
        if len(self._ahead) - self._from < count:
            kept = self._ahead[self._from :]
            self._ahead, self._from = kept + self._more(max(count - len(kept), _PIECE)), 0
        return self._ahead[self._from : self._from + count]

    def read(self, count: int) -> bytes:
        """Returns the next bytes; fewer at the end. The caller bounds `count`."""
        taken = self.peek(count)
        self._from += len(taken)
        self.at += len(taken)
        return taken

    def skip(self, count: int) -> int:
        """Skips bytes in pieces and returns their number."""
        left = count
        while left and (got := len(self.read(min(left, _PIECE)))):
            left -= got
        return count - left

    def whole(self, most: int, what: str) -> bytes:
        """Returns all remaining bytes. Raises `InputError` if there are more than `most`."""
        made = bytearray()
        while piece := self.read(min(_PIECE, most + 1 - len(made))):
            made += piece
            if len(made) > most:
                raise _too_large(self.file, 0, most, what, ", unpacked" if self.form else "")
        if self.damage:
            raise InputError(f"{self.file}: found damaged {self.form} ({self.damage}), expected a whole file")
        return bytes(made)

    def _more(self, count: int) -> bytes:
        """Returns the next `count` bytes; fewer at the end or at damage."""
        made = b""
        try:
            # A pipe may return fewer bytes before its end.
            while len(made) < count and (piece := self._raw.read(count - len(made))):
                made += piece
        except (EOFError, zlib.error) as error:
            self.damage = str(error)
        except OSError as error:
            # gzip and bzip2 report damage with an error without a number.
            if self.form is None or error.errno:
                raise
            self.damage = str(error)
        return made


class _Again(io.RawIOBase):
    """A pipe from its beginning, after its first bytes were peeked at."""

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
    """Opens a file. Raises `OSError` if it cannot be opened, `InputError` if it is not a file or too large.

    `most` applies to uncompressed files, and is checked before the file is read.
    """
    with _file(path) as raw:
        if most is not None:
            _check_length(raw, path, most, what)
        yield Stream(path, raw)


def data(path: str | os.PathLike[str], most: int = TEXT, what: str = "") -> bytes:
    """Returns the raw content of a file; `what` completes "expected at most 16 MiB of ..."."""
    with _file(path) as raw:
        _check_length(raw, path, most, what)
        made = raw.read(most + 1)
    if len(made) > most:
        raise _too_large(path, 0, most, what)
    return made


def text(path: str | os.PathLike[str], what: str = "", most: int = TEXT, errors: str = "strict") -> str:
    """Returns the content of a UTF-8 text file with line ends normalised.

    Raises `UnicodeDecodeError` for others.
    """
    return data(path, most, what).decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def json_text(path: str | os.PathLike[str], what: str = "a result of this program") -> str:
    """Returns the text of a JSON file that fits into memory when parsed."""
    return data(path, most_json(), what).decode()


def most_json() -> int:
    """Largest JSON text in bytes whose values fit into this machine's memory."""
    return memory.available() // _JSON_COST


def unpacked(file: object, content: bytes, most: int, what: str) -> bytes:
    """Unpacks bytes if they are compressed. Raises `InputError` if they are damaged or larger than `most`."""
    return Stream(file, io.BytesIO(content)).whole(most, what)


def parsed(content: str | bytes) -> Any:  # noqa: ANN401 - JSON
    """Parses JSON. Raises `ValueError` for malformed text, NaN, deep nesting and long numbers."""
    try:
        value = json.loads(content, parse_constant=_no_number)
        check_letters(value, content)
    except RecursionError:
        raise ValueError("objects nested too deep") from None
    return value


def check_letters(value: object, content: str | bytes) -> None:
    """Raises `ValueError` if a JSON string has an unpaired surrogate, which no file can represent."""
    if (b"\\u" if isinstance(content, bytes) else "\\u") in content:  # type: ignore[operator]
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("text with an unpaired surrogate") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _form(head: bytes) -> str | None:
    return next((name for magic, name in _COMPRESSED.items() if head.startswith(magic)), None)


@contextmanager
def _file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file for reading, without waiting for the other end of a pipe."""
    try:
        # Without blocking: a named pipe is rejected below, with or without a writer.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:
        raise InputError(f"{path!s}: cannot be read: {error}") from None
    with open(number, "rb") as file:  # noqa: PTH123 - of a descriptor
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, os.strerror(21))
        if not stat.S_ISREG(mode):
            if not _is_given(path) or stat.S_ISCHR(mode):
                raise InputError(f"{path}: is not a regular file, expected one: write the output to a file first")
            os.set_blocking(number, True)
        yield file


def _is_given(path: str | os.PathLike[str]) -> bool:
    """Returns true if a path is an inherited descriptor, such as /dev/stdin."""
    try:
        link = Path(path)
        return str(link) == "/dev/stdin" or str(link.parent) in _GIVEN
    except (OSError, ValueError):
        return False


def _check_length(raw: BinaryIO, path: object, most: int, what: str) -> None:
    """Raises `InputError` for an oversized file before it is read."""
    found = os.fstat(raw.fileno())
    if stat.S_ISREG(found.st_mode) and found.st_size > most:
        raise _too_large(path, found.st_size, most, what)


def _too_large(path: object, found: int, most: int, what: str, how: str = "") -> InputError:
    """Error for a file with `found` bytes; 0 if unknown because reading stopped at the limit."""
    size, limit = _size(found), _size(most)
    told = f"more than {limit}" if not found or size == limit else size
    return InputError(f"{path}: found {told}{how}, expected at most {limit}{f' of {what}' if what else ''}")


def _size(count: int) -> str:
    """Formats a size in binary units, because limits are powers of two."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
