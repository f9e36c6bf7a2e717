"""What kernels said of papers' claims in the place of their hosts: each paper's file, and the column of the report."""

import re

import pytest

from stillair.papers.claims import judge, kernel_verdicts, paper_registry
from stillair.papers.claims.inventory import experiments
from stillair.papers.pages import words

CLAIMS = {claim.id: claim for experiment in experiments() for claim in experiment.claims}
PAPERS = {paper: paper_registry.table(folder, "guests.toml") for paper, folder in paper_registry.folders().items()}
ASKED = {paper: table for paper, table in PAPERS.items() if table}
ENTRIES = [(paper, claim) for paper, table in ASKED.items() for claim in table["claim"]]


def test_the_headlines_of_two_papers_have_been_asked() -> None:
    assert ASKED.keys() == {"towards-1ms", "tsq-pacing"}
    assert {"t1ms-head-1ms", "t1ms-fig12-bbr", "tsqp-head-wired", "tsqp-head-wifi"} <= {claim for _, claim in ENTRIES}


@pytest.mark.parametrize(("paper", "claim"), ENTRIES)
def test_a_verdict_follows_from_its_figure_and_names_its_kernel(paper: str, claim: str) -> None:
    known = ASKED[paper]["claim"][claim]
    assert ASKED[paper]["claims_of"] == paper
    assert re.fullmatch(r"Linux \d+\.\d+\.\d+", ASKED[paper]["kernel"])
    figure, of = known["figure"], CLAIMS[claim]
    if of.kind == "order":
        found = [re.sub(r" [\d.e+-]+( \S+)?$", "", one) for one in figure.split(" < ")]
        assert set(found) == set(judge.members(of.ordering))
        steps = [found.index(low) < found.index(high) for low, high in judge.steps(of.ordering)]
        assert all(steps) == (known["verdict"] == judge.HELD)
    else:
        assert judge.bar(of).keeps(float(figure.split(" ")[0])) == (known["verdict"] == judge.HELD)


def test_the_column_names_each_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    guest = {"kernel": "Linux 6.12.117", "verdict": "missed", "figure": "0.2", "like": "0.1", "note": "once"}
    measured = {"kernel": "Linux 6.1", "verdict": "held", "tso": "0.05"}
    monkeypatch.setattr(kernel_verdicts, "verdicts", lambda: {"a": {**measured, "guest": guest}, "b": guest})
    both = kernel_verdicts.beside("a", judge.HELD)
    assert words.kernel({"kernel": both}) == "6.1 holds: 0.05 (HH); 6.12.117 misses: 0.2 (MH)"
    said = "Linux 6.1 holds it: 0.05 with TSO; Linux 6.12.117 misses it: 0.2, the model with its profile has 0.1; once"
    assert kernel_verdicts.said(both) == said
    assert words.kernel({"kernel": kernel_verdicts.beside("b", judge.MISSED)}) == "6.12.117 misses: 0.2 (MM)"
