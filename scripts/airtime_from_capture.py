#!/usr/bin/env python3
"""Adds up airtime from a capture alone: pcapng with radiotap in, microseconds by use out.

    scripts/airtime_from_capture.py FILE.pcapng [--least 256] [--density 8]

Independent of the program that wrote the capture: it parses the bytes itself, and computes PPDU durations
from rate and length by the formulas of IEEE 802.11 (2016: 17.4.3 for OFDM, 19.4.3 for HT-mixed; 2020: 21.4.3
for VHT; 802.11ax-2021: 27.4.3 for HE, a single user's PPDU with LDPC and without packet extension). Its
results can therefore be compared with the run's accounting. An MPDU counts by its length, whether it contains
one packet or several (A-MSDU). Captures do not show empty delimiters between the frames of an A-MPDU:
`--least` and `--density` state what the sender inserts (ath9k: up to 256 bytes per MPDU, and the bytes of 8
us at the rate). VHT and HE have none between MPDUs. A PPDU cut off by the end of the run is only in the run's
accounting.

A capture does not show which stations hear each other either. Overlapping PPDUs count as a `collision` here,
from the start of the first to the end of the last. A run accounts for them in the same way if all stations
hear each other. On a channel with hidden stations it only books the time of simultaneous frames
(`overlap_us`), and the rest of each frame by its own use. There, only the sum of all uses can be compared
with the sum of the run's accounting, less `idle_us` and `contention_us`.
"""

import argparse
import json
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

SECTION_HEADER = b"\x0a\x0d\x0d\x0a"
RADIOTAP = 127
OFDM_PREAMBLE_NS = 20_000
USES = ("data", "ack", "beacon", "management", "protection", "collision")

RTS, CTS = 0xB4, 0xC4
KINDS = {0x88: "data", 0xD4: "ack", 0x94: "ack", 0x80: "beacon", RTS: "protection", CTS: "protection"}
"""Uses by the first byte of frame control; all other frames are management frames and Block Ack requests."""

# Radiotap fields up to HE: size and alignment by bit.
FIELDS = {
    0: (8, 8), 1: (1, 1), 2: (1, 1), 3: (4, 2), 4: (2, 2), 5: (1, 1), 6: (1, 1), 7: (2, 2), 8: (2, 2), 9: (2, 2),
    10: (1, 1), 11: (1, 1), 12: (1, 1), 13: (1, 1), 14: (2, 2), 15: (2, 2), 16: (1, 1), 17: (1, 1), 18: (8, 4),
    19: (3, 1), 20: (8, 4), 21: (12, 2), 22: (12, 8), 23: (12, 2),
}  # fmt: skip
FLAGS, RATE, CHANNEL, MCS, AMPDU, VHT, HE = 1, 2, 3, 19, 20, 21, 23
VHT_WIDTHS = {0: 20, 1: 40, 4: 80, 11: 160}
HE_WIDTHS = {0: 20, 1: 40, 2: 80, 3: 160}
DSSS = (2, 4, 11, 22)
"""802.11b rates in 500 kbit/s; OFDM has none of them."""


class Wide(NamedTuple):
    """A VHT or HE rate."""

    mcs: int
    width: int
    """In MHz."""
    guard: int
    """Guard interval in ns."""
    streams: int
    he: bool


@dataclass
class Frame:
    """A frame of the capture."""

    start: int
    """Start of its PPDU in ns."""
    length: int
    """Length of the MPDU including FCS."""
    kind: int
    """Type and subtype: the first byte of frame control."""
    rate: tuple[int, ...]
    """(500 kbit/s, short preamble), (MCS, width in MHz, short guard interval), or :class:`Wide`."""
    lower_band: bool
    reference: int | None
    """Number of its A-MPDU."""


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Airtime from a capture alone, in microseconds by use.",
        epilog="A capture does not tell who hears whom: PPDUs that overlap are a collision as a whole. Where stations"
        " are hidden from each other the accounts of a run split them (overlap_us): there hold only the sum of all uses"
        " against theirs without idle_us and contention_us.",
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--least", type=int, default=256, help="bytes that an MPDU is filled up to")
    parser.add_argument("--density", type=int, default=8, help="least us from MPDU to MPDU")
    arguments = parser.parse_args()
    try:
        uses = airtime(arguments.file, arguments.least, arguments.density)
    except OSError as error:
        sys.exit(f"{arguments.file}: {error.strerror}")
    except struct.error:
        sys.exit(f"{arguments.file}: the capture is cut off")
    report = {name: {f"{use}_us": ns / 1_000 for use, ns in by.items()} for name, by in uses.items()}
    print(json.dumps(report, indent=1))
    return 0


