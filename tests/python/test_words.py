"""A claim's row as people read it."""

from typing import Any

import pytest

from stillair_lab.papers.pages import words


@pytest.mark.parametrize(
    ("value", "more", "text"),
    [
        (0, 0, "0"), (19.0, 0, "19"), (100.0, 0, "100"), (1000.0, 0, "1000"), (1234.5, 0, "1234"), (0.0004, 0, "0"),
        (4.9723, 0, "4.972"), (90.142, 0, "90.14"), (-2.5, 0, "-2.5"), (11.346, 0, "11.35"), (11.346, 1, "11.346"),
    ],
)  # fmt: skip
def test_numbers_have_four_digits(value: float, more: int, text: str) -> None:
    assert words.number(value, more) == text


@pytest.mark.parametrize(
    ("stated", "text"),
    [
        (35, "35 ms"),
        ({"low": 200, "high": 1000}, "200 to 1000 ms"),
        ({"low": 70, "high": None}, "at least 70 ms"),
        ({"low": None, "high": 10}, "at most 10 ms"),
        (["bbr", ["reno", "cubic"]], "bbr < reno | cubic"),
    ],
)
def test_what_a_paper_says(stated: object, text: str) -> None:
    assert words.stated({"stated": stated, "unit": "ms"}) == text


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"measured": None}, "-"),
        ({"measured": 16.93, "low": 16.84, "high": 17.05}, "16.93 [16.84, 17.05] ms"),
        ({"measured": 11.346, "low": None, "high": None, "role": "model"}, "11.346 ms"),
        ({"measured": ["b", "a"], "members": {"a": {"mean": 2.0}, "b": {"mean": 1.0}}}, "b 1 < a 2 ms"),
    ],
)
def test_what_was_measured(row: dict[str, Any], text: str) -> None:
    assert words.measured(row | {"unit": "ms"}) == text


def test_a_remark_names_reason_cell_and_cause() -> None:
    row = {
        "measured": None,
        "reason": "needs TCP",
        "cells": [
            {"cell": "traffic UDP down", "measured": 1.0, "low": None, "high": None},
            {"cell": "traffic TCP down", "lacks": "needs TCP"},
        ],
    }
    assert words.remark(row) == "needs TCP; traffic UDP down: 1 measured"
    missed = {"measured": 2.0, "cell": "station slow", "marginal": True, "cause": "print"}
    assert words.remark(missed).startswith("worst cell: station slow; marginal: ")
    assert words.remark(missed).endswith("likely cause: print")


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        ({"counted": False, "off": "not-reproduced", "draws": 0.1, "why": ""}, ""),
        ({"counted": True, "off": "reproduced", "draws": None, "why": "no run decides it"}, "no run decides it"),
        ({"counted": True, "off": "reproduced", "draws": 0.2, "why": ""}, "reproduced with the mechanism off"),
        ({"counted": True, "off": None, "draws": 0.5, "why": "reason"}, "reproduced by 50 % of all draws"),
        (
            {"counted": True, "off": "reproduced", "draws": 0.56, "why": ""},
            "reproduced with the mechanism off and reproduced by 56 % of all draws",
        ),
    ],
)
def test_why_a_claim_can_hardly_fail(chance: dict[str, Any], text: str) -> None:
    row = {"measured": 1.0, "verdict": "reproduced", "non_discriminating": chance}
    assert words.remark(row) == (f"can hardly fail: {text}" if text else "")
    # A missed one has failed.
    assert words.remark(row | {"verdict": "not-reproduced"}) == ""


def test_verdicts_that_depend_on_the_settings_are_all_told() -> None:
    far = {"verdict": "not-reproduced", "measured": 2.0, "low": 1.5, "high": 2.5}
    near = {"verdict": "reproduced", "measured": 1.0, "low": None, "high": None}
    row = {**near, "unit": "ms", "setting": "near", "settings": {"far": far, "near": near}}
    assert words.verdict(row) == "not-reproduced/reproduced"
    assert words.remark(row) == "far: not-reproduced (2 [1.5, 2.5] ms), near: reproduced (1 ms)"
    row["settings"] = {"far": near, "near": near}
    assert (words.verdict(row), words.remark(row)) == ("reproduced", "")
