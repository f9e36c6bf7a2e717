#!/usr/bin/env python3
"""verdict_changes.py BEFORE AFTER: claims whose verdict differs between two results folders, as Markdown.

BEFORE and AFTER are folders like `lab/results`, with a folder for each paper and its `claims.json`.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stillair_lab.papers.claims import judge
from stillair_lab.papers.pages import report

Claims = dict[str, dict[str, Any]]


def read(folder: Path) -> dict[str, Claims]:
    """Claims by paper and name."""
    files = sorted(folder.glob("*/claims.json"))
    if not files:
        raise SystemExit(f"{folder}: found no PAPER/claims.json, expected a folder like lab/results")
    return {path.parent.name: {claim["id"]: claim for claim in report.read_claims(path)} for path in files}


def figure(value: object) -> str:
    """Formats the measured value."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return " < ".join(map(str, value)) if value else "-"
    return "-" if value is None else str(value)


def rows(before: Claims, after: Claims) -> Iterator[str]:
    """A row for each claim with another verdict."""
    for name, claim in after.items():
        old = before.get(name, {})
        if old.get("verdict") == claim["verdict"]:
            continue
        measured = [figure(one) for one in (claim["stated"], old.get("measured"), claim["measured"])]
        yield (
            "| "
            + " | ".join([f"`{name}`", claim["artefact"], *measured, old.get("verdict", "new"), claim["verdict"]])
            + " |"
        )


def main() -> None:
    """Prints a table of counts, then a table of changed verdicts for each paper."""
    if len(sys.argv) != 3:
        raise SystemExit("usage: verdict_changes.py BEFORE AFTER, two folders like lab/results")
    before, after = read(Path(sys.argv[1])), read(Path(sys.argv[2]))
    columns = ("reproduced before", "reproduced now", "not reproduced before", "not reproduced now")
    print(f"| paper | {' | '.join(columns)} | verdicts that moved |")
    print("|---|---:|---:|---:|---:|---:|")
    tables = []
    for paper, claims in after.items():
        old = before.get(paper, {})
        was, now = (Counter(claim["verdict"] for claim in one.values()) for one in (old, claims))
        moved = list(rows(old, claims))
        counts = [one[verdict] for verdict in (judge.REPRODUCED, judge.NOT_REPRODUCED) for one in (was, now)]
        print(f"| {paper} | {' | '.join(map(str, counts))} | {len(moved)} |")
        if moved:
            head = [
                "| claim | artefact | paper | before | now | verdict before | verdict now |",
                "|---|---|---|---|---|---|---|",
            ]
            tables.append("\n".join([f"\n### {paper}\n", *head, *moved]))
    print("\n".join(tables))


if __name__ == "__main__":
    main()
