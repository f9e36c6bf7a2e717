"""`stillair paper`: runs the experiments, with a row for each claim."""

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stillair._native import InputError, __version__
from stillair.results.statistics import Interval
from stillair.text import source
from stillair.text.table import fitting, room, table
from stillair_lab.papers.artefacts.gallery import drawing
from stillair_lab.papers.claims import judge, kernel_verdicts, ranges
from stillair_lab.papers.claims.causes import causes
from stillair_lab.papers.claims.inventory import Claim
from stillair_lab.papers.claims.judge import Cell, Judgement
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.pages import registry, words
from stillair_lab.papers.pages.registry import Entry
from stillair_lab.papers.robustness import counts, non_discriminating
from stillair_lab.papers.runs import campaign as campaigns
from stillair_lab.papers.runs.campaign import Outcome
from stillair_lab.papers.runs.plan import Campaign, plan

Row = dict[str, Any]

# Width of running text at the terminal.
_WIDTH = 110


@dataclass(frozen=True)
class Report:
    """The experiments and their outcomes."""

    entries: Sequence[Entry]
    outcomes: Mapping[Campaign, Outcome]
    extra: Sequence[tuple[str, str]] = ()
    """User overrides for every cell. With any, the runs are not the paper's experiments."""
    asked: bool = True
    """False if the experiments are only listed; then not even worked examples are judged."""
    made: dict[str, Row] = field(default_factory=dict)
    """Cached rows by claim, as they take time to compute."""

    def measurer(self, entry: Entry, under: str = "") -> Measurer:
        """Returns the measurer of an experiment, for these runs or for an alternative plan."""
        of = entry.others[under] if under else None
        campaigns = of.experiments[entry.experiment.id].campaigns if of else entry.plan.campaigns
        own = {campaign.id: outcome for campaign, outcome in self.outcomes.items() if campaign in campaigns}
        return Measurer(entry.experiment, of or plan(entry.experiment.paper), own, self.asked)

    def at_ends(self, entry: Entry) -> dict[str, Measurer]:
        """Measurers at the ends of ranges, which replace the runs of each campaign by those of its end."""
        return {
            name: Measurer(
                entry.experiment,
                plan(entry.experiment.paper),
                {
                    campaign.id: self.outcomes[(campaign.ends or {}).get(name, campaign)]
                    for campaign in entry.plan.campaigns
                    if (campaign.ends or {}).get(name, campaign) in self.outcomes
                },
                self.asked,
            )
            for name in entry.plan.ends()
        }

    def drawn(self, entry: Entry) -> bool:
        """Returns true if the experiment's artefact can be drawn: it has runs, or needs none."""
        if entry.plan.worked is not None:
            return True
        ran = [campaign for campaign, outcome in self.outcomes.items() if outcome.results is not None]
        return bool(entry.plan.draws) and any(campaign in ran for campaign in entry.plan.campaigns)

    def rows(self) -> list[Row]:
        """Rows of all claims, as in `stillair paper --json`."""
        for entry in self.entries:
            measurer, ends = self.measurer(entry), self.at_ends(entry)
            for claim in entry.experiment.claims:
                if claim.id not in self.made:
                    row = _row(
                        entry, claim, measurer.cells(claim), {name: end.cells(claim) for name, end in ends.items()}
                    )
                    row |= self._non_discriminating(entry, claim, row["verdict"])
                    self.made[claim.id] = row | self._settings(entry, claim, row)
        return [self.made[claim.id] for entry in self.entries for claim in entry.experiment.claims]

    def _non_discriminating(self, entry: Entry, claim: Claim, verdict: str, under: str = "") -> Row:
        """Checks whether a claim can hardly fail; empty for a claim that is not judged."""
        if verdict not in (judge.REPRODUCED, judge.NOT_REPRODUCED):
            return {}
        paper = entry.experiment.paper
        own = [(campaign, outcome) for campaign, outcome in self.outcomes.items() if campaign.paper == paper]
        # Campaigns that are not repeated with these settings do not depend on them.
        ran = {campaign.id: outcome for name in ("", under) for campaign, outcome in own if campaign.under == name}
        found = non_discriminating.chance(claim, entry.experiment, entry.others[under] if under else plan(paper), ran)
        told = {"counted": found.non_discriminating, "off": found.off or None, "draws": found.draws, "why": found.why}
        return {"non_discriminating": {**told, "worked": entry.plan.worked is not None}}

    def _settings(self, entry: Entry, claim: Claim, row: Row) -> Row:
        """Verdict with each alternative setting, if the paper leaves the choice open; the row's own is last."""
        if not entry.others or row["verdict"] not in (judge.REPRODUCED, judge.NOT_REPRODUCED):
            return {}
        found = {}
        for name in entry.others:
            told = _under(judge.judge(claim, self.measurer(entry, name).cells(claim)))
            found[name] = told | self._non_discriminating(entry, claim, told["verdict"], name)
        own = {key: row[key] for key in (*_UNDER, "non_discriminating") if key in row}
        name = plan(entry.experiment.paper).name
        return {"setting": name, "settings": {**found, name: own}}

    def of_paper(self, paper: str) -> "Report":
        """The part of one paper."""
        own = [entry for entry in self.entries if entry.experiment.paper == paper]
        return Report(own, self.outcomes, self.extra, self.asked, self.made)

    def papers(self) -> list[str]:
        """The papers in the report."""
        return list(dict.fromkeys(entry.experiment.paper for entry in self.entries))

    def head(self) -> str:
        """Version and seeds."""
        lines = [f"stillair {__version__}"]
        for campaign, outcome in self.outcomes.items():
            if outcome.results and any(campaign in entry.all_campaigns for entry in self.entries):
                runs = next(iter(outcome.results.values())).runs
                seeds = ", ".join(sorted({str(run["seed"]) for run in runs}))
                counted = f"runs {runs[0]['run']} to {runs[-1]['run']}" if len(runs) > 1 else f"run {runs[0]['run']}"
                under = f", {campaign.under}" if campaign.under else ""
                lines.append(
                    f"{campaign.scenario}{under}: {len(campaign.cells)} cells, seed {seeds}, {counted} of each"
                )
        if self.extra:
            changed = ", ".join(f"{key}={value}" for key, value in self.extra)
            lines.append(f"changed with --set, so not the paper's experiment: {changed}")
        return "\n".join(lines)


