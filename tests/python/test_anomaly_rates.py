"""The page about rate control: what is fitted, and what is told of the claims."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stillair import bundled

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "anomaly_rates.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("anomaly_rates", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_fit_finds_the_ratio_nearest_to_each_printed_rate(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(ratio: float, _runs: int) -> dict[str, float]:
        # More signal, more throughput: 1 Mbit/s a tenth of a decibel, and 0.2 less for the second station.
        return {"fast1": 30 + 10 * (ratio - 26), "fast2": 29.8 + 10 * (ratio - 26)}

    monkeypatch.setattr(script, "measured", measured)
    assert script.fit(3) == {"fast1": 26.9, "fast2": 26.6}


def test_a_fit_at_an_end_of_the_ladder_is_none(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "measured", lambda ratio, _runs: {"fast1": 30 + ratio, "fast2": 35.6})
    with pytest.raises(SystemExit, match=r"fast1: the nearest is 26\.0 dB"):
        script.fit(3)


def test_the_reader_takes_the_settings(script: ModuleType) -> None:
    setting = script.everywhere({"fast1": 27.0, "fast2": 26.7})
    nodes = json.loads(bundled.scenario("anomaly-udp").resolve(setting.sets))["nodes"]
    paths = {node["name"]: json.dumps(node["interfaces"]) for node in nodes}
    assert '"ht_mcs": [0]' in paths["slow"]
    assert "ht_mcs" not in paths["fast1"]
    # Its ratio, inherited from the first, is undone.
    assert '"snr' in paths["fast1"]
    assert '"snr' not in paths["slow"]


def row(name: str, verdict: str, measured: object) -> dict[str, Any]:
    ordering = ["a", ["b", "c"]]
    return {"id": name, "verdict": verdict, "measured": measured, "stated": ordering, "kind": "order", "unit": ""}


def test_claims_are_told_that_any_setting_misses(script: ModuleType) -> None:
    fixed = [row("x", "held", ["a", "b", "c"]), row("y", "missed", ["b", "a"]), row("z", "held", 1.0)]
    rates = [row("x", "missed", ["b", "a", "c"]), row("y", "held", ["a", "b"]), row("z", "held", 1.1)]
    thirty = [row("w", "held", 2.0)]
    told = script.claims({"fixed": fixed, "rates": rates}, thirty)
    assert "| fixed | 2 of 3 held (67 %) | 3 of 4 held (75 %) |" in told
    assert "| rates | 2 of 3 held (67 %) | 3 of 4 held (75 %) |" in told
    assert "| `x` | a < b / c | a < b < c, held | b < a < c, **missed** |" in told
    assert "| `y` | a < b / c | b < a, **missed** | a < b, held |" in told
    assert "`z`" not in told
    assert "`w`" not in told
