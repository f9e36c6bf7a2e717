"""The site: built strictly, from pages that are short and alike, and asking no other host."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from stillair.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "scripts" / "website"))

import build  # noqa: E402 - a folder of scripts
import navigation  # noqa: E402

HEADINGS = ["What it models", "Parameters", "Source", "How validated", "What is not modelled"]
LISTS = {DOCS / "qdiscs" / "README.md", DOCS / "congestion-controls" / "README.md"}
MODELS = [
    *sorted({*(DOCS / "qdiscs").glob("*.md"), *(DOCS / "congestion-controls").glob("*.md")} - LISTS),
    *sorted((DOCS / "models").glob("*.md")),
    *(
        DOCS / f"{name}.md"
        for name in ("rate-control", "wide-rates", "cells", "interference", "power-save", "modern-hardware")
    ),
    *(DOCS / f"{name}.md" for name in ("quic", "responsiveness", "jitter", "traces")),
]
# References, which are made.
LONG = {DOCS / "scenario.md"}


def zensical() -> Path:
    program = ROOT / "build" / "site-venv" / "bin" / "zensical"
    if program.is_file():
        return program
    found = shutil.which("zensical")
    if found is None:
        said = "the site is not built: no Zensical; make site installs it"
        if os.environ.get("STILLAIR_SITE") == "required":
            pytest.fail(said)
        pytest.skip(said)
    return Path(found)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "scripts" / "website" / "build.py", zensical()]
    done = subprocess.run(
        [*command, "--stage", folder / "pages", "--out", folder / "site"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_the_strict_build_passes_and_has_every_page(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {"index.html", "start.html", "gallery.html", "scenario.html", "reference/command-line.html"} <= pages
    assert {f"papers/{paper}.html" for paper in ("bquic", "ending-the-anomaly", "towards-1ms")} <= pages
    assert len(pages) > 80


def test_no_page_asks_another_host(site: Path) -> None:
    assert build.outside(site) == []


def test_what_asks_another_host_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://fonts.example/a.css"><script src="//cdn.example/b.js"></script>'
        '<a href="https://example.org">a link is no request</a><style>@import "https://c.example/d.css";</style>'
    )
    (tmp_path / "b.css").write_text("a { background: url(https://e.example/f.png) }")
    assert len(build.outside(tmp_path)) == 4


def test_links_out_of_docs_become_paths_or_addresses() -> None:
    page = Path("docs/a.md")
    text = "[home](index.md#b), [code](../crates/sim/src/lib.rs), `[x](../y)`, [all](qdiscs/)"
    told = build.staged(text, page, None)
    assert told == "[home](index.md#b), code (`crates/sim/src/lib.rs`), `[x](../y)`, [all](qdiscs/README.md)"
    assert "(https://h.example/o/n/blob/HEAD/crates/sim/src/lib.rs)" in build.staged(
        text, page, "https://h.example/o/n"
    )


@pytest.mark.parametrize("page", MODELS, ids=lambda path: str(path.relative_to(DOCS)))
def test_pages_of_models_have_the_same_headings(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS


@pytest.mark.parametrize("page", sorted({ROOT / "README.md", *DOCS.rglob("*.md")} - LONG), ids=lambda path: path.stem)
def test_pages_are_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 200


def typed() -> list[tuple[str, str]]:
    """Each `stillair` line of a page, and the page."""
    found = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            for line in block.splitlines():
                command = line.removeprefix("$ ").split("  #")[0].strip()
                if command.startswith("stillair "):
                    found.append((str(page.relative_to(ROOT)), command))
    return found


@pytest.mark.parametrize(("page", "command"), typed())
def test_commands_of_pages_are_commands(page: str, command: str) -> None:
    del page
    words = shlex.split(command.split(" >", maxsplit=1)[0].split(" | ", maxsplit=1)[0], comments=True)[1:]
    with click.Context(app, info_name="stillair") as whole:
        name, found, rest = app.resolve_command(whole, words)
        assert name is not None
        assert found is not None
        # Options and their values are looked at, and nothing is run.
        found.make_context(name, rest, parent=whole)


def test_every_page_has_its_place() -> None:
    pages = [page for page in navigation.NAVIGATION.values() if isinstance(page, str)]
    for section in navigation.NAVIGATION.values():
        pages += section.values() if isinstance(section, dict) else []
    assert len(pages) == len(set(pages))
