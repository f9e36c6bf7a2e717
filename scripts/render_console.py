#!/usr/bin/env python3
"""Keeps console blocks of README and docs/ up to date: blocks that start with `$ stillair ...`.

    scripts/render_console.py              reports outdated blocks, and fails
    scripts/render_console.py --write      regenerates them

A block of the language `console` contains a command after `$ `, followed by its output. `<!-- first N lines
-->` above the block limits the output to N lines, `<!-- first N and last M lines -->` also shows its end;
`...` stands for the rest.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
WIDTH = 100
_BLOCK = re.compile(
    r"(<!-- first (\d+)(?: and last (\d+))? lines -->\n)?^```console\n\$ (stillair [^\n]*)\n.*?^```$",
    re.DOTALL | re.MULTILINE,
)


def output(command: str) -> list[str]:
    """Output of a command on stdout, at a width of 100 columns."""
    environment = os.environ | {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    line = command.replace("stillair", f"'{sys.executable}' -m stillair", 1)
    with tempfile.TemporaryDirectory() as away:
        done = subprocess.run(  # noqa: S602 - commands of our own pages
            line, shell=True, cwd=away, env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stderr}")
    return [line.rstrip() for line in done.stdout.rstrip().splitlines()]


def commands(page: Path) -> list[str]:
    """Commands of a page."""
    return [found[4] for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))]


def renewed(page: Path, ran: dict[str, list[str]]) -> str:
    """A page with the current output of its commands."""

    def block(found: re.Match[str]) -> str:
        head, first, last, command = found[1] or "", int(found[2] or 0), int(found[3] or 0), found[4]
        if command not in ran:
            ran[command] = output(command)
        lines = ran[command]
        if first and first + last < len(lines):
            lines = [*lines[:first], "...", *lines[len(lines) - last :]]
        return f"{head}```console\n$ {command}\n" + "".join(f"{line}\n" for line in lines) + "```"

    return _BLOCK.sub(block, page.read_text(encoding="utf-8"))


def main() -> int:
    """Compares or writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    ran: dict[str, list[str]] = {}
    wrong = []
    for page in PAGES:
        now = renewed(page, ran)
        if now != page.read_text(encoding="utf-8"):
            wrong.append(page.relative_to(ROOT))
            if given.write:
                page.write_text(now, encoding="utf-8")
    told = "renewed" if given.write else "not as shown"
    print(f"{len(ran)} commands run; {told}: {', '.join(map(str, wrong)) or 'none'}")
    return 1 if wrong and not given.write else 0


if __name__ == "__main__":
    raise SystemExit(main())
