"""What `[record]` samples: tables in the result folder, pictures, and `stillair ss`."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError, Result, Scenario
from stillair.__main__ import status
from stillair.results import sampled

# A long and a short transfer through a shaper, and something that is no TCP.
TEXT = """
name = "sampled"
duration = "3 s"
warm_up = "1 s"
[link.lan]
rate = "1 Gbit/s"
delay = "2 ms"
[node.a]
profile = "linux-6.1"
[node.a.interface.eth0]
link = "lan"
address = "10.0.0.1"
qdisc = { kind = "htb", rate = "20 Mbit/s", child = { kind = "pfifo", limit = 100 } }
[node.b]
profile = "linux-6.1"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
[[flow]]
kind = "tcp"
name = "long"
from = "a"
to = "b"
[[flow]]
kind = "tcp"
name = "short"
from = "a"
to = "b"
bytes = 200_000
[[flow]]
kind = "ping"
from = "b"
to = "a"
interval = "0.1 s"
"""
# A transfer that loses, and one that begins when it is over.
AGAIN = """
name = "again"
duration = "5 s"
[link.lan]
rate = "1 Gbit/s"
delay = "20 ms"
[node.a]
profile = "linux-4.4"
[node.a.interface.eth0]
link = "lan"
address = "10.0.0.1"
qdisc = { kind = "htb", rate = "20 Mbit/s", child = { kind = "pfifo", limit = 20 } }
[node.b]
profile = "linux-4.4"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
[[flow]]
kind = "tcp"
from = "a"
to = "b"
bytes = 3_000_000
[[flow]]
kind = "tcp"
from = "a"
to = "b"
start = "4 s"
"""
RECORD = ["--set", "record.ss=100 ms", "--set", "record.queues=50 ms"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result folder of two runs with samples. Not to be changed."""
    path = tmp_path_factory.mktemp("sampled")
    (path / "scenario.toml").write_text(TEXT)
    assert status(["run", str(path / "scenario.toml"), "--runs", "2", *RECORD, "-o", str(path / "kept")]) == 0
    return path / "kept"


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_sockets_have_a_row_for_each_sample(folder: Path) -> None:
    rows = table(folder / "sockets.csv")
    assert len(rows) == 2 * 2 * 30
    runs = Result.load(folder).runs
    for run in runs:
        mine = [row for row in rows if row["run"] == str(run["run"])]
        for flow, columns in run["sockets"].items():
            found = [row for row in mine if row["flow"] == flow]
            assert [float(row["t_s"]) for row in found] == columns["t_s"] == [n / 10 for n in range(1, 31)]
            assert [int(row["cwnd"]) for row in found] == columns["cwnd"]
            assert [row["app_limited"] for row in found] == [str(int(limited)) for limited in columns["app_limited"]]
    states = {row["flow"]: row["state"] for row in rows}
    assert states == {"long.b": "ESTAB", "short.b": "TIME-WAIT"}
    assert {row["scenario"] for row in rows} == {"sampled"}


def test_queues_have_a_row_for_each_layer_in_use(folder: Path) -> None:
    rows = table(folder / "queues.csv")
    layers = {(row["interface"], row["layer"]) for row in rows}
    assert {("a.eth0", "socket"), ("a.eth0", "qdisc"), ("a.eth0", "wire")} <= layers
    assert len(rows) == 60 * sum(
        len({(row["interface"], row["layer"]) for row in rows if row["run"] == run}) for run in ("0", "1")
    )
    qdisc = [row for row in rows if (row["run"], row["interface"], row["layer"]) == ("0", "a.eth0", "qdisc")]
    assert [float(row["t_s"]) for row in qdisc] == [n / 20 for n in range(1, 61)]
    # Small queues let few packets of a socket wait here, each of several segments.
    fullest = max(qdisc, key=lambda row: int(row["bytes"]))
    assert 1514 * int(fullest["packets"]) < int(fullest["bytes"]) < 40_000
    socket = [row for row in rows if (row["run"], row["layer"]) == ("0", "socket")]
    assert max(int(row["bytes"]) for row in socket) > 100_000
    assert int(qdisc[-1]["bytes"]) == Result.load(folder).runs[0]["qdiscs"]["a.eth0"]["backlog_bytes"]
    # The table of steps has the same at the same times.
    steps = table(folder / "table.csv")
    found = [
        (row["t"], float(row["value"])) for row in steps if row["metric"] == "queue_qdisc_bytes" and row["run"] == "0"
    ]
    assert found == [(row["t_s"], float(row["bytes"])) for row in qdisc if round(float(row["t_s"]) * 20) % 4 == 0]


