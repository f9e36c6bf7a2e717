"""The part of the page about simulated changes: the verdict of each, and every flow that it moves."""

import shlex
import tomllib
from collections.abc import Iterable, Iterator, Sequence

from stillair.explain import changes, effects
from stillair.explain.effects import Figure, Moved
from stillair.explain.evaluation import SEEDS, Refused, Tried
from stillair.explain.findings import Subject
from stillair.explain.losses import FEW, KINDS
from stillair.text.terminal import WIDTH

PASTED = "    --set "
"""Prefix of a command line argument. Such lines are not wrapped."""

_DIRECTIONS = {"down": "packets to", "up": "packets from", "round_trip": "round trips of", "": "packets of"}
_SURE = 10
"""Enough runs to tell most effects from chance."""
_MOST_MOVED = 12
"""Flows listed with figures; further ones are only named."""
_SHOWN_LOSS = 0.01
"""A smaller loss of goodput is not shown as a percentage."""
_MOST_SETS = 3
"""Largest number of keys printed as arguments. For longer changes the description is clearer."""

_VERDICTS = {
    "helps": "helps",
    "mixed": "mixed",
    "probably": "probably helps, {more}",
    "unsure": "no clear effect, {more}",
    "shows": "not a setting; shows the size of this cause",
    "nothing": "no effect",
    "worse": "makes it worse",
}
"""Verdicts, best first."""


def ms(value: float) -> str:
    """Formats milliseconds with three significant digits, but keeps all integer digits."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def head(subject: Subject) -> str:
    """Name of a group of packets, such as `packets to phone`."""
    return f"{_DIRECTIONS[subject.delays.way]} {subject.delays.name}"


def lines(
    tried: Sequence[Tried | Refused] | None, subject: Subject | None = None, runs: int = SEEDS, left_out: str = ""
) -> Iterator[str]:
    """Lines for all changes, best first. `left_out` is a sentence about changes that were not allowed."""
    if left_out:
        yield left_out
    if tried is None:
        yield "No changes were tried (--no-try)."
        return
    if not tried:
        yield "No change was tried: no setting is known that helps against this cause."
        return
    whose = f"; p95 and p99 of {head(subject)}, mean over the runs" if subject else ""
    yield f"Changes, run with the same seeds{whose} (brackets: 95 % interval of the change):"
    for one in sorted(tried, key=rank):
        yield from _refused(one) if isinstance(one, Refused) else _tried(one, runs)
    yield effects.RULE


def rank(one: Tried | Refused) -> tuple[int, float, float]:
    """Sorts by verdict, then by the effect on calls, videos, pings and pages, then by the effect on late packets."""
    if isinstance(one, Refused):
        return len(_VERDICTS), 0.0, 0.0
    return list(_VERDICTS).index(one.verdict), -effects.felt(one.moved), one.by_ms.mean


def _refused(one: Refused) -> Iterator[str]:
    yield f"  {one.change.words}: not possible: {one.says.splitlines()[0]}"


def _tried(one: Tried, runs: int) -> Iterator[str]:
    more = f"not certain with {runs} runs; --runs {10 if runs < _SURE else 3 * runs}"
    yield f"  {one.change.words}: {_VERDICTS[one.verdict].format(more=more)}{_names(one)}"
    by, goodput = one.by_ms, one.goodput_mbps
    lost = f", {100 * one.lost:.0f} % less" if one.lost >= _SHOWN_LOSS else ""
    if one.runs[0] < one.runs[1]:
        yield f"    delays of {one.runs[0]} of {one.runs[1]} runs: nothing arrives in the others"
    yield f"    p95 {ms(one.before_ms)} to {ms(one.before_ms + by.mean)} ms ({_signed(by.low)} to {_signed(by.high)})"
    yield f"    p99 {ms(one.latest_ms)} to {ms(one.latest_ms + one.latest_by_ms.mean)} ms"
    yield f"    total goodput {goodput.mean:+.2f} Mbit/s{lost}"
    for of in one.moved[:_MOST_MOVED]:
        yield f"    {of.side}: {_of(of)}: {', '.join(_figure(figure) for figure in of.figures)}"
    for side in ("better", "worse", "mixed"):
        rest = [of.name for of in one.moved[_MOST_MOVED:] if of.side == side]
        if rest:
            yield f"    also {side}: {', '.join(rest)}"
    if one.change.real and one.change.action:
        yield f"    in practice: {one.change.action}"
    if one.change.real and len(one.sets) <= _MOST_SETS:
        yield from (line for key, value in one.sets for line in pasted(key, value))


def _names(one: Tried) -> str:
    """Names the first flow on each side of a mixed verdict."""
    if one.verdict != "mixed":
        return ""
    better = next(of for of in one.moved if any(figure.is_better for figure in of.figures))
    worse_ones = [of for of in one.moved if any(of.is_against(figure) for figure in of.figures)]
    worse = next((of for of in worse_ones if any(_felt(of, figure) for figure in of.figures)), worse_ones[0])
    if better.name == worse.name:
        gained = _listed(figure for figure in better.figures if figure.is_better)
        lost = _listed(figure for figure in worse.figures if worse.is_against(figure))
        return f": {better.name} is better in {gained}, worse in {lost}"
    return f": better for {better.name}, worse for {worse.name}"


def _listed(figures: Iterable[Figure]) -> str:
    return " and ".join("loss" if figure.words == "lost" else figure.words for figure in figures)


def _felt(of: Moved, figure: Figure) -> bool:
    return of.is_against(figure) and of.counts(figure)


def _of(of: Moved) -> str:
    return of.name if of.kind == "station" else f"{of.name} ({KINDS[of.kind]})"


def _figure(figure: Figure) -> str:
    unit = f" {figure.unit}" if figure.unit else ""
    if figure.runs[0] < figure.runs[1]:
        unit += f" ({figure.runs[0]} of {figure.runs[1]} runs)"
    if figure.packets is not None and min(figure.packets) < FEW and figure.before is not None:
        old, new = (
            f"{round((part or 0.0) * many / 100)} of {many}"
            for part, many in zip((figure.before, figure.after), figure.packets, strict=True)
        )
        return f"{figure.words} {old} to {new}{unit.removeprefix(' %')}"
    if figure.before is None:
        return f"{figure.words} {_value(figure, figure.after)}{unit}, where nothing arrived before"
    if figure.after is None:
        return f"{figure.words} {_value(figure, figure.before)}{unit}, and nothing arrives with the change"
    return f"{figure.words} {_value(figure, figure.before)} to {_value(figure, figure.after)}{unit}"


def _value(figure: Figure, value: float | None) -> str:
    if figure.unit == "ms":
        return ms(value or 0.0)
    return f"{value or 0.0:.{1 if figure.unit == '%' else 2}f}"


def _signed(value: float) -> str:
    return f"+{ms(value)}" if value >= 0 else ms(value)


def pasted(key: str, value: str) -> Iterator[str]:
    """Formats a key and its value as a command line argument."""
    text = f"{PASTED}{shlex.quote(f'{key}={value}')}"
    table = tomllib.loads(f"of = {value}")["of"] if value.startswith("{") else {}
    # A shaper with `up` is set with all keys: setting them one by one replaces an existing shaper completely.
    if len(text) <= WIDTH or "up" not in table:
        yield text
        return
    for name, inner in table.items():
        yield f"{PASTED}{shlex.quote(f'{key}.{name}={changes.toml(inner)}')}"