def airtime(file: Path, least: int = 256, density: int = 8) -> dict[str, dict[str, int]]:
    """Nanoseconds by use for each radiotap interface of the file."""
    names: list[str] = []
    frames: dict[int, list[Frame]] = {}
    for interface, name, frame in read(file.read_bytes()):
        if frame is None:
            names.append(name)
            frames[interface] = []
        else:
            frames[interface].append(frame)
    return {name: add_up(frames[n], least, density) for n, name in zip(frames, names, strict=True)}


def add_up(frames: list[Frame], least: int, density: int) -> dict[str, int]:
    """Time of each use. Overlapping PPDUs are a collision; a SIFS precedes each control response."""
    total = dict.fromkeys(USES, 0)
    overlapping: list[tuple[int, int, str, int]] = []
    for ppdu in [*ppdus(frames, least, density), None]:
        if ppdu is not None and overlapping and ppdu[0] < max(end for _, end, _, _ in overlapping):
            overlapping.append(ppdu)
            continue
        if len(overlapping) > 1:
            total["collision"] += max(end for _, end, _, _ in overlapping) - min(begin for begin, *_ in overlapping)
        for begin, end, use, gap in overlapping if len(overlapping) == 1 else ():
            total[use] += end - begin + gap
        overlapping = [ppdu] if ppdu is not None else []
    return total


def ppdus(frames: list[Frame], least: int, density: int) -> Iterator[tuple[int, int, str, int]]:
    """Start, end, use, and the gap before or after it that belongs to the use."""
    groups: list[list[Frame]] = []
    by_reference: dict[int, list[Frame]] = {}
    for frame in frames:
        if frame.reference is None:
            groups.append([frame])
        elif frame.reference in by_reference:
            by_reference[frame.reference].append(frame)
        else:
            by_reference[frame.reference] = [frame]
            groups.append(by_reference[frame.reference])
    for group in groups:
        first = group[0]
        length = psdu(group, least, density)
        use = KINDS.get(first.kind, "management")
        sifs = 10_000 if first.lower_band else 16_000
        end = first.start + duration(first.rate, length, first.lower_band)
        # The SIFS before a control response counts with it, the SIFS after a protection frame with that
        # frame. After a CTS-to-self the sender continues, collision or not; after an RTS it waits for the
        # CTS.
        if first.kind == CTS:
            end += sifs
        yield first.start, end, use, sifs if use == "ack" or first.kind == RTS else 0


