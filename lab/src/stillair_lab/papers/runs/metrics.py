"""Definitions of the papers' quantities: a closed set of kinds, each with its parameters.

In a plan a metric is a table with its `kind`: `{ kind = "samples", of = "ping_ms", statistic = "p50" }`.
Kinds of the first group are numbers of runs, those of the second derive from another metric, and those of the
third need no run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from stillair_lab.papers.claims.inventory import Where
from stillair_lab.papers.runs import sampled, tagged


@dataclass(frozen=True)
class Reported:
    """A key of the report, of the `run` as a whole or of a `station`."""

    kind: ClassVar = "report"
    run: str = ""
    station: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class Sampled:
    """A statistic of a run's samples (`measure/samples.py`).

    Covers all stations, or the stations in a claim unless a `station` key is named as well.
    """

    kind: ClassVar = "samples"
    of: str
    statistic: str
    station: str = ""
    scale: float = 1.0
    constants: Mapping[str, float] = field(default_factory=dict)
    """Values for words that do not select a cell."""


@dataclass(frozen=True)
class Marks:
    """A statistic over marks of a scatter plot, one for each run at its average data rate (`measure/scatter.py`)."""

    kind: ClassVar = "marks"
    of: str
    """Quantity of a mark: `rate`, `rtt`, `queue` or `goodput`."""
    statistic: str = "mean"
    """Statistic over the marks of a kind of station: `mean`, `max`, or `each` mark individually."""
    large: bool = False
    """Only count marks with a large RTT; others are zero."""
    flat: bool = False
    """Ratio of the value at low rates to that at high rates."""
    over: Where = field(default_factory=dict)
    """Divide each mark by the one at the same place with this word."""


@dataclass(frozen=True)
class Ratio:
    """Ratio of another metric with the words `from` to the same with `to`."""

    kind: ClassVar = "ratio"
    of: str
    from_: Where
    to: Where


@dataclass(frozen=True)
class Difference:
    """Difference of another metric with the words `from` and with `to`."""

    kind: ClassVar = "difference"
    of: str
    from_: Where
    to: Where


@dataclass(frozen=True)
class Reduction:
    """Decrease of another metric from `from` to `to`, in per cent."""

    kind: ClassVar = "reduction"
    of: str
    from_: Where
    to: Where
    at: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Increase:
    """Increase of another metric from `from` to `to`, in per cent, or its excess in one cell over another."""

    kind: ClassVar = "increase"
    of: str
    from_: Where = field(default_factory=dict)
    to: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Spread:
    """Width of the confidence interval of another metric's mean, in per cent of the mean."""

    kind: ClassVar = "spread"
    of: str


@dataclass(frozen=True)
class Inverse:
    """A constant divided by another metric."""

    kind: ClassVar = "inverse"
    of: str
    constant: float


@dataclass(frozen=True)
class Knee:
    """The smallest of the `values` of a `word` for which another metric is at least this `share` of its best."""

    kind: ClassVar = "knee"
    of: str
    word: str
    values: Mapping[str, float]
    share: float


@dataclass(frozen=True)
class Chosen:
    """One of several metrics, by the value of a `word`, such as `direction` for up and down."""

    kind: ClassVar = "chosen"
    word: str
    of: Mapping[str, str]


@dataclass(frozen=True)
class Formula:
    """A paper's formula for its own algorithm (`measure/formulas.py`)."""

    kind: ClassVar = "formula"
    of: str


@dataclass(frozen=True)
class Model:
    """A quantity of a paper's own model with its printed inputs (`measure/table1_model.py`)."""

    kind: ClassVar = "model"
    of: str
    scale: float = 1.0


@dataclass(frozen=True)
class Worked:
    """A quantity of a worked example (`measure/worked_examples.py`)."""

    kind: ClassVar = "worked"
    of: str


Metric = (
    Reported
    | Sampled
    | Marks
    | Ratio
    | Difference
    | Reduction
    | Increase
    | Spread
    | Inverse
    | Knee
    | Chosen
    | Formula
    | Model
    | Worked
)
KINDS: Mapping[str, type[Metric]] = {
    kind.kind: kind
    for kind in (
        Reported,
        Sampled,
        Marks,
        Ratio,
        Difference,
        Reduction,
        Increase,
        Spread,
        Inverse,
        Knee,
        Chosen,
        Formula,
        Model,
        Worked,
    )
}


def read(name: str, table: Mapping[str, Any]) -> Metric:
    """Reads a metric from its table."""
    metric = tagged.read(f'metric "{name}"', KINDS, table)
    if isinstance(metric, Sampled):
        sampled.check(f'metric "{name}": kind "samples"', metric.of, metric.statistic)
    return metric
