"""The tutorial runs from its first cell to its last, and shows what its text says."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from stillair import Picture, Result, SweepResult

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.py"


def cells() -> list[tuple[str, str]]:
    """The kind and the text of each cell, as jupytext reads the percent format."""
    parts = re.split(r"^# %%(.*)\n", TUTORIAL.read_text(encoding="utf-8"), flags=re.M)
    return [(kind.strip() or "code", text.strip()) for kind, text in zip(parts[1::2], parts[2::2], strict=True)]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """What each cell of code shows: the value of its last line."""
    names: dict[str, object] = {"__name__": "__main__"}
    found: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("tutorial"))
        for kind, text in cells():
            if kind != "code":
                continue
            tree = ast.parse(text, str(TUTORIAL))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, str(TUTORIAL), "exec"), names)  # noqa: S102 - our own text
            if last is not None:
                value = eval(compile(ast.Expression(last.value), str(TUTORIAL), "eval"), names)  # noqa: S307
                found.append(value)
    return found


def test_text_stands_between_all_cells() -> None:
    kinds = [kind for kind, _ in cells()]
    assert set(kinds) == {"code", "[markdown]"}
    for kind, text in cells():
        if kind != "code":
            assert all(line.startswith("#") for line in text.splitlines())


def test_every_cell_runs_and_shows_something_in_a_notebook(shown: list[object]) -> None:
    assert len(shown) == 9
    for value in shown:
        html = getattr(value, "_repr_html_", None)
        assert isinstance(value, float | Mapping) or "<" in html()
    assert [type(value) for value in shown if isinstance(value, Result | Picture | SweepResult)] == [
        Result, Result, Picture, SweepResult
    ]  # fmt: skip


def test_what_the_text_says_is_so(shown: list[object]) -> None:
    fifo, fair = (value for value in shown if isinstance(value, Result))
    for before, after in zip(fifo.runs, fair.runs, strict=True):
        near, far = before["stations"]["near"], before["stations"]["far"]
        assert near["goodput_mbps"] > far["goodput_mbps"]
        assert near["airtime_share"] < far["airtime_share"]  # type: ignore[operator]
        assert after["stations"]["far"]["airtime_share"] == pytest.approx(0.5, abs=0.1)
        assert after["stations"]["near"]["goodput_mbps"] > 1.5 * near["goodput_mbps"]
