"""What Flent's netperf runner makes of a flow, step by step."""

from typing import Any

import pytest

from stillair.results.flent import test as flent_test
from stillair.results.series import Series

MBIT = 25_000  # bytes in 0.2 s


def series(counts: list[int]) -> Series:
    test = {"name": "tcp_1up", "from": "a", "to": "b", "length_ns": 10_000_000_000, "delay_ns": 1_000_000_000}
    flow: dict[str, Any] = {"name": "upload.b", "kind": "tcp", "from": "a", "to": "b", "station": None}
    flow |= {"tos": 0, "dscp": 0, "ac": "BE", "bytes": counts, "flent": "TCP upload"}
    data = {"step_ns": 200_000_000, "steps": len(counts), "duration_ns": 12_000_000_000, "warm_up_ns": 0}
    empty: dict[str, list[Any]] = {"stations": [], "drops": [], "queues": []}
    return Series(data | empty | {"flows": [flow], "test": test | {"streams": None}})


@pytest.mark.parametrize(
    ("during", "samples"),
    [
        ([MBIT, 2 * MBIT], [(1.2, 1.0), (1.4, 2.0)]),
        # Nothing for two steps: the next sample is of all three.
        ([MBIT, 0, 0, 3 * MBIT], [(1.2, 1.0), (1.8, 1.0)]),
        # 11 times the usual interval is no measurement, 10 times is one.
        ([MBIT, *[0] * 10, MBIT, MBIT], [(1.2, 1.0), (3.6, 1.0)]),
        ([MBIT, *[0] * 9, 10 * MBIT], [(1.2, 1.0), (3.2, 1.0)]),
    ],
)
def test_samples(during: list[int], samples: list[tuple[float, float]]) -> None:
    one = series([0] * 5 + during + [0] * (55 - len(during)))
    found = flent_test.throughput(one, one.flows[0])
    assert [(round(t, 9), pytest.approx(value)) for t, value in found] == samples
    grid = flent_test.on_grid(one, found)
    assert [step for step, value in enumerate(grid) if value is not None] == [round(t * 5) - 1 for t, _ in samples]


def test_what_arrives_after_the_load_is_no_sample() -> None:
    one = series([0] * 5 + [MBIT] * 50 + [7 * MBIT] * 5)
    assert len(flent_test.throughput(one, one.flows[0])) == 50


def test_what_flent_makes_of_series() -> None:
    results: dict[str, list[float | None]] = {
        "TCP upload BE": [1.0, None],
        "TCP upload EF": [3.0, None],
        "TCP download BE": [None, 5.0],
        "Ping (ms) ICMP": [2.0, None],
        "Ping (ms) UDP EF": [4.0, 6.0],
    }
    made = flent_test.made(results)
    assert made["TCP upload avg"] == [2.0, None]
    assert made["TCP upload sum"] == [4.0, None]
    assert made["TCP totals"] == [4.0, 5.0]
    assert made["Ping (ms) avg"] == [3.0, 6.0]
    assert "TCP upload fairness" not in made
    streams: dict[str, list[float | None]] = {"TCP upload::1": [1.0], "TCP upload::2": [3.0]}
    # (1 + 3)^2 / (2 (1 + 9))
    assert flent_test.made(streams)["TCP upload fairness"] == [pytest.approx(0.8)]
