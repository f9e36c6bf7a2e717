"""A kernel build ended by a signal leaves no compilers and no files. The source tree is a fake."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MAKEFILE = """
kernelversion:
\t@echo 6.12.1
allnoconfig:
\t@: > $(O)/.config
olddefconfig:
\t@:
linux:
\t@echo '  CC      one.o'
\t@touch $(O)/begun
\t@sleep 987654 & sleep 987654
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree whose build never ends."""
    root = tmp_path / "tree"
    for name, text in {"Kbuild": "", "Kconfig": "", "arch/um/Kconfig": "", "Makefile": MAKEFILE}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def processes_of(place: Path) -> Iterator[str]:
    """Programs whose working directory or arguments are below a folder."""
    for one in Path("/proc").glob("[0-9]*"):
        try:
            words = (one / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            at = str((one / "cwd").readlink())
        except OSError:
            continue
        if str(place) in words or at.startswith(str(place)):
            yield words


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_build_ended_by_a_signal_leaves_nothing(tree: Path, tmp_path: Path, number: signal.Signals) -> None:
    cache = tmp_path / "kernels"
    words = [sys.executable, "-m", "stillair", "kernel", "build", "mine", "--source", str(tree), "--bare"]
    with subprocess.Popen(
        words, env=os.environ | {"STILLAIR_KERNELS": str(cache)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as made:
        until = time.monotonic() + 60
        while not list(cache.glob("*/objects/begun")) and made.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        assert made.poll() is None, made.communicate()[0]
        assert list(cache.glob("*/objects/begun"))
        assert [words for words in processes_of(cache) if "sleep" in words]
        made.send_signal(number)
        assert made.wait(30) == 128 + number
    assert list(processes_of(cache)) == []
    assert [path.name for path in cache.rglob("*") if path.is_file()] == []
