"""The end of live runs: nothing remains, however they end; permission to send requests; and invalid runs."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ORDINARY, PYTHON, User, wait_for


def processes(user: User) -> Iterator[Path]:
    """`/proc` folders of a run's remaining processes."""
    mark = f"STILLAIR_TEST={user.folder}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                yield process


def remains(user: User) -> list[str]:
    """Names of the remaining processes."""
    found = []
    for process in processes(user):
        with contextlib.suppress(OSError):
            found.append((process / "comm").read_text().strip())
    return found


def outside() -> tuple[str, str, list[str]]:
    """State of the machine that a run could have changed."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    mounts = Path("/proc/self/mountinfo").read_text()
    files = sorted(str(path) for folder in ("/run/netns", "/run/stillair", "/mnt") for path in Path(folder).glob("*"))
    return links, mounts, files


def settled(user: User) -> list[str]:
    for _ in range(100):
        if not remains(user):
            break
        time.sleep(0.05)
    return remains(user)


@pytest.mark.parametrize("how", ["exit", "SIGTERM", "SIGKILL", "SIGKILL of the engine"])
def test_nothing_remains(user: User, how: str) -> None:
    before = outside()
    last = "3" if how == "exit" else "60"
    process = user.start(
        "run", "upload.toml", "--late", "10000000", "--", "sh", "-c", f"touch begun; sleep 300 & sleep {last}"
    )
    begun = user.folder / "begun"
    for _ in range(400):
        if begun.exists():
            break
        time.sleep(0.05)
    assert begun.exists(), process.communicate()
    begun.unlink()
    assert len(remains(user)) >= 4
    if how == "SIGTERM":
        # The tools start with the command, which takes long on a busy machine.
        for _ in range(400):
            [run] = json.loads(user.run("ps").stdout)
            if run["status"]["external_io"]["entered"]:
                break
        process.terminate()
    elif how == "SIGKILL":
        process.kill()
    elif how == "SIGKILL of the engine":
        [run] = json.loads(user.run("ps").stdout)
        os.kill(run["pid"], signal.SIGKILL)
    out, err = process.communicate(timeout=30)
    assert settled(user) == []
    assert outside() == before
    if how in ("exit", "SIGTERM"):
        # Measurements so far are reported.
        assert json.loads(out.splitlines()[-1])["runs"][0]["live"]["external_io"]["entered"] > 0, err
    if how == "SIGKILL of the engine":
        assert "the engine was killed" in err


def test_a_run_fails_if_its_launcher_ends(user: User) -> None:
    process = user.start("run", "upload.toml", "--late", "10000000", "--", "sh", "-c", "touch begun; sleep 60")
    try:
        wait_for(user.folder / "begun")
        for one in processes(user):
            if (one / "comm").read_text().strip() == "stillair-start":
                os.kill(int(one.name), signal.SIGKILL)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out) == (1, ""), err
    assert "the process that starts programs in hosts ended unexpectedly" in err
    assert settled(user) == []


def test_nothing_remains_after_kills_at_random(user: User) -> None:
    before = outside()
    times = int(os.environ.get("STILLAIR_KILLS", "5"))
    draws = random.Random(7)
    for _ in range(times):
        process = user.start("run", "upload.toml")
        time.sleep(draws.uniform(0.0, 1.5))
        process.kill()
        process.communicate(timeout=30)
        assert settled(user) == []
        assert outside() == before


def test_only_the_own_user_may_send_requests(user: User) -> None:
    process = user.start("run", "upload.toml", "--late", "10000000", "--", "sh", "-c", "touch begun; sleep 60")
    try:
        for _ in range(400):
            if (user.folder / "begun").exists():
                break
            time.sleep(0.05)
        [run] = json.loads(user.run("ps").stdout)
        assert set(run["status"]["hosts"]) == {"server", "sta"}
        socket = Path(f"/proc/{run['pid']}/cwd/control")
        assert socket.stat().st_mode & 0o777 == 0o600
        assert user.run("exec", "sta", "--", "ip", "-br", "addr", "show", "wlan0").stdout.split()[2] == "10.0.1.10/32"
        assert user.run("exec", "server", "--", "sh", "-c", "exit 9").returncode == 9
        # Without a command, `exec` runs a shell, which has no input here.
        shell = user.run("exec", "server")
        assert (shell.returncode, shell.stderr) == (0, "")
        wrong = user.run("exec", "nobody", "--", "true")
        assert (wrong.returncode, wrong.stderr) == (
            2,
            'stillair-live: HOST: found "nobody", expected one of server, sta\n',
        )
        if os.geteuid() == 0 and user.number == 0:
            other = User(ORDINARY, user.folder)
            assert json.loads(other.run("ps").stdout) == []
            assert "found no live run of yours" in other.run("exec", "sta", "--", "true").stderr
    finally:
        process.terminate()
        process.communicate(timeout=20)


FAKE = """
import json, os, socket, sys
open("/proc/self/comm", "w").write("stillair-live")
network = os.open("/proc/self/ns/net", os.O_RDONLY)
os.chdir("fake")
if sys.argv[1:]:
    os.symlink(sys.argv[1], "control")
else:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("control")
    os.chmod("control", 0o666)
    listener.listen()
open("begun", "w").close()
if sys.argv[1:]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("other")
    listener.listen()
while True:
    one, _ = listener.accept()
    one.recv(4096)
    of = {"namespace": network, "address": "1.2.3.4", "address6": "::1", "device": "x"}
    one.sendall(json.dumps({"ok": {"scenario": "fake", "elapsed_s": 1, "hosts": {"fake": of}}}).encode() + b"\\n")
    one.close()
"""


@pytest.mark.parametrize(
    ("whose", "socket"), [("another", "its own"), ("another", "that of a run"), ("the same", "that of a run")]
)
def test_fake_runs_are_rejected(user: User, whose: str, socket: str) -> None:
    if whose == "another" and (os.geteuid() or user.number):
        return
    other = User(ORDINARY, user.folder) if whose == "another" else user
    fake = user.folder / "fake"
    fake.mkdir()
    if os.geteuid() == 0:
        os.chown(fake, other.number, other.number)
    (user.folder / "fake.py").write_text(FAKE)
    real = user.start("run", "upload.toml", "--late", "10000000", "--", "sh", "-c", "touch begun; sleep 60")
    process = None
    try:
        wait_for(user.folder / "begun")
        [run] = json.loads(user.run("ps").stdout)
        link = [] if socket == "its own" else [f"/proc/{run['pid']}/cwd/control"]
        process = subprocess.Popen(other.words([PYTHON, "fake.py", *link]), cwd=user.folder)
        wait_for(fake / "begun")
        assert [run["pid"] for run in json.loads(user.run("ps").stdout)] == [run["pid"]]
        assert user.run("exec", "sta", "--", "true").returncode == 0
        real.terminate()
        real.communicate(timeout=20)
        assert json.loads(user.run("ps").stdout) == []
        assert "found no live run of yours" in user.run("exec", "fake", "--", "true").stderr
    finally:
        real.kill()
        real.communicate()
        if process is not None:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("flows", [(), ("--set", "flow=[]")], ids=["flows", "idle"])
def test_a_stalled_run_is_invalid(user: User, flows: tuple[str, ...]) -> None:
    command = ["sh", "-c", "touch begun; sleep 3"]
    process = user.start("run", "upload.toml", *flows, "--late", "10000000", "--", *command)
    wait_for(user.folder / "begun")
    [run] = json.loads(user.run("ps").stdout)
    time.sleep(1)
    os.kill(run["pid"], signal.SIGSTOP)
    time.sleep(0.3)
    os.kill(run["pid"], signal.SIGCONT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    late = json.loads(out.splitlines()[-1])["runs"][0]["live"]["lateness"]
    assert late["gap_us"] > 280_000
    assert re.match(r"late: the engine stalled for \d{3,} ms, expected at most 20 ms", late["invalid"][-1])


def test_a_late_run_is_invalid(user: User) -> None:
    done = user.run("run", "upload.toml", "--set", "duration=3 s", "--set", "warm_up=1 s", "--late", "1")
    assert done.returncode == 3
    result = json.loads(done.stdout.splitlines()[-1])
    late = result["runs"][0]["live"]["lateness"]
    assert late["p50_us"] <= late["p99_us"] <= late["max_us"] * 1.01
    assert late["invalid"][0].startswith("late: 99th percentile of lateness ")
    assert any(note.startswith("this run is not valid: late: ") for note in result["notes"])


def test_errors_are_reported_before_the_start(user: User) -> None:
    for options, says in [
        (
            ["--set", "node.sta.host=model"],
            'flow.0.to: found "server", which is a live host, expected both ends modelled',
        ),
        (
            ["--set", "node.sta.host=model", "--set", "flow=[]", "--host", "sta"],
            '--host: found "sta", expected a live host: server',
        ),
        (
            ["--set", "node.ap.host=live", "--set", "flow=[]"],
            "node.ap.interface: found 2 interfaces of a live host, expected one",
        ),
        (
            ["--set", "node.server.host=external", "--set", "flow=[]"],
            'node.server.host: found "external", expected "live" or "model"',
        ),
    ]:
        done = user.run("run", "upload.toml", *options)
        assert done.returncode == 2, done
        assert says in done.stderr
