"""The questions: what was asked and where, the scenario with its cases, what is measured, when the answer is yes."""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.runs import bundled
from stillair.runs.scenario import Scenario
from stillair.text.nearest import hint

_FOLDER = Path(__file__).resolve().parent / "data"


class Measure(NamedTuple):
    """A number of a run: a path in its report, whose names may be patterns; the mean over all that fit."""

    name: str
    path: str
    unit: str


class Test(NamedTuple):
    """When the answer is yes: a measure of one case over that of another, at most or at least a ratio."""

    measure: str
    case: str
    over: str
    ratio: float
    less: bool


class Question(NamedTuple):
    """A question with all that its answer is made of."""

    name: str
    question: str
    asked: str
    """Where it was asked."""
    assumed: Sequence[str]
    scenario: Scenario
    sets: Mapping[str, Any]
    cases: Mapping[str, Mapping[str, Any]]
    measures: Sequence[Measure]
    test: Test
    said: Mapping[str, str]
    """What `yes`, `no` and `unsure` mean."""
    runs: int
    fingerprint: str
    """Of all of this."""


def names() -> list[str]:
    """All questions."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def read(name: str) -> Question:
    """A question; an `InputError` if there is none of that name."""
    if name not in names():
        raise InputError(f"{name}: no such answer; 'stillair faq' lists them{hint(name, names())}")
    text = (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    of = tomllib.loads(text)
    scenario = Scenario(of["scenario"]) if "\n" in of["scenario"] else bundled.scenario(of["scenario"])
    test = of["yes_if"]
    less = "at_most" in test
    ratio = float(test["at_most"] if less else test["at_least"])
    return Question(
        name,
        of["question"],
        of["asked"],
        of["assumed"],
        scenario,
        of.get("set", {}),
        of["case"],
        [Measure(**one) for one in of["measure"]],
        Test(test["measure"], test["case"], test["over"], ratio, less),
        of["answer"],
        int(of.get("runs", 5)),
        hashlib.sha256(f"{text}\n{scenario.text}".encode()).hexdigest()[:16],
    )
