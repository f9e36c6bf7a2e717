"""What people get wrong, at the command line as they see it: status 2, a line or two, and never a traceback."""

import csv
import errno
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stillair.__main__ import status

ROOT = Path(__file__).resolve().parents[2]
GOOD = (ROOT / "crates" / "sim" / "tests" / "scenario" / "good.toml").read_text(encoding="utf-8")
SHORT = GOOD.replace('"30 s"', '"100 ms"').replace('"5 s"', '"0 s"').partition("[sweep]")[0]


def stillair(*arguments: str, cwd: Path, limit: int | None = None, stdout: int | None = None) -> tuple[int, str, str]:
    """Runs the program as a shell does; `limit` is the size in bytes at which a file cannot grow."""

    def before() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "stillair", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=before,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stdout or "", done.stderr


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("seed = 1", "seed 1"), "f.toml:4: found text that is not TOML"),
        (('duration = "30 s"', "duration = 30"), "f.toml:2: duration: found 30, expected a time in ns, us, ms or s"),
        (('duration = "30 s"', 'durration = "30 s"'), "durration: found an unknown key"),
        (('warm_up = "5 s"', 'warm_up = "30 s"'), "expected a time shorter than duration"),
        (('profile = "linux-4.14"', 'profile = "linux-4.5"'), 'found "linux-4.5", expected one of "linux-4.4"'),
        (('role = "ap"', 'role = "app"'), 'did you mean "ap"?'),
        (('"mcs15", "mcs14"', '"mcs15", "mcs99"'), "expected an HT rate"),
        (('rate = "100 Mbit/s"', 'rate = "100 Mbps"'), "expected a rate in bit/s, kbit/s, Mbit/s or Gbit/s"),
        (('"10.0.1.12"', '"10.0.1.11"'), "expected an address of its own"),
        (("forward = true", "forward = false"), "expected forward = true"),
        (('from = "server"', 'from = "servr"'), 'did you mean "server"?'),
        (('link = "lan", address = "10.0.0.2"', 'link = "wan", address = "10.0.0.2"'), 'found "wan", expected "lan"'),
        (('inherits = "fast1"', 'inherits = "fast2"'), "fast2"),
        (("node.ap.interface.wlan0.scheme", "node.app.interface.wlan0.scheme"), "(node.app): found no such name"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_mistake_in_the_file(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    assert change[0] in GOOD
    (tmp_path / "f.toml").write_text(GOOD.replace(*change, 1), encoding="utf-8")
    code, out, err = stillair("run", "f.toml", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("stillair: f.toml:")
    assert says in err
    assert 1 <= err.count("\n") <= 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "node.ap.interface.wlan9.scheme=fifo"], "--set: node.ap.interface.wlan9: found no such name"),
        (["--set", "flow.7.rate=1 Mbit/s"], "expected a number below 2"),
        (["-o", "f.toml/result"], "results cannot be written there: Not a directory; give another folder with -o"),
        (["-o", "/proc/result"], "results cannot be written there: "),
    ],
)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_mistake_at_the_command_line(tmp_path: Path, command: str, arguments: list[str], says: str) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    code, out, err = stillair(command, "f.toml", *arguments, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert says in err
    assert 1 <= err.count("\n") <= 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "\udcff.toml"],
        ["run", "f.toml", "--set", "name=\udcff"],
        ["run", "f.toml", "-o", "\udcff"],
        ["plot", "kept", "--title", "\udcff"],
    ],
)
def test_an_argument_that_is_not_utf8(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    code, out, err = stillair(*arguments, cwd=tmp_path)
    shown = next(argument for argument in arguments if "\udcff" in argument).replace("\udcff", "\\xff")
    assert (code, out, err) == (2, "", f"stillair: found the argument {shown}, expected UTF-8\n")
    assert [path.name for path in tmp_path.iterdir()] == ["f.toml"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tc", "f.toml", "--run", str(2**32 - 1)], "expected a whole number from 0 to 4294967294"),
        (["run", "f.toml", "--runs", "ten"], "'--runs': found 'ten', expected a whole number from 1 to 1000000"),
        (["run", "f.toml", "--jobs", "-1"], "'--jobs': found '-1', expected a whole number from 1 to 1024"),
        (["bisect", "f.toml", "total", "--least", "much"], "found 'much', expected a number from 0 to 1000"),
        (["rc-stats", "f.toml", "--run", str(2**32)], "'--run': "),
        (["ss", "f.toml", "--run", "9" * 20], "'--run': "),
        (["export", "f", "--csv", "--run", "9" * 5000], "'--run': "),
        (["export", "f", "--pcap", "--snaplen", str(2**32)], "'--snaplen': "),
        (["plot", "f", "--plot", "airtime-timeline", "--window", f"1 s..{'9' * 400} s"], '--window: found "1 s..99'),
        (["plot", "f", "--plot", "airtime-timeline", "--window", f"{'9' * 400} s..1 s"], '--window: found "99'),
    ],
)
def test_a_number_beyond_its_bounds(tmp_path: Path, arguments: list[str], says: str) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    code, out, err = stillair(*arguments, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", ["schema", "run f.toml", "run f.toml -o kept"])
def test_a_closed_output_is_said_before_anything_is_done(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    # A shell is what closes it.
    command = f"exec {shlex.quote(sys.executable)} -m stillair {arguments} >&-"
    done = subprocess.run(command, shell=True, cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S602
    assert (done.returncode, done.stderr) == (1, "stillair: output: standard output is closed\n")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(("file", "code", "says"), [("f.toml", 0, "anomaly-udp"), ("g.toml", 2, "")])
def test_closed_errors_are_no_reason_to_stop(tmp_path: Path, file: str, code: int, says: str) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    command = f"exec {shlex.quote(sys.executable)} -m stillair run {file} 2>&-"
    done = subprocess.run(command, shell=True, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S602
    assert done.returncode == code
    assert done.stdout.startswith(says) if says else done.stdout == ""


def test_letters_that_the_output_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "stillair", "run", "f.toml", "--runs", "2"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, 'stillair: output: "\\xb1" cannot be written as ascii\n')


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("click", "--version"),
        ("stillair._native", "--version"),
        ("stillair.results.result", "run"),
        ("stillair.papers.pages.report", "paper"),
    ],
)
def test_an_interrupt_while_the_program_is_loaded(tmp_path: Path, module: str, command: str) -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from stillair.__main__ import main\n"
        f"main({[command, 'anomaly-udp'] if command == 'run' else [command]})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stillair: interrupted\n")


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_disk_that_fills_up_leaves_no_half_of_a_file(tmp_path: Path, command: str) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    # Enough for the scenario, not for a result.
    code, out, err = stillair(command, "f.toml", "-o", "kept", cwd=tmp_path, limit=2200)
    assert (code, out) == (1, "")
    assert "cannot be written: File too large" in err
    assert 1 <= err.count("\n") <= 2
    for path in (tmp_path / "kept").rglob("*.json"):
        json.loads(path.read_text())
    assert not (tmp_path / "kept" / "result.json").exists()
    assert not (tmp_path / "kept" / "sweep.json").exists()
    assert not (tmp_path / "kept" / ".new-result").exists()


