"""The public Python API of `stillair` and `stillair.link`, from docstrings."""

import inspect
import re
from types import ModuleType

import stillair
import stillair.capture
import stillair.link

_VALUE = "str | int | float | bool | Sequence['Value'] | Mapping[str, 'Value']"
_ALIASES = {
    f"Mapping[str, {_VALUE}] | Iterable[tuple[str, {_VALUE}]]": "Overrides",
    f"Mapping[str, Sequence[{_VALUE}] | str]": "Mapping[str, Values]",
    _VALUE: "Value",
}


def _signature(of: object) -> str:
    try:
        said = str(inspect.signature(of))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    said = re.sub(r"\b(collections\.abc|typing|pathlib|os|stillair(\.[a-z_]+)+)\.(?=[A-Za-z])", "", said)
    for long, short in _ALIASES.items():
        said = said.replace(long, short)
    return said.replace("~", "")


def _says(of: object) -> str:
    """A docstring; lines after `>>>` are code."""
    blocks = []
    for block in inspect.cleandoc(inspect.getdoc(of) or "").split("\n\n"):
        blocks.append(f"```pycon\n{block}\n```" if block.startswith(">>>") else block)
    return "\n\n".join(blocks)


def _members(cls: type) -> list[str]:
    parts = []
    for name, member in vars(cls).items():
        said = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if name.startswith("_") or not (callable(said) or isinstance(said, property)):
            continue
        if not inspect.getdoc(said) or isinstance(said, type):
            continue
        signature = "" if isinstance(said, property) else _signature(said)
        parts.append(f"**`{cls.__name__}.{name}{signature}`**\n\n{_says(said)}")
    return parts


def _module(module: ModuleType, names: list[str]) -> list[str]:
    parts = [f"## {module.__name__}", _says(module)]
    for name in names:
        found = getattr(module, name)
        if not (callable(found) or isinstance(found, type)):
            continue
        parts.append(f"### {name}")
        parts.append(f"```python\n{name}{_signature(found)}\n```")
        parts.append(_says(found))
        if isinstance(found, type) and not issubclass(found, Exception):
            parts += _members(found)
    return parts


def page() -> str:
    """The page."""
    parts = [
        "# Python",
        "Made of the package's own docstrings. All of it has types, and a report is a typed dictionary "
        "(`stillair.results.report`). `Overrides` are dotted keys with their values: numbers, lists and tables, or text as "
        "`--set` takes it. [The tutorial](../tutorial.py) is a notebook that the tests run.",
        *_module(stillair, list(stillair.__all__)),
        *_module(stillair.capture, ["capture_points", "write_capture"]),
        *_module(stillair.link, list(stillair.link.__all__)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
