"""Overrides of scenario values: Python numbers, lists and tables, or text in the syntax of `--set`."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from stillair._native import InputError
from stillair.text.toml import dotted, to_value

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
"""A scenario value. A string is parsed like the value of `--set`: as TOML if valid, else as text."""

Overrides = Mapping[str, Value] | Iterable[tuple[str, Value]]
"""Dotted keys with their values. A table sets its keys and leaves others; a table with `kind` is set as a
whole."""


def pairs(overrides: Overrides) -> list[tuple[str, str]]:
    """Overrides in order, in the engine's format."""
    items = overrides.items() if isinstance(overrides, Mapping) else overrides
    return [pair for key, value in items for pair in _flat(key, value)]


def _flat(key: str, value: Value) -> list[tuple[str, str]]:
    if isinstance(value, Mapping) and value and "kind" not in value:
        return [pair for inner, of in value.items() for pair in _flat(f"{key}.{dotted(inner)}", of)]
    return [(key, as_set(key, value))]


def as_set(key: str, value: Value) -> str:
    """A value in the syntax of `--set`."""
    return value if isinstance(value, str) else to_value(plain(key, value), key)


def plain(key: str, value: Value) -> Value:
    """Converts numbers of other libraries to Python's.

    Raises `InputError` with the key for unsupported values.
    """
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {inner: plain(f"{key}.{inner}", of) for inner, of in value.items()}
    if isinstance(value, Sequence):
        return [plain(f"{key}.{at}", of) for at, of in enumerate(value)]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise mistake(key, f"found {value!r}, expected text, a finite number, a boolean, a list or a table of these")


def mistake(key: str, says: str) -> InputError:
    """An error that names a key."""
    error = InputError(f"{key}: {says}")
    error.key = key
    return error


def as_written(overrides: Sequence[tuple[str, str]], scenario: str) -> list[tuple[str, str]]:
    """Renames overrides to keys of the scenario's text, which has one table for nodes with `count` or `inherits`."""
    nodes = tomllib.loads(scenario).get("node", {})

    def written(key: str) -> str:
        match key.split("."):
            case ["node", node, *rest]:
                interface = rest[1] if rest[:1] == ["interface"] and len(rest) > 1 else ""
                return ".".join(("node", written_node(node, interface, nodes), *rest))
        return key

    return list(dict.fromkeys((written(key), value) for key, value in overrides))


def written_node(node: str, interface: str, nodes: Mapping[str, Any]) -> str:
    """Returns the table in the scenario's text that sets a node, or one of its interfaces."""
    counted = node.rstrip("0123456789")
    name = counted if node not in nodes and counted in nodes else node
    table: Mapping[str, Any] = nodes.get(name, {})
    if interface and interface not in table.get("interface", {}) and table.get("inherits") in nodes:
        return written_node(table["inherits"], interface, nodes)
    return name