def test_a_disk_that_fills_up_when_runs_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")

    class Full:
        def writerow(self, _: object) -> None:
            raise OSError(errno.ENOSPC, "")

    command = ["run", str(tmp_path / "f.toml"), "-o", str(tmp_path / "kept")]
    with monkeypatch.context() as patch:
        patch.setattr(csv, "writer", lambda *_, **__: Full())
        assert status(command) == 1
    captured = capsys.readouterr()
    # What was measured is printed, though it cannot be kept whole.
    assert captured.out.startswith("anomaly-udp: run 0, seed 1\n")
    assert "table.csv: cannot be written: No space left on device" in captured.err
    assert "1 of 1 runs had finished and are kept in" in captured.err
    assert not (tmp_path / "kept" / "result.json").exists()
    assert status(command) == 0
    assert "1 of 1 runs are kept" in capsys.readouterr().err
    assert not (tmp_path / "kept" / ".new-result").exists()


@pytest.mark.parametrize("arguments", [["run", "f.toml", "--json"], ["sweep", "f.toml"], ["paper"], ["schema"]])
def test_a_full_disk_behind_the_output(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    full = os.open("/dev/full", os.O_WRONLY)
    code, _, err = stillair(*arguments, cwd=tmp_path, stdout=full)
    os.close(full)
    assert code == 1
    assert err == "stillair: output: No space left on device\n"


@pytest.mark.parametrize("kind", ["csv", "flent", "parquet", "pcap"])
def test_a_device_or_a_link_is_written_to_and_stays(tmp_path: Path, kind: str) -> None:
    (tmp_path / "f.toml").write_text(SHORT, encoding="utf-8")
    assert stillair("run", "f.toml", "-o", "kept", cwd=tmp_path)[0] == 0
    (tmp_path / "full").symlink_to("/dev/full")
    code, out, err = stillair("export", "kept", f"--{kind}", "-o", "full", cwd=tmp_path)
    assert (code, out) == (1, "")
    assert err.startswith("stillair: full: ")
    assert "written: No space left on device" in err
    assert "os error" not in err
    assert err.count("\n") == 1
    assert (tmp_path / "full").is_char_device()
    (tmp_path / "link").symlink_to("file")
    assert stillair("export", "kept", f"--{kind}", "-o", "link", cwd=tmp_path)[0] == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").stat().st_size > 0


def test_an_interrupted_run_says_so_and_ends(tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text(SHORT.replace('"100 ms"', '"100000 s"'), encoding="utf-8")
    # A shell's Ctrl-C reaches a program that is under way: the progress of the first run tells when.
    watch = (
        "import os, signal, sys, threading; from stillair import _native; from stillair.__main__ import main\n"
        "original = _native.run\n"
        "def run(*arguments, **options):\n"
        "    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    return original(*arguments, **options)\n"
        "_native.run = run\n"
        "main(['run', 'f.toml', '-o', 'kept'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", watch], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stillair: interrupted\n")
    assert not (tmp_path / "kept" / "result.json").exists()
