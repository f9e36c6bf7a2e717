"""Packets of a capture file, pcap or pcapng, one at a time. Counts damaged and missing parts, and uses the rest.

A file may have several sections: concatenated pcapng files (`cat a b`), each with its own byte order,
interfaces and time resolution, and concatenated pcap files.
"""

import collections
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from stillair._native import InputError
from stillair.text.source import Stream

RADIOTAP = 127
MOST_PACKETS = 5_000_000
"""Most packets to read, which takes one or two minutes."""
_MOST_KEPT = 262_144
"""Largest plausible packet in bytes: Wireshark's limit for every radio."""
_MOST_BLOCK = 1 << 20
_SEARCHED = 1 << 20
"""Bytes searched for the next whole packet after damage."""

_PCAPNG = b"\x0a\x0d\x0d\x0a"
_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Byte order, and ns per unit of a timestamp's second part, by the first bytes of a pcap file."""
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
"""Byte order by the magic of a pcapng section."""
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_KNOWN_BLOCKS = (_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, 4, 5, _PACKET)

_DAMAGED = "places with damage: reading went on at the next whole packet"
_WRONG_LENGTH = "packets with a wrong length"


class Packet(NamedTuple):
    """A packet as it was captured."""

    number: int
    """Counted from 1 over the whole file, as Wireshark does."""
    section: int
    """Number of the section, from 0."""
    at_ns: int
    kept: bytes
    original: int
    """Length of the packet on the air, with its radiotap header."""


