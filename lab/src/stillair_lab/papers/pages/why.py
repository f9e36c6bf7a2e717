"""`stillair paper CLAIM --why`: a claim as judged, and with the single change named by its cause.

Both halves of the pair run the claim's own cells with the same seeds, and are judged by the papers' own
measures and rule.
"""

import difflib
import json
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stillair._native import InputError, __version__
from stillair.results.result import Result
from stillair_lab.papers.claims import causes, judge, kernel_verdicts
from stillair_lab.papers.claims.causes import Cause
from stillair_lab.papers.claims.inventory import Claim, Experiment, experiments
from stillair_lab.papers.claims.judge import Cell
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.pages import registry, report, words
from stillair_lab.papers.pages.registry import Entry
from stillair_lab.papers.pages.report import Row
from stillair_lab.papers.runs.campaign import Outcome, WhenAsked
from stillair_lab.papers.runs.plan import Campaign, CellPlan, Plan, plan

Overrides = Sequence[tuple[str, str]]

_WIDTH = 110
LABEL = 12
# Cells to name; more are only counted.
_MOST_CELLS = 4

_MEANINGS = {
    causes.ISOLATES: "this change alone decides the claim, and it is no guess: {shown}",
    causes.SUFFICES: "this shows that the change suffices, not that the paper had it",
    causes.CONTRIBUTES: "the change is a part of it and does not decide the claim; the rest was not found",
    causes.PRINT: "the paper's own numbers contradict each other: {arithmetic}",
    causes.CHANCE: "a tie: other random numbers turn the verdict",
    causes.TIE: "a tie: other random numbers give another order, and miss the claim too",
    causes.TOLERANCE: "the figure lies just outside its tolerance, and the rule allows no more",
    causes.UNKNOWN: "no cause was found",
}


@dataclass(frozen=True)
class Question:
    """A claim to explain."""

    entry: Entry
    """Its experiment, with only this claim."""
    cause: Cause | None
    """`None` for a claim without a recorded cause."""
    tried: Overrides = ()
    """The user's own change, which replaces that of the cause."""

    @property
    def claim(self) -> Claim:
        """The paper's claim."""
        return self.entry.experiment.claims[0]

    @property
    def change(self) -> Overrides:
        """Difference between the two halves."""
        return self.tried or [*(self.cause.change if self.cause else {}).items()]

    def changed(self, cell: CellPlan) -> Overrides:
        """The part of the change that applies to this cell."""
        if self.tried or self.cause is None or _fits(self.cause.where, cell):
            return self.change
        return ()


@dataclass(frozen=True)
class Answer:
    """Outcome of the pair of runs."""

    question: Question
    judged: Row
    """The claim's row as judged."""
    changed: Row | None
    """The row with the change; `None` if there is nothing to change."""
    cells: Sequence[Mapping[str, Any]]
    """What was run: scenario, cell, settings, number of runs, and the trace hashes of both halves."""
    fewer: int | None
    """Runs per cell behind the verdict, if more than here."""

    @property
    def agrees(self) -> bool:
        """Returns true if the outcome matches the kind of the cause. A user's own change has no kind."""
        cause = self.question.cause
        if cause is None or self.question.tried or self.changed is None:
            return True
        if cause.kind == causes.TIE:
            return isinstance(self.judged["measured"], list) and self.judged["measured"] != self.changed["measured"]
        if cause.holds is None:
            return True
        if (self.changed["verdict"] == judge.REPRODUCED) != cause.holds or self.judged[
            "verdict"
        ] != judge.NOT_REPRODUCED:
            return False
        # An order has no distance from its tolerance.
        return cause.kind != causes.CONTRIBUTES or not _margin(self.changed) <= _margin(self.judged)


