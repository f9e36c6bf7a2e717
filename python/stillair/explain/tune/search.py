"""The search: single settings, the best of them combined, then Optuna's sampler over latency and goodput."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from stillair.explain.tune import objective
from stillair.explain.tune.objective import Measured
from stillair.explain.tune.space import Space
from stillair.explain.tune.trials import Job, Outcome, Runs
from stillair.text import extras

Choice = tuple[int, ...]

_AT_ONCE = 8
"""Choices per batch of the sampler, independent of the number of processors."""
_ALONE = 0.6
"""Largest share of the search spent on single settings."""
_STALE = 3
"""Consecutive batches without a new choice that end the search."""


class Trial(NamedTuple):
    """A choice and the figures of its run."""

    choice: Choice
    measured: Measured


class Found(NamedTuple):
    """Outcome of a search."""

    before: Measured
    trials: Sequence[Trial]
    refused: int
    """Combinations that the scenario reader or the run rejected."""


def search(
    space: Space,
    runs: Runs,
    score: Callable[[Measured], float],
    second: Callable[[Measured], float],
    before: Measured,
    enough: Callable[[], bool],
    most: int,
) -> Found:
    """Tries up to `most` choices until `enough` returns true. Equal arguments give equal results."""
    optuna = extras.need("optuna", "tune")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=_sampler(optuna, 0))
    ranges = [optuna.distributions.CategoricalDistribution(tuple(range(len(one.options)))) for one in space.settings]
    names = [f"{number} {one.name} {one.where}" for number, one in enumerate(space.settings)]
    distributions = dict(zip(names, ranges, strict=True))
    known: dict[Choice, Outcome] = {space.nothing(): before}

    def tell(choice: Choice, outcome: Outcome) -> None:
        params = dict(zip(names, choice, strict=True))
        good = isinstance(outcome, Measured)
        study.add_trial(
            optuna.trial.create_trial(
                params=params,
                distributions=distributions,
                values=_values(outcome) if isinstance(outcome, Measured) else None,
                state=optuna.trial.TrialState.COMPLETE if good else optuna.trial.TrialState.PRUNED,
            )
        )

    def look(choices: Sequence[Choice]) -> None:
        new = [one for one in dict.fromkeys(choices) if one not in known][: most - len(known)]
        outcomes = runs.measure([Job(space.sets(one)) for one in new])
        for choice, outcome in zip(new, outcomes, strict=True):
            known[choice] = outcome
            tell(choice, outcome)

    tell(space.nothing(), before)
    alone = list(_alone(space))[: max(1, int(_ALONE * most))]
    for part in _batches(alone):
        if not enough():
            look(part)
    if not enough():
        look(_together(space, known, score, second))
    number = stale = 0
    while stale < _STALE and not enough() and len(known) < min(most, space.size()):
        number += 1
        study.sampler = _sampler(optuna, number)
        asked = [study.ask(distributions) for _ in range(_AT_ONCE)]
        for trial in asked:
            # The drawn trial is added below as a trial of its own; keeping both would count it twice.
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        had = len(known)
        look([tuple(trial.params[name] for name in names) for trial in asked])
        stale = stale + 1 if len(known) == had else 0
    trials = [Trial(choice, one) for choice, one in known.items() if isinstance(one, Measured)]
    return Found(before, trials, len(known) - len(trials))


def _sampler(optuna: Any, seed: int) -> Any:  # noqa: ANN401 - an extra
    # paper: Ozaki et al., Multiobjective tree-structured Parzen estimator (2022) - models settings jointly.
    with warnings.catch_warnings():
        # Suppress the warning about an experimental feature.
        warnings.simplefilter("ignore")
        return optuna.samplers.TPESampler(seed=seed, n_startup_trials=1, multivariate=True)


def _values(one: Measured) -> list[float]:
    return [math.log(one.latency_ms), -math.log(one.goodput_mbps)]


def _batches(choices: Sequence[Choice]) -> Iterator[Sequence[Choice]]:
    return (choices[at : at + _AT_ONCE] for at in range(0, len(choices), _AT_ONCE))


def _alone(space: Space) -> Iterator[Choice]:
    """Single settings: the first alternative of every setting, then the second."""
    nothing = space.nothing()
    for at in range(1, max(len(one.options) for one in space.settings)):
        for number, setting in enumerate(space.settings):
            if at < len(setting.options):
                yield (*nothing[:number], at, *nothing[number + 1 :])


def _together(
    space: Space,
    known: dict[Choice, Outcome],
    score: Callable[[Measured], float],
    second: Callable[[Measured], float],
) -> list[Choice]:
    """Combines the best choice of each setting that helps on its own, then drops the weakest one by one."""
    best: list[tuple[float, int, int]] = []
    for number in range(len(space.settings)):
        alone = [(choice[number], one) for choice, one in known.items() if _only(choice, number)]
        scored = [(score(one), second(one), at) for at, one in alone if isinstance(one, Measured)]
        if scored and max(scored)[0] > 0:
            near = [one for one in scored if one[0] > max(0.0, max(scored)[0] - objective.SAME)]
            best.append((max(scored)[0], number, max(near, key=lambda one: (one[1], one[0], one[2]))[2]))
    best.sort(reverse=True)
    made = []
    for count in range(len(best), 1, -1):
        choice = list(space.nothing())
        for _, number, at in best[:count]:
            choice[number] = at
        made.append(tuple(choice))
    return made


def _only(choice: Choice, number: int) -> bool:
    return choice[number] > 0 and sum(map(bool, choice)) == 1


def best(
    trials: Sequence[Trial],
    score: Callable[[Measured], float],
    second: Callable[[Measured], float],
    count: int,
) -> list[Trial]:
    """The `count` best trials by score. Ties with the best are decided by the secondary objective."""

    def changes(one: Trial) -> int:
        return sum(map(bool, one.choice))

    ranked = sorted(trials, key=lambda one: (-score(one.measured), changes(one)))
    near = [one for one in ranked if score(one.measured) >= score(ranked[0].measured) - objective.SAME]
    near.sort(key=lambda one: (-second(one.measured), changes(one)))
    turns = [one for pair in zip(ranked, near, strict=False) for one in pair] + ranked[len(near) :]
    return list(dict.fromkeys(turns))[:count]


def front(trials: Sequence[Trial]) -> list[Trial]:
    """The Pareto front, by latency."""
    alike: dict[Measured, Trial] = {}
    for one in sorted(trials, key=lambda trial: (sum(map(bool, trial.choice)), trial.choice)):
        # Of equal results, keep the one with the fewest changes.
        alike.setdefault(one.measured, one)
    kept = [one for one in alike.values() if not any(objective.dominated(one.measured, other) for other in alike)]
    return sorted(kept, key=lambda one: (one.measured.latency_ms, one.choice))
