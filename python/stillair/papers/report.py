"""`stillair paper`: the list of experiments, and the report of those that were run."""

import json
from collections.abc import Sequence
from typing import Any

from stillair.papers import registry
from stillair.papers.claims import Claim
from stillair.papers.measured import Measured, Runner
from stillair.papers.registry import Entry
from stillair.progress import runs_progress
from stillair.statistics import Interval
from stillair.table import table


def listing() -> str:
    """All experiments and whether they can be run."""
    rows = [
        [entry.experiment.name, str(len(entry.experiment.claims)), "yes" if entry.runner else "not yet"]
        for entry in registry.entries()
    ]
    return table(["experiment", "claims", "runs"], rows) + "\n"


def run(wanted: Sequence[Entry], runs: int | None, jobs: int | None, quiet: bool) -> tuple[str, list[dict[str, Any]]]:
    """Runs the experiments and gives the text of their artefacts and the list of their claims."""
    outcomes: dict[Runner, Measured] = {}
    runners = dict.fromkeys(entry.runner for entry in wanted if entry.runner)
    for runner in runners:
        repetitions = runs or runner.repetitions()
        with runs_progress(repetitions * runner.cells(), quiet) as progress:
            outcomes[runner] = runner.run(repetitions, jobs, progress)
    texts = [outcome.text for outcome in outcomes.values()]
    texts += [f"{entry.experiment.name}: cannot be run yet\n" for entry in wanted if not entry.runner]
    return "\n".join(texts), claims(wanted, outcomes)


def claims(wanted: Sequence[Entry], outcomes: dict[Runner, Measured]) -> list[dict[str, Any]]:
    """One row for each claim of the experiments. What was not run has nothing measured."""
    rows = []
    for entry in wanted:
        outcome = outcomes.get(entry.runner) if entry.runner else None
        for claim in entry.experiment.claims:
            row = _row(entry, claim, outcome.claims.get(claim.id) if outcome else None)
            verdict = {"verdict": "not-judged", "reason": _reason(claim)} if outcome else {"verdict": "not-run"}
            rows.append(row | verdict)
    return rows


def as_json(rows: Sequence[dict[str, Any]]) -> str:
    """The list that `stillair paper --json` prints."""
    return json.dumps(rows, ensure_ascii=False, allow_nan=False)


def _row(entry: Entry, claim: Claim, measured: Interval | None) -> dict[str, Any]:
    return {
        "id": claim.id,
        "paper": entry.experiment.paper,
        "experiment": entry.experiment.id,
        "statement": claim.statement,
        "stated": claim.stated(),
        "measured": measured.mean if measured else None,
        "low": measured.low if measured else None,
        "high": measured.high if measured else None,
        "unit": claim.unit,
    }


def _reason(claim: Claim) -> str:
    if claim.role == "input":
        return "the number is an input of the experiment"
    if claim.role == "fit":
        return "the number is used to fit a setting that the paper leaves open"
    if not claim.reproduce:
        return "said about other work or about instruments"
    return "claims are not judged yet"
