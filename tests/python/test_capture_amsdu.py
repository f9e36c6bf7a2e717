"""A-MSDUs inside A-MPDUs as dissected by Wireshark, unencrypted and encrypted."""

from pathlib import Path

import pytest

from stillair.capture import write_capture
from stillair.runs.scenario import Scenario
from tshark import fields

TEXT = """
name = "amsdu"
duration = "60 ms"

[channel.wifi]
band = "5 GHz"
width = "80 MHz"
cipher = "{cipher}"

[node.ap]
profile = "linux-6.6"
sysctl."net.core.wmem_default" = 40000000
[node.ap.interface.wlan0]
channel = "wifi"
role = "ap"
scheme = {{ kind = "mt76", amsdu_frames = {packets}, amsdu_by = "{by}" }}
address = "10.0.1.1"

[node.s]
profile = "linux-6.6"
[node.s.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.2"
rate = "{rate}"
error_rate = 0.1

[[flow]]
kind = "udp"
from = "ap"
to = "s"
rate = "{load} Mbit/s"
burst = 40
payload = {payload}
"""
DATA = "wlan.fc.type_subtype == 0x28 && radiotap.flags.badfcs == 0"
PRESENT = "wlan.qos.amsdupresent"
LENGTHS = "wlan_aggregate.a_mdsu.length"
# mac80211 joins what waits in its queues, so that it gets more than goes through.
# Who joins packets, radio, packets at most, payload, packets that an MPDU has at most: 7,991 bytes take five full ones.
CASES = [
    ("firmware", "vht80-mcs9-nss2-sgi", 8, 1470, 5),
    ("firmware", "he80-mcs11-nss2-gi0.8", 8, 201, 8),
    ("firmware", "he80-mcs11-nss2-gi0.8", 3, 1470, 3),
    ("mac80211", "vht80-mcs9-nss2-sgi", 6, 1470, 5),
    ("mac80211", "he80-mcs11-nss2-gi0.8", 6, 201, 6),
]


@pytest.mark.parametrize("cipher", ["none", "ccmp"])
@pytest.mark.parametrize(("by", "rate", "packets", "payload", "most"), CASES, ids=str)
def test_wireshark_takes_them_apart(
    cipher: str, by: str, rate: str, packets: int, payload: int, most: int, tmp_path: Path
) -> None:
    path = tmp_path / "amsdu.pcapng"
    load = 1200 if by == "mac80211" else 400
    text = TEXT.format(cipher=cipher, by=by, load=load, rate=rate, packets=packets, payload=payload)
    write_capture(Scenario(text), (), None, 0, path, ["all"], snaplen=0)
    names = [PRESENT, LENGTHS, "udp.length", "ip.checksum.status", "udp.checksum.status", "wlan.fcs.status"]
    # Captures of encrypted frames are in the clear: the Protected bit is to be ignored, the header's room is not.
    options = ["wlan.ignore_wep:Yes - with IV"] if cipher == "ccmp" else []
    frames = fields(path, [*names, "_ws.malformed"], f"{DATA} && udp", options=options)
    joined = [frame for frame in frames if frame[PRESENT] in ("1", "True")]
    assert len(joined) > 20
    counts = set()
    for frame in frames:
        inside = frame["udp.length"].split(";")
        assert {int(length) for length in inside} == {payload + 8}
        if frame in joined:
            # What follows the head of each: LLC and SNAP, IP, UDP, payload.
            assert [int(length) for length in frame[LENGTHS].split(";")] == [8 + 20 + 8 + payload] * len(inside)
            counts.add(len(inside))
        else:
            assert len(inside) == 1
        assert set(frame["ip.checksum.status"].split(";")) == {"1"}
        assert set(frame["udp.checksum.status"].split(";")) == {"1"}
        assert frame["wlan.fcs.status"] == "1"
        assert not frame["_ws.malformed"]
    assert max(counts) == most
    assert min(counts) > 1
    only = "_ws.expert.severity >= 0x600000 && radiotap.flags.badfcs == 0"
    assert fields(path, ["_ws.expert.message"], only, options=options) == []