@dataclass
class Left:
    """The parts of a capture that are not used."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    """Number of packets and places by reason."""
    said: list[str] = field(default_factory=list)
    """Sentences about the file."""

    def sentences(self) -> list[str]:
        """Returns all sentences and counts."""
        return [_counted(count, what) for what, count in self.counts.items()] + self.said


def _counted(count: int, what: str) -> str:
    """Returns a number with its unit: `packets ...`, `data frames ...`."""
    return f"{count} {re.sub(r's(?= |$)', '', what, count=1) if count == 1 else what}"


class _Link(NamedTuple):
    """An interface of a section."""

    kind: int
    """Link type; -1 if the interface block is damaged."""
    unit: int
    """Time units per second."""
    offset_s: int


def looks_like(head: bytes) -> bool:
    """Reports whether these are the first bytes of a capture."""
    return head[:4] == _PCAPNG or head[:4] in _PCAP


class Reader:
    """Iterates over the packets with radiotap headers; adds unused parts to `left`."""

    def __init__(self, stream: Stream, left: Left) -> None:
        """Reads from the beginning of a capture."""
        self._stream, self._left = stream, left
        self._number = 0
        self._section = -1
        self._links: dict[int, None] = {}
        self._patience = 8 * _SEARCHED
        """Remaining bytes to search, so that a damaged file does not take hours."""

    def __iter__(self) -> Iterator[Packet]:
        """Yields all packets; raises an `InputError` with the link types if none has a radiotap header."""
        while (head := self._stream.peek(24)) and self._number < MOST_PACKETS:
            self._section += 1
            if head[:4] == _PCAPNG:
                yield from self._pcapng()
            elif head[:4] in _PCAP:
                yield from self._pcap()
            else:
                break
        if self._number >= MOST_PACKETS and self._stream.peek(1):
            self._left.said.append(f"more than {MOST_PACKETS:,} packets: the others are not read ('editcap' splits it)")
        if self._stream.damage:
            self._left.said.append(
                f"the {self._stream.form} data is damaged or cut ({self._stream.damage}): the first"
                f" {self._stream.at} bytes of the capture are used"
            )
        if self._links and RADIOTAP not in self._links:
            raise self._no_radiotap()

    def _no_radiotap(self) -> InputError:
        found = ", ".join(str(link) for link in self._links)
        return InputError(
            f"{self._stream.file}: found link type {found}, expected {RADIOTAP}: 802.11 with radiotap headers"
        )

    def _packet(self, link: int, at_ns: int, kept: bytes, original: int) -> Iterator[Packet]:
        if link == RADIOTAP:
            yield Packet(self._number, self._section, at_ns, kept, original)
        elif link >= 0:
            self._left.counts[f"packets of link type {link}, without a radiotap header"] += 1
        else:
            self._left.counts["packets of an interface that the file does not describe"] += 1

    def _ends(self, unit: str) -> None:
        """Notes that the file ends within a packet or block."""
        end = self._stream.at + len(self._stream.peek(_SEARCHED))
        self._left.said.append(
            f"the file ends within {unit} {self._number}, at byte {end}: it is cut, and the packets before are used"
        )

    # pcap

    def _pcap(self) -> Iterator[Packet]:
        """The packets up to the end of the file, or to the header of another capture."""
        stream = self._stream
        head = stream.read(24)
        if len(head) < 24:
            if self._section:
                self._left.said.append(f"the file ends within the header of capture {self._section + 1}")
                return
            raise InputError(f"{stream.file}: found {len(head)} bytes, expected the 24 of a capture's header")
        order, unit = _PCAP[head[:4]]
        link = struct.unpack_from(f"{order}I", head, 20)[0] & 0xFFFF
        self._links[link] = None
        if link != RADIOTAP and not self._section:
            raise self._no_radiotap()
        record = struct.Struct(f"{order}IIII")
        while self._number < MOST_PACKETS and (head := stream.peek(24)):
            if _is_header(head):
                return
            self._number += 1
            if len(head) < 16:
                self._ends("packet")
                stream.skip(len(head))
                return
            seconds, part, kept, original = record.unpack_from(head)
            whole = stream.peek(16 + kept) if kept <= _MOST_KEPT else b""
            if len(whole) < 16 + kept:
                if self._search(partial(_is_record, record, seconds), 1, 16):
                    continue
                if kept <= _MOST_KEPT:
                    self._ends("packet")
                else:
                    self._left.said.append(
                        f"packet {self._number}: found a length of {kept} bytes, expected at most {_MOST_KEPT}: the"
                        f" rest of the file, from byte {stream.at} on, is not used"
                    )
                stream.skip(1 << 62)
                return
            stream.read(16 + kept)
            yield from self._packet(link, seconds * 1_000_000_000 + part * unit, whole[16:], original)

    # pcapng

    def _pcapng(self) -> Iterator[Packet]:
        """The packets up to the end of the file, or to the header of a pcap file."""
        stream = self._stream
        order, links = "<", list[_Link]()
        is_first = True
        while self._number < MOST_PACKETS and (head := stream.peek(24)):
            if not is_first and _is_header(head) and head[:4] != _PCAPNG:
                return
            if head[:4] == _PCAPNG and head[8:12] in _ORDERS:
                order, links = _ORDERS[head[8:12]], []
                self._section += not is_first
            elif is_first:
                raise InputError(
                    f"{stream.file}: found no byte-order magic at byte 8, expected a section header of pcapng"
                )
            is_first = False
            kind, length = struct.unpack_from(f"{order}II", head) if len(head) >= 12 else (0, 0)
            if len(head) < 12 or not self._is_whole(order, kind, length):
                self._number += 1
                if self._search(partial(_is_block, order), 4, 4):
                    continue
                self._ends("packet")
                stream.skip(1 << 62)
                return
            if length > _MOST_BLOCK:
                # Longer blocks are TLS keys or from another program.
                stream.skip(length)
                continue
            body = stream.read(length)[8:-4]
            if kind == _INTERFACE:
                links.append(_link(body, order))
                if links[-1].kind >= 0:
                    self._links[links[-1].kind] = None
            elif kind in (_PACKET, _OLD_PACKET):
                self._number += 1
                yield from self._of_block(kind, body, order, links)
            elif kind == _SIMPLE_PACKET:
                self._number += 1
                self._left.counts["packets without a time (simple packet blocks)"] += 1

    def _is_whole(self, order: str, kind: int, length: int) -> bool:
        """Reports whether the stream has a block of this length, with the same length at its end."""
        if length < 12 or length % 4:
            return False
        if length > _MOST_BLOCK:
            return kind not in _KNOWN_BLOCKS
        block = self._stream.peek(length)
        return len(block) == length and struct.unpack_from(f"{order}I", block, length - 4)[0] == length

    def _of_block(self, kind: int, body: bytes, order: str, links: list[_Link]) -> Iterator[Packet]:
        """The packet of an enhanced packet block, or of the older packet block."""
        if len(body) < 20:
            self._left.counts[_WRONG_LENGTH] += 1
            return
        at, high, low, kept, original = struct.unpack_from(f"{order}IIIII", body)
        if kind == _OLD_PACKET:
            at = struct.unpack_from(f"{order}H", body)[0]
        if kept > len(body) - 20:
            self._left.counts[_WRONG_LENGTH] += 1
            return
        link = links[at] if at < len(links) else _Link(-1, 1, 0)
        at_ns = (high << 32 | low) * 1_000_000_000 // link.unit + link.offset_s * 1_000_000_000
        yield from self._packet(link.kind, at_ns, body[20 : 20 + kept], original)

    def _search(self, is_there: Callable[[bytes, int], bool], step: int, least: int) -> bool:
        """Skips to the next whole packet or block; returns False if there is none nearby."""
        data = self._stream.peek(min(_SEARCHED, self._patience))
        for at in range(step, len(data) - least, step):
            if is_there(data, at):
                self._patience -= at
                self._stream.read(at)
                self._left.counts[_DAMAGED] += 1
                return True
        self._patience -= len(data)
        return False


def _is_header(head: bytes) -> bool:
    """Reports whether bytes are a capture header; the version rules out a packet whose time has the same bytes."""
    if head[:4] == _PCAPNG:
        return head[8:12] in _ORDERS
    return head[:4] in _PCAP and len(head) >= 8 and struct.unpack_from(f"{_PCAP[head[:4]][0]}HH", head, 4) == (2, 4)


def _is_record(record: struct.Struct, near_s: int, data: bytes, at: int) -> bool:
    """Reports whether `data` has a pcap packet with radiotap at `at`, followed by another packet or the end."""
    # The second byte of radiotap's version is always zero.
    if data[at + 16 : at + 18] != b"\0\0":
        return False
    seconds, _, kept, original = record.unpack_from(data, at)
    if not (8 <= kept <= original <= _MOST_KEPT and abs(seconds - near_s) < 86_400):
        return False
    end = at + 16 + kept
    return end == len(data) or (end + 16 <= len(data) and bool(abs(record.unpack_from(data, end)[0] - near_s) < 86_400))


def _is_block(order: str, data: bytes, at: int) -> bool:
    """Reports whether `data` has a pcapng block at `at`."""
    if data[at : at + 4] == _PCAPNG and (own := _ORDERS.get(data[at + 8 : at + 12])):
        order = own
    kind, length = struct.unpack_from(f"{order}II", data, at) if at + 8 <= len(data) else (0, 0)
    if kind not in _KNOWN_BLOCKS or not 12 <= length <= _MOST_BLOCK or length % 4 or at + length > len(data):
        return False
    return bool(struct.unpack_from(f"{order}I", data, at + length - 4)[0] == length)


def _link(body: bytes, order: str) -> _Link:
    """The interface that a block describes."""
    if len(body) < 8:
        return _Link(-1, 1, 0)
    unit, offset_s, at = 1_000_000, 0, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == 0:
            break
        # spec: draft-ietf-opsawg-pcapng 4.2 - if_tsresol: a power of ten, or of two with the highest bit; if_tsoffset
        # in seconds.
        if code == 9 and len(value) == 1:
            unit = int(2 ** (value[0] & 0x7F)) if value[0] & 0x80 else int(10 ** value[0])
        elif code == 14 and len(value) == 8:
            offset_s = struct.unpack(f"{order}q", value)[0]
        at += 4 + length + -length % 4
    return _Link(struct.unpack_from(f"{order}H", body)[0], unit, offset_s)
