"""The bundled scenario files."""

import re
from pathlib import Path
from typing import NamedTuple

from stillair.runs.scenario import BUNDLED as _FOLDER
from stillair.runs.scenario import Scenario


class Bundled(NamedTuple):
    """A bundled scenario, described by its first comment."""

    name: str
    """Path without the suffix, as on the command line."""
    group: str
    """The paper or purpose that it belongs to."""
    about: str
    """First sentence of its comment."""
    file: Path


def scenario(name: str) -> Scenario:
    """Returns the scenario of that name, as in `scenarios/NAME.toml` of the repository."""
    return Scenario(_FOLDER / f"{name}.toml")


def names() -> list[str]:
    """All names, with those in folders last."""
    files = _FOLDER.rglob("*.toml")
    found = (path.relative_to(_FOLDER).with_suffix("").as_posix() for path in files)
    return sorted(found, key=lambda name: ("/" in name, name))


def find(name: str) -> Path | None:
    """Returns the file of a name; `None` if there is no such scenario."""
    # Compare with known names: a path could lead out of the folder.
    return _FOLDER / f"{name}.toml" if name in names() else None


def listed() -> list[Bundled]:
    """All bundled scenarios with their descriptions."""
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
