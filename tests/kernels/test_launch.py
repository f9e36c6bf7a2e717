"""Restrictions of a guest and of its process, and removal of everything at its end."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import MOUNTS, PYTHON, Machine

TRIES = """
import json, os, socket
def tried(name, do):
    try:
        told[name] = do() or "done"
    except OSError as error:
        told[name] = error.strerror or str(error)
def write(path):
    with open(path, "w") as file:
        file.write("x")
def connect(family, address):
    with socket.socket(family) as one:
        one.settimeout(2)
        one.connect(address)
"""


@pytest.fixture
def listener() -> Iterator[int]:
    """Port of a server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def secret() -> Iterator[str]:
    """A file in /root, if these tests may write there."""
    if os.geteuid() != 0:
        yield "/root/.profile"
        return
    file = Path(f"/root/.stillair-secret-{os.getpid()}")
    file.write_text("nobody's business")
    yield str(file)
    file.unlink()


def test_guest_root_cannot_remount_write_read_or_connect(machine: Machine, listener: int, secret: str) -> None:
    told = machine.told(
        MOUNTS.replace("GUEST", str(machine.guest))
        + TRIES
        + f"""
told["user"] = os.geteuid()
told["remount"] = mount(None, "/", None, 32)
tried("usr", lambda: write("/usr/stillair-was-here"))
tried("etc", lambda: write("/etc/stillair-was-here"))
tried("kernel", lambda: write("{machine.folder}/linux"))
# Mount the machine's files again from inside the guest, writable.
told["hostfs"] = mount("none", "/media", "hostfs", 0, "/")
tried("usr of hostfs", lambda: write("/media/usr/stillair-was-here"))
tried("made writable", lambda: os.chmod("/media/etc", 0o777))
told["root"] = os.listdir("/media/root")
told["home"] = os.listdir("/media/home")
told["run"] = os.listdir("/media/run")
tried("secret", lambda: open("/media{secret}").read())
tried("shadow", lambda: open("/media/etc/shadow").read())
mount("none", "/dev", "devtmpfs")
tried("connect", lambda: connect(socket.AF_INET, ("127.0.0.1", {listener})))
tried("Internet", lambda: connect(socket.AF_INET, ("192.0.2.1", 80)))
tried("own folder", lambda: write("/mnt/made"))
"""
    )
    refused = {"Read-only file system", "Permission denied", "Operation not permitted"}
    # Root may do all this inside the guest; the process outside is refused.
    assert (told["user"], told["hostfs"]) == (0, "mounted")
    for name in ("usr", "etc", "kernel", "usr of hostfs", "made writable", "shadow"):
        assert told[name] in refused, (name, told[name])
    assert told["secret"] in refused | {"No such file or directory"}
    # /root is empty: the kernel under test is in /tmp.
    assert (told["root"], told["home"], told["run"]) == ([], [], [])
    assert told["connect"] in {"Connection refused", "Network is unreachable"}
    assert told["Internet"] == "Network is unreachable"
    # Permitted operations work.
    assert told["own folder"] == "done"
    assert (machine.guest / "made").read_text() == "x"
    assert not Path("/usr/stillair-was-here").exists()
    assert not Path("/etc/stillair-was-here").exists()


def outside(machine: Machine, listener: int, secret: str) -> str:
    """A script with the attempts of a process on this machine, such as a guest's kernel."""
    return (
        TRIES
        + f"""
import ctypes, json
told = {{}}
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *words):
    ctypes.set_errno(0)
    getattr(libc, name)(*words)
    return os.strerror(ctypes.get_errno()) if ctypes.get_errno() else "done"
told["user"] = os.geteuid()
tried("connect", lambda: connect(socket.AF_INET, ("127.0.0.1", {listener})))
tried("secret", lambda: open("{secret}").read())
tried("processes", lambda: str(len([name for name in os.listdir("/proc") if name.isdigit()])))
tried("kill", lambda: os.kill({os.getpid()}, 0))
tried("usr", lambda: write("/usr/stillair-was-here"))
told["mount"] = call("mount", b"none", b"/mnt", b"tmpfs", 0, None)
told["umount"] = call("umount2", b"/home", 2)
told["remount"] = call("mount", None, b"/usr", None, 32 | 4096, None)
tried("powers", lambda: [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapBnd")][0])
tried("become root", lambda: os.setuid(0))
tried("own folder", lambda: write("{machine.guest}/made"))
tried("shared memory", lambda: write("/dev/shm/made"))
print(json.dumps(told))
"""
    )


