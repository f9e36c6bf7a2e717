"""Stations of a dump or a capture, with the keys of their interfaces."""

import json
import re
from collections.abc import Sequence
from functools import cache

from stillair import _native
from stillair._native import InputError
from stillair.runs.imports import facts
from stillair.runs.imports.assembly.parts import Station, Told
from stillair.runs.imports.rates import is_legacy, parts

NOISE_DBM = -94
"""Default noise floor of a scenario in 20 MHz, in dBm."""
_NOISES = range(-110, -69)
"""Plausible range of measured noise in dBm."""
_WEIGHT = 256
"""Default airtime weight."""
_MINSTREL_MHZ = {"802.11n": 40, "802.11ac": 80}
"""Greatest width in MHz of Minstrel-HT rates, by standard, as in Linux."""
NEWER = ("802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax")
_CONTROL_MBPS = (1, 2, 5.5, 11, 6, 12, 24)
"""Rates of management and control frames: basic rates, and the mandatory ones of OFDM."""
_USUAL_DB = 35
"""Signal-to-noise ratio of a station without a known signal."""
_LOW = 4
"""Ratio of the directions' rates from which the lower is not a data rate, if the station was idle or sent little."""
_SPARE_DB = 8
"""Signal that a rate in use may lack, as its driver found it to work.

spec: ieee80211-2020 9.4.2.37 - a received power is accurate to 5 dB. Noise may be 3 dB below `NOISE_DBM`: good
receivers have a noise figure of 4 dB.
"""
_IDLE_MS = 1_000
_SMALL_BYTES = 200
_WRAPPED = 1 << 31
"""Retries from this value on are an underflowed counter."""
_MANY_LOST = 0.05


def of_capture(one: facts.Heard, number: int) -> Station:
    """A station of a capture, with its observed rates and losses."""
    made = Station(f"sta{number}", [f"{one.mac}, from the capture."])
    (down, down_near), (up, up_near) = _of_way(one.down), _of_way(one.up)
    for is_near, name, word in ((down_near, down, "to it"), (up_near, up, "from it")):
        if is_near:
            made.about.append(f"guess: frames {word} are at rates that are not modelled; {name}, the nearest, is used.")
    down, up = down or up, up or down
    if down is None or up is None:
        made.keys["rate"] = '"ofdm-6"'
        made.about.append("guess: the capture has no rate of this station; ofdm-6 is used.")
        return made
    made.keys["rate"] = f'"{down}"'
    if up != down:
        made.keys["uplink_rate"] = f'"{up}"'
    for way, word in ((one.down, "To it"), (one.up, "From it")):
        if way.frames:
            shares = sorted(way.rates.items(), key=lambda item: -item[1])[:3]
            told = ", ".join(f"{name} {100 * us / way.airtime_us:.0f} %" for name, us in shares)
            made.about.append(
                f"{word}: {way.frames} frames in {way.ppdus} PPDUs, {100 * way.retried / way.frames:.1f} % retries,"
                f" {way.airtime_us / 1000:.1f} ms of airtime: {told}."
            )
    frames, retried = one.down.frames + one.up.frames, one.down.retried + one.up.retried
    if frames and retried:
        made.keys["error_rate"] = f"{min(retried / frames, 0.9):.4f}"
        made.about.append("guess: error_rate is the share of retries, including collisions.")
    return made


def _of_way(way: facts.Way) -> tuple[str | None, bool]:
    """The rate with most of the airtime; true with the nearest modelled one if no data rate is modelled."""
    rate = max(way.rates, key=lambda name: way.rates[name]) if way.rates else None
    # A station with 802.11be rates sends null-data frames at legacy rates.
    if way.near and (rate is None or all(is_legacy(name) for name in way.rates)):
        return max(way.near, key=lambda name: way.near[name]), True
    return rate, False


def newest(peers: Sequence[facts.Peer], radio: facts.Radio | None, own: facts.Interface | None) -> str | None:
    """Returns the newest standard that a fact has."""
    told = [rate.name for peer in peers for rate in (peer.tx, peer.rx) if rate and rate.name]
    known = [parts(name)[0] for name in told if not is_legacy(name)]
    known += [one for one in (radio.standard if radio else None, own.standard if own else None) if one in NEWER]
    return max(known, key=NEWER.index, default=None)


