"""Verdicts by the judging rule of the papers.

The papers measured real radios, mostly once, and often say "about". Each claim therefore becomes a tolerance
for the mean over the runs. The rule is the same for every paper. It was fixed before any run, except for two
additions: a peak that no run shows is not reproduced, and a claim that flips within a range is undecided. The
confidence interval is shown with a verdict but decides nothing. This module is independent of runs.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, product

from stillair.results.statistics import Interval
from stillair_lab.papers.claims.inventory import Claim, Rank

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not-reproduced"
NOT_RUN = "not-run"
NOT_JUDGED = "not-judged"
UNDECIDED = "undecided"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_RUN, NOT_JUDGED)

# A qualifier that starts with one of these, or is absent, is not a hedge; any other word is.
_PLAIN = {"exact", "plain", "mean", "completely", "exactly"}
# Bounds with these words are exclusive.
_STRICT = re.compile(r"\b(more|less|greater|lower) than\b|\b(over|under|above|below)\b")

WITHOUT_HEDGE = 0.25
WITH_HEDGE = 0.50
SHARE_POINTS = 3.0
JAIN_OF_EQUALS = 0.97
RATIO_OF_EQUALS = (0.85, 1.15)
RATIO_GAIN = 0.25
RATIO_LEAST = 0.05
# Wider tolerances for these words, whatever the number. The first match counts.
_FACTORS = (("two orders", (50.0, 200.0)), ("order of magnitude", (5.0, 20.0)), ("factor of two", (1.5, 3.0)))


@dataclass(frozen=True)
class Tolerance:
    """Tolerance of a measured number."""

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    """The bounds themselves are outside."""

    def keeps(self, value: float) -> bool:
        """Returns true if the value is within the tolerance."""
        return self.margin(value) > 0 or (not self.strict and self.margin(value) == 0)

    def margin(self, value: float) -> float:
        """Distance of the value from the nearer bound; negative outside."""
        return min(value - self.low, self.high - value)

    def straddled(self, measured: Interval) -> bool:
        """Returns true if the confidence interval extends across a bound of the tolerance."""
        # The tolerance may also lie inside the interval, with both ends outside and the mean within.
        return len({self.keeps(value) for value in measured}) > 1


def unjudged(claim: Claim) -> str:
    """Returns why this claim is not judged; empty if it is."""
    if claim.role == "input":
        return "the number is an input of the experiment"
    if claim.role == "calibration":
        return "a setting that the paper leaves open is calibrated to the number"
    if claim.calibrated:
        return claim.calibrated
    if not claim.reproduce:
        return "said about other work or about instruments"
    return ""


def hedged(qualifier: str) -> bool:
    """Returns true if the paper hedges its number."""
    words = re.findall(r"\w+", qualifier)
    return bool(words) and words[0] not in _PLAIN


def tolerance(claim: Claim) -> Tolerance:
    """Tolerance of a claim about a number, as opposed to an order."""
    if claim.value is None:
        return as_it_stands(claim.low, claim.high, claim.qualifier)
    if claim.role == "model":
        return to_the_printed_digit(claim.value)
    if claim.kind == "ratio":
        return of_ratio(claim.value, claim.qualifier)
    metric = claim.metric.lower()
    if "jain" in metric and claim.value == 1:
        return Tolerance(low=JAIN_OF_EQUALS)
    if re.search(r"\bshare\b", metric) and claim.unit == "%":
        return Tolerance(claim.value - SHARE_POINTS, claim.value + SHARE_POINTS)
    return of_value(claim.value, claim.qualifier)


def as_it_stands(low: float | None, high: float | None, qualifier: str) -> Tolerance:
    """Tolerance of a bound or a range."""
    strict = bool(_STRICT.search(qualifier))
    return Tolerance(-math.inf if low is None else low, math.inf if high is None else high, strict)


def to_the_printed_digit(value: float) -> Tolerance:
    """Tolerance of a formula's result: all values that round to the printed one."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    half = 0.5 * 10.0 ** int(exponent)
    # Floats are binary: allow a billionth of the last digit around one half.
    return Tolerance(value - half * (1 + 1e-9), value + half * (1 + 1e-9))


def of_value(value: float, qualifier: str) -> Tolerance:
    """Tolerance of a number: 25 % on either side, 50 % if the paper hedges."""
    half = abs(value) * (WITH_HEDGE if hedged(qualifier) else WITHOUT_HEDGE)
    return Tolerance(value - half, value + half)


