"""The command line of live runs, as the user who runs the tests."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import NO_LIMIT, SCENARIO, needs, wait_for

STILLAIR = Path(sys.executable).with_name("stillair")
SHORT = ("--set", "duration=3 s", "--set", "warm_up=1 s", *NO_LIMIT)
STOOD_STILL = 3
"""Exit status of a run in which the engine stalled, as it may on a busy machine; nothing else is late here."""


@pytest.fixture(autouse=True)
def _needs() -> None:
    needs("iptables-legacy", "iperf3", "fping", "ping")


def stillair(*words: str, at: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([STILLAIR, *words], cwd=at, capture_output=True, text=True, timeout=90, check=False)


def test_a_stored_result_has_its_lateness(tmp_path: Path) -> None:
    done = stillair("live", str(SCENARIO), *SHORT, "-o", "kept", "--capture", "c.pcapng", at=tmp_path)
    assert done.returncode in (0, STOOD_STILL), done.stderr
    assert re.search(r"^c\.pcapng: \d{3,} frames of air-wifi; 0 lost$", done.stdout, re.MULTILINE)
    assert re.search(
        r"late by \d+ us \(median\), \d+ us \(p99\), \d+ us \(max\), [a-z-]+ priority: (not )?valid", done.stdout
    )
    # The table printed every second.
    assert "frames/PPDU" in done.stderr
    [run] = json.loads((tmp_path / "kept" / "result.json").read_text())["runs"]
    assert run["live"]["lateness"]["packets"] > 100
    assert run["pings"]["ping-1.server"]["received"] > 0
    assert run["stations"]["sta"]["ping_median_ms"] > 10
    again = stillair("live", str(SCENARIO), *SHORT, "-o", "kept", at=tmp_path)
    assert again.returncode == 2


def test_a_run_is_listed_entered_and_changed(tmp_path: Path) -> None:
    # Other processes may have runs too.
    name = f"live-{os.getpid()}"
    command = ("--set", f"name={name}", "--set", "flow=[]", *NO_LIMIT, "--", "sh", "-c", "touch begun; sleep 60")
    process = subprocess.Popen([STILLAIR, "live", SCENARIO, *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(tmp_path / "begun")
        [run] = [
            run
            for run in json.loads(stillair("live", "ps", "--json", at=tmp_path).stdout)
            if run["status"]["scenario"] == name
        ]
        of_it = ("--run", str(run["pid"]))
        assert run["status"]["hosts"]["server"]["address"] == "10.0.0.2"

        def ping() -> float:
            said = stillair(
                "live", "exec", *of_it, "sta", "--", "ping", "-q", "-c", "3", "-i", "0.2", "server", at=tmp_path
            )
            assert said.returncode == 0, said.stderr
            return float(re.findall(r"min/avg/max/mdev = ([\d.]+)/", said.stdout)[0])

        before = ping()
        assert stillair("live", "set", *of_it, "link.lan.delay=60 ms", at=tmp_path).returncode == 0
        # 55 ms more each way.
        assert before + 100 < ping()
        refused = stillair("live", "set", *of_it, "seed=2", at=tmp_path)
        assert refused.returncode == 2
        assert (
            "seed: cannot change while a run goes on; expected a key that can change: rate or delay" in refused.stderr
        )
        wrong = stillair("live", "set", *of_it, "sta.rate=fast", at=tmp_path)
        assert wrong.returncode == 2
        assert 'node.sta.interface.wlan0.rate: found "fast"' in wrong.stderr
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_virtual_time_and_live_are_compared(tmp_path: Path) -> None:
    done = stillair("crosscheck", str(SCENARIO), *SHORT, "--json", at=tmp_path)
    assert done.returncode in (0, 1, STOOD_STILL), done.stderr
    found = json.loads(done.stdout)
    assert {"goodput tcp-0.server Mbit/s", "ping ping-1.server median ms", "airtime up sta s"} <= {
        row["what"] for row in found["rows"]
    }
    assert found["holds"] == (done.returncode == 0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--force",), "--force: has no effect without -o"),
        (("--point", "air-wifi"), "--point: has no effect without --capture"),
        (("--capture", "."), ".: the capture cannot be written there: Is a directory"),
        (("--attach", "sta"), '--attach: found "sta", expected HOST=netns:PATH or HOST=pid:N'),
        (("--host", "nobody"), '--host: found "nobody", expected a live host: server, sta'),
        (("--set", "node.server.host=external", "--set", "flow=[]"), 'node.server.host: found "external"'),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    done = stillair("live", str(SCENARIO), *options, at=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
