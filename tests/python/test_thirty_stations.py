"""Thirty stations: the page is that of its script, and the script runs."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def thirty() -> ModuleType:
    spec = importlib.util.spec_from_file_location("thirty_stations", ROOT / "lab" / "scripts" / "thirty_stations.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_every_setting_and_every_rate(thirty: ModuleType) -> None:
    page = (ROOT / "docs" / "thirty-stations.md").read_text(encoding="utf-8")
    assert page.startswith(thirty.HEAD)
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| fast")]
    names = [row.strip("|").split("|")[0].strip() for row in rows]
    assert names == [*thirty.SETTINGS, *(f"{name.upper()}, {rate:g} Mbit/s" for name, rate in thirty.RATES.items())]
    assert all(re.fullmatch(r"[\d.]+", cell.strip()) for row in rows for cell in row.strip("|").split("|")[1:])
    assert "## What it says" in page
    assert (ROOT / "docs" / "thirty-stations.svg").is_file()


def test_a_faster_rate_carries_more(thirty: ModuleType) -> None:
    short = {"duration": "8 s"}
    slow, fast = (thirty.measure(thirty.fixed(rate), "airtime", short) for rate in ("mcs1", "mcs15"))
    assert fast.total > 1.5 * slow.total
    assert all(0 < row.slow < 100 and 0 < row.jain <= 1 for row in (slow, fast))


def test_between_two_rates_the_crossing_is_on_their_line(thirty: ModuleType) -> None:
    def row(total: float) -> object:
        return thirty.Row(total, 50.0, 1.0, {})

    rates = {
        "mcs1": {"airtime": row(10.0), "fq_codel": row(1.0)},
        "mcs3": {"airtime": row(20.0), "fq_codel": row(2.0)},
    }
    assert thirty.crossing(rates, "airtime", 15.0) == pytest.approx(((14.4 + 28.9) / 2, 1.5))
    assert thirty.crossing(rates, "airtime", 25.0) is None
