"""Imports between modules of both Python packages only go down, as drawn in each package's docstring."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "stillair"
LAB = ROOT / "lab" / "src" / "stillair_lab"
PACKAGES = sorted(
    path.parent for whole in (PACKAGE, LAB) for path in whole.rglob("__init__.py") if path.parent != PACKAGE
)


def name_of(path: Path) -> str:
    """A file as it is imported."""
    whole = LAB if path.is_relative_to(LAB) else PACKAGE
    return ".".join(path.relative_to(whole.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for whole in (PACKAGE, LAB) for path in sorted(whole.rglob("*.py"))}


def test_the_top_folder_is_seen_at_a_glance() -> None:
    names = [path.name for path in PACKAGE.iterdir() if not path.name.startswith((".", "__pycache__"))]
    assert len(names) <= 18, sorted(names)


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_a_package_has_about_a_dozen_rooms(package: Path) -> None:
    assert len(rooms(package)) <= 14


def test_modules_do_not_import_each_other_in_circles() -> None:
    arrows = {name: imported(path) - {name} for name, path in MODULES.items()}
    # Remove modules without importers until nothing is left, or a cycle.
    while free := [name for name, to in arrows.items() if not to & arrows.keys()]:
        for name in free:
            del arrows[name]
    assert not arrows


def test_packages_go_down_as_the_house_is_drawn() -> None:
    drawing = re.findall(
        r"```text\n((?:\w+ .*\n)+)```", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    )
    check(PACKAGE, drawing[0])


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_rooms_go_down_as_their_package_draws_them(package: Path) -> None:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")), clean=False) or ""
    check(package, "".join(f"{line}\n" for line in re.findall(r"^ *(\w+  .*)", text, re.M)))


def rooms(package: Path) -> set[str]:
    inside = f"{name_of(package)}."
    return {name.removeprefix(inside).split(".")[0] for name in MODULES if name.startswith(inside)}


def check(package: Path, drawing: str) -> None:
    """One subpackage per line, which may use those below it. The package's own file is above all."""
    order = [line.split()[0] for line in drawing.splitlines()]
    assert sorted(order) == sorted(rooms(package))
    inside = f"{name_of(package)}."
    part = {name: name.removeprefix(inside).split(".")[0] for name in MODULES if name.startswith(inside)}
    for name, own in part.items():
        targets = imported(MODULES[name])
        assert inside.removesuffix(".") not in targets, f"{name} uses the package that has it"
        below = {part[to] for to in targets & part.keys()} - {own}
        assert below <= set(order[order.index(own) + 1 :]), (name, below)


def imported(path: Path) -> set[str]:
    """Modules that a file imports, including late imports. The package's own file only re-exports names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(names & MODULES.keys() or {node.module or ""})
    return found & MODULES.keys() - {"stillair"}
