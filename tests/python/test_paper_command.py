"""`stillair paper` from end to end, on runs of two seconds."""

import json
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from stillair import RunError, Scenario
from stillair.__main__ import status
from stillair.runs import bundled
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.claims.inventory import experiments
from stillair_lab.papers.pages import report
from stillair_lab.papers.runs import campaign

Engine = Callable[..., list[Any]]

SHORT = ["--runs", "2", "--set", "duration=3 s", "--set", "warm_up=1 s"]
ALL_IDS = [claim.id for experiment in experiments() for claim in experiment.claims]
KEYS = {"id", "paper", "experiment", "stated", "measured", "low", "high", "unit", "verdict"}
# Elements that have no end tag.
VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.images: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            elif key == "href":
                self.targets.append(value or "")
            elif key == "src":
                self.images.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


_whole = bundled.scenario


def brief(name: str) -> Scenario:
    """A scenario of the package, of 3 s; one of Flent's tests takes 10 s more than its load, however long that is."""
    text = _whole(name).text
    for key, value in (("duration", "3 s"), ("warm_up", "1 s"), ("length", "1 s"), ("start", "1 s")):
        text = re.sub(rf'^{key} = "[^"]*"', f'{key} = "{value}"', text, flags=re.MULTILINE)
    return Scenario(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("papers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundled, "scenario", brief)
        assert status(["paper", "all", "--runs", "2", "--set", "seed=3", "-o", str(made)]) == 0
    return made


@pytest.fixture(scope="module")
def claims(folder: Path) -> dict[str, dict[str, Any]]:
    return {claim["id"]: claim for claim in report.read_claims(folder / "claims.json")}


def test_every_claim_has_a_verdict_and_those_without_a_number_a_reason(claims: dict[str, dict[str, Any]]) -> None:
    assert list(claims) == ALL_IDS
    for claim in claims.values():
        assert claim.keys() >= KEYS
        assert claim["verdict"] in ("reproduced", "not-reproduced", "undecided", "not-run", "not-judged")
        # A peak that no run shows is not reproduced, without a number.
        if claim["id"] != "bquic-f5-peak2":
            assert (claim["measured"] is None) is (claim["verdict"] in ("not-run", "not-judged"))
        assert bool(claim.get("reason")) is (claim["measured"] is None or claim["verdict"] == "undecided")
        if isinstance(claim["measured"], float):
            exact = claim["low"] is None
            assert exact == (claim["high"] is None)
            assert exact or claim["low"] <= claim["measured"] <= claim["high"]
    assert any(isinstance(claim["low"], float) for claim in claims.values())


def test_table_1_and_figure_5_are_judged_whole(claims: dict[str, dict[str, Any]]) -> None:
    judged = Counter(claim["experiment"] for claim in claims.values() if claim["measured"] is not None)
    assert judged["table1-model-udp"] == 26
    assert (
        claims["eta-t1-airtime-fast1-exp"]["reason"]
        == "a setting that the paper leaves open is calibrated to the number"
    )
    assert judged["fig5-airtime-udp"] == 5
    assert claims["eta-t1-airtime-fast1-base"]["verdict"] == "reproduced"
    assert claims["eta-t1-fifo-total-rate"]["verdict"] == "not-reproduced"
    assert "not the sum" in claims["eta-t1-fifo-total-rate"]["cause"]
    assert claims["eta-f5-airtime"]["cell"].startswith("station ")
    # FIFO's aggregates depend on the bursts of UDP, which were calibrated to them; what the verdict would be is told.
    assert claims["eta-f5-fqmac-aggr"]["reason"].startswith("it depends on the calibration of the bursts of UDP")
    assert claims["eta-f5-fqmac-aggr"]["if_judged"]["measured"][-1] == "fq_mac"
    assert claims["eta-t1-fifo-fast1-phy"]["reason"] == "the number is an input of the experiment"
    assert [cell["cell"] for cell in claims["eta-f9-slow"]["cells"]] == ["scheme fq_codel", "scheme fq_mac"]
    # Each of the 29 by itself: their mean is a 29th whatever happens.
    assert len(claims["eta-f9-fair"]["cells"]) == 29
    assert claims["eta-f6-airtime-uni"]["cells"][0]["measured"] > 0.97


def test_each_judged_claim_tells_whether_it_can_fail(claims: dict[str, dict[str, Any]]) -> None:
    for claim in claims.values():
        assert ("non_discriminating" in claim) is (claim["verdict"] in ("reproduced", "not-reproduced"))
    formula, mos = (
        claims["eta-t1-fifo-slow-base"]["non_discriminating"],
        claims["eta-t2-fifo-BE-5-mos"]["non_discriminating"],
    )
    assert (formula["counted"], formula["why"]) == (True, "no run decides it")
    assert (mos["off"], mos["why"]) == (None, "its cells are all without the mechanism")
    # A ratio of two that are the same without the mechanism.
    assert claims["eta-f5-fqcodel"]["non_discriminating"]["off"] == "reproduced"
    assert claims["retry-f8b-similar"]["non_discriminating"]["off"] == "reproduced"
    assert claims["retry-f4-delivered"]["non_discriminating"]["off"] == "not-reproduced"
    # The lack of a cell is told; here there is none.
    assert {claim["non_discriminating"]["why"] for claim in claims.values() if "non_discriminating" in claim} == {
        "", "no run decides it", "its cells are all without the mechanism",
    }  # fmt: skip


def test_open_settings_are_judged_side_by_side(claims: dict[str, dict[str, Any]], folder: Path) -> None:
    names = ["fixed rates", "rate control everywhere", "rate control at the fast stations"]
    judged = [claim for claim in claims.values() if "settings" in claim]
    assert {claim["paper"] for claim in judged} == {"ending-the-anomaly"}
    for claim in judged:
        assert list(claim["settings"]) == names
        own = claim["settings"][claim["setting"]]
        assert all(claim[key] == value for key, value in own.items())
    # Thirty stations are the same with all.
    assert "settings" not in claims["eta-f9-slow"]
    slow = claims["eta-t1-fifo-slow-aggr"]["settings"]
    assert slow["fixed rates"]["measured"] != slow["rate control everywhere"]["measured"]
    text = (folder / "ending-the-anomaly" / "report.txt").read_text(encoding="utf-8")
    assert all(
        re.search(
            rf"^  {name}: \d+ reproduced, \d+ not reproduced; \d+ of the reproduced can hardly fail; median",
            text,
            re.MULTILINE,
        )
        for name in names
    )
    assert re.search(r"^  \d+ claims hold with all of them, \d+ with none, \d+ with some$", text, re.MULTILINE)
    made = json.loads((folder / "ending-the-anomaly" / "runs.json").read_text())["cells"]
    assert {cell.get("setting") for cell in made} == {None, *names[:2]}


def test_the_page_stands_alone_and_has_every_claim(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert set(ALL_IDS) <= set(page.ids)
    assert all(target.startswith("#") and target[1:] in page.ids for target in page.targets)
    assert len(page.images) >= 3
    assert all(image.startswith("data:image/svg+xml;base64,") for image in page.images)
    assert not re.search(r"https?://|@import|url\(|<script|<link", text)
    assert "seed = 3" in text


def test_each_paper_has_its_part_and_each_artefact_its_three_forms(folder: Path) -> None:
    own = folder / "ending-the-anomaly"
    for name in ("table1-model-udp", "fig5-airtime-udp", "fig6-jain"):
        assert (own / f"{name}.svg").read_bytes().startswith(b"<?xml")
        assert (own / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (own / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert {claim["paper"] for claim in report.read_claims(own / "claims.json")} == {"ending-the-anomaly"}
    text = (own / "report.txt").read_text(encoding="utf-8")
    assert "changed with --set, so not the paper's experiment: seed=3" in text
    assert all(f"ending-the-anomaly/{e.id}:" in text for e in experiments() if e.paper == "ending-the-anomaly")


def test_the_runs_are_named_so_that_they_can_be_made_again(folder: Path) -> None:
    made = json.loads((folder / "runs.json").read_text())
    fifo = next(cell for cell in made["cells"] if cell["cell"] == "fifo")
    assert fifo["overrides"].items() >= {"node.ap.interface.wlan0.scheme": "fifo", "seed": "3"}.items()
    # What three stations share is among them.
    assert fifo["overrides"]["node.fast1.interface.wlan0.rate"] == "minstrel_ht"
    assert [run["run"] for run in fifo["runs"]] == [0, 1]
    assert all(re.fullmatch("[0-9a-f]{16}", run["trace_hash"]) for run in fifo["runs"])


def test_the_same_runs_make_the_same_bytes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "scenario", brief)
    assert status(["paper", "ending-the-anomaly/fig5", "--runs", "2", "--set", "seed=3", "-o", str(tmp_path)]) == 0
    for form in style.FORMATS:
        file = f"ending-the-anomaly/fig5-airtime-udp.{form}"
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes()
    Page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_without_something_to_draw_with_the_page_has_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "available", lambda: False)
    assert status(["paper", "ending-the-anomaly/fig5", *SHORT, "-o", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert Page(page).images == []
    assert "Measured share of the airtime" in page
    assert list((tmp_path / "ending-the-anomaly").glob("*.svg")) == []


def test_what_cannot_run_yet_says_so_and_is_no_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "prepare", lambda *_: "needs another radio (bquic-lab)")
    assert status(["paper", "bquic/fig3-cwnd"]) == 0
    captured = capsys.readouterr()
    assert "2 claims: 0 reproduced, 0 not-reproduced, 2 not-run, 0 not-judged" in captured.out
    assert "bquic-f3-exit" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize(
    ("setting", "said"), [("nonsense", "KEY=VALUE"), ("duration=3 parsecs", "duration"), ("frobnicate=1", "frobnicate")]
)
def test_a_wrong_override_is_bad_input_before_any_run(
    setting: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "run", lambda *_: pytest.fail("ran"))
    assert status(["paper", "ending-the-anomaly/table1", "--set", setting]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


def test_a_run_that_fails_is_status_1(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine(RunError("accounts do not close"))
    assert status(["paper", "ending-the-anomaly/table1"]) == 1
    assert capsys.readouterr().err == "stillair: accounts do not close\n"


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (RunError("accounts do not close"), 1)])
def test_what_is_cut_off_leaves_the_old_report(
    engine: Engine, tmp_path: Path, error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    engine(error)
    before = {"claims.json": "of before", "runs.json": '{"version": "0", "cells": []}'}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    assert status(["paper", "ending-the-anomaly/table1", "--force", "-o", str(tmp_path)]) == code
    said = f"stillair: finished runs are kept in {tmp_path}; run the same command again to continue"
    assert capsys.readouterr().err.splitlines() == [said, f"stillair: {str(error) or 'interrupted'}"]
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == before
    assert status(["paper", "ending-the-anomaly/table1"]) == code
    said = "stillair: nothing is kept; -o names a folder for finished runs"
    # Ctrl-C alone is meant to be followed by the same command.
    assert (said in capsys.readouterr().err) == (code == 130)


@pytest.mark.parametrize("name", ["report.txt", "runs.json"])
def test_a_file_of_somebody_else_is_not_touched(
    engine: Engine, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = engine()
    (tmp_path / name).write_text("[1]")
    assert status(["paper", "ending-the-anomaly/table1", "-o", str(tmp_path)]) == 2
    said = f"{tmp_path / name}: is in the way, and not of a report of Stillair; give another folder with -o"
    assert capsys.readouterr().err == f"stillair: {said}\n"
    assert calls == []
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "[1]")]


def test_progress_counts_the_runs_of_all_cells() -> None:
    wanted = report.registry.find("ending-the-anomaly/table1")
    prepared = report.prepare(wanted)
    # Eight cells, and with two other settings the four of them that claims speak of.
    assert report.total_runs(wanted, prepared, None) == (8 + 2 * 4) * 30
    heard: list[int] = []
    short = [("duration", "2 s"), ("warm_up", "1 s")]
    report.run(wanted, prepared, runs=2, extra=short, progress=heard.append)
    assert heard[-1] == report.total_runs(wanted, prepared, 2) == 32
    assert heard == sorted(heard)


def test_without_a_terminal_each_experiment_is_told_of_as_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nothing is run: what counts is when the last campaign of an experiment is over.
    monkeypatch.setattr(campaign, "run", lambda *_: campaign.Outcome(lacks="nothing"))
    wanted = report.registry.find("ending-the-anomaly/fig")
    prepared = dict.fromkeys((own for entry in wanted for own in entry.all_campaigns), "")
    told: list[str] = []
    report.run(wanted, prepared, 1, finished=told.append)
    names = [line.partition(":")[0] for line in told]
    assert sorted(names) == sorted(entry.experiment.name for entry in wanted)
    assert told[-1].endswith(f"({len(wanted)} of {len(wanted)} experiments)")
