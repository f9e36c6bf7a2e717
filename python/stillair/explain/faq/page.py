"""The page of an answer, at most 40 lines, and its JSON."""

import json
from typing import Any

from stillair._native import InputError
from stillair.explain.faq import answer as answers
from stillair.explain.faq.answer import Answer
from stillair.explain.faq.questions import Measure, Question
from stillair.plot import cases
from stillair.results.statistics import Interval
from stillair.text.table import figure

MOST_LINES = 40


def markdown(question: Question, answer: Answer, *, picture: bool = True) -> str:
    """Returns the page as Markdown."""
    verdict = answers.verdict(question, answer)
    found, test = answers.ratio(question, answer), question.test
    bound = f"{'at most' if test.less else 'at least'} {test.ratio:g}"
    head = ["case", *(f"{one.name} ({one.unit})" for one in question.measures)]
    rows = [[case, *(_cell(answer, case, one) for one in question.measures)] for case in question.cases]
    lines = [
        f"# {question.question}",
        "",
        f"**{verdict.capitalize()}.** {question.said[verdict]}",
        "",
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        f"Means with 95 % intervals over {answer.runs} runs, the same seeds in each case. Test: `{test.measure}`"
        f" of `{test.case}` over `{test.over}`: {_ends(found)}; yes if the whole interval is"
        f" {bound}, no if no part of it is, not sure in all other cases.",
        "",
        *([f"![{question.question}]({question.name}.svg)", ""] if picture else []),
        "Assumed:",
        "",
        *(f"- {one}" for one in question.assumed),
        "",
        f"Asked: {question.asked}.",
        "",
        f"`stillair faq {question.name}` writes this page. Stillair {answer.version}, question and scenario"
        f" {answer.fingerprint}.",
    ]
    return "\n".join(lines) + "\n"


def _cell(answer: Answer, case: str, measure: Measure) -> str:
    return _ends(answer.over_runs(case, measure))


def _ends(of: Interval) -> str:
    return figure(of.mean) if of.low == of.high else f"{figure(of.mean)} ({figure(of.low)} to {figure(of.high)})"


def svg(question: Question, answer: Answer) -> bytes:
    """Returns an SVG with a panel for each measure and a bar for each case."""
    panels = [
        (f"{one.name} ({one.unit})", {case: answer.over_runs(case, one) for case in question.cases})
        for one in question.measures
    ]
    return cases.picture(question.question, panels)


def to_json(question: Question, answer: Answer) -> str:
    """Returns each run's values and trace hash as JSON."""
    kept = {"question": question.question, "verdict": answers.verdict(question, answer), **answer._asdict()}
    return json.dumps(kept, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def from_json(text: str) -> Answer:
    """Parses a stored answer. Raises `InputError` if the text is not one."""
    try:
        found: dict[str, Any] = json.loads(text)
        return Answer(**{key: found[key] for key in Answer._fields})
    except (ValueError, KeyError, TypeError) as why:
        raise InputError(f"is not a stored answer: {why}") from None
