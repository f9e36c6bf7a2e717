"""The whole procedure: search, confirm over several seeds, prune, perturb the network."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from stillair._native import InputError
from stillair.explain.tune import objective, perturb, search, space
from stillair.explain.tune.objective import Counted, Measured
from stillair.explain.tune.search import Choice, Trial
from stillair.explain.tune.space import Space
from stillair.explain.tune.trials import Job, Refused, Runs
from stillair.results.statistics import SHARE, Interval, interval
from stillair.runs.scenario import Scenario

SEEDS = 5
_BEST = 6
"""Choices of the search to confirm with all seeds."""
_SEARCH = 0.7
"""Share of the budget for the search; the rest confirms."""
_CLOSE = 0.1
"""A score lower by more than this is worse, however wide the interval."""
_NOISE = 0.03
"""A smaller gain is not worth a change."""


class Budget(NamedTuple):
    """Budget as a number of runs, or as CPU time in s."""

    runs: int = 300
    cpu_s: float | None = None


class FlowFigures(NamedTuple):
    """Figures of a flow over the seeds."""

    name: str
    p95_ms: Interval | None
    loss: Interval | None
    """Share of the packets that the application misses, 0 to 1."""


class Confirmed(NamedTuple):
    """A choice measured with all seeds."""

    choice: Choice
    latency_ms: Interval
    goodput_mbps: Interval
    total_mbps: Interval
    score: Interval
    """Improvement over the unchanged scenario, per seed."""
    flows: Sequence[FlowFigures] = ()
    """Calls, pings, fixed-rate flows and pages; all flows if there are none of these."""


class Bought(NamedTuple):
    """Gain of one change given the others: the loss per seed without it."""

    setting: int
    option: int
    score: Interval
    second: Interval
    """Gain in the tie-break objective."""
    latency_ms: Interval
    goodput_mbps: Interval

    def is_sure(self) -> bool:
        """Returns true if the gain is beyond chance."""
        return _is_sure(self.score) or _is_sure(self.second)


class Robust(NamedTuple):
    """A perturbed network, unchanged and with the changes."""

    words: str
    before: Measured | None
    after: Measured | None
    score: float | None


class Tuned(NamedTuple):
    """Outcome of `tune`."""

    goal: str
    space: Space
    before: Confirmed
    winner: Confirmed
    bought: Sequence[Bought]
    dropped: Sequence[tuple[int, int]]
    """Changes of the search's best choice that gain nothing, as setting and option."""
    robust: Sequence[Robust]
    front: Sequence[Trial]
    confirmed: Sequence[Confirmed]
    """Pareto front of all choices measured over the seeds, by delay."""
    trials: Sequence[Trial]
    refused: int
    runs: int
    counted: Counted
    """Classes of the flows."""


class _Whole:
    """State shared by the stages."""

    def __init__(self, target: str, of: Space, runs: Runs, seeds: int, before: Sequence[Measured]) -> None:
        self.target, self.space, self.runs, self.seeds, self.before = target, of, runs, seeds, before
        self._known: dict[Choice, list[Measured] | None] = {of.nothing(): list(before)}

    def measure(self, choices: Sequence[Choice]) -> list[list[Measured] | None]:
        """Measures each choice with all seeds; `None` for a choice that fails with any seed."""
        new = [one for one in dict.fromkeys(choices) if one not in self._known]
        jobs = [Job(self.space.sets(one), run) for one in new for run in range(self.seeds)]
        outcomes = self.runs.measure(jobs)
        for at, choice in enumerate(new):
            own = outcomes[at * self.seeds : (at + 1) * self.seeds]
            good = [one for one in own if isinstance(one, Measured)]
            self._known[choice] = good if len(good) == self.seeds else None
        return [self._known[one] for one in choices]

    def better(self, one: Measured) -> float:
        """Score of run 0."""
        return objective.score(self.target, one, self.before[0])

    def decides(self, one: Measured) -> float:
        """Tie-break objective of run 0."""
        return objective.second(self.target, one, self.before[0])

    def score(self, after: Sequence[Measured]) -> list[float]:
        """Score per seed."""
        return [objective.score(self.target, a, b) for a, b in zip(after, self.before, strict=True)]

    def second(self, after: Sequence[Measured]) -> list[float]:
        """Tie-break objective per seed."""
        return [objective.second(self.target, a, b) for a, b in zip(after, self.before, strict=True)]

    def confirmed(self, choice: Choice) -> Confirmed | None:
        """Returns a measured choice with its intervals."""
        found = self.measure([choice])[0]
        if found is None:
            return None
        return Confirmed(
            choice,
            interval([one.latency_ms for one in found]),
            interval([one.goodput_mbps for one in found]),
            interval([one.total_mbps for one in found]),
            interval(self.score(found)),
            _flow_figures(found),
        )

    def all(self) -> list[Confirmed]:
        """All choices measured with all seeds."""
        made = (self.confirmed(one) for one, found in list(self._known.items()) if found is not None)
        return [one for one in made if one is not None]


