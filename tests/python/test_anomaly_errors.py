"""The page about errors on the radio: what is fitted, and what is told of the claims."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "anomaly_errors.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("anomaly_errors", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_fit_finds_the_errors_that_give_the_printed_rates(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {"fast1": 41.0, "fast2": 41.0, "slow": 1.9}

    def measured(errors: Mapping[str, float]) -> dict[str, float]:
        # A lost frame costs a little more than its own time.
        return {station: whole[station] * (1 - rate) / (1 + 0.1 * rate) for station, rate in errors.items()}

    monkeypatch.setattr(script, "measured", measured)
    found = script.fit()
    got = measured(found)
    assert got["fast1"] == pytest.approx(38.8, abs=0.01)
    assert got["fast2"] == pytest.approx(35.6, abs=0.01)
    # A station that is slower than printed without errors gets none.
    assert found["slow"] == 0.0


def row(name: str, verdict: str, measured: object) -> dict[str, Any]:
    ordering = ["a", ["b", "c"]]
    return {"id": name, "verdict": verdict, "measured": measured, "stated": ordering, "kind": "order", "unit": ""}


def test_claims_are_told_that_change_or_are_missed_by_both(script: ModuleType) -> None:
    without = [row("x", "held", ["a", "b", "c"]), row("y", "missed", ["b", "a"]), row("z", "held", 1.0)]
    rows = [row("x", "missed", ["b", "a", "c"]), row("y", "missed", ["b", "a"])]
    told = script.part({"fast1": 0.05, "fast2": 0.1, "slow": 0.0}, rows, without, 7)
    assert "| no errors | 1 of 2 held (50 %) | 2 of 3 held (67 %) |" in told
    assert "| errors fitted | 0 of 2 held (0 %) | 1 of 3 held (33 %) |" in told
    assert "| `x` | a < b / c | a < b < c | b < a < c | held -> **missed** |" in told
    assert "| `y` | a < b / c | b < a | b < a | missed |" in told
    assert "`z`" not in told
