"""Radiotap headers: rate, channel, aggregate and check sequence of a frame."""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stillair.runs.imports.rates import MOST_STREAMS, Mode, nearest

# spec: radiotap.org/fields/defined - size and alignment of each field by its bit.
_FIELDS = {
    0: (8, 8), 1: (1, 1), 2: (1, 1), 3: (4, 2), 4: (2, 1), 5: (1, 1), 6: (1, 1), 7: (2, 2), 8: (2, 2), 9: (2, 2),
    10: (1, 1), 11: (1, 1), 12: (1, 1), 13: (1, 1), 14: (2, 2), 15: (2, 2), 16: (1, 1), 17: (1, 1), 18: (8, 4),
    19: (3, 1), 20: (8, 4), 21: (12, 2), 22: (12, 8), 23: (12, 2), 24: (12, 2), 25: (6, 2), 26: (1, 1), 27: (4, 2),
}  # fmt: skip
_FLAGS, _RATE, _CHANNEL, _MCS, _AMPDU, _VHT, _HE, _TLV = 1, 2, 3, 19, 20, 21, 23, 28
_SHORT_PREAMBLE, _FCS_AT_END, _BAD_FCS = 0x02, 0x10, 0x40
_DSSS = (2, 4, 11, 22)
_OFDM = (12, 18, 24, 36, 48, 72, 96, 108)
_USIG, _EHT = 33, 34
_BY_TLV = {32: "S1G (802.11ah)", _USIG: "EHT (802.11be) or newer", _EHT: "EHT (802.11be)"}
_HE_WIDTHS = (20, 40, 80, 160, 20, 20, 20, 20, 40, 80, 160)
"""Width in MHz by code; from 4 on, the smallest channel with the resource unit."""

_HT_DUPLICATE = 32
NO_RATE = "no rate in the header"


class Radio(NamedTuple):
    """Values of a header."""

    length: int
    """Length of the header."""
    mode: Mode | None
    """Rate; `None` if it is unknown, or its durations are."""
    why: str
    """Reason why the rate is not modelled; empty if it is."""
    mhz: int | None
    aggregate: int | None
    """Number of the A-MPDU."""
    has_fcs: bool
    broken: bool
    near: str | None = None
    """Nearest modelled rate, if the frame's is known but not modelled."""


def read(packet: bytes) -> Radio:
    """The header at the beginning of a packet; a `ValueError` if it is damaged."""
    if len(packet) < 8:
        raise ValueError(f"{len(packet)} bytes")
    version, _, length, present = struct.unpack_from("<BBHI", packet)
    if version or not 8 <= length <= len(packet):
        raise ValueError(f"version {version}, a length of {length}")
    offset, word = 8, present
    while word >> 31:
        if offset + 4 > length:
            raise ValueError("words of present fields without end")
        word = struct.unpack_from("<I", packet, offset)[0]
        offset += 4
    fields: dict[int, bytes] = {}
    for bit, (size, alignment) in _FIELDS.items():
        if present >> bit & 1:
            offset += -offset % alignment
            if offset + size > length:
                raise ValueError(f"field {bit} extends past its end")
            fields[bit] = packet[offset : offset + size]
            offset += size
    flags = fields[_FLAGS][0] if _FLAGS in fields else 0
    tlvs = packet[offset + -offset % 4 : length] if present >> _TLV & 1 else b""
    newer = _newer(tlvs)
    mode, why = (None, newer) if newer else _mode(fields, flags)
    near = _near(mode, fields, tlvs if newer else b"") if why and why != NO_RATE else None
    mhz = struct.unpack_from("<H", fields[_CHANNEL])[0] if _CHANNEL in fields else None
    reference = struct.unpack_from("<I", fields[_AMPDU])[0] if _AMPDU in fields else None
    return Radio(length, mode, why, mhz, reference, bool(flags & _FCS_AT_END), bool(flags & _BAD_FCS), near)


