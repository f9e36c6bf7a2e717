"""Pages in a browser: in light and dark mode, wide and on a phone, and checked for accessibility by axe-core.

Without Chromium or the packages of requirements-browser.txt these tests are skipped, unless
STILLAIR_BROWSER=required.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stillair.__main__ import status
from stillair.cli.publish import page as pages
from stillair.text import markup
from synthetic import SECOND, synthetic

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE, PHONE = 1280, 390
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def lacking(what: str, how: str) -> None:
    said = f"pages are not tested in a browser: no {what}; {how}"
    if os.environ.get("STILLAIR_BROWSER") == "required":
        pytest.fail(said)
    pytest.skip(said)


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, which comes with its package for Playwright."""
    try:
        import axe_playwright_python  # noqa: PLC0415
    except ImportError:
        lacking(
            "axe-core and Playwright", "make test-python installs them, or: pip install -r requirements-browser.txt"
        )
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser(axe: str) -> Iterator["Browser"]:
    del axe  # says what is missing if it is
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        lacking("Chromium", "apt-get install chromium")
    # Its sandbox refuses to run as root, which containers use.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=options)
        yield started
        started.close()


@pytest.fixture(scope="module")
def made(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of a short result, that of thirty stations, and that of a paper."""
    folder = tmp_path_factory.mktemp("pages")
    assert status(["report", str(kept), "-o", str(folder / "short.html")]) == 0
    many = synthetic(20, SECOND // 5, SECOND // 5, 30)
    text = pages.page("many", many, "# nothing was run\n" + 40 * "key = 'a value of some length' " + "\n", [])
    (folder / "thirty.html").write_text(text, encoding="utf-8")
    papers = folder / "papers"
    assert status(["paper", "ending-the-anomaly/table1", "--runs", "1", "-o", str(papers)]) == 0
    files = {name: folder / f"{name}.html" for name in ("short", "thirty")}
    return files | {"papers": papers / "report.html"}


def opened(browser: "Browser", file: Path, width: int, scheme: str) -> "Page":
    view = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme).new_page()
    view.goto(file.as_uri())
    view.evaluate("document.querySelectorAll('details').forEach(of => { of.open = true })")
    return view


def findings(view: "Page", axe: str) -> list[str]:
    # Shadows at the sides are no ground of text; with them axe-core would judge no contrast in tables.
    view.add_style_tag(content=".scroll { background: none !important; }")
    view.evaluate(axe)
    # A picture is one image with a name: nobody reads its thousands of parts one by one.
    found = view.evaluate("axe.run({exclude: [['figure svg > *']]})")
    assert len(found["passes"]) > 5
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found["violations"] for node in rule["nodes"]]


CUT = """() => [...document.querySelectorAll('body *')].filter(of => {
  const scrolls = of.closest('.scroll, pre');
  return !scrolls && of.getBoundingClientRect().right > innerWidth + 0.5;
}).map(of => of.outerHTML.slice(0, 200))"""

INKS = """() => [...new Set([...document.querySelectorAll('figure svg text')].map(of => getComputedStyle(of).fill))]"""


# What a scheme has wrong does not depend on the width.
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
@pytest.mark.parametrize("name", ["short", "thirty", "papers"])
def test_a_page_is_whole_at_each_width_and_axe_finds_nothing(
    made: dict[str, Path], browser: "Browser", axe: str, name: str, width: int, scheme: str
) -> None:
    view = opened(browser, made[name], width, scheme)
    assert view.evaluate("document.documentElement.scrollWidth") == width
    assert view.evaluate(CUT) == []
    ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(245, 247, 250)" if scheme == "light" else "rgb(18, 23, 29)")
    if name != "papers":
        ink = "rgb(31, 41, 51)" if scheme == "light" else "rgb(227, 232, 238)"
        assert set(view.evaluate(INKS)) == {ink}
    assert findings(view, axe) == []
    view.context.close()


@pytest.mark.parametrize("name", ["short", "thirty"])
def test_words_of_a_picture_lie_within_it(made: dict[str, Path], browser: "Browser", name: str) -> None:
    view = opened(browser, made[name], WIDE, "light")
    outside = view.evaluate(
        """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
          const of = svg.getBoundingClientRect();
          return [...svg.querySelectorAll('text')].filter(text => {
            const is = text.getBoundingClientRect();
            return is.left < of.left - 2 || is.right > of.right + 2 || is.top < of.top - 2 || is.bottom > of.bottom + 2;
          }).map(text => svg.closest('figure').id + ': ' + text.textContent);
        })"""
    )
    assert outside == []
    view.context.close()


def test_what_is_wrong_is_found(browser: "Browser", axe: str, tmp_path: Path) -> None:
    faulty = "<h4>too deep</h4><p style='width: 1500px; color: #999999'>too wide, too pale</p><img src=''>"
    (tmp_path / "x.html").write_text(markup.document("x", "<h1>x</h1>", faulty, ""), encoding="utf-8")
    view = opened(browser, tmp_path / "x.html", WIDE, "light")
    assert view.evaluate("document.documentElement.scrollWidth") > WIDE
    assert len(view.evaluate(CUT)) == 1
    assert {found.split(":")[0] for found in findings(view, axe)} == {"heading-order", "color-contrast", "image-alt"}
    view.context.close()
