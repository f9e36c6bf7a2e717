"""The configured radio that a Wi-Fi interface belongs to."""

import re
from collections.abc import Sequence

from stillair.runs.imports import facts
from stillair.runs.imports.assembly.parts import every
from stillair.runs.imports.rates import band_ghz, is_legacy, parts

_ORDER = ("802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax")
_DTIM = 2
"""hostapd's default."""


def of(
    found: Sequence[facts.Fact], name: str, own: facts.Interface | None, here: Sequence[facts.Peer]
) -> tuple[facts.Radio | None, str]:
    """The radio of interface `name`, and the reason if it is a guess; `own` and `here` are its channel and stations."""
    radios = [one for one in every(found, facts.Radio) if not one.off]
    named = [one for one in radios if name in one.interfaces]
    if named and (own is None or own.mhz is None or _is_on(named[0], own.mhz)):
        return named[0], ""
    fits = [one for one in radios if own is None or own.mhz is None or _is_on(one, own.mhz)]
    if own and own.mhz:
        same = [one for one in fits if one.channel is not None and _mhz_of(one) == own.mhz]
        if len(same) == 1:
            return same[0], ""
        fits = same or fits
    if not fits:
        return None, ""
    if not here and own is None:
        # Settings without a running interface: the widest channel.
        return _widest(fits), ""
    return _of_rates(name, here, radios, fits)


def _widest(radios: Sequence[facts.Radio]) -> facts.Radio:
    return max(radios, key=lambda one: (one.width_mhz or 0, one.band_ghz or 0))


def _of_rates(
    name: str, here: Sequence[facts.Peer], radios: Sequence[facts.Radio], fits: Sequence[facts.Radio]
) -> tuple[facts.Radio | None, str]:
    """The radio whose settings allow the rates of the stations, then by name and DTIM period."""
    rest = [one for one in fits if not _against(one, here)]
    if not rest:
        # Settings may have changed since: the band remains, so radios of other bands do not match.
        own = _by_name(name, fits)
        if own is None or _is_of_other_band(own, here):
            return (
                None,
                f"guess: no configured radio supports the station rates of {name}; the radio settings are left out",
            )
        return own, f"guess: {name} is assumed to be {own.name}, by its number, although the station rates do not fit"
    if len(rest) == 1:
        only = len(radios) == 1 or len(fits) == 1
        return rest[0], "" if only else f"guess: only {rest[0].name} supports the station rates of {name}"
    if by_name := _by_name(name, rest):
        return by_name, f"guess: {name} is assumed to be {by_name.name}, by its number"
    periods = {peer.counts["DTIM period"] for peer in here if "DTIM period" in peer.counts}
    same = [one for one in rest if {int(one.keys.get("dtim_period", _DTIM))} == periods]
    chosen = same[0] if len(same) == 1 else _widest(rest)
    return chosen, f"guess: the radio of {name} is unknown; 'iw dev' shows it"


def _is_on(radio: facts.Radio, mhz: int) -> bool:
    return radio.band_ghz in (None, band_ghz(mhz))


def _mhz_of(radio: facts.Radio) -> int | None:
    """Frequency of its channel."""
    channel, band = radio.channel, radio.band_ghz
    if channel is None:
        return None
    if band == 2.4:
        return 2484 if channel == 14 else 2407 + 5 * channel
    return (5950 if band == 6.0 else 5000) + 5 * channel


def _by_name(name: str, radios: Sequence[facts.Radio]) -> facts.Radio | None:
    """The radio with the number of the interface: `phy0-ap0` and `wlan0` are radio0."""
    # openwrt: package/network/config/wifi-scripts (23.05) - phyN-apM since 22.03, wlanN and wlanN-M before.
    # A device of several radios has phyN.M-apX of radio M (24.10).
    at = re.match(r"phy\d{1,2}\.(\d{1,2})-|(?:phy|wlan|ath|radio)(\d{1,2})", name)
    number = (at[1] or at[2]) if at else None
    return next((one for one in radios if number and re.fullmatch(rf"(?:radio|wifi){number}", one.name)), None)


def _rates(here: Sequence[facts.Peer]) -> list[str]:
    return [rate.name for peer in here for rate in (peer.tx, peer.rx) if rate and rate.name and not rate.guessed]


def _is_of_other_band(radio: facts.Radio, here: Sequence[facts.Peer]) -> bool:
    """Reports whether a station has a rate that the radio's band does not have."""
    five = any(parts(name)[1] > 40 for name in _rates(here))
    two = any(name.startswith(("dsss", "cck")) for name in _rates(here))
    return (five and radio.band_ghz == 2.4) or (two and radio.band_ghz not in (None, 2.4))


def _against(radio: facts.Radio, here: Sequence[facts.Peer]) -> bool:
    """Reports whether a station has a rate that the radio cannot send."""
    if _is_of_other_band(radio, here):
        return True
    for name in _rates(here):
        standard, width, _ = parts(name)
        if radio.width_mhz is not None and width > radio.width_mhz:
            return True
        if radio.band_ghz == 2.4 and name.startswith("vht"):
            return True
        if radio.standard in _ORDER and not is_legacy(name) and _ORDER.index(standard) > _ORDER.index(radio.standard):
            return True
    return False
