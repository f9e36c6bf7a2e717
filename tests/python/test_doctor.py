"""What a machine tells of itself: a folder with the files of one, programs that answer, runs that show weights."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from stillair import _native
from stillair.__main__ import status
from stillair.runs.imports import doctor, network, scenario
from stillair.runs.imports.doctor import UNKNOWN, Machine

SAMPLES = Path(__file__).parent / "samples"

ANSWERS = {
    "iw dev wlo1 info": "iw-dev-managed.txt",
    "iw dev wlo1 station dump": "station-dump-2024.txt",
    "ethtool -i wlo1": "ethtool-i-6.8.txt",
    "tc -j -s qdisc": "tc-2026.json",
}


def laptop(root: Path) -> Path:
    """The files of a laptop with an ath10k device."""
    for path, text in {
        "proc/sys/kernel/osrelease": "6.8.0-106-generic\n",
        "proc/sys/net/core/default_qdisc": "fq_codel\n",
        "proc/sys/net/ipv4/tcp_limit_output_bytes": "1048576\n",
        "proc/sys/net/ipv4/tcp_congestion_control": "cubic\n",
        "sys/class/net/lo/address": "00:00:00:00:00:00\n",
        "sys/class/net/wlo1/phy80211/name": "phy0\n",
        "sys/kernel/debug/ieee80211/phy0/airtime_flags": "7\n",
        "sys/kernel/debug/ieee80211/phy0/aql_txq_limit": "AC AQL limit low AQL limit high\nVO 5000 12000\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "sys/class/net/wlo1/device").mkdir()
    (root / "sys/class/net/wlo1/device/driver").symlink_to("../../../../bus/pci/drivers/ath10k_pci")
    return root


def answer(command: Sequence[str]) -> str | None:
    name = ANSWERS.get(" ".join(command))
    return (SAMPLES / name).read_text() if name else None


def test_a_laptop_tells(tmp_path: Path) -> None:
    machine = Machine(laptop(tmp_path), answer)
    assert [(one.what, one.value) for one in machine.findings()] == [
        ("kernel", "6.8.0-106-generic"),
        ("driver", "wlo1: ath10k_pci, firmware WLAN.TF.2.1-00021-QCARMSWP-1"),
        ("channel", "wlo1: managed, 5260 MHz, 80 MHz wide"),
        ("signal", "wlo1: 02:00:00:32:3f:d2 -59 dBm, 650.0 MBit/s VHT-MCS 7 80MHz short GI VHT-NSS 2"),
        ("qdisc", "ens18: fq_codel, 0 drops"),
        ("qdisc", "ens27: cake at 18 Mbit/s, 138555 drops"),
        ("qdisc", "ens28: cake at 95 Mbit/s, 83800 drops"),
        ("qdisc", "net.core.default_qdisc = fq_codel"),
        ("TSQ", "net.ipv4.tcp_limit_output_bytes = 1048576"),
        ("congestion control", "net.ipv4.tcp_congestion_control = cubic"),
        ("airtime flags", "phy0: airtime_flags 7"),
        ("AQL", UNKNOWN),
        ("AQL", "phy0: aql_txq_limit AC AQL limit low AQL limit high VO 5000 12000"),
    ]
    assert all(one.source and one.means and one.weight for one in machine.findings())
    text = scenario.text(network.of(machine.facts), ["this machine"])
    assert 'scheme = "ath10k"' in text
    assert 'snr = "35 dB"' in text
    assert json.loads(_native.survey(text, "x", []))["name"] == "imported"


def test_a_machine_without_anything_says_what_is_missing(tmp_path: Path) -> None:
    found = Machine(tmp_path, lambda _: None).findings()
    assert {one.value for one in found} == {UNKNOWN}
    assert "qdisc: 'tc -j -s qdisc' failed: is iproute2 installed?" in [f"{one.what}: {one.source}" for one in found]
    assert "driver: no Wi-Fi interface in /sys/class/net" in [f"{one.what}: {one.source}" for one in found]


def test_a_program_that_prints_rubbish_is_told(tmp_path: Path) -> None:
    found = Machine(laptop(tmp_path), lambda _: "Station x\n{").findings()
    told = {one.what: one.source for one in found if one.value == UNKNOWN}
    assert "'iw dev wlo1 info' names no channel" in told["channel"]
    assert 'iw dev wlo1 station dump:1: found "Station x"' in told["signal"]
    assert "tc -j -s qdisc:1: found text that is not JSON" in told["qdisc"]


@pytest.mark.parametrize("command", sorted(doctor._WEIGHTS.values()))
def test_each_weight_is_shown_by_its_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = shlex.split(command)[1:]
    more = ["--runs", "1"] if arguments[0] == "compare" else ["--set", "duration=3s"] if "tsq-wifi" in command else []
    assert status([*arguments, *more]) == 0
    assert capsys.readouterr().out


def test_this_machine_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["doctor", "-o", str(tmp_path / "made.toml")]) == 0
    assert "kernel: " in capsys.readouterr().out
    assert status(["check", str(tmp_path / "made.toml")]) == 0
    capsys.readouterr()
    assert status(["doctor", "--json"]) == 0
    assert {"kernel", "driver", "TSQ", "AQL"} <= {one["what"] for one in json.loads(capsys.readouterr().out)}
    assert status(["doctor", "-o", str(tmp_path / "made.toml")]) == 2
