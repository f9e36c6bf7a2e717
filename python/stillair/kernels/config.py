"""Configuration: merges fragments, and finds keys without effect.

For each such key the reason is read from the tree's Kconfig files: an unknown key, an unmet dependency, or a
key without a prompt.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from stillair._native import InputError
from stillair.text import source

_SET = re.compile(r"CONFIG_([A-Za-z0-9_]+)=(.*)")
_UNSET = re.compile(r"# CONFIG_([A-Za-z0-9_]+) is not set")
_SYMBOL = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_ARCHITECTURE = ("arch/um", "arch/x86/um")
"""The only architecture whose Kconfig is read."""

NO = "n"


class Asked(NamedTuple):
    """A key in a fragment."""

    key: str
    value: str
    where: str
    """File and line."""


class Missed(NamedTuple):
    """A key without effect, and the reason."""

    asked: Asked
    found: str
    why: str

    def __str__(self) -> str:
        """Formats the key and the reason as a sentence."""
        return (
            f"{self.asked.where}: CONFIG_{self.asked.key}={self.asked.value} has no effect"
            f" (it is {self.found}): {self.why}"
        )


def read(file: Path) -> list[Asked]:
    """Returns the keys of a fragment. Raises `InputError` for a malformed line."""
    try:
        lines = source.text(file, "a configuration").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if unset := _UNSET.fullmatch(text):
            found.append(Asked(unset[1], NO, f"{file}:{number}"))
        elif one := _SET.fullmatch(text):
            found.append(Asked(one[1], one[2].strip(), f"{file}:{number}"))
        elif text and not text.startswith("#"):
            raise InputError(f'{file}:{number}: found "{text}", expected a line such as CONFIG_TCP_CONG_BBR=y')
    return found


def merged(fragments: Iterable[Iterable[Asked]]) -> dict[str, Asked]:
    """Merges the fragments; the last value of a key counts."""
    return {asked.key: asked for fragment in fragments for asked in fragment}


def text(asked: Mapping[str, Asked]) -> str:
    """Formats the keys as a `.config`."""
    lines = (
        f"# CONFIG_{one.key} is not set" if one.value == NO else f"CONFIG_{one.key}={one.value}"
        for one in asked.values()
    )
    return "".join(f"{line}\n" for line in lines)


def missed(asked: Mapping[str, Asked], result: Path, tree: Path) -> list[Missed]:
    """Returns the keys that differ in the resulting configuration."""
    values = {one.key: one.value for one in read(result)}
    found = []
    known: dict[str, list[_Entry]] | None = None
    for one in asked.values():
        value = values.get(one.key, NO)
        if value == one.value:
            continue
        known = _entries(tree) if known is None else known
        found.append(Missed(one, value, _why(one, known.get(one.key, []), values)))
    return found


class _Entry(NamedTuple):
    """A symbol as defined in a Kconfig file."""

    conditions: tuple[str, ...]
    """Its own conditions, and those of the enclosing menus and ifs in its file."""
    has_prompt: bool


def _why(asked: Asked, entries: list[_Entry], values: Mapping[str, str]) -> str:
    if not entries:
        return "this kernel has no such key"
    if not any(entry.has_prompt for entry in entries):
        return "it cannot be set directly: other keys select it"
    if asked.value == "m" and values.get("MODULES", NO) == NO:
        return "this kernel has no modules, write =y"
    if asked.value == NO:
        return "other keys select it"
    conditions = dict.fromkeys(condition for entry in entries for condition in entry.conditions)
    unmet = [condition for condition in conditions if _against(condition, values)]
    if not unmet:
        around = " and ".join(conditions) or "nothing more"
        return f"its Kconfig gives it another value, or a menu around it is off ({around})"
    states = dict.fromkeys(symbol for condition in unmet for symbol in _SYMBOL.findall(condition))
    shown = ", ".join(f"{symbol}={values.get(symbol, NO)}" for symbol in states)
    return f"it depends on {' and '.join(unmet)} ({shown})"


def _against(condition: str, values: Mapping[str, str]) -> bool:
    """Returns true if a symbol violates a condition: unset, or set and negated."""
    text = re.sub(r'"[^"]*"', "", condition)
    return any(
        (values.get(found[2], NO) == NO) != bool(found[1])
        for found in re.finditer(r"(!?)\b([A-Z0-9][A-Z0-9_]+)\b", text)
        if not found[2].isdigit()
    )


def _entries(tree: Path) -> dict[str, list[_Entry]]:
    """All symbols of a tree."""
    found: dict[str, list[_Entry]] = {}
    for file in tree.rglob("Kconfig*"):
        place = file.relative_to(tree).as_posix()
        if place.startswith("arch/") and not place.startswith(_ARCHITECTURE) and place != "arch/Kconfig":
            continue
        if file.is_file():
            for key, entry in _file(file.read_text(encoding="utf-8", errors="replace")):
                found.setdefault(key, []).append(entry)
    return found


_BLOCKS = ("config", "menuconfig", "if", "endif", "menu", "endmenu", "choice", "endchoice", "comment", "source")
_TYPES = ("bool", "tristate", "int", "hex", "string", "prompt")


class _Reader:
    """Parser state: the enclosing blocks, and the current symbol."""

    def __init__(self) -> None:
        self.around: list[list[str]] = []
        self.found: list[tuple[str, _Entry]] = []
        self.key = ""
        self.own: list[str] = []
        self.has_prompt = False
        self.is_menu = False

    def end(self) -> None:
        """Ends the current symbol."""
        if self.key:
            conditions = (*(one for level in self.around for one in level), *self.own)
            self.found.append((self.key, _Entry(conditions, self.has_prompt)))
        self.key, self.own, self.has_prompt, self.is_menu = "", [], False, False

    def block(self, first: str, rest: str) -> None:
        """Starts or ends a block."""
        self.end()
        if first in ("config", "menuconfig"):
            self.key = rest
        elif first == "if":
            self.around.append([rest])
        elif first in ("menu", "choice"):
            self.around.append([])
            self.is_menu = True
        elif first.startswith("end") and self.around:
            self.around.pop()

    def line(self, first: str, rest: str) -> None:
        """Reads a line within a block."""
        if first == "depends":
            (self.around[-1] if self.is_menu else self.own).append(rest.removeprefix("on").strip())
        elif first in _TYPES:
            self.has_prompt = self.has_prompt or '"' in rest or "'" in rest


def _file(text: str) -> list[tuple[str, _Entry]]:
    """Returns the symbols of a Kconfig file, with their conditions."""
    reader = _Reader()
    help_indent: int | None = None
    for line in text.replace("\\\n", " ").splitlines():
        words = line.strip()
        indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        if help_indent is not None:
            # A help text ends at a line with less indentation than its first line. If that is not indented,
            # there is no help text.
            help_indent = help_indent or (indent if words else 0)
            if not words or indent >= help_indent > 0:
                continue
            help_indent = None
        first, _, rest = words.partition(" ")
        if first in _BLOCKS:
            reader.block(first, rest.split("#")[0].strip())
        elif first in ("help", "---help---"):
            help_indent = 0
        else:
            reader.line(first, rest.split("#")[0].strip())
    reader.end()
    return reader.found
