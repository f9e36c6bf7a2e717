"""The prose check: patterns it finds, sentences it accepts, and that it reads each kind of text."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose", ROOT / "scripts" / "prose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BAD = ["What it may write at each time.", "A line shaped one way is told of.", "The table is made anew."]
GOOD = ["Bytes released at each write time.", "`check` warns about such a line.", "The table is regenerated."]


@pytest.mark.parametrize(
    ("how", "text"),
    [("rust", "    /// {}\n    pub a: u8,\n"), ("python", 'def f():\n    """{}"""\n'), ("markdown", "# Page\n\n{}\n")],
)
def test_each_kind_of_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prose: ModuleType, how: str, text: str
) -> None:
    for at, sentence in enumerate(BAD + GOOD):
        (tmp_path / f"{at}.txt").write_text(text.format(sentence))
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "AREAS", {"here": (["*.txt"], how)})
    found, count = prose.hits("here")
    assert (len(found), count) == (len(BAD), len(BAD + GOOD))
    assert [one.partition(": ")[2] for one in found] == BAD


def test_a_share_above_the_limit_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prose: ModuleType) -> None:
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "AREAS", {"here": (["*.txt"], "markdown")})
    monkeypatch.setattr("sys.argv", ["prose.py"])
    (tmp_path / "a.txt").write_text(GOOD[0])
    assert prose.main() == 0
    (tmp_path / "a.txt").write_text("\n\n".join([BAD[0], *GOOD]))
    assert prose.main() == 1


def test_every_area_has_sentences(prose: ModuleType) -> None:
    for area in prose.AREAS:
        assert prose.hits(area)[1] > 50, area