def psdu(group: list[Frame], least: int, density: int) -> int:
    """Length of a PPDU. In an A-MPDU, includes delimiters, and padding except after the last MPDU."""
    if group[0].reference is None:
        return group[0].length
    total = 0
    for n, frame in enumerate(group):
        subframe = 4 + frame.length
        if n + 1 < len(group):
            subframe += -subframe % 4
            if isinstance(group[0].rate, Wide):
                total += subframe
                continue
            dense = bits_per_symbol(group[0].rate) * (density * 1_000 // symbol(group[0].rate)) // 8
            subframe += 4 * max(-(-(least - frame.length) // 4), (dense - frame.length) // 4, 0)
        total += subframe
    return total


def bits_per_symbol(rate: tuple[int, ...]) -> int:
    """Data bits per symbol over all streams."""
    if len(rate) == 2:
        return rate[0] * 2
    # Bits per subcarrier, and the code rate as a fraction.
    modulation = [(1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6)]
    modulation += [(8, 3, 4), (8, 5, 6), (10, 3, 4), (10, 5, 6)]
    if isinstance(rate, Wide):
        bits, over, under = modulation[rate.mcs]
        tones = {20: 234, 40: 468, 80: 980, 160: 1960} if rate.he else {20: 52, 40: 108, 80: 234, 160: 468}
        return tones[rate.width] * bits * over * rate.streams // under
    mcs, width, _ = rate
    bits, over, under = modulation[mcs % 8]
    return {20: 52, 40: 108}[width] * bits * over * (mcs // 8 + 1) // under


def symbol(rate: tuple[int, ...]) -> int:
    """Symbol duration in ns."""
    if isinstance(rate, Wide):
        return (12_800 if rate.he else 3_200) + rate.guard
    return 3_600 if len(rate) == 3 and rate[2] else 4_000


def duration(rate: tuple[int, ...], length: int, lower_band: bool) -> int:
    """TXTIME in ns."""
    extension = 6_000 if lower_band else 0
    if len(rate) == 2 and rate[0] in DSSS:
        return (96_000 if rate[1] else 192_000) + -(-16 * length // rate[0]) * 1_000
    if len(rate) == 2:
        symbols = -(-(16 + 8 * length + 6) // bits_per_symbol(rate))
        return OFDM_PREAMBLE_NS + 4_000 * symbols + extension
    if isinstance(rate, Wide):
        return wide_duration(rate, length) + extension
    streams = rate[0] // 8 + 1
    encoders = 2 if bits_per_symbol(rate) > 1_200 else 1
    symbols = -(-(16 + 8 * length + 6 * encoders) // bits_per_symbol(rate))
    training = {1: 1, 2: 2, 3: 4, 4: 4}[streams]
    # Legacy preamble, HT-SIG, HT-STF, HT-LTFs; data rounded up to legacy symbols.
    return OFDM_PREAMBLE_NS + 8_000 + 4_000 + 4_000 * training + -(-symbols * symbol(rate) // 4_000) * 4_000 + extension


def wide_duration(rate: Wide, length: int) -> int:
    """TXTIME of VHT and HE in ns, without the extension of 2.4 GHz."""
    training = {1: 1, 2: 2, 3: 4, 4: 4}[rate.streams]
    bits = 16 + 8 * length
    if rate.he:
        # Legacy preamble, RL-SIG, HE-SIG-A, HE-STF, HE-LTFs, which are half as long with guard intervals of
        # 0.8 and 1.6 us.
        field = (12_800 if rate.guard == 3_200 else 6_400) + rate.guard
        return (
            OFDM_PREAMBLE_NS
            + 4_000
            + 8_000
            + 4_000
            + field * training
            + -(-bits // bits_per_symbol(rate)) * symbol(rate)
        )
    # One encoder per 2,160 bits of a symbol, but never five. Legacy preamble, VHT-SIG-A, VHT-STF, VHT-LTFs,
    # VHT-SIG-B.
    encoders = -(-bits_per_symbol(rate) // 2_160)
    encoders = 6 if encoders == 5 else encoders
    data = -(-(bits + 6 * encoders) // bits_per_symbol(rate)) * symbol(rate)
    return OFDM_PREAMBLE_NS + 8_000 + 4_000 + 4_000 * training + 4_000 + -(-data // 4_000) * 4_000


def read(capture: bytes) -> Iterator[tuple[int, str, Frame | None]]:
    """Radiotap interfaces of a pcapng file (without a frame), and their frames."""
    if not capture.startswith(SECTION_HEADER):
        sys.exit("not a pcapng file")
    names: list[str | None] = []
    offset = 0
    while offset < len(capture):
        kind, length = struct.unpack_from("<II", capture, offset)
        if length < 12 or offset + length > len(capture):
            sys.exit("the capture is cut off")
        body = capture[offset + 8 : offset + length - 4]
        offset += length
        if kind == 1:
            link_type, _, _ = struct.unpack_from("<HHI", body)
            options = dict(read_options(body[8:]))
            if options.get(9) != b"\x09":
                sys.exit("times must be in nanoseconds")
            names.append(options[2].decode() if link_type == RADIOTAP else None)
            if names[-1] is not None:
                yield len(names) - 1, names[-1], None
        elif kind == 6:
            interface, high, low, kept, original = struct.unpack_from("<IIIII", body)
            name = names[interface]
            if name is not None:
                yield interface, name, read_frame(high << 32 | low, body[20 : 20 + kept], original)


def read_options(options: bytes) -> Iterator[tuple[int, bytes]]:
    """Option codes and values."""
    offset = 0
    while offset + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, offset)
        yield code, options[offset + 4 : offset + 4 + length]
        offset += 4 + length + -length % 4


def read_frame(start: int, packet: bytes, original: int) -> Frame:
    """Parses the radiotap header and the first byte of the frame."""
    _, _, length, present = struct.unpack_from("<BBHI", packet)
    fields, offset = {}, 8
    for bit in range(32):
        if present >> bit & 1:
            size, alignment = FIELDS[bit]
            offset += -offset % alignment
            fields[bit] = packet[offset : offset + size]
            offset += size
    frequency, _ = struct.unpack("<HH", fields[CHANNEL])
    rate: tuple[int, ...]
    if MCS in fields:
        _, flags, index = fields[MCS]
        rate = (index, 40 if flags & 3 == 1 else 20, flags >> 2 & 1)
    elif VHT in fields:
        _, flags, width, user = struct.unpack_from("<HBBB", fields[VHT])
        rate = Wide(user >> 4, VHT_WIDTHS[width], 400 if flags & 4 else 800, user & 15, False)
    elif HE in fields:
        _, _, what, _, how, streams = struct.unpack("<6H", fields[HE])
        rate = Wide(what >> 8 & 15, HE_WIDTHS[how & 15], (800, 1_600, 3_200)[how >> 4 & 3], streams & 15, True)
    else:
        rate = (fields[RATE][0], fields[FLAGS][0] >> 1 & 1)
    reference = struct.unpack_from("<I", fields[AMPDU])[0] if AMPDU in fields else None
    return Frame(start, original - length, packet[length], rate, frequency < 3_000, reference)


if __name__ == "__main__":
    sys.exit(main())
