"""What `stillair export` refuses to write: over a file of another kind, or frames of another run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stillair import Scenario
from stillair.__main__ import status
from stillair.runs import bundled
from stillair.runs.result_writer import ResultWriter

FILE = bundled.scenario("anomaly-udp").file


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of two very short runs. Not to be changed."""
    folder = tmp_path_factory.mktemp("results") / "brief"
    scenario, overrides = Scenario(FILE), [("duration", "200 ms"), ("warm_up", "0 s")]
    writer = ResultWriter(folder, scenario, overrides, 2)
    scenario.run(runs=2, overrides=overrides, series=True, keep=writer.keep)
    writer.finish()
    return folder


@pytest.mark.parametrize(
    ("kind", "name", "suffix"),
    [
        ("csv", "result.json", ".csv"),
        ("csv", "f.toml", ".csv"),
        ("parquet", "table.csv", ".parquet"),
        ("flent", "result.json", ".flent.gz"),
        ("pcap", "f.toml", ".pcapng"),
    ],
)
def test_a_file_of_another_kind_is_not_written_over(
    brief: Path, tmp_path: Path, kind: str, name: str, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text("mine")
    assert status(["export", str(brief), f"--{kind}", "--run", "0", "-o", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {tmp_path / name}: the name of a file for --{kind} must end in {suffix}\n"
    )
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]


def slower(folder: Path) -> None:
    file = folder / "scenario.toml"
    file.write_text(file.read_text().replace("100 Mbit/s", "90 Mbit/s"))


def longer(folder: Path) -> None:
    (folder / "overrides.json").write_text('[["duration", "300 ms"], ["warm_up", "0 s"]]')


def of_another_version(folder: Path) -> None:
    """What a version leaves whose runs are not those of this one."""
    for name in ("result.json", "runs/run-0.json"):
        data = json.loads((folder / name).read_text())
        for run in data.get("runs", [data])[:1]:
            run["trace_hash"] = "0123456789abcdef"
        (folder / name).write_text(json.dumps(data))


@pytest.mark.parametrize("change", [slower, longer, of_another_version])
def test_frames_of_another_run_are_not_kept(
    brief: Path, tmp_path: Path, change: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(brief, folder)
    change(folder)
    kept = json.loads((folder / "result.json").read_text())["runs"][0]["trace_hash"]
    target = tmp_path / "x.pcapng"
    assert status(["export", str(folder), "--pcap", "--run", "0", "-o", str(target)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"stillair: {folder / 'scenario.toml'}: run 0 is not the kept run: ")
    assert f"expected {kept}" in err
    assert err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"changed"}


def test_frames_of_the_run_itself_are_kept(brief: Path, tmp_path: Path) -> None:
    for kind, name in (("pcap", "x.pcapng"), ("flent", "x.FLENT.gz"), ("csv", "x.csv")):
        assert status(["export", str(brief), f"--{kind}", "--run", "1", "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("numbers", [["--run", "1"], []])
def test_a_capture_of_nothing_is_an_error(
    brief: Path, tmp_path: Path, numbers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x.pcapng" if numbers else tmp_path
    (tmp_path / "x.pcapng").write_text("of before")
    asked = ["export", str(brief), "--pcap", *numbers, "--window", "5 s..6 s", "--force", "-o", str(target)]
    assert status(asked) == 2
    err = capsys.readouterr().err
    assert (
        "not written, as no frame was seen at air-wifi from 5000000000 ns to 6000000000 ns; the run lasts 0.2 s" in err
    )
    assert err.count("\n") == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.pcapng", "of before")]
