"""The model of *Ending the Anomaly* compared with Table 1 of the paper, to the printed digit."""

from __future__ import annotations

import pytest

from stillair_lab.papers.measure.anomaly_model import (
    T_BO_US,
    Prediction,
    Station,
    aggregate_bytes,
    overhead_us,
    predict,
)

# paper: ending-the-anomaly table 1 - inputs: mean aggregate size and PHY rate (Mbit/s) as printed;
# results: share (%), rate alone and R(i) (Mbit/s) as printed.
TABLE_1 = {
    False: [
        (4.47, 144.4, "10", "97.3", "9.7"),
        (5.08, 144.4, "11", "101.1", "11.4"),
        (1.89, 7.2, "79", "6.5", "5.1"),
    ],
    True: [
        (18.44, 144.4, "33", "126.7", "42.2"),
        (18.52, 144.4, "33", "126.8", "42.3"),
        (1.89, 7.2, "33", "6.5", "2.2"),
    ],
}
PRINTED_TOTAL = {False: "26.4", True: "86.8"}

# Results of the model in the three cells whose printed digit does not follow from the printed inputs: R(i) of
# the second FIFO station, whose size was rounded before printing, and both totals, which are not the sums of
# their rows.
SECOND_FIFO_RATE = "11.3"
MODEL_TOTAL = {False: "26.2", True: "86.7"}


def column(fair: bool) -> list[Prediction]:
    return predict([Station(size, phy) for size, phy, *_ in TABLE_1[fair]], airtime_fair=fair)


@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("row", [0, 1, 2])
def test_rows_of_table_1(fair: bool, row: int) -> None:
    _, _, share, base, rate = TABLE_1[fair][row]
    got = column(fair)[row]
    assert f"{100 * got.share:.0f}" == share
    assert f"{got.base_mbps:.1f}" == base
    if (fair, row) == (False, 1):
        assert f"{got.rate_mbps:.1f}" == SECOND_FIFO_RATE != rate
    else:
        assert f"{got.rate_mbps:.1f}" == rate


@pytest.mark.parametrize("fair", [False, True])
def test_totals_are_the_sums_of_the_rows(fair: bool) -> None:
    total = sum(p.rate_mbps for p in column(fair))
    assert f"{total:.1f}" == MODEL_TOTAL[fair] != PRINTED_TOTAL[fair]


def test_second_fifo_rate_is_a_rounding_of_the_size() -> None:
    sizes = [4.47, 5.0825, 1.89]
    stations = [Station(n, phy) for n, (_, phy, *_) in zip(sizes, TABLE_1[False], strict=True)]
    assert f"{predict(stations, airtime_fair=False)[1].rate_mbps:.1f}" == "11.4"


@pytest.mark.parametrize("fair", [False, True])
def test_no_size_that_rounds_to_the_printed_one_reaches_the_printed_total(fair: bool) -> None:
    # In such a small range the total is monotonic in each size, so its extremes are at the corners.
    highest = 0.0
    for corner in range(8):
        sizes = [size + (0.005 if corner >> i & 1 else -0.005) for i, (size, *_) in enumerate(TABLE_1[fair])]
        stations = [Station(n, phy) for n, (_, phy, *_) in zip(sizes, TABLE_1[fair], strict=True)]
        highest = max(highest, sum(p.rate_mbps for p in predict(stations, airtime_fair=fair)))
    assert highest < float(PRINTED_TOTAL[fair]) - 0.05


def test_padding_and_overhead() -> None:
    assert aggregate_bytes(1, 1500) == 1544
    assert aggregate_bytes(1, 1498) == 1540
    assert T_BO_US == 67.5
    # 34 + 16 + (16 + 464 / 7.2) + 67.5
    assert overhead_us(7.2) == pytest.approx(197.9444, abs=1e-4)


def test_shares_sum_to_one() -> None:
    for fair in (False, True):
        assert sum(p.share for p in column(fair)) == pytest.approx(1)
