"""IPv6 packets in captures, as dissected by Wireshark."""

import pytest

from stillair import Scenario
from stillair.capture import write_capture
from tshark import BAD, fields

HOME = """
name = "versions"
duration = "1.2 s"
ip = 6
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[link.wan]
rate = "50 Mbit/s"
delay = "1 ms"
mtu = 1420
[node.server]
profile = "linux-6.1"
interface.eth0 = { link = "wan" }
[node.ap]
profile = "linux-6.1"
forward = true
interface.eth0 = { link = "wan", qdisc = "fq_codel" }
interface.wlan0 = { channel = "wifi", role = "ap" }
[node.s]
profile = "linux-6.1"
sysctl."net.ipv4.tcp_ecn" = 1
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs7-sgi" }
[[flow]]
kind = "ping"
from = "s"
to = "server"
dscp = "CS6"
[[flow]]
kind = "tcp"
from = "s"
to = "server"
bytes = 300000
[[flow]]
kind = "udp"
from = "server"
to = "s"
rate = "1 Mbit/s"
payload = 1300
dscp = "EF"
[[flow]]
kind = "quic"
from = "server"
to = "s"
bytes = 100000
[[flow]]
kind = "voip"
from = "s"
to = "server"
[[flow]]
kind = "ping"
from = "s"
to = "server"
ip = 4
"""

FIELDS = (
    "eth.type", "llc.type", "ipv6.version", "ipv6.plen", "ipv6.nxt", "ipv6.hlim", "ipv6.src", "ipv6.dst",
    "ipv6.tclass.dscp", "ipv6.flow", "ip.src", "icmp.type", "icmpv6.type", "icmpv6.checksum.status",
    "udp.checksum.status", "tcp.checksum.status", "tcp.options.mss_val", "tcp.len", "frame.len", "_ws.malformed",
    "_ws.expert.severity", "_ws.expert.message", "wlan.fcs.status",
)  # fmt: skip
SERVER, STATION = "fd00::a80:1", "fd00::a80:102"
WARNING = 0x600000


@pytest.fixture(scope="module", params=["air-wifi", "wan"])
def frames(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    file = tmp_path_factory.mktemp("ip6") / "run.pcapng"
    write_capture(Scenario(HOME), (), None, 0, file, [request.param], snaplen=0)
    found = fields(file, FIELDS)
    # What met another frame on the air is broken, and its frame check sequence says so.
    whole = [frame for frame in found if frame["wlan.fcs.status"] != BAD]
    return [frame for frame in whole if frame["ipv6.version"] or frame["ip.src"]]


def test_wireshark_has_nothing_to_warn_of(frames: list[dict[str, str]]) -> None:
    assert len(frames) > 500
    for frame in frames:
        assert not frame["_ws.malformed"]
        # Behind a collision the air has segments in another order, which is no fault of theirs.
        told = zip(frame["_ws.expert.severity"].split(";"), frame["_ws.expert.message"].split(";"), strict=True)
        warnings = [text for severity, text in told if severity and int(severity) >= WARNING]
        assert all("(suspected) out-of-order" in text for text in warnings), frame
        for check in ("icmpv6.checksum.status", "udp.checksum.status", "tcp.checksum.status"):
            assert frame[check] in ("", "1"), frame


def test_addresses_headers_and_marks(frames: list[dict[str, str]]) -> None:
    six = [frame for frame in frames if frame["ipv6.version"] == "6"]
    assert {frame["ipv6.src"] for frame in six} == {SERVER, STATION} == {frame["ipv6.dst"] for frame in six}
    # ICMPv6, TCP and UDP, each with a label of its own in each direction at least.
    assert {frame["ipv6.nxt"] for frame in six} == {"6", "17", "58"}
    assert len({frame["ipv6.flow"] for frame in six}) > 4
    marks = {(frame["ipv6.nxt"], frame["ipv6.tclass.dscp"]) for frame in six}
    assert ("58", "48") in marks
    assert ("17", "46") in marks


def test_pings_of_both_versions(frames: list[dict[str, str]]) -> None:
    requests = [frame for frame in frames if frame["icmpv6.type"] == "128"]
    replies = [frame for frame in frames if frame["icmpv6.type"] == "129"]
    assert len(requests) >= 5 <= len(replies)
    assert {(frame["ipv6.src"], frame["ipv6.plen"]) for frame in requests} == {(STATION, "64")}
    assert {(frame["ipv6.src"], frame["ipv6.tclass.dscp"]) for frame in replies} == {(SERVER, "48")}
    four = [frame for frame in frames if frame["icmp.type"]]
    assert {frame["ip.src"] for frame in four} == {"10.128.0.1", "10.128.1.2"}


def test_segments_are_what_the_path_carries(frames: list[dict[str, str]]) -> None:
    tcp = [frame for frame in frames if frame["ipv6.nxt"] == "6"]
    assert {frame["tcp.options.mss_val"] for frame in tcp if frame["tcp.options.mss_val"]} == {"1360"}
    # 1,420 bytes without 40 of IPv6, 20 of TCP and 12 of its time stamps.
    assert max(int(frame["tcp.len"]) for frame in tcp) == 1348
    assert max(int(frame["ipv6.plen"]) for frame in frames if frame["ipv6.plen"]) == 1380
