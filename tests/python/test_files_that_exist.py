"""No command replaces a file that exists, unless it is told to with --force."""

from pathlib import Path

import pytest

import readers
from stillair.__main__ import status
from stillair.link import Budget

BEFORE = "of before"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result. Not to be changed."""
    return readers.result_folder(tmp_path_factory.mktemp("results") / "kept", duration="300 ms")


def commands(kept: Path, budget: Path) -> dict[str, tuple[list[str], str]]:
    """Commands that write a file, by what they write, each with the file."""
    sample = Path(__file__).resolve().parent / "samples" / "station-dump-2024.txt"
    scenario = ["anomaly-udp", "--set", "duration=50 ms;warm_up=0 s", "--runs", "2"]
    return {
        "report": (["report", str(kept), "-o", "x.html"], "x.html"),
        "report by name": (["report", str(kept)], "kept.html"),
        "plot": (["plot", str(kept), "-o", "x.svg"], "x.svg"),
        "plot by name": (["plot", str(kept)], "timeseries.png"),
        "csv": (["export", str(kept), "--csv", "-o", "x.csv"], "x.csv"),
        "csv by name": (["export", str(kept), "--csv"], "kept.csv"),
        "parquet": (["export", str(kept), "--parquet", "-o", "x.parquet"], "x.parquet"),
        "table": (["export", str(kept), "--csv", "--table", "queues", "-o", "x.csv"], "x.csv"),
        "flent": (["export", str(kept), "--flent", "-o", "x.flent.gz"], "x.flent.gz"),
        "flent by name": (
            ["export", str(kept), "--flent", "-o", "."],
            "udp_flood_var_up-2000-01-01T000000.000000Z.kept.flent.gz",
        ),
        "pcap": (["export", str(kept), "--pcap", "-o", "x.pcapng"], "x.pcapng"),
        "pcap by name": (["export", str(kept), "--pcap"], "kept-run-0.pcapng"),
        "compare": (["compare", *scenario, "-o", "x.svg"], "x.svg"),
        "import": (["import", str(sample), "-o", "x.toml"], "x.toml"),
        "new": (["new", "x.toml"], "x.toml"),
        "doctor": (["doctor", "-o", "x.toml"], "x.toml"),
        "junit": (["budget", str(budget), "--junit", "x.xml"], "x.xml"),
        "markdown": (["budget", str(budget), "--markdown", "x.md"], "x.md"),
        "faq": (["faq", "mac-jitter", "--runs", "2", "-o", "."], "mac-jitter.json"),
        "validate": (["validate", "wifi", "--only", "udp1_b8", "-o", "."], "report.txt"),
        "scenarios of validate": (["validate", "wifi", "--only", "udp1_b8", "--scenarios", "."], "udp1_b8.toml"),
    }


NAMES = list(commands(Path("kept"), Path("budget")))
SLOW = {"faq", "validate"}
"""These are refused before they start, which is what counts; with --force they would take long."""


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_exists_is_kept(
    name: str, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    budget = tmp_path / "budget.toml"
    budget.write_text(f'command = ["echo", \'{{"delay_p99_ms": 5}}\']\n{readers.BUDGET}')
    command, written = commands(kept, budget)[name]
    file = tmp_path / written
    file.write_text(BEFORE)
    assert status(command) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{written}: exists already; --force replaces it, or give another file" in error
    assert file.read_text() == BEFORE
    if name not in SLOW:
        assert status([*command, "--force"]) == 0, capsys.readouterr().err
        assert file.read_bytes() != BEFORE.encode()
        file.unlink()
        assert status(command) == 0, capsys.readouterr().err
        assert file.is_file()


def test_a_baseline_is_replaced_by_keep_alone(tmp_path: Path) -> None:
    """That is what --keep is for; without it the file is read."""
    budget, baseline = tmp_path / "b.toml", tmp_path / "baseline.json"
    budget.write_text(f'command = ["echo", \'{{"delay_p99_ms": 5}}\']\n{readers.BUDGET}')
    for _ in range(2):
        assert status(["budget", str(budget), "--baseline", str(baseline), "--keep"]) == 0
    assert Budget(budget).judge([case.measured(delay_p99_ms=5.0) for case in Budget(budget).cases], baseline).holds


@pytest.mark.parametrize(
    "command",
    [["compare", "hidden"], ["import", "x"], ["new"], ["doctor"], ["faq"], ["budget", "x"], ["validate", "wifi"]],
)
def test_force_without_a_file_has_no_effect(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text(f'command = ["true"]\n{readers.BUDGET}')
    assert status([*command, "--force"]) == 2
    assert "--force: has no effect without" in capsys.readouterr().err


def test_devices_are_written_to(kept: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert status(["export", str(kept), "--csv", "-o", "/dev/null"]) == 0
    capfd.readouterr()
