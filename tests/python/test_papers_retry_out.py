"""The paper on pseudo retry-out: worked examples by the receiver itself, scatter plots with chosen numbers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from stillair import Result
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.gallery import drawing
from stillair_lab.papers.claims import judge
from stillair_lab.papers.claims.inventory import experiments
from stillair_lab.papers.measure import scatter, worked_examples
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.pages import registry, report
from stillair_lab.papers.runs import plan
from stillair_lab.papers.runs.campaign import Outcome

PLAN = plan.plan("retry-out")
BY = scatter.placing(PLAN)
EXPERIMENTS = {e.id: e for e in experiments() if e.paper == "retry-out"}
EXAMPLES = ("fig3-idea", "fig4-worked-example", "table1-index")


def test_figure_4_goes_as_the_paper_prints_it() -> None:
    example = EXPERIMENTS["fig4-worked-example"]
    printed = worked_examples.events(example, {})
    waiting: set[int] = set()
    for row, after in zip(printed, worked_examples.replay(2, printed), strict=True):
        assert after["up"] == row["up"]
        # The paper names what came to wait in each A-MPDU, the receiver all that waits.
        waiting = (waiting | set(row["kept"])) - set(row["up"])
        assert set(after["kept"]) == waiting
        assert after["counts"] == row["counts"]
        assert after["ignored"] == row.get("ignored", [])
    assert worked_examples.replay(2, printed)[3]["lost"] == [4]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_judged_and_need_no_runs(name: str) -> None:
    (entry,) = registry.find(f"retry-out/{name}")
    assert entry.status == "yes"
    made = report.run([entry], report.prepare([entry]))
    verdicts = {row["id"]: row["verdict"] for row in made.rows()}
    assert set(verdicts.values()) == {judge.NOT_JUDGED if name == "table1-index" else judge.REPRODUCED}
    assert report.text(made).count("Index 2") == (name == "fig4-worked-example")
    of = made.measurer(entry)
    assert style.save(drawing(of).picture(of), "svg").startswith(b"<?xml")


def test_another_receiver_would_miss() -> None:
    """With index 3 frame 4 waits for A-MPDU 6, and with frame 10 broken throughout the order has no tenth."""

    def verdicts(**changed: Any) -> dict[str, str]:  # noqa: ANN401
        whole = EXPERIMENTS["fig4-worked-example"]
        example = replace(whole, setup={**whole.setup, **changed})
        of = Measurer(example, PLAN, {})
        return {c.id: judge.judge(c, of.cells(c)).verdict for c in example.claims}

    assert verdicts(index=3)["retry-f4-lost"] == judge.NOT_REPRODUCED
    assert verdicts(index=3)["retry-f4-delivered"] == judge.REPRODUCED
    late = [{"received": [1, 2, 3, 4], "crc_error": [4]}, {"received": [4], "crc_error": []}]
    assert verdicts(events=late)["retry-f4-delivered"] == judge.NOT_REPRODUCED


def test_the_table_is_the_access_points() -> None:
    assert worked_examples.table_of_index() == [(0, 25, 2), (25, 50, 5), (50, 100, 8), (100, None, None)]


def as_stated(sta: str, on: bool, rate: float) -> tuple[float, float, float]:
    """RTT, queue and throughput of a run as the paper has them."""
    shortened = sta in ("tsq", "codel")
    queue = 40.0 if on and rate < 50 else 100.0 if shortened else 600.0
    rtt = 200.0 if shortened else 700.0 if rate < 20 else 300.0
    return (50.0 if on and rate < 50 else rtt), queue, 0.7 * rate


Stated = Callable[[str, bool, float], tuple[float, float, float]]


def outcomes(stated: Stated = as_stated) -> dict[str, Outcome]:
    """The outcomes of both campaigns, in which distances have rates too."""

    def result(where: Any) -> Result:  # noqa: ANN401
        rate = float(where.get("rate", 0)) or 6.5 * float(where.get("snr", 0)) - 18
        rtt, queue, goodput = stated(where["sta"], where["ap_method"] == "on", rate)
        station = {"mean_rate_up_mbps": rate, "ping_mean_ms": rtt, "goodput_mbps": goodput}
        packets = {"qdisc": queue - 30, "driver": 30.0, "hardware": 8.0}
        queues = [
            {"interface": "sta.wlan0", "layer": layer, "packets": [n, n], "bytes": [0, 0]}
            for layer, n in packets.items()
        ]
        held = {"interval_ns": 10**9, "samples": 2, "queues": queues}
        made = {"run": 0, "seed": 1, "trace_hash": "0", "stations": {"sta": station}, "drops": [], "queues": held}
        return Result({"version": "0", "scenario": "chosen", "runs": [made]})

    own = PLAN.experiments["headline"].campaigns
    return {one.id: Outcome("", {cell.name: result(cell.where) for cell in one.cells}) for one in own}


def verdicts_of(found: dict[str, Outcome]) -> dict[str, str]:
    said = {}
    for example in EXPERIMENTS.values():
        of = Measurer(example, PLAN, found)
        if of.own.marks:
            said |= {claim.id: judge.judge(claim, of.cells(claim)).verdict for claim in example.claims}
    return {name: verdict for name, verdict in said.items() if verdict != judge.NOT_JUDGED}


def test_runs_as_the_paper_states_them_hold_every_claim() -> None:
    said = verdicts_of(outcomes())
    assert len(said) == 12
    assert set(said.values()) == {judge.REPRODUCED}


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        # The worst run of one kind of station is another one's.
        (lambda s, on, r: (1500 if (s, on) == ("mac", False) and r < 7 else as_stated(s, on, r)[0],
                           *as_stated(s, on, r)[1:]), {"retry-f6a-worst"}),
        (lambda s, on, r: (700 if s == "none" and not on and r < 30 else as_stated(s, on, r)[0],
                           *as_stated(s, on, r)[1:]), {"retry-f6a-knee"}),
        # The method does nothing: neither delay nor queue falls, and the queue is the same below and above.
        (lambda s, _, r: as_stated(s, False, r), {"retry-f6b-all", "retry-f7b-low", "retry-f7b-high"}),
        # It costs Windows a third of its throughput, at one rate.
        (lambda s, on, r: (*as_stated(s, on, r)[:2], r * (0.46 if s == "windows" and on and r == 39 else 0.7)),
         {"retry-f8b-similar"}),
        (lambda s, on, r: (*as_stated(s, on, r)[:2], r * (0.5 if s == "tsq" else 0.7)), {"retry-f8a-unaffected"}),
        # The plain station's queue is half as long at high rates.
        (lambda s, on, r: (as_stated(s, on, r)[0], 310 if s == "none" and r > 50 else as_stated(s, on, r)[1], 0.7 * r),
         {"retry-f7a-flat"}),
        (lambda s, on, r: (as_stated(s, on, r)[0], 20 if s == "tsq" else as_stated(s, on, r)[1], 0.7 * r),
         {"retry-f7a-aqm"}),
    ],
)  # fmt: skip
def test_other_runs_miss(changed: Stated, missed: set[str]) -> None:
    assert {
        name for name, verdict in verdicts_of(outcomes(changed)).items() if verdict == judge.NOT_REPRODUCED
    } == missed


def test_marks_of_the_house_have_its_errors() -> None:
    found = outcomes()
    own = PLAN.experiments["headline"]
    counts = {air: len(scatter.marks(PLAN, own, found, air)) for air in BY.airs}
    assert counts == dict.fromkeys(BY.airs, 5 * 2 * 10)
    cells = [cell for one in own.campaigns for cell in one.cells if scatter.under(BY, cell, "house")]
    taken = {(str(cell.where["rate"]), str(cell.where["error"])) for cell in cells}
    assert {("39", "20"), ("54", "10"), ("81", "10"), ("108", "5")} < taken
    assert len(taken) == 10


@pytest.mark.parametrize("name", ["fig6a-ping-without", "fig7b-queue-with", "fig8a-throughput-without", "headline"])
def test_scatter_plots_as_text_and_picture(name: str) -> None:
    of = Measurer(EXPERIMENTS[name], PLAN, outcomes())
    artefact = drawing(of)
    text = artefact.text(of)
    if name == "headline":
        rows = [line.split() for line in text.splitlines() if line.startswith("retry-")]
        assert len(rows) == 12
        assert all(row[1:] == ["reproduced"] * len(BY.airs) for row in rows)
    else:
        assert "13 Mbit/s" in text
        assert "16 dB" in text
    assert style.save(artefact.picture(of), "svg").startswith(b"<?xml")


def test_the_scenario_is_the_papers_house() -> None:
    (entry,) = registry.find("retry-out/fig6a")
    assert not any(report.prepare([entry]).values())
    made = report.run([entry], report.prepare([entry]), runs=1, extra=[("duration", "1 s")])
    assert {row["verdict"] for row in made.rows()} <= {judge.REPRODUCED, judge.NOT_REPRODUCED}
