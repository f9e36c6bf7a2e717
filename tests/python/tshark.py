"""What tshark reads in a capture."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

# Checks that Wireshark leaves off unless asked, as network cards often do them.
CHECKS = ("wlan.check_checksum", "ip.check_checksum", "udp.check_checksum", "tcp.check_checksum")
GOOD, BAD = "1", "0"


def fields(
    capture: Path,
    names: Sequence[str],
    only: str = "",
    checks: Sequence[str] = CHECKS,
    options: Sequence[str] = (),
) -> list[dict[str, str]]:
    """The named fields of each frame that the display filter `only` lets through; empty where a frame lacks one."""
    if shutil.which("tshark") is None:
        pytest.fail("no tshark: install it with apt-get install tshark")
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=;"]
    for check in checks:
        command += ["-o", f"{check}:TRUE"]
    for option in options:
        command += ["-o", option]
    for name in names:
        command += ["-e", name]
    if only:
        command += ["-Y", only]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [dict(zip(names, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def stream(capture: Path, number: int) -> bytes:
    """The bytes of a TCP stream in one direction, as Wireshark puts them together."""
    command = ["tshark", "-n", "-r", str(capture), "-q", "-z", f"follow,tcp,raw,{number}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    return bytes.fromhex("".join(line for line in lines if line and set(line) <= set("0123456789abcdef")))
