"""Counts of verdicts, of reproduced claims that can hardly fail, and the error of a paper's numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from stillair_lab.papers.claims import judge
from stillair_lab.papers.robustness import non_discriminating

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Counts:
    """Counts over several claims."""

    claims: int
    verdicts: Mapping[str, int]
    non_discriminating: int
    """Reproduced claims that can hardly fail."""
    no_run: int
    """Of these, claims that no run decides."""
    off: int
    """Claims decided by a run that hold with the mechanism switched off."""
    draws: int
    """The others, which hold for half of the random draws."""
    errors: Sequence[float]
    """Relative error of each number compared with the stated one."""

    @property
    def error(self) -> float | None:
        """Median of the errors."""
        return median(self.errors) if self.errors else None


def count(rows: Sequence[Row]) -> Counts:
    """Counts the rows."""
    easy = [
        row["non_discriminating"]
        for row in rows
        if row["verdict"] == judge.REPRODUCED and row.get("non_discriminating", {}).get("counted")
    ]
    no_run = sum(one["why"] == non_discriminating.NO_RUN for one in easy)
    off = sum(one["off"] == judge.REPRODUCED for one in easy) - no_run
    return Counts(
        claims=len(rows),
        verdicts={verdict: sum(row["verdict"] == verdict for row in rows) for verdict in judge.VERDICTS},
        non_discriminating=len(easy),
        no_run=no_run,
        off=off,
        draws=len(easy) - no_run - off,
        errors=[error for row in rows if (error := off_by(row)) is not None],
    )


def off_by(row: Row) -> float | None:
    """|measured - stated| / stated; `None` for a claim without a number, not judged, or decided without a run.

    Applies to values and ratios with a non-zero stated number, in the cell that decides the verdict.
    """
    judged = row["verdict"] in (judge.REPRODUCED, judge.NOT_REPRODUCED, judge.UNDECIDED) and row.get("kind") in (
        "value",
        "ratio",
    )
    chance = row.get("non_discriminating")
    if not judged or chance is None or chance["why"] == non_discriminating.NO_RUN or chance["worked"]:
        return None
    stated, measured = row["stated"], row["measured"]
    if not isinstance(stated, (int, float)) or not stated or not isinstance(measured, (int, float)):
        return None
    return abs(measured - stated) / abs(stated)


def settings(rows: Sequence[Row]) -> list[str]:
    """Settings with which some claims are judged side by side; the rows' own is last."""
    return next((list(row["settings"]) for row in rows if "settings" in row), [])


def under(rows: Sequence[Row], name: str) -> list[Row]:
    """Rows with these settings; claims that do not depend on them are unchanged."""
    return [{**row, **row["settings"][name]} if "settings" in row else row for row in rows]


def alike(rows: Sequence[Row]) -> tuple[int, int, int]:
    """Number of judged claims that hold with all settings, with none, and with some."""
    found = [{one["verdict"] for one in row["settings"].values()} for row in rows if "settings" in row]
    found += [{row["verdict"]} for row in rows if "settings" not in row]
    every, none = (
        sum(verdicts == {judge.REPRODUCED} for verdicts in found),
        sum(verdicts == {judge.NOT_REPRODUCED} for verdicts in found),
    )
    return every, none, sum(verdicts == {judge.REPRODUCED, judge.NOT_REPRODUCED} for verdicts in found)


def words(rows: Sequence[Row]) -> list[str]:
    """The counts in words, one line each, verdicts first."""
    found, names = count(rows), settings(rows)
    verdicts = ", ".join(
        f"{number} {verdict}" for verdict, number in found.verdicts.items() if number or verdict != judge.UNDECIDED
    )
    lines = [f"{found.claims} claim{'s' if found.claims != 1 else ''}: {verdicts}"]
    if found.verdicts[judge.REPRODUCED]:
        lines.append(f"of the reproduced {easy(found)}")
    if found.error is not None:
        lines.append(f"median error of {error(found)}")
    depends = [row["if_judged"]["verdict"] for row in rows if "if_judged" in row]
    if depends:
        reproduced, not_reproduced = depends.count(judge.REPRODUCED), depends.count(judge.NOT_REPRODUCED)
        lines.append(
            f"not judged because they depend on a calibration: {len(depends)};"
            f" {reproduced} would be reproduced, {not_reproduced} not reproduced"
        )
    return [*lines, *(_side_by_side(rows, names) if names else [])]


def _side_by_side(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Counts for each of several settings."""
    titles = {row["paper"] for row in rows if "settings" in row}
    rows = [row for row in rows if row["paper"] in titles]
    lines = [
        f"{', '.join(sorted(titles))} leaves settings open; none is preferred, and what stands above has the last:"
    ]
    for name in names:
        found = count(under(rows, name))
        reproduced, not_reproduced = found.verdicts[judge.REPRODUCED], found.verdicts[judge.NOT_REPRODUCED]
        lines.append(
            f"  {name}: {reproduced} reproduced, {not_reproduced} not reproduced;"
            f" {found.non_discriminating} of the reproduced can hardly fail;"
            f" median error of {error(found)}"
        )
    every, none, some = alike(rows)
    return [*lines, f"  {every} claims hold with all of them, {none} with none, {some} with some"]


def easy(found: Counts) -> str:
    """Number of reproduced claims that can hardly fail, by reason."""
    parts = [
        (found.no_run, "decided by no run"),
        (found.off, "reproduced with the mechanism off"),
        (found.draws, "reproduced by half of all draws"),
    ]
    by = ", ".join(f"{number} {why}" for number, why in parts if number)
    return f"{found.non_discriminating} can hardly fail{f' ({by})' if by else ''}"


def error(found: Counts) -> str:
    """Median error, and the number of values."""
    if found.error is None:
        return "no number"
    many = len(found.errors)
    return f"{many} stated number{'s' if many != 1 else ''}: {100 * found.error:.0f} %"


TABLE = (
    "paper",
    "claims",
    "reproduced",
    "not reproduced",
    "undecided",
    "not judged",
    "of the reproduced can hardly fail",
    "median error",
)


def table(rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Table of the papers' counts in Markdown, with a line per setting if a paper leaves settings open."""
    lines = [f"| {' | '.join(TABLE)} |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for paper, title in titles.items():
        own = [row for row in rows if row["paper"] == paper]
        names = settings(own)
        lines += [_line(f"{title}, {name}", under(own, name)) for name in names] or [_line(title, own)]
    return "\n".join(lines) + "\n"


def _line(title: str, rows: Sequence[Row]) -> str:
    found = count(rows)
    numbers: list[object] = [
        found.claims,
        *(found.verdicts[key] for key in (judge.REPRODUCED, judge.NOT_REPRODUCED, judge.UNDECIDED, judge.NOT_JUDGED)),
    ]
    # Results older than the rule lack this key.
    numbers.append(found.non_discriminating if any("non_discriminating" in row for row in rows) else "not told")
    error_ = "not told" if found.error is None else f"{100 * found.error:.0f} % of {len(found.errors)}"
    return f"| {title} | {' | '.join(map(str, numbers))} | {error_} |"
