"""Bisects an ordered list of versions to the two neighbours between which a figure changed."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from stillair._native import InputError
from stillair.cli.compare import rows as quantities
from stillair.cli.compare.rows import Row, differs
from stillair.cli.compare.sides import Side
from stillair.text.nearest import hint

Measure = Callable[[str], Side]
"""Runs the scenario under a version."""


class Found(NamedTuple):
    """Result of a search."""

    measured: list[Side]
    """Measured versions in order; the titles are the versions."""
    row: Row
    """The figure on each version, compared with the oldest."""
    moved: list[tuple[Side, Side, Row]]
    """Neighbours between which the figure changed, and both values; the ends of the list if it did not change."""
    has_moved: bool


def figure(side: Side, name: str) -> str:
    """Resolves the requested figure to its name in a comparison: `upload.server goodput` for `upload.goodput`."""
    found = quantities.rows([side], every=True)
    wanted = name.replace(".", " ").lower()
    # By full name, or by the flow alone if it has one receiver.
    for same in (
        [row for row in found if row.name.lower().replace(".", " ") == wanted],
        [row for row in found if f"{row.of.partition('.')[0]} {row.quantity.words}".lower() == wanted],
    ):
        if len(same) == 1:
            return same[0].name
        if same:
            break
    there = [row.name for row in found]
    raise InputError(f'--figure: found "{name}", expected one of {", ".join(there)}{hint(name, there)}')


def search(versions: Sequence[str], measure: Measure, name: str, least: float, every: bool) -> Found:
    """Finds the version that changed a figure by at least the share `least`, beyond chance.

    Bisects: a middle version belongs to the end whose figure is nearer. With `every`, measures all versions
    and evaluates each step between neighbours.
    """
    sides = {0: measure(versions[0])}
    wanted = figure(sides[0], name)
    last = len(versions) - 1
    for at in range(1, last + 1) if every else (last,):
        sides[at] = measure(versions[at])
    ends = _row([sides[0], sides[last]], wanted)
    steps = [(at, at + 1) for at in range(last)] if every else []
    if not every and _has_moved(ends, least):
        low, high = 0, last
        old, new = (_mean(ends, side) for side in (0, 1))
        while high - low > 1:
            middle = (low + high) // 2
            sides[middle] = measure(versions[middle])
            own = _mean(_row([sides[0], sides[middle]], wanted), 1)
            low, high = (middle, high) if abs(own - old) <= abs(own - new) else (low, middle)
        steps = [(low, high)]
    moved = [(sides[a], sides[b], _row([sides[a], sides[b]], wanted)) for a, b in steps]
    moved = [step for step in moved if not every or _has_moved(step[2], least)]
    measured = [sides[at] for at in sorted(sides)]
    whole = _row(measured, wanted)
    return Found(measured, whole, moved or [(sides[0], sides[last], ends)], bool(moved))


def _row(sides: Sequence[Side], name: str) -> Row:
    return next(row for row in quantities.rows(sides, every=True) if row.name == name)


def _mean(row: Row, side: int) -> float:
    value = row.values[side]
    if value is None:
        raise InputError(f"--figure: {row.name} is missing in some runs")
    return value.mean


def _has_moved(row: Row, least: float) -> bool:
    ratio = row.ratios[0]
    if ratio is None:
        return _mean(row, 0) != _mean(row, 1)
    # A single run has no interval; only equality can be tested.
    is_sure = differs(ratio) if max(row.counts) > 1 else ratio.mean != 1
    return is_sure and abs(ratio.mean - 1) >= least


def settings(old: str, new: str) -> list[tuple[str, Any, Any]]:
    """Returns the differences between two resolved scenarios by path.

    Equal differences of several nodes are merged.
    """
    before, after = (dict(_leaves(json.loads(text))) for text in (old, new))
    found: dict[tuple[str, str], list[str]] = {}
    for place in dict.fromkeys([*before, *after]):
        if before.get(place) != after.get(place):
            node, _, key = place.removeprefix("nodes.").partition(".")
            told = (key if place.startswith("nodes.") else place, json.dumps([before.get(place), after.get(place)]))
            found.setdefault(told, []).append(node)
    return [(key, *json.loads(values)) for key, values in found]


def _leaves(value: Any, place: str = "") -> list[tuple[str, Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return [leaf for key, own in value.items() for leaf in _leaves(own, f"{place}.{key}" if place else key)]
    if isinstance(value, list) and value and all(isinstance(own, Mapping) and "name" in own for own in value):
        return [leaf for own in value for leaf in _leaves(own, f"{place}.{own['name']}")]
    return [(place, value)]
