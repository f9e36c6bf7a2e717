"""Frames of a capture: pcap and pcapng, radiotap, the header of 802.11. Nothing is kept of what frames carry."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from stillair._native import InputError
from stillair.runs.imports.rates import Mode

_RADIOTAP = 127
_PCAPNG = b"\x0a\x0d\x0d\x0a"
_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""By the first bytes: the order of bytes, and ns of a unit of the second part of a time."""

# spec: radiotap.org/fields/defined - size and alignment of each field by its bit.
_FIELDS = {
    0: (8, 8), 1: (1, 1), 2: (1, 1), 3: (4, 2), 4: (2, 1), 5: (1, 1), 6: (1, 1), 7: (2, 2), 8: (2, 2), 9: (2, 2),
    10: (1, 1), 11: (1, 1), 12: (1, 1), 13: (1, 1), 14: (2, 2), 15: (2, 2), 16: (1, 1), 17: (1, 1), 18: (8, 4),
    19: (3, 1), 20: (8, 4), 21: (12, 2), 22: (12, 8), 23: (12, 2), 24: (12, 2), 25: (6, 2), 26: (1, 1), 27: (4, 2),
}  # fmt: skip
_FLAGS, _RATE, _CHANNEL, _MCS, _AMPDU, _VHT, _HE = 1, 2, 3, 19, 20, 21, 23
_SHORT_PREAMBLE, _FCS_AT_END, _BAD_FCS = 0x02, 0x10, 0x40
_DSSS = (2, 4, 11, 22)


class Frame(NamedTuple):
    """A frame as a radio heard it."""

    number: int
    """Counted from 1, as Wireshark does."""
    at_ns: int
    mode: Mode | None
    """Its rate; none if the header tells none."""
    mhz: int | None
    length: int
    """Of the MPDU with its check sequence."""
    broken: bool
    aggregate: int | None
    """Number of its A-MPDU."""
    header: bytes
    """What of the MPDU was kept."""


def looks_like(data: bytes) -> bool:
    """Whether these are the first bytes of a capture."""
    return data[:4] == _PCAPNG or data[:4] in _PCAP


def read(file: str, data: bytes) -> Iterator[Frame]:
    """The frames with radiotap headers; an `InputError` where the file cannot be read any further."""
    packets = _pcapng(file, data) if data[:4] == _PCAPNG else _pcap(file, data)
    for number, (at_ns, kept, original) in enumerate(packets, 1):
        try:
            yield _frame(number, at_ns, kept, original)
        except (struct.error, IndexError, KeyError):
            raise InputError(f"{file}: packet {number}: found {len(kept)} bytes, expected a radiotap header") from None


def _pcap(file: str, data: bytes) -> Iterator[tuple[int, bytes, int]]:
    order, unit = _PCAP[data[:4]]
    try:
        kind = struct.unpack_from(f"{order}I", data, 20)[0] & 0xFFFF
    except struct.error:
        raise InputError(f"{file}: found {len(data)} bytes, expected the 24 of a capture's header") from None
    if kind != _RADIOTAP:
        raise InputError(f"{file}: found link type {kind}, expected {_RADIOTAP}: 802.11 with radiotap headers")
    offset, number = 24, 0
    while offset < len(data):
        number += 1
        if offset + 16 > len(data):
            raise InputError(f"{file}: packet {number}: the file ends within its header, at byte {len(data)}")
        seconds, part, kept, original = struct.unpack_from(f"{order}IIII", data, offset)
        offset += 16
        if offset + kept > len(data):
            raise InputError(
                f"{file}: packet {number}: found {len(data) - offset} bytes, expected {kept}: it is cut off"
            )
        yield seconds * 1_000_000_000 + part * unit, data[offset : offset + kept], original
        offset += kept


