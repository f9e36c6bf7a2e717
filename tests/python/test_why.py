"""`stillair paper CLAIM --why`: every miss has a cause, and each pair goes through the papers' own rule."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stillair.__main__ import status
from stillair._native import InputError
from stillair.runs import bundled
from stillair_lab.papers.claims import causes, judge, kernel_verdicts
from stillair_lab.papers.claims.causes import Cause
from stillair_lab.papers.claims.inventory import experiments
from stillair_lab.papers.pages import registry, report, why
from stillair_lab.papers.runs import campaign

RESULTS = Path(__file__).resolve().parents[2] / "lab" / "results"
CLAIMS = {claim.id: claim for experiment in experiments() for claim in experiment.claims}
# A claim about one cell of half a second, whose verdict a change turns.
QUICK = "t1ms-fig14a-bbr"


def kept() -> dict[str, str]:
    """The verdict of each claim in the results that are kept."""
    return {
        row["id"]: row["verdict"] for file in sorted(RESULTS.glob("*/claims.json")) for row in report.read_claims(file)
    }


def astray(known: Mapping[str, Cause], verdicts: Mapping[str, str]) -> set[str]:
    """Misses without a cause, and causes of what is not missed."""
    return known.keys() ^ {claim for claim, verdict in verdicts.items() if verdict == judge.NOT_REPRODUCED}


def test_every_miss_has_a_cause_and_nothing_else_has() -> None:
    assert astray(causes.causes(), kept()) == set()


def test_a_cause_of_a_held_claim_and_a_miss_without_one_are_found() -> None:
    known, verdicts = dict(causes.causes()), kept()
    held = next(claim for claim, verdict in verdicts.items() if verdict == judge.REPRODUCED)
    assert astray(known | {held: known[QUICK]}, verdicts) == {held}
    del known[QUICK]
    assert astray(known, verdicts) == {QUICK}


@pytest.mark.parametrize("claim", sorted(causes.causes()))
def test_what_a_cause_changes_is_in_its_scenario(claim: str) -> None:
    cause = causes.causes()[claim]
    (question,) = why.questions(claim)
    settings = [*cause.both.items()]
    if not cause.change:
        return
    chosen = [(own, cell) for own in question.entry.plan.campaigns for cell in own.cells if cell.where]
    wrong: list[str] = []
    # An experiment has cells beside those of a claim, which may be of another kind: one that takes it is enough.
    for own, cell in chosen:
        scenario, as_judged = bundled.scenario(own.scenario), [*cell.overrides.items(), *settings]
        changed = question.changed(cell)
        try:
            if changed and scenario.resolve(as_judged) != scenario.resolve([*as_judged, *changed]):
                return
        except InputError as error:
            wrong.append(str(error))
    pytest.fail(f"the change is in no cell: {wrong[:1]}")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "suffices", "text": "a word"}, "found no change"),
        ({"kind": "isolates", "text": "a word", "change": {"seed": "2"}}, "found no shown"),
        ({"kind": "print", "text": "a word"}, "found no arithmetic"),
        ({"kind": "unknown", "text": "a word"}, "found no tried"),
        ({"kind": "tolerance"}, "found no text"),
        ({"kind": "likely", "text": "a word"}, "expected one of isolates"),
        ({"kind": "tolerance", "text": "a word", "figure": 3}, "found figure"),
        ({"kind": "tolerance", "text": "a word", "change": {"seed": "2"}}, "a pair of runs does not show a tolerance"),
        ({"kind": "chance", "text": "a word", "change": {"seed": 2}}, "expected text"),
        ({"as": "t1ms-nobody"}, "expected a claim with a cause of its own"),
        ({"as": "like"}, "expected a claim with a cause of its own"),
    ],
)
def test_an_entry_that_does_not_say_what_its_kind_must_is_refused(entry: dict[str, Any], message: str) -> None:
    table = {"claim": entry, "like": {"as": "other"}, "other": {"kind": "tolerance", "text": "a word"}}
    with pytest.raises(InputError, match=message):
        causes.read(table)


def test_a_cause_that_is_anothers_has_its_change_and_its_own_words() -> None:
    table = {"one": {"kind": "chance", "text": "a tie", "change": {"seed": "2"}}, "two": {"as": "one", "runs": 3}}
    two = causes.read(table)["two"]
    assert (two.kind, dict(two.change), two.runs, two.said) == ("chance", {"seed": "2"}, 3, "as one: a tie")


def test_both_halves_are_measured_and_judged_as_the_paper_is() -> None:
    found = why.answer(replace(why.questions(QUICK)[0], cause=None, tried=[("test.name", "rrul_be")]), runs=2)
    wanted = registry.find("towards-1ms/fig14a")
    for row, extra in ((found.judged, []), (found.changed, [("test.name", "rrul_be")])):
        rows = report.run(wanted, report.prepare(wanted, extra), runs=2, extra=extra).rows()
        whole = next(one for one in rows if one["id"] == QUICK)
        # Only as judged a cause stands beside it; a report says more than a row of one claim.
        assert row is not None
        assert {key: whole[key] for key in row if key != "cause"} == {key: row[key] for key in row if key != "cause"}


def test_the_answer_says_both_figures_the_change_and_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["paper", QUICK, "--why", "--runs", "2"]) == 0
    text = capsys.readouterr().out
    for line in (
        "as judged ",
        "with it ",
        "--set 'test.name=rrul_be'",
        "not that the paper had it",
        "the verdict has 5",
    ):
        assert line in text
    assert text.index(": not-reproduced") < text.index(": reproduced")
    assert status(["paper", QUICK, "--why", "--runs", "1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["kind"], row["judged"]["verdict"], row["changed"]["verdict"]) == (
        "suffices",
        "not-reproduced",
        "reproduced",
    )
    assert row["agrees"]
    assert [len(cell["judged"]) for cell in row["cells"]] == [1]
    assert row["cells"][0]["judged"] != row["cells"][0]["changed"]


def test_a_claim_over_a_range_is_as_undecided_as_in_the_report() -> None:
    (asked,) = why.questions("t1ms-fig12-bbr")
    found = why.answer(asked)
    assert found.judged["verdict"] == judge.UNDECIDED
    assert "it is undecided: not-reproduced in the middle of the range, reproduced with the fastest USB" in " ".join(
        why.text(found).split()
    )


def test_a_claim_is_told_with_each_of_several_settings() -> None:
    (asked,) = why.questions("eta-f8")
    found = why.answer(asked, runs=1)
    assert list(found.judged["settings"]) == [
        "fixed rates",
        "rate control everywhere",
        "rate control at the fast stations",
    ]
    text = why.text(found)
    assert all(f"with {name}" in " ".join(text.split()) for name in found.judged["settings"])


def test_a_tie_has_to_come_out_in_another_order() -> None:
    def pair(judged: object, changed: object) -> bool:
        asked = replace(why.questions(QUICK)[0], cause=causes.read({QUICK: tie})[QUICK])
        rows = [{"verdict": "not-reproduced", "measured": one} for one in (judged, changed)]
        return why.Answer(asked, rows[0], rows[1], (), None).agrees

    tie = {"kind": "tie", "text": "a word", "change": {"seed": "2"}}
    assert pair(["a", "b", "c"], ["a", "c", "b"])
    assert not pair(["a", "b", "c"], ["a", "b", "c"])
    assert not pair(2.0, 3.0)


def test_claims_of_one_paper_share_their_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    made, run = [], campaign._cell
    monkeypatch.setattr(campaign, "_cell", lambda *args: made.append(args[3]) or run(*args))
    asked = [why.questions(QUICK)[0], why.questions(QUICK)[0]]
    first, second = why.answers(asked, runs=1)
    assert len(made) == 2  # as judged, and with the change
    assert (first.judged, first.changed, first.cells) == (second.judged, second.changed, second.cells)


def test_a_planted_change_that_explains_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    planted = replace(causes.causes()[QUICK], change={"link.lan.delay": "0.2 ms"})
    found = why.answer(replace(why.questions(QUICK)[0], cause=planted), runs=1)
    assert not found.agrees
    assert "do not show what is kept" in why.text(found)
    assert f"does not show what is kept: {QUICK}" in why.summary([found])
    # A change of one's own is only told.
    assert status(["paper", QUICK, "--why", "--runs", "1", "--set", "link.lan.delay=0.2 ms"]) == 0
    assert "with this change the claim is not reproduced" in capsys.readouterr().out


def test_a_change_may_be_for_some_cells_only() -> None:
    planted = replace(causes.causes()[QUICK], change={"seed": "7"}, where={"qdisc": ["fifo", "pie"]})
    question = replace(why.questions("t1ms-fig6-pie-fifo")[0], cause=planted)
    chosen = {
        cell.where["qdisc"] for own in question.entry.plan.campaigns for cell in own.cells if question.changed(cell)
    }
    assert chosen == {"fifo", "pie"}


def test_what_is_held_or_not_judged_needs_no_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["paper", "tsqp-fig8-equivalence", "--why"]) == 0
    assert "it is reproduced: nothing to explain" in capsys.readouterr().out
    unjudged = next(
        claim for claim, verdict in kept().items() if verdict == "not-judged" and not CLAIMS[claim].reproduce
    )
    assert status(["paper", unjudged, "--why"]) == 0
    assert "it is not judged: said about other work" in capsys.readouterr().out


def test_an_experiment_stands_for_its_missed_claims() -> None:
    missed = causes.causes()
    for experiment in experiments():
        own = [claim.id for claim in experiment.claims if claim.id in missed]
        if own:
            assert [question.claim.id for question in why.questions(experiment.name)] == own
        else:
            with pytest.raises(
                InputError, match=r"its claims are reproduced, undecided or not judged; --why with|has no claims"
            ):
                why.questions(experiment.name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["paper", "t1ms-fig14a-bb", "--why"], "no claim and no experiment has this name; near it: t1ms-fig14a-bbr"),
        (
            ["paper", "zzz", "--why"],
            "no claim and no experiment has this name; the report of 'stillair paper'",
        ),
        (["paper", "--why"], "give its name"),
        (["paper", QUICK, "--why", "-o", "folder"], "--why keeps nothing"),
        (["paper", QUICK, "--why", "--set", "node.nobody.profile=x"], "nobody"),
        (["paper", QUICK], "found a claim, expected an experiment; --why explains"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_paper_and_all_are_their_misses() -> None:
    every = [question.claim.id for question in why.questions("all")]
    assert set(every) == set(causes.causes())
    retry = [question.claim.id for question in why.questions("retry-out")]
    assert retry == [claim for claim in every if claim.startswith("retry-")]


def test_the_kernel_says_something_of_every_judged_claim_of_the_tsq_paper() -> None:
    judged = {claim for claim, verdict in kept().items() if claim.startswith("tsqp-") and verdict != "not-judged"}
    assert {claim for claim in kernel_verdicts.verdicts() if claim.startswith("tsqp-")} == judged
    measured = [claim for claim in judged if kernel_verdicts.verdicts()[claim]["kernel"] == "Linux 6.1"]
    classes = [kernel_verdicts.beside(claim, judge.REPRODUCED)["class"] for claim in measured]
    assert (classes.count("RR"), classes.count("NR")) == (14, 7)
    missed = kernel_verdicts.beside("tsqp-fig5a-local", judge.NOT_REPRODUCED)
    assert missed["class"] == "NN"
    assert kernel_verdicts.short(missed).startswith("6.1 does not reproduce: 19.1 (NN)")
    assert kernel_verdicts.beside("retry-f4-lost", judge.REPRODUCED) == {}
    # A figure on each side of the tolerance, in this kernel's own words.
    tolerance = judge.tolerance(CLAIMS["tsqp-fig5a-gigabit"])
    said = kernel_verdicts.verdicts()["tsqp-fig5a-gigabit"]
    assert (tolerance.keeps(float(said["tso"])), tolerance.keeps(float(said["one"]))) == (False, True)
