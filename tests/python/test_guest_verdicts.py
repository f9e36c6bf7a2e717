"""What kernels said of papers' claims in the place of their hosts: each paper's file, and the column of the report."""

import re

import pytest

from stillair_lab.papers.claims import judge, kernel_verdicts, paper_registry
from stillair_lab.papers.claims.inventory import experiments
from stillair_lab.papers.pages import words

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
        assert all(steps) == (known["verdict"] == judge.REPRODUCED)
    else:
        assert judge.tolerance(of).keeps(float(figure.split(" ")[0])) == (known["verdict"] == judge.REPRODUCED)


def test_the_column_names_each_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    guest = {"kernel": "Linux 6.12.117", "verdict": "not-reproduced", "figure": "0.2", "like": "0.1", "note": "once"}
    measured = {"kernel": "Linux 6.1", "verdict": "reproduced", "tso": "0.05"}
    monkeypatch.setattr(kernel_verdicts, "verdicts", lambda: {"a": {**measured, "guest": guest}, "b": guest})
    both = kernel_verdicts.beside("a", judge.REPRODUCED)
    assert words.kernel({"kernel": both}) == "6.1 reproduces: 0.05 (RR); 6.12.117 does not reproduce: 0.2 (NR)"
    said = (
        "Linux 6.1 reproduces it: 0.05 with TSO; Linux 6.12.117 does not reproduce it: 0.2,"
        " the model with its profile has 0.1; once"
    )
    assert kernel_verdicts.said(both) == said
    assert (
        words.kernel({"kernel": kernel_verdicts.beside("b", judge.NOT_REPRODUCED)})
        == "6.12.117 does not reproduce: 0.2 (NN)"
    )
