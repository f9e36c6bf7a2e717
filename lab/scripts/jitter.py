"""Finds verdicts that depend on the modelled hosts' lack of jitter: lab/results/jitter.md.

Runs a paper's experiments unchanged, with host jitter, with Ethernet devices that gather arrivals, and with
both. Judge, seeds and cells are those of `stillair paper`, with fewer runs. Prints the tables by default;
`--write` updates the page.
"""

import argparse
import json
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stillair.runs import bundled
from stillair_lab.papers.claims import judge
from stillair_lab.papers.measure import scatter
from stillair_lab.papers.pages import registry, report
from stillair_lab.papers.pages.registry import Entry
from stillair_lab.papers.runs import campaign as campaigns
from stillair_lab.papers.runs.campaign import Outcome
from stillair_lab.papers.runs.plan import Campaign, plan

PAGE = Path(__file__).resolve().parents[2] / "lab" / "results" / "jitter.md"
DRAFTS = Path(__file__).resolve().parents[2] / "build" / "jitter"
RUNS = 6

# Papers on the page, with the runs per cell, and their experiments; all if none is named.
PAPERS: Mapping[str, tuple[int, Sequence[str]]] = {
    "ending-the-anomaly": (RUNS, ()),
    "tsq-pacing": (
        4,
        (
            "fig4-tsq-l100-r100",
            "fig5a-rtt-cubic-pfifo",
            "fig5b-rtt-bbr-pfifo",
            "fig6a-remote-notsq",
            "fig6b-remote-tsq",
            "fig7a-local-notsq",
            "fig7b-local-tsq",
        ),
    ),
    "towards-1ms": (2, ()),
    "bquic": (3, ()),
    "retry-out": (1, ()),
}

# Papers judged only in the middle of ranges: with the ends, three times as much would have to be run.
IN_THE_MIDDLE = {"towards-1ms"}

# Campaigns that are only shown next to the cells of claims, and decide no verdict.
SHOWN = {
    "parts-lab",
    "parts-mesh",
    "one-run",
    "open-lab",
    "open-mesh",
    "open-page",
    "senders-lab",
    "senders-mesh",
    "gaps-lab",
    "gaps-mesh",
}

# Ethernet device of the hosts. tsq-pacing names a BCM5761, whose driver is tg3. The others name none: assume
# a PCI Express device of Intel's desktop boards of the time.
NICS = {"tsq-pacing": "tg3"}
ASSUMED = "e1000e"

# Variants by column: jitter of all hosts, and their Ethernet devices.
VARIANTS: Mapping[str, tuple[bool, bool]] = {
    "as judged": (False, False),
    "jitter": (True, False),
    "NIC": (False, True),
    "both": (True, True),
}

Row = dict[str, Any]

# Verdicts of judged claims. Undecided: the verdict differs between the ends of a range.
VERDICTS = (judge.REPRODUCED, judge.NOT_REPRODUCED, judge.UNDECIDED)


def changes(campaign: Campaign, jitter: bool, nic: bool) -> list[tuple[str, str]]:
    """Overrides of a variant for a campaign's scenario; all hosts are alike."""
    text = tomllib.loads(bundled.scenario(campaign.scenario).text)
    sets = []
    ethernet = {name for name, link in text.get("link", {}).items() if link.get("kind", "ethernet") == "ethernet"}
    for name, node in text["node"].items():
        if jitter:
            sets.append((f"node.{name}.jitter", "desktop"))
        links = {one.get("link") for one in node.get("interface", {}).values()}
        if nic and links & ethernet:
            sets.append((f"node.{name}.nic", NICS.get(campaign.paper, ASSUMED)))
    return sets


def in_the_middle(entry: Entry) -> Entry:
    """An experiment without the ends of its ranges."""
    campaigns = tuple(replace(campaign, ends=None) for campaign in entry.plan.campaigns)
    return replace(entry, plan=replace(entry.plan, campaigns=campaigns))