def _pcapng(file: str, data: bytes) -> Iterator[tuple[int, bytes, int]]:
    order = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    interfaces: list[tuple[int, int]] = []
    offset, found = 0, False
    while offset < len(data):
        if offset + 12 > len(data):
            raise InputError(f"{file}: the file ends within a block, at byte {len(data)}")
        kind, length = struct.unpack_from(f"{order}II", data, offset)
        if length < 12 or length % 4 or offset + length > len(data):
            raise InputError(
                f"{file}: block at byte {offset}: found a length of {length}, expected one that fits: cut off?"
            )
        body = data[offset + 8 : offset + length - 4]
        offset += length
        if kind == 1:
            link = struct.unpack_from(f"{order}H", body)[0]
            interfaces.append((link, _resolution(body[8:], order)))
        elif kind == 6:
            at, high, low, kept, original = struct.unpack_from(f"{order}IIIII", body)
            if at >= len(interfaces):
                raise InputError(f"{file}: found a packet of interface {at}, expected one that is described before")
            link, unit = interfaces[at]
            if link == _RADIOTAP:
                found = True
                yield (high << 32 | low) * 1_000_000_000 // unit, body[20 : 20 + kept], original
    if interfaces and not found and all(link != _RADIOTAP for link, _ in interfaces):
        links = ", ".join(str(link) for link, _ in interfaces)
        raise InputError(f"{file}: found link type {links}, expected {_RADIOTAP}: 802.11 with radiotap headers")


def _resolution(options: bytes, order: str) -> int:
    """Units of a time in a second."""
    offset = 0
    while offset + 4 <= len(options):
        code, length = struct.unpack_from(f"{order}HH", options, offset)
        if code == 9 and length == 1:
            value = options[offset + 4]
            return int(2 ** (value & 0x7F)) if value & 0x80 else int(10**value)
        offset += 4 + length + -length % 4
    return 1_000_000


def _frame(number: int, at_ns: int, packet: bytes, original: int) -> Frame:
    _, _, length, present = struct.unpack_from("<BBHI", packet)
    offset, word = 8, present
    while word >> 31:
        word = struct.unpack_from("<I", packet, offset)[0]
        offset += 4
    fields: dict[int, bytes] = {}
    for bit in range(28):
        if present >> bit & 1:
            size, alignment = _FIELDS[bit]
            offset += -offset % alignment
            fields[bit] = packet[offset : offset + size]
            offset += size
    flags = fields[_FLAGS][0] if _FLAGS in fields else 0
    mhz = struct.unpack("<HH", fields[_CHANNEL])[0] if _CHANNEL in fields else None
    reference = struct.unpack_from("<I", fields[_AMPDU])[0] if _AMPDU in fields else None
    body = original - length + (0 if flags & _FCS_AT_END else 4)
    return Frame(
        number, at_ns, _mode(fields, flags), mhz, body, bool(flags & _BAD_FCS), reference, packet[length : length + 36]
    )


def _mode(fields: dict[int, bytes], flags: int) -> Mode | None:
    if _HE in fields:
        # spec: radiotap.org/fields/HE - MCS in data 3, width and guard interval in data 5, streams in data 6.
        _, _, data3, _, data5, data6 = struct.unpack("<6H", fields[_HE])
        width = (20, 40, 80, 160)[data5 & 3] if data5 & 0xF < 4 else None
        guard = (800, 1_600, 3_200)[min(data5 >> 4 & 3, 2)]
        return Mode("he", data3 >> 8 & 0xF, max(data6 & 0xF, 1), width, guard) if width else None
    if _VHT in fields:
        _, bits, code, user = struct.unpack_from("<HBBB", fields[_VHT])
        # spec: radiotap.org/fields/VHT - 0: 20, 1 to 3: 40, 4 to 10: 80, 11 and more: 160 MHz.
        width = 20 if code == 0 else 40 if code <= 3 else 80 if code <= 10 else 160
        return Mode("vht", user >> 4, max(user & 0xF, 1), width, 400 if bits & 4 else 800)
    if _MCS in fields:
        _, bits, index = fields[_MCS]
        return Mode("ht", index, index // 8 + 1, 40 if bits & 3 == 1 else 20, 400 if bits & 4 else 800)
    if _RATE in fields and fields[_RATE][0]:
        rate = fields[_RATE][0]
        return Mode("dsss" if rate in _DSSS else "ofdm", rate, short_preamble=bool(flags & _SHORT_PREAMBLE))
    return None
