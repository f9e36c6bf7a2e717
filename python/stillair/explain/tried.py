"""Changes, run with the same seeds as what they change: what each does to late packets and to goodput."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from stillair._native import InputError, RunError
from stillair.explain.changes import Change, as_written
from stillair.explain.findings import PERCENTILE
from stillair.results import sojourn
from stillair.results.report import Run
from stillair.results.statistics import Interval, interval
from stillair.runs.scenario import Scenario

LATEST = 99.0
"""The percentile that must not get worse for a change to help."""

SEEDS = 3
"""Runs of each change, and of what is changed."""


_WORTH_MS = 1.0
_WORTH_PART = 0.05
"""A change of p95 that is less than both is not worth a setting, however sure it is."""

_MOST_GOODPUT = 0.25
"""What costs more than this part of the goodput is a trade and no help."""


class Heard(NamedTuple):
    """The 95th percentile of a ping or a call, the mean over the runs: before and after."""

    name: str
    before_ms: float
    after_ms: float


class Tried(NamedTuple):
    """What a change did."""

    change: Change
    sets: list[tuple[str, str]]
    """Its keys by the names that the scenario's text has."""
    before_ms: float
    """Delay of late packets, mean over the seeds."""
    by_ms: Interval
    """By how much it changed, seed by seed."""
    latest_ms: float
    """The same of the 99th percentile."""
    latest_by_ms: Interval
    goodput_before_mbps: float
    goodput_mbps: Interval
    """By how much all goodput changed."""
    heard: Sequence["Heard"] = ()
    """What pings and calls make of it."""

    @property
    def lost(self) -> float:
        """The part of all goodput that it costs; 0 if none."""
        whole = self.goodput_before_mbps
        return max(0.0, -self.goodput_mbps.mean / whole) if whole else 0.0

    @property
    def verdict(self) -> str:
        """`helps`, `probably` helps, `more` goodput alone, a `trade`, `later` of p99, too `little`, `unsure` and so on.

        What nobody can set `shows` how much a cause is. `perhaps` carries more for sure, and may make packets later.
        """
        by, goodput = self.by_ms, self.goodput_mbps
        if not self.change.real:
            return "shows"
        if not any((*by, *self.latest_by_ms, *goodput)):
            return "nothing"
        if by.low > 0 and _matters(by.mean, self.before_ms):
            return "worse"
        earlier = by.high < 0 and _matters(by.mean, self.before_ms)
        later = self.latest_by_ms.mean > 0 and _matters(self.latest_by_ms.mean, self.latest_ms)
        if earlier:
            return "later" if later else "trade" if self._is_dear else "helps"
        return self._not_earlier(later)

    def _not_earlier(self, later: bool) -> str:
        """The verdict where p95 is no earlier for sure."""
        by, goodput = self.by_ms, self.goodput_mbps
        unsure = by.low <= 0 <= by.high and _matters(max(-by.low, by.high), self.before_ms)
        # The mean is further below zero than the interval reaches above it.
        if unsure and by.high < -by.mean and _matters(by.mean, self.before_ms) and not later and not self._is_dear:
            return "probably"
        if goodput.low > 0 and goodput.mean >= _WORTH_PART * self.goodput_before_mbps and not later:
            return "perhaps" if unsure else "more"
        return "unsure" if by.low <= 0 <= by.high else "little"

    @property
    def _is_dear(self) -> bool:
        return self.lost > _MOST_GOODPUT

    @property
    def helps(self) -> bool:
        """Late packets are earlier by it, whatever the seed and by enough, and nothing else pays much for it."""
        return self.verdict == "helps"


def _matters(by: float, whole: float) -> bool:
    return abs(by) >= min(_WORTH_MS, _WORTH_PART * whole)


class Refused(NamedTuple):
    """A change that the scenario does not take, and why."""

    change: Change
    says: str


def late_ms(run: Run, of: str, name: str, way: str, percentile: float = PERCENTILE) -> float | None:
    """The delay of late packets of a run."""
    found = next((d for d in sojourn.of_run(run) if (d.of, d.name, d.way) == (of, name, way)), None)
    return found.around(percentile).delay_ms if found and found.packets() else None


def try_one(
    scenario: Scenario,
    overrides: Sequence[tuple[str, str]],
    change: Change,
    before: Sequence[Run],
    subject: tuple[str, str, str],
    seed: int | None,
    progress: Callable[[int], object] | None = None,
) -> Tried | Refused:
    """Runs a change with the seeds of the runs before."""
    own = as_written(change.overrides, scenario.text)
    sets = [*overrides, *own, ("record.sojourn", "true")]
    try:
        after = scenario.run(len(before), seed, None, sets, progress=progress).runs
    except (InputError, RunError) as error:
        return Refused(change, str(error))
    late, latest = (_by(before, after, subject, percentile) for percentile in (PERCENTILE, LATEST))
    if late is None or latest is None:
        return Refused(change, "nothing was delivered then")
    goodput = [(a["goodput_total_mbps"], b["goodput_total_mbps"]) for a, b in zip(before, after, strict=True)]
    return Tried(change, own, *late, *latest, *_difference(goodput), _heard(before, after))


def _heard(before: Sequence[Run], after: Sequence[Run]) -> list[Heard]:
    """Pings and calls, the latest first."""

    def means(runs: Sequence[Run]) -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for run in runs:
            both = [(name, ping["p95_ms"]) for name, ping in run.get("pings", {}).items()]
            calls = run.get("voip", {})
            both += [(name, flow["delay_p95_ms"]) for name, flow in run.get("flows", {}).items() if name in calls]
            for name, ms in both:
                if ms is not None:
                    found.setdefault(name, []).append(ms)
        return {name: sum(values) / len(values) for name, values in found.items()}

    old, new = means(before), means(after)
    made = [Heard(name, ms, new[name]) for name, ms in old.items() if name in new]
    return sorted(made, key=lambda one: -one.before_ms)


def _by(
    before: Sequence[Run], after: Sequence[Run], subject: tuple[str, str, str], percentile: float
) -> tuple[float, Interval] | None:
    """The delay before and what it changed by; none if nothing was delivered."""
    pairs = zip(before, after, strict=True)
    both = [(late_ms(a, *subject, percentile), late_ms(b, *subject, percentile)) for a, b in pairs]
    measured = [(a, b) for a, b in both if a is not None and b is not None]
    return _difference(measured) if measured else None


def _difference(pairs: Sequence[tuple[float, float]]) -> tuple[float, Interval]:
    return sum(a for a, _ in pairs) / len(pairs), interval([b - a for a, b in pairs])
