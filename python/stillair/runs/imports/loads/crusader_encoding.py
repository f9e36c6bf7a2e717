"""Encoding of crusader results: snappy frames, and the subset of MessagePack that crusader uses.

Implemented here to avoid two dependencies. Malformed data raises `ValueError`.
"""

from functools import cache

_MOST = 1 << 28
"""Limit of unpacked bytes."""


@cache
def _table() -> list[int]:
    # spec: RFC 3720 appendix B.4 - CRC-32C with the reflected polynomial.
    made = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        made.append(crc)
    return made


def masked_crc(data: bytes) -> int:
    """Masked checksum of a snappy chunk."""
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    # spec: snappy framing_format.txt section 3 - rotated by 15 bits, and a constant added.
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def unframed(data: bytes) -> bytes:
    """Returns the content of snappy frames."""
    made, at, first = bytearray(), 0, True
    while at < len(data):
        kind, end = data[at], at + 4 + int.from_bytes(data[at + 1 : at + 4], "little")
        if end > len(data) or at + 4 > len(data):
            raise ValueError("the last chunk is cut off")
        chunk, at = data[at + 4 : end], end
        # spec: snappy framing_format.txt section 4 - the kinds of chunks.
        if first != (kind == 0xFF) or (first and chunk != b"sNaPpY"):
            raise ValueError("snappy's stream identifier is not at the beginning")
        first = False
        if kind > 1:
            if kind < 0x80:
                raise ValueError(f"a chunk of kind {kind}, which is not known")
            continue
        content = _uncompressed(chunk[4:]) if kind == 0 else chunk[4:]
        if masked_crc(content) != int.from_bytes(chunk[:4], "little"):
            raise ValueError("the check sum of a chunk is wrong")
        made += content
        if len(made) > _MOST:
            raise ValueError("more than 256 MiB unpacked")
    return bytes(made)


def _uncompressed(data: bytes) -> bytes:
    # spec: snappy format_description.txt - a length, then literals and copies.
    length, at, shift, made = 0, 0, 0, bytearray()
    while True:
        byte = _one(data, at)
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80 or shift > 28:
            break
    if length > 65536:
        raise ValueError("a chunk of more than 64 KiB")
    while at < len(data):
        tag, at = data[at], at + 1
        kind, count = tag & 3, (tag >> 2) + 1
        if kind == 0:
            extra = max(count - 60, 0)
            if extra:
                count = int.from_bytes(data[at : at + extra], "little") + 1
            at += extra
            made += data[at : at + count]
            at += count
        else:
            extra = (0, 1, 2, 4)[kind]
            offset = int.from_bytes(data[at : at + extra], "little")
            at += extra
            if kind == 1:
                count, offset = (tag >> 2 & 7) + 4, offset | tag >> 5 << 8
            if not 0 < offset <= len(made):
                raise ValueError("a copy from before the beginning")
            part = bytes(made[-offset:][:count])
            made += (part * (count // len(part) + 1))[:count]
        if len(made) > length:
            break
    if len(made) != length or at != len(data):
        raise ValueError("a chunk of another length than it says")
    return bytes(made)


def _one(data: bytes, at: int) -> int:
    if at >= len(data):
        raise ValueError("it is cut off")
    return data[at]


class Reader:
    """MessagePack decoder for maps, arrays, strings, unsigned integers, booleans and nil."""

    def __init__(self, data: bytes) -> None:
        """Starts at the first byte of `data`."""
        self._data, self.at = data, 0

    def whole(self, size: int, order: str = "big") -> int:
        """Returns an unsigned integer of `size` bytes."""
        part = self.take(size)
        return int.from_bytes(part, "big" if order == "big" else "little")

    def take(self, size: int) -> bytes:
        """Returns the next `size` bytes."""
        if self.at + size > len(self._data):
            raise ValueError("it is cut off")
        self.at += size
        return self._data[self.at - size : self.at]

    def end(self) -> None:
        """Raises a `ValueError` if bytes remain."""
        if self.at != len(self._data):
            raise ValueError(f"{len(self._data) - self.at} bytes after the end")

    def value(self, depth: int = 0) -> object:
        """The next value."""
        # spec: MessagePack specification, "Formats".
        tag = self.whole(1)
        if tag < 0x80:
            return tag
        if depth > 16:
            raise ValueError("tables nested too deep")
        if tag < 0x90 or tag in (0xDE, 0xDF):
            count = tag & 15 if tag < 0x90 else self.whole(2 if tag == 0xDE else 4)
            return {str(self.value(depth + 1)): self.value(depth + 1) for _ in range(count)}
        if tag < 0xA0 or tag in (0xDC, 0xDD):
            count = tag & 15 if tag < 0xA0 else self.whole(2 if tag == 0xDC else 4)
            return [self.value(depth + 1) for _ in range(count)]
        if tag < 0xC0 or tag in (0xD9, 0xDA, 0xDB):
            count = tag & 31 if tag < 0xC0 else self.whole(1 << (tag - 0xD9))
            return self.take(count).decode()
        if 0xCC <= tag <= 0xCF:
            return self.whole(1 << (tag - 0xCC))
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        raise ValueError(f"a value of kind {tag:#x}, which no result has")
