"""Pages from stored results: verdicts of each paper, with figures if `make papers` drew them, and the gallery."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stillair.explain.faq import questions
from stillair_lab.papers.claims.inventory import papers
from stillair_lab.papers.pages import report, words
from stillair_lab.papers.robustness import counts

Row = dict[str, Any]

# Hand-written pages about a paper.
BESIDE = {
    "ending-the-anomaly": {
        "anomaly-rates.md": "what its stations' rates and losses were, and what follows",
        "thirty-stations.md": "its thirty stations, and what the paper leaves open",
        "pieces.md": "what each part of its scheduler is worth",
        "airtime-kernels.md": "what each kernel has changed since",
        "ath9k-mcs.md": "public measurements of the same driver beside the model",
    },
    "tsq-pacing": {"validation.md": "the model beside the real Linux kernel"},
    "towards-1ms": {"towards-1ms.md": "its headline, what its misses have in common, and what later kernels change"},
    "retry-out": {"retry-out.md": "where its claims hold, and whether the method still pays"},
    "bquic": {"bursty-quic.md": "what its gain depends on, and the fit of its mesh", "quic.md": "the model of QUIC"},
}


def pages(root: Path) -> dict[str, str]:
    """All generated pages, by path in docs/."""
    kept = root / "lab" / "results"
    found = {paper.short: report.read_claims(kept / paper.short / "claims.json") for paper in papers()}
    titles = {paper.short: f"[{paper.title.partition(':')[0]}]({paper.short}.md)" for paper in papers()}
    made = {"papers/README.md": _verdicts(found, titles), "gallery.md": _gallery(root, found)}
    for paper in papers():
        made[f"papers/{paper.short}.md"] = _paper(paper, found[paper.short], kept / paper.short)
    return made


def _verdicts(found: Mapping[str, list[Row]], titles: Mapping[str, str]) -> str:
    rows = [row for one in found.values() for row in one]
    return (
        f"# Verdicts\n\n{len(rows)} claims of {len(found)} papers, each judged by one rule, fixed before any run but for two exceptions "
        "([how](../judging.md)). A claim is *reproduced*, *not reproduced*, *undecided* (the ends of a range that sources leave give "
        "different verdicts) or *not judged*.\n\n"
        f"{counts.table(rows, titles)}\n"
        "*Ending the Anomaly* leaves open how its stations chose their rates. It is judged with three settings, none of them "
        "preferred ([why](../anomaly-rates.md)). *Can hardly fail*: the claim also holds with the mechanism under test "
        "switched off, or for half of 1,000 random draws. *Median error*: |measured - stated| / stated over the claims that "
        "state a number.\n\n"
        "`stillair paper all -o results/papers` makes all of it anew, in eight minutes on two cores.\n"
    )


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def _paper(paper: Any, rows: list[Row], kept: Path) -> str:  # noqa: ANN401 - a paper of the inventory
    names = ", ".join(paper.authors) if isinstance(getattr(paper, "authors", None), (list, tuple)) else ""
    version = json.loads((kept / "runs.json").read_text(encoding="utf-8"))["version"]
    parts = [
        f"# {paper.title}",
        f"{names}{', ' if names else ''}{paper.year}.".strip(),
        counts.table(rows, {paper.short: paper.title.partition(":")[0]}),
        f"Runs of Stillair {version}; seeds and trace hashes are in [runs.json](../results/{paper.short}/runs.json), all "
        f"numbers in [report.txt](../results/{paper.short}/report.txt). `stillair paper {paper.short}` makes them anew; "
        f"`stillair paper CLAIM --why` shows why a claim is not reproduced.",
    ]
    beside = BESIDE.get(paper.short, {})
    if beside:
        parts.append("More:\n\n" + "\n".join(f"- [{text}](../{page})" for page, text in beside.items()))
    by_experiment: dict[str, list[Row]] = {}
    for row in rows:
        by_experiment.setdefault(row["experiment"], []).append(row)
    for experiment, claims in by_experiment.items():
        parts.append(f"## {claims[0].get('artefact') or experiment}")
        if (kept / f"{experiment}.svg").is_file():
            parts.append(f"![{experiment}](../results/{paper.short}/{experiment}.svg)")
            parts.append(f"`stillair paper {paper.short}/{experiment}`")
        table = ["| claim | the paper says | here | verdict |", "|---|---|---|---|"]
        for row in claims:
            table.append(
                f"| `{row['id']}`: {_cell(row['statement'])} | {_cell(words.stated(row))} | {_cell(words.measured(row))} "
                f"| {_cell(words.verdict(row))} |"
            )
        parts.append("\n".join(table))
    return "\n\n".join(parts) + "\n"


def _shown(title: str, picture: str, command: str) -> str:
    return f"### {title}\n\n![{title}]({picture})\n\n```sh\n{command}\n```\n"


def _gallery(root: Path, found: Mapping[str, list[Row]]) -> str:
    parts = ["# Gallery\n\nEvery picture has the command that made it.\n", "## Runs\n"]
    plots = tomllib.loads((root / "docs" / "gallery" / "plots.toml").read_text(encoding="utf-8"))
    parts += [_shown(one["title"], f"gallery/{name}", one["command"].strip()) for name, one in plots.items()]
    parts.append("## Answers\n")
    parts += [
        _shown(questions.read(name).question, f"faq/{name}.svg", f"stillair faq {name}") for name in questions.names()
    ]
    figures = []
    for paper, rows in found.items():
        experiments: Iterable[str] = dict.fromkeys(row["experiment"] for row in rows)
        for experiment in experiments:
            if (root / "lab" / "results" / paper / f"{experiment}.svg").is_file():
                title = f"{paper}: {next(row.get('artefact') or experiment for row in rows if row['experiment'] == experiment)}"
                figures.append(
                    _shown(title, f"results/{paper}/{experiment}.svg", f"stillair paper {paper}/{experiment}")
                )
    if figures:
        parts += ["## Figures of papers\n", *figures]
    return "\n".join(parts)
