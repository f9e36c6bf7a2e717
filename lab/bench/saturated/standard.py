"""Rates, durations and lengths from the standard, implemented independently of both programs."""

import math
import re
from typing import NamedTuple

SIFS, SLOT = 16.0, 9.0
"""Interframe spaces at 5 GHz, in us."""
HEADERS = 28
"""UDP and IPv4 headers."""
# spec: ieee80211-2020 21.5, ieee80211ax-2021 27.5 - coded bits per tone and stream, and code rate, by MCS.
MODULATIONS = (
    (1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6),
    (10, 3, 4), (10, 5, 6),
)  # fmt: skip
TONES = {
    "ht": {20: 52, 40: 108},
    "vht": {20: 52, 40: 108, 80: 234, 160: 468},
    "he": {20: 234, 40: 468, 80: 980, 160: 1960},
}
REFERENCE = (6, 12, 18, 24, 36, 48, 54, 54, 54, 54, 54, 54)
"""Non-HT reference rate in Mbit/s of control responses, by MCS (ieee80211-2020 table 10-10)."""
CAPACITY = {"11a": "ofdm", "11n": "ht", "11ac": "vht", "11ax": "he"}


class Rate(NamedTuple):
    """A rate, by Stillair's name."""

    name: str
    kind: str
    width: int
    mcs: int
    guard: int
    """Guard interval in ns."""
    bits: int
    """Data bits per symbol."""
    symbol: float
    """Symbol duration in us, like all durations here."""
    preamble: float

    @property
    def mbps(self) -> float:
        """Data rate of the data field."""
        return self.bits / self.symbol

    @property
    def standard(self) -> str:
        """ns-3's name of the standard."""
        return next(name for name, kind in CAPACITY.items() if kind == self.kind)

    @property
    def mode(self) -> str:
        """ns-3's name of the rate, without width and guard interval."""
        return f"OfdmRate{self.mcs}Mbps" if self.kind == "ofdm" else f"{self.kind.capitalize()}Mcs{self.mcs}"

    @property
    def reference(self) -> int:
        """Reference rate of control responses and RTS, in Mbit/s."""
        return self.mcs if self.kind == "ofdm" else REFERENCE[self.mcs]


def rate(name: str) -> Rate:
    """Parses a rate with one stream: `ofdm-54`, `ht20-mcs7-lgi`, `vht80-mcs9-nss1-sgi`, `he80-mcs11-nss1-gi0.8`."""
    if found := re.fullmatch(r"ofdm-(\d+)", name):
        mbps = int(found[1])
        return Rate(name, "ofdm", 20, mbps, 800, 4 * mbps, 4.0, 20.0)
    found = re.fullmatch(r"(ht|vht|he)(\d+)-mcs(\d+)(?:-nss1)?-(lgi|sgi|gi([\d.]+))", name)
    if not found:
        message = f"{name} is no rate of one stream"
        raise ValueError(message)
    kind, width, mcs = found[1], int(found[2]), int(found[3])
    coded, times, by = MODULATIONS[mcs]
    bits = TONES[kind][width] * coded * times // by
    guard = round(1000 * float(found[5])) if found[5] else {"lgi": 800, "sgi": 400}[found[4]]
    # spec: ieee80211-2020 19.3.4, 21.3.4; ieee80211ax-2021 27.3.4 - one training field; HE's has the guard
    # interval of the data.
    preamble = {"ht": 36.0, "vht": 40.0, "he": 36.0 + (12.8 + 3.2 if guard == 3200 else 6.4 + guard / 1e3)}[kind]
    return Rate(name, kind, width, mcs, guard, bits, (12.8 if kind == "he" else 3.2) + guard / 1e3, preamble)


def ppdu(rate: Rate, psdu: int) -> float:
    """Duration of a PPDU at 5 GHz."""
    # spec: ieee80211-2020 17.4.3, 19.4.3, 21.4.3 - 16 service bits, 6 tail bits per encoder; with short guard
    # intervals, the end is aligned to 4 us.
    encoders = math.ceil(rate.bits / 2160) if rate.kind == "vht" else 1
    tail = 0 if rate.kind == "he" and rate.width > 20 else 6 * encoders
    data = math.ceil((16 + 8 * psdu + tail) / rate.bits) * rate.symbol
    return rate.preamble + (4 * math.ceil(data / 4 - 1e-9) if rate.guard == 400 else data)


def ofdm(mbps: int, psdu: int) -> float:
    """Duration of an OFDM frame."""
    return ppdu(rate(f"ofdm-{mbps}"), psdu)


def answer(rate: Rate, psdu: int) -> float:
    """Duration of a control response to a frame of this rate.

    It is sent at the highest of 6, 12 and 24 Mbit/s up to the reference rate.
    """
    return ofdm(max(basic for basic in (6, 12, 24) if basic <= rate.reference), psdu)


def mpdu(payload: int, packets: int = 1, header: int = 26) -> int:
    """Length of a data frame with this many datagrams, from MAC header to FCS."""
    packet = 8 + HEADERS + payload
    if packets == 1:
        return header + packet + 4
    inside = 14 + packet
    return header + (packets - 1) * (inside + -inside % 4) + inside + 4


def psdu(rate: Rate, frames: int, length: int) -> int:
    """Length of an aggregate of such frames. A single frame has a delimiter only in VHT and HE."""
    if frames == 1:
        return length + (4 if rate.kind in {"vht", "he"} else 0)
    subframe = 4 + length
    return (frames - 1) * (subframe + -subframe % 4) + subframe


class Limits(NamedTuple):
    """Limits of an aggregate."""

    frames: int
    bytes: int
    duration: float

    def frames_of(self, rate: Rate, length: int) -> int:
        """Frames of this length in the largest aggregate."""
        if rate.kind == "ofdm" or self.bytes == 0:
            return 1
        most = 1
        while (
            most < self.frames
            and psdu(rate, most + 1, length) <= self.bytes
            and ppdu(rate, psdu(rate, most + 1, length)) <= self.duration
        ):
            most += 1
        return most