def test_samples_are_in_the_report_only_if_asked_for(folder: Path, tmp_path: Path) -> None:
    plain = Scenario(TEXT).run()
    assert sampled.recorded(plain.runs[0]) is None
    assert sampled.sockets(plain.runs[0]) == {}
    assert "queues" not in plain.runs[0]
    # A new result without samples leaves no table of the old.
    file = tmp_path / "scenario.toml"
    file.write_text(TEXT)
    assert status(["run", str(file), *RECORD, "-o", str(tmp_path / "x")]) == 0
    assert all((tmp_path / "x" / name).exists() for name in (sampled.SOCKETS, sampled.QUEUES))
    assert status(["run", str(file), "--force", "-o", str(tmp_path / "x")]) == 0
    assert not any((tmp_path / "x" / name).exists() for name in sampled.TABLES)
    # Means over runs say nothing of samples.
    over = json.loads((folder / "result.json").read_text())["over_runs"]
    assert "queues" not in over
    assert over["flows"]["long.b"]["goodput_mbps"]["mean"] > 10


def test_queues_of_another_shape_are_refused() -> None:
    good: dict[str, Any] = {
        "interval_ns": 1_000_000,
        "samples": 2,
        "queues": [{"interface": "a.eth0", "layer": "qdisc", "packets": [1, 2], "bytes": [3, 4]}],
    }
    found = sampled.recorded({"queues": good})
    assert found is not None
    assert found.t_s == [0.001, 0.002]
    for bad in (good | {"samples": 3}, {"samples": 2}, good | {"queues": [{"interface": "a"}]}, []):
        with pytest.raises(InputError, match=r'^run: (the key "queues|queues)'):
            sampled.recorded({"queues": bad})


def test_pictures_show_layers_and_sockets(folder: Path, tmp_path: Path) -> None:
    for name, words in {
        "occupancy": ("a.eth0", "sockets (kB)", ">qdisc<", ">wire<"),
        "sockets": (">long.b<", ">short.b<", "pacing rate", "delivery rate", "smoothed RTT", "cwnd"),
    }.items():
        path = tmp_path / f"{name}.svg"
        assert status(["plot", str(folder), "--plot", name, "-o", str(path)]) == 0
        text = path.read_text()
        assert all(word in text for word in words), name
        two = tmp_path / f"{name}-two.svg"
        assert (
            status(["plot", str(folder), str(folder), "--title", "x", "--title", "y", "--plot", name, "-o", str(two)])
            == 0
        )
        assert (">x<" in two.read_text()) == (name == "occupancy")
        assert (">y: long.b<" in two.read_text()) == (name == "sockets")


def test_sockets_that_were_not_sampled_are_not_drawn(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["plot", str(kept), "--plot", "sockets", "-o", str(tmp_path / "x.png")]) == 2
    says = "no samples of sockets were recorded; ask for them with --set record.ss='100 ms'"
    assert capsys.readouterr().err == f"stillair: sockets: nothing to draw: {says}\n"


def test_ss_shows_no_pacing_rate_before_there_is_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["ss", str(folder / "scenario.toml"), "--at", "1 us"]) == 0
    printed = capsys.readouterr().out
    assert "SYN-SENT" in printed
    assert "pacing_rate" not in printed


