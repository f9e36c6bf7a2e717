"""Runs that do not fit into memory: refused before they start, or ended without the others of a sweep."""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from stillair import InputError, Result, Scenario
from stillair.__main__ import status
from stillair.results.statistics import Means
from stillair.runs import bundled, limits, work
from stillair.runs.sweep import Sweep

FILE = bundled.scenario("anomaly-udp").file
BASE = Path(FILE).read_text().partition("[sweep]")[0]
MANY = """
name = "many"
duration = "50 ms"
warm_up = "0 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[node.ap]
profile = "linux-6.1"
interface.wlan0 = { channel = "wifi", role = "ap" }
[node.sta]
count = 2
profile = "linux-6.1"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs7-lgi" }
[[flow]]
kind = "udp"
from = "ap"
to = "sta"
rate = "1 Mbit/s"
[sweep]
node.sta.count = [2, 5000, 3]
"""
"""A network whose second combination does not fit into little memory."""

TINY = ["--set", "duration=50 ms", "--set", "warm_up=0 s"]


def limited(megabytes: int, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command line under `ulimit -v`."""

    def before() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    command = [sys.executable, "-m", "stillair", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=before)


def test_a_combination_that_runs_out_of_memory_fails_and_the_others_run(tmp_path: Path) -> None:
    file, folder = tmp_path / "many.toml", tmp_path / "kept"
    file.write_text(MANY)
    for _ in range(2):
        done = limited(400, "sweep", str(file), "--jobs", "1", "-o", str(folder))
        assert done.returncode == 1, done.stderr
        # Each call says which combination it was.
        rows = [" ".join(line.split()) for line in done.stderr.splitlines()]
        assert any(row.startswith("1 ") and "5000" in row and "ran out of memory" in row for row in rows), done.stderr
        assert "1 of 3 combinations failed" in rows[-1]
        assert len(list((folder / "combinations").glob("*.json"))) == 2


def test_a_cell_in_a_process_of_its_own_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    overrides = [("duration", "50 ms"), ("warm_up", "0 s")]
    table = Sweep(Scenario(BASE + '\n[sweep]\n"flow.0.burst" = [1, 8]\n'), overrides, runs=3)
    plain = [result and result.to_dict() for result in table.run(jobs=2).results]
    monkeypatch.setattr(work, "_SPREAD", 1 << 40)
    alone = table.run(jobs=2)
    assert alone.failures == []
    assert [result and result.to_dict() for result in alone.results] == plain


@pytest.mark.parametrize(
    ("status_", "errors", "why"),
    [
        (-6, "memory allocation of 13920 bytes failed\n", "ran out of memory"),
        (-9, "", "ran out of memory"),
        (1, "Traceback\nMemoryError\n", "ran out of memory"),
        (-11, "", "its process was ended by SIGSEGV"),
        (1, "Traceback\nValueError: x\n", "its process ended with status 1: ValueError: x"),
    ],
)
def test_why_a_process_died(status_: int, errors: str, why: str) -> None:
    assert work._death(status_, errors).startswith(why)


def test_a_run_that_cannot_fit_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(limits, "memory", lambda: 100_000_000)
    assert status(["run", FILE, "--set", "record.queues=1 us", "--set", "duration=1.5 s", "--set", "warm_up=0 s"]) == 2
    said = capsys.readouterr().err
    assert "a run needs at least 144." in said
    assert "MB of memory, and there are 100.0 MB; shorten the run, lengthen the intervals of [record]" in said


def test_a_combination_that_cannot_fit_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Sweep(Scenario(MANY))
    monkeypatch.setattr(limits, "memory", lambda: 40_000_000)
    outcome = table.run()
    assert [result is None for result in outcome.results] == [False, True, False]
    assert outcome.failures[0].cell == 1
    assert outcome.failures[0].error.startswith("a run needs at least ")


@pytest.mark.parametrize("kept", [False, True])
def test_more_runs_than_fit_are_refused_after_the_first(
    tmp_path: Path, kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "memory", lambda: 100 << 20)
    where = ["-o", str(tmp_path / "kept")] if kept else []
    assert status(["run", FILE, *TINY, "--runs", "1000000", "--jobs", "1", *where]) == 2
    said = capsys.readouterr().err
    assert "runs: found 1000000, whose numbers need about " in said
    assert "expected at most " in said
    if kept:
        assert len(Result.load(tmp_path / "kept").runs) >= 1


def test_more_runs_than_the_disk_takes_are_refused(tmp_path: Path) -> None:
    limits.check_disk(tmp_path, 10, 1000)
    with pytest.raises(InputError, match=r"runs: found 1000000 more to keep in .*, which need about .* GB on disk"):
        limits.check_disk(tmp_path, 1_000_000, 1 << 40)


def test_means_take_eight_bytes_for_each_number_of_a_run() -> None:
    means = Means()
    run = {"run": 0, "seed": 1, "a": 1.5, "b": {"c": 2, "d": None, "e": "text"}, "drops": []}
    for _ in range(3):
        means.add(run)
    assert means.bytes_per_run() == 16
    assert means.summary() == {
        "a": {"mean": 1.5, "low": 1.5, "high": 1.5},
        "b": {"c": {"mean": 2.0, "low": 2.0, "high": 2.0}, "d": None, "e": None},
        "drops": [],
    }


def test_a_check_of_ten_thousand_stations_fits_into_a_gigabyte(tmp_path: Path) -> None:
    file = tmp_path / "many.toml"
    file.write_text(MANY.partition("[sweep]")[0])
    done = limited(1000, "check", str(file), "--set", "node.sta.count=10000")
    assert done.returncode == 0, done.stderr
    assert "Channel wifi: 5 GHz, 20 MHz, 10001 radios\n  All hear each other.\n" in done.stdout
    assert "  ... and 9951 more; --json has all" in done.stdout


def test_hidden_stations_among_many_are_listed_by_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "many.toml"
    file.write_text(MANY.partition("[sweep]")[0].replace("[node.ap]", 'hidden = [["sta"]]\nsense_only = []\n[node.ap]'))
    for count, is_listed in ((255, True), (256, False)):
        assert status(["check", str(file), "--set", f"node.sta.count={count}", "--json"]) == 0
        channel = json.loads(capsys.readouterr().out)["channels"][0]
        names = [f"sta{n}.wlan0" for n in range(1, count + 1)]
        assert channel["radios"] == ["ap.wlan0", *names]
        if is_listed:
            assert channel["hearing"][1][2] == "hidden"
            assert channel["snr_db"][0] == [None] * (count + 1)
            assert "worse" not in channel
        else:
            assert channel["hearing"] is channel["snr_db"] is None
            assert channel["worse"] == [{"hearing": "hidden", "radios": names}]
    assert status(["check", str(file), "--set", "node.sta.count=256"]) == 0
    out = capsys.readouterr().out
    assert "  All 257 hear each other, but for those below.\n" in out
    assert "  sta1.wlan0 to sta256.wlan0 (256 radios): do not hear each other\n" in out


@pytest.mark.parametrize("kept", [False, True])
def test_a_run_that_runs_out_of_memory_is_an_error(tmp_path: Path, kept: bool) -> None:
    file, folder = tmp_path / "many.toml", tmp_path / "kept"
    file.write_text(MANY)
    run = ["run", str(file), "--set", "node.sta.count=5000", "--jobs", "1"]
    done = limited(400, *run, *(["-o", str(folder)] if kept else []))
    # One line, and no abort with a backtrace.
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"stillair: {file}: ran out of memory; there are ")
    assert "backtrace" not in done.stderr


def test_runs_in_a_process_of_their_own_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", FILE, *TINY, "--runs", "3"]
    assert status([*run, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert status([*run, "-o", str(tmp_path / "plain")]) == 0
    monkeypatch.setattr(work, "_SPREAD", 1 << 40)
    assert status([*run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == plain
    assert status([*run, "-o", str(tmp_path / "alone")]) == 0
    for name in ("result.json", "table.csv", "runs/run-2.json"):
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()


FIVE = ["--set", "duration=3 s", "--set", "warm_up=0.5 s", "--set", "flow.0.rate=2 Mbit/s"]


def peak_mb(*arguments: str) -> float:
    """Peak memory of a command, as the command sees it: what wait4() reports includes the fork of this process."""
    read = "print(open('/proc/self/status').read(), file=sys.stderr)"
    program = (
        f"import atexit, sys\nfrom stillair.__main__ import main\natexit.register(lambda: {read})\nsys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    found = re.search(r"^VmHWM:\s+(\d+) kB$", ran.stderr, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


def test_memory_does_not_grow_with_the_number_of_runs(tmp_path: Path) -> None:
    file = tmp_path / "many.toml"
    file.write_text(MANY.partition("[sweep]")[0])
    run = ["run", str(file), *FIVE, "--set", "node.sta.count=5", "--jobs", "2"]
    few = peak_mb(*run, "--runs", "20", "-o", str(tmp_path / "few"))
    many = peak_mb(*run, "--runs", "400", "-o", str(tmp_path / "many"))
    # 1,000 runs would stay below 300 MB even if each run took twice of what is allowed here.
    assert many < few + 40
    assert many + 2 * 600 * (many - few) / 380 < 300
