"""Power save as dissected by Wireshark: PM bits, the TIM in beacons, and retrieval of buffered frames."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from stillair.capture import Capture, write_capture
from stillair.runs.scenario import Scenario
from tshark import GOOD, fields

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import airtime_from_capture

TEXT = """
name = "power"
duration = "3 s"

[channel.wifi]
band = "5 GHz"
width = "20 MHz"

[node.ap]
profile = "linux-4.6"
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "mac80211", address = "10.0.1.1", dtim_period = 2 }

[node.wakes]
profile = "linux-4.4"
[node.wakes.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.11"
rate = "ht20-mcs7-sgi"
power_save = "mac80211"

[node.polls]
inherits = "wakes"
interface.wlan0 = { address = "10.0.1.12", power_save = "static" }

[node.calls]
inherits = "wakes"
[node.calls.interface.wlan0]
address = "10.0.1.13"
power_save = { kind = "phone", uapsd = ["VO", "VI", "BE", "BK"], max_sp = 2, timeout = "10 ms" }

[node.scans]
inherits = "wakes"
interface.wlan0 = { address = "10.0.1.14", scan = { kind = "mac80211", passive_channels = 0 }, power_save = "off" }

[[flow]]
kind = "udp"
from = "ap"
to = ["wakes", "polls", "calls", "scans"]
rate = "100 kbit/s"
burst = 4

[[flow]]
kind = "udp"
from = "ap"
to = ["wakes", "polls", "calls", "scans"]
rate = "50 kbit/s"
multicast = true
"""
NULL, QOS_NULL, POLL, BEACON = (f"wlan.fc.type_subtype == {kind}" for kind in ("0x24", "0x2c", "0x1a", "0x08"))
DATA = "wlan.fc.type_subtype == 0x28"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Capture]:
    """A capture of the air, and its report."""
    path = tmp_path_factory.mktemp("power") / "air.pcapng"
    return path, write_capture(Scenario(TEXT), (), None, 0, path, [], snaplen=0)


@pytest.fixture(scope="module")
def capture(written: tuple[Path, Capture]) -> Path:
    """The file of that capture."""
    return written[0]


def count(capture: Path, only: str) -> int:
    """How many frames a display filter lets through."""
    return len(fields(capture, ["frame.number"], only))


def test_nothing_is_wrong_with_any_frame(capture: Path) -> None:
    # Warnings and errors; frames that collide have a wrong check sequence.
    assert count(capture, "_ws.expert.severity >= 0x600000 && radiotap.flags.badfcs == 0") == 0
    assert count(capture, "_ws.malformed && radiotap.flags.badfcs == 0") == 0
    whole = fields(capture, ["wlan.fcs.status"], "radiotap.flags.badfcs == 0")
    assert whole
    assert {frame["wlan.fcs.status"] for frame in whole} == {GOOD}


def test_null_frames_say_who_sleeps(capture: Path) -> None:
    nulls = fields(capture, ["wlan.fc.pwrmgt", "wlan.sa", "wlan.fc.tods"], NULL)
    told = {frame["wlan.fc.pwrmgt"] for frame in nulls}
    assert len(told) == 2, "some fall asleep, some wake"
    assert len({frame["wlan.sa"] for frame in nulls}) == 4
    assert len(nulls) > 20


def test_beacons_tell_of_what_waits(capture: Path) -> None:
    beacons = fields(capture, ["wlan.tim.dtim_count", "wlan.tim.dtim_period", "wlan.tim.bmapctl.multicast"], BEACON)
    assert len(beacons) in (29, 30)
    assert {frame["wlan.tim.dtim_period"] for frame in beacons} == {"2"}
    counts = [frame["wlan.tim.dtim_count"] for frame in beacons]
    assert all(set(two) == {"0", "1"} for two in pairwise(counts))
    follows = "wlan.tim.bmapctl.multicast == 1"
    assert count(capture, f"{BEACON} && {follows} && wlan.tim.dtim_count == 1") == 0, (
        "only a DTIM is followed by groups"
    )
    assert count(capture, f"{BEACON} && {follows}") > 5
    # AIDs 1 to 4 are bits 1 to 4.
    for bit in (0x02, 0x04, 0x08, 0x10):
        assert count(capture, f"{BEACON} && wlan.tim.partial_virtual_bitmap & {bit:x}") > 0, hex(bit)


def test_what_waits_is_fetched(capture: Path) -> None:
    polls = fields(capture, ["wlan.aid", "wlan.fc.pwrmgt"], POLL)
    assert {int(frame["wlan.aid"], 0) & 0x3FFF for frame in polls} == {2}
    assert len(polls) > 20
    triggers = count(capture, f"{QOS_NULL} && wlan.fc.tods == 1 && wlan.fc.pwrmgt == 1")
    ends = count(capture, "wlan.qos.eosp == 1 && wlan.fc.fromds == 1 && wlan.fc.retry == 0")
    assert triggers > 5
    assert ends >= triggers
    more = fields(capture, ["wlan.fc.moredata"], f"{DATA} && wlan.fc.moredata == 1 && wlan.fc.fromds == 1")
    assert len(more) > 10


def test_frames_to_the_group_have_its_address(capture: Path) -> None:
    group = fields(capture, ["wlan.da", "ip.dst", "wlan.qos.ack", "radiotap.datarate"], "wlan.da == 01:00:5e:00:00:01")
    assert len(group) > 5
    assert {frame["ip.dst"] for frame in group} == {"239.0.0.1"}
    assert {frame["radiotap.datarate"] for frame in group} == {"6"}


def test_the_airtime_of_the_capture_is_that_of_the_run(written: tuple[Path, Capture]) -> None:
    path, told = written
    measured = airtime_from_capture.airtime(path)["air-wifi"]
    accounts = told.run["air"]["wifi"]
    assert measured["management"] > 0
    for use, found in measured.items():
        assert found / 1_000 == pytest.approx(accounts[f"{use}_us"], rel=1e-3, abs=1.0), use
