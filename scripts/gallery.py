#!/usr/bin/env python3
"""The pictures of docs/gallery, each by the command beside it in plots.toml; equal results make equal files.

scripts/gallery.py [PICTURE...]             says which are not what their command makes, and fails
scripts/gallery.py --write [PICTURE...]     renews them
"""

import argparse
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "gallery"
PICTURES: dict[str, dict[str, str]] = tomllib.loads((FOLDER / "plots.toml").read_text(encoding="utf-8"))


def made(name: str) -> bytes:
    """A picture, by its command in an empty folder."""
    command = "set -e\n" + PICTURES[name]["command"].replace("stillair ", f"'{sys.executable}' -m stillair ")
    with tempfile.TemporaryDirectory() as away:
        done = subprocess.run(  # noqa: S602 - commands of our own file
            command, shell=True, cwd=away, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{name}: exit status {done.returncode}\n{done.stderr}")
        return (Path(away) / name).read_bytes()


def main() -> int:
    """Compares or writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", metavar="PICTURE", default=[])
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    wrong = []
    for name in given.names or PICTURES:
        now = made(name)
        if not (FOLDER / name).is_file() or (FOLDER / name).read_bytes() != now:
            wrong.append(name)
            if given.write:
                (FOLDER / name).write_bytes(now)
    print(f"{'renewed' if given.write else 'not as kept'}: {', '.join(wrong) or 'none'}")
    return 1 if wrong and not given.write else 0


if __name__ == "__main__":
    raise SystemExit(main())
