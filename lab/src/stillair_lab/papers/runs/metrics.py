"""What the papers' names of quantities stand for: a closed set of kinds, each with the numbers that it needs.

In a plan a metric is a table with its `kind`: `{ kind = "samples", of = "ping_ms", statistic = "p50" }`. Kinds of the
first group are numbers of runs, those of the second are made of another metric, and no run gives those of the third.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from stillair_lab.papers.claims.inventory import Where
from stillair_lab.papers.runs import sampled, tagged


@dataclass(frozen=True)
class Reported:
    """What a run reports, by the key for the `run` as a whole or the one for a `station`."""

    kind: ClassVar = "report"
    run: str = ""
    station: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class Sampled:
    """A statistic of what is sampled in a run (`measure/samples.py`).

    It is over all stations, or where no key of a `station` is named too over those that a claim names.
    """

    kind: ClassVar = "samples"
    of: str
    statistic: str
    station: str = ""
    scale: float = 1.0
    constants: Mapping[str, float] = field(default_factory=dict)
    """What it is for words that are no cell's."""


@dataclass(frozen=True)
class Marks:
    """A statistic over marks of a scatter plot, one for each run at its average data rate (`measure/scatter.py`)."""

    kind: ClassVar = "marks"
    of: str
    """`rate`, `rtt`, `queue` or `goodput` of a mark."""
    statistic: str = "mean"
    """Over the marks of a kind of station: `mean` or `max`; `each`: every mark by itself."""
    large: bool = False
    """Only marks with a large RTT count; the others are zero."""
    flat: bool = False
    """What it is at the low rates over what it is at the high ones."""
    over: Where = field(default_factory=dict)
    """Each mark over the one at the same place with this word."""


@dataclass(frozen=True)
class Ratio:
    """Another metric with the words `from` over the same with `to`."""

    kind: ClassVar = "ratio"
    of: str
    from_: Where
    to: Where


@dataclass(frozen=True)
class Difference:
    """Another metric with the words `from` less the same with `to`."""

    kind: ClassVar = "difference"
    of: str
    from_: Where
    to: Where


@dataclass(frozen=True)
class Reduction:
    """By how many per cent another metric falls between `from` and `to`."""

    kind: ClassVar = "reduction"
    of: str
    from_: Where
    to: Where
    at: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Increase:
    """By how many per cent another metric grows between `from` and `to`, or is more in one cell than in another."""

    kind: ClassVar = "increase"
    of: str
    from_: Where = field(default_factory=dict)
    to: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Spread:
    """How wide the confidence interval of another metric's mean is, in per cent of it."""

    kind: ClassVar = "spread"
    of: str


@dataclass(frozen=True)
class Inverse:
    """A constant over another metric."""

    kind: ClassVar = "inverse"
    of: str
    constant: float


@dataclass(frozen=True)
class Knee:
    """The smallest of some `values` of a `word` with which another metric is this `share` of its best."""

    kind: ClassVar = "knee"
    of: str
    word: str
    values: Mapping[str, float]
    share: float


@dataclass(frozen=True)
class Chosen:
    """One of several metrics, by the value of a `word`: `direction` for what goes up or down."""

    kind: ClassVar = "chosen"
    word: str
    of: Mapping[str, str]


@dataclass(frozen=True)
class Formula:
    """What a paper's own algorithm comes to (`measure/formulas.py`)."""

    kind: ClassVar = "formula"
    of: str


@dataclass(frozen=True)
class Model:
    """A quantity of a paper's own model at the inputs that it prints (`measure/table1_model.py`)."""

    kind: ClassVar = "model"
    of: str
    scale: float = 1.0


@dataclass(frozen=True)
class Worked:
    """A quantity of a worked example (`measure/worked.py`)."""

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
    """A metric from its table."""
    metric = tagged.read(f'metric "{name}"', KINDS, table)
    if isinstance(metric, Sampled):
        sampled.check(f'metric "{name}": kind "samples"', metric.of, metric.statistic)
    return metric
