"""The tables and the JSON file."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from saturated import theory
from saturated.cases import Case
from saturated.programs import Figure

BOUND = 0.05
"""Largest difference that needs no explanation."""
HEADER = (
    "", "accepts", "ns-3", "MPDUs", "Stillair", "MPDUs", "differs", "ns-3 as here", "differs", "theory",
    "as here", "verdict",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """Results of a case in both programs."""

    case: Case
    ns3: Figure
    stillair: Figure | None
    """`None` if no scenario can express the case."""
    alike: Figure | None = None
    """ns-3 with Stillair's aggregates and the case's further attributes; `None` if that changes nothing."""

    @property
    def difference(self) -> float | None:
        """Relative difference of Stillair from ns-3."""
        return None if self.stillair is None else self.stillair.mbps / self.ns3.mbps - 1

    @property
    def rest(self) -> float | None:
        """Relative difference of Stillair from ns-3 with Stillair's aggregates."""
        of = self.alike or self.ns3
        return None if self.stillair is None else self.stillair.mbps / of.mbps - 1

    @property
    def verdict(self) -> str:
        """Reports whether the programs agree, or the cause of the difference."""
        if self.difference is None or self.rest is None:
            return "not said"
        if abs(self.difference) <= BOUND:
            return "within"
        return "settings" if abs(self.rest) <= BOUND else "outside"


def accepted(case: Case) -> str:
    """Range of ns-3's own test."""
    low, high = ("" if end is None else f"{end:.4g}" for end in (case.low, case.high))
    return f"{low}..{high}" if low or high else "-"


def table(rows: Sequence[Row]) -> str:
    """All rows, by example."""
    lines = [
        (
            row.case.key,
            accepted(row.case),
            *_figures(row.ns3),
            *_figures(row.stillair),
            _percent(row.difference),
            "-" if row.alike is None else f"{row.alike.mbps:.2f}",
            _percent(row.rest) if row.alike else "-",
            _mbps(theory.goodput(row.case, theory.ns3_limits(row.case))),
            _mbps(None if row.stillair is None else theory.goodput(row.case, theory.stillair_limits(row.case))),
            row.verdict,
        )
        for row in rows
    ]
    return _aligned([HEADER, *lines])


def totals(rows: Sequence[Row]) -> str:
    """Number of rows by verdict."""
    verdicts = [row.verdict for row in rows]
    words = {
        "within": "within 5 % of ns-3",
        "settings": "beyond, and within 5 % of ns-3 with Stillair's aggregates",
        "outside": "beyond with these too",
        "not said": "said by no scenario",
    }
    return "\n".join(f"{verdicts.count(verdict):3d}  {words[verdict]}" for verdict in words)


def predictions(cases: Sequence[Case]) -> str:
    """Theoretical goodput of both programs."""
    header = ("", "accepts", "MPDUs in ns-3", "in Stillair", "theory of ns-3", "of Stillair", "differs")
    lines = []
    for case in cases:
        limits = theory.ns3_limits(case), theory.stillair_limits(case)
        both = [theory.goodput(case, one) for one in limits]
        change = None if both[0] is None or both[1] is None or case.lacks else both[1] / both[0] - 1
        counts = [str(theory.frames(case, one)) for one in limits]
        shown = (counts[0], "-" if case.lacks else counts[1], _mbps(both[0]), "-" if case.lacks else _mbps(both[1]))
        lines.append((case.key, accepted(case), *shown, _percent(change)))
    return _aligned([header, *lines])


def as_json(row: Row) -> dict[str, Any]:
    """A row with its settings, for JSON."""
    return {
        **asdict(row.case),
        "stillair": row.stillair and asdict(row.stillair),
        "ns3_as_stated": asdict(row.ns3),
        "ns3_with_stillairs_aggregates": row.alike and asdict(row.alike),
        "difference": row.difference,
        "difference_with_stillairs_aggregates": row.rest,
        "verdict": row.verdict,
    }


def _figures(figure: Figure | None) -> tuple[str, str]:
    return ("-", "-") if figure is None else (f"{figure.mbps:.2f}", f"{figure.frames:.1f}")


def _mbps(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f} %"


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i in {0, len(line) - 1} else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
