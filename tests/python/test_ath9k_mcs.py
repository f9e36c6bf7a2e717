"""The page of measurements by MCS: every measurement is there, with the scenario's result."""

import csv
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "ath9k-mcs.md"
NUMBER = re.compile(r"-?\d+\.?\d*")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ath9k_mcs", ROOT / "lab" / "scripts" / "ath9k_mcs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _table(title: str) -> list[list[float]]:
    page = PAGE.read_text()
    text = page[page.index(f"### {title}\n") :].partition("\nMedians")[0]
    return [[float(n) for n in NUMBER.findall(line)] for line in text.splitlines() if re.match(r"\| \d", line)]


def test_the_page_has_every_measurement(script: ModuleType) -> None:
    with script.MEASURED.open() as file:
        downloads = [r for r in csv.DictReader(file) if (r["direction"], r["length_s"]) == ("ap-to-stations", "30")]
    assert sum(len(script.measured(case)) for case in script.CASES) == len(downloads) == 96
    for case in script.CASES:
        rows, table = script.measured(case), _table(case.title)
        assert [row[0] for row in table] == sorted(rows) == list(range(16))
        for mcs, there, _, _, before, _, _ in table:
            assert there == pytest.approx(float(rows[int(mcs)]["sum_mbps"]), abs=0.051)
            assert before == pytest.approx(float(rows[int(mcs)]["ping_p50_ms"]), abs=0.051)


def test_the_page_has_what_the_scenario_gives(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    case = script.CASES[0]
    two = {mcs: row for mcs, row in script.measured(case).items() if mcs in (3, 12)}
    monkeypatch.setattr(script, "measured", lambda _: two)
    page = PAGE.read_text()
    lines = [line for line in script.told(case, script.cells(case)).splitlines() if line.startswith(("| 3 ", "| 12 "))]
    assert len(lines) == 2
    assert all(line in page for line in lines)
