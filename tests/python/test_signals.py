"""Ends of commands by signals, on real processes: what has finished is kept, and the same command continues from it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stillair import _native
from stillair.__main__ import status
from stillair.cli.explore import guard
from stillair.cli.explore import server as servers
from stillair.runs import bundled
from stillair.text import signals

FILE = bundled.scenario("anomaly-udp").file
TINY = ["--set", "duration=50 ms", "--set", "warm_up=0 s"]
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
PATIENCE_S = 120


def until(found: Callable[[], object], process: "subprocess.Popen[str]") -> None:
    """Waits until `found` gives something true, or the process has ended."""
    limit = time.monotonic() + PATIENCE_S
    while not found():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.005)


def ended(arguments: list[str], number: signal.Signals, ready: Callable[[], object]) -> str:
    """Starts a command, ends it by a signal as soon as `ready` holds, checks its status, and returns its stderr."""
    command = [sys.executable, "-m", "stillair", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(ready, process)
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number), err
    if number != signal.SIGKILL:
        last = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
        assert err.splitlines()[-1] == f"stillair: {last}"
    return err


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("number", ENDING)
def test_run_continues(tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    folder, runs = tmp_path / "kept", tmp_path / "kept" / ".new-result" / "runs"
    run = ["run", FILE, *TINY, "--runs"]
    err = ended(
        [*run, "100000", "--jobs", "2", "-o", str(folder)], number, lambda: len(list(runs.glob("run-*.json"))) > 3
    )
    if number == signal.SIGKILL:
        made = count = len(list(runs.glob("run-*.json")))
        assert status(["report", str(folder)]) == 2
        assert f"{made} finished ones are in {runs}; repeat" in capsys.readouterr().err
    else:
        numbers = [run["run"] for run in json.loads((folder / "result.json").read_text())["runs"]]
        # With two threads the last run may be there without the one before.
        made, count = numbers[-1] + 1, len(numbers)
        assert f"{count} of 100000 runs had finished and are kept in {folder}; the same command continues" in err
        assert status(["export", str(folder), "--csv", "-o", str(tmp_path / "table.csv")]) == 0
    capsys.readouterr()
    before = {path.name: path.stat().st_ino for path in folder.rglob("run-*.json")}
    assert status([*run, str(made + 2), "-o", str(folder)]) == 0
    said = capsys.readouterr()
    assert f"of {made + 2} runs are kept in {folder} by an earlier call" in said.err
    # The same files, by another name: those runs were not repeated.
    after = {path.name: path.stat().st_ino for path in folder.rglob("run-*.json")}
    assert len(after) == made + 2
    assert sum(before.get(name) == inode for name, inode in after.items()) >= count
    clean = tmp_path / "clean"
    assert status([*run, str(made + 2), "-o", str(clean)]) == 0
    assert files(folder) == files(clean)
    assert capsys.readouterr().out == said.out


def test_runs_of_other_inputs_are_not_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, runs = tmp_path / "kept", tmp_path / "kept" / ".new-result" / "runs"
    run = ["run", FILE, *TINY, "--runs", "100000", "-o", str(folder)]
    ended(run, signal.SIGKILL, lambda: len(list(runs.glob("run-*.json"))) > 3)
    for other in (["--seed", "9"], ["--set", "duration=60 ms"]):
        assert status(["run", FILE, *TINY, *other, "-o", str(folder)]) == 2
        assert "replace it with --force" in capsys.readouterr().err
    assert status(["run", FILE, *TINY, "--seed", "9", "--force", "-o", str(folder)]) == 0
    assert [run["seed"] for run in json.loads((folder / "result.json").read_text())["runs"]] == [9]


def test_a_run_file_that_lost_power_is_repeated(tmp_path: Path) -> None:
    folder, runs = tmp_path / "kept", tmp_path / "kept" / ".new-result" / "runs"
    run = ["run", FILE, *TINY, "--runs"]
    ended([*run, "100000", "-o", str(folder)], signal.SIGKILL, lambda: len(list(runs.glob("run-*.json"))) > 3)
    (runs / "run-0.json").write_bytes(b"")
    (runs / "run-1.json").write_bytes((runs / "run-1.json").read_bytes()[:-9])
    assert status([*run, "3", "-o", str(folder)]) == 0
    assert status([*run, "3", "-o", str(tmp_path / "clean")]) == 0
    assert files(folder) == files(tmp_path / "clean")


@pytest.mark.parametrize("number", ENDING)
def test_run_without_a_folder_prints_what_it_has(tmp_path: Path, number: signal.Signals) -> None:
    progress = tmp_path / "seen"
    program = (
        "import sys; from pathlib import Path; from stillair.results.result import Digest\n"
        "add = Digest.add\n"
        "def seen(self, run): add(self, run); Path(sys.argv[1]).write_text('x')\n"
        "Digest.add = seen\n"
        f"from stillair.__main__ import main; main({['run', FILE, *TINY, '--runs', '100000']!r})"
    )
    command = [sys.executable, "-c", program, str(progress)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(progress.exists, process)
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE_S)
    if number == signal.SIGKILL:
        assert (process.returncode, out) == (-number, "")
    else:
        assert process.returncode == 128 + number
        assert "of 100000 planned runs" in out or "(1 of 100000 planned runs)" in out


@pytest.mark.parametrize("number", ENDING)
def test_sweep_continues_within_a_combination(
    tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kept"
    file = tmp_path / "swept.toml"
    text = Path(FILE).read_text().partition("[sweep]")[0]
    file.write_text(text + '\n[sweep]\n"flow.0.burst" = [1, 8]\n')
    sweep = ["sweep", str(file), *TINY, "--runs", "60", "--jobs", "1"]

    def lines() -> int:
        kept = list((folder / "combinations").glob("*.runs"))
        return sum(len(path.read_bytes().split()) > 0 and path.read_bytes().count(b"sha256") for path in kept)

    err = ended([*sweep, "-o", str(folder)], number, lambda: lines() > 3)
    made = lines()
    if number != signal.SIGKILL:
        assert f" combinations and {made} runs of others are kept in {folder}" in err or made == 0
    if number == signal.SIGKILL:
        # Cut off in the middle of a line.
        for path in (folder / "combinations").glob("*.runs"):
            path.write_bytes(path.read_bytes() + b'\n{"run": 7, "se')
    asked: list[list[list[int]]] = []
    original = _native.run_variants

    def run_variants(*arguments: object) -> None:
        asked.append(arguments[6])  # type: ignore[arg-type]
        original(*arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_native, "run_variants", run_variants)
        assert status([*sweep, "-o", str(folder)]) == 0
    assert sum(map(len, asked[0])) == made
    assert status([*sweep, "-o", str(tmp_path / "clean")]) == 0
    assert files(folder) == files(tmp_path / "clean")
    capsys.readouterr()


@pytest.mark.parametrize("number", ENDING)
def test_compare_continues(tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "kept"
    compare = ["compare", FILE, "--set", "duration=50 ms;warm_up=0 s", "--set", "duration=60 ms;warm_up=0 s"]
    compare += ["--json", "--runs"]

    def made() -> int:
        return sum(path.read_bytes().count(b"sha256") for path in (folder / "sides").glob("*.runs"))

    err = ended([*compare, "500", "--keep", str(folder)], number, lambda: made() > 3)
    if number != signal.SIGKILL:
        assert f"finished runs are kept in {folder}; run the same command again to continue" in err
    [first] = (folder / "sides").glob("*.runs")
    # Runs finish in any order.
    numbers = sorted(json.loads(line)["run"] for line in first.read_bytes().splitlines() if b"sha256" in line)
    kept: list[object] = []
    original = _native.run

    def run(*arguments: object, **options: object) -> str:
        kept.append(options["kept"])
        return original(*arguments, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_native, "run", run)
        assert status([*compare, "3", "--keep", str(folder)]) == 0
    assert kept[0] == [number for number in numbers if number < 3]
    out = capsys.readouterr().out
    assert status([*compare, "3"]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("number", ENDING)
def test_tune_keeps_its_runs(tmp_path: Path, number: signal.Signals) -> None:
    pytest.importorskip("optuna")
    file = tmp_path / "runs.jsonl"

    def made() -> int:
        return file.read_bytes().count(b"\n") if file.exists() else 0

    tune = ["tune", "home", "--set", "duration=2 s", "--set", "warm_up=0.5 s", "-o", str(tmp_path), "--jobs", "2"]
    err = ended(tune, number, lambda: made() > 3)
    kept = made()
    if number != signal.SIGKILL:
        assert f"runs are kept in {tmp_path}; run the same command again to continue" in err
    ended(tune, signal.SIGTERM, lambda: made() > kept)
    keys = [json.loads(line)["key"] for line in file.read_bytes().splitlines()]
    # No run is made a second time.
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("number", ENDING)
def test_paper_continues(tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "kept"
    paper = ["paper", "ending-the-anomaly/table1", "--set", "duration=1 s", "--set", "warm_up=0.2 s", "--jobs", "2"]

    def made() -> int:
        return sum(path.read_bytes().count(b"sha256") for path in (folder / ".runs").glob("*.runs"))

    err = ended([*paper, "--runs", "500", "-o", str(folder)], number, lambda: made() > 3)
    if number != signal.SIGKILL:
        assert f"finished runs are kept in {folder}; run the same command again to continue" in err
    [first] = (folder / ".runs").glob("*.runs")
    numbers = sorted(json.loads(line)["run"] for line in first.read_bytes().splitlines() if b"sha256" in line)
    kept: list[list[int]] = []
    original = _native.run

    def run(*arguments: object, **options: object) -> str:
        kept.append(options["kept"])  # type: ignore[arg-type]
        return original(*arguments, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_native, "run", run)
        assert status([*paper, "--runs", "2", "-o", str(folder)]) == 0
    assert kept[0] == [number for number in numbers if number < 2] != []
    # A complete report needs its runs no longer.
    assert not (folder / ".runs").exists()
    out = capsys.readouterr().out
    assert status([*paper, "--runs", "2"]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("number", ENDING[:3])
def test_explain_prints_what_it_has(tmp_path: Path, number: signal.Signals) -> None:
    seen = tmp_path / "seen"
    explain = ["explain", FILE, "--runs", "2"]
    for key in ("duration=1 s", "warm_up=0.2 s", "node.ap.interface.wlan0.scheme=fifo"):
        explain += ["--set", key]
    # The first change has been run, and the second begins.
    program = (
        "import sys; from pathlib import Path; from stillair.explain import evaluation\n"
        "try_one, count = evaluation.try_one, [0]\n"
        "def seen(*given):\n"
        "    count[0] += 1\n"
        "    if count[0] == 2: Path(sys.argv[1]).write_text('x')\n"
        "    return try_one(*(given if count[0] == 1 else (*given[:1], [('duration', '2000 s')], *given[2:])))\n"
        "evaluation.try_one = seen\n"
        f"from stillair.__main__ import main; main({explain!r})"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(seen)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until(seen.exists, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number
    assert "Main cause: " in out
    assert "Changes, run with the same seeds" in out
    assert "stillair: 1 of 2 changes had been run; they are shown above, and nothing is kept" in err


def children(of: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == of and state != "Z":
            found.append(int(path.parent.name))
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def used_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", ENDING)
def test_explore_leaves_no_engine(tmp_path: Path, number: signal.Signals) -> None:
    for name in servers._KINDS:
        (tmp_path / name).write_text("")
    program = (
        "import sys; from pathlib import Path; from stillair.cli.explore import server\n"
        "server.PAGE = Path(sys.argv[1])\n"
        "from stillair.__main__ import main; main(['explore', '--seconds', '3600'])"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        _, _, place = process.stdout.readline().strip().partition("//")
        address, _, token = place.strip("/").partition("/")
        host, _, port = address.partition(":")
        endless = {"text": Path(FILE).read_text(), "file": "x.toml", "overrides": [["duration", "100000 s"]]}
        body = json.dumps({"do": "run", "of": endless}).encode()
        head = (
            f"POST /{token}/ask HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
            f"{guard.TOKEN_HEADER}: {token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(head.encode() + body)
            engines = children(process.pid)
            assert engines
            begun = {engine: used_s(engine) for engine in engines}
            # One of them is at work when none of the others is: it has used more time than it takes to start.
            until(lambda: any(used_s(engine) > begun[engine] + 1.0 for engine in engines), process)
            process.send_signal(number)
            process.wait(timeout=PATIENCE_S)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    limit = time.monotonic() + PATIENCE_S
    while any(map(is_running, engines)):
        assert time.monotonic() < limit, "an engine outlives its server"
        time.sleep(0.01)


def test_an_engine_limits_its_own_time() -> None:
    # As of a server that neither ends it nor dies.
    program = (
        "import json, sys; from stillair.cli.explore import engine\n"
        "engine._GRACE_S = 0.0\n"
        "sys.argv = ['engine', str(4 << 30), '0.2']\n"
        "engine.main()"
    )
    endless = {"text": Path(FILE).read_text(), "file": "x.toml", "overrides": [["duration", "100000 s"]]}
    request = json.dumps({"do": "run", "of": endless}).encode()
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(len(request).to_bytes(8, "big") + request)
        process.stdin.flush()
        assert process.wait(timeout=PATIENCE_S) == -signal.SIGXCPU


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGTERM, signals.Ended), (signal.SIGINT, KeyboardInterrupt)])
def test_a_signal_held_back_is_raised_even_if_the_block_fails(
    number: signal.Signals, expected: type[KeyboardInterrupt]
) -> None:
    def fails() -> None:
        with signals.by_signals(), signals.held_back():
            signal.raise_signal(number)
            raise OSError("no space left on device")

    # A library that other tests load, such as Ray, may have a handler of its own for SIGTERM.
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)
    try:
        with pytest.raises(expected) as caught:
            fails()
    finally:
        signal.signal(number, before)
    assert type(caught.value) is expected
    assert isinstance(caught.value.__context__, OSError)
