#!/usr/bin/env python3
"""What the README says to type, to be typed: its `stillair` lines as a script for sh, its Python as one program.

scripts/readme_commands.py sh|python
"""

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"

# What takes minutes as it stands is run with less, and the script says so.
SHORTER = {
    "stillair paper all -o results/papers": "stillair paper ending-the-anomaly/table1 --runs 1 -o results/papers"
}


def blocks(kind: str) -> list[str]:
    """The blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    """The lines for the environment's program, without what is said of them."""
    lines = [line.split("  #")[0].rstrip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith(("stillair ", "scripts/")) or line == "stillair"]


def main() -> None:
    """Prints what is asked for."""
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
