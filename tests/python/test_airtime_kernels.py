"""Airtime scheduling by kernel: the page is that of its script, and every step runs."""

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest

from stillair.runs import bundled

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    spec = importlib.util.spec_from_file_location("airtime_kernels", ROOT / "scripts" / "airtime_kernels.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_every_step_in_every_table(kernels: ModuleType) -> None:
    page = (ROOT / "docs" / "airtime-kernels.md").read_text(encoding="utf-8")
    assert page.startswith(kernels.HEAD)
    names = [step.kernel for step in kernels.STEPS]
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in row] for row in rows if row[0].strip() != "kernel"]
    assert [row[0] for row in rows] == names * (1 + len(kernels.TABLES))
    assert all(re.fullmatch(r"\d+\.\d", cell) for row in rows[len(names) :] for cell in row[1:])
    assert "## What it says" in page
    assert (ROOT / "docs" / "airtime-kernels.svg").is_file()


def test_each_step_runs_and_all_with_a_scheduler_share_the_air(
    kernels: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "RUNS", 1)
    scenario, _, columns = kernels.TABLES[2]
    # Behind a FIFO under a flood no ping comes back so soon.
    columns = [name for name in columns if not name.startswith("ping")]
    short = {"duration": "6.5 s"}
    found = {step.kernel: kernels.measure(scenario, {**step.sets, **short}, columns) for step in kernels.STEPS}
    assert all(math.isfinite(value) for row in found.values() for value in row.values())
    assert found.pop("4.6")["share slow"] > 80
    assert 40 < found.pop("4.10")["share slow"] < 60
    assert all(27 < row["share slow"] < 36 for row in found.values()), found


def test_rules_of_a_kernel_that_is_unknown_are_refused() -> None:
    with pytest.raises(ValueError, match=r'found "linux-5\.13"'):
        bundled.scenario("anomaly-tcp").resolve(
            [("node.ap.interface.wlan0.scheme", '{ kind = "mac80211", kernel = "linux-5.13" }')]
        )
