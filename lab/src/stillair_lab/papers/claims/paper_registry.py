"""Folders of the papers: each paper is a folder of data, and no code knows how many there are.

inventory.toml        what the paper states and claims
experiments.toml      how its experiments are run, what its quantities are, what is drawn
non-discriminating.toml  what its numbers may be, and which words switch the mechanism off
causes.toml           why claims are not reproduced, if any are
kernel-verdicts.toml  what the real kernel says of its claims, if it was asked
guests.toml           what one said in the place of its hosts that run TCP, if it was asked
scenarios/            scenarios of its own, beside those of the package
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

# Folders that hold papers; a later one may add some.
FOLDERS: list[Traversable] = [resources.files("stillair_lab.papers") / "data"]


def folders() -> dict[str, Traversable]:
    """The folder of each paper, in the order of their names."""
    found = {one.name: one for parent in FOLDERS for one in parent.iterdir() if (one / INVENTORY).is_file()}
    return dict(sorted(found.items()))


def table(folder: Traversable, name: str) -> Table:
    """One file of a paper; an empty table if the paper has none such."""
    file = folder / name
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def remembered(function: Callable[Asked, Given]) -> Callable[Asked, Given]:
    """A function of names whose answers are kept, as long as the folders are the same."""
    known: dict[object, Given] = {}

    @wraps(function)
    def kept(*args: Asked.args, **kwargs: Asked.kwargs) -> Given:
        key = (*map(str, FOLDERS), args, *kwargs.items())
        if key not in known:
            known[key] = function(*args, **kwargs)
        return known[key]

    return kept
