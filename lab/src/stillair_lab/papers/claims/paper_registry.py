"""Folders of the papers. Each paper is a folder of data, and code does not depend on their number.

inventory.toml            statements and claims of the paper
experiments.toml          plans of its experiments, its quantities, and its artefacts
non-discriminating.toml   ranges of its numbers, and words that switch the mechanism off
causes.toml               why claims are not reproduced (optional)
kernel-verdicts.toml      real kernels' verdicts on its claims (optional)
guests.toml               results of kernels on the hosts that run TCP (optional)
scenarios/                its own scenarios, in addition to the bundled ones
"""

import tomllib
from collections.abc import Callable
from functools import wraps
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, ParamSpec, TypeVar

INVENTORY = "inventory.toml"

Table = dict[str, Any]
Asked = ParamSpec("Asked")
Given = TypeVar("Given")

# Folders that contain papers; more may be added.
FOLDERS: list[Traversable] = [resources.files("stillair_lab.papers") / "data"]


def folders() -> dict[str, Traversable]:
    """The folder of each paper, by name."""
    found = {one.name: one for parent in FOLDERS for one in parent.iterdir() if (one / INVENTORY).is_file()}
    return dict(sorted(found.items()))


def table(folder: Traversable, name: str) -> Table:
    """Reads a file of a paper; an empty table if the file does not exist."""
    file = folder / name
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def remembered(function: Callable[Asked, Given]) -> Callable[Asked, Given]:
    """Caches the results of a function as long as the folders do not change."""
    known: dict[object, Given] = {}

    @wraps(function)
    def kept(*args: Asked.args, **kwargs: Asked.kwargs) -> Given:
        key = (*map(str, FOLDERS), args, *kwargs.items())
        if key not in known:
            known[key] = function(*args, **kwargs)
        return known[key]

    return kept
