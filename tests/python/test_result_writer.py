"""A result folder is rewritten without losing foreign files or the old result."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stillair import InputError, Result, RunError, Scenario
from stillair.__main__ import status
from stillair.runs import bundled
from stillair.runs.result_writer import ResultWriter
from stillair.text import lock

FILE = bundled.scenario("anomaly-udp").file
BRIEF = ["--set", "duration=200 ms", "--set", "warm_up=0 s"]
OVERRIDES = {"duration": "200 ms", "warm_up": "0 s"}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A result of two runs with a table of sockets, and a foreign file."""
    folder = tmp_path / "kept"
    assert status(["run", FILE, *BRIEF, "--runs", "2", "-o", str(folder)]) == 0
    (folder / "notes.txt").write_text("mine")
    (folder / "runs" / "run-mine.json").write_text("mine")
    (folder / "sockets.csv").write_text("of the old result\n")
    return folder


@pytest.mark.parametrize(
    "name",
    ["scenario.toml", "scenario.resolved.json", "overrides.json", "table.csv", "exchanges.csv", "runs/run-3.json"],
)
def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / name).write_text("mine")
    assert status(["run", FILE, *BRIEF, "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {tmp_path / name}: is in the way, and not of a result of Stillair; give another folder with -o\n"
    )
    assert files(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", 'the key "format" is missing'),
        ('{"format": 1, "version": "1", "scenario": "s", "runs": {}}', "runs: found an object, expected a list"),
        ("[1]", "found a list, expected an object"),
    ],
)
def test_a_result_of_another_program_is_not_touched(
    tmp_path: Path, text: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result.json").write_text(text)
    (tmp_path / "table.csv").write_text("mine")
    assert status(["run", FILE, *BRIEF, "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {tmp_path / 'result.json'}: {why}: it is in the way, and no Stillair result;"
        " give another folder with -o\n"
    )
    assert files(tmp_path) == {"result.json": text.encode(), "table.csv": b"mine"}


@pytest.mark.parametrize("command", [["run", FILE], ["sweep", FILE], ["paper", "all"], ["export", "."], ["plot", "."]])
def test_an_empty_folder_name_is_not_this_folder(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status([*command, "-o", ""]) == 2
    assert "Invalid value for '-o': found nothing, expected a path" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_new_result_takes_the_place_of_the_old_and_of_nothing_else(old: Path) -> None:
    assert status(["run", FILE, *BRIEF, "--seed", "9", "--force", "-o", str(old)]) == 0
    names = {"scenario.toml", "scenario.resolved.json", "overrides.json", "table.csv", "pings.csv", "result.json"}
    assert set(files(old)) == names | {"runs/run-0.json", "runs/run-mine.json", "notes.txt"}
    assert Result.load(old).run_with_series(0).summary["seed"] == 9


def test_an_old_result_is_replaced_when_asked_only(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(old)
    capsys.readouterr()
    assert status(["run", FILE, *BRIEF, "-o", str(old)]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {old}: already holds a result of 'stillair run'; replace it with --force,"
        " or give another folder with -o\n"
    )
    assert files(old) == before
    assert status(["run", FILE, *BRIEF, "--force"]) == 2
    assert "--force: has no effect without -o" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "name", "says"),
    [
        ("run", "sweep.json", "holds a result of 'stillair sweep', not to be mixed"),
        ("sweep", "result.json", "holds a result of 'stillair run', not to be mixed"),
        ("run", "notes.txt", "is not empty and holds no result of 'stillair run' (it has notes"),
        ("sweep", "notes.txt", "is not empty and holds no result of 'stillair sweep' (it has notes"),
        ("paper", "sweep.json", "holds a result of 'stillair sweep', not to be mixed"),
    ],
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_results_are_not_mixed(
    tmp_path: Path, command: str, name: str, says: str, force: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text('{"format": 1, "version": "1", "scenario": "s", "runs": []}')
    what = "tsq-pacing" if command == "paper" else FILE
    assert status([command, what, *force, "-o", str(tmp_path)]) == 2
    assert f"{tmp_path}: {says}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_part_of_a_new_result_does_not_take_the_place_of_an_old_one(
    old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before, keep = files(old), ResultWriter.keep

    def fail_at_the_second(self: ResultWriter, text: str) -> None:
        if self.finished == 1:
            raise RunError("run 1: accounts do not close")
        keep(self, text)

    monkeypatch.setattr(ResultWriter, "keep", fail_at_the_second)
    for beside in (old.with_name("kept.interrupted"), old.with_name("kept.interrupted-2")):
        command = ["run", FILE, *BRIEF, "--runs", "3", "--jobs", "1", "--force", "-o", str(old)]
        assert status(command) == 1
        says = (
            f"stillair: 1 of 3 runs had finished and are kept in {beside}; the old result is still in {old};"
            f" with -o {beside} the same command continues\n"
        )
        assert says in capsys.readouterr().err
        assert [run["run"] for run in Result.load(beside).runs] == [0]
        assert files(old) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RunError("run 0: accounts do not close")])
def test_an_old_result_stays_until_a_run_is_kept(
    old: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(old)

    def fail(self: ResultWriter, text: str) -> None:  # noqa: ARG001 - in the place of the method
        raise error

    monkeypatch.setattr(ResultWriter, "keep", fail)
    assert status(["run", FILE, *BRIEF, "--force", "-o", str(old)]) in (1, 130)
    assert files(old) == before
    assert not (old / ".new-result").exists()


def test_an_old_result_stays_when_the_disk_is_full(old: Path) -> None:
    before = files(old)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (7000, 7000));"
        "from stillair.__main__ import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "run", FILE, *BRIEF, "--seed", "9", "--force", "-o", str(old)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be written: File too large" in done.stderr
    assert {name: data for name, data in files(old).items() if not name.startswith(".new-result")} == before
    # What is left of it does not stand in the way of the next.
    assert status(["run", FILE, *BRIEF, "--seed", "9", "--force", "-o", str(old)]) == 0
    assert not (old / ".new-result").exists()


def places(path: Path) -> list[Callable[..., Path]]:
    """`Path.replace` that stops at each of its calls in turn, for as many as a new result takes."""
    original = Path.replace

    def stopping(at: int) -> Callable[..., Path]:
        left = iter(range(at))

        def replace(self: Path, target: Path) -> Path:
            if target.parent in (path, path / "runs") and next(left, None) is None:
                raise KeyboardInterrupt
            return original(self, target)

        return replace

    return [stopping(at) for at in range(7)]


@pytest.mark.parametrize("at", range(7))
def test_what_is_cut_off_while_it_takes_its_place_is_taken_up_again(
    old: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", places(old)[at])
        assert status(["run", FILE, *BRIEF, "--seed", "9", "--force", "-o", str(old)]) == 130
    assert not (old / "result.json").exists()
    ResultWriter(old, Scenario(FILE), OVERRIDES, 1).finish()
    result = Result.load(old)
    assert [measured.summary["seed"] for measured in result.runs_with_series()] == [9]
    left = set(files(old))
    assert not {"sockets.csv", "runs/run-1.json"} & left
    assert {"notes.txt", "runs/run-mine.json", "table.csv", "scenario.resolved.json"} <= left
    assert not (old / ".new-result").exists()


def test_what_is_not_ours_among_what_was_begun_stays(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (old / ".new-result" / "runs").mkdir(parents=True)
    (old / ".new-result" / ".table.csv.part").write_text("begun")
    (old / ".new-result" / "runs" / "run-0.json").write_text("{}")
    (old / ".new-result" / "diary").write_text("mine")
    assert status(["run", FILE, *BRIEF, "--force", "-o", str(old)]) == 2
    assert "the unfinished result there cannot be removed: Directory not empty" in capsys.readouterr().err
    assert [path.name for path in (old / ".new-result").iterdir()] == ["diary"]
    Result.load(old).run_with_series(1)


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_one_at_a_time_in_a_folder(tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with lock.held(tmp_path):
        # Nothing is run: this would take for ever.
        assert status([command, FILE, "--set", "duration=90000 s", "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {tmp_path}: another run is writing its result there; wait for it, or give another folder with -o\n"
    )
    assert not list(tmp_path.iterdir())
    assert status([command, FILE, *BRIEF, "-o", str(tmp_path)]) == 0


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from stillair.text import lock\n"
        "held = lock.held(Path(sys.argv[1])); held.__enter__(); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="another run is writing"), lock.held(tmp_path):
            pass
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    with lock.held(tmp_path):
        pass


def test_a_cut_off_result_says_where_its_runs_are(old: Path) -> None:
    begun = old / ".new-result"
    begun.mkdir()
    shutil.move(old / "runs", begun / "runs")
    (old / "result.json").unlink()
    with pytest.raises(InputError, match=r"the runs were cut off; \d+ finished ones are in .*\.new-result/runs"):
        Result.load(old)
    assert json.loads((begun / "runs" / "run-1.json").read_text())["run"] == 1
