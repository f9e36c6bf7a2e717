"""Live runs for tests: always as an ordinary user, and also as root if the tests run as root.

A test with missing requirements is skipped, with the command that installs them. With STILLAIR_LIVE=required a skip
is a failure, except for missing kernel features.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"
"""The system's Python, which every user may run."""
BINARY = Path(os.environ.get("STILLAIR_LIVE_BINARY", ROOT / "target" / "debug" / "stillair-live"))
SCENARIO = Path(__file__).with_name("upload.toml")
REQUIRED = os.environ.get("STILLAIR_LIVE") == "required"
ORDINARY = 65534
"""The user nobody, without privileges."""

PACKAGES = {
    "iperf3": "iperf3",
    "fping": "fping",
    "irtt": "irtt",
    "iptables-legacy": "iptables",
    "ping": "iputils-ping",
    "curl": "curl",
    "slirp4netns": "slirp4netns",
    "python3": "python3",
    "tshark": "tshark",
}
FEATURE = "the kernel lacks"
NO_LIMIT = ("--late", "10000000")
"""No lateness limit: a busy machine may be late. Other tests check lateness."""


def missing(why: str) -> None:
    """Skips a test; with STILLAIR_LIVE=required, fails unless a kernel feature is missing."""
    if REQUIRED and not why.startswith(FEATURE):
        pytest.fail(why)
    pytest.skip(why)


def needs(*programs: str) -> None:
    """Skips the test if a program is not installed, and names its package."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    for program in programs:
        if shutil.which(program, path=path) is None:
            missing(f"{program} is missing: apt-get install {PACKAGES[program]}")


@dataclass
class User:
    """A user of live runs, with a folder."""

    number: int
    folder: Path

    @property
    def binary(self) -> Path:
        return self.folder / "stillair-live"

    def words(self, words: Sequence[str | Path]) -> list[str]:
        """Returns a command line that runs as this user."""
        text = [str(word) for word in words]
        if self.number == os.geteuid():
            return text
        who = ["setpriv", f"--reuid={self.number}", f"--regid={self.number}", "--clear-groups"]
        return [*who, *text]

    def start(self, *words: str | Path) -> "subprocess.Popen[str]":
        """Starts the engine as this user."""
        command = self.words([self.binary, *words])
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C", "STILLAIR_TEST": str(self.folder)}
        return subprocess.Popen(
            command,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            env=environment,
        )

    def plain(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Runs another program as this user in the folder."""
        return subprocess.run(
            self.words(words), cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )

    def run(self, *words: str | Path, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
        """Runs the engine to completion."""
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def live(
        self, *options: str, command: Sequence[str] = (), scenario: Path = SCENARIO
    ) -> tuple[dict[str, Any], list[str], int]:
        """Makes a live run. Returns its report, the command's output, and the exit status."""
        behind = ["--", *command] if command else []
        late = () if "--late" in options else NO_LIMIT
        done = self.run("run", scenario, *late, *options, *behind)
        *printed, last = done.stdout.splitlines() or [""]
        assert last.startswith('{"'), (done.returncode, done.stdout, done.stderr)
        result = json.loads(last)
        run: dict[str, Any] = result["runs"][0]
        # The engine may stall on a busy machine; nothing else makes such a run invalid.
        gaps = [why for why in run["live"]["lateness"].get("invalid", ()) if "stalled" in why]
        status = run["live"].get("command_status", 0) if done.returncode == 3 and gaps else done.returncode
        return run | {"notes": result.get("notes", [])}, printed, status


def wait_for(path: Path, seconds: float = 20) -> None:
    """Waits until a file exists."""
    for _ in range(int(seconds * 20)):
        if path.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{path} has not come")


def users() -> list[str]:
    return ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]


@pytest.fixture(params=users())
def user(request: pytest.FixtureRequest) -> Iterator[User]:
    """A user with the engine's program in a folder of their own."""
    if sys.platform != "linux":
        missing(f"{FEATURE} namespaces: not Linux")
    if not BINARY.exists():
        missing(f"{BINARY} is missing: cargo build -p stillair-live")
    own = os.geteuid()
    number = 0 if request.param == "root" else own or ORDINARY
    limit = Path("/proc/sys/user/max_user_namespaces")
    if number and (not limit.exists() or limit.read_text().strip() == "0"):
        missing(f"{FEATURE} namespaces of an ordinary user: sysctl -w user.max_user_namespaces=10000")
    needs("iptables-legacy")
    folder = Path(f"/tmp/stillair-live-{os.getpid()}-{request.param}")
    folder.mkdir()
    shutil.copy(BINARY, folder / "stillair-live")
    folder.chmod(0o755)
    (folder / "stillair-live").chmod(0o755)
    scenario = folder / "upload.toml"
    shutil.copy(SCENARIO, scenario)
    if own == 0:
        os.chown(folder, number, number)
    yield User(number, folder)
    shutil.rmtree(folder)
