"""A station that an access point's round robin starves: the cause is printed where the figures are."""

from pathlib import Path

import pytest

from stillair import run_sweep
from stillair.__main__ import status
from stillair.runs import sweep
from stillair.runs.metrics import starvation

HOME = """
name = "home"
duration = "6 s"
warm_up = "2 s"
channel.wifi = { band = "5 GHz", width = "20 MHz" }
link.wire = { rate = "1 Gbit/s", delay = "2 ms" }
node.server = { profile = "linux-4.6", interface.eth0.link = "wire" }
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0.link = "wire"
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fq_mac" }
[node.near]
profile = "linux-4.4"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs15-sgi" }
[node.far]
profile = "linux-4.4"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs0-lgi" }
[[flow]]
kind = "tcp"
from = "server"
to = TO
[[flow]]
kind = "ping"
from = "server"
to = ["near", "far"]
[sweep]
node.ap.interface.wlan0.scheme = ["fifo", "fq_mac", "airtime"]
"""
BOTH = HOME.replace("TO", '["near", "far"]')
WHY = "because ap.wlan0 shares turns, not airtime."


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "1000")
    path = tmp_path / "home.toml"
    path.write_text(BOTH, encoding="utf-8")
    return path


def test_run_says_why_a_station_starves(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--runs", "2"], ["-o", str(tmp_path / "kept")]):
        assert status(["run", str(file), *more]) == 0
        out = capsys.readouterr().out
        [told] = [line for line in out.splitlines() if WHY in line]
        assert told.startswith("far gets ")
        assert told.endswith('set scheme = "airtime".')


@pytest.mark.parametrize("scheme", ["airtime", "fifo"])
def test_nobody_starves_under_other_schemes(file: Path, scheme: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(file), "--set", f"node.ap.interface.wlan0.scheme={scheme}"]) == 0
    assert WHY not in capsys.readouterr().out


def test_a_station_that_wants_little_does_not_starve(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(HOME.replace("TO", '["far"]'), encoding="utf-8")
    assert status(["run", str(file)]) == 0
    out = capsys.readouterr().out
    near = next(line.split() for line in out.splitlines() if line.startswith("near"))
    # It has little of the airtime, and what it wants.
    assert float(near[2]) < 10
    assert WHY not in out


def test_a_sweep_says_in_which_combination(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["sweep", str(file)]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if WHY in line]
    assert [line.partition(": ")[0] for line in told] == ["scheme = fq_mac"]
    assert status(["sweep", str(file), "--json"]) == 0
    assert WHY not in capsys.readouterr().out


def test_a_sweep_from_python_says_it_where_it_is_shown(file: Path) -> None:
    found = run_sweep(file)
    for shown in (repr(found), found._repr_html_()):
        assert f"% of the airtime {WHY}" in shown
        assert "scheme = fq_mac: far gets " in shown
    assert WHY not in repr(run_sweep(file, {"node.ap.interface.wlan0.scheme": ["airtime"]}))


def test_a_sweep_explains_a_few_combinations(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_sweep(file, {"node.ap.interface.wlan0.scheme": ["fq_mac"], "seed": [1, 2, 3, 4, 5]})
    monkeypatch.setattr(sweep, "_MOST_STARVED", 100)
    whole = repr(found).count(WHY)
    assert whole > 2
    monkeypatch.setattr(sweep, "_MOST_STARVED", 1)
    assert repr(found).count(WHY) == 1
    assert f"The same holds for {whole - 1} more combinations." in repr(found)


def test_explain_says_it_too(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["explain", str(file), "--no-try"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"% of the airtime {WHY}" in out
    assert "the access point skips this station" in out


def test_a_station_without_any_airtime_is_starved() -> None:
    driver = {"scheduler": "round_robin_loses_turn"}
    ap = {"name": "wlan0", "medium": {"role": {"kind": "ap"}, "driver": driver}}
    station = {"name": "wlan0", "medium": {"role": {"kind": "station", "ap": "ap.wlan0"}}}
    nodes = [{"name": "ap", "interfaces": [ap]}]
    nodes += [{"name": name, "interfaces": [station]} for name in ("near", "far", "idle")]
    shares = {"near": 1.0, "far": 0.0, "idle": 0.0}
    run = {
        "stations": {name: {"airtime_share": share} for name, share in shares.items()},
        "flows": {"tcp-0.near": {"delay_p95_ms": 10.0}, "tcp-0.far": {"delay_p95_ms": None}},
    }
    resolved = {"nodes": nodes}
    # No flow goes to `idle`: its share is not too small.
    assert starvation.starved(run, resolved) == {"far": "ap.wlan0"}
    (told,) = starvation.starvation(run, resolved)
    assert told.startswith("far gets 0 % of the airtime because ap.wlan0 shares turns")
