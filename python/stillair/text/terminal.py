"""What a terminal can show: how wide it is, colours where they are wanted, and no letters that would command it."""

import os
import re
import shutil
from typing import IO

WIDTH = 80
"""Columns where no terminal tells of its own."""

BOLD, RED, YELLOW, GREEN = "1", "31", "33", "32"

_LEAST = 40
# Control characters of C0 and C1 and DEL, but for line break and tab; and marks that turn the direction of text.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def width() -> int:
    """Columns that a table may have."""
    return max(shutil.get_terminal_size((WIDTH, 24)).columns, _LEAST)


def folded(text: str) -> str:
    """The text with its long sentences broken into lines; what has columns stays as it is."""
    import textwrap  # noqa: PLC0415 - here alone

    lines = []
    for line in text.split("\n"):
        start = len(line) - len(line.lstrip())
        if len(line) <= width() or "  " in line[start:]:
            lines.append(line)
            continue
        own = textwrap.TextWrapper(width(), initial_indent=line[:start], subsequent_indent=f"{line[:start]}  ")
        own.break_on_hyphens = own.break_long_words = False
        lines += own.wrap(line[start:])
    return "\n".join(lines)


def coloured(stream: IO[str]) -> bool:
    """Whether colours may be written to a stream: to a terminal that has them, unless NO_COLOR says no."""
    # spec: https://no-color.org - any value but none at all.
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def painted(text: str, colour: str, stream: IO[str]) -> str:
    """The text in a colour, where that may be."""
    # spec: ECMA-48 8.3.117 - select graphic rendition, and back to what is usual.
    return f"\x1b[{colour}m{text}\x1b[0m" if text and coloured(stream) else text


def harmless(text: str) -> str:
    """The text with a question mark for each letter that would command a terminal, as a name may hold them."""
    return _COMMANDS.sub("?", text)
