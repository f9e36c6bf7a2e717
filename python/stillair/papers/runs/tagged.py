"""Tables with a `kind`, read into the dataclass of that kind."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from stillair._native import InputError

Kind = TypeVar("Kind")


def read(what: str, kinds: Mapping[str, type[Kind]], table: Mapping[str, Any]) -> Kind:
    """What a table describes; a kind or a key that is not known, or a key that lacks, is an error."""
    kind = kinds.get(table.get("kind", ""))
    if kind is None:
        raise InputError(f'{what}: kind: found "{table.get("kind", "")}", expected one of {", ".join(kinds)}')
    # `from` is a word of the language.
    given = {"from_" if key == "from" else key: value for key, value in table.items() if key != "kind"}
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type] # all kinds are dataclasses
    expected = ", ".join(key.rstrip("_") for key in known)
    if unknown := sorted(given.keys() - known.keys()):
        raise InputError(f'{what}: kind "{table["kind"]}": found {", ".join(unknown)}, expected {expected}')
    needed = [key for key, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if lacking := [key.rstrip("_") for key in needed if key not in given]:
        raise InputError(f'{what}: kind "{table["kind"]}": found no {", ".join(lacking)}, expected {expected}')
    return kind(**given)