def test_the_process_has_no_privileges(machine: Machine, listener: int, secret: str) -> None:
    script = outside(machine, listener, secret)
    done = machine.launch(PYTHON, "-ISc", script)
    told = json.loads(done.stdout)
    free = json.loads(machine.run(PYTHON, "-ISc", script.replace("/usr/still", "/nowhere/still")).stdout)
    # Outside the launcher the same attempts succeed, so the test can fail.
    assert (free["connect"], free["own folder"]) == ("done", "done")
    assert (free["kill"] == "done") == (machine.user == os.geteuid())
    if machine.user == 0:
        assert free["secret"].startswith("nobody")
    assert told["user"] == (65534 if machine.user == 0 else machine.user)
    assert told["connect"] == "Network is unreachable"
    assert told["secret"] in {"No such file or directory", "Permission denied"}
    assert told["kill"] == "No such process"
    assert int(told["processes"]) <= 3
    assert told["usr"] == "Read-only file system"
    for name in ("mount", "umount", "remount", "become root"):
        assert told[name] in {"Operation not permitted", "Invalid argument"}, (name, told[name])
    assert int(told["powers"], 16) == 0
    assert (told["own folder"], told["shared memory"]) == ("done", "done")


def sleepers(marker: str) -> int:
    """Number of processes with a word on their command line."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found += marker.encode() in (folder / "cmdline").read_bytes()
    return found


def gone(marker: str) -> bool:
    """Returns true if all of them end soon."""
    until = time.monotonic() + 10
    while sleepers(marker):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("how", ["launcher", "caller", "end"])
def test_nothing_remains(machine: Machine, how: str) -> None:
    marker = f"marker-{os.getpid()}-{how}"
    sleeper = f"[sys.executable, '-c', 'import time; time.sleep(999)', '{marker}']"
    busy = f"import subprocess, sys, time\n[subprocess.Popen({sleeper}) for _ in 'ab']\n"
    busy += "time.sleep(0.5)" if how == "end" else "time.sleep(999)"
    words = machine.words([machine.folder / "launch", machine.guest, PYTHON, "-ISc", busy])
    if how == "caller":
        words = [PYTHON, "-c", f"import subprocess\nsubprocess.run({words!r})"]
    with subprocess.Popen(words, cwd=machine.guest, stdin=subprocess.DEVNULL) as started:
        until = time.monotonic() + 30
        while sleepers(marker) < 2 and time.monotonic() < until and how != "end":
            time.sleep(0.02)
        if how != "end":
            assert sleepers(marker) >= 2
            started.send_signal(signal.SIGKILL)
    assert gone(marker)
    assert "stillair-kernels-" not in Path("/proc/self/mounts").read_text()


@pytest.mark.parametrize(
    ("script", "status"), [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 11)", 139)]
)
def test_the_status_is_the_kernels(machine: Machine, script: str, status: int) -> None:
    assert machine.launch(PYTHON, "-ISc", script).returncode == status


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere", "/bin/true"], "launch: nowhere: No such file or directory"),
        ([".", "nowhere"], "launch: nowhere: No such file or directory"),
        (["."], "launch: expected [--show DIR] [--hide DIR] GUESTDIR LINUX ARGUMENT..."),
        (["--show", "here", ".", "/bin/true"], 'launch: --show: found "here", expected an absolute path'),
        (
            ["--frobnicate", "/", ".", "/bin/true"],
            "launch: --frobnicate: expected --show DIR or --hide DIR, 32 at most",
        ),
    ],
)
def test_start_failures_have_a_reason(machine: Machine, words: list[str], says: str) -> None:
    done = machine.run(machine.folder / "launch", *words)
    assert (done.returncode, done.stderr.strip(), done.stdout) == (125, says, "")


def test_a_folder_is_shown_or_hidden(machine: Machine) -> None:
    shown = machine.folder / "shown"
    shown.mkdir()
    (shown / "file").write_text("to be read")
    script = f"import os; print(open('{shown}/file').read(), os.listdir('/usr/share'), os.access('{shown}', os.W_OK))"
    words = ["--show", shown, "--hide", "/usr/share", machine.guest, PYTHON, "-ISc", script]
    done = machine.run(machine.folder / "launch", *words)
    assert done.stdout == "to be read [] False\n", done.stderr