def questions(name: str, tried: Overrides = ()) -> list[Question]:
    """The claim of this name, or all claims of an experiment, a paper or `all` that are not reproduced."""
    known = {claim.id: (entry, claim) for entry in registry.entries() for claim in entry.experiment.claims}
    papers = {entry.experiment.paper for entry, _ in known.values()}
    missed = causes.causes()
    if name in known:
        wanted = [name]
    elif name == "all" or name in papers:
        wanted = [id_ for id_, (entry, _) in known.items() if id_ in missed and name in ("all", entry.experiment.paper)]
    elif entries := _begin_so(name):
        own = [claim.id for entry in entries for claim in entry.experiment.claims]
        wanted = [id_ for id_ in own if id_ in missed]
        if not own:
            raise InputError(f"{name}: has no claims that could be judged")
        if not wanted:
            some = ", ".join([*own[:3], *(["..."] if len(own) > 3 else [])])
            raise InputError(
                f"{name}: its claims are reproduced, undecided or not judged; --why with one shows it as judged: {some}"
            )
    else:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; near it: {', '.join(near)}" if near else "; the report of 'stillair paper' names them"
        raise InputError(f"{name}: no claim and no experiment has this name{hint}")
    return [_question(*known[id_], missed.get(id_), tried) for id_ in wanted]


def _begin_so(name: str) -> list[Entry]:
    """Experiments whose name starts with this; empty if there are none."""
    try:
        return registry.find(name)
    except InputError:
        return []


def _question(entry: Entry, claim: Claim, cause: Cause | None, tried: Overrides) -> Question:
    only = cause.only if cause else {}
    served = tuple(
        replace(campaign, cells=tuple(cell for cell in campaign.cells if _fits(only, cell)))
        for campaign in entry.plan.campaigns
    )
    own = replace(entry.experiment, claims=(claim,))
    return Question(replace(entry, experiment=own, plan=replace(entry.plan, campaigns=served)), cause, tried)


def _fits(wanted: Mapping[str, Any], cell: CellPlan) -> bool:
    """Returns true if a cell has these words, or one of each list."""
    lists = {key: value if isinstance(value, list) else [value] for key, value in wanted.items()}
    return all(str(cell.where.get(key)) in map(str, values) for key, values in lists.items())


def answers(asked: Sequence[Question], runs: int | None = None, jobs: int | None = None) -> Iterator[Answer]:
    """Answers one by one. Cells shared by claims of one paper are run once."""
    known: dict[object, Result] = {}
    paper = ""
    for question in asked:
        if question.entry.experiment.paper != paper:
            paper = question.entry.experiment.paper
            known.clear()
        yield answer(question, runs, jobs, known)


def answer(
    question: Question, runs: int | None = None, jobs: int | None = None, known: dict[object, Result] | None = None
) -> Answer:
    """Runs the claim's cells as judged, and with the change if there is one. `known` has earlier runs."""
    known = {} if known is None else known
    if judge.unjudged(question.claim):
        return Answer(question, report.claim_row(question.entry, question.claim, ()), None, (), None)
    cause = question.cause
    count = runs or (cause.runs if cause else None)
    both = [*(cause.both if cause else {}).items()]
    judged, outcomes = _half(question, count, jobs, lambda _: both, known)
    if cause is None and not question.tried:
        judged = _otherwise(question, judged, count, jobs, known)
    changed, others = None, None
    if question.change:
        changed, others = _half(question, count, jobs, lambda cell: [*both, *question.changed(cell)], known)
    cells = list(_ran(outcomes, others, question, both))
    campaigns = [campaign for campaign, ran in outcomes.items() if ran.ran]
    whole = max((report.repetitions([question.entry], campaign, None) for campaign in campaigns), default=0)
    return Answer(question, judged, changed, cells, whole if count and count < whole else None)


def _half(
    question: Question,
    runs: int | None,
    jobs: int | None,
    extra: Callable[[CellPlan], Overrides],
    known: dict[object, Result],
) -> tuple[Row, dict[Campaign, WhenAsked]]:
    entry, claim = question.entry, question.claim
    results = {
        campaign: WhenAsked(campaign, report.repetitions([entry], campaign, runs), jobs, extra, known)
        for campaign in entry.plan.campaigns
    }
    outcomes = {campaign.id: Outcome(own.scenario.text, own) for campaign, own in results.items()}
    of = plan(entry.experiment.paper)
    own = {**of.experiments, entry.experiment.id: entry.plan}
    measurer = Measurer(_whole(entry), replace(of, experiments=own), outcomes)
    return report.claim_row(entry, claim, measurer.cells(claim)), results


def _whole(entry: Entry) -> Experiment:
    """The experiment with all its claims, which together contain the printed numbers."""
    return next(one for one in experiments() if one.name == entry.experiment.name)


