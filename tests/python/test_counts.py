"""What verdicts come to."""

from typing import Any

import pytest

from stillair_lab.papers.robustness import counts, non_discriminating


def row(verdict: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    plain = {"paper": "p", "kind": "value", "stated": 10.0, "measured": 12.0, "verdict": verdict}
    chance = {"counted": False, "off": None, "draws": 0.1, "why": "", "worked": False}
    return {**plain, "non_discriminating": chance, **more}


def easy(**chance: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"counted": True, "off": None, "draws": None, "why": "", "worked": False, **chance}


ROWS = [
    row("reproduced", non_discriminating=easy(off="reproduced", why=non_discriminating.NO_RUN)),
    row("reproduced", non_discriminating=easy(off="reproduced", draws=0.6), measured=10.5),
    row(
        "reproduced",
        non_discriminating=easy(off="not-reproduced", draws=0.5),
        kind="order",
        stated=["a", "b"],
        measured=["a", "b"],
    ),
    row("reproduced", non_discriminating=easy(worked=True, draws=0.5), measured=10.0),
    row("reproduced", kind="ratio", stated=2.0, measured=2.2),
    # A claim that is not reproduced does not count as one that can hardly fail; its error counts.
    row("not-reproduced", non_discriminating=easy(draws=0.9), measured=20.0),
    row("not-reproduced", kind="bound", stated={"low": None, "high": 1}),
    row("reproduced", stated=0, measured=0.0),
    {key: value for key, value in row("not-judged", measured=None).items() if key != "non_discriminating"},
]


def test_counts() -> None:
    found = counts.count(ROWS)
    assert found.claims == 9
    assert found.verdicts == {"reproduced": 6, "not-reproduced": 2, "undecided": 0, "not-run": 0, "not-judged": 1}
    assert (found.non_discriminating, found.no_run, found.off, found.draws) == (4, 1, 1, 2)
    assert found.errors == pytest.approx([0.05, 0.1, 1.0])
    assert found.error == pytest.approx(0.1)


def test_counts_in_words() -> None:
    assert counts.words(ROWS) == [
        "9 claims: 6 reproduced, 2 not-reproduced, 0 not-run, 1 not-judged",
        "of the reproduced 4 can hardly fail"
        " (1 decided by no run, 1 reproduced with the mechanism off, 2 reproduced by half of all draws)",
        "median error of 3 stated numbers: 10 %",
    ]
    assert counts.words([ROWS[-1]]) == ["1 claim: 0 reproduced, 0 not-reproduced, 0 not-run, 1 not-judged"]
    assert counts.words([ROWS[4]])[1:] == [
        "of the reproduced 0 can hardly fail",
        "median error of 1 stated number: 10 %",
    ]


def test_several_settings_are_counted_side_by_side() -> None:
    def settings(*verdicts: str) -> dict[str, Any]:
        found = {"far": {"verdict": verdicts[0], "measured": 15.0}, "near": {"verdict": verdicts[1], "measured": 12.0}}
        return {"setting": "near", "settings": found}

    rows = [
        row("reproduced", **settings("reproduced", "reproduced")),
        row("reproduced", **settings("not-reproduced", "reproduced")),
        row("not-reproduced", **settings("reproduced", "not-reproduced")),
        row("not-reproduced", **settings("not-reproduced", "not-reproduced")),
        # These depend on none of the settings, or are not judged.
        row("reproduced", measured=10.0),
        {key: value for key, value in row("not-judged", measured=None).items() if key != "non_discriminating"},
        # Another paper's.
        row("reproduced", paper="q"),
    ]
    assert counts.settings(rows) == ["far", "near"]
    assert counts.alike(rows[:6]) == (2, 1, 2)
    assert counts.words(rows)[3:] == [
        "p leaves settings open; none is preferred, and what stands above has the last:",
        "  far: 3 reproduced, 2 not reproduced; 0 of the reproduced can hardly fail;"
        " median error of 5 stated numbers: 50 %",
        "  near: 3 reproduced, 2 not reproduced; 0 of the reproduced can hardly fail;"
        " median error of 5 stated numbers: 20 %",
        "  2 claims hold with all of them, 1 with none, 2 with some",
    ]
    assert counts.table(rows, {"p": "The paper", "q": "Another"}).splitlines()[2:] == [
        "| The paper, far | 6 | 3 | 2 | 0 | 1 | 0 | 50 % of 5 |",
        "| The paper, near | 6 | 3 | 2 | 0 | 1 | 0 | 20 % of 5 |",
        "| Another | 1 | 1 | 0 | 0 | 0 | 0 | 20 % of 1 |",
    ]


def test_what_depends_on_a_fit_is_told_with_what_it_would_be() -> None:
    plain = {key: value for key, value in row("not-judged", measured=None).items() if key != "non_discriminating"}
    rows = [
        {**plain, "if_judged": {"verdict": verdict, "measured": 1.0}}
        for verdict in ("reproduced", "not-reproduced", "not-reproduced")
    ]
    assert counts.words([*rows, plain])[1:] == [
        "not judged because they depend on a calibration: 3; 1 would be reproduced, 2 not reproduced"
    ]
