#!/usr/bin/env python3
"""Commands in README and docs/commands.md: `stillair` lines as a shell script, Python blocks as one program.

scripts/readme_commands.py sh|python
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "commands.md")

# Shortened versions of commands that take minutes; the script says so.
SHORTER = {
    "stillair paper all -o results/papers": "stillair paper ending-the-anomaly/table1 --runs 1 -o results/papers"
}


def blocks(kind: str) -> list[str]:
    """Code blocks of a language."""
    block = re.compile(rf"^```{kind}\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return [found for page in PAGES for found in block.findall(page.read_text(encoding="utf-8"))]


def commands() -> list[str]:
    """Command lines for the environment's program, without their comments."""
    lines = [line.split("  #")[0].rstrip() for block in blocks("sh") for line in block.splitlines()]
    shown = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ stillair ")]
    return [*shown, *(line for line in lines if line.startswith(("stillair ", "scripts/")))]


def main() -> None:
    """Prints the script or the program."""
    if sys.argv[1:] == ["python"]:
        print("\n".join(blocks("python")))
        return
    if sys.argv[1:] != ["sh"]:
        raise SystemExit(__doc__)
    print("set -eu")
    for command in commands():
        run = SHORTER.get(command, command)
        said = f"{command} (shorter: {run})" if run != command else command
        quoted = said.replace("'", "'\\''")
        print(f"echo 'README: {quoted}' >&2\n{run.replace(' > ', ' >')}")


if __name__ == "__main__":
    main()
