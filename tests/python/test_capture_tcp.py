"""TCP connections in captures as dissected by Wireshark, compared with the run's report."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stillair import Scenario
from stillair.capture import write_capture
from tshark import fields, stream

FIELDS = (
    "frame.len", "ip.src", "tcp.srcport", "tcp.dstport", "tcp.flags", "tcp.len", "tcp.seq", "tcp.seq_raw",
    "tcp.ack", "tcp.window_size_value", "tcp.window_size", "tcp.urgent_pointer", "tcp.options.mss_val",
    "tcp.options.wscale.shift", "tcp.options.sack_perm", "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr",
    "tcp.options.sack_le", "tcp.options.sack_re", "tcp.analysis.retransmission", "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack", "tcp.analysis.lost_segment", "tcp.analysis.flags", "_ws.malformed",
)  # fmt: skip
SYN, ACK, FIN = 2, 16, 1
MSS = 1448
CLIENT = "10.0.1.1"
BYTES = 3_000_000

ROAD = """
name = "connection"
duration = "4 s"
seed = 3
[link.cr]
rate = "1 Gbit/s"
delay = "1 ms"
[link.rs]
kind = "veth"
[node.client]
profile = "linux-6.1"
interface.eth0 = {{ link = "cr", address = "10.0.1.1" }}
[node.router]
profile = "linux-6.1"
forward = true
interface.eth0 = {{ link = "cr", address = "10.0.1.2", gro = false }}
interface.eth1 = {{ link = "rs", address = "10.0.2.2", qdisc = {qdisc} }}
[node.server]
profile = "linux-6.1"
interface.eth0 = {{ link = "rs", address = "10.0.2.1" }}
[[flow]]
kind = "tcp"
name = "up"
from = "client"
to = "server"
bytes = {bytes}
"""
SHALLOW = '{ kind = "htb", rate = "20 Mbit/s", child = { kind = "pfifo", limit = 15 } }'
DEEP = '{ kind = "htb", rate = "20 Mbit/s", child = { kind = "pfifo", limit = 3000 } }'


class Connection:
    """One run with a connection from client to server, seen at one point."""

    def __init__(self, folder: Path, qdisc: str, point: str, road: str = ROAD) -> None:
        scenario = Scenario(road.format(qdisc=qdisc, bytes=BYTES))
        self.path = folder / f"{point}.pcapng"
        self.run: dict[str, Any] = write_capture(scenario, (), None, 0, self.path, [point], snaplen=0).run
        self.flow = self.run["flows"]["up.server"]
        self.packets = fields(self.path, FIELDS)

    def sent(self, source: str = CLIENT) -> list[dict[str, str]]:
        """Packets with data of the client, or all of the server."""
        return [p for p in self.packets if p["ip.src"] == source and p["tcp.len"] != "0"]

    def answers(self) -> list[dict[str, str]]:
        return [p for p in self.packets if p["ip.src"] != CLIENT]

    def again(self) -> int:
        """Segments that Wireshark flags as retransmissions."""
        flagged = [p for p in self.sent() if p["tcp.analysis.retransmission"] or p["tcp.analysis.out_of_order"]]
        return sum(-(-int(p["tcp.len"]) // MSS) for p in flagged)


def at(folder: pytest.TempPathFactory, qdisc: str, *points: str) -> Iterator[Connection]:
    path = folder.mktemp("connection")
    return (Connection(path, qdisc, point) for point in points)


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Connection]:
    points = ("client-eth0", "cr", "rs", "server-eth0")
    return dict(zip(points, at(tmp_path_factory, SHALLOW, *points), strict=True))


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Connection:
    return next(at(tmp_path_factory, DEEP, "client-eth0"))


def test_a_connection_begins_and_ends_as_linux_does_it(lossy: dict[str, Connection]) -> None:
    for point, seen in lossy.items():
        flags = [int(p["tcp.flags"], 16) for p in seen.packets]
        assert flags[:3] == [SYN, SYN | ACK, ACK], point
        assert sum(f & SYN for f in flags) == 2 * SYN
        assert sum(f & FIN for f in flags) == 2 * FIN
        for syn, scaled in zip(seen.packets[:2], ("64240", "65160"), strict=True):
            options = [syn[f"tcp.options.{n}"] for n in ("mss_val", "wscale.shift", "sack_perm")]
            assert options[:2] == ["1460", "7"]
            assert options[2], "SACK permitted"
            assert (syn["frame.len"], syn["tcp.window_size_value"]) == ("74", scaled)
        # An acknowledgement with time stamps alone, scaled by what the SYN said.
        third = seen.packets[2]
        assert (third["frame.len"], third["tcp.window_size"]) == ("66", "64256")
        assert int(third["tcp.window_size_value"]) << 7 == 64256
        ports = {(p["tcp.srcport"], p["tcp.dstport"]) for p in seen.packets}
        assert ports == {("49152", "57344"), ("57344", "49152")}
        assert all(p["tcp.urgent_pointer"] == "0" and not p["_ws.malformed"] for p in seen.packets)
        stamps = [int(p["tcp.options.timestamp.tsval"]) for p in seen.sent()]
        assert stamps == sorted(stamps)
        assert max(stamps) > 1_000


def test_retransmissions_are_those_that_the_run_counts(lossy: dict[str, Connection], clean: Connection) -> None:
    counted = lossy["client-eth0"].flow["retransmissions"]
    assert counted == sum(drop["packets"] for drop in lossy["client-eth0"].run["drops"]) > 10
    assert {point: seen.again() for point, seen in lossy.items()} == dict.fromkeys(lossy, counted)
    for point, seen in lossy.items():
        duplicates = [p for p in seen.answers() if p["tcp.analysis.duplicate_ack"]]
        assert len(duplicates) > counted, point
        # Behind the queue where they were lost, segments are missing; before it none is.
        gaps = sum(bool(p["tcp.analysis.lost_segment"]) for p in seen.sent())
        assert (gaps > 0) == (point in ("rs", "server-eth0")), point
    # Nothing is said of a connection that loses nothing but that its window grows.
    assert (clean.again(), clean.flow["retransmissions"], clean.run["drops"]) == (0, 0, [])
    kinds = ("retransmission", "out_of_order", "duplicate_ack", "lost_segment")
    assert not [p for p in clean.packets if any(p[f"tcp.analysis.{kind}"] for kind in kinds)]
    assert not [p for p in clean.sent() if p["tcp.analysis.flags"]]


def test_sack_blocks_are_data_that_came_behind_what_is_missing(lossy: dict[str, Connection]) -> None:
    ends: set[int] = set()
    checked = 0
    for p in lossy["rs"].packets:
        if p["ip.src"] == CLIENT:
            ends.add(int(p["tcp.seq"]) + int(p["tcp.len"]))
            continue
        blocks = [[int(n) for n in p[f"tcp.options.sack_{edge}"].split(";") if n] for edge in ("le", "re")]
        for left, right in zip(*blocks, strict=True):
            # Relative, as a sequence number is.
            assert int(p["tcp.ack"]) < left < right
            assert right in ends
            checked += 1
    assert checked > 100


def test_a_host_sees_large_packets_and_a_wire_single_frames(lossy: dict[str, Connection]) -> None:
    lengths = {point: [int(p["tcp.len"]) for p in seen.sent()] for point, seen in lossy.items()}
    assert max(lengths["client-eth0"]) > 2 * MSS
    assert max(lengths["cr"]) == MSS
    assert sum(lengths["client-eth0"]) == sum(lengths["cr"])
    # The router is a host that merges nothing, and behind it nothing does it either.
    assert Counter(lengths["rs"]) == Counter(lengths["server-eth0"])


def test_a_host_sees_what_was_merged(tmp_path: Path) -> None:
    # Arrivals wait for each other, and the router merges those that continue each other.
    text = ROAD.replace("gro = false", "gro = true").replace('delay = "1 ms"', 'delay = "1 ms"\nrx_usecs = 200')
    wire, host = (Connection(tmp_path, DEEP, point, text) for point in ("cr", "router-eth0"))
    lengths = [[int(p["tcp.len"]) for p in seen.sent()] for seen in (wire, host)]
    assert max(lengths[0]) == MSS
    assert max(lengths[1]) > 2 * MSS
    assert sum(lengths[0]) == sum(lengths[1]) == BYTES
    assert len(lengths[1]) < 0.8 * len(lengths[0])
    assert not any(p["_ws.malformed"] for p in host.packets)
    assert fields(host.path, ["frame.number"], "tcp.checksum.status == 0 or ip.checksum.status == 0") == []


def test_the_stream_is_what_was_written_and_read(lossy: dict[str, Connection]) -> None:
    seen = lossy["server-eth0"]
    assert round(seen.flow["goodput_mbps"] * 4e6 / 8) == BYTES
    ends = [int(p["tcp.seq"]) + int(p["tcp.len"]) for p in seen.sent()]
    assert max(ends) == BYTES + 1
    assert max(int(p["tcp.ack"]) for p in seen.answers()) == BYTES + 2, "the stream and its two ends"
    # Put together again, in spite of losses: each byte is its own sequence number.
    data = stream(seen.path, 0)
    first = int(seen.sent()[0]["tcp.seq_raw"])
    assert len(data) == BYTES
    assert data == bytes((first + n) % 256 for n in range(BYTES))
