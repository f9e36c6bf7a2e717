"""The real Flent between live hosts, with Stillair's netperf: its files can be read, and its figures agree."""

import gzip
import json
import os
import re
import shlex
import shutil
import socket
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import PYTHON, ROOT, User, missing, needs
from stillair.runs.imports.loads import flent as reader

SEGMENT = {4: 1448, 6: 1428}
"""Payload of a full 1500-byte packet with TCP timestamps."""
BYTES = 0.03
"""Relative tolerance between Flent's payload, in full packets, and the packets exchanged: pings, packets in flight."""
PING = (0.25, 3.0)
"""Tolerance (relative or ms, the larger) between the median pings of Flent and the scenario, sent at other times."""
EVERY_MS = 50
LENGTH = 5


def flent(user: User) -> Path:
    """A folder with Flent's package that this user can read; measurements need no other package."""
    found = sorted((ROOT / "build" / "flent-venv" / "lib").glob("python3*/site-packages/flent"))
    if not found:
        missing("flent is missing: make build/stamps/flent-venv")
    packages = user.folder / "packages"
    shutil.copytree(found[0], packages / "flent", ignore=shutil.ignore_patterns("__pycache__"))
    return packages


def measured(user: User, test: str, *options: str) -> tuple[dict[str, Any], Path, dict[str, Any]]:
    """Runs a Flent test from the station to the server. Returns Flent's data, its file, and the report of the run."""
    needs("fping", "irtt")
    packages = flent(user)
    out = user.folder / f"{test}-data"
    out.mkdir()
    if os.geteuid() == 0:
        os.chown(out, user.number, user.number)
    command = [PYTHON, "-m", "flent", test, "-H", "server", "-l", str(LENGTH), "-d", "1", "-D", str(out), *options]
    # Errors appear together with the output.
    quoted = " ".join(shlex.quote(word) for word in command)
    environment = ["env", f"PYTHONPATH={packages}", f"HOME={out}", "sh", "-c", f"date +%s.%N; {quoted} 2>&1"]
    ping = f'flow=[{{ kind = "ping", from = "sta", to = "server", interval = "{EVERY_MS} ms" }}]'
    settings = ["--set", ping, "--set", "warm_up=0 s", "--servers"]
    run, printed, status = user.live(*settings, command=environment)
    said = "\n".join(printed)
    assert status == 0, said
    written = list(out.glob("*.flent.gz"))
    assert len(written) == 1, said
    [file] = written
    run["zero"] = float(printed[0])
    return json.loads(gzip.decompress(file.read_bytes())), file, run


def values(found: dict[str, Any], name: str) -> list[float]:
    return [value for value in found["results"][name] if value is not None]


def moved(found: dict[str, Any], word: str) -> float:
    """Payload bytes received by all streams in a direction."""
    series = found["metadata"]["SERIES_META"]
    return sum(of["BYTES_RECVD"] for name, of in series.items() if word in name and "BYTES_RECVD" in of)


