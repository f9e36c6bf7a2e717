"""Overrides of scenario values: Python numbers, lists and tables, or text in the syntax of `--set`."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from stillair._native import InputError
from stillair.text.toml import dotted, to_value

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
"""A value of a scenario. A text by itself is read as `--set` reads it: TOML if it is some, else a text."""

Overrides = Mapping[str, Value] | Iterable[tuple[str, Value]]
"""Dotted keys with their values. A table sets the keys in it and leaves others; with a `kind` it is set as a whole."""


def pairs(overrides: Overrides) -> list[tuple[str, str]]:
    """Overrides as the engine takes them, in order."""
    items = overrides.items() if isinstance(overrides, Mapping) else overrides
    return [pair for key, value in items for pair in _flat(key, value)]


def _flat(key: str, value: Value) -> list[tuple[str, str]]:
    if isinstance(value, Mapping) and value and "kind" not in value:
        return [pair for inner, of in value.items() for pair in _flat(f"{key}.{dotted(inner)}", of)]
    return [(key, as_set(key, value))]


def as_set(key: str, value: Value) -> str:
    """A value as `--set` takes it."""
    return value if isinstance(value, str) else to_value(plain(key, value), key)


def plain(key: str, value: Value) -> Value:
    """A value with numbers of other libraries as Python's own; an `InputError` that names the key if it is none."""
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
    raise mistake(key, f"found {value!r}, expected text, a finite number, a truth, a list or a table of these")


def mistake(key: str, says: str) -> InputError:
    """An error that names a key."""
    error = InputError(f"{key}: {says}")
    error.key = key
    return error


def as_written(overrides: Sequence[tuple[str, str]], scenario: str) -> list[tuple[str, str]]:
    """Overrides by the names in the scenario's text, without tables of nodes by `count` or interfaces by `inherits`."""
    nodes = tomllib.loads(scenario).get("node", {})

    def written(key: str) -> str:
        match key.split("."):
            case ["node", node, *rest]:
                interface = rest[1] if rest[:1] == ["interface"] and len(rest) > 1 else ""
                return ".".join(("node", written_node(node, interface, nodes), *rest))
        return key

    return list(dict.fromkeys((written(key), value) for key, value in overrides))


def written_node(node: str, interface: str, nodes: Mapping[str, Any]) -> str:
    """Returns the name in the scenario's text of the table that sets a node, or an interface of it."""
    counted = node.rstrip("0123456789")
    name = counted if node not in nodes and counted in nodes else node
    table: Mapping[str, Any] = nodes.get(name, {})
    if interface and interface not in table.get("interface", {}) and table.get("inherits") in nodes:
        return written_node(table["inherits"], interface, nodes)
    return name
