"""Frames of VHT and HE as Wireshark reads them: rate, streams, width, guard interval, and the data rate it reckons."""

from pathlib import Path

import pytest

from stillair.capture import write_capture
from stillair.runs.scenario import Scenario
from tshark import fields

TEXT = """
name = "wide"
duration = "50 ms"

[channel.wifi]
band = "5 GHz"
width = "160 MHz"

[node.ap]
profile = "linux-4.6"
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "airtime", address = "10.0.1.1" }}

[node.s]
profile = "linux-4.4"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.11", rate = "{rate}" }}

[[flow]]
kind = "udp"
from = "ap"
to = "s"
rate = "50 Mbit/s"
burst = 8
"""
DATA = "0x0028"
BLOCK_ACK = "0x0019"
WIDE = ["radiotap.vht.mcs.0", "radiotap.vht.nss.0", "radiotap.vht.bw", "radiotap.vht.gi"]
HE = ["data_3.data_mcs", "data_6.nsts", "data_5.data_bw_ru_allocation", "data_5.gi"]
HE_FIELDS = [f"radiotap.he.{name}" for name in HE]

# Wireshark's codes of widths are radiotap's; the rate is the one that it works out by itself, in Mbit/s.
CASES = [
    ("vht20-mcs8-nss1-sgi", WIDE, ["8", "1", "0", "1"], 86.7),
    ("vht40-mcs9-nss2-lgi", WIDE, ["9", "2", "1", "0"], 360.0),
    ("vht80-mcs9-nss2-sgi", WIDE, ["9", "2", "4", "1"], 866.7),
    ("vht160-mcs7-nss4-sgi", WIDE, ["7", "4", "11", "1"], 2600.0),
    ("vht160-mcs9-nss1-lgi", WIDE, ["9", "1", "11", "0"], 780.0),
    ("vht160-mcs8-nss3-lgi", WIDE, ["8", "3", "11", "0"], 2106.0),
    ("vht160-mcs9-nss4-sgi", WIDE, ["9", "4", "11", "1"], 3466.7),
    ("he20-mcs0-nss1-gi3.2", HE_FIELDS, [0, 1, 0, 2], 7.3),
    ("he80-mcs11-nss2-gi0.8", HE_FIELDS, [11, 2, 2, 0], 1201.0),
    ("he160-mcs9-nss4-gi1.6", HE_FIELDS, [9, 4, 3, 1], 3629.6),
    ("he160-mcs11-nss4-gi0.8", HE_FIELDS, [11, 4, 3, 0], 4803.9),
    ("he160-mcs0-nss3-gi3.2", HE_FIELDS, [0, 3, 3, 2], 183.8),
]


def number(text: str) -> int:
    return int(text, 0) if text not in ("True", "False") else int(text == "True")


@pytest.mark.parametrize(("rate", "names", "want", "mbps"), CASES, ids=[case[0] for case in CASES])
def test_wireshark_reads_the_rate(
    rate: str, names: list[str], want: list[str | int], mbps: float, tmp_path: Path
) -> None:
    path = tmp_path / "wide.pcapng"
    write_capture(Scenario(TEXT.format(rate=rate)), (), None, 0, path, ["all"], snaplen=0)
    asked = [*names, "wlan_radio.data_rate", "radiotap.ampdu.reference", "_ws.malformed"]
    frames = fields(path, asked, f"wlan.fc.type_subtype == {DATA} && radiotap.flags.badfcs == 0")
    assert len(frames) > 50
    for frame in frames:
        assert [number(frame[name]) for name in names] == [int(value) for value in want], frame
        assert float(frame["wlan_radio.data_rate"]) == pytest.approx(mbps, rel=2e-3)
        assert not frame["_ws.malformed"]
    assert any(frame["radiotap.ampdu.reference"] for frame in frames)
    assert not warned(path)


def warned(path: Path) -> list[dict[str, str]]:
    """What tshark warns of in frames that are whole; notes, such as that a frame is a repetition, are none."""
    only = "_ws.expert.severity >= 0x600000 && radiotap.flags.badfcs == 0"
    return fields(path, ["_ws.expert.message"], only)


def test_rates_that_minstrel_ht_chooses_are_read(tmp_path: Path) -> None:
    path = tmp_path / "chosen.pcapng"
    text = TEXT.format(rate="vht80-mcs0-nss1-lgi").replace("160 MHz", "80 MHz").replace("50 Mbit/s", "700 Mbit/s")
    text = text.replace('"50 ms"', '"1 s"').replace('rate = "vht80-mcs0-nss1-lgi"', 'rate = "minstrel_ht"')
    write_capture(Scenario(text), (), None, 0, path, ["all"], snaplen=0)
    frames = fields(path, [*WIDE, "wlan_radio.data_rate"], f"wlan.fc.type_subtype == {DATA}")
    rates = {tuple(frame.values()) for frame in frames}
    # It begins at the slowest rate, and finds the fastest one; all between are of VHT, of 20 to 80 MHz.
    assert {("0", "1", "0", "0", "6.5"), ("9", "2", "4", "1", "866.667")} <= rates
    assert {rate[2] for rate in rates} <= {"0", "1", "4"}
    assert not warned(path)


def test_block_acks_of_256_frames_are_read(tmp_path: Path) -> None:
    path = tmp_path / "window.pcapng"
    text = TEXT.format(rate="he160-mcs11-nss2-gi0.8")
    for old, new in (
        ("linux-4.6", "linux-6.6"),
        ("linux-4.4", "linux-6.6"),
        ('scheme = "airtime", ', ""),
        ("50 Mbit/s", "1500 Mbit/s"),
        ("burst = 8", "burst = 300"),
        ('rate = "he160', 'error_rate = 0.1, rate = "he160'),
    ):
        text = text.replace(old, new)
    write_capture(Scenario(text), (), None, 0, path, ["all"], snaplen=0)
    names = ["wlan.fixed.action_code", "wlan.fixed.baparams.buffersize"]
    sessions = fields(path, names, "wlan.fixed.category_code == 3")
    assert {number(frame["wlan.fixed.action_code"]) for frame in sessions} == {0, 1}
    assert {number(frame["wlan.fixed.baparams.buffersize"]) for frame in sessions} == {256}
    asked = ["wlan.fixed.ssc.fragment", "wlan.ba.bm", "frame.len", "radiotap.length"]
    answers = fields(path, asked, f"wlan.fc.type_subtype == {BLOCK_ACK}")
    assert len(answers) > 10
    for answer in answers:
        # The fragment number 4 says that the bitmap has 32 bytes.
        assert number(answer["wlan.fixed.ssc.fragment"]) == 4
        assert len(answer["wlan.ba.bm"].replace(":", "")) == 64
        assert int(answer["frame.len"]) - int(answer["radiotap.length"]) == 56
    # Some frame past the 64th was acknowledged.
    assert any(answer["wlan.ba.bm"].replace(":", "")[16:].strip("0") for answer in answers)
    assert not warned(path)
