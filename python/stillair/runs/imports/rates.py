"""Bit rates and channel widths by scenario name, and PPDU durations.

Durations duplicate those of `crates/model/src/wifi/phy`, from the standard, because a capture has only rate
and length.
"""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from stillair.runs.imports.facts import Rate

# spec: ieee80211-2020 19.5 and 21.5, ieee80211ax-2021 27.5 - coded bits per subcarrier and stream, and code
# rate, by MCS.
_MODULATIONS = (
    (1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6),
    (10, 3, 4), (10, 5, 6), (12, 3, 4), (12, 5, 6),
)  # fmt: skip
_TONES = {
    "ht": {20: 52, 40: 108},
    "vht": {20: 52, 40: 108, 80: 234, 160: 468},
    "he": {20: 234, 40: 468, 80: 980, 160: 1960},
    "eht": {20: 234, 40: 468, 80: 980, 160: 1960, 320: 3920},
}
# spec: ieee80211-2020 table 21-13 - long training fields by number of streams; the same in 802.11ax.
_TRAINING = {1: 1, 2: 2, 3: 4, 4: 4, 5: 6, 6: 6, 7: 8, 8: 8}
_HT_DUPLICATE = 32
"""HT MCS that duplicates its data on both halves of 40 MHz: one stream, 6.0 Mbit/s."""
# spec: ieee80211-2020 21.5 - width, streams and MCS of excluded rates, whose bits do not divide among the
# encoders.
_VHT_EXCLUDED = ((20, 1, 9), (20, 2, 9), (20, 4, 9), (80, 3, 6), (160, 3, 9))
_DSSS = {1.0: "dsss-1", 2.0: "dsss-2", 5.5: "cck-5.5", 11.0: "cck-11"}
_OFDM = (6, 9, 12, 18, 24, 36, 48, 54)
MOST_STREAMS = 4
"""Streams of the fastest modelled rates."""
_GUARDS = (800, 1_600, 3_200)
_HIGHEST = {"ht": 31, "vht": 9, "he": 11, "eht": -1}
"""Highest modelled MCS; -1 because EHT is not modelled."""
_MOST_MCS = {"ht": _HT_DUPLICATE, "vht": 11, "he": 13, "eht": 13}
"""Highest MCS with known Mbit/s: VHT 10 and 11 and HE 12 and 13 are vendor extensions."""