def of_dump(peer: facts.Peer, number: int, standard: str | None, width: Told, band: Told) -> Station:
    """A station of a dump; `standard` is that of its network, if known."""
    made = Station(f"sta{number}", [f"{peer.mac}, {peer.where}."])
    for rate, word in ((peer.tx, "tx"), (peer.rx, "rx")):
        if rate and rate.doubt:
            made.about.append(f"guess: {word} bitrate {rate.told}: {rate.doubt}; {rate.name} is used.")
        elif rate and rate.name is None:
            made.about.append(f"{word} bitrate {rate.told}: not a rate.")
        elif rate and rate.guessed:
            made.about.append(f"guess: {word} bitrate {rate.told}: {rate.name} is used.")
    snr = _signal(made, peer)
    tx, rx = (_in_band(made, name, band) for name in _both(made, peer, snr, width))
    names = [name for name in (tx, rx) if name]
    legacy_only = bool(names) and all(is_legacy(name) for name in names)
    if legacy_only and _is_control(peer):
        _by_signal(made, peer.standard or standard, snr, width, band)
    elif not names:
        _no_rate(made, peer.standard or standard, width, band, snr)
    else:
        own = max((parts(name)[0] for name in names), key=NEWER.index)
        streams = max(parts(name)[2] for name in names)
        used = max(parts(name)[1] for name in names)
        if band.value.startswith("6") and own != "802.11ax":
            _by_signal(made, "802.11ax", snr, width, band, streams)
        elif own in _MINSTREL_MHZ and snr is not None and used <= _MINSTREL_MHZ[own]:
            made.keys["rate"] = _minstrel(own, min(streams, 4), width, used)
            told = " and ".join(f"{w} {r.told}" for r, w in ((peer.tx, "tx"), (peer.rx, "rx")) if r)
            made.about.append(f"guess: rates are chosen by Minstrel-HT; iw shows {told}.")
        elif own in ("802.11ac", "802.11ax") and snr is not None and _is_too_low(peer, tx or rx or "", snr, width):
            _by_signal(made, own, snr, width, band, streams)
        else:
            _fixed(made, *_supported(made, (tx, rx), snr, width))
    _counted(made, peer)
    return made


def _signal(made: Station, peer: facts.Peer) -> int | None:
    """The signal-to-noise ratio in dB."""
    if peer.signal_dbm is None:
        return None
    noise = peer.noise_dbm if peer.noise_dbm in _NOISES else None
    snr = min(max(peer.signal_dbm - (noise if noise is not None else NOISE_DBM), 1), 80)
    made.keys["snr"] = f'"{snr} dB"'
    said = (
        f"an assumed noise floor of {NOISE_DBM} dBm"
        if noise is None
        else f"the noise floor of {noise} dBm that the driver reports"
    )
    made.about.append(f"guess: {peer.signal_dbm} dBm is {snr} dB above {said}; used in both directions.")
    return snr


def _both(made: Station, peer: facts.Peer, snr: int | None, width: Told) -> tuple[str | None, str | None]:
    """Returns the data rates of both directions; iw prints the rate of the last frame of any type."""
    tx, rx = (rate if rate and rate.name else None for rate in (peer.tx, peer.rx))
    if tx is None or rx is None or tx.name is None or rx.name is None:
        one = tx or rx
        if one and not is_legacy(one.name or ""):
            made.about.append(f"guess: {'tx' if tx else 'rx'} bitrate {one.told} is used in both directions.")
        return (tx or rx).name if one else None, None  # type: ignore[union-attr]
    for low, high, word, other in ((tx, rx, "tx", "rx"), (rx, tx, "rx", "tx")):
        assert low.name is not None  # noqa: S101 - both have names
        assert high.name is not None  # noqa: S101
        if is_legacy(low.name) and not is_legacy(high.name):
            why = "is probably from a management or null-data frame"
        elif low.mbps * _LOW < high.mbps and _is_idle(peer, word):
            why = "is probably from a single frame: the station was idle or sent little"
        elif snr is not None and low.mbps * _LOW < min(high.mbps, _fastest(snr, int(width.value), 1)[1]):
            why = f"is probably from a single frame: {snr} dB allow much more"
        else:
            continue
        made.about.append(f"guess: {word} bitrate {low.told} {why}; the {other} rate is used in both directions.")
        return high.name, high.name
    return tx.name, rx.name


def _is_idle(peer: facts.Peer, word: str) -> bool:
    """Reports whether the last frame of a direction was probably not a data frame."""
    packets, count = peer.counts.get(f"{word} packets", 0), peer.counts.get(f"{word} bytes")
    small = count is not None and packets > 0 and count / packets < _SMALL_BYTES
    return small or peer.counts.get("inactive time", 0) >= _IDLE_MS


def _is_too_low(peer: facts.Peer, name: str, snr: int, width: Told) -> bool:
    """Reports whether the rate of an idle station is far below the rate that its signal supports."""
    seen = max((rate.mbps for rate in (peer.tx, peer.rx) if rate and rate.name), default=0.0)
    can = _fastest(snr, int(width.value), parts(name)[2])[1]
    return seen * _LOW < can and all(_is_idle(peer, word) for word in ("tx", "rx"))