def _otherwise(question: Question, judged: Row, runs: int | None, jobs: int | None, known: dict[object, Result]) -> Row:
    """The row including alternatives that the paper or its hardware leaves open: ends of ranges, and other settings."""
    entry, claim = question.entry, question.claim

    def cells(of: Plan, campaigns: Mapping[str, Campaign]) -> list[Cell]:
        results = {
            id_: WhenAsked(own, report.repetitions([entry], own, runs), jobs, lambda _: (), known)
            for id_, own in campaigns.items()
        }
        outcomes = {id_: Outcome(own.scenario.text, own) for id_, own in results.items()}
        return Measurer(_whole(entry), of, outcomes).cells(claim)

    of, own = plan(entry.experiment.paper), entry.plan.campaigns
    ends = {
        name: cells(of, {campaign.id: (campaign.ends or {}).get(name, campaign) for campaign in own})
        for name in entry.plan.ends()
    }
    if ends:
        judged = report.claim_row(entry, claim, cells(of, {campaign.id: campaign for campaign in own}), ends)
    others = {
        name: report.claim_row(
            entry, claim, cells(other, {own.id: own for own in other.experiments[entry.experiment.id].campaigns})
        )
        for name, other in entry.others.items()
    }
    return report.with_settings(judged, of.name, others) if others else judged


def _ran(
    judged: Mapping[Campaign, WhenAsked],
    changed: Mapping[Campaign, WhenAsked] | None,
    question: Question,
    both: Overrides,
) -> Iterable[Mapping[str, Any]]:
    for campaign, results in judged.items():
        for cell in campaign.cells:
            if cell.name not in results.ran:
                continue
            runs = results.ran[cell.name].runs
            row = {
                "campaign": campaign.id,
                "scenario": campaign.scenario,
                "cell": cell.name,
                "overrides": {**cell.overrides, **dict(both)},
                "runs": len(runs),
                "seed": runs[0]["seed"],
                "judged": [run["trace_hash"] for run in runs],
            }
            if changed is not None:
                row["change"] = dict(question.changed(cell))
                row["changed"] = [run["trace_hash"] for run in changed[campaign].ran[cell.name].runs]
            yield row


def as_json(answers: Sequence[Answer]) -> str:
    """JSON of `--why --json`."""
    return json.dumps([_as_row(one) for one in answers], ensure_ascii=False, allow_nan=False)


def _as_row(found: Answer) -> Row:
    cause = found.question.cause
    row: Row = {"claim": found.question.claim.id, "version": __version__, "judged": found.judged}
    if cause is not None:
        row |= {"kind": cause.kind, "text": cause.said, "tried": list(cause.tried)}
    if found.changed is not None:
        row |= {"change": dict(found.question.change), "changed": found.changed}
    return row | {"agrees": found.agrees, "cells": list(found.cells)}


def text(found: Answer) -> str:
    """The answer for a terminal."""
    question, row = found.question, found.judged
    own = question.entry.experiment
    lines = [f"{question.claim.id}: {row['statement']}"]
    lines += line("claim", f"{own.paper}, {own.artefact}; {row['source']}")
    lines += line("stated", "; ".join(part for part in (words.stated(row), _tolerance(row)) if part))
    if row["verdict"] == judge.NOT_JUDGED:
        return "\n".join([*lines, *line("why", f"it is not judged: {words.remark(row)}; there is nothing to explain")])
    setting = row.get("setting") or plan(own.paper).name if question.entry.others else ""
    lines += line("as judged", _figure(row) + (f"; with {setting}" if setting else ""))
    for name, one in row.get("settings", {}).items():
        if name != setting:
            lines += line("", _figure({**row, "cell": None, "marginal": False, **one}) + f"; with {name}")
    if question.tried:
        lines += line("change", "the one asked for")
    elif question.cause is not None:
        lines += line("why", question.cause.said)
    lines += [f"{'':<{LABEL}}--set '{key}={value}'" for key, value in question.change]
    if question.change and not question.tried and question.cause and question.cause.where:
        chosen = ", ".join(f"{key} {_listed(value)}" for key, value in question.cause.where.items())
        lines += line("", f"in the cells of {chosen}")
    if found.changed is not None:
        lines += line("with it", _figure(found.changed))
    lines += line("so", _conclusion(found))
    if "kernel" in row:
        lines += line("kernel", kernel_verdicts.said(row["kernel"]))
    return "\n".join([*lines, *line("runs", _runs(found))])


