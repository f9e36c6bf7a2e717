#!/usr/bin/env python3
"""Builds the site with Zensical from docs/, lab/results/, and pages generated from results and code.

    scripts/website/build.py ZENSICAL [--stage FOLDER] [--out FOLDER]

Pages are copied to FOLDER (build/site-pages), because some links must change. Files outside docs/ and
lab/results/ have no page: links to them become the path in the repository, or a URL if STILLAIR_REPOSITORY is
set. The build is strict: a broken link or anchor stops it. Afterwards every page is searched for requests to
other hosts.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import navigation
import results
from reference import command_line, python, rust

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RESULTS = ROOT / "lab" / "results"
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
# Code that contains something like a link.
_CODE = re.compile(r"(^```.*?^```|`[^`\n]*\]\([^`\n]*`)", re.DOTALL | re.MULTILINE)
# Attributes that a browser loads without a click.
_ASKS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}
_LINKS_THAT_ASK = {"stylesheet", "preload", "preconnect", "dns-prefetch", "icon", "manifest", "modulepreload"}
_CSS = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"](?:https?:)?//", re.IGNORECASE)


def place(path: Path) -> Path | None:
    """Returns the place of a repository file on the site: docs/ is the root, stored results are in `results`."""
    if path.is_relative_to(RESULTS):
        return "results" / path.relative_to(RESULTS)
    return path.relative_to(DOCS) if path.is_relative_to(DOCS) else None


def staged(text: str, page: Path, repository: str | None) -> str:
    """Rewrites the links of a page for the site; `page` is its path in the repository."""
    here = place(ROOT / page)
    assert here is not None  # noqa: S101 - only pages are staged

    def link(of: re.Match[str]) -> str:
        mark, words, to, anchor = of[1], of[2], of[3], of[4] or ""
        target = (ROOT / page.parent / to).resolve()
        if target.is_dir() and (target / "README.md").is_file():
            target /= "README.md"
        on_site = place(target)
        if on_site is not None and not target.is_dir():
            return f"{mark}[{words}]({Path(os.path.relpath(on_site, here.parent)).as_posix()}{anchor})"
        path = target.relative_to(ROOT).as_posix()
        if repository:
            return f"{mark}[{words}]({repository}/blob/HEAD/{path}{anchor})"
        return f"{words} (`{path}`)" if words.strip("`") != path else f"`{path}`"

    # Leave code unchanged, including links in it.
    parts = _CODE.split(text)
    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))


def stage(folder: Path, repository: str | None) -> None:
    """Fills a folder with all pages, their pictures and link targets."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder / "docs")
    shutil.copytree(RESULTS, folder / "docs" / "results")
    # Pages that link to generated pages are not in docs/, which is also read in the repository.
    shutil.copytree(Path(__file__).parent / "pages", folder / "docs", dirs_exist_ok=True)
    made = {
        **results.pages(ROOT),
        "reference/command-line.md": command_line.page(),
        "reference/python.md": python.page(),
        "reference/rust.md": rust.page(ROOT),
    }
    for name, text in made.items():
        target = folder / "docs" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for path in sorted((folder / "docs").rglob("*.md")):
        text, own = path.read_text(encoding="utf-8"), path.relative_to(folder / "docs")
        page = RESULTS / own.relative_to("results") if own.is_relative_to("results") else DOCS / own
        path.write_text(staged(text, page.relative_to(ROOT), repository), encoding="utf-8")
    (folder / "zensical.toml").write_text(navigation.config(folder / "docs"), encoding="utf-8")


class _Asked(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        asked = given.get(_ASKS.get(tag, "")) or ""
        if tag == "link" and _LINKS_THAT_ASK & set((given.get("rel") or "").split()):
            asked = given.get("href") or ""
        for address in (asked, *(part.split()[0] for part in (given.get("srcset") or "").split(",") if part.split())):
            if address.startswith(("http:", "https:", "//")):
                self.found.append(f"<{tag}> asks {address}")


def outside(folder: Path) -> list[str]:
    """Requests to other hosts in pages and styles of a built site."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        reader = _Asked()
        text = path.read_text(encoding="utf-8")
        reader.feed(text)
        styles = "".join(re.findall(r"<style.*?</style>", text, re.DOTALL))
        found += [f"{path.relative_to(folder)}: {one}" for one in reader.found]
        found += [f"{path.relative_to(folder)}: a style asks another host" for _ in _CSS.findall(styles)]
    for path in sorted(folder.rglob("*.css")):
        found += [f"{path.relative_to(folder)}: asks another host" for _ in _CSS.findall(path.read_text("utf-8"))]
    return found


def main() -> None:
    """Stages, builds, searches."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("zensical", type=Path, help="the program")
    arguments.add_argument("--stage", type=Path, default=ROOT / "build" / "site-pages")
    arguments.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    given = arguments.parse_args()
    stage(given.stage, os.environ.get("STILLAIR_REPOSITORY"))
    program = [given.zensical.absolute(), "build", "--strict", "--clean", "-f", "zensical.toml"]
    environment = os.environ | {"NO_COLOR": "1"}
    done = subprocess.run(program, cwd=given.stage, capture_output=True, text=True, check=False, env=environment)
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    if done.returncode != 0 or "Warning" in said:
        raise SystemExit(f"{said}\nthe site was not built")
    shutil.rmtree(given.out, ignore_errors=True)
    shutil.move(given.stage / "site", given.out)
    asked = outside(given.out)
    if asked:
        raise SystemExit("\n".join([*asked, "pages may ask no other host"]))
    print(f"{given.out}: {len(list(given.out.rglob('*.html')))} pages, no request to another host", file=sys.stdout)


if __name__ == "__main__":
    main()
