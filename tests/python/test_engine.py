"""The real engine through the package: the contract of its report, determinism, errors and interrupts."""

import signal
from typing import Any

import pytest

from stillair import InputError, Result, Scenario
from stillair.__main__ import status
from stillair.runs import bundled

SHORT = {"duration": "1 s", "warm_up": "0.2 s"}
STATION = {"goodput_mbps", "airtime_share", "mean_aggregate", "ping_median_ms", "ping_p95_ms"}


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return bundled.scenario("anomaly-udp")


def test_the_report_has_the_keys_of_the_contract(scenario: Scenario) -> None:
    result = scenario.run(runs=2, jobs=2, overrides=SHORT)
    assert result.scenario == "anomaly-udp"
    assert [run["run"] for run in result.runs] == [0, 1]
    for run in result.runs:
        assert {"seed", "trace_hash", "goodput_total_mbps", "jain_airtime", "stations", "drops"} <= set(run)
        assert set(run["stations"]) == {"fast1", "fast2", "slow"}
        assert all(set(station) >= STATION for station in run["stations"].values())
    assert Result.from_json(result.to_json()).runs == result.runs


def test_runs_differ_and_repeat_for_any_number_of_workers(scenario: Scenario) -> None:
    first = scenario.run(runs=3, jobs=1, overrides=SHORT).runs
    assert scenario.run(runs=3, jobs=3, overrides=SHORT).runs == first
    assert scenario.run(runs=1, jobs=1, first_run=2, overrides=SHORT).runs == first[2:]
    assert len({run["trace_hash"] for run in first}) == 3


def test_progress_counts_every_run(scenario: Scenario) -> None:
    heard: list[int] = []
    scenario.run(runs=4, jobs=2, overrides=SHORT, progress=heard.append)
    assert sorted(heard) == [1, 2, 3, 4]


def test_an_interrupt_ends_the_call(scenario: Scenario) -> None:
    def interrupt(_finished: int) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        scenario.run(runs=1_000_000, jobs=1, overrides=SHORT, progress=interrupt)


def test_an_error_of_the_callback_ends_the_call(scenario: Scenario) -> None:
    def fail(finished: int) -> None:
        raise LookupError(finished)

    with pytest.raises(LookupError):
        scenario.run(runs=1_000_000, jobs=1, overrides=SHORT, progress=fail)


def test_a_bad_scenario_names_file_and_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ANN401
    path = tmp_path / "broken.toml"
    path.write_text('name = "broken"\nbad = [\n', encoding="utf-8")
    assert status(["run", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"stillair: {path}:2")
    with pytest.raises(InputError):
        Scenario(path).resolve()