def _flow_figures(found: Sequence[Measured]) -> list[FlowFigures]:
    """Figures of each flow over runs."""
    made = []
    for name in dict.fromkeys(flow.name for one in found for flow in one.flows):
        own = [flow for one in found for flow in one.flows if flow.name == name]
        late = [flow.p95_ms for flow in own if flow.p95_ms is not None]
        lost = [flow.loss for flow in own if flow.loss is not None]
        delay = interval(late) if late else None
        made.append(FlowFigures(name, delay, interval(lost, within=SHARE) if lost else None))
    return made


def tune(
    scenario: Scenario,
    target: str,
    overrides: Sequence[tuple[str, str]] = (),
    *,
    seed: int | None = None,
    seeds: int = SEEDS,
    budget: Budget | None = None,
    jobs: int | None = None,
    folder: Path | None = None,
    progress: Callable[[int], object] | None = None,
    mine: Sequence[str] = (),
) -> Tuned:
    """Searches the best settings of a scenario, or of the nodes `mine` and their applications.

    `target` is one of `objective.GOALS`. Runs use common random numbers: run 0 of the seed for the search,
    `seeds` runs to confirm. The outcome does not depend on `jobs`, but with a budget in CPU time it depends
    on the machine. With a folder, runs are cached there, and a repeated call resumes. Raises `InputError` if
    the scenario is malformed or has nothing to change.
    """
    objective.check(target)
    budget = budget or Budget()
    of = space.of(scenario, overrides, mine)
    runs = Runs(scenario, overrides, seed, jobs, folder, progress)
    before = [_sure(one, scenario) for one in runs.measure([Job((), run) for run in range(seeds)])]

    def enough() -> bool:
        if budget.cpu_s is not None:
            return runs.cpu_s() >= _SEARCH * budget.cpu_s
        return runs.made >= _SEARCH * budget.runs

    most = 100_000 if budget.cpu_s is not None else max(2, int(_SEARCH * budget.runs) - seeds)
    whole = _Whole(target, of, runs, seeds, before)
    found = search.search(of, runs, whole.better, whole.decides, before[0], enough, most)
    most_confirmed = _BEST if budget.cpu_s is not None else max(2, min(_BEST, int(0.2 * budget.runs / seeds)))
    best = [one.choice for one in search.best(found.trials, whole.better, whole.decides, most_confirmed)]
    whole_front = search.front(found.trials)
    spread = [one.choice for one in _spread(whole_front, most_confirmed)]
    whole.measure([*best, *spread])
    nothing = whole.confirmed(of.nothing())
    confirmed = [one for one in map(whole.confirmed, dict.fromkeys([*best, *spread])) if one is not None]
    assert nothing is not None  # noqa: S101 - it was measured above
    winner, bought, dropped = _settled(whole, _first(whole, [*confirmed, nothing]))
    return Tuned(
        target,
        of,
        nothing,
        winner,
        bought,
        dropped,
        _robust(whole, perturb.of(scenario, overrides), winner),
        whole_front,
        _shown(_front(whole.all()), winner),
        found.trials,
        found.refused,
        runs.made,
        runs.counted(),
    )


