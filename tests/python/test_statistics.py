import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillair.results.statistics import (
    Interval,
    Means,
    bounds,
    interval,
    median_interval,
    ratio_interval,
    spread,
    t_cdf,
    t_quantile,
)
from stillair.results.summary import figure

# spec: NIST/SEMATECH e-Handbook of Statistical Methods 1.3.6.7.2 - upper critical values of Student's t.
PUBLISHED = {
    1: {0.90: 3.078, 0.95: 6.314, 0.975: 12.706, 0.99: 31.821, 0.995: 63.657},
    2: {0.90: 1.886, 0.95: 2.920, 0.975: 4.303, 0.99: 6.965, 0.995: 9.925},
    3: {0.90: 1.638, 0.95: 2.353, 0.975: 3.182, 0.99: 4.541, 0.995: 5.841},
    4: {0.90: 1.533, 0.95: 2.132, 0.975: 2.776, 0.99: 3.747, 0.995: 4.604},
    9: {0.90: 1.383, 0.95: 1.833, 0.975: 2.262, 0.99: 2.821, 0.995: 3.250},
    10: {0.90: 1.372, 0.95: 1.812, 0.975: 2.228, 0.99: 2.764, 0.995: 3.169},
    29: {0.90: 1.311, 0.95: 1.699, 0.975: 2.045, 0.99: 2.462, 0.995: 2.756},
    30: {0.90: 1.310, 0.95: 1.697, 0.975: 2.042, 0.99: 2.457, 0.995: 2.750},
    60: {0.90: 1.296, 0.95: 1.671, 0.975: 2.000, 0.99: 2.390, 0.995: 2.660},
    100: {0.90: 1.290, 0.95: 1.660, 0.975: 1.984, 0.99: 2.364, 0.995: 2.626},
}


@pytest.mark.parametrize("freedom", PUBLISHED)
def test_quantiles_match_the_published_table_to_its_last_digit(freedom: int) -> None:
    for chance, published in PUBLISHED[freedom].items():
        assert round(t_quantile(chance, freedom), 3) == published


@given(chance=st.floats(0.001, 0.999), freedom=st.integers(1, 300))
def test_quantile_inverts_the_distribution(chance: float, freedom: int) -> None:
    assert math.isclose(t_cdf(t_quantile(chance, freedom), freedom), chance, abs_tol=1e-12)


def test_interval_of_a_worked_example() -> None:
    # Mean 2, standard error 1 / sqrt(3), t = 4.30265 with two degrees of freedom.
    mean, low, high = interval([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert low == pytest.approx(2 - 2.48414, abs=1e-5)
    assert high == pytest.approx(2 + 2.48414, abs=1e-5)


def test_one_run_has_no_spread() -> None:
    assert interval([7.5]) == (7.5, 7.5, 7.5)


def test_no_values_have_no_mean() -> None:
    with pytest.raises(ValueError, match="no values"):
        interval([])


@pytest.mark.parametrize(("chance", "freedom"), [(0.0, 1), (1.0, 1), (0.5, 0)])
def test_impossible_quantiles_are_refused(chance: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="needed"):
        t_quantile(chance, freedom)


@pytest.mark.parametrize(
    ("runs", "left_out"),
    # How many runs lie outside the interval at each end: the largest k with 2 P(Bin(n, 1/2) <= k) <= 5 %.
    [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (30, 9)],
)
def test_the_median_has_the_interval_of_the_sign_test(runs: int, left_out: int) -> None:
    assert median_interval([float(n) for n in range(runs, 0, -1)]) == (
        (runs + 1) / 2,
        1 + left_out,
        runs - left_out,
    )


def test_a_ratio_of_paired_runs_knows_what_they_share() -> None:
    below = [1.0, 2.0, 3.0, 6.0]
    assert ratio_interval([3 * value for value in below], below) == pytest.approx((3, 3, 3))
    # Means 4 and 2; residuals about 2 b are 1, -1, 0, 0 and their deviation over 2 is sqrt(2/3)/2.
    mean, low, high = ratio_interval([3.0, 3.0, 6.0, 4.0], [1.0, 2.0, 3.0, 2.0])
    half = 3.182446 * math.sqrt(2 / 3) / 2 / math.sqrt(4)
    assert (mean, low, high) == pytest.approx((2, 2 - half, 2 + half), rel=1e-6)


@pytest.mark.parametrize("over", [lambda: median_interval([]), lambda: ratio_interval([1.0], [0.0])])
def test_nothing_to_compare_is_an_error(over: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"no values|to nothing"):
        over()


BOUNDED = {
    **dict.fromkeys(("jain_airtime", "airtime_share", "loss", "late"), (0, 1)),
    **dict.fromkeys(("mos", "mos_flent_1_2"), (1, 4.5)),
    **dict.fromkeys(("loss_percent", "qoo"), (0, 100)),
}


@pytest.mark.parametrize(("key", "ends"), BOUNDED.items())
@given(parts=st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_intervals_of_bounded_figures_stay_within_their_bounds(
    key: str, ends: tuple[float, float], parts: list[float]
) -> None:
    low, high = ends
    values = [min(high, low + part * (high - low)) for part in parts]
    means = Means()
    for number, value in enumerate(values):
        means.add({"run": number, "drops": [], key: value, "flows": {"a.b": {key: value}}})
    over = means.summary()
    free = interval(values)
    for found in (over[key], over["flows"]["a.b"][key]):
        assert found["mean"] == free.mean
        # As wide as without bounds wherever they allow it.
        assert found["low"] == pytest.approx(max(low, min(free.low, free.mean)))
        assert found["high"] == pytest.approx(min(high, max(free.high, free.mean)))
        assert low <= found["low"] <= found["high"] <= high


def test_bounds_hold_only_for_values_that_respect_them() -> None:
    # The loss of a part of one's own may be in per cent.
    assert interval([1.0, 3.0], within=bounds("loss")) == interval([1.0, 3.0])
    assert bounds("goodput_mbps") is None
    assert interval([0.1, 2.0]).low < 0


@pytest.mark.parametrize(
    ("of", "digits", "said"),
    [
        (Interval(5.0, 4.88, 5.12), 2, "±0.12"),
        (Interval(0.998, 0.994, 1.0), 3, "+0.002/-0.004"),
        (Interval(0.5, 0.0, 2.0), 1, "+1.5/-0.5"),
        (Interval(0.9999, 0.9997, 1.0), 2, "±0.00"),
        (Interval(1.0, 1.0, 1.0), 2, ""),
    ],
)
def test_an_interval_at_a_bound_shows_both_sides(of: Interval, digits: int, said: str) -> None:
    assert spread(of, digits) == said


def test_a_figure_of_some_runs_says_of_how_many() -> None:
    means = Means()
    for run in range(300):
        late = {"p99_ms": 10.0} if run < 45 else {"p99_ms": None}
        means.add({"pings": {"a": {**late, "sent": 5}}, "drops": []})
    of = means.summary()["pings"]["a"]
    assert of["sent"] == {"mean": 5.0, "low": 5.0, "high": 5.0}
    assert (of["p99_ms"]["runs"], of["p99_ms"]["all_runs"]) == (45, 300)
    assert figure(of["p99_ms"]) == "10.00 (45 of 300 runs)"
    assert figure(of["sent"]) == "5.00"
