"""Compares simulated runs with the repetitions of a configuration: a row for each quantity of each unit."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from stillair_lab.validate.compare import OUTSIDE, WITHIN
from stillair_lab.validate.wifi.bounds import BOUNDS, MAIN_RATE_GOODPUT
from stillair_lab.validate.wifi.measured import Measurement, Setup
from stillair_lab.validate.wifi.outcome import Outcome
from stillair_lab.validate.wifi.quantities import Item, RateItem, items

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Row:
    """A comparison. The fields are the interface of `stillair validate wifi --json`."""

    configuration: str
    unit: str
    quantity: str
    kernel: float | str
    """Mean of the kernel's repetitions; for rates, the most used one of each."""
    spread: float | None
    """Half the range of the kernel's repetitions."""
    model: float | str | None
    """Mean of the simulated runs; `None` if they lack the quantity."""
    low: float | None
    high: float | None
    verdict: str
    why: str
    """Why it is not judged."""

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON, with six digits."""
        return {
            key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Configuration:
    """The available repetitions of a configuration."""

    name: str
    setup: Setup
    repetitions: tuple[Measurement, ...]


def rows(of: Configuration, ran: Sequence[Outcome]) -> list[Row]:
    """Compares a configuration with its simulated runs."""
    made = (_rate_row(of, item, ran) if isinstance(item, RateItem) else _row(of, item, ran) for item in items(of.setup))
    return [row for row in made if row is not None]


def check(of: Configuration) -> None:
    """Reads every number that a comparison needs, to find faults in a file before the run."""
    for item in items(of.setup):
        for one in of.repetitions:
            item.kernel(one)
            if isinstance(item, Item):
                _of_file(one, item)


def _row(of: Configuration, item: Item, ran: Sequence[Outcome]) -> Row | None:
    kernel = [value for value in map(item.kernel, of.repetitions) if value is not None]
    if not kernel:
        return None
    mean, spread = fmean(kernel), _spread(of, item, kernel)
    model = _mean(map(item.model, ran))
    head = (of.name, item.unit, item.quantity, mean, spread, model)
    if item.not_judged:
        return Row(*head, None, None, NOT_JUDGED, item.not_judged)
    bound = BOUNDS[item.quantity]
    low, high = replace(bound, number=max(bound.number, spread)).ends(mean)
    within = model is not None and low <= model <= high
    return Row(*head, low, high, WITHIN if within else OUTSIDE, "")


def _rate_row(of: Configuration, item: RateItem, ran: Sequence[Outcome]) -> Row | None:
    """Same rate as in one of the repetitions, or else equal goodput."""
    kernel = [_most(item.kernel(one)) for one in of.repetitions]
    used = list(dict.fromkeys(rate for rate in kernel if rate is not None))
    if not used:
        return None
    tried: dict[str, float] = {}
    for one in ran:
        for rate, frames in item.model(one).items():
            tried[rate] = tried.get(rate, 0.0) + frames
    own = _most(tried)
    goodput = [value for value in map(item.goodput.kernel, of.repetitions) if value is not None]
    found = _mean(map(item.goodput.model, ran))
    near = False
    if goodput and found is not None:
        low, high = MAIN_RATE_GOODPUT.ends(fmean(goodput))
        near = low <= found <= high
    verdict = WITHIN if own in used or near else OUTSIDE
    return Row(of.name, item.unit, item.quantity, " or ".join(used), None, own, None, None, verdict, "")


def _spread(of: Configuration, item: Item, kernel: Sequence[float]) -> float:
    """Half the range over the available repetitions, or over those recorded in a file."""
    return max((max(kernel) - min(kernel)) / 2, *(_of_file(one, item) for one in of.repetitions))


def _of_file(one: Measurement, item: Item) -> float:
    """Half the range of the means over a unit's stations, from a file's own `spread`; 0 without one."""
    columns = []
    for name in item.spread:
        values = one.at("spread", "quantities", name, "values")
        if values is None:
            return 0.0
        if not isinstance(values, list) or not all(isinstance(value, int | float) for value in values):
            raise one.wrong(("spread", "quantities", name, "values"), values, "a list of numbers")
        columns.append(values)
    if not columns or len({len(column) for column in columns}) != 1 or not columns[0]:
        return 0.0
    means = [fmean(values) for values in zip(*columns, strict=True)]
    return item.spread_in * (max(means) - min(means)) / 2


def _most(tried: dict[str, float]) -> str | None:
    """Name with the largest number; with several, the alphabetically first."""
    return min(tried, key=lambda name: (-tried[name], name)) if any(tried.values()) else None


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None
