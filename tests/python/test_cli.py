import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.exceptions import Abort

from stillair import InputError, RunError, __version__
from stillair.__main__ import status

Engine = Callable[..., list[Any]]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "sample.toml"
    path.write_text('name = "sample"\n', encoding="utf-8")
    return str(path)


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on stderr; bad input says nothing on stdout, and at most two lines."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert 1 <= len(captured.err.splitlines()) <= 2
    return captured.err


def test_run_prints_the_summary(engine: Engine, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    engine()
    assert status(["run", file]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("sample: 3 runs")
    assert captured.err == ""


def test_json_is_one_object_on_one_line(engine: Engine, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    engine()
    assert status(["run", file, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert set(json.loads(out)) == {"version", "scenario", "runs", "over_runs"}


def test_options_reach_the_engine(engine: Engine, file: str) -> None:
    calls = engine()
    arguments = ["--seed", "9", "--runs", "4", "--jobs", "2", "--set", "a.b=1 s", "--set", "c = x=y"]
    assert status(["run", file, *arguments]) == 0
    assert calls[0][1:7] == (file, [("a.b", "1 s"), ("c", "x=y")], 9, 4, 0, 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nowhere.toml"], "nowhere.toml: no such file"),
        (["run", "."], "is a folder"),
        (["run"], "FILE"),
        (["run", "FILE", "--runs", "0"], "--runs"),
        (["run", "FILE", "--runs", "many"], "--runs"),
        (["run", "FILE", "--jobs", "0"], "--jobs"),
        (["run", "FILE", "--jobs", "1025"], "--jobs"),
        (["run", "FILE", "--seed", "-1"], "--seed"),
        (["run", "FILE", "--seed", str(2**64)], "--seed"),
        (["run", "FILE", "--set", "novalue"], "expected KEY=VALUE"),
        (["run", "FILE", "--set", "=1"], "expected KEY=VALUE"),
        (["run", "FILE", "-o", "FILE"], "give another folder with -o"),
        (["run", "FILE", "--frobnicate"], "--frobnicate"),
        (["frobnicate"], "frobnicate"),
        (["export", "."], "one of --flent, --csv, --parquet"),
        (["export", ".", "--csv", "--flent"], "one of --flent, --csv, --parquet"),
        (["plot", ".", "--plot", "pie"], 'found "pie", expected one of timeseries, ping_cdf'),
        (["plot", ".", "-o", "x.gif"], "x.gif: the name must end in .png, .svg or .pdf"),
        (["plot"], "give at least one folder"),
        (["plot", ".", "--title", "a", "--title", "b"], "found 2, expected one for each of 1 results"),
        (["paper", "nobody"], "'stillair paper' lists them"),
        (["paper", ""], "'stillair paper' lists them"),
        (["paper", "ending-the-anomaly/table1", "--runs", "0"], "--runs"),
    ],
)
def test_bad_input_is_status_2_with_a_remedy(
    engine: Engine, file: str, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    calls = engine()
    assert status([file if argument == "FILE" else argument for argument in arguments]) == 2
    assert said in complaint(capsys)
    assert calls == []


def test_text_that_is_not_utf8_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes(b'name = "\xe9"\n')
    assert status(["run", str(path)]) == 2
    assert "byte 8 is not UTF-8" in complaint(capsys)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError('x.toml:3: rate: found "9", expected a rate'), 2, 'stillair: x.toml:3: rate: found "9"'),
        (RunError("run 0: accounts do not close"), 1, "stillair: run 0: accounts do not close"),
        (KeyboardInterrupt(), 130, "stillair: interrupted"),
    ],
)
def test_the_engines_errors_have_their_status(
    engine: Engine, file: str, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    engine(error)
    assert status(["run", file]) == code
    assert complaint(capsys).startswith(said)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["--version"]) == 0
    assert capsys.readouterr().out == f"stillair {__version__}\n"
    assert status([]) == 0
    assert "Commands:" in capsys.readouterr().out


def test_papers_are_listed_as_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["paper"]) == 0
    assert "ending-the-anomaly/table1-model-udp" in capsys.readouterr().out
    assert status(["paper", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 2
    claims = found["claims"]
    assert {claim["verdict"] for claim in claims} == {"not-run", "not-judged"}
    assert all(claim["reason"] for claim in claims)


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "stillair", "paper"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_end_of_input_at_a_question_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def asks(**_: object) -> None:
        raise Abort

    monkeypatch.setattr("stillair.cli.app.app", asks)
    assert status(["new"]) == 130
    assert capsys.readouterr().err == "stillair: interrupted\n"
