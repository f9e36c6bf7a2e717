"""Reads tables into dataclasses, selected by `kind` if there are several."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from stillair._native import InputError

Kind = TypeVar("Kind")


def read(what: str, kinds: Mapping[str, type[Kind]], table: Mapping[str, Any]) -> Kind:
    """Reads a table by its kind. Raises `InputError` for an unknown kind."""
    kind = kinds.get(table.get("kind", ""))
    if kind is None:
        raise InputError(f'{what}: kind: found "{table.get("kind", "")}", expected one of {", ".join(kinds)}')
    return fill(f'{what}: kind "{table["kind"]}"', kind, {key: table[key] for key in table if key != "kind"})


def fill(what: str, kind: type[Kind], table: Mapping[str, Any]) -> Kind:
    """Reads a dataclass from its table. Raises `InputError` for unknown or missing keys."""
    # `from` is a Python keyword.
    given = {"from_" if key == "from" else key: value for key, value in table.items()}
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type] # all of them are dataclasses
    expected = ", ".join(key.rstrip("_") for key in known)
    if unknown := sorted(given.keys() - known.keys()):
        raise InputError(f"{what}: found {', '.join(unknown)}, expected {expected}")
    needed = [key for key, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if lacking := [key.rstrip("_") for key in needed if key not in given]:
        raise InputError(f"{what}: found no {', '.join(lacking)}, expected {expected}")
    return kind(**given)
