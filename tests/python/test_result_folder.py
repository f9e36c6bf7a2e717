"""Result folders: written run by run, read back, and errors for damaged ones."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import SHORT
from stillair import InputError, Result, RunError, Scenario, __version__
from stillair.__main__ import status
from stillair.runs import bundled
from stillair.runs.result_writer import ResultWriter
from stillair.text import output

FILE = str(Path(bundled.scenario("anomaly-udp").file))


def test_a_folder_explains_itself(kept: Path) -> None:
    names = {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()}
    assert names == {
        "result.json",
        "scenario.toml",
        "scenario.resolved.json",
        "overrides.json",
        "table.csv",
        "pings.csv",
        "runs/run-0.json",
        "runs/run-1.json",
    }
    result = json.loads((kept / "result.json").read_text())
    assert {"format": 1, "version": __version__, "scenario": "anomaly-udp", "seeds": [1]}.items() <= result.items()
    assert (kept / "scenario.toml").read_text() == Path(FILE).read_text()
    assert json.loads((kept / "overrides.json").read_text()) == [["duration", "3 s"], ["warm_up", "1 s"]]
    assert json.loads((kept / "scenario.resolved.json").read_text())["duration_ns"] == 3_000_000_000


def test_a_folder_is_read_back(kept: Path) -> None:
    result = Result.load(kept)
    again = Scenario(FILE).run(runs=2, overrides={"duration": "3 s", "warm_up": "1 s"}, series=True)
    assert result.to_dict() == again.to_dict()
    for run in (0, 1):
        one, other = result.run_with_series(run).series, again.run_with_series(run).series
        assert (one.flows, one.stations, one.drops, one.queues) == (
            other.flows,
            other.stations,
            other.drops,
            other.queues,
        )


def test_files_are_the_same_for_any_number_of_workers(kept: Path, tmp_path: Path) -> None:
    assert status(["run", FILE, "--runs", "2", "--jobs", "1", *SHORT, "-o", str(tmp_path)]) == 0
    for path in sorted(kept.rglob("*")):
        if path.is_file():
            assert (tmp_path / path.relative_to(kept)).read_bytes() == path.read_bytes(), path.name


def test_json_on_stdout_stays_the_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", FILE, *SHORT, "--json", "-o", str(tmp_path / "new")]) == 0
    kept = capsys.readouterr().out
    assert status(["run", FILE, *SHORT, "--json"]) == 0
    assert capsys.readouterr().out == kept
    assert "series" not in json.loads(kept)["runs"][0]


def test_a_new_result_leaves_nothing_of_the_old(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    shutil.copytree(kept, folder)
    (folder / "notes.txt").write_text("mine")
    assert status(["run", FILE, *SHORT, "--force", "-o", str(folder)]) == 0
    assert [path.name for path in (folder / "runs").iterdir()] == ["run-0.json"]
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_bad_scenario_leaves_the_old_result(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    shutil.copytree(kept, folder)
    assert status(["run", FILE, "--set", "duration=fast", "-o", str(folder)]) == 2
    assert Result.load(folder).runs == Result.load(kept).runs


def test_a_file_in_the_way_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert status(["run", FILE, "-o", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {tmp_path / 'file'}: results cannot be written there: File exists; give another folder with -o\n"
    )


def test_a_failed_run_keeps_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = ResultWriter.keep

    def fail_at_the_second(self: ResultWriter, text: str) -> None:
        if self.finished == 1:
            raise RunError("run 1: accounts do not close")
        keep(self, text)

    monkeypatch.setattr(ResultWriter, "keep", fail_at_the_second)
    assert status(["run", FILE, "--runs", "3", "--jobs", "1", *SHORT, "-o", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"stillair: 1 of 3 runs had finished and are kept in {tmp_path}; the same command continues\n"
        "stillair: run 1: accounts do not close\n"
    )
    assert [run["run"] for run in Result.load(tmp_path).runs] == [0]


def test_an_interrupt_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = ResultWriter.keep

    def interrupt(self: ResultWriter, text: str) -> None:
        keep(self, text)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ResultWriter, "keep", interrupt)
    assert status(["run", FILE, "--runs", "1000", "--jobs", "1", *SHORT, "-o", str(tmp_path)]) == 130
    assert f"of 1000 runs had finished and are kept in {tmp_path}" in capsys.readouterr().err
    assert Result.load(tmp_path).run_with_series(0).series.steps == 15
    assert json.loads((tmp_path / "result.json").read_text())["planned_runs"] == 1000


def test_a_full_disk_is_an_error_of_one_line(tmp_path: Path) -> None:
    # A file size limit simulates a full disk: the kernel rejects the write in the same way.
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000));"
        "from stillair.__main__ import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "run", FILE, *SHORT, "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    new = tmp_path / ".new-result"
    assert done.returncode == 1
    assert done.stdout.startswith("anomaly-udp: run 0, seed 1\n")
    assert done.stderr.splitlines()[-2:] == [
        f"stillair: 1 of 1 runs had finished and are kept in {new}; the same command continues",
        f"stillair: {new / 'table.csv'}: cannot be written: File too large",
    ]
    # Only what the next call needs may keep the disk full.
    assert {str(path.relative_to(new)) for path in new.rglob("*") if path.is_file()} == {
        *("runs/run-0.json", "scenario.toml", "scenario.resolved.json", "overrides.json", "inputs.json")
    }
    assert status(["run", FILE, *SHORT, "-o", str(tmp_path)]) == 0
    assert [run["run"] for run in Result.load(tmp_path).runs] == [0]
    assert not new.exists()


@pytest.mark.parametrize(
    "command",
    [["export", "DIR", "--csv"], ["export", "DIR", "--flent"], ["export", "DIR", "--pcap"], ["plot", "DIR"]],
)
def test_a_target_that_cannot_be_written_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    kept = tmp_path / "kept"
    assert status(["run", FILE, *SHORT, "-o", str(kept)]) == 0
    capsys.readouterr()
    target = tmp_path / "no" / "x.png"
    command = [str(kept) if word == "DIR" else word for word in command]
    assert status([*command, "-o", str(target)]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {target}: cannot be written: No such file or directory; give another file with -o\n"
    )


def test_a_file_is_never_half_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")

    def fail() -> None:
        with output.text_file(tmp_path / "a.txt") as file:
            file.write("new")
            raise OSError(28, "No space left on device")

    with pytest.raises(RunError, match=r"a\.txt: cannot be written: No space left on device"):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def edit(name: str, change: Callable[[Any], object]) -> Callable[[Path], None]:
    """Changes a JSON file of a folder."""

    def apply(folder: Path) -> None:
        data = json.loads((folder / name).read_text())
        change(data)
        (folder / name).write_text(json.dumps(data))

    return apply


def text(name: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(change((folder / name).read_text())) and None


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


MALFORMED: list[tuple[str, Callable[[Path], Any], str]] = [
    ("no folder", shutil.rmtree, "{}: no such folder; give the folder that 'stillair run -o' wrote"),
    (
        "a file",
        lambda folder: (shutil.rmtree(folder), folder.write_text("")),
        "{}: is a file; give the folder that 'stillair run -o' wrote",
    ),
    (
        "another folder",
        lambda folder: (shutil.rmtree(folder), folder.mkdir()),
        "{}/result.json: missing: {} is not a result folder",
    ),
    (
        "a sweep",
        lambda folder: (shutil.rmtree(folder), (folder / "combinations").mkdir(parents=True)),
        "{}: is the folder of a sweep, which has no series;"
        " run one combination with 'stillair run FILE --set KEY=VALUE -o FOLDER'",
    ),
    (
        "cut off",
        remove("result.json"),
        "{}/result.json: missing: the runs were cut off; 2 finished ones are in {}/runs;"
        " repeat 'stillair run' with -o {} to continue",
    ),
    (
        "truncated result",
        text("result.json", lambda s: s[: s.index("trace_hash") + 3]),
        "{}/result.json:2: is not JSON, or truncated: Unterminated string starting at",
    ),
    ("empty result", text("result.json", lambda _: ""), "{}/result.json:1: is not JSON, or truncated: Expecting value"),
    ("a list", text("result.json", lambda _: "[]"), "{}/result.json: found a list, expected an object"),
    (
        "not UTF-8",
        lambda folder: (folder / "result.json").write_bytes(b'{"a": "\xe9"}'),
        "{}/result.json: byte 7 is not UTF-8",
    ),
    (
        "no format",
        edit("result.json", lambda d: d.pop("format")),
        '{}/result.json: the key "format" is missing',
    ),
    (
        "a later format",
        edit("result.json", lambda d: d.update(format=2)),
        f"{{}}/result.json: format: found 2, but Stillair {__version__} reads format 1",
    ),
    ("no runs", edit("result.json", lambda d: d.pop("runs")), '{}/result.json: the key "runs" is missing'),
    (
        "runs as text",
        edit("result.json", lambda d: d.update(runs="two")),
        "{}/result.json: runs: found text, expected a list",
    ),
    (
        "empty runs",
        edit("result.json", lambda d: d["runs"].clear()),
        "{}/result.json: runs: found none, expected at least one",
    ),
    (
        "a scenario without nodes",
        edit("scenario.resolved.json", lambda d: d.pop("nodes")),
        '{}/scenario.resolved.json: the key "nodes" is missing',
    ),
    (
        "a run without its seed",
        edit("result.json", lambda d: d["runs"][1].pop("seed")),
        '{}/result.json: the key "runs.1.seed" is missing',
    ),
    ("no scenario", remove("scenario.resolved.json"), "{}/scenario.resolved.json: missing"),
    ("no run file", remove("runs/run-0.json"), "{}/runs/run-0.json: missing"),
    (
        "truncated run",
        text("runs/run-0.json", lambda s: s.rstrip()[:-1]),
        "{}/runs/run-0.json:1: is not JSON, or truncated: Expecting ',' delimiter",
    ),
    (
        "run of another result",
        edit("runs/run-0.json", lambda d: d.update(trace_hash="0" * 16)),
        "{}/runs/run-0.json: does not belong to this result: the trace hashes differ",
    ),
    (
        "series without flows",
        edit("runs/run-0.json", lambda d: d["series"].pop("flows")),
        '{}/runs/run-0.json: the key "series.flows" is missing',
    ),
    (
        "series cut short",
        edit("runs/run-0.json", lambda d: d["series"]["flows"][0]["bytes"].pop()),
        "{}/runs/run-0.json: series.flows.0.bytes: found 14 values, expected 15, one for each step",
    ),
    (
        "series of another shape",
        edit("runs/run-0.json", lambda d: d["series"]["drops"][0].update(steps=[1, 2])),
        "{}/runs/run-0.json: series.drops.0.steps.0: found 1, expected a list",
    ),
]


@pytest.mark.parametrize(("change", "message"), [case[1:] for case in MALFORMED], ids=[case[0] for case in MALFORMED])
def test_a_broken_folder_is_bad_input(
    kept: Path,
    tmp_path: Path,
    change: Callable[[Path], None],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(kept, folder)
    change(folder)
    expected = message.replace("{}", str(folder))
    with pytest.raises(InputError) as raised:
        Result.load(folder).run_with_series(0)
    assert str(raised.value) == expected
    assert status(["export", str(folder), "--csv", "-o", str(tmp_path / "out.csv")]) == 2
    assert capsys.readouterr().err == f"stillair: {expected}\n"
    assert not (tmp_path / "out.csv").exists()
