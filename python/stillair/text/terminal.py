"""Terminal capabilities: width, colours, and removal of control characters."""

import os
import re
import shutil
from typing import IO

WIDTH = 80
"""Default width in columns."""

BOLD, RED, YELLOW, GREEN = "1", "31", "33", "32"

_LEAST = 40
# C0 and C1 control characters and DEL, except line break and tab, and bidirectional control characters.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def width() -> int:
    """Columns available for a table."""
    return max(shutil.get_terminal_size((WIDTH, 24)).columns, _LEAST)


def folded(text: str) -> str:
    """Wraps long sentences; lines with columns stay unchanged."""
    import textwrap  # noqa: PLC0415 - only used here

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
    """Returns true if a stream may receive colours: a terminal that supports them, without NO_COLOR."""
    # spec: https://no-color.org - any non-empty value.
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def painted(text: str, colour: str, stream: IO[str]) -> str:
    """Colours the text, if the stream may receive colours."""
    # spec: ECMA-48 8.3.117 - select graphic rendition, then reset.
    return f"\x1b[{colour}m{text}\x1b[0m" if text and coloured(stream) else text


def harmless(text: str) -> str:
    """Replaces control characters, which names may contain, by question marks."""
    return _COMMANDS.sub("?", text)
