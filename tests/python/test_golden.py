"""Numbers that pages show are those of this version: kept results, figures of the first page, outputs of commands."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def script(name: str, folder: str = "scripts") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look for the module that they are of.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


GOLDEN = script("golden", "lab/scripts")
CONSOLE = script("render_console")


def test_each_set_that_a_script_makes_is_noted() -> None:
    assert set(GOLDEN.PAPERS) | {"ns3-bench"} <= set(GOLDEN.sets())
    assert set(GOLDEN.sets()) <= set(GOLDEN.PAPERS) | set(GOLDEN.MADE) | {"ns3-bench"}
    assert all(GOLDEN.read(name) for name in GOLDEN.sets())


@pytest.mark.parametrize("name", GOLDEN.sets())
def test_first_runs_are_as_they_were_kept(name: str) -> None:
    # A part of the set, which takes seconds; `make fresh` runs all of it.
    ran, wrong = GOLDEN.stale(name, jobs=os.cpu_count())
    assert ran > 0
    assert wrong == []


@pytest.mark.parametrize("paper", GOLDEN.PAPERS)
def test_first_runs_of_papers_are_those_of_their_reports(paper: str) -> None:
    reported = {(c.scenario, tuple(c.overrides)): c.trace_hash for c in GOLDEN.kept_of_paper(paper)}
    noted = {(c.scenario, tuple(c.overrides)): c.trace_hash for c in GOLDEN.read(paper)}
    assert noted == reported


def test_another_hash_or_figure_is_told() -> None:
    kept = GOLDEN.Cell("home", [], None, "a", {"goodput_total_mbps": 1.0})
    assert GOLDEN.differs(kept, kept) == ""
    other = GOLDEN.Cell("home", [], None, "b", {"goodput_total_mbps": 2.0})
    assert GOLDEN.differs(kept, other) == "trace hash a -> b (goodput_total_mbps 1.0 -> 2.0)"
    figure = GOLDEN.Cell("home", [], None, "a", {"goodput_total_mbps": 2.0})
    assert GOLDEN.differs(kept, figure) == "the same trace, and other figures: goodput_total_mbps 1.0 -> 2.0"


def test_figures_of_the_first_pages_are_those_of_kept_results() -> None:
    figures = script("readme_figures", "lab/scripts")
    for page in figures.PAGES:
        assert figures.renewed(page) == page.read_text(encoding="utf-8"), (
            "lab/scripts/readme_figures.py --write renews it"
        )
        assert "<!-- front: " in page.read_text(encoding="utf-8")


def test_pages_show_what_commands_print() -> None:
    ran: dict[str, list[str]] = {}
    pages = [page for page in CONSOLE.PAGES if CONSOLE.commands(page)]
    assert len(pages) > 3
    for page in pages:
        assert CONSOLE.renewed(page, ran) == page.read_text(encoding="utf-8"), (
            "scripts/render_console.py --write renews it"
        )


def test_the_moving_picture_is_of_this_versions_runs() -> None:
    animation = script("animation")
    kept = animation.PICTURE.read_text(encoding="utf-8")
    assert animation.picture() == kept, "scripts/animation.py --write renews it"
    assert len(kept) < 500_000


@pytest.mark.parametrize("name", ["airtime-timeline.svg", "ping-cdf.svg"])
def test_pictures_of_the_gallery_are_what_their_commands_make(name: str) -> None:
    gallery = script("gallery")
    assert gallery.made(name) == (gallery.FOLDER / name).read_bytes(), "scripts/gallery.py --write renews it"