def _first(whole: _Whole, among: Sequence[Confirmed]) -> Confirmed:
    """The best choice; ties are decided by the secondary objective."""
    top = max(among, key=lambda one: one.score.mean)
    own = whole.measure([top.choice])[0] or []

    def seconds(one: Confirmed) -> float:
        return interval(whole.second(whole.measure([one.choice])[0] or [])).mean

    def is_as_good(one: Confirmed) -> bool:
        pairs = zip(whole.score(own), whole.score(whole.measure([one.choice])[0] or []), strict=True)
        lost = interval([a - b for a, b in pairs])
        return lost.mean <= objective.SAME or (lost.mean <= _CLOSE and lost.low <= 0)

    return max(filter(is_as_good, among), key=lambda one: (seconds(one), one.score.mean))


_ROUNDS = 4
"""Maximum number of prune-and-reselect rounds."""
_ANEW = 2
"""Options per setting to measure with all seeds, chosen by a single run."""


Settled = tuple[Confirmed, list[Bought], list[tuple[int, int]]]


def _settled(whole: _Whole, first: Confirmed) -> Settled:
    """Prunes and reselects the best choice until it is stable.

    Removes changes that gain nothing, then reselects the option of each remaining setting, because its option
    was best together with the removed ones. The new measurements may yield another best choice. At the end,
    no equally good choice has a certain advantage in the secondary objective.
    """
    seen, best = set[Choice](), first
    while True:
        seen.add(best.choice)
        settled = _taken_away(whole, best)
        anew = _anew(whole, settled[0])
        if anew.choice != settled[0].choice:
            winner, bought, dropped = _taken_away(whole, anew)
            gone = dict([*settled[2], *dropped])
            settled = winner, bought, [(one, option) for one, option in gone.items() if not winner.choice[one]]
        following = _first(whole, whole.all())
        if following.choice in seen or len(seen) == _ROUNDS:
            break
        best = following
    for _ in range(_ROUNDS):
        more = _surpassing(whole, settled[0])
        if more is None:
            break
        less = _taken_away(whole, more)
        # The remainder must be better as well, or nothing is removed.
        kept = _gain(whole, less[0], settled[0])[1].mean > 0
        settled = less if kept else (more, _bought(whole, more), [])
    return settled


def _gain(whole: _Whole, one: Confirmed, than: Confirmed) -> tuple[Interval, Interval]:
    """Gain of one choice over another, in score and secondary objective."""
    a, b = (found or [] for found in whole.measure([one.choice, than.choice]))
    score, second = (interval([x - y for x, y in zip(of(a), of(b), strict=True)]) for of in (whole.score, whole.second))
    return score, second


def _surpassing(whole: _Whole, winner: Confirmed) -> Confirmed | None:
    """The equally good choice with the largest certain advantage in the secondary objective; `None` without one."""
    found = [(_gain(whole, one, winner), one) for one in whole.all()]
    better = [
        (second.mean, one) for (score, second), one in found if score.mean >= -objective.SAME and _is_sure(second)
    ]
    return max(better, key=lambda one: one[0], default=(0.0, None))[1]


def _anew(whole: _Whole, winner: Confirmed) -> Confirmed:
    """Reselects the best option of each setting, given the others."""
    for number in [number for number, at in enumerate(winner.choice) if at]:
        others = [at for at in range(1, len(whole.space.settings[number].options)) if at != winner.choice[number]]
        choices = [(*winner.choice[:number], at, *winner.choice[number + 1 :]) for at in others]
        outcomes = whole.runs.measure([Job(whole.space.sets(one)) for one in choices])
        trials = [Trial(c, one) for c, one in zip(choices, outcomes, strict=True) if isinstance(one, Measured)]
        likely = search.best(trials, whole.better, whole.decides, _ANEW)
        whole.measure([one.choice for one in likely])
        made = [one for one in (whole.confirmed(trial.choice) for trial in likely) if one is not None]
        winner = _first(whole, [winner, *made])
    return winner


_ROWS = 8
"""Rows of the front to print."""


def _shown(front: Sequence[Confirmed], winner: Confirmed) -> list[Confirmed]:
    """Selects rows of a front: its ends, evenly spaced rows, and the winner if it is on the front."""
    some = front if len(front) <= _ROWS else [front[round(at * (len(front) - 1) / (_ROWS - 1))] for at in range(_ROWS)]
    kept = {one.choice for one in (*some, winner)}
    return [one for one in front if one.choice in kept]


def _is_sure(gain: Interval) -> bool:
    return gain.low > 0 and gain.mean >= _NOISE


