"""Hand-made captures of data frames: any rate, pcap or pcapng, whole or damaged."""

import struct
from collections.abc import Sequence

AP, STATION = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


def radiotap(present: int, fields: bytes) -> bytes:
    """A header with these fields, which must be aligned already."""
    return struct.pack("<BBHI", 0, 0, 8 + len(fields), present) + fields


def ht(mcs: int, width_40: bool = False, short: bool = False, known: int = 0x07) -> bytes:
    """A header with an MCS field."""
    return radiotap(1 << 19, bytes([known, (1 if width_40 else 0) | (4 if short else 0), mcs]))


def vht(mcs: int, streams: int, code: int = 4) -> bytes:
    """A header with a VHT field; `code` is its bandwidth, 4 for 80 MHz."""
    return radiotap(1 << 21, struct.pack("<HBB4sBBH", 0x0044, 0, code, bytes([mcs << 4 | streams, 0, 0, 0]), 0, 0, 0))


def he(mcs: int, streams: int, code: int = 2, data1: int = 0x4024, dcm: bool = False) -> bytes:
    """A header with an HE field; `code` is its bandwidth, 2 for 80 MHz."""
    data3 = mcs << 8 | (0x1000 if dcm else 0)
    return radiotap(1 << 23, struct.pack("<6H", data1 | (0x1000 if dcm else 0), 2, data3, 0, code, streams))


def eht(mcs: int | None = None, streams: int = 1, width: int = 80) -> bytes:
    """A header with 802.11be fields; without an MCS, the fields are empty."""
    if mcs is None:
        return radiotap(1 << 28, struct.pack("<HH", 34, 40) + bytes(40))
    # Known width and its code; known MCS and streams and their values.
    usig = struct.pack("<3I", 0x2 | (20, 40, 80, 160, 320).index(width) << 15, 0, 0)
    user = 0x2 | 0x10 | mcs << 20 | (streams - 1) << 24
    fields = struct.pack("<HH", 33, 12) + usig + struct.pack("<HH", 34, 44) + bytes(40) + struct.pack("<I", user)
    return radiotap(1 << 28, fields)


def legacy(half_mbps: int) -> bytes:
    """A header with a rate in units of 500 kbit/s."""
    return radiotap(1 << 2, bytes([half_mbps]))


def mpdu(payload: int = 1_000, *, retry: bool = False, up: bool = False) -> bytes:
    """A QoS data frame without FCS: an IP packet of this size, from or to the access point."""
    flags = (1 if up else 2) | (8 if retry else 0)
    ends = (AP, STATION, AP) if up else (STATION, AP, AP)
    return bytes([0x88, flags, 0, 0]) + b"".join(ends) + bytes(4) + bytes.fromhex("aaaa030000000800") + bytes(payload)


Packet = tuple[int, bytes]
"""Time in ms, and bytes."""


def data(at_ms: int, header: bytes, **frame: bool) -> Packet:
    """A data frame after a radiotap header, by default an empty one."""
    return at_ms, (header or radiotap(0, b"")) + mpdu(**frame)  # type: ignore[arg-type]


def pcap(packets: Sequence[Packet], order: str = "<", *, nano: bool = False) -> bytes:
    """A pcap file."""
    head = struct.pack(f"{order}IHHIIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127)
    unit = 1_000_000 if nano else 1_000
    made = [head]
    for at_ms, packet in packets:
        length = len(packet)
        made.append(struct.pack(f"{order}IIII", 1_700_000_000 + at_ms // 1000, at_ms % 1000 * unit, length, length))
        made.append(packet)
    return b"".join(made)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A block of pcapng."""
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + length + body + length


def section(order: str = "<") -> bytes:
    """The header of a section."""
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(order: str = "<", resolution: int = 6, link: int = 127) -> bytes:
    """The description of an interface."""
    options = struct.pack(f"{order}HHB3x", 9, 1, resolution) + struct.pack(f"{order}HH", 0, 0)
    return block(1, struct.pack(f"{order}HHI", link, 0, 0) + options, order)


def packet(of: Packet, order: str = "<", resolution: int = 6, at: int = 0) -> bytes:
    """An enhanced packet block of interface `at`."""
    at_ms, content = of
    units = (1_700_000_000_000 + at_ms) * 10 ** (resolution - 3)
    head = struct.pack(f"{order}IIIII", at, units >> 32, units & 0xFFFFFFFF, len(content), len(content))
    return block(6, head + content, order)


def pcapng(packets: Sequence[Packet], order: str = "<", resolution: int = 6) -> bytes:
    """A pcapng file of one section with one interface."""
    made = [section(order), interface(order, resolution)]
    return b"".join([*made, *(packet(one, order, resolution) for one in packets)])