def listing() -> str:
    """Lists all experiments and whether they can be run."""
    rows = [
        [entry.experiment.name, str(len(entry.experiment.claims)), f"  {entry.status}"] for entry in registry.entries()
    ]
    widest = max(len(row[2]) for row in rows)
    return table(["experiment", "claims", "  runs".ljust(widest)], [[*row[:2], row[2].ljust(widest)] for row in rows])


def prepare(wanted: Sequence[Entry], extra: Sequence[tuple[str, str]] = ()) -> dict[Campaign, str]:
    """Campaigns of the experiments, with the reasons why some cannot be run; checked before any run."""
    for entry in wanted:
        if entry.plan.draws:
            drawing(Measurer(entry.experiment, plan(entry.experiment.paper), {}))
        for claim in entry.experiment.claims:
            non_discriminating.prepare(claim, entry.experiment, plan(entry.experiment.paper))
    needed = dict.fromkeys(campaign for entry in wanted for campaign in entry.all_campaigns)
    return {campaign: campaigns.prepare(campaign, extra) for campaign in needed}


def repetitions(wanted: Sequence[Entry], campaign: Campaign, runs: int | None) -> int:
    """Runs per cell: as requested, else as in the paper; one for a picture of a single run."""
    if campaign.once:
        return 1
    stated = [
        entry.experiment.setup.get("repetitions", campaign.runs) for entry in wanted if campaign in entry.campaigns
    ]
    # The end of a range has its own number of runs.
    return runs or max((int(count) for count in stated), default=campaign.runs)


def total_runs(wanted: Sequence[Entry], prepared: Mapping[Campaign, str], runs: int | None) -> int:
    """Total number of runs."""
    return sum(
        len(campaign.cells) * repetitions(wanted, campaign, runs) for campaign, lacks in prepared.items() if not lacks
    )


def run(
    wanted: Sequence[Entry],
    prepared: Mapping[Campaign, str],
    runs: int | None = None,
    jobs: int | None = None,
    extra: Sequence[tuple[str, str]] = (),
    progress: Callable[[int], object] | None = None,
    finished: Callable[[str], object] | None = None,
    folder: Path | None = None,
) -> Report:
    """Runs each campaign once, however many experiments use it. Calls `finished` after each experiment.

    With `folder`, finished runs are stored there, and stored runs are not repeated.
    """
    outcomes: dict[Campaign, Outcome] = {}
    done = 0
    waiting = list(wanted)
    for campaign, lacks in prepared.items():
        if lacks:
            outcomes[campaign] = Outcome(lacks=lacks)
            continue
        count = repetitions(wanted, campaign, runs)
        heard = _counter(progress, done) if progress else None
        outcomes[campaign] = campaigns.run(campaign, count, jobs, extra, heard, folder)
        done += count * len(campaign.cells)
        if finished is not None:
            over = [entry for entry in waiting if all(own in outcomes for own in entry.all_campaigns)]
            waiting = [entry for entry in waiting if entry not in over]
            for number, entry in enumerate(over, len(wanted) - len(waiting) - len(over) + 1):
                finished(f"{entry.experiment.name}: run ({number} of {len(wanted)} experiments)")
    return Report(wanted, outcomes, extra)


