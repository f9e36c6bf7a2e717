"""A bit rate as a scenario names it, and how long a PPDU at it is.

Durations are those of `crates/model/src/wifi/phy`, worked out once more from the standard, as a capture tells only rate
and length.
"""

import re
from typing import NamedTuple

from stillair.runs.imports.facts import Rate

# spec: ieee80211-2020 19.5 and 21.5, ieee80211ax-2021 27.5 - coded bits on a subcarrier and stream, code rate, by MCS.
_MODULATIONS = (
    (1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6),
    (10, 3, 4), (10, 5, 6),
)  # fmt: skip
_TONES = {
    "ht": {20: 52, 40: 108},
    "vht": {20: 52, 40: 108, 80: 234, 160: 468},
    "he": {20: 234, 40: 468, 80: 980, 160: 1960},
}
_TRAINING = {1: 1, 2: 2, 3: 4, 4: 4}
_DSSS = {1.0: "dsss-1", 2.0: "dsss-2", 5.5: "cck-5.5", 11.0: "cck-11"}
_OFDM = (6, 9, 12, 18, 24, 36, 48, 54)
_MOST_STREAMS = 4
_GUARDS = (800, 1_600, 3_200)
_HIGHEST = {"ht": 31, "vht": 9, "he": 11}


class Mode(NamedTuple):
    """A rate by what it is made of."""

    family: str
    """`dsss`, `ofdm`, `ht`, `vht`, `he`"""
    mcs: int = 0
    """Of ht 0 to 31; of dsss and ofdm the rate in half Mbit/s."""
    streams: int = 1
    width_mhz: int = 20
    guard_ns: int = 800
    short_preamble: bool = False

    @property
    def name(self) -> str | None:
        """As a scenario has it; none for what the model does not know."""
        if self.family == "dsss":
            return _DSSS.get(self.mcs / 2)
        if self.family == "ofdm":
            return f"ofdm-{self.mcs // 2}" if self.mcs / 2 in _OFDM else None
        if self.streams > _MOST_STREAMS or self.width_mhz not in _TONES[self.family]:
            return None
        if self.family == "he":
            return f"he{self.width_mhz}-mcs{self.mcs}-nss{self.streams}-gi{self.guard_ns / 1000:g}"
        guard = "sgi" if self.guard_ns == 400 else "lgi"
        streams = "" if self.family == "ht" else f"-nss{self.streams}"
        return f"{self.family}{self.width_mhz}-mcs{self.mcs}{streams}-{guard}"

    @property
    def bits(self) -> int:
        """Data bits of a symbol."""
        if self.family in ("dsss", "ofdm"):
            return self.mcs * 2
        coded, over, under = _MODULATIONS[self.mcs % 8 if self.family == "ht" else self.mcs]
        return _TONES[self.family][self.width_mhz] * coded * over * self.streams // under

    @property
    def symbol_ns(self) -> int:
        """A symbol with its guard interval."""
        return (12_800 if self.family == "he" else 3_200) + self.guard_ns

    def mbps(self) -> float:
        """The data rate."""
        return self.mcs / 2 if self.family in ("dsss", "ofdm") else 1000 * self.bits / self.symbol_ns

    def duration_us(self, psdu: int, lower_band: bool) -> float:
        """A PPDU of so many bytes, from its preamble to its end."""
        extension = 6.0 if lower_band and self.family != "dsss" else 0.0
        if self.family == "dsss":
            return (96 if self.short_preamble else 192) + -(-16 * psdu // self.mcs)
        if self.family == "ofdm":
            return 20 + 4 * -(-(22 + 8 * psdu) // self.bits) + extension
        training = _TRAINING[self.streams]
        if self.family == "he":
            # LDPC has no tail; a training field is twice as long as the shortest for 0.8 and 1.6 us, else four times.
            field = (6_400 if self.guard_ns < 3_200 else 12_800) + self.guard_ns
            symbols = -(-(16 + 8 * psdu) // self.bits)
            return (36_000 + training * field + symbols * self.symbol_ns) / 1000 + extension
        encoders = -(-self.bits // 2_160) if self.family == "vht" else 1 + (self.bits > 1_200)
        symbols = -(-(16 + 8 * psdu + 6 * encoders) // self.bits)
        preamble = (36 if self.family == "vht" else 32) + 4 * training
        return preamble + 4 * -(-symbols * self.symbol_ns // 4_000) + extension


def told(text: str) -> Rate:
    """What iw prints behind `tx bitrate:`; a `ValueError` if it is none.

    linux: iw's station.c parse_bitrate (3.15 and 6.7) - the words behind the number, in the order of the years.
    """
    found = re.fullmatch(r"([\d.]+) MBit/s(.*)", text.strip())
    if not found:
        raise ValueError(text)
    mbps, words = float(found[1]), found[2]

    def number(word: str) -> int | None:
        at = re.search(rf"(?<![\w-]){word} (\d+)", words)
        return int(at[1]) if at else None

    at_width = re.search(r"(\d+)MHz", words)
    width = int(at_width[1]) if at_width else 20
    short = 400 if "short GI" in words else 800
    mode, guessed = None, False
    if (mcs := number("EHT-MCS")) is not None:
        # No rate of 802.11be is modelled: the next one that 802.11ax has.
        guard, guessed = _GUARDS[min(number("EHT-GI") or 0, 2)], True
        mode = Mode("he", min(mcs, 11), number("EHT-NSS") or 1, min(width, 160), guard)
    elif (mcs := number("HE-MCS")) is not None:
        mode = Mode("he", mcs, number("HE-NSS") or 1, width, _GUARDS[min(number("HE-GI") or 0, 2)])
    elif (mcs := number("VHT-MCS")) is not None:
        mode = Mode("vht", mcs, number("VHT-NSS") or 1, width, short)
    elif (mcs := number("MCS")) is not None:
        mode = Mode("ht", mcs, mcs // 8 + 1, width, short)
    if mode is not None:
        return Rate(mode.name if mode.mcs <= _HIGHEST[mode.family] else None, mbps, text.strip(), guessed)
    known = _DSSS.get(mbps) or (f"ofdm-{mbps:g}" if mbps in _OFDM else None)
    return Rate(known or _alone(mbps), mbps, text.strip(), guessed=known is None)


def _alone(mbps: float) -> str | None:
    """The first rate of so many Mbit/s, of the older standards first: drivers that name no MCS."""
    for family, highest in (("ht", 7), ("vht", 9), ("he", 11)):
        for streams in range(1, _MOST_STREAMS + 1):
            for width in _TONES[family]:
                for guard in (800, 1_600, 3_200) if family == "he" else (800, 400):
                    for mcs in range(highest + 1):
                        index = mcs + 8 * (streams - 1) if family == "ht" else mcs
                        mode = Mode(family, index, streams, width, guard)
                        if abs(mode.mbps() - mbps) < 0.06:
                            return mode.name
    return None


def parts(name: str) -> tuple[str, int, int]:
    """Of a scenario's rate: the standard, the width in MHz, the streams."""
    if found := re.match(r"ht(\d+)-mcs(\d+)", name):
        return "802.11n", int(found[1]), int(found[2]) // 8 + 1
    if found := re.match(r"vht(\d+)-mcs\d+-nss(\d+)", name):
        return "802.11ac", int(found[1]), int(found[2])
    if found := re.match(r"he(\d+)-mcs\d+-nss(\d+)", name):
        return "802.11ax", int(found[1]), int(found[2])
    return ("802.11a" if name.startswith("ofdm") else "802.11b"), 20, 1
