"""Runs a question's cases with the same seeds. The verdict is yes or no only if the interval allows it."""

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from stillair._native import InputError, __version__
from stillair.explain.faq.questions import Measure, Question
from stillair.results.statistics import Interval, bounds, interval, ratio_interval
from stillair.runs.overrides import pairs


class Answer(NamedTuple):
    """Measured values of each run, and the verdict."""

    version: str
    fingerprint: str
    runs: int
    values: Mapping[str, Mapping[str, list[float]]]
    """Values by case and measure."""
    hashes: Mapping[str, list[str]]
    """Trace hash of each run, by case."""

    def over_runs(self, case: str, measure: Measure) -> Interval:
        """Mean with its interval."""
        return interval(self.values[case][measure.name], within=bounds(measure.path.rpartition("/")[2]))


def run(
    question: Question,
    runs: int | None = None,
    jobs: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Answer:
    """Runs all cases of a question, each with the same seeds."""
    count = runs or question.runs
    values: dict[str, dict[str, list[float]]] = {}
    hashes = {}
    for number, (case, sets) in enumerate(question.cases.items()):

        def told(made: int, base: int = number * count) -> None:
            if progress:
                progress(base + made)

        overrides = [*pairs(question.sets), *pairs(sets)]
        found = question.scenario.run(count, None, jobs, overrides, progress=told).runs
        hashes[case] = [one["trace_hash"] for one in found]
        values[case] = {of.name: [value(one, of.path) for one in found] for of in question.measures}
    return Answer(__version__, question.fingerprint, count, values, hashes)


def value(report: Mapping[str, Any], path: str) -> float:
    """Returns a value of a run, as the mean over all matching names.

    Raises `InputError` if nothing matches.
    """
    found = [float(one) for one in _at(report, path.split("/")) if one is not None]
    if not found:
        raise InputError(f"{path}: found nothing, expected a path in the report of a run")
    return sum(found) / len(found)


def _at(of: Any, path: list[str]) -> Iterator[Any]:  # noqa: ANN401 - parts of a report
    if not path:
        yield of
    elif isinstance(of, Mapping):
        for name, inner in of.items():
            if fnmatchcase(name, path[0]):
                yield from _at(inner, path[1:])


def ratio(question: Question, answer: Answer) -> Interval:
    """The ratio that decides, over pairs of runs with the same seed."""
    test = question.test
    return ratio_interval(answer.values[test.case][test.measure], answer.values[test.over][test.measure])


def verdict(question: Question, answer: Answer) -> str:
    """`yes`, `no`, or `unsure` if the interval includes the bound."""
    found, test = ratio(question, answer), question.test
    if found.low <= test.ratio <= found.high and found.low != found.high:
        return "unsure"
    return "yes" if (found.mean <= test.ratio) == test.less else "no"
