"""The scenario files that come with the package."""

import re
from pathlib import Path
from typing import NamedTuple

from stillair.runs.scenario import BUNDLED as _FOLDER
from stillair.runs.scenario import Scenario


class Bundled(NamedTuple):
    """A scenario of the package, by what its first comment says."""

    name: str
    """As the command line takes it: its path without the ending."""
    group: str
    """The paper it is of, or what it is for."""
    about: str
    """The first sentence of its text."""
    file: Path


def scenario(name: str) -> Scenario:
    """The scenario of that name, as in `scenarios/NAME.toml` of the repository."""
    return Scenario(_FOLDER / f"{name}.toml")


def names() -> list[str]:
    """The names of all, those in folders last."""
    files = _FOLDER.rglob("*.toml")
    found = (path.relative_to(_FOLDER).with_suffix("").as_posix() for path in files)
    return sorted(found, key=lambda name: ("/" in name, name))


def find(name: str) -> Path | None:
    """The file of a name; none if there is no such scenario."""
    # A path that leads elsewhere is no name.
    return _FOLDER / f"{name}.toml" if name in names() else None


def listed() -> list[Bundled]:
    """All of them, with what they say of themselves."""
    return [_described(name) for name in names()]


def _described(name: str) -> Bundled:
    file = _FOLDER / f"{name}.toml"
    comment = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.removeprefix("#").strip())
    first = " ".join(comment).partition("  ")[0]
    paper = re.search(r"\bpaper: (\w[\w-]*)", " ".join(comment))
    folder = name.rpartition("/")[0]
    group = folder or (f"paper {paper[1]}" if paper else "networks and questions")
    return Bundled(name, group, first.split(". ")[0].rstrip("."), file)
