import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError, Result
from stillair.__main__ import status
from stillair.papers import registry, table1
from stillair.papers.claims import experiments

Engine = Callable[..., list[Any]]


def printed(scheme: str, station: str, metric: str) -> float:
    table = next(e for e in experiments() if e.id == "table1-model-udp")
    return table.printed()[scheme, station, metric]


def as_printed(scheme: str) -> Result:
    """The result that a testbed with the paper's own numbers would give."""
    stations = {
        name: {
            "goodput_mbps": printed(scheme, name, "measured UDP throughput"),
            "mean_aggregate": printed(scheme, name, "mean aggregate size"),
            "airtime_share": printed(scheme, name, "airtime share T(i)") / 100,
        }
        for name in table1.STATIONS
    }
    run = {
        "run": 0,
        "seed": 1,
        "trace_hash": "0",
        "goodput_total_mbps": printed(scheme, "total", "measured UDP throughput"),
        "jain_airtime": 1.0,
        "stations": stations,
        "drops": [],
    }
    return Result({"version": "0", "scenario": "as printed", "runs": [run]})


@pytest.fixture
def cells() -> dict[str, Result]:
    return {name: as_printed("airtime" if name.startswith("airtime") else "fifo") for name in table1.CELLS}


def test_the_papers_numbers_come_back_as_the_papers_claims(cells: dict[str, Result]) -> None:
    measured = table1.measure(cells).claims
    table = next(e for e in experiments() if e.id == "table1-model-udp")
    for claim in table.claims:
        if claim.role == "measured":
            assert measured[claim.id].mean == claim.value, claim.id
        if claim.role == "input":
            assert claim.id not in measured
    assert measured["eta-t1-factor"].mean == pytest.approx(76.4 / 18.7)
    assert measured["eta-f5-slow"].mean == pytest.approx(79)
    assert measured["eta-f5-fast"].mean == pytest.approx(21)
    assert measured["eta-f5-airtime"].mean == pytest.approx(33)


def test_ours_stands_before_the_papers(cells: dict[str, Result]) -> None:
    text = table1.measure(cells).text
    assert any(line.split()[:3] == ["fast1", "4.47", "4.47"] for line in text.splitlines())
    assert [line.split()[-2:] for line in text.splitlines() if line.startswith("total")] == [
        ["18.7", "18.7"],
        ["76.4", "76.4"],
    ]
    assert "slow 80, fast1 + fast2 20" in text


def test_a_station_that_sent_nothing_leaves_holes_and_no_error(cells: dict[str, Result]) -> None:
    silent = {"goodput_mbps": None, "mean_aggregate": None, "airtime_share": None}
    cells["fifo"].runs[0]["stations"]["slow"] = silent
    measured = table1.measure(cells)
    assert "eta-t1-fifo-slow-aggr" not in measured.claims
    assert any(line.split()[:2] == ["slow", "-"] for line in measured.text.splitlines())


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("ending-the-anomaly/table1-model-udp", ["table1-model-udp"]),
        ("ending-the-anomaly/table1", ["table1-model-udp"]),
        ("ending-the-anomaly/tab", ["table1-model-udp", "table2-voip"]),
        ("ending-the-anomaly/fig1", ["fig1-latency"]),
    ],
)
def test_any_beginning_names_an_experiment(name: str, ids: list[str]) -> None:
    found = [entry.experiment.id for entry in registry.find(name)]
    assert found == ids


def test_a_paper_alone_names_all_its_experiments() -> None:
    assert registry.find("ending") == [e for e in registry.entries() if e.experiment.paper == "ending-the-anomaly"]
    assert registry.find("all") == registry.entries()
    with pytest.raises(InputError, match="begins so"):
        registry.find("ending/table1")


def test_claim_ids_are_unique() -> None:
    ids = [claim.id for experiment in experiments() for claim in experiment.claims]
    assert len(ids) == len(set(ids))


def test_experiments_that_share_runs_run_once(
    monkeypatch: pytest.MonkeyPatch, cells: dict[str, Result], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def cell(_scenario: object, overrides: dict[str, str], *_rest: object, **_named: object) -> Result:
        name = next(name for name, settings in table1.CELLS.items() if settings == overrides)
        ran.append(name)
        return cells[name]

    monkeypatch.setattr(table1, "_cell", cell)
    assert status(["paper", "ending-the-anomaly", "--json", "-o", str(tmp_path)]) == 0
    assert ran == list(table1.CELLS)
    claims = {claim["id"]: claim for claim in json.loads(capsys.readouterr().out)}
    assert claims["eta-t1-fifo-fast1-aggr"]["measured"] == 4.47
    assert claims["eta-t1-fifo-fast1-phy"]["reason"] == "the number is an input of the experiment"
    assert claims["eta-f1-before"]["verdict"] == "not-run"
    assert {"id", "paper", "experiment", "stated", "measured", "low", "high", "unit", "verdict"} <= set(
        claims["eta-t1-factor"]
    )
    assert json.loads((tmp_path / "claims.json").read_text()) == list(claims.values())
    assert "Table 1" in (tmp_path / "report.txt").read_text()
