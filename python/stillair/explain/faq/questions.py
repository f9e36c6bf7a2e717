"""The questions: source, scenario with its cases, measures, and the criterion for yes."""

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
    """A value of a run: a path in its report, whose names may be patterns.

    The value is the mean over all matches.
    """

    name: str
    path: str
    unit: str


class Test(NamedTuple):
    """Criterion for yes: the ratio of a measure between two cases is at most or at least a bound."""

    measure: str
    case: str
    over: str
    ratio: float
    less: bool


class Question(NamedTuple):
    """A question and everything that its answer depends on."""

    name: str
    question: str
    asked: str
    """Where the question was asked."""
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
    """Hash of the question."""


def names() -> list[str]:
    """All questions."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def read(name: str) -> Question:
    """Returns a question. Raises `InputError` if the name is unknown."""
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
