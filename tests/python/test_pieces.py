"""What each piece is worth: the page is that of its script, and the script runs."""

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pieces() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pieces", ROOT / "lab" / "scripts" / "pieces.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables(text: str) -> list[list[list[str]]]:
    """The cells of each table's rows."""
    found: list[list[list[str]]] = []
    for line in text.splitlines():
        if line.startswith("| change"):
            found.append([])
        elif line.startswith("| "):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_the_page_has_every_piece_in_every_table(pieces: ModuleType) -> None:
    page = (ROOT / "docs" / "pieces.md").read_text(encoding="utf-8")
    assert page.startswith(pieces.HEAD)
    kept = tables(page)
    assert len(kept) == len(pieces.TABLES)
    for rows, (_, _, _, columns) in zip(kept, pieces.TABLES, strict=True):
        assert [row[0] for row in rows] == [piece.name for piece in pieces.PIECES]
        assert all(re.fullmatch(r"\d+\.\d", cell) for row in rows for cell in row[1 : 1 + len(columns)])
    assert "## What it says" in page


def test_the_script_measures_every_piece(pieces: ModuleType) -> None:
    made = tables(pieces.page(runs=1, extra={"duration": "6 s", "warm_up": "5 s"}))
    assert [[row[0] for row in rows] for rows in made] == [[piece.name for piece in pieces.PIECES]] * 3
    totals = {row[0]: float(row[1]) for row in made[2]}
    assert totals["unchanged"] > 2 * totals["no flow queues: fifo"]
    assert all(math.isfinite(float(cell)) for row in made[2] for cell in row[1:3])
