#!/usr/bin/env python3
"""The tree to publish: README links and project.urls point to a repository, so that they work elsewhere.

    scripts/publish_tree.py https://HOST/OWNER/NAME FOLDER

Copies the tracked files into an empty folder, from which `maturin sdist` builds the sdist. Links use GitHub's
layout.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def absolute(page: str, repository: str) -> str:
    """Makes a page's links absolute: raw files for pictures, pages for others."""
    return _LINK.sub(
        lambda of: f"{of[1]}[{of[2]}]({repository}/{'raw' if of[1] else 'blob'}/HEAD/{of[3]})", page
    )  # fmt: skip


def with_urls(project: str, repository: str) -> str:
    """pyproject.toml with the project's URLs."""
    urls = {
        "Homepage": repository,
        "Repository": repository,
        "Documentation": f"{repository}/blob/HEAD/docs/scenario.md",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    table = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    before, header, after = project.partition("[project.scripts]\n")
    if not header:
        raise SystemExit("pyproject.toml has no [project.scripts], before which project.urls go")
    return f"{before}[project.urls]\n{table}\n{header}{after}"


def write(repository: str, target: Path) -> None:
    """Fills a new or empty folder."""
    if target.exists() and any(target.iterdir()):
        raise SystemExit(f"{target}: is not empty")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S607
    for name in filter(None, listed.decode().split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    for name, made in (("README.md", absolute), ("pyproject.toml", with_urls)):
        text = (ROOT / name).read_text(encoding="utf-8")
        (target / name).write_text(made(text, repository), encoding="utf-8")


def main() -> None:
    """Reads the arguments."""
    if len(sys.argv) != 3 or not re.fullmatch(r"https://[^\s/]+/\S+[^/\s]", sys.argv[1]):
        raise SystemExit(__doc__)
    write(sys.argv[1], Path(sys.argv[2]))


if __name__ == "__main__":
    main()
