"""The paper on bursty QUIC: its pictures match the recorded runs, and its orders are judged."""

import itertools
from typing import Any

import pytest

from stillair_lab.papers.artefacts.bquic import transfer as quic_run
from stillair_lab.papers.artefacts.bquic import variants as quic_variants
from stillair_lab.papers.artefacts.gallery import drawing
from stillair_lab.papers.measure import quic
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.pages import registry, report

SHORT = [("flow.0.bytes", "3 MB")]


def drawn(name: str, **extra: str) -> tuple[Measurer, report.Report, Any]:
    """An experiment on short transfers or loads, and its picture."""
    pytest.importorskip("matplotlib")
    (entry,) = registry.find(f"bquic/{name}")
    overrides = [(key.replace("__", "."), value) for key, value in extra.items()] or SHORT
    made = report.run([entry], report.prepare([entry]), runs=2, extra=overrides)
    of = made.measurer(entry)
    return of, made, drawing(of).picture(of)


@pytest.fixture(scope="module")
def window() -> tuple[Measurer, report.Report, Any]:
    return drawn("fig3-cwnd")


@pytest.fixture(scope="module")
def one_run(window: tuple[Measurer, report.Report, Any]) -> dict[str, Any]:
    """The records that Figures 3 to 6 draw."""
    return {proto: dict(quic_run.flow(window[0], proto)) for proto in quic_variants.TITLES}


def picture(name: str, window: tuple[Measurer, report.Report, Any]) -> Any:  # noqa: ANN401
    """Another figure of the same runs."""
    (entry,) = registry.find(f"bquic/{name}")
    of = Measurer(entry.experiment, window[0].plan, window[0].outcomes)
    return drawing(of).picture(of)


def test_the_run_that_is_drawn_is_the_first_of_those_that_are_judged(
    window: tuple[Measurer, report.Report, Any],
) -> None:
    of = window[0]
    for proto in quic_variants.TITLES:
        (kept,) = of.outcomes["one-run"].results[f"RP5, {proto}"].runs  # type: ignore[index]
        first, second = of.result({"client": "RP5", "proto": proto}).runs
        assert kept["trace_hash"] == first["trace_hash"] != second["trace_hash"]
        assert "run 0 of seed 1" in report.text(window[1])


def test_figure_3_is_the_window_after_each_acknowledgement(
    window: tuple[Measurer, report.Report, Any], one_run: dict[str, Any]
) -> None:
    (axes,) = window[2].axes
    curves = [line for line in axes.lines if line.get_label() in quic_variants.TITLES.values()]
    dots = [line for line in axes.lines if line not in curves]
    for line, dot, own in zip(curves, dots, one_run.values(), strict=True):
        traces = own["traces"]
        assert [y * 1350 for y in line.get_ydata()] == pytest.approx(traces["cwnd_bytes"])
        assert [x + own["established_s"] for x in line.get_xdata()] == pytest.approx(traces["t_s"])
        # The dot stands where the record first says that slow start is over.
        left = traces["slow_start"].index(False)
        assert dot.get_xdata()[0] == pytest.approx(traces["t_s"][left] - own["established_s"])
        assert dot.get_ydata()[0] * 1350 == pytest.approx(traces["cwnd_bytes"][left])


def test_figure_4_is_what_left_and_what_came_in_20_ms(
    window: tuple[Measurer, report.Report, Any], one_run: dict[str, Any]
) -> None:
    seen = 0
    for axes, own in zip(picture("fig4-sequence", window).axes, one_run.values(), strict=True):
        traces, begin = own["traces"], own["established_s"] + 1.0
        sent, acked = axes.lines
        left = [n for t, n in zip(traces["sent_t_s"], traces["sent_number"], strict=True) if begin <= t < begin + 0.02]
        seen += len(left)
        # A sender may wait for losses to be found all the time.
        first = left[0] if left else 0
        assert [y + first for y in sent.get_ydata()] == left
        came = [n for t, n in zip(traces["back_t_s"], traces["back_acked"], strict=True) if begin <= t < begin + 0.02]
        if left:
            assert [y + first for y in acked.get_ydata()] == [n for n in came if n]
            # What is acknowledged was sent before.
            assert max(acked.get_ydata()) < max(sent.get_ydata())
    assert seen > 3


def test_figure_5_is_the_gaps_of_the_capture(
    window: tuple[Measurer, report.Report, Any], one_run: dict[str, Any]
) -> None:
    histogram, cumulated = picture("fig5-ipt", window).axes
    for bars, curve, own in zip(histogram.lines, cumulated.lines, one_run.values(), strict=True):
        shares = dict(zip(curve.get_xdata(), curve.get_ydata(), strict=True))
        # The engine counts the short ones by themselves.
        assert shares[100.0] == pytest.approx(own["gaps_below_100us_percent"])
        longer = 100 * own["gaps"][-1] / sum(own["gaps"])
        assert shares[2000.0] == pytest.approx(100 - longer)
        assert sum(bars.get_ydata()) == pytest.approx(100 - longer)
        # And so do the times of the capture themselves.
        traces, since = own["traces"], own["established_s"]
        until = since + own["transfer_s"]
        times = [t for t in traces["sent_t_s"] if since <= t <= until]
        short = sum(b - a < 100e-6 for a, b in itertools.pairwise(times))
        assert 100 * short / (len(times) - 1) == pytest.approx(own["gaps_below_100us_percent"], abs=0.1)


def test_figure_6_is_the_throughput_by_50_ms(
    window: tuple[Measurer, report.Report, Any], one_run: dict[str, Any]
) -> None:
    (axes,) = picture("fig6-throughput", window).axes
    for line, own in zip(axes.lines, one_run.values(), strict=True):
        assert list(line.get_ydata()) == own["throughput_50ms_mbps"]
        assert line.get_xdata()[1] - line.get_xdata()[0] == pytest.approx(0.05)
        # Whole steps: together they carried nearly all of the 3 MB.
        assert 0.9 < sum(line.get_ydata()) * 0.05 / (8 * 3 * 1.04) < 1.01


def test_figure_2_has_the_mean_time_of_each_page_and_its_order_is_judged() -> None:
    of, made, figure = drawn("fig2-plt", duration="20 s")
    (axes,) = figure.axes
    sites = of.experiment.setup["sites"]
    assert [label.get_text() for label in axes.get_xticklabels()] == sites
    for bars, proto in zip([c for c in axes.containers if hasattr(c, "patches")], quic_variants.TITLES, strict=True):
        for bar, site in zip(bars.patches, sites, strict=True):
            loads = [run["page_load_s"] for run in of.result({"site": site, "proto": proto}).runs]
            assert bar.get_height() == pytest.approx(1000 * sum(loads) / len(loads))
    (order,) = [row for row in made.rows() if row["id"] == "bquic-f2-order"]
    assert order["verdict"] in ("reproduced", "not-reproduced")
    reduced = {site: of.of_cell({"site": site}, "reduction of mean page load time") for site in sites}
    for site, member in order["members"].items():
        # Over the runs: the mean of the reductions, and the reduction of the means; runs of a page differ.
        assert member["mean"] == pytest.approx(reduced[site].mean, abs=3.0)  # type: ignore[union-attr]


def test_a_stretch_without_packets_is_empty() -> None:
    traces = {"sent_t_s": [1.0], "sent_number": [7], "back_t_s": [1.0], "back_acked": [0]}
    flow = {"traces": traces, "established_s": 0.5}
    assert quic.stretch(flow, 0.6, 0.02) == (([], []), ([], []))
    assert quic.stretch(flow, 0.5, 0.02) == (([0.0], [0.0]), ([], []))