def test_ss_prints_both_ends_of_what_is_connected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(folder / "scenario.toml")
    assert status(["ss", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["State", "Recv-Q", "Send-Q", "Local", "Address:Port", "Peer", "Address:Port"]
    # The short one is over at the end.
    assert [line.split()[0] for line in lines[1::2]] == ["ESTAB", "ESTAB"]
    assert lines[1].split()[3:] == ["10.0.0.1:49152", "10.0.0.2:57344"]
    assert lines[3].split()[3:] == ["10.0.0.2:57344", "10.0.0.1:49152"]
    last = {name: values[-1] for name, values in Result.load(folder).runs[0]["sockets"]["long.b"].items()}
    details = lines[2]
    memory = re.search(
        r"skmem:\(r0,rb(\d+),t(\d+),tb(\d+),f0,w(\d+),o0,bl0,d0\) ts sack cubic wscale:7,7 rto:", details
    )
    assert memory is not None
    assert [int(n) for n in memory.groups()[1:]] == [last[name] for name in ("wmem_alloc", "sndbuf", "wmem_queued")]
    shown = dict(word.split(":", 1) for word in details.split() if ":" in word)
    assert shown["cwnd"] == str(last["cwnd"])
    assert shown["unacked"] == str(last["unacked"])
    assert shown["rtt"] == f"{last['srtt_ms']:g}/{last['rttvar_ms']:g}"
    assert (shown["pmtu"], shown["advmss"]) == ("1500", "1448")
    # It had data to send all the time, from the end of the handshake on.
    assert int(shown["busy"].removesuffix("ms")) == 3000 - 4
    # The SYN counts as a byte.
    assert int(shown["bytes_acked"]) % 1448 == 1
    # What is sent and not acknowledged, and what is not sent.
    assert int(lines[1].split()[2]) == last["unacked"] * 1448 + last["notsent"]
    # While both run, and a run of another number.
    assert status(["ss", file, "--at", "0.05 s", "--run", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * 4
    assert status(["ss", file, "--at", "4 s"]) == 2
    assert capsys.readouterr().err == 'stillair: at: found "4 s", but the run is shorter\n'


@pytest.mark.parametrize(
    ("sets", "shows"),
    [
        (
            ["node.b.sysctl={'net.ipv4.tcp_rmem'=[4096,8192,16384]}", "flow.0.congestion_control=bbr"],
            r"bbr:\(bw:\d+bps,mrtt:4\.\d+,pacing_gain:[\d.]+,cwnd_gain:2\) .* rwnd_limited:\d+ms\(\d+\.\d%\) ",
        ),
        (["node.a.sysctl={'net.ipv4.tcp_wmem'=[4096,8192,16384]}"], r" sndbuf_limited:\d+ms\(\d+\.\d%\) "),
        (["node.a.sysctl={'net.ipv4.tcp_ecn'=1}"], r" ts sack ecn "),
    ],
)
def test_ss_tells_what_limits_a_sender(
    sets: list[str], shows: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(folder / "scenario.toml")
    assert status(["ss", file, "--at", "1 s", *(word for key in sets for word in ("--set", key))]) == 0
    assert re.search(shows, capsys.readouterr().out.splitlines()[2])


# linux: net/ipv4/tcp_metrics.c (4.4) - the threshold of slow start was remembered for the next connection until 5.6.
@pytest.mark.parametrize(
    ("sets", "known"),
    [([], True), (["node.a.profile=linux-6.1"], False), (["node.a.sysctl.net.ipv4.tcp_no_metrics_save=1"], False)],
)
def test_a_connection_begins_with_what_the_one_before_it_learnt(
    sets: list[str], known: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "again.toml"
    file.write_text(AGAIN)
    chosen = [word for pair in sets for word in ("--set", pair)]
    # A round trip after the second has begun.
    assert status(["ss", str(file), "--at", "4.05 s", *chosen]) == 0
    details = capsys.readouterr().out.splitlines()[2]
    assert " cwnd:10 " in details
    assert (" ssthresh:" in details) == known
