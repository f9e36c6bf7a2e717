"""Arrows between the modules of a crate only go down: no folder has two parts that use each other, at any depth."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/src"))

Module = tuple[str, ...]

# A file from here on is its tests, and files of these names are for tests alone.
TESTS_INSIDE = re.compile(r"#\[cfg\(test\)\]\s*\n(pub(\(\w+\))? )?mod \w+ \{")
FOR_TESTS = {"tests", "testing", "scenarios", "steps"}
# A path within the crate, and whether braces follow it.
PATH = re.compile(r"\b(crate|self|super(?:::super)*)((?:::\w+)*)(::\{)?")


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_no_two_parts_of_a_folder_use_each_other(crate: Path) -> None:
    assert list(circles(arrows(crate / "src"))) == []


def test_a_circle_is_seen(tmp_path: Path) -> None:
    for name, text in {
        "lib.rs": "pub mod a;\npub mod b;\n",
        "a/mod.rs": "pub mod one;\nuse super::b;\n",
        "a/one.rs": "use crate::{b, b::two::{X, Y}};\n// crate::a is only said\n",
        "b/mod.rs": "pub mod two;\n",
        "b/two.rs": "pub struct X;\n#[cfg(test)]\nmod tests {\n    use crate::a::one;\n}\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = arrows(tmp_path)
    assert found[("a", "one")] == {("b",), ("b", "two")}
    assert list(circles(found)) == []
    (tmp_path / "b/two.rs").write_text("pub fn f() { crate::a::one::g() }\n")
    assert list(circles(arrows(tmp_path))) == [("", ["a", "b"])]


def arrows(source: Path) -> dict[Module, set[Module]]:
    """Which modules each module of a crate names."""
    modules = {path: module_of(path.relative_to(source)) for path in source.rglob("*.rs")}
    names = set(modules.values())
    product = {path: module for path, module in modules.items() if not FOR_TESTS & set(module)}
    return {module: set(named(path, module, names)) for path, module in product.items()}


def module_of(path: Path) -> Module:
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def named(path: Path, module: Module, names: set[Module]) -> Iterator[Module]:
    """The innermost modules that a file names by a path from `crate`, `self` or `super`."""
    text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    inside = TESTS_INSIDE.search(text)
    text = text[: inside.start()] if inside else text
    for found in PATH.finditer(text):
        start, rest, braces = found.groups()
        up = start.count("super")
        base = () if start == "crate" else module[: len(module) - up]
        whole = (*base, *rest.split("::")[1:])
        for tail in leaves(text, found.end()) if braces else [()]:
            target = (*whole, *tail)
            inner = next((target[:n] for n in range(len(target), 0, -1) if target[:n] in names), None)
            if inner is not None:
                yield inner


def leaves(text: str, at: int) -> Iterator[Module]:
    """The paths within the braces of a `use` that open just before `at`."""
    depth, path, before = 0, [], []
    for token in re.finditer(r"\w+|[{},;]", text[at:]):
        match token[0]:
            case "{":
                before.append(path)
                depth, path = depth + 1, list(path)
            case "}" | ",":
                if path:
                    yield tuple(path)
                if token[0] == "}":
                    if depth == 0:
                        return
                    depth -= 1
                    before.pop()
                path = list(before[-1]) if before else []
            case ";":
                return
            case word:
                path = [*path, word]


def circles(uses: dict[Module, set[Module]]) -> Iterator[tuple[str, list[str]]]:
    """Folders whose parts use each other in a circle, with those parts."""
    folders = {module[:n] for module in uses for n in range(len(module))}
    for folder in sorted(folders):
        depth = len(folder)
        parts: dict[str, set[str]] = {}
        for module, targets in uses.items():
            if module[:depth] == folder and len(module) > depth:
                part = parts.setdefault(module[depth], set())
                part.update(to[depth] for to in targets if to[:depth] == folder and len(to) > depth)
                part.discard(module[depth])
        while free := [part for part, to in parts.items() if not to & parts.keys()]:
            for part in free:
                del parts[part]
        while unused := [part for part in parts if not any(part in to for to in parts.values())]:
            for part in unused:
                del parts[part]
        if parts:
            yield "/".join(folder), sorted(parts)
