"""Simulates changes with the seeds of the original runs: effects on late packets, each flow, and goodput."""

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stillair._native import InputError, RunError
from stillair.explain import effects
from stillair.explain.changes import Change
from stillair.explain.effects import Moved
from stillair.explain.findings import PERCENTILE, Resolved
from stillair.results import sojourn
from stillair.results.report import Run
from stillair.results.statistics import Interval, interval
from stillair.runs.overrides import as_written
from stillair.runs.scenario import Scenario

LATEST = 99.0
"""Second percentile to report."""

SEEDS = 3
"""Runs of each change and of the unchanged scenario."""

_WORTH_MS = 1.0
_WORTH_PART = 0.05
"""A p95 change below both bounds is too small for the verdict `probably`."""


class Tried(NamedTuple):
    """Effects of a change."""

    change: Change
    sets: list[tuple[str, str]]
    """The change, in the keys of the scenario's text."""
    before_ms: float
    """Mean p95 over the runs, of packets with the main cause."""
    by_ms: Interval
    """Its change, per run."""
    latest_ms: float
    """Mean p99 over the runs."""
    latest_by_ms: Interval
    goodput_before_mbps: float
    goodput_mbps: Interval
    """Change of the total goodput."""
    moved: Sequence[Moved] = ()
    """Every flow and direction of a station that the change moves clearly."""
    runs: tuple[int, int] = (1, 1)
    """Runs with delays on both sides, and all runs."""

    @property
    def lost(self) -> float:
        """Share of the total goodput that the change costs; 0 if none."""
        whole = self.goodput_before_mbps
        return max(0.0, -self.goodput_mbps.mean / whole) if whole else 0.0

    @property
    def verdict(self) -> str:
        """Verdict: `helps`, `mixed`, `probably` (helps), `unsure`, `shows`, `nothing` or `worse`; see `effects.RULE`.

        A change that users cannot make `shows` the size of a cause.
        """
        if not self.change.real:
            return "shows"
        found = effects.verdict(self.moved)
        if found != "unsure":
            return found
        by = self.by_ms
        if not self.moved and not any((*by, *self.latest_by_ms, *self.goodput_mbps)):
            return "nothing"
        # The mean is further below zero than the interval reaches above it.
        likely = by.low <= 0 <= by.high < -by.mean and _matters(by.mean, self.before_ms)
        later = self.latest_by_ms.mean > 0 and _matters(self.latest_by_ms.mean, self.latest_ms)
        return "probably" if likely and not later and self.lost <= effects.GOODPUT else "unsure"

    @property
    def helps(self) -> bool:
        """Returns true if something is clearly better and nothing that counts is clearly worse."""
        return self.verdict == "helps"


def _matters(by: float, whole: float) -> bool:
    return abs(by) >= min(_WORTH_MS, _WORTH_PART * whole)


class Refused(NamedTuple):
    """A change that the scenario rejects, and the error."""

    change: Change
    says: str


def late_ms(run: Run, of: str, name: str, way: str, percentile: float = PERCENTILE) -> float | None:
    """Returns the given percentile of the subject's delay in a run."""
    found = next((d for d in sojourn.in_network(sojourn.of_run(run)) if (d.of, d.name, d.way) == (of, name, way)), None)
    return found.around(percentile).delay_ms if found and found.packets() else None


def try_one(
    scenario: Scenario,
    overrides: Sequence[tuple[str, str]],
    change: Change,
    before: Sequence[Run],
    subject: tuple[str, str, str],
    seed: int | None,
    progress: Callable[[int], object] | None = None,
    resolved: Resolved | None = None,
) -> Tried | Refused:
    """Runs a change with the original runs' seeds. `resolved` is the unchanged scenario, if available."""
    own = as_written(change.overrides, scenario.text)
    sets = [*overrides, *own, ("record.sojourn", "true")]
    try:
        after = scenario.run(len(before), seed, None, sets, progress=progress).runs
    except (InputError, RunError) as error:
        return Refused(change, str(error))
    late, latest = (_pairs(before, after, subject, percentile) for percentile in (PERCENTILE, LATEST))
    if not late:
        return Refused(change, "nothing arrives with it")
    goodput = [(a["goodput_total_mbps"], b["goodput_total_mbps"]) for a, b in zip(before, after, strict=True)]
    whole = resolved if resolved is not None else json.loads(scenario.resolve(overrides))
    figures = (*_difference(late), *_difference(latest), *_difference(goodput))
    return Tried(change, own, *figures, effects.all_of(before, after, whole), (len(late), len(before)))


def _pairs(
    before: Sequence[Run], after: Sequence[Run], subject: tuple[str, str, str], percentile: float
) -> list[tuple[float, float]]:
    """Returns delays without and with the change, for runs that have both."""
    pairs = zip(before, after, strict=True)
    both = [(late_ms(a, *subject, percentile), late_ms(b, *subject, percentile)) for a, b in pairs]
    return [(a, b) for a, b in both if a is not None and b is not None]


def _difference(pairs: Sequence[tuple[float, float]]) -> tuple[float, Interval]:
    return sum(a for a, _ in pairs) / len(pairs), interval([b - a for a, b in pairs])
