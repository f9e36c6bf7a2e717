"""Pictures of long runs: what is left out of them may not be seen, and is said."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillair import plot
from stillair.cli.publish import page
from stillair.plot import downsample, style
from stillair.plot.data import Titled
from synthetic import SECOND, synthetic


def columns_of(x: list[float], y: list[float], until: float) -> dict[int, tuple[float, float]]:
    """The least and the greatest value of each column."""
    found: dict[int, tuple[float, float]] = {}
    for at, value in zip(x, y, strict=True):
        column = min(int(at * (downsample.COLUMNS / until)), downsample.COLUMNS - 1)
        low, high = found.get(column, (value, value))
        found[column] = (min(low, value), max(high, value))
    return found


@given(st.integers(2 * downsample.COLUMNS + 1, 3000), st.integers(1, 10_000), st.integers(0, 1000))
def test_an_envelope_has_the_extremes_of_each_column_and_nothing_else(count: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x: list[float] = sorted((rng.integers(0, most, count) / 100).tolist())
    y: list[float] = rng.integers(0, 1000, count).astype(float).tolist()
    drawn = downsample.envelope(x, y, 100.0)
    assert drawn.thinned
    assert len(drawn.x) <= 3 * downsample.COLUMNS
    there = ~np.isnan(drawn.x)
    assert columns_of(drawn.x[there].tolist(), drawn.y[there].tolist(), 100.0) == columns_of(x, y, 100.0)
    assert set(drawn.y[there]) <= set(y)


def test_a_column_without_a_value_is_a_gap() -> None:
    x = [n / 100 for n in range(10_000) if not 4000 <= n < 5000 or n == 4500]
    drawn = downsample.envelope(x, [1.0] * len(x), 100.0)
    gaps = [n for n, t in enumerate(drawn.x) if math.isnan(t)]
    assert len(gaps) == 2
    # What came alone within the silence is as wide as its column.
    assert drawn.x[gaps[0] + 1 : gaps[1]].tolist() == pytest.approx(
        [(216 + part) * 100 / downsample.COLUMNS for part in (0.1, 0.9)]
    )
    assert max(b - a for a, b in pairwise(drawn.x) if not math.isnan(b - a)) < 0.5


def test_few_values_are_drawn_as_they_are() -> None:
    x = [float(n) for n in range(2 * downsample.COLUMNS)]
    for drawn in (downsample.envelope(x, x, 2000.0), downsample.distribution(x, log=False)):
        assert not drawn.thinned
        assert drawn.x.tolist() == x
    assert downsample.stack(x, [x]).each == 1


@pytest.mark.parametrize("log", [False, True])
def test_a_distribution_is_exact_to_its_columns(log: bool) -> None:
    rng = np.random.default_rng(1)
    values = (10 ** rng.uniform(0, 3, 20_000)).tolist()
    drawn = downsample.distribution(values, log=log)
    assert drawn.thinned
    assert len(drawn.x) <= 2 * downsample.COLUMNS + 2
    in_order = sorted(values)
    for value, part in zip(drawn.x, drawn.y, strict=True):
        assert in_order[round(part * len(values)) - 1] == value
    axis = np.log(drawn.x) if log else drawn.x
    whole = np.log(in_order) if log else np.array(in_order)
    width = (whole[-1] - whole[0]) / downsample.COLUMNS
    # From one drawn point to the next there is either nothing or less than a column.
    for (a, part), (b, after) in pairwise(zip(axis, drawn.y, strict=True)):
        assert b - a <= 1.0001 * width or round((after - part) * len(values)) == 1


def test_means_are_stacked_and_the_sum_keeps_its_extremes() -> None:
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 100, (3, 10_001)).tolist()
    times = [float(n) for n in range(10_001)]
    drawn = downsample.stack(times, columns)
    assert drawn.each == 21
    assert len(drawn.t_s) <= downsample.COLUMNS
    sums = [sum(values) for values in zip(*columns, strict=True)]
    for n, (low, high) in enumerate(zip(drawn.least, drawn.greatest, strict=True)):
        part = slice(21 * n, 21 * (n + 1))
        assert (low, high) == (min(sums[part]), max(sums[part]))
        assert [column[n] for column in drawn.columns] == pytest.approx([np.mean(column[part]) for column in columns])


@pytest.mark.parametrize(
    ("seconds", "interval_ns", "step_ns", "stations", "most"),
    [
        (86_400, SECOND, SECOND, 1, 1_000_000),
        (600, SECOND // 100, SECOND // 5, 1, 1_000_000),
        (200, SECOND // 10, SECOND // 5, 30, 4_000_000),
    ],
    ids=["a-day-of-pings", "ten-minutes-of-many", "thirty-stations"],
)
def test_the_page_of_a_long_run_is_small_and_says_what_it_shows(
    seconds: int, interval_ns: int, step_ns: int, stations: int, most: int
) -> None:
    text = page.page("long", synthetic(seconds, interval_ns, step_ns, stations), "", [])
    assert 100_000 < len(text) < most
    captions = dict(re.findall(r'<figure id="(\w+)".*?<figcaption>(.*?)</figcaption>', text, re.DOTALL))
    width = seconds / downsample.COLUMNS
    columns = f"Each of {downsample.COLUMNS} columns, of {width:.3g} s, shows its smallest and its largest"
    assert columns in captions["timeseries"]
    assert "columns" not in captions["ping_cdf"] + captions["ping_cdf_log"]
    assert "the grey band spans the smallest to the largest sum" in captions["airtime_stacked"]
    # All dots of all stations are one image.
    assert len(re.findall("<image", text)) == 1


def test_a_file_says_it_below_the_picture() -> None:
    long = Titled("long", synthetic(600, SECOND // 10, SECOND // 5, 1))
    assert b"shows its smallest and its largest value" in plot.picture("timeseries", [long], "svg")
    short = Titled("short", synthetic(5, SECOND // 10, SECOND // 5, 1))
    assert b"shows its smallest and its largest value" not in plot.picture("timeseries", [short], "svg")


def test_thirty_stations_are_named_in_order_in_the_picture() -> None:
    text = plot.picture("ping_cdf", [Titled("many", synthetic(20, SECOND // 10, SECOND // 5, 30))], "svg").decode()
    assert re.findall(">(sta[0-9]+)<", text) == [f"sta{n + 1}" for n in range(30)]
    height = float(re.findall(r'viewBox="0 0 \S+ ([0-9.]+)"', text)[0])
    at = [float(y) for y in re.findall(r'y="([0-9.-]+)"[^>]*>sta', text)]
    at += [float(y) for y in re.findall(r"translate\(\S+ ([0-9.-]+)\)[^>]*>sta", text)]
    assert len(at) == 30
    assert all(0 < y < height for y in at)


def test_thirty_stations_have_a_colour_each() -> None:
    assert len({style.colour(n) for n in range(30)}) == 30