def of_ratio(ratio: float, qualifier: str) -> Tolerance:
    """Tolerance of a ratio, as a share of its distance from one, which is the finding."""
    for words, (low, high) in _FACTORS:
        if words in qualifier:
            return Tolerance(low, high) if ratio >= 1 else Tolerance(1 / high, 1 / low)
    if ratio == 1:
        return Tolerance(*RATIO_OF_EQUALS)
    half = max(RATIO_GAIN * abs(ratio - 1), RATIO_LEAST)
    return Tolerance(ratio - half, ratio + half)


def members(ordering: Sequence[Rank]) -> list[str]:
    """The names in an ordering, with groups flattened."""
    return [name for rank in ordering for name in _group(rank)]


def steps(ordering: Sequence[Rank]) -> list[tuple[str, str]]:
    """Pairs in ascending order: each member of a rank with each member of the next.

    Members of a group are unordered.
    """
    groups = [_group(rank) for rank in ordering]
    return [pair for below, above in pairwise(groups) for pair in product(below, above)]


def in_order(means: Mapping[str, float], ordering: Sequence[Rank]) -> bool:
    """Returns true if the means are in this order; equal means are not."""
    return all(means[below] < means[above] for below, above in steps(ordering))


def _group(rank: Rank) -> list[str]:
    return [str(name) for name in rank] if isinstance(rank, list) else [str(rank)]


@dataclass(frozen=True)
class Cell:
    """Measurements of a cell that a claim covers."""

    label: str = ""
    measured: Interval | None = None
    """The number, for all claims except orders."""
    ranked: Mapping[str, Interval] | None = None
    """Members of an order."""
    gaps: tuple[Interval, ...] = ()
    """Differences between consecutive members of an order, computed per run."""
    lacks: str = ""
    """Why nothing was measured."""
    ran: bool = False
    """True if the cell was run, although it has no measurement."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reasons."""

    verdict: str
    reason: str = ""
    worst: Cell | None = None
    tolerance: Tolerance | None = None
    marginal: bool = False


def judge(claim: Claim, cells: Sequence[Cell]) -> Judgement:
    """Verdict over the cells that the claim lists: that of the worst cell."""
    if why := unjudged(claim):
        return Judgement(NOT_JUDGED, why)
    ran = [_of_cell(claim, cell) for cell in cells if not cell.lacks]
    worst = min(ran, key=_badness, default=None)
    # One failing cell decides; to reproduce the claim, all cells must be measured.
    if worst and worst.verdict == NOT_REPRODUCED:
        return worst
    lacking = [cell for cell in cells if cell.lacks]
    if not lacking and worst is not None:
        return worst
    ran_all = bool(lacking) and all(cell.ran for cell in lacking)
    why = "; ".join(dict.fromkeys(cell.lacks for cell in lacking)) or "not asked to run"
    # A peak that no run shows is not reproduced, as opposed to not measured.
    if ran_all and re.search(r"\bmode\b", claim.metric.lower()):
        return Judgement(NOT_REPRODUCED, why)
    return Judgement(NOT_JUDGED if ran_all else NOT_RUN, why)


def _of_cell(claim: Claim, cell: Cell) -> Judgement:
    if cell.ranked is not None:
        means = {name: measured.mean for name, measured in cell.ranked.items()}
        verdict = REPRODUCED if in_order(means, claim.ordering) else NOT_REPRODUCED
        marginal = any(gap.low <= 0 <= gap.high and gap.low != gap.high for gap in cell.gaps)
        return Judgement(verdict, worst=cell, marginal=marginal)
    if cell.measured is None:
        raise ValueError(f"{claim.id}: a cell without a measurement must say what it lacks")
    limit = tolerance(claim)
    verdict = REPRODUCED if limit.keeps(cell.measured.mean) else NOT_REPRODUCED
    return Judgement(verdict, worst=cell, tolerance=limit, marginal=limit.straddled(cell.measured))


def _badness(judged: Judgement) -> tuple[bool, float]:
    """Sort key for the worst cell: not reproduced first, then by the smallest margin or step."""
    cell = judged.worst
    if cell is not None and cell.measured is not None and judged.tolerance is not None:
        return judged.verdict == REPRODUCED, judged.tolerance.margin(cell.measured.mean)
    gaps = cell.gaps if cell is not None else ()
    return judged.verdict == REPRODUCED, min((gap.mean for gap in gaps), default=0.0)