def _is_control(peer: facts.Peer) -> bool:
    return all(rate.mbps in _CONTROL_MBPS for rate in (peer.tx, peer.rx) if rate)


def _by_signal(made: Station, standard: str | None, snr: int | None, width: Told, band: Told, streams: int = 2) -> None:
    """A rate control, or for 802.11ax the fastest rate, at a signal-to-noise ratio."""
    if band.value.startswith("2.4") and standard == "802.11ac":
        standard = "802.11n"
    if standard == "802.11ax" or band.value.startswith("6"):
        rate, _ = _fastest(snr if snr is not None else _USUAL_DB, int(width.value), streams)
        made.keys["rate"] = f'"{rate}"'
        if made.keys.pop("snr", None):
            made.about.pop(next(at for at, line in enumerate(made.about) if " dB above " in line))
        at = f"the fastest that works at {snr} dB" if snr is not None else "assumed, as the signal is unknown"
        made.about.append(f"guess: iw shows no data rate: {rate} is {at}.")
        return
    own = _usual(standard, width)
    made.keys.setdefault("snr", f'"{_USUAL_DB} dB"')
    made.keys["rate"] = _minstrel(own, 2, width)
    made.about.append(
        f"guess: iw shows only rates of management and control frames: {own} with two streams is assumed, with rates"
        " chosen by Minstrel-HT."
    )


def _usual(standard: str | None, width: Told) -> str:
    """A standard with rate control, of those that have such a width if none is known."""
    if standard is None and int(width.value) > _MINSTREL_MHZ["802.11n"]:
        return "802.11ac"
    return standard if standard in _MINSTREL_MHZ else "802.11n"


def _supported(
    made: Station, names: tuple[str | None, str | None], snr: int | None, width: Told
) -> tuple[str | None, str | None]:
    """Returns the rates of both directions; if the signal contradicts one, both are limited by the signal."""
    if snr is None:
        return names
    wide = max(int(width.value), *(parts(name)[1] for name in names if name))

    def is_faster(name: str, at_db: int) -> bool:
        given, (_, most) = _survey(name, min(at_db, 80), wide)
        return given > most

    if not any(name and is_faster(name, snr + _SPARE_DB) for name in names):
        return names
    found: list[str | None] = []
    for name, word in zip(names, ("tx", "rx"), strict=True):
        if name is None or not is_faster(name, snr):
            found.append(name)
            continue
        found.append(_survey(name, snr, wide)[1][0])
        made.about.append(
            f"guess: a signal-to-noise ratio of {snr} dB does not support the {word} bitrate {name}; {found[-1]}, the"
            " fastest rate that it supports, is used."
        )
    return found[0], found[1]


def _fastest(snr: int, width: int, streams: int) -> tuple[str, float]:
    """The fastest 802.11ax rate that works at a signal-to-noise ratio in 20 MHz, and its Mbit/s."""
    return _survey(f"he{width}-mcs0-nss{streams}-gi0.8", snr, width)[1]


def _slowest(name: str) -> str:
    """The slowest rate of the same standard and guard interval."""
    at = re.match(r"(ht|vht|he)\d+-mcs\d+(-nss\d)?(-\S+)", name)
    if not at:
        return "ofdm-6" if name.startswith("ofdm") else "dsss-1"
    return f"{at[1]}20-mcs0{'-nss1' if at[2] else ''}{at[3]}"


@cache
def _survey(name: str, snr: int, width: int) -> tuple[float, tuple[str, float]]:
    """Mbit/s of a rate, and the fastest of its standard that works at a signal-to-noise ratio in 20 MHz."""
    band = "2.4" if width <= 40 and not name.startswith("vht") else "5"
    text = f"""
name = "probe"
duration = "1 s"
[channel.wifi]
band = "{band} GHz"
width = "{width} MHz"
[node.ap]
profile = "linux-6.6"
interface.w = {{ channel = "wifi", role = "ap" }}
[node.sta]
profile = "linux-6.6"
interface.w = {{ channel = "wifi", role = "station", ap = "ap.w", snr = "{snr} dB", rate = "{name}" }}
[[flow]]
kind = "ping"
from = "ap"
to = "sta"
"""
    try:
        path = json.loads(_native.survey(text, "probe", []))["paths"][0]["down"]
    except InputError:
        return 0.0, (name, 0.0)
    given, found = float(path["rate"]["mbps"]), path["fastest"]
    return given, (str(found["name"]), float(found["mbps"])) if found else (_slowest(name), 0.0)