def _tlvs(tlvs: bytes) -> Iterator[tuple[int, bytes]]:
    """Returns the TLV fields."""
    offset = 0
    while offset + 4 <= len(tlvs):
        kind, length = struct.unpack_from("<HH", tlvs, offset)
        yield kind, tlvs[offset + 4 : offset + 4 + length]
        offset += 4 + length + -length % 4


def _newer(tlvs: bytes) -> str:
    """Returns the standard of the TLV fields; empty without these."""
    kinds = [kind for kind, _ in _tlvs(tlvs) if kind in _BY_TLV]
    return _BY_TLV[_EHT if _EHT in kinds else kinds[0]] if kinds else ""


def _near(mode: Mode | None, fields: Mapping[int, bytes], tlvs: bytes) -> str | None:
    """The nearest modelled rate; `None` if the header does not have the frame's."""
    if mode is not None:
        return nearest(mode.family, mode.mbps(), mode).name
    if tlvs:
        return _near_eht(dict(_tlvs(tlvs)))
    if _HE in fields:
        return _near_he(fields[_HE])
    if _VHT in fields:
        return _near_vht(fields[_VHT])
    return _near_ht(fields[_MCS]) if _MCS in fields else nearest("ofdm", fields[_RATE][0] / 2).name


def _near_ht(field: bytes) -> str | None:
    known, bits, index = field
    if not known & 0x02 or not _HT_DUPLICATE < index <= 76:
        return None
    # spec: ieee80211-2020 19.5 - 33 to 38: two streams, to 52: three, to 76: four; MCS 3 is within their range.
    streams = 2 if index < 39 else 3 if index < 53 else 4
    width = 40 if bits & 3 == 1 else 20
    return Mode("ht", 8 * streams - 5, streams, width, 400 if bits & 4 else 800).name


def _near_vht(field: bytes) -> str | None:
    known, bits, code = struct.unpack_from("<HBB", field)
    user = next((one for one in field[4:8] if one & 0xF), 0)
    if not user or not known & 0x0040 or code > 25:
        return None
    own = Mode("vht", min(user >> 4, 11), user & 0xF, _vht_width(code), 400 if bits & 4 else 800)
    return nearest("vht", own.mbps(), own).name


def _near_he(field: bytes) -> str | None:
    data1, _, data3, _, data5, data6 = struct.unpack("<6H", field)
    code = data5 & 0xF
    if not data1 & 0x0020 or not data1 & 0x4000 or code >= len(_HE_WIDTHS):
        return None
    guard = (800, 1_600, 3_200)[min(data5 >> 4 & 3, 2)]
    own = Mode("he", min(data3 >> 8 & 0xF, 13), max(data6 & 0xF, 1), _HE_WIDTHS[code], guard)
    dcm = 2 if data1 & 0x1000 and data3 & 0x1000 else 1
    return nearest("he", own.mbps() / dcm, own).name


def _near_eht(fields: Mapping[int, bytes]) -> str | None:
    # spec: radiotap.org/fields/EHT, U-SIG - guard interval in data 0, MCS and streams of the user, width in U-SIG.
    usig, eht = fields.get(_USIG, b""), fields.get(_EHT, b"")
    if len(usig) < 4 or len(eht) < 44:
        return None
    common, first, user = (struct.unpack_from("<I", of, at)[0] for of, at in ((usig, 0), (eht, 4), (eht, 40)))
    if not common & 0x2 or not user & 0x2 or not user & 0x10:
        return None
    width = (20, 40, 80, 160, 320, 320)[min(common >> 15 & 7, 5)]
    guard = (800, 1_600, 3_200)[min(first >> 7 & 3, 2)]
    mcs = user >> 20 & 0xF
    # MCS 14 and 15 repeat the bits of MCS 0.
    own = Mode("eht", mcs if mcs < 14 else 0, (user >> 24 & 0xF) + 1, width, guard)
    return nearest("eht", own.mbps(), own).name