def text(report: Report) -> str:
    """The report for a terminal: totals, then each experiment with its artefact and its verdicts."""
    rows = report.rows()
    parts = [report.head(), totals(rows)]
    for entry in report.entries:
        name, artefact = entry.experiment.name, entry.experiment.artefact
        parts.append(f"== {name}: {artefact} ==")
        if report.drawn(entry):
            of = report.measurer(entry)
            parts.append(drawing(of).text(of).rstrip())
        own = [row for row in rows if f"{row['paper']}/{row['experiment']}" == name]
        parts += verdicts(own) if own else ["no claims"]
    return "\n\n".join(parts) + "\n"


def totals(rows: Sequence[Row]) -> str:
    """Number of claims by verdict, and further counts."""
    return "\n".join(counts.words(rows))


SCHEMA = 2
"""Schema version of result JSON: `schema` in `claims.json` and `runs.json`. Files of version 1 lack the
key."""


def as_json(rows: Sequence[Row], indent: int | None = None) -> str:
    """JSON of `stillair paper --json`: `schema`, and a row for each claim in `claims`."""
    return json.dumps({"schema": SCHEMA, "claims": rows}, ensure_ascii=False, allow_nan=False, indent=indent)


def read_claims(path: Path) -> list[Row]:
    """Reads the rows of a `claims.json`. Raises `InputError` for another schema version."""
    try:
        data = source.parsed(source.data(path, source.most_json()))
    except ValueError as error:
        raise InputError(f"{path}: found text that is not JSON ({error}), expected a claims.json") from None
    check_schema(path, data)
    rows = data.get("claims")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: claims: expected a list of objects")
    return rows


def check_schema(path: Path, data: object) -> None:
    """Raises `InputError` unless the JSON of a results file has this schema version."""
    found = data.get("schema", 1) if isinstance(data, dict) else 1
    if found != SCHEMA:
        remedy = "; lab/scripts/migrate_results.py converts it" if found == 1 else ""
        raise InputError(f"{path}: schema: found {found}, expected {SCHEMA}{remedy}")


def claim_row(
    entry: Entry, claim: Claim, cells: Sequence[Cell], ends: Mapping[str, Sequence[Cell]] = MappingProxyType({})
) -> Row:
    """Row of a claim, from the measurements in its cells and at the ends of ranges."""
    return _row(entry, claim, cells, ends)


def with_settings(row: Row, name: str, others: Mapping[str, Row]) -> Row:
    """Adds a claim's rows with alternative settings; `name` is the name of its own settings."""
    told = {under: {key: other[key] for key in _UNDER if key in other} for under, other in others.items()}
    return row | {"setting": name, "settings": {**told, name: {key: row[key] for key in _UNDER if key in row}}}


def provenance(report: Report) -> str:
    """Inputs of the numbers as JSON: version, and the overrides, seed and trace hash of each run."""
    made = [
        {
            "paper": campaign.paper,
            "campaign": campaign.id,
            "scenario": campaign.scenario,
            **({"setting": campaign.under} if campaign.under else {}),
            "cell": cell.name,
            "overrides": dict(cell.overrides) | dict(report.extra),
            "runs": [
                {key: run[key] for key in ("run", "seed", "trace_hash")} for run in outcome.results[cell.name].runs
            ],
        }
        for campaign, outcome in report.outcomes.items()
        if outcome.results is not None and any(campaign in entry.all_campaigns for entry in report.entries)
        for cell in campaign.cells
    ]
    return json.dumps({"schema": SCHEMA, "version": __version__, "cells": made}, ensure_ascii=False, indent=1)


def _counter(progress: Callable[[int], object], done: int) -> Callable[[int], object]:
    return lambda finished: progress(done + finished)


