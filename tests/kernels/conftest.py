"""Guests for tests: the kernel built by `make test-kernels`, in the launcher, with its own clock.

Always as an ordinary user, and also as root if the tests run as root. STILLAIR_TEST_KERNEL selects
another kernel than 6.12.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError
from stillair.kernels import store

PYTHON = "/usr/bin/python3"
"""The system's Python, which every user and every guest may run."""
ORDINARY = 65533
"""An unnamed user, different from the launcher's."""
LIMIT_S = 120.0
FEATURES = ("no user namespace", "no namespaces of its own", "Linux 5.12", "no /proc of its own")
"""Launcher messages about features that the kernel, or the container, lacks."""


@dataclass
class Machine:
    """A user of this machine, with a folder that contains the kernel."""

    user: int
    folder: Path
    guest: Path

    def words(self, words: Sequence[str | Path]) -> list[str]:
        """Returns a command line that runs as this user."""
        text = [str(word) for word in words]
        if self.user == os.geteuid():
            return text
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *text]

    def run(self, *words: str | Path, **more: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command to completion."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/dev/shm", **more}
        return subprocess.run(
            self.words(words),
            cwd=self.guest,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )

    def launch(self, *words: str | Path) -> "subprocess.CompletedProcess[str]":
        """Runs a program in the launcher, like a kernel."""
        return self.run(self.folder / "launch", self.guest, *words)

    def lacks(self) -> str | None:
        """Returns the launcher's message about a missing kernel feature, the only reason to skip."""
        done = self.launch("/bin/true")
        is_lacking = done.returncode == 125 and any(feature in done.stderr for feature in FEATURES)
        return done.stderr.strip() if is_lacking else None

    def boot(self, script: str, *arguments: str, seed: int = 1) -> "subprocess.CompletedProcess[str]":
        """Boots a guest with a Python script as its first program, in the machine's root, read-only."""
        init = self.guest / "first"
        init.write_text(f"#!{PYTHON} -IS\n{script}\n{OFF}")
        init.chmod(0o755)
        return self.run(
            self.folder / "launch",
            self.guest,
            self.folder / "linux",
            "mem=64M",
            "rootfstype=hostfs",
            "root=/dev/root",
            "rootflags=/",
            "ro",
            f"init={init}",
            "time-travel=inf-cpu",
            "time-travel-start=1700000000000000000",
            "con=null",
            "con0=null,fd:1",
            "quiet",
            "panic=-1",
            *arguments,
            LD_PRELOAD=str(self.folder / "seed.so"),
            STILLAIR_SEED=str(seed),
        )

    def told(self, script: str, *arguments: str, seed: int = 1) -> dict[str, Any]:
        """Boots a guest, and returns the JSON that its first program writes."""
        done = self.boot(f"{script}\n{TELL}", *arguments, seed=seed)
        file = self.guest / "told.json"
        assert file.is_file(), done.stdout + done.stderr
        found: dict[str, Any] = json.loads(file.read_text())
        return found


TELL = """
import json
with open("/mnt/told.json", "w") as file:
    json.dump(told, file)
"""
OFF = """
import ctypes, os
os.sync()
ctypes.CDLL(None).reboot(0x4321FEDC)
"""
MOUNTS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
told = {}
def mount(what, at, kind, flags=0, data=None):
    words = [None if word is None else word.encode() for word in (what, at, kind)]
    if libc.mount(*words, flags, None if data is None else data.encode()):
        return os.strerror(ctypes.get_errno())
    return "mounted"
mount("none", "/proc", "proc")
mount("none", "/sys", "sysfs")
mount("none", "/mnt", "hostfs", 0, "GUEST")
"""
"""Start of each guest's first program: mounts its own, writable folder at /mnt."""


@pytest.fixture(scope="session")
def kernel() -> store.Kernel:
    """The kernel under test."""
    name = os.environ.get("STILLAIR_TEST_KERNEL", "6.12")
    try:
        return store.find(name)
    except InputError as error:
        pytest.fail(f"{error}; make test-kernels does")


@pytest.fixture(params=sorted({os.geteuid(), ORDINARY}) if os.geteuid() == 0 else [os.geteuid()])
def machine(request: pytest.FixtureRequest, kernel: store.Kernel) -> Iterator[Machine]:
    """A user with a copy of the kernel, whose original may not be readable."""
    folder = Path(f"/tmp/stillair-kernels-{os.getpid()}-{request.param}")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "guest").mkdir(parents=True)
    for name in ("linux", "launch", "seed.so"):
        shutil.copy2(kernel.folder / name, folder / name)
    if request.param != os.geteuid():
        for path in (folder, folder / "guest"):
            os.chown(path, request.param, request.param)
    found = Machine(request.param, folder, folder / "guest")
    try:
        if lacks := found.lacks():
            pytest.skip(f"the kernel lacks what guests need: {lacks}")
        yield found
    finally:
        shutil.rmtree(folder)
