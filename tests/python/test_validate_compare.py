"""Statistics, saw, bounds and verdicts."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillair.results.statistics import percentile
from stillair_lab.sawtooth import sawtooth
from stillair_lab.validate import bounds, compare, json_file, kernel_file, scenario
from stillair_lab.validate.outcome import Outcome, Socket
from stillair_lab.validate.quantities import QUANTITIES, of_kernel, of_model

KERNEL = kernel_file.bundled()


def subject(name: str) -> compare.Subject:
    file = kernel_file.read(KERNEL / f"{name}.json")
    return compare.subject(file, scenario.disciplines(file))


# The saw.


@pytest.mark.parametrize(
    ("name", "period_s", "depth"),
    [
        ("cc_cubic_50mbit_rtt20", 3.92, 0.709),
        ("cc_reno_50mbit_rtt20", 3.125, 0.511),
        ("cc_hybla_50mbit_rtt20", 6.5, 0.501),
        ("cc_scalable_50mbit_rtt20", 0.607, 0.894),
        ("cc_cubic_100mbit_rtt80_pfifo-limit-350", 10.75, 0.702),
    ],
)
def test_the_kernels_saws(name: str, period_s: float, depth: float) -> None:
    kernel = subject(name).kernel
    assert kernel["sawtooth_period_s"] == pytest.approx(period_s, abs=0.005)
    assert kernel["sawtooth_depth"] == pytest.approx(depth, abs=0.0005)


@pytest.mark.parametrize("name", ["cc_bbr_50mbit_rtt20", "cc_nv_50mbit_rtt20", "R100M_cubic_pfifo_fast_tsq"])
def test_what_has_no_saw(name: str) -> None:
    assert "sawtooth_period_s" not in subject(name).kernel


@pytest.mark.parametrize(
    ("windows", "found"),
    [
        ([], None),
        ([10.0] * 50, None),
        ([8, 9, 10, 5] * 2, None),  # one period
        ([8, 9, 10, 5] * 3, (0.4, 0.5)),
        ([8, 10, 7, 5] * 3, (0.4, 0.5)),  # a cut that two samples saw
        ([9.5, 10, 9.3] * 9, None),  # too shallow
        ([9.5, 10, 9.2] * 9, (0.3, 0.92)),
        ([8, 9, 10, 5, 8, 9, 10, 5, 9, 10, 5], (0.35, 0.5)),  # the mean of 0.4 and 0.3 s
    ],
)
def test_small_saws(windows: list[float], found: tuple[float, float] | None) -> None:
    saw = sawtooth(windows, 0.1)
    assert saw is None if found is None else saw == pytest.approx(found)


@given(st.integers(3, 40), st.integers(3, 8), st.floats(0.01, 0.8))
def test_a_made_saw_is_found(steps: int, cuts: int, left: float) -> None:
    rise = [left + (1 - left) * step / steps for step in range(steps + 1)]
    saw = sawtooth(rise * (cuts + 1), 0.5)
    assert saw is not None
    assert saw.period_s == pytest.approx(0.5 * (steps + 1))
    assert saw.depth == pytest.approx(left)


# Statistics.


def test_percentiles_are_those_of_the_files() -> None:
    file = kernel_file.read(KERNEL / "cc_scalable_50mbit_rtt20.json")
    windows = file.numbers("series", "cwnd") or []
    # Samples from 2.0 s on, the first of all being at 0.1 s.
    since = windows[19:]
    stated = file.measured["summary"]["from_2s"]["cwnd_pkts"]
    assert len(since) == stated["n"]
    assert statistics.mean(since) == pytest.approx(stated["mean"], abs=0.05)
    for per_cent, key in ((10, "p10"), (50, "median"), (90, "p90"), (95, "p95")):
        assert percentile(since, per_cent) == pytest.approx(stated[key], abs=0.05)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 100))
def test_a_percentile_lies_among_the_values(values: list[float], per_cent: float) -> None:
    assert min(values) <= percentile(values, per_cent) <= max(values)
    assert percentile(values, 50) == pytest.approx(statistics.median(values))


def socket(step_s: float, until_s: float, mbps: float, srtt_ms: float, cwnd: float, again: int) -> Socket:
    """A flow that does not change."""
    t_s = [step_s * (step + 1) for step in range(round(until_s / step_s))]
    acked = [t * mbps * 1e6 / 8 for t in t_s]
    return Socket(t_s, [srtt_ms] * len(t_s), [cwnd] * len(t_s), acked, again)


def test_our_run_by_the_same_statistics() -> None:
    of = subject("qdisc_codel_cubic4_20mbit_rtt20")
    sockets = [socket(0.1, 30, 4 + number, 20 + 10 * number, 10 + number, number) for number in range(4)]
    pings = [(0.1 * number, 100.0 if number < 20 else number / 10) for number in range(300)]
    found = of_model(Outcome(sockets, pings, {"cr": 3, "rs": 40, "rc": 500}), of.file)
    assert found == pytest.approx(
        {
            "goodput_mbps": 22,
            "srtt_median_ms": 35,
            "srtt_p90_ms": 50,
            "ping_median_ms": 15.95,
            "ping_mean_ms": 15.95,
            "ping_p95_ms": percentile([number / 10 for number in range(20, 300)], 95),
            "cwnd_mean_pkts": 11.5,
            "retransmissions": 6,
            "drops": 43,  # the kernel's file has no row for rc
            "jain": 22**2 / (4 * (16 + 25 + 36 + 49)),
        }
    )


def test_samples_of_our_run_count_from_two_seconds_on() -> None:
    of = subject("cc_cubic_50mbit_rtt20")
    steady = socket(0.05, 30, 40, 25, 100, 0)
    early = Socket(steady.t_s, [900.0] * 39 + [*steady.srtt_ms[39:]], [900.0] * 39 + [*steady.cwnd[39:]],
                   [0.0] * 39 + [*steady.bytes_acked[39:]], 0)  # fmt: skip
    assert early.t_s[39] == pytest.approx(2)
    found = of_model(Outcome([early], [], {}), of.file)
    assert found == pytest.approx(
        {"goodput_mbps": 40, "srtt_median_ms": 25, "srtt_p90_ms": 25, "cwnd_mean_pkts": 100, "retransmissions": 0,
         "drops": 0, "jain": 1}
    )  # fmt: skip


def test_flows_that_start_apart_count_over_the_same_time() -> None:
    of = subject("qdisc_codel_cubic4_20mbit_rtt20")
    whole = socket(0.1, 30, 8, 20, 10, 0)
    # It begins at 16 s: half of the 28 s are without it.
    late = Socket(whole.t_s[160:], whole.srtt_ms[160:], whole.cwnd[160:],
                  [acked - whole.bytes_acked[159] for acked in whole.bytes_acked[160:]], 0)  # fmt: skip
    found = of_model(Outcome([whole, late], [], {}), of.file)
    assert found["goodput_mbps"] == pytest.approx(8 + 8 * 14 / 28)


def test_our_saw_is_sampled_as_the_kernels_is() -> None:
    of = subject("cc_reno_50mbit_rtt20")
    # Twice as often sampled: every other one counts. A period of 2 s from 50 to 100.
    t_s = [0.05 * (step + 1) for step in range(600)]
    cwnd = [50 + 25 * (t % 2) for t in t_s]
    found = of_model(Outcome([Socket(t_s, [20.0] * 600, cwnd, [0.0] * 600, 0)], [], {}), of.file)
    assert found["sawtooth_period_s"] == pytest.approx(2, abs=0.02)
    assert found["sawtooth_depth"] == pytest.approx(0.5, abs=0.02)


# Bounds and verdicts.


@pytest.mark.parametrize(
    ("name", "compared"),
    [
        ("cc_cubic_50mbit_rtt20", set(QUANTITIES) - {"ping_mean_ms", "jain"}),
        ("cc_bbr_50mbit_rtt20", set(QUANTITIES) - {"ping_mean_ms", "jain"}),
        ("qdisc_sfq_cubic4_20mbit_rtt20", set(QUANTITIES)),
        ("R100M_cubic_pfifo_fast_tsq", set(QUANTITIES) - {"ping_mean_ms", "jain"}),
        ("R100M_cubic_fq_codel_tsq", set(QUANTITIES) - {"ping_mean_ms"}),
        ("R100M_bbr_pfifo_fast_tsq", {"goodput_mbps", "srtt_median_ms", "ping_median_ms"}),
    ],
)
def test_what_is_compared(name: str, compared: set[str]) -> None:
    of = subject(name)
    assert set(bounds.bounds(of.file.config, of.trees)) == compared


@pytest.mark.parametrize(
    ("bound", "value", "ends"),
    [
        (bounds.Bound(0.03), 100, (97, 103)),
        (bounds.Bound(0.1, 1.0), 3, (2, 4)),
        (bounds.Bound(0.1, 1.0), 40, (36, 44)),
        (bounds.Bound(0.1, 1.0), 0.4, (0, 1.4)),
        (bounds.Bound(1.0, 5.0, factor=True), 100, (50, 200)),
        (bounds.Bound(1.0, 5.0, factor=True), 4, (0, 9)),
        (bounds.Bound(1.0, 5.0, factor=True), 8, (3, 16)),
        (bounds.Bound(0.25, 5.0), 0, (0, 5)),
        (bounds.Bound(number=0.02), 0.97, (0.95, 0.99)),
    ],
)
def test_ends_of_bounds(bound: bounds.Bound, value: float, ends: tuple[float, float]) -> None:
    assert bound.ends(value) == pytest.approx(ends)


CASES: list[tuple[str, str, dict[str, float], dict[str, tuple[float, float, str]]]] = [
    (
        "single flow",
        "cc_reno_50mbit_rtt20",
        {"mbps": 47, "srtt_ms": 36, "cwnd": 129, "again": 150},
        {
            "goodput_mbps": (46.3786, 49.2474, "within"),
            "srtt_median_ms": (31.4379, 38.4241, "within"),
            "srtt_p90_ms": (34.1368, 51.2052, "within"),
            "cwnd_mean_pkts": (127.8, 156.2, "within"),
            "retransmissions": (100.5, 402, "within"),
            "sawtooth_period_s": (2.65625, 3.59375, "outside"),  # a flow that does not change has none
        },
    ),
    (
        "just outside",
        "cc_reno_50mbit_rtt20",
        {"mbps": 46.3, "srtt_ms": 31.4, "cwnd": 127.7, "again": 100},
        {
            "goodput_mbps": (46.3786, 49.2474, "outside"),
            "srtt_median_ms": (31.4379, 38.4241, "outside"),
            "srtt_p90_ms": (34.1368, 51.2052, "outside"),
            "cwnd_mean_pkts": (127.8, 156.2, "outside"),
            "retransmissions": (100.5, 402, "outside"),
        },
    ),
    (
        "four flows, a fair queue",
        "qdisc_fq_codel_cubic4_20mbit_rtt20",
        {"mbps": 4.7, "srtt_ms": 28, "cwnd": 11, "again": 90},
        {
            "goodput_mbps": (18.5503, 19.6977, "within"),
            "retransmissions": (202.5, 810, "within"),
            "drops": (303.75, 506.25, "outside"),
            "jain": (0.98, 1.0, "within"),
            "ping_mean_ms": (16.4032, 24.6048, "outside"),  # it was not pinged
        },
    ),
    (
        # The sibling has its median srtt at 7.75 ms against 8.35, which is less than 1 ms; its goodput is the same.
        "several flows of BBR",
        "R100M_bbr_pfifo_fast_tsq",
        {"mbps": 24, "srtt_ms": 8, "cwnd": 1, "again": 999},
        {"goodput_mbps": (92.764, 98.502, "within")},
    ),
]


@pytest.mark.parametrize(("about", "name", "flow", "expected"), CASES, ids=[case[0] for case in CASES])
def test_verdicts(about: str, name: str, flow: dict[str, Any], expected: dict[str, tuple[float, float, str]]) -> None:
    of = subject(name)
    ours = socket(0.1, 30, flow["mbps"], flow["srtt_ms"], flow["cwnd"], flow["again"])
    rows = compare.rows(of, Outcome([ours] * of.file.config.flows, [], {}), [of])
    found = {row.quantity: (row.low, row.high, row.verdict) for row in rows}
    for quantity, (low, high, verdict) in expected.items():
        assert found[quantity] == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4), verdict), about


def test_a_row_is_what_the_contract_says() -> None:
    of = subject("cc_nv_50mbit_rtt20")
    rows = compare.rows(of, Outcome([socket(0.1, 30, 47.8, 26, 101.123456789, 0)], [], {}), [of])
    assert [row.quantity for row in rows] == [name for name in QUANTITIES if name in {row.quantity for row in rows}]
    row = next(row for row in rows if row.quantity == "cwnd_mean_pkts").as_dict()
    assert row == {
        "file": "cc_nv_50mbit_rtt20.json", "quantity": "cwnd_mean_pkts", "kernel": 106.7, "model": 101.123,
        "low": 96.03, "high": 117.37, "verdict": "within",
    }  # fmt: skip
    pinged = next(row for row in rows if row.quantity == "ping_median_ms").as_dict()
    assert (pinged["model"], pinged["verdict"]) == (None, "outside")


def test_siblings_widen_each_others_bounds() -> None:
    pair = [subject(f"R100M_cubic_pfifo_fast_tsq{end}") for end in ("", "_stagger37")]
    other = subject("R100M_cubic_pfifo_fast_notsq_f1")
    ours = Outcome([socket(0.1, 30, 23.9, 100, 200, 20)] * 4, [], {})
    for of in pair:
        apart = abs(pair[0].kernel["cwnd_mean_pkts"] - pair[1].kernel["cwnd_mean_pkts"])
        for others in ([of, other], [*pair, other]):
            rows = {row.quantity: row for row in compare.rows(of, ours, others)}
            row = rows["cwnd_mean_pkts"]
            wide = max(0.1 * row.kernel, apart if len(others) == 3 else 0)
            assert (row.low, row.high) == pytest.approx((row.kernel - wide, row.kernel + wide))


def test_a_sibling_far_away(tmp_path: Path) -> None:
    paths = []
    for name, stagger, goodput in (("a", 0, 90.0), ("b", 37, 100.0), ("c", 50, 93.0)):
        text = (KERNEL / "R100M_cubic_pfifo_fast_tsq.json").read_text(encoding="utf-8")
        measured = json.loads(text)
        measured["config"] |= {"stagger_ms": stagger, "name": name}
        measured["summary"]["from_2s"]["goodput_mbps"] = goodput
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(measured), encoding="utf-8")
    files = [kernel_file.read(path) for path in paths]
    subjects = [compare.subject(file, scenario.disciplines(file)) for file in files]
    ours = Outcome([socket(0.1, 30, 24.9, 100, 200, 20)] * 4, [], {})
    found = [compare.rows(of, ours, subjects)[0] for of in subjects]
    assert [(row.low, row.high, row.verdict) for row in found] == [
        (80.0, 100.0, "within"),
        (90.0, 110.0, "within"),
        (pytest.approx(86.0), pytest.approx(100.0), "within"),
    ]


def test_the_kernel_is_within_its_own_bounds() -> None:
    for path in json_file.paths(KERNEL):
        of = subject(path.stem)
        for name, bound in bounds.bounds(of.file.config, of.trees).items():
            if name in of.kernel:
                low, high = bound.ends(of.kernel[name])
                assert low <= of.kernel[name] <= high


def test_drops_are_those_of_the_leaf(tmp_path: Path) -> None:
    measured = json.loads((KERNEL / "cc_reno_50mbit_rtt20.json").read_text(encoding="utf-8"))
    measured["qdisc_stats"]["rs"].insert(0, {"qdisc": "htb", "dropped": 999})
    path = tmp_path / "x.json"
    path.write_text(json.dumps(measured), encoding="utf-8")
    file = kernel_file.read(path)
    assert of_kernel(file, scenario.disciplines(file))["drops"] == 203