def _row(
    entry: Entry, claim: Claim, cells: Sequence[Cell], ends: Mapping[str, Sequence[Cell]] = MappingProxyType({})
) -> Row:
    judged = ranges.settle(judge.judge(claim, cells), {name: judge.judge(claim, at) for name, at in ends.items()})
    row: Row = {
        "id": claim.id,
        "paper": entry.experiment.paper,
        "experiment": entry.experiment.id,
        "artefact": entry.experiment.artefact,
        "kind": claim.kind,
        "statement": claim.statement,
        "stated": claim.stated(),
        "qualifier": claim.qualifier,
        "source": claim.source,
        **_measured(judged),
        "unit": claim.unit,
        "verdict": judged.verdict,
    }
    if claim.role:
        row["role"] = claim.role
    if judged.reason:
        row["reason"] = judged.reason
    would = judge.judge(replace(claim, calibrated=""), cells) if claim.calibrated else judged
    if would.verdict != judged.verdict:
        row["if_judged"] = _under(would)
    if judged.marginal:
        row["marginal"] = True
    if judged.tolerance is not None:
        row["tolerance"] = {"low": _finite(judged.tolerance.low), "high": _finite(judged.tolerance.high)}
    if judged.verdict != judge.NOT_JUDGED and len(cells) > 1:
        if judged.worst is not None:
            row["cell"] = judged.worst.label
        row["cells"] = [_cell(cell) for cell in cells]
    if judged.verdict == judge.NOT_REPRODUCED and claim.id in causes():
        row["cause"] = causes()[claim.id].said
    if known := kernel_verdicts.beside(claim.id, judged.verdict):
        row["kernel"] = known
    return row


# Keys listed for each setting.
_UNDER = ("verdict", "measured", "low", "high", "members", "marginal")


def _under(judged: Judgement) -> Row:
    marginal = {"marginal": True} if judged.marginal else {}
    return {"verdict": judged.verdict, **_measured(judged), **marginal}


def _measured(judged: Judgement) -> Row:
    worst = judged.worst
    if worst is None:
        return {"measured": None, "low": None, "high": None}
    if worst.ranked is not None:
        found = sorted(worst.ranked, key=lambda name: worst.ranked[name].mean if worst.ranked else 0.0)
        return {"measured": found, "low": None, "high": None, "members": _members(worst.ranked)}
    of = worst.measured
    return {"measured": of.mean, **_bounds(of)} if of is not None else {}


def _members(ranked: Mapping[str, Interval]) -> dict[str, dict[str, float | None]]:
    return {name: {"mean": over.mean, **_bounds(over)} for name, over in ranked.items()}


def _bounds(over: Interval) -> dict[str, float | None]:
    """The confidence interval; `None` for a single run or a formula."""
    known = over.low != over.high
    return {"low": over.low if known else None, "high": over.high if known else None}


def _cell(cell: Cell) -> Row:
    if cell.lacks:
        return {"cell": cell.label, "lacks": cell.lacks}
    if cell.ranked is not None:
        return {"cell": cell.label, "members": _members(cell.ranked)}
    return {"cell": cell.label} | _measured(Judgement("", worst=cell))


def _finite(value: float) -> float | None:
    return value if abs(value) != float("inf") else None


def verdicts(rows: Sequence[Row]) -> list[str]:
    """A table of judged claims, then the others by reason."""
    judged = [row for row in rows if row["verdict"] in (judge.REPRODUCED, judge.NOT_REPRODUCED, judge.UNDECIDED)]
    parts = [_judged(judged)] if judged else []
    others = [(row, f"{row['verdict']}, {words.remark(row)}") for row in rows if row not in judged]
    for why in dict.fromkeys(why for _, why in others):
        own = [row for row, its in others if its == why]
        ids = ", ".join(f"{row['id']} ({would})" if (would := words.would(row)) else row["id"] for row in own)
        parts.append(textwrap.fill(f"{why}: {ids}", _width(), subsequent_indent="  ", break_on_hyphens=False))
    return parts


def _width() -> int:
    return room() or _WIDTH


def _judged(rows: Sequence[Row]) -> str:
    lines = [
        [row["id"], words.verdict(row), words.measured(row), words.stated(row), words.tolerance(row)] for row in rows
    ]
    head = ["claim", "verdict", "measured", "stated", "tolerance"]
    if any("kernel" in row for row in rows):
        head.append("real kernel")
        lines = [[*line, words.kernel(row)] for line, row in zip(lines, rows, strict=True)]
    with fitting(None):
        laid = table(head, lines).splitlines()
    if (width := room()) is not None and len(laid[0]) > width:
        return "\n".join(_block(head, line, words.remark(row)) for line, row in zip(lines, rows, strict=True))
    out = [laid[0]]
    for line, row in zip(laid[1:], rows, strict=True):
        out.append(line)
        out += textwrap.wrap(words.remark(row), _width(), initial_indent="    ", subsequent_indent="    ")
    return "\n".join(out)


def _block(head: Sequence[str], line: Sequence[str], remark: str) -> str:
    """A claim as a block, if it is too wide for a table row."""
    said = "; ".join(f"{name} {cell}" for name, cell in zip(head[2:], line[2:], strict=True) if cell)
    filled = [
        textwrap.fill(text, _width(), initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        for text in (said, remark)
        if text
    ]
    return "\n".join([f"{line[1]}  {line[0]}", *filled])
