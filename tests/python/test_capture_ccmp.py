"""Encrypted frames as read by Wireshark: sizes as on the air, packets in the clear."""

from pathlib import Path

import pytest

from stillair.capture import write_capture
from stillair.runs.scenario import Scenario
from tshark import GOOD, fields

TEXT = """
name = "ccmp"
duration = "50 ms"

[channel.wifi]
band = "5 GHz"
width = "20 MHz"
cipher = "{cipher}"

[node.ap]
profile = "linux-4.6"
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "airtime", address = "10.0.1.1" }}

[node.s]
profile = "linux-4.4"
[node.s.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.11"
rate = "ht20-mcs7-sgi"

[[flow]]
kind = "udp"
from = "ap"
to = "s"
rate = "20 Mbit/s"
burst = 8
"""
DATA = "wlan.fc.type_subtype == 0x28"
NAMES = ["wlan.fc.protected", "frame.len", "radiotap.length", "wlan.fcs.status", "udp.length", "ip.checksum.status"]


def written(cipher: str, folder: Path, snaplen: int = 0) -> Path:
    """A capture of the air."""
    path = folder / f"{cipher}-{snaplen}.pcapng"
    write_capture(Scenario(TEXT.format(cipher=cipher)), (), None, 0, path, [], snaplen=snaplen)
    return path


def test_frames_are_protected_and_16_bytes_longer(tmp_path: Path) -> None:
    plain = fields(written("none", tmp_path), NAMES, DATA)
    ccmp = fields(written("ccmp", tmp_path), NAMES, DATA)
    assert len(plain) > 10
    assert {frame["wlan.fc.protected"] for frame in plain} <= {"0", "False"}
    assert {frame["wlan.fc.protected"] for frame in ccmp} <= {"1", "True"}

    def lengths(frames: list[dict[str, str]]) -> set[int]:
        return {int(frame["frame.len"]) - int(frame["radiotap.length"]) for frame in frames}

    assert lengths(plain) == {1470 + 28 + 38}
    assert lengths(ccmp) == {1470 + 28 + 38 + 16}
    assert {frame["wlan.fcs.status"] for frame in ccmp} == {GOOD}
    # Without being told it takes the packets to be encrypted.
    assert {frame["udp.length"] for frame in ccmp} == {""}


@pytest.mark.parametrize("snaplen", [0, 192])
def test_wireshark_reads_the_packets_if_told_that_they_are_in_the_clear(tmp_path: Path, snaplen: int) -> None:
    path = written("ccmp", tmp_path, snaplen)
    seen = fields(path, NAMES, DATA, options=["wlan.ignore_wep:Yes - with IV"])
    assert len(seen) > 10
    assert {frame["udp.length"] for frame in seen} == {"1478"}
    assert {frame["ip.checksum.status"] for frame in seen} == {GOOD}
