"""What others have written: under licences of our list, and with their notices."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def licences() -> ModuleType:
    spec = importlib.util.spec_from_file_location("licences", ROOT / "scripts" / "licences.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ("MIT", ["MIT"]),
        ("Apache-2.0 OR MIT", ["MIT"]),
        ("MIT/Apache-2.0", ["MIT"]),
        ("MIT OR Apache-2.0 OR LGPL-2.1-or-later", ["MIT"]),
        ("Apache-2.0 AND ISC", ["Apache-2.0", "ISC"]),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", ["MIT", "Unicode-3.0"]),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", ["MIT"]),
        ("GPL-3.0-only", None),
        ("MIT AND GPL-3.0-only", None),
        ("(GPL-3.0-only OR MPL-2.0) AND MIT", None),
        ("Apache-2.0 WITH LLVM-exception", None),
        ("", None),
        ("nothing", None),
        ("Copyright (c) somebody, all rights reserved", None),
    ],
)
def test_by_which_licences_a_crate_is_taken(licences: ModuleType, expression: str, taken: list[str] | None) -> None:
    assert licences.taken(expression, licences.ALLOWED) == taken


def test_all_licences_are_on_the_list_and_the_notices_are_current(
    licences: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["licences.py"])
    assert licences.main() == 0, capsys.readouterr().err


def test_a_licence_off_the_list_and_old_notices_are_told(
    licences: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [{"name": "x", "version": "1", "license": "GPL-3.0-only", "manifest_path": str(tmp_path / "Cargo.toml")}]
    monkeypatch.setattr(licences, "crates", lambda: found)
    monkeypatch.setattr("sys.argv", ["licences.py"])
    assert licences.main() == 1
    said = capsys.readouterr().err
    assert "licence not on the list of licences.py: x 1: GPL-3.0-only" in said
    assert "is not current: scripts/licences.py --write" in said


def test_the_packages_of_the_page_are_those_that_it_has_in_it(licences: ModuleType) -> None:
    names = {of["name"] for of in licences.npm()}
    # What builds and tests the page is not in it.
    assert {"preact", "uplot", "smol-toml"} <= names
    assert not {"esbuild", "typescript", "playwright-core", "axe-core"} & names


def test_without_their_texts_packages_of_the_page_are_compared_by_name(
    licences: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = {"": {}, "node_modules/x": {"version": "1", "license": "MIT"}}
    monkeypatch.setattr(licences, "WEB", tmp_path)
    monkeypatch.setattr(licences, "NOTICES", tmp_path / "NOTICES.txt")
    monkeypatch.setattr(licences, "crates", list)
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": lock}), encoding="utf-8")
    (tmp_path / "NOTICES.txt").write_text(f"{'-' * 100}\nx 1 (MIT)\n{'-' * 100}\n\nIts text.\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["licences.py"])
    assert licences.main() == 0
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": lock}).replace('"1"', '"2"'), encoding="utf-8")
    assert licences.main() == 1
    monkeypatch.setattr("sys.argv", ["licences.py", "--write"])
    assert licences.main() == 1
    assert "node_modules is missing: make web" in capsys.readouterr().err
