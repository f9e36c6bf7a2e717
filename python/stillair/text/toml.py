"""Writes TOML, so that a scenario built in Python is read like a file."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(table: Mapping[str, Any]) -> str:
    """Formats a dictionary as TOML with one line per top-level key."""
    return "".join(f"{_key(key)} = {_value(value, _key(key))}\n" for key, value in table.items())


def to_value(value: Any, where: str) -> str:  # noqa: ANN401 - any value of the caller
    """Formats a value as TOML on one line. `where` names it in errors."""
    return _value(value, where)


def dotted(key: str) -> str:
    """Formats a key as part of a dotted key."""
    return _key(key)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"scenario keys are text, found {key!r}")
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _value(value: Any, where: str) -> str:  # noqa: ANN401 - any value of the caller
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case str():
            return _string(value)
        case Mapping():
            inner = ", ".join(f"{_key(k)} = {_value(v, f'{where}.{k}')}" for k, v in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case Sequence():
            return f"[{', '.join(_value(v, f'{where}.{i}') for i, v in enumerate(value))}]"
        case _:
            raise TypeError(f"{where}: a scenario holds text, numbers, lists and tables, found {value!r}")


def _string(text: str) -> str:
    # JSON escapes are valid TOML, except that TOML also escapes DEL and forbids surrogates.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
