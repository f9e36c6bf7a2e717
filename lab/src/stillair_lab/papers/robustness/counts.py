"""Counts of a paper's verdicts, of reproduced claims that can hardly fail, and the error of its numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from stillair_lab.papers.claims import judge
from stillair_lab.papers.robustness import non_discriminating

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Counts:
    """The verdicts of some claims, and what stands beside them."""

    claims: int
    verdicts: Mapping[str, int]
    non_discriminating: int
    """Reproduced claims that can hardly fail."""
    no_run: int
    """Of these, those that no run decides."""
    off: int
    """Those that a run decides and that hold with the mechanism switched off."""
    draws: int
    """The others, that hold for half of the draws."""
    errors: Sequence[float]
    """How far each number that has a stated one is off it, as a part of that."""

    @property
    def error(self) -> float | None:
        """The median of them."""
        return median(self.errors) if self.errors else None


def count(rows: Sequence[Row]) -> Counts:
    """What these rows come to."""
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
    """|measured - stated| / stated; none of a claim without a number, not judged, or decided by no run.

    It is for values and ratios with a stated number that is not zero, and of the cell that decides the verdict.
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
    """The settings with which some of the claims are judged side by side; the rows' own is the last."""
    return next((list(row["settings"]) for row in rows if "settings" in row), [])


def under(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows as they are with these settings; a claim that depends on none of them is as it is."""
    return [{**row, **row["settings"][name]} if "settings" in row else row for row in rows]


def alike(rows: Sequence[Row]) -> tuple[int, int, int]:
    """How many judged claims hold with all settings, with none, and with some."""
    found = [{one["verdict"] for one in row["settings"].values()} for row in rows if "settings" in row]
    found += [{row["verdict"]} for row in rows if "settings" not in row]
    every, none = (
        sum(verdicts == {judge.REPRODUCED} for verdicts in found),
        sum(verdicts == {judge.NOT_REPRODUCED} for verdicts in found),
    )
    return every, none, sum(verdicts == {judge.REPRODUCED, judge.NOT_REPRODUCED} for verdicts in found)


def words(rows: Sequence[Row]) -> list[str]:
    """The counts in words, a line each: the verdicts first."""
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
    """What each of several settings comes to."""
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
    """How many reproduced claims can hardly fail, and by what."""
    parts = [
        (found.no_run, "decided by no run"),
        (found.off, "reproduced with the mechanism off"),
        (found.draws, "reproduced by half of all draws"),
    ]
    by = ", ".join(f"{number} {why}" for number, why in parts if number)
    return f"{found.non_discriminating} can hardly fail{f' ({by})' if by else ''}"


def error(found: Counts) -> str:
    """The median error and of how many numbers."""
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
    """The papers' counts in Markdown; of one whose settings are open a line for each of them."""
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
    # Results of before there was the rule have no word of it.
    numbers.append(found.non_discriminating if any("non_discriminating" in row for row in rows) else "not told")
    error_ = "not told" if found.error is None else f"{100 * found.error:.0f} % of {len(found.errors)}"
    return f"| {title} | {' | '.join(map(str, numbers))} | {error_} |"
