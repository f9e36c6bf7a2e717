"""`stillair faq`: each page is that of its numbers, and the numbers are those of this version's runs."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from stillair import InputError, __version__
from stillair.__main__ import status
from stillair.explain.faq import answer, page, questions
from stillair.explain.faq.answer import Answer

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "faq"


def kept(name: str) -> Answer:
    return page.from_json((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faq", ROOT / "lab" / "scripts" / "faq.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", questions.names())
def test_the_page_is_that_of_the_numbers(name: str) -> None:
    question, found = questions.read(name), kept(name)
    assert (found.version, found.fingerprint, found.runs) == (__version__, question.fingerprint, question.runs)
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text == page.markdown(question, found)
    assert len(text.splitlines()) <= page.MOST_LINES
    assert (FOLDER / f"{name}.svg").read_bytes() == page.svg(question, found)
    assert json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["verdict"] == answer.verdict(
        question, found
    )


@pytest.mark.parametrize("name", questions.names())
def test_the_numbers_are_those_of_the_runs(name: str) -> None:
    # One run of each case: all of them are `make faq`.
    question, found = questions.read(name), kept(name)
    again = answer.run(question, 1)
    for case in question.cases:
        assert again.hashes[case] == found.hashes[case][:1]
        for measure, values in again.values[case].items():
            assert values[0] == pytest.approx(found.values[case][measure][0], rel=1e-9)


def test_the_list_has_every_page(script: ModuleType) -> None:
    verdicts = {name: answer.verdict(questions.read(name), kept(name)) for name in questions.names()}
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == script.index(verdicts)
    assert len(verdicts) >= 12


@pytest.mark.parametrize(
    ("case", "over", "verdict"),
    [
        ([1.0, 1.1, 0.9], [10.0, 10.1, 9.9], "yes"),
        ([9.0, 9.1, 8.9], [10.0, 10.1, 9.9], "no"),
        ([1.0, 9.0, 5.0], [10.0, 10.0, 10.0], "unsure"),
    ],
)
def test_a_verdict_is_what_the_interval_says(case: list[float], over: list[float], verdict: str) -> None:
    question = questions.read("whose-bloat")
    test = question.test
    values = {test.case: {test.measure: case}, test.over: {test.measure: over}}
    found = Answer("0", "0", len(case), values, {})
    assert answer.verdict(question, found) == verdict


def test_a_path_that_finds_nothing_is_told() -> None:
    report = {"flows": {"tcp-0.a": {"x": 1.0}, "tcp-0.b": {"x": 3.0}, "udp.c": {"x": None}}}
    assert answer.value(report, "flows/tcp-*/x") == 2.0
    for path in ("flows/udp*/x", "flows/nothing/x", "pings/*/p95_ms"):
        with pytest.raises(InputError, match="found nothing, expected a path"):
            answer.value(report, path)


def test_the_command_lists_and_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["faq"]) == 0
    said = capsys.readouterr().out
    assert all(f"{name} " in said for name in questions.names())
    assert status(["faq", "mac-jitter", "--runs", "2", "-o", str(tmp_path / "kept")]) == 0
    said = capsys.readouterr().out
    assert (tmp_path / "kept" / "mac-jitter.md").read_text(encoding="utf-8") == said
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        f"mac-jitter.{end}" for end in ("md", "svg", "json")
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mac-jiter"], "mac-jiter: no such answer; 'stillair faq' lists them"),
        (["--runs", "3"], "have no effect without the name of a question"),
    ],
)
def test_a_mistake_is_one_error(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["faq", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_what_is_no_answer_is_told() -> None:
    with pytest.raises(InputError, match="is not a stored answer"):
        page.from_json("{}")