def _spread(trials: Sequence[Trial], count: int) -> list[Trial]:
    """Selects `count` evenly spaced trials of a front, including its ends."""
    if len(trials) <= count:
        return list(trials)
    return [trials[round(at * (len(trials) - 1) / (count - 1))] for at in range(count)]


def _front(confirmed: Sequence[Confirmed]) -> list[Confirmed]:
    """The Pareto front of the means."""

    def means(one: Confirmed) -> Measured:
        return Measured(one.latency_ms.mean, one.goodput_mbps.mean, one.total_mbps.mean, 0.0)

    alike: dict[Measured, Confirmed] = {}
    for one in sorted(confirmed, key=lambda each: (sum(map(bool, each.choice)), each.choice)):
        alike.setdefault(means(one), one)
    kept = [one for mean, one in alike.items() if not any(objective.dominated(mean, other) for other in alike)]
    return sorted(kept, key=lambda one: (one.latency_ms.mean, one.choice))


def _sure(outcome: Measured | Refused, scenario: Scenario) -> Measured:
    if isinstance(outcome, Refused):
        raise InputError(
            f"{scenario.file}: cannot be tuned: {outcome.says}; add a ping, a call or a flow that delivers"
        )
    return outcome


def _taken_away(whole: _Whole, first: Confirmed) -> Settled:
    """Removes changes without a certain gain, as long as removing all of them together costs nothing either."""
    winner, dropped = first, list[tuple[int, int]]()
    while True:
        bought = sorted(_bought(whole, winner), key=lambda one: -one.score.mean)
        idle = [one for one in bought if not one.is_sure()]
        # First try removing all at once, then one by one, least gain first, because one may substitute
        # another.
        ways = [idle, *([one] for one in reversed(idle))]
        less = next((one for gone in ways if (one := _still_as_good(whole, first, winner, gone))), None)
        if less is None:
            return winner, bought, dropped
        dropped += [(one.setting, one.option) for one in idle if not less.choice[one.setting]]
        winner = less


def _still_as_good(whole: _Whole, first: Confirmed, winner: Confirmed, gone: Sequence[Bought]) -> Confirmed | None:
    """Returns the choice without some changes if nothing certain is lost; `None` if it is worse."""
    choice = winner.choice
    for one in gone:
        choice = _without(choice, one.setting)
    own, without = whole.measure([first.choice, choice])
    if not gone or own is None or without is None:
        return None
    both = [interval([a - b for a, b in zip(of(own), of(without), strict=True)]) for of in (whole.score, whole.second)]
    return None if any(map(_is_sure, both)) else whole.confirmed(choice)


def _without(choice: Choice, setting: int) -> Choice:
    return (*choice[:setting], 0, *choice[setting + 1 :])


def _bought(whole: _Whole, winner: Confirmed) -> list[Bought]:
    changed = [number for number, at in enumerate(winner.choice) if at]
    others = whole.measure([winner.choice, *(_without(winner.choice, number) for number in changed)])
    own = others[0]
    made = []
    for number, without in zip(changed, others[1:], strict=True):
        if own is None or without is None:
            # The rest cannot run without this change, so it is required.
            sure = Interval(float("inf"), float("inf"), float("inf"))
            made.append(Bought(number, winner.choice[number], sure, sure, sure, sure))
            continue
        score, second = (
            interval([a - b for a, b in zip(of(own), of(without), strict=True)]) for of in (whole.score, whole.second)
        )
        later = [a.latency_ms - b.latency_ms for a, b in zip(own, without, strict=True)]
        more = [a.goodput_mbps - b.goodput_mbps for a, b in zip(own, without, strict=True)]
        made.append(Bought(number, winner.choice[number], score, second, interval(later), interval(more)))
    return made


def _robust(whole: _Whole, changed: Sequence[perturb.Changed], winner: Confirmed) -> list[Robust]:
    if not any(winner.choice):
        return []
    sets = whole.space.sets(winner.choice)
    jobs = [Job((*one.sets, *more)) for one in changed for more in ((), sets)]
    outcomes = whole.runs.measure(jobs)
    made = []
    for at, one in enumerate(changed):
        before, after = (o if isinstance(o, Measured) else None for o in outcomes[2 * at : 2 * at + 2])
        score = objective.score(whole.target, after, before) if before and after else None
        made.append(Robust(one.words, before, after, score))
    return made
