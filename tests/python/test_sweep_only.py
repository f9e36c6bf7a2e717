"""Figures of a sweep that `--only` chooses, and the worst of many flows."""

import json
from pathlib import Path

import pytest

from stillair.__main__ import status
from stillair.runs.metrics.kinds import worst

OFFICE = """
name = "office"
duration = "300 ms"
channel.wifi = { band = "5 GHz", width = "40 MHz" }
link.lan = { rate = "1 Gbit/s", delay = "1 ms" }
node.server = { profile = "linux-6.12", interface.eth0.link = "lan" }
[node.ap]
profile = "linux-6.12"
forward = true
interface.eth0.link = "lan"
interface.wlan0 = { channel = "wifi", role = "ap" }
[node.pc]
count = 2
profile = "linux-6.12"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "vht40-mcs5-nss2-sgi" }
[[flow]]
name = "call"
kind = "video"
from = "server"
to = "pc"
rate = "2 Mbit/s"
bidirectional = true
[sweep]
node.pc.count = [2, 11]
"""


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "400")
    path = tmp_path / "office.toml"
    path.write_text(OFFICE, encoding="utf-8")
    return str(path)


def test_of_many_flows_the_worst_is_told(
    office: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert status(["sweep", office, "--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    titles = ["call-back: worst p95 ms", "call-back: worst p99 ms", "call-back: worst loss %", "call: worst p95 ms"]
    assert all(title in lines[0] for title in [*titles, "call: worst p99 ms", "call: worst loss %"])
    assert "pc1" not in lines[0]
    assert "--only 'PATTERN' shows other figures; sweep.csv in the folder of -o has all" in lines
    assert status(["sweep", office, "--runs", "2", "--json"]) == 0
    flows = json.loads(capsys.readouterr().out)["combinations"][0]["over_runs"]["flows"]
    assert status(["sweep", office, "--runs", "2", "--only", "call: worst p99"]) == 0
    two = float(capsys.readouterr().out.splitlines()[1].split()[1])
    # Two runs, the worst of each: at least what the worse of the two has as its mean.
    assert two >= max(flows[f"call.pc{at}"]["delay_p99_ms"]["mean"] for at in (1, 2)) - 0.05
    monkeypatch.setenv("COLUMNS", "80")
    assert status(["sweep", office]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_patterns_choose_as_in_compare_and_names_stand_as_people_count(
    office: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["sweep", office, "--only", "CALL.pc*p99", "--only", "total"]) == 0
    heading, *rows = capsys.readouterr().out.rstrip().splitlines()
    names = [f"call.pc{at} one-way p99 ms" for at in range(1, 12)]
    assert heading.split("  ") == ["count", "total goodput Mbit/s", *names]
    assert [row.split()[0] for row in rows] == ["2", "11"]
    assert rows[0].split()[-9:] == ["-"] * 9
    assert status(["sweep", office, "--only", "xyzzy"]) == 2
    assert "expected part of a figure's name; there are total goodput" in capsys.readouterr().err
    assert status(["sweep", office, "--only", "p99", "--json"]) == 2
    assert "--only: has no effect beside --json" in capsys.readouterr().err


def flow(**figures: float | None) -> dict[str, float | None]:
    return {"goodput_mbps": 1.0, "loss": None, "delay_p95_ms": 1.0, "delay_p99_ms": 2.0, **figures}


def test_kinds_are_found_by_names() -> None:
    flows = {f"up-pc{at}.server": flow(delay_p95_ms=float(at), goodput_mbps=20.0 - at) for at in range(1, 8)}
    flows |= {f"down.tv{at}": flow(loss=at / 100) for at in range(1, 8)} | {"tcp-0.server": flow(delay_p95_ms=99.0)}
    found = {own.name: own.of([{"flows": flows}]) for own in worst([{"flows": flows}])}
    assert found == {
        # TCP sends again what is lost.
        "up: worst p95 ms": 7.0,
        "up: worst p99 ms": 2.0,
        "up: least Mbit/s": 13.0,
        "down: worst p95 ms": 1.0,
        "down: worst p99 ms": 2.0,
        "down: worst loss %": pytest.approx(7.0),
    }
    # A handful is told one by one.
    assert worst([{"flows": dict(list(flows.items())[:5])}]) == []