def _mode(fields: Mapping[int, bytes], flags: int) -> tuple[Mode | None, str]:
    if _HE in fields:
        return _he(fields[_HE])
    if _VHT in fields:
        return _vht(fields[_VHT])
    if _MCS in fields:
        return _ht(fields[_MCS])
    if _RATE in fields and fields[_RATE][0]:
        rate = fields[_RATE][0]
        if rate not in (*_DSSS, *_OFDM):
            return None, f"{rate / 2:g} Mbit/s"
        return Mode("dsss" if rate in _DSSS else "ofdm", rate, short_preamble=bool(flags & _SHORT_PREAMBLE)), ""
    return None, NO_RATE


def _he(field: bytes) -> tuple[Mode | None, str]:
    # spec: radiotap.org/fields/HE - MCS and DCM in data 3, width and guard interval in data 5, streams in data 6.
    data1, _, data3, _, data5, data6 = struct.unpack("<6H", field)
    mcs, streams, code = data3 >> 8 & 0xF, max(data6 & 0xF, 1), data5 & 0xF
    if not data1 & 0x0020 or not data1 & 0x4000:
        return None, "HE without its MCS or width in the header"
    if code > 3:
        return None, "HE on a part of the channel (OFDMA)" if code <= 10 else "HE of unknown width"
    if mcs > 11:
        return None, "HE MCS 12 and above"
    if data1 & 0x1000 and data3 & 0x1000:
        return None, "HE with dual carrier modulation (DCM)"
    guard = (800, 1_600, 3_200)[min(data5 >> 4 & 3, 2)]
    return _of(Mode("he", mcs, streams, (20, 40, 80, 160)[code], guard))


def _vht(field: bytes) -> tuple[Mode | None, str]:
    known, bits, code = struct.unpack_from("<HBB", field)
    # spec: radiotap.org/fields/VHT - four users; a user without streams is unused.
    user = next((one for one in field[4:8] if one & 0xF), 0)
    mcs, streams = user >> 4, user & 0xF
    if not streams:
        return None, "VHT without its streams in the header"
    if not known & 0x0040 or code > 25:
        return None, "VHT of unknown width"
    if mcs > 9:
        return None, "VHT MCS 10 and above"
    return _of(Mode("vht", mcs, streams, _vht_width(code), 400 if bits & 4 else 800))


def _vht_width(code: int) -> int:
    # spec: radiotap.org/fields/VHT - 0: 20, 1 to 3: 40, 4 to 10: 80, 11 and more: 160 MHz.
    return 20 if code == 0 else 40 if code <= 3 else 80 if code <= 10 else 160


def _ht(field: bytes) -> tuple[Mode | None, str]:
    known, bits, index = field
    if not known & 0x02:
        return None, "HT without its MCS in the header"
    guard = 400 if bits & 4 else 800
    # spec: ieee80211-2020 19.5 - 32: one stream, 40 MHz only; 33 to 76: streams of unequal modulation.
    if index == _HT_DUPLICATE:
        return Mode("ht", index, 1, 40, guard), "HT MCS 32"
    if index > 76:
        return None, "HT MCS 77 and above"
    if index > _HT_DUPLICATE:
        return None, "HT MCS 33 to 76 (unequal modulation)"
    return Mode("ht", index, index // 8 + 1, 40 if bits & 3 == 1 else 20, guard), ""


def _of(mode: Mode) -> tuple[Mode | None, str]:
    """Returns a VHT or HE mode, and the reason if it is not modelled."""
    family = mode.family.upper()
    if mode.streams > 8:
        return None, f"{family} with more than 8 streams"
    if mode.streams > MOST_STREAMS:
        return mode, f"{family} with 5 to 8 streams"
    if mode.name is None:
        streams = f"{mode.streams} stream{'s' if mode.streams > 1 else ''}"
        return mode, f"VHT MCS {mode.mcs} at {mode.width_mhz} MHz with {streams}, which the standard excludes"
    return mode, ""