class Mode(NamedTuple):
    """A rate as its parameters."""

    family: str
    """`dsss`, `ofdm`, `ht`, `vht`, `he`, `eht`"""
    mcs: int = 0
    """MCS, for HT from 0 to 32; for DSSS and OFDM the rate in units of 500 kbit/s."""
    streams: int = 1
    width_mhz: int = 20
    guard_ns: int = 800
    short_preamble: bool = False

    @property
    def name(self) -> str | None:
        """Scenario name of the rate; `None` if it is not modelled."""
        if self.family in ("dsss", "ofdm"):
            known = f"ofdm-{self.mcs // 2}" if self.mcs / 2 in _OFDM else None
            return _DSSS.get(self.mcs / 2) if self.family == "dsss" else known
        is_excluded = self.family == "vht" and (self.width_mhz, self.streams, self.mcs) in _VHT_EXCLUDED
        if is_excluded or self.mcs > _HIGHEST[self.family] or self.streams > MOST_STREAMS:
            return None
        if self.width_mhz not in _TONES[self.family]:
            return None
        if self.family == "he":
            return f"he{self.width_mhz}-mcs{self.mcs}-nss{self.streams}-gi{self.guard_ns / 1000:g}"
        guard = "sgi" if self.guard_ns == 400 else "lgi"
        streams = "" if self.family == "ht" else f"-nss{self.streams}"
        return f"{self.family}{self.width_mhz}-mcs{self.mcs}{streams}-{guard}"

    @property
    def bits(self) -> int:
        """Data bits per symbol."""
        if self.family in ("dsss", "ofdm"):
            return self.mcs * 2
        if self.family == "ht" and self.mcs == _HT_DUPLICATE:
            return 24
        coded, over, under = _MODULATIONS[self.mcs % 8 if self.family == "ht" else self.mcs]
        return _TONES[self.family][self.width_mhz] * coded * over * self.streams // under

    @property
    def symbol_ns(self) -> int:
        """Symbol duration, including the guard interval."""
        return (12_800 if self.family in ("he", "eht") else 3_200) + self.guard_ns

    def mbps(self) -> float:
        """The data rate."""
        return self.mcs / 2 if self.family in ("dsss", "ofdm") else 1000 * self.bits / self.symbol_ns

    def duration_us(self, psdu: int, lower_band: bool) -> float:
        """Duration of a PPDU of `psdu` bytes, including the preamble."""
        extension = 6.0 if lower_band and self.family != "dsss" else 0.0
        if self.family == "dsss":
            return (96 if self.short_preamble else 192) + -(-16 * psdu // self.mcs)
        if self.family == "ofdm":
            return 20 + 4 * -(-(22 + 8 * psdu) // self.bits) + extension
        training = _TRAINING[self.streams]
        if self.family == "he":
            # LDPC has no tail bits. A training field takes twice the shortest duration with 0.8 and 1.6 us,
            # else four times.
            field = (6_400 if self.guard_ns < 3_200 else 12_800) + self.guard_ns
            symbols = -(-(16 + 8 * psdu) // self.bits)
            return (36_000 + training * field + symbols * self.symbol_ns) / 1000 + extension
        encoders = -(-self.bits // 2_160) if self.family == "vht" else 1 + (self.bits > 1_200)
        symbols = -(-(16 + 8 * psdu + 6 * encoders) // self.bits)
        preamble = (36 if self.family == "vht" else 32) + 4 * training
        return preamble + 4 * -(-symbols * self.symbol_ns // 4_000) + extension


def told(text: str, *, family: str = "", mcs: int | None = None, nss: int | None = None) -> Rate:
    """Parses the rate that iw prints after `tx bitrate:`; raises a `ValueError` for other text.

    `family`, `mcs` and `nss` narrow a text that has only Mbit/s.

    linux: iw's station.c parse_bitrate (3.15 and 6.7) - words after the number, oldest first.
    """
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?) [Mm][Bb]it/s(.*)", text.strip())
    if not found:
        raise ValueError(text)
    mbps, words = float(found[1]), found[2]
    if mbps == 0:
        return Rate(None, mbps, text.strip())

    def number(word: str) -> int | None:
        at = re.search(rf"(?<![\w-]){word} (\d+)", words)
        return int(at[1]) if at else None

    at_width = re.search(r"(\d+)MHz", words)
    # iw prints 80+80 MHz as 80P80MHz; its rates equal those of 160 MHz.
    width = 160 if "80P80MHz" in words else int(at_width[1]) if at_width else 20
    short = 400 if "short GI" in words else 800
    mode = None
    if (eht := number("EHT-MCS")) is not None:
        guard = _GUARDS[min(number("EHT-GI") or 0, 2)]
        mode = Mode("eht", eht, number("EHT-NSS") or 1, width, guard)
    elif (he := number("HE-MCS")) is not None:
        mode = Mode("he", he, number("HE-NSS") or 1, width, _GUARDS[min(number("HE-GI") or 0, 2)])
    elif (vht := number("VHT-MCS")) is not None:
        mode = Mode("vht", vht, number("VHT-NSS") or 1, width, short)
    elif (ht := number("MCS")) is not None:
        mode = Mode("ht", ht, ht // 8 + 1, width, short)
    if mode is not None:
        return _of_mode(mode, mbps, text.strip())
    if family == "eht" and (own := _of_eht(mbps, mcs, nss)):
        return Rate(nearest("eht", mbps, own).name, mbps, text.strip(), guessed=True)
    known = _DSSS.get(mbps) or (f"ofdm-{mbps:g}" if mbps in _OFDM else None)
    if known is None or (family and mcs is not None):
        families = (family,) if family else ("ht", "vht", "he")
        alone, doubt = _alone(mbps, families, mcs, nss), ""
        if alone is None and mcs is not None:
            alone = _alone(mbps, families, None, nss)
            doubt = f"{mbps:g} Mbit/s contradicts {family.upper()} MCS {mcs}" if family != "eht" else ""
        alone = alone or nearest(family or ("ofdm" if mbps <= _OFDM[-1] else "he"), mbps).name
        return Rate(alone, mbps, text.strip(), guessed=True, doubt=doubt)
    return Rate(known, mbps, text.strip())


def _of_mode(mode: Mode, mbps: float, text: str) -> Rate:
    """Returns the rate of an MCS, or the nearest modelled rate."""
    has_mbps = mode.width_mhz in _TONES[mode.family] and mode.mcs <= _MOST_MCS[mode.family]
    # OFDMA resource units and DCM have less than the channel's rate.
    if "-RU" in text:
        own = mode if mode.name else nearest(mode.family, mode.mbps() if has_mbps else mbps, mode)
        return Rate(own.name, mbps, text, guessed=True)
    if re.search(r"-DCM [1-9]", text):
        return Rate(nearest(mode.family, mbps, mode).name, mbps, text, guessed=True)
    if not has_mbps:
        return Rate(nearest(mode.family, mbps, mode).name, mbps, text, guessed=True)
    own, doubt, is_one = _of_guard(mode, mbps)
    if own.name is None:
        return Rate(nearest(own.family, own.mbps(), own).name, mbps, text, guessed=True, doubt=doubt)
    return Rate(own.name, mbps, text, guessed=not is_one, doubt=doubt)


def _of_guard(mode: Mode, mbps: float) -> tuple[Mode, str, bool]:
    """The mode with the guard interval that fits its Mbit/s, the contradiction or empty, and true if one fits."""
    given = f"MCS {mode.mcs}, {mode.width_mhz} MHz, {mode.streams} stream{'s' if mode.streams > 1 else ''}"
    has = f"{mbps:g} Mbit/s contradicts {given}, guard interval {mode.guard_ns / 1000:g} us ({mode.mbps():.1f} Mbit/s)"
    for guard in (mode.guard_ns, *(_GUARDS if mode.family in ("he", "eht") else (400, 800))):
        other = mode._replace(guard_ns=guard)
        if abs(other.mbps() - mbps) <= mbps * _UNEQUAL:
            return other, "" if guard == mode.guard_ns else has, True
    return mode, has, False


def nearest(family: str, mbps: float, like: Mode | None = None) -> Mode:
    """Returns the modelled rate nearest to `mbps`, no wider than `like` and with no more streams."""
    if family in ("dsss", "ofdm"):
        every = [Mode("ofdm", 2 * of) for of in _OFDM] + [Mode("dsss", round(2 * of)) for of in _DSSS]
        return min(every, key=lambda one: abs(one.mbps() - mbps))
    own = {"eht": "he"}.get(family, family)
    most = like or Mode(own, 0, 2, 160)
    modes = [
        Mode(own, mcs + 8 * (streams - 1) if own == "ht" else mcs, streams, width, guard)
        for streams in range(min(most.streams, MOST_STREAMS), 0, -1)
        for width in sorted(_TONES[own], reverse=True)
        for guard in ([like.guard_ns] if like else _GUARDS if own == "he" else (800, 400))
        for mcs in range(8 if own == "ht" else _HIGHEST[own] + 1)
        if width <= max(most.width_mhz, 20)
    ]
    return min((one for one in modes if one.name), key=lambda one: abs(one.mbps() - mbps))


def _of_eht(mbps: float, mcs: int | None, nss: int | None) -> Mode | None:
    """The 802.11be rate for a value in Mbit/s and an MCS, which determine the width."""
    modes = (
        Mode("eht", mcs, nss or 1, width, guard)
        for width, guard in itertools.product(_TONES["eht"], _GUARDS)
        if mcs is not None and mcs <= _MOST_MCS["eht"]
    )
    return next((one for one in modes if abs(one.mbps() - mbps) <= max(0.06, mbps * _ROUNDED)), None)


def is_legacy(name: str) -> bool:
    """Reports whether a rate is one of DSSS or OFDM, which stations of all standards use for control frames."""
    return name.startswith(("dsss", "cck", "ofdm"))


_ROUNDED = 0.0005
"""Relative error of a rate that a driver rounds."""
_UNEQUAL = 0.02
_LIKELY = ((20, 1), (40, 1), (80, 1), (20, 2), (40, 2), (80, 2), (160, 2), (160, 1))
"""Widths and streams, most common first."""


def _alone(mbps: float, families: Sequence[str], only: int | None = None, nss: int | None = None) -> str | None:
    """The likeliest rate for a value in Mbit/s, older standards first, for drivers that report no MCS."""
    shapes = (*_LIKELY, *((width, streams) for streams in (3, 4) for width in (20, 40, 80, 160)))
    for family in families:
        for width, streams in shapes:
            if width not in _TONES[family] or nss not in (None, streams):
                continue
            for guard in _GUARDS if family == "he" else (800, 400):
                for mcs in range(8 if family == "ht" else _HIGHEST[family] + 1):
                    index = mcs + 8 * (streams - 1) if family == "ht" else mcs
                    mode = Mode(family, index, streams, width, guard)
                    if only in (None, index) and abs(mode.mbps() - mbps) < max(0.06, mbps * _ROUNDED):
                        return mode.name
    return None


def rounded(mbps: int, width: int | None) -> Rate:
    """The likeliest rate for an integer value in Mbit/s at a width in MHz, as rounded by drivers."""
    families = ("ht", "vht", "he") if width in (None, 20, 40) else ("vht", "he")
    widths = [one for one in (width, 20, 40, 80, 160) if one is not None]
    for family, wide, streams, guard in itertools.product(families, widths, (1, 2, 3, 4), (*_GUARDS, 400)):
        fits = wide in _TONES[family] and (guard in _GUARDS if family == "he" else guard in (400, 800))
        for mcs in range(8 if family == "ht" else _HIGHEST[family] + 1) if fits else ():
            mode = Mode(family, mcs + 8 * (streams - 1) if family == "ht" else mcs, streams, wide, guard)
            if abs(mode.mbps() - mbps) < 1:
                return Rate(mode.name, mbps, f"{mbps} Mbit/s", guessed=True)
    name = _DSSS.get(mbps) or (f"ofdm-{mbps}" if mbps in _OFDM else None)
    return Rate(name, mbps, f"{mbps} Mbit/s", guessed=True)


def parts(name: str) -> tuple[str, int, int]:
    """Returns the standard, width in MHz and streams of a scenario rate."""
    if found := re.match(r"ht(\d+)-mcs(\d+)", name):
        return "802.11n", int(found[1]), int(found[2]) // 8 + 1
    if found := re.match(r"vht(\d+)-mcs\d+-nss(\d+)", name):
        return "802.11ac", int(found[1]), int(found[2])
    if found := re.match(r"he(\d+)-mcs\d+-nss(\d+)", name):
        return "802.11ax", int(found[1]), int(found[2])
    return ("802.11a" if name.startswith("ofdm") else "802.11b"), 20, 1


_MODELLED_MHZ = (20, 40, 80, 160)


def modelled_width(text: str) -> tuple[int, list[str]]:
    """A modelled width in MHz, and the reason if it differs from the given one."""
    if text.replace(" ", "") in ("80+80", "80P80"):
        return 160, ["80+80 MHz is not modelled: 160 MHz has the same rates"]
    given = float(text) if re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", text) else 20.0
    if given in _MODELLED_MHZ:
        return int(given), []
    width = 160 if given > 160 else max([one for one in _MODELLED_MHZ if one <= given], default=20)
    return width, [f"{given:g} MHz is not modelled: {width} MHz is used"]


_BANDS = ((2.4, range(2_400, 2_501)), (5.0, range(4_900, 5_926)), (6.0, range(5_926, 7_126)))


def is_modelled(mhz: int) -> bool:
    """Reports whether a frequency is of a modelled band; 60 GHz and those below 1 GHz are not."""
    return any(mhz in of for _, of in _BANDS)


def band_ghz(mhz: int) -> float:
    """Band of a frequency, or the nearest."""
    return next((ghz for ghz, of in _BANDS if mhz < of.stop), _BANDS[-1][0])


def width_of_centre(channel: int, centre: int, ghz: float) -> int | None:
    """Channel width by the number of its centre; `None` if channel and centre do not match."""
    # spec: ieee80211-2020 annex E - at 5 GHz, centres of 40 MHz channels are 38 + 8n, of 80 MHz 42 + 16n, of
    # 160 MHz 50 + 64n; at 6 GHz they are 3 + 8n, 7 + 16n and 15 + 32n. Centres of 320 MHz channels are 31 + 32n,
    # in two overlapping sets.
    apart = abs(channel - centre)
    if apart == 0:
        return 20
    if ghz == 2.4:
        return 40 if apart == 2 else None
    starts = {5.0: 36, 6.0: 1}[ghz]
    if ghz == 5.0 and channel >= 149:
        starts = 149
    for width, steps in ((40, 8), (80, 16), (160, 32)):
        first = starts + (channel - starts) // steps * steps
        if centre == first + steps // 2 - 2 and apart <= steps // 2 - 2:
            return width
    return 320 if ghz == 6.0 and apart <= 30 else None