def rows_of(entries: Sequence[Entry], variant: str, runs: int, jobs: int) -> list[Row]:
    """Rows of a variant, stored as a draft so that they are not run again."""
    draft = DRAFTS / f"{entries[0].experiment.paper}-{variant.replace(' ', '-')}-{runs}.json"
    if draft.exists():
        kept: list[Row] = json.loads(draft.read_text())
        if {row["experiment"] for row in kept} >= {e.experiment.id for e in entries if e.experiment.claims}:
            return kept
    outcomes: dict[Campaign, Outcome] = {}
    if entries[0].experiment.paper in IN_THE_MIDDLE:
        entries = [in_the_middle(entry) for entry in entries]
    judged = [entry for entry in entries if entry.experiment.claims]
    marks = {campaign for entry in judged if entry.plan.marks for campaign in entry.plan.campaigns}
    # A claim is judged at the ends of a range, too.
    wanted = dict.fromkeys(campaign for entry in judged for campaign in entry.plan.all_campaigns())
    for campaign in wanted:
        if campaign.id in SHOWN:
            continue
        began = time.monotonic()
        sets = changes(campaign, *VARIANTS[variant])
        count = 1 if campaign.once else min(runs, report.repetitions(entries, campaign, None))
        of = campaign
        if campaign in marks:
            # Verdicts use the errors assumed for the house.
            by = scatter.placing(plan(campaign.paper))
            of = replace(campaign, cells=tuple(cell for cell in campaign.cells if scatter.under(by, cell, by.airs[0])))
        outcomes[campaign] = campaigns.run(of, count, jobs, sets)
        print(f"{variant}: {campaign.id}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    rows = report.Report([replace(entry) for entry in entries], outcomes).rows()
    DRAFTS.mkdir(parents=True, exist_ok=True)
    draft.write_text(json.dumps(rows))
    return rows


def number(value: float | None) -> str:
    """Formats a number with three digits."""
    return "-" if value is None else f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def figure(row: Row) -> str:
    """The measured value, with its interval."""
    if row.get("members"):
        ranked = sorted(row["members"].items(), key=lambda one: one[1]["mean"])
        return " < ".join(f"{name} {number(of['mean'])} ± {half(of)}" for name, of in ranked)
    value = row.get("measured")
    if not isinstance(value, int | float):
        return str(value) if value else "-"
    return f"{number(value)} ± {half(row)}" if row.get("low") is not None else number(value)


def stated(value: object) -> str:
    """The value stated by a paper: a number, bounds, or an order."""
    if isinstance(value, dict):
        low, high = (value.get(end) for end in ("low", "high"))
        return (
            f"{low} to {high}"
            if low is not None and high is not None
            else f"at most {high}"
            if low is None
            else f"at least {low}"
        )
    if isinstance(value, list):
        return " < ".join(" = ".join(one) if isinstance(one, list) else str(one) for one in value)
    return str(value)


def half(of: Mapping[str, Any]) -> str:
    """Half of an interval."""
    return number((of["high"] - of["low"]) / 2) if of.get("low") is not None else "?"


def significant(before: Row, after: Row) -> bool:
    """Returns true if a figure changed beyond chance: the intervals do not overlap."""
    if before.get("low") is None or after.get("low") is None:
        return False
    return bool(after["low"] > before["high"] or after["high"] < before["low"])


def summary(variants: Mapping[str, list[Row]]) -> list[str]:
    """Number of claims by verdict in each variant, and of changed figures."""
    base = {row["id"]: row for row in variants["as judged"]}
    lines = [
        "| | reproduced | not reproduced | undecided | verdicts that flip | figures whose interval moved off |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, rows in variants.items():
        counts = [sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS]
        flipped = sum(row["verdict"] != base[row["id"]]["verdict"] for row in rows)
        moved = sum(significant(base[row["id"]], row) for row in rows)
        lines.append(f"| {name} | {' | '.join(map(str, counts))} | {flipped} | {moved} |")
    return lines


# Table lines before the first row.
HEAD = 2


def table(variants: Mapping[str, list[Row]], every: bool) -> list[str]:
    """A row for each claim whose verdict or figure changes, or for all judged claims."""
    by_id = {name: {row["id"]: row for row in rows} for name, rows in variants.items()}
    lines = [f"| claim | paper | {' | '.join(variants)} |", "|---|---|" + "---|" * len(variants)]
    for row in variants["as judged"]:
        of = [by_id[name][row["id"]] for name in variants]
        if not any(one["verdict"] in VERDICTS for one in of):
            continue
        flips = len({one["verdict"] for one in of}) > 1
        if not (every or flips or any(significant(row, one) for one in of)):
            continue
        cells = [f"{figure(one)} {'**' + one['verdict'] + '**' if flips else one['verdict']}" for one in of]
        lines.append(f"| `{row['id']}` | {stated(row['stated'])} | {' | '.join(cells)} |")
    return lines


def page(paper: str, runs: int, jobs: int, only: Sequence[str]) -> str:
    """The tables of a paper."""
    entries = [
        entry
        for entry in registry.entries()
        if entry.experiment.paper == paper and entry.plan.campaigns and (not only or entry.experiment.id in only)
    ]
    if not entries:
        raise SystemExit(f"{paper}: found no such experiment with runs, expected one of `stillair paper`")
    variants = {name: rows_of(entries, name, runs, jobs) for name in VARIANTS}
    nic = NICS.get(paper, ASSUMED)
    count = "1 run" if runs == 1 else f"{runs} runs"
    middle = " Judged in the middle of ranges alone, so that no claim is undecided." if paper in IN_THE_MIDDLE else ""
    parts = [
        f"## {paper}\n",
        f'{count} of each cell, or as many as the experiment has; `jitter = "desktop"` at all hosts, '
        f'`nic = "{nic}"` at those with Ethernet.{middle}\n',
        "\n".join(summary(variants)) + "\n",
    ]
    rows = table(variants, every=False)
    if len(rows) > HEAD:
        parts += ["Claims whose verdict flips, bold, or whose figure leaves its interval:\n", "\n".join(rows) + "\n"]
    else:
        parts.append("No verdict flips, and no figure leaves its interval; of one run there is none.\n")
    return "\n".join(parts)


MARK = "<!-- tables: lab/scripts/jitter.py -->"


def main() -> None:
    """Prints the tables or writes them into the page, below its marker."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("papers", nargs="*", default=list(PAPERS), help="papers, by their names")
    arguments.add_argument("--only", nargs="*", default=[], help="experiments, such as fig7-throughput-tcp")
    arguments.add_argument("--runs", type=int, help="of each cell, in place of the page's")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--write", action="store_true", help="renew lab/results/jitter.md")
    given = arguments.parse_args()
    parts = []
    for paper in given.papers:
        runs, only = PAPERS.get(paper, (RUNS, ()))
        parts.append(page(paper, given.runs or runs, given.jobs, given.only or only))
    tables = "\n".join(parts)
    if not given.write:
        print(tables)
        return
    text, mark, _ = PAGE.read_text().partition(MARK)
    if not mark:
        raise SystemExit(f"{PAGE}: found no line {MARK!r}, expected one above the tables")
    PAGE.write_text(f"{text}{MARK}\n\n{tables}")


if __name__ == "__main__":
    main()