def pings_under_load(found: dict[str, Any], run: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Flent's pings in ms during its transfers, and the scenario's in the same period."""
    loads = [sample["t"] for sample in found["raw_values"]["TCP upload::1"]]
    begin, end = loads[0] + 0.5, loads[-1]
    theirs = [one["val"] for one in found["raw_values"]["Ping (ms) ICMP"] if begin <= one["t"] <= end]
    # fping sends at its interval from the start of the run.
    lines = re.findall(r": \[(\d+)\], \d+ bytes, ([\d.]+) ms", run["live"]["tools"]["ping-0.server"]["client"])
    at = [(run["zero"] + int(number) * EVERY_MS / 1000, float(ms)) for number, ms in lines]
    return theirs, [ms for t, ms in at if begin <= t <= end]


def near(one: float, other: float, part: float, least: float = 0.0) -> bool:
    return abs(one - other) <= max(part * other, least)


def test_uploads_match_the_packets_exchanged(user: User) -> None:
    found, file, run = measured(user, "tcp_nup", "-4", "--test-parameter", "upload_streams=2")
    # The reader imports it as a load to repeat.
    [load] = reader.read(str(file), gzip.decompress(file.read_bytes()))
    assert (load.test, load.seconds, load.host) == ("tcp_nup", LENGTH, "server")
    came, sent = run["hosts"]["server"]["to"]["bytes"], moved(found, "upload") * 1500 / SEGMENT[4]
    assert near(sent, came, BYTES), (sent, came)
    # Check the samples too; those at both ends cover less than an interval.
    rate = statistics.median(values(found, "TCP upload sum"))
    mean = moved(found, "upload") * 8e-6 / LENGTH
    assert near(rate, mean, 0.25), (rate, mean)
    for stream in ("TCP upload::1", "TCP upload::2"):
        of = found["metadata"]["SERIES_META"][stream]
        assert (of["CONG_CONTROL"], of["TCP_MSS"]) == ("cubic", SEGMENT[4])
    pings, ours = pings_under_load(found, run)
    assert len(pings) > 10
    assert len(ours) > 40
    assert near(statistics.median(pings), statistics.median(ours), *PING), (pings, ours)


def test_rrul_be_loads_both_directions(user: User) -> None:
    found, file, run = measured(user, "rrul_be")
    [load] = reader.read(str(file), gzip.decompress(file.read_bytes()))
    assert load.test == "rrul_be"
    for word, host in (("upload", "server"), ("download", "sta")):
        # Over IPv6, because the name has both addresses. ACKs of the other direction arrive there too: 72 bytes, or
        # more with SACK, and at most one per full packet.
        came, other = run["hosts"][host]["to"]["bytes"], moved(found, "download" if word == "upload" else "upload")
        least = moved(found, word) * 1500 / SEGMENT[6]
        most = least + other / SEGMENT[6] * 108
        assert least * (1 - BYTES) <= came <= most * (1 + BYTES) + 100_000, (word, least, came)
        assert statistics.median(values(found, f"TCP {word} sum")) > 1
    for name in ("Ping (ms) ICMP", "Ping (ms) UDP BE1"):
        # At least 5 ms of wire each way.
        assert statistics.median(values(found, name)) >= 10, name


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-t", "SCTP_STREAM"), "netperf: -t: found SCTP_STREAM, expected TCP_STREAM, TCP_MAERTS or UDP_RR"),
        (("--", "-k", "THROUGHPUT,NONE"), "netperf: -k: found NONE, expected some of DIRECTION"),
        (("-Y", "AF99"), 'netperf: -Y: found "af99", expected a DSCP by name or a number'),
        (("-q", "1"), "netperf: invalid option -- 'q'"),
        (("-p", "1"), "netperf: [Errno 111] Connection refused"),
    ],
)
def test_a_netperf_error_is_one_line(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    program = tmp_path / "netperf"
    shutil.copy(ROOT / "crates" / "live" / "programs" / "netperf.py", program)
    done = subprocess.run([PYTHON, program, *options], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == 1


def test_our_netperf_times_round_trips(tmp_path: Path) -> None:
    for name in ("netperf", "netserver"):
        shutil.copy(ROOT / "crates" / "live" / "programs" / "netperf.py", tmp_path / name)
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = str(one.getsockname()[1])
    server = subprocess.Popen([PYTHON, tmp_path / "netserver", "-D", "-L", "127.0.0.1", "-p", port])
    try:
        keys = "THROUGHPUT,ELAPSED_TIME,PROTOCOL,LOCAL_SOCKET_TOS"
        words = ["-P0", "-v0", "-D", "-0.20", "-4", "-Y", "EF,EF", "-H", "127.0.0.1", "-t", "UDP_RR", "-p"]
        command = [PYTHON, tmp_path / "netperf", *words, port, "-l", "1", "--", "-e", "1", "-k", keys]
        for _ in range(50):
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
            if done.returncode == 0:
                break
        said = dict(line.split("=", 1) for line in done.stdout.splitlines())
    finally:
        server.kill()
        server.wait()
    assert (said["PROTOCOL"], said["LOCAL_SOCKET_TOS"]) == ("UDP", "0xb8"), done.stderr
    parts = [float(said[f"NETPERF_INTERIM_RESULT[{n}]"]) * float(said[f"NETPERF_INTERVAL[{n}]"]) for n in range(4)]
    assert near(sum(parts) / 0.8, float(said["THROUGHPUT"]), 0.5)
