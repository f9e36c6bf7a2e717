"""Applies patches to a tree."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from stillair._native import InputError
from stillair.text import source

_MOST_BYTES = 64 << 20
"""Size limit of a patch."""

_FILE = re.compile(r"^\+\+\+ (?:[^/\s]+/)?(\S+)", re.M)


class Refused(NamedTuple):
    """A patch that does not apply."""

    patch: Path
    why: str

    def __str__(self) -> str:
        """Formats the reason as a sentence."""
        return f"{self.patch}: does not apply to this kernel: {self.why}"


def read(patch: Path) -> str:
    """Returns the text of a patch. Raises `InputError` if the file is not a patch."""
    try:
        text = source.text(patch, "a patch", _MOST_BYTES, "surrogateescape")
    except OSError as error:
        raise InputError(f"{patch}: cannot be read: {error.strerror}") from None
    if not re.search(r"^--- .*\n\+\+\+ ", text, re.M):
        raise InputError(
            f"{patch}: found no lines '--- a/FILE' and '+++ b/FILE', expected a patch in the format of 'git diff'"
        )
    return text


def apply(patch: Path, tree: Path) -> Refused | None:
    """Applies a patch, or leaves the tree unchanged and returns the reason."""
    text = read(patch)
    tried = _patch(tree, text, "--dry-run", "--forward")
    if tried.returncode:
        if _patch(tree, text, "--dry-run", "--reverse").returncode == 0:
            return Refused(patch, "it is in it already")
        return Refused(patch, _why(tried.stdout + tried.stderr))
    for name in _FILE.findall(text):
        _own(tree / name)
    done = _patch(tree, text, "--forward", "--no-backup-if-mismatch")
    return Refused(patch, _why(done.stdout + done.stderr)) if done.returncode else None


def _patch(tree: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own arguments
        ["patch", "-p1", "--batch", "--reject-file=-", "-d", str(tree), *options],  # noqa: S607
        input=text,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )


def _own(file: Path) -> None:
    """Breaks a hard link: in a copy of a source tree, the file may be shared with the original."""
    if file.is_file() and file.stat().st_nlink > 1:
        copy = file.with_name(f".{file.name}.own")
        shutil.copy2(file, copy)
        copy.replace(file)


def _why(said: str) -> str:
    """Failure messages of `patch`, without its other output."""
    lines = [line.strip() for line in said.splitlines()]
    file = ""
    found = []
    for line in lines:
        if named := re.match(r"(?:checking|patching) file (\S+)", line):
            file = named[1]
        elif re.search(r"FAILED at|can.t find file|malformed|Only garbage", line):
            found.append(f"{file}: {line.split(' -- ')[0]}" if file else line)
    return "; ".join(found[:4]) or (lines[-1] if lines else "patch failed")