def _counted(made: Station, peer: facts.Peer) -> None:
    """Weight, retries, losses and mean load."""
    if peer.counts.get("airtime weight", _WEIGHT) != _WEIGHT:
        made.weight = peer.counts["airtime weight"]
    sent, again = peer.counts.get("tx packets", 0), peer.counts.get("tx retries", 0)
    if sent and "tx retries" in peer.counts and again < _WRAPPED:
        made.about.append(f"{again} retries for {sent} packets since association; drivers count retries differently.")
    elif again >= _WRAPPED:
        made.about.append(f"{again} retries: the counter wrapped below zero and is ignored.")
    failed = peer.counts.get("tx failed", 0)
    if failed and (not sent or failed / sent >= _MANY_LOST) and failed < _WRAPPED:
        share = f" of {sent} packets, {100 * failed / sent:.0f} %" if sent else " packets"
        made.about.append(
            f"tx failed: {failed}{share} were lost after all retries. error_rate does not include them, because it is"
            " per try; the run has fewer losses."
        )
    if peer.expected_mbps is not None:
        made.about.append(f"Expected throughput of the access point: {peer.expected_mbps:g} Mbit/s.")
    if (seconds := peer.counts.get("connected time", 0)) and "tx bytes" in peer.counts:
        down, up = (8 * peer.counts.get(key, 0) / seconds / 1e6 for key in ("tx bytes", "rx bytes"))
        made.about.append(
            f"Mean load over {seconds} s: {down:.3g} Mbit/s from this machine, {up:.3g} Mbit/s to this machine."
        )
    made.about += [f"{one}." if one.startswith("guess:") else f"not modelled: {one}." for one in peer.said]


def _in_band(made: Station, name: str | None, band: Told) -> str | None:
    """A rate that its band has: some devices send VHT at 2.4 GHz."""
    if name is None or not band.value.startswith("2.4") or not name.startswith(("vht", "he80", "he160")):
        return name
    if at := re.match(r"vht(\d+)-mcs(\d+)-nss(\d)-(\w+)", name):
        mcs, streams = min(int(at[2]), 7), int(at[3])
        found = f"ht{min(int(at[1]), 40)}-mcs{mcs + 8 * (streams - 1)}-{at[4]}"
    else:
        found = re.sub(r"he\d+", "he40", name)
    made.about.append(f"guess: {name} at 2.4 GHz is not modelled: {found} is used.")
    return found


def _minstrel(standard: str, streams: int, width: Told, used: int = 0) -> str:
    """Returns the rate control, no wider than the observed rates."""
    widest = min(_MINSTREL_MHZ[standard], used or 160)
    narrower = f', width = "{widest} MHz"' if int(width.value) > widest else ""
    return f'{{ kind = "minstrel_ht", standard = "{standard}", streams = {streams}{narrower} }}'


def _fixed(made: Station, tx: str | None, rx: str | None) -> None:
    made.keys["rate"] = f'"{tx or rx}"'
    if rx and tx and rx != tx:
        made.keys["uplink_rate"] = f'"{rx}"'
    # The driver chose a rate that works; with a guessed SNR it might fail in the model.
    if made.keys.pop("snr", None):
        made.about.pop(next(at for at, line in enumerate(made.about) if " dB above " in line))
    made.about.append(
        "guess: fixed at the last rates that iw shows, without losses, because the driver chose rates that work."
    )


def _no_rate(made: Station, standard: str | None, width: Told, band: Told, snr: int | None) -> None:
    if (standard == "802.11ax" and snr is not None) or band.value.startswith("6"):
        _by_signal(made, standard, snr, width, band)
        return
    own = _usual(standard, width)
    if band.value.startswith("2.4") and own == "802.11ac":
        own = "802.11n"
    made.keys.setdefault("snr", f'"{_USUAL_DB} dB"')
    made.keys["rate"] = _minstrel(own, 2, width)
    made.about.append(f"guess: no rate is known: {own} with two streams is assumed.")


def made_up(standard: str | None, width: Told, band: str) -> Station:
    """Returns the assumed station of a network without stations in its files."""
    standard = standard or ("802.11ac" if int(width.value) > _MINSTREL_MHZ["802.11n"] else "802.11n")
    made = Station("sta1", ["guess: no file has a station; one at a distance of 5 m is assumed."])
    made.keys["distance"] = '"5 m"'
    if standard == "802.11ax" or band.startswith("6"):
        made.keys["rate"] = f'"he{width.value}-mcs9-nss2-gi0.8"'
    elif standard in _MINSTREL_MHZ:
        is_ac = standard == "802.11ac" and not band.startswith("2.4")
        made.keys["rate"] = _minstrel("802.11ac" if is_ac else "802.11n", 2, width)
    else:
        made.keys["rate"] = '"ofdm-54"'
    return made
