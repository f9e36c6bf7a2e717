import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from stillair_lab.validate import json_file, kernel_file, scenario

FILES = json_file.paths(kernel_file.bundled())
PFIFO = "tc -n R qdisc add dev rs root pfifo"
SNAPSHOTS = sorted((Path(__file__).parent / "snapshots").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_a_scenario(path: Path) -> None:
    config = kernel_file.read(path).config
    made = tomllib.loads(scenario.text(kernel_file.read(path)))
    assert made["name"] == path.stem
    assert [flow["kind"] for flow in made["flow"]] == ["tcp"] * config.flows + ["ping"]
    assert made["node"]["C"]["sysctl"]["net.ipv4.tcp_congestion_control"] == config.cc
    # What stands for the base RTT delays the way back alone.
    delays = [interface for node in made["node"].values() for interface in node["interface"].values()]
    kinds = [interface["qdisc"]["kind"] for interface in delays if "qdisc" in interface]
    assert kinds[:2] == ["htb", "netem"]
    assert kinds[2:] in (["htb"], ["tbf"], ["cake"])


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_the_text_as_a_whole(path: Path) -> None:
    file = kernel_file.read(kernel_file.bundled() / f"{path.stem}.json")
    assert scenario.text(file) == path.read_text(encoding="utf-8")


def made(tmp_path: Path, **config: object) -> dict[str, Any]:
    """The scenario of a small file with these settings."""
    base: dict[str, object] = {"cc": "reno", "flows": 1, "seconds": 4, "sample_ms": 50, "tc": [PFIFO]}
    path = tmp_path / "small.json"
    kernel = config.pop("kernel", None)
    path.write_text(json.dumps({"kernel": kernel, "config": base | config}), encoding="utf-8")
    return tomllib.loads(scenario.text(kernel_file.read(path)))


def test_the_name_of_a_file_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "R100M_bbr_fq_codel_notsq_f4.json"
    path.write_text((kernel_file.bundled() / "cc_reno_50mbit_rtt20.json").read_text(encoding="utf-8"), encoding="utf-8")
    ours = scenario.text(kernel_file.read(path))
    theirs = scenario.text(kernel_file.read(kernel_file.bundled() / "cc_reno_50mbit_rtt20.json"))
    assert ours.partition("\n")[2] == theirs.partition("\n")[2]


def test_small_queues(tmp_path: Path) -> None:
    assert "tsq" not in made(tmp_path)["node"]["C"]["tcp"]
    assert made(tmp_path, notsq=1)["node"]["C"]["tcp"] == {"max_header": 256, "tsq": "off"}
    periods = [made(tmp_path, tsq_shift=shift)["node"]["C"]["tcp"]["tsq_period"] for shift in (1, 3, 6)]
    assert periods == ["2 ms", "8 ms", "64 ms"]


def test_ticks_of_the_kernel(tmp_path: Path) -> None:
    assert "hz" not in made(tmp_path, kernel="Linux 6.1 (HZ=250)")["node"]["C"]["tcp"]
    nodes = made(tmp_path, kernel="Linux 6.1 (ARCH=um, HZ=1000)")["node"]
    ends = {"max_header": 256, "hz": 1000}
    assert [nodes[node].get("tcp") for node in "CRS"] == [ends, None, ends]


def test_settings_that_change_nothing_are_left_out(tmp_path: Path) -> None:
    sysctl = {"net.ipv4.tcp_no_metrics_save": 1, "net.ipv4.tcp_mtu_probing": 0, "net.ipv4.tcp_ecn": 1}
    assert set(made(tmp_path, sysctl=sysctl)["node"]["S"]["sysctl"]) == {"net.ipv4.tcp_ecn"}
    assert "net.ipv4.tcp_mtu_probing" in made(tmp_path, sysctl={"net.ipv4.tcp_mtu_probing": 1})["node"]["S"]["sysctl"]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("x (as a scenario):15: node.C.sysctl.net.ipv4.tcp_ecn: found 9", "x: config.sysctl.net.ipv4.tcp_ecn: found 9"),
        ("x (as a scenario):15: node.C.sysctl.net.ipv4.tcp_congestion_control: found a: b", "x: config.cc: found a: b"),
        ("x (as a scenario):9: node.R.interface.rs.qdisc.child.limit: found 0", "x: config.tc (R rs): found 0"),
        ("x (as a scenario):9: node.S.profile: found 1", "x: kernel: found 1"),
        ("x (as a scenario):9: link.cr.kind: found 1", "x (as a scenario):9: link.cr.kind: found 1"),
        ("x: nothing of ours", "x: nothing of ours"),
    ],
)  # fmt: skip
def test_messages_speak_of_the_file(said: str, says: str) -> None:
    assert scenario.in_terms_of_the_file(said) == says


def test_offloads(tmp_path: Path) -> None:
    assert made(tmp_path, gso="off")["node"]["C"]["interface"]["cr"]["tso"] is False
    assert "tso" not in made(tmp_path, gso="on")["node"]["C"]["interface"]["cr"]
    nodes = made(tmp_path)["node"].values()
    assert all(interface["gro"] is False for node in nodes for interface in node["interface"].values())


def test_flows_start_apart(tmp_path: Path) -> None:
    flows = made(tmp_path, flows=3, stagger_ms=12.5)["flow"]
    assert [flow.get("start") for flow in flows] == ["0 s", "12.5 ms", "25 ms", None]
    assert [flow["name"] for flow in flows] == ["upload1", "upload2", "upload3", "ping"]


def test_a_run_without_ping_and_a_short_one(tmp_path: Path) -> None:
    short = made(tmp_path, ping=False, seconds=2.0005, sample_ms=0.25)
    assert (short["duration"], short["warm_up"], len(short["flow"])) == ("2000.5 ms", "2 s", 1)
    assert short["record"] == {"ss": "0.25 ms"}


def test_sysctls_hold_at_both_ends(tmp_path: Path) -> None:
    nodes = made(tmp_path, sysctl={"net.ipv4.tcp_rmem": "'4096 131072 67108864'", "net.ipv4.tcp_sack": "0"})["node"]
    both = {"net.ipv4.tcp_rmem": "4096 131072 67108864", "net.ipv4.tcp_sack": 0}
    assert nodes["S"]["sysctl"] == both
    assert nodes["C"]["sysctl"] == both | {"net.ipv4.tcp_congestion_control": "reno"}
    assert "sysctl" not in nodes["R"]


def test_rates_and_times_are_written_as_people_do(tmp_path: Path) -> None:
    tc = [
        "tc -n R qdisc add dev rs root tbf rate 2500kbit burst 32kb latency 1500us",
        "tc -n C qdisc add dev cr root fq maxrate 12345678 pacing low_rate_threshold 2.5gbit",
        "tc -n R qdisc add dev rc root handle 1: netem delay 1s loss 0.5%",
        "tc -n R qdisc add dev rc parent 1: pie bytemode",
    ]
    nodes = made(tmp_path, tc=tc)["node"]
    assert nodes["R"]["interface"]["rs"]["qdisc"] == {
        "kind": "tbf", "rate": "2.5 Mbit/s", "burst": 32768, "latency": "1.5 ms",
    }  # fmt: skip
    assert nodes["C"]["interface"]["cr"]["qdisc"] == {
        "kind": "fq", "maxrate": "12345672 bit/s", "pacing": True, "low_rate_threshold": "2.5 Gbit/s",
    }  # fmt: skip
    assert nodes["R"]["interface"]["rc"]["qdisc"] == {
        "kind": "netem", "delay": "1 s", "loss": 0.005, "child": {"kind": "pie", "bytemode": True},
    }  # fmt: skip