def _conclusion(found: Answer) -> str:
    cause = found.question.cause
    if found.question.tried and found.changed is not None:
        return f"with this change the claim is {found.changed['verdict'].replace('-', ' ')}"
    if cause is None:
        return _unexplained(found.judged)
    parts = [_MEANINGS[cause.kind].format(shown=cause.shown, arithmetic=cause.arithmetic)]
    if not found.agrees:
        parts.insert(0, f"these runs do not show what is kept as their kind ({cause.kind})")
    if cause.tried:
        parts.append(f"tried: {'; '.join(cause.tried)}")
    return ". ".join(parts)


def _unexplained(row: Row) -> str:
    """Explains a claim without a recorded cause."""
    if row["verdict"] == judge.UNDECIDED:
        return f"it is undecided: {row['reason']}. No source says more of that setting than its range"
    if "/" in words.verdict(row):
        return "the paper leaves open which settings are meant, and the verdict depends on them; none is preferred"
    return "it is reproduced: nothing to explain" if row["verdict"] == judge.REPRODUCED else "no cause is kept for it"


def _tolerance(row: Row) -> str:
    return f"tolerance: {words.tolerance(row)}" if words.tolerance(row) else ""


def _figure(row: Row) -> str:
    parts = [f"{words.measured(row)}: {row['verdict']}"]
    if row.get("cell"):
        parts.append(f"worst cell: {row['cell']}")
    if row.get("marginal"):
        parts.append("marginal")
    if row["measured"] is None:
        parts.append(row.get("reason", ""))
    return "; ".join(part for part in parts if part)


def _runs(found: Answer) -> str:
    if not found.cells:
        return "none: it is worked out"
    more = f" and {len(found.cells) - _MOST_CELLS} more" if len(found.cells) > _MOST_CELLS else ""
    by_campaign: dict[str, list[str]] = {}
    for cell in found.cells[:_MOST_CELLS]:
        by_campaign.setdefault(f"{cell['campaign']} ({cell['scenario']}.toml)", []).append(f'"{cell["cell"]}"')
    named = "; ".join(f"{campaign}: {', '.join(names)}" for campaign, names in by_campaign.items()) + more
    counts = " or ".join(dict.fromkeys(str(cell["runs"]) for cell in found.cells))
    seeds = ", ".join(dict.fromkeys(str(cell["seed"]) for cell in found.cells))
    fewer = f" (the verdict has {found.fewer})" if found.fewer else ""
    parts = [f"{counts} of each cell{fewer}, seed {seeds}"]
    cause = found.question.cause
    if cause and cause.both:
        parts.append(f"with {', '.join(f'{key}={value}' for key, value in cause.both.items())}, unlike the verdict")
    halves = ", the same in both halves" if found.changed is not None else ""
    return f"{'; '.join(parts)}{halves}; {named}"


def summary(answers: Sequence[Answer]) -> str:
    """Number of answers by kind, and the pairs whose outcome does not match their kind."""
    kinds = [found.question.cause.kind for found in answers if found.question.cause]
    counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in _MEANINGS if kind in kinds)
    lines = [f"stillair {__version__}: {len(answers)} claims asked: {counted}"]
    lines += [f"does not show what is kept: {found.question.claim.id}" for found in answers if not found.agrees]
    return "\n".join(lines)


def line(label: str, said: str) -> list[str]:
    """A labelled sentence, wrapped."""
    head = f"{label:<{LABEL}}"
    return textwrap.wrap(said, _WIDTH, initial_indent=head, subsequent_indent=" " * LABEL, break_on_hyphens=False)


def _listed(value: object) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def _margin(row: Row) -> float:
    """Distance of a figure from the nearer bound of its tolerance, negative outside; NaN for an order."""
    if "tolerance" not in row or row["measured"] is None:
        return math.nan
    low, high = row["tolerance"]["low"], row["tolerance"]["high"]
    ends = [row["measured"] - low] if low is not None else []
    return float(min([*ends, high - row["measured"]] if high is not None else ends))
