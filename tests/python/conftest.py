import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from importing import Importer
from stillair import Result, _native
from stillair.__main__ import status
from stillair.runs import bundled


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """Background processes of a shell ignore interrupts, so that tests of interrupts would hang."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def one_run(number: int, shift: float = 0.0) -> dict[str, Any]:
    """A run as the engine reports it, with round numbers."""
    fast = {
        "goodput_mbps": 30.0 + shift,
        "airtime_share": 0.5,
        "mean_aggregate": 16.0 + shift,
        "ping_median_ms": 10.0 + shift,
        "ping_p95_ms": 20.0,
    }
    slow = fast | {"goodput_mbps": 2.0, "mean_aggregate": 2.0, "ping_median_ms": None, "ping_p95_ms": None}
    return {
        "run": number,
        "seed": 1,
        "trace_hash": f"{number:016x}",
        "goodput_total_mbps": 32.0 + shift,
        "jain_airtime": 1.0,
        "stations": {"fast1": fast, "slow": slow},
        "drops": [{"place": "ap.wlan0", "reason": "overlimit", "packets": 100}] if number else [],
        "air": {"wifi": {"data_us": 750_000, "contention_us": 250_000}},
        "packets": {"entered": 1000, "delivered": 900},
    }


@pytest.fixture
def three_runs() -> Result:
    runs = [one_run(number, shift) for number, shift in enumerate((-1.0, 0.0, 1.0))]
    return Result({"version": "0.1.0", "scenario": "sample", "runs": runs})


@pytest.fixture
def single_run() -> Result:
    return Result({"version": "0.1.0", "scenario": "sample", "runs": [one_run(0)]})


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, three_runs: Result) -> Callable[[BaseException | None], list[Any]]:
    """Replaces the engine by a recorder of its arguments, which then answers or raises."""

    def install(error: BaseException | None = None) -> list[Any]:
        calls: list[Any] = []

        def run(
            *arguments: object,
            series: bool,
            keep: Callable[[str], object] | None,
            passed: object = None,
            kept: object = (),
        ) -> str:
            assert not series
            assert not kept
            assert passed is None or callable(passed)
            calls.append(arguments)
            if error is not None:
                raise error
            if keep is not None:
                for one in three_runs.runs:
                    keep(json.dumps(one))
            return three_runs.to_json()

        monkeypatch.setattr(_native, "run", run)
        resolved = json.dumps({"name": "sample"})
        monkeypatch.setattr(_native, "resolve", lambda *_: resolved)
        monkeypatch.setattr(_native, "describe", lambda *_: (resolved, "sample", [], (0, 0)))
        return calls

    return install


SHORT = ["--set", "duration=3 s", "--set", "warm_up=1 s"]
"""Overrides for a run long enough for some pings and steps."""


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result folder of two short runs by the real engine. Do not change it."""
    folder = tmp_path_factory.mktemp("results") / "kept"
    file = Path(bundled.scenario("anomaly-udp").file)
    assert status(["run", str(file), "--runs", "2", *SHORT, "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def kept_fifo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a FIFO, one run."""
    folder = tmp_path_factory.mktemp("results") / "fifo"
    file = Path(bundled.scenario("anomaly-udp").file)
    fifo = ["--set", "node.ap.interface.wlan0.scheme=fifo"]
    assert status(["run", str(file), *SHORT, *fifo, "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def importer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Importer:
    """Imports of texts in a folder of the test."""
    return Importer(tmp_path, capsys)
