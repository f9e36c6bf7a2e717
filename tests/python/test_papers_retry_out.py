"""The paper on pseudo retry-out: its worked examples by the receiver itself."""

from dataclasses import replace
from typing import Any

import pytest

from stillair.papers import judge, plan, registry, report, style, worked
from stillair.papers.artefacts import ARTEFACTS
from stillair.papers.claims import experiments
from stillair.papers.measure import Measurer

PLAN = plan.plan("retry-out")
EXPERIMENTS = {e.id: e for e in experiments() if e.paper == "retry-out"}
EXAMPLES = ("fig3-idea", "fig4-worked-example", "table1-index")


def test_figure_4_goes_as_the_paper_prints_it() -> None:
    example = EXPERIMENTS["fig4-worked-example"]
    printed = worked.events(example, {})
    waiting: set[int] = set()
    for row, after in zip(printed, worked.replay(2, printed), strict=True):
        assert after["up"] == row["up"]
        # The paper names what came to wait in each A-MPDU, the receiver all that waits.
        waiting = (waiting | set(row["kept"])) - set(row["up"])
        assert set(after["kept"]) == waiting
        assert after["counts"] == row["counts"]
        assert after["ignored"] == row.get("ignored", [])
    assert worked.replay(2, printed)[3]["lost"] == [4]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_judged_and_need_no_runs(name: str) -> None:
    (entry,) = registry.find(f"retry-out/{name}")
    assert entry.status == "yes"
    made = report.run([entry], report.prepare([entry]))
    verdicts = {row["id"]: row["verdict"] for row in made.rows()}
    assert set(verdicts.values()) == {judge.NOT_JUDGED if name == "table1-index" else judge.HELD}
    assert report.text(made).count("Index 2") == (name == "fig4-worked-example")
    assert style.save(ARTEFACTS[entry.plan.draws].picture(made.measurer(entry)), "svg").startswith(b"<?xml")


def test_another_receiver_would_miss() -> None:
    """With index 3 frame 4 waits for A-MPDU 6, and with frame 10 broken throughout the order has no tenth."""

    def verdicts(**changed: Any) -> dict[str, str]:  # noqa: ANN401
        whole = EXPERIMENTS["fig4-worked-example"]
        example = replace(whole, setup={**whole.setup, **changed})
        of = Measurer(example, PLAN, {})
        return {c.id: judge.judge(c, of.cells(c)).verdict for c in example.claims}

    assert verdicts(index=3)["retry-f4-lost"] == judge.MISSED
    assert verdicts(index=3)["retry-f4-delivered"] == judge.HELD
    late = [{"received": [1, 2, 3, 4], "crc_error": [4]}, {"received": [4], "crc_error": []}]
    assert verdicts(events=late)["retry-f4-delivered"] == judge.MISSED


def test_the_table_is_the_access_points() -> None:
    assert worked.table_of_index() == [(0, 25, 2), (25, 50, 5), (50, 100, 8), (100, None, None)]
