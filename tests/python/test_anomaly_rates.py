"""The page about rates and losses: calibrations, verdicts, and the listed claims."""

import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stillair.runs import bundled
from stillair_lab.papers.runs import plan

SCRIPT = Path(__file__).resolve().parents[2] / "lab" / "scripts" / "anomaly_rates.py"


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
    def measured(ratios: Mapping[str, float], _runs: int) -> dict[str, float]:
        # More signal, more throughput: 1 Mbit/s a tenth of a decibel, and 0.2 less for the second station.
        fast1, fast2, slow = (ratios[name] for name in ("fast1", "fast2", "slow"))
        # The slow one is fitted beside the fast ones as they are fitted.
        assert slow == 60 or (fast1, fast2) == (26.9, 26.6)
        return {"fast1": 30 + 10 * (fast1 - 26), "fast2": 29.8 + 10 * (fast2 - 26), "slow": slow - 2.22}

    monkeypatch.setattr(script, "measured", measured)
    assert script.fit(3) == {"fast1": 26.9, "fast2": 26.6, "slow": 4.2}


def test_a_fit_at_an_end_of_the_ladder_is_none(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        script, "measured", lambda ratios, _runs: {"fast1": 30 + ratios["fast1"], "fast2": 35.6, "slow": 2}
    )
    with pytest.raises(SystemExit, match=r"fast1: the nearest is 26\.0 dB"):
        script.fit(3)


def interfaces(sets: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Wi-Fi interfaces of the stations of Table 1 with these overrides."""
    nodes = json.loads(bundled.scenario("anomaly-udp").resolve(sets))["nodes"]
    return {node["name"]: node["interfaces"] for node in nodes}


def test_the_three_settings_are_those_that_the_paper_is_judged_with(script: ModuleType) -> None:
    ratios = {"fast1": 27.0, "fast2": 26.7, "slow": 4.3}
    own = plan.plan(script.PAPER)
    made = (script.FIXED, script.everywhere(ratios), script.noisy(ratios))
    plans = [*own.others.values(), own]
    assert [setting.name for setting in made] == [*own.others, own.name]
    for setting, one in zip(made, plans, strict=True):
        cell = one.experiments["fig5-airtime-udp"].campaigns[0].cells[0]
        assert cell.overrides == {**dict(setting.sets), script.SCHEME: "fifo"}


def test_what_is_judged_is_what_the_page_says_was_fitted(script: ModuleType) -> None:
    told = re.search(r"scheduler: (.*)\.\n", script.PAGE.read_text(encoding="utf-8"))
    assert told
    ratios = {name: float(ratio) for ratio, name in re.findall(r"([\d.]+) dB \((\w+)\)", told[1])}
    own = plan.plan(script.PAPER).experiments["table1-model-udp"]
    cell = next(cell for cell in own.campaigns[0].cells if cell.name == "airtime")
    judged = {key: value for key, value in cell.overrides.items() if key != script.SCHEME}
    assert judged == dict(script.noisy(ratios).sets)
    (fit,) = [fit for fit in plan.plan(script.PAPER).calibrations if fit.settings]
    assert set(script.FITTED) == {*fit.to, "eta-t1-airtime-total-exp"}
    # Undone, it is the scenario as its file has it.
    undone = interfaces([*judged.items(), *script.FIXED.sets])
    assert undone == interfaces([])
    assert undone != interfaces(list(judged.items()))


def test_the_slow_station_may_have_rate_control_too(script: ModuleType) -> None:
    paths = {
        name: json.dumps(own)
        for name, own in interfaces(script.everywhere({"fast1": 27.0, "fast2": 26.7, "slow": 4.3}).sets).items()
    }
    assert '"ht_mcs": [0]' in paths["slow"]
    assert "ht_mcs" not in paths["fast1"]
    assert '"snr' in paths["fast1"]
    assert '"snr' not in paths["slow"]


def row(name: str, *found: tuple[str, object]) -> dict[str, Any]:
    """A claim with its verdicts by setting, of which the last is its own."""
    own = {"verdict": found[-1][0], "measured": found[-1][1]}
    settings = {
        key: {"verdict": verdict, "measured": measured}
        for key, (verdict, measured) in zip(("fixed", "rates"), found, strict=False)
    }
    beside = {"setting": "rates", "settings": settings} if len(found) > 1 else {}
    ordering = ["a", ["b", "c"]]
    return {"id": name, "paper": "p", "stated": ordering, "kind": "order", "unit": "", **own, **beside}


def test_claims_are_told_that_any_setting_misses(script: ModuleType) -> None:
    rows = [
        row("x", ("reproduced", ["a", "b", "c"]), ("not-reproduced", ["b", "a", "c"])),
        row("y", ("not-reproduced", ["b", "a"]), ("reproduced", ["a", "b"])),
        row("z", ("reproduced", 1.0), ("reproduced", 1.1)),
        row("w", ("reproduced", 2.0)),
    ]
    told = script.claims(rows)
    assert "| fixed | 2 of 3 reproduced (67 %) | 3 of 4 reproduced (75 %) |" in told
    assert "| rates | 2 of 3 reproduced (67 %) | 3 of 4 reproduced (75 %) |" in told
    assert "2 claims hold with all three settings, 0 with none, 2 with some." in told
    assert "| `x` | a < b / c | a < b < c, reproduced | b < a < c, **not-reproduced** |" in told
    assert "| `y` | a < b / c | b < a, **not-reproduced** | a < b, reproduced |" in told
    assert "`z`" not in told
    assert "`w`" not in told
