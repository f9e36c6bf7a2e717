"""Packed runs: the same numbers in a fraction of the memory."""

import json
import tracemalloc
from typing import Any

import pytest

from stillair import InputError, Scenario
from stillair.results.series import Series
from stillair.runs import bundled
from stillair_lab.papers.measure import samples
from stillair_lab.papers.runs import campaign
from stillair_lab.papers.runs.compressed import PackedRun
from stillair_lab.papers.runs.plan import Campaign, CellPlan

SHORT = {"duration": '"8 s"', "warm_up": '"5 s"', "record.ss": '"100 ms"', "record.queues": '"100 ms"'}


def runs_of(scenario: Scenario, count: int = 1) -> list[str]:
    kept: list[str] = []
    scenario.run_text(count, jobs=1, overrides=SHORT, series=True, keep=kept.append)
    return kept


@pytest.fixture(scope="module")
def text() -> str:
    return runs_of(bundled.scenario("anomaly-tcp"))[0]


def test_what_is_read_of_a_run_is_as_the_engine_wrote_it(text: str) -> None:
    whole: dict[str, Any] = json.loads(text)
    packed = PackedRun(text)
    assert {"sockets", "queues", "stations"} <= packed.keys()
    assert whole.keys() - packed.keys() == {"series", "rc_stats", "qdiscs", "losses"} & whole.keys()
    assert len(packed) == len(list(packed))
    # As text: 1 and 1.0 are equal, and are not the same.
    assert all(json.dumps(packed[key]) == json.dumps(whole[key]) for key in packed)
    series = Series(whole["series"])
    assert packed.series().flows == series.flows
    assert packed.series().measured_ns() == series.measured_ns()


def test_a_run_without_series_says_so(text: str) -> None:
    run = json.loads(text)
    del run["series"]
    with pytest.raises(InputError, match="no series"):
        PackedRun(json.dumps(run)).series()


def test_a_packed_run_takes_less_memory_than_its_text(text: str) -> None:
    tracemalloc.start()
    try:
        run = PackedRun(text)
        packed = tracemalloc.get_traced_memory()[0]
        parsed = json.loads(text)
        both = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert parsed["run"] == run["run"]
    assert packed < len(text) / 2
    assert both - packed > 3 * packed


def test_a_campaign_keeps_its_runs_packed_and_in_order() -> None:
    cell = CellPlan("as it stands", {}, SHORT)
    outcome = campaign.run(Campaign("sample", "tcp", "anomaly-tcp", "", (cell,), series=True), 3, jobs=2)
    assert outcome.results is not None
    kept = outcome.results["as it stands"]
    plain = bundled.scenario("anomaly-tcp").run(3, jobs=1, overrides=SHORT, series=True)
    assert (kept.scenario, kept.version) == (plain.scenario, plain.version)
    assert all(isinstance(run, PackedRun) for run in kept.runs)
    assert [run["trace_hash"] for run in kept.runs] == [run["trace_hash"] for run in plain.runs]
    for mine, its in zip(kept.runs, plain.runs, strict=True):
        assert samples.pings(kept, mine) == samples.pings(plain, its) != []
        for what, statistic in (("srtt_ms", "p90"), ("pacing_mbps", "mean"), ("goodput_mbps", "mean")):
            assert samples.of_run(kept, mine, what, statistic) == samples.of_run(plain, its, what, statistic)
    assert kept.summary()["stations"] == plain.summary()["stations"]


def test_a_campaign_without_series_has_none() -> None:
    cell = CellPlan("as it stands", {}, SHORT)
    outcome = campaign.run(Campaign("sample", "tcp", "anomaly-tcp", "", (cell,)), 1, jobs=1)
    assert outcome.results is not None
    with pytest.raises(InputError, match="no series"):
        outcome.results["as it stands"].run_with_series(0)
