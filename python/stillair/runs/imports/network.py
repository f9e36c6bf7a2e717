"""What all files say together: one Wi-Fi network, the machine that they are from, its line, the load."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from stillair._native import InputError
from stillair.runs.imports import facts, qdiscs, unread
from stillair.runs.imports.openwrt import words
from stillair.runs.imports.rates import parts

NOISE_DBM = -94
"""The noise in 20 MHz that a scenario has unless it says otherwise."""
_WEIGHT = 256
"""The airtime weight that stations have by themselves."""
_KNOWN = ((3, 13), (3, 19), (4, 4), (4, 6), (4, 14), (4, 19), (5, 10), (5, 15), (6, 1), (6, 6), (6, 12), (6, 18))
_OPENWRT = ("23.05", "24.10")
_SCHEMES = {
    "ath10k": "ath10k",
    "ath11k": "ath11k",
    "mt76": "mt76",
    "mt79": "mt76",
    "mt7": "mt76",
    "ath9k_htc": "ath9k_htc",
}
_MINSTREL_MHZ = {"802.11n": 40, "802.11ac": 80}
"""How wide the rates of Minstrel-HT are at most, as Linux's."""
_NEWER = ("802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax")

_BEACON_TU = range(15, 65536)
_USUAL_TU = 100

_F = TypeVar("_F")


class Told(NamedTuple):
    """A value, and why it is that: a file and a line, or that it is a guess."""

    value: str
    why: str


class Shaped(NamedTuple):
    """A direction of a shaper: the rate, and the discipline without it."""

    kbit: int
    options: Mapping[str, object]
    burst: int | None = None
    """Bytes, of an htb."""


@dataclass
class Station:
    """A station with its keys."""

    name: str
    about: list[str] = field(default_factory=list)
    """What is said of it."""
    keys: dict[str, str] = field(default_factory=dict)
    """Keys of its interface, as TOML."""
    weight: int | None = None
    """Its airtime weight where a dump has another than the default."""


@dataclass
class Network:
    """What is known, and what is not."""

    is_ap: bool
    """Whether the files are from the access point."""
    interface: str
    band: Told
    width: Told
    stations: list[Station]
    profile: Told
    scheme: Told | None = None
    ap_keys: dict[str, str] = field(default_factory=dict)
    beacon_tu: Told | None = None
    """Time between beacons, where it is not the usual one."""
    sysctl: list[facts.Setting] = field(default_factory=list)
    shaper: dict[str, Shaped] | None = None
    """Of `down` and `up` what is shaped."""
    masquerades: bool = False
    """Whether a router with that shaper hides its hosts behind one address."""
    shaper_about: list[str] = field(default_factory=list)
    wired_qdisc: Told | None = None
    heard: list[facts.Heard] = field(default_factory=list)
    """Stations of a capture, in the order of `stations`."""
    seconds: float = 0.0
    """Of the capture."""
    protected: bool = False
    load: facts.Load | facts.Crusader | None = None
    unknown: list[str] = field(default_factory=list)
    """What no file says."""
    left: list[str] = field(default_factory=list)
    """What files say and a scenario does not."""


def of(found: Sequence[facts.Fact], interface: str | None = None) -> Network:
    """The network; `interface` is the Wi-Fi interface that is meant, where there are several."""
    captures, peers = _all(found, facts.Captured), _all(found, facts.Peer)
    name = _chosen(found, interface)
    own = next((one for one in _all(found, facts.Interface) if one.name == name), None)
    here = [peer for peer in peers if peer.interface == name]
    radio = _radio(found, own)
    is_ap = _is_ap(own, here, radio, captures)
    heard = [one for capture in captures for one in capture.stations]
    rates = [rate for peer in here for rate in (peer.tx, peer.rx) if rate] or []
    names = [rate.name for rate in rates if rate.name] + [n for one in heard for n in (*one.down.rates, *one.up.rates)]
    band = _band(own, radio, captures, names)
    width = _width(own, radio, names, found, band)
    made = Network(is_ap, name, band, width, [], _profile(found))
    made.scheme = _scheme(found)
    if heard:
        made.heard, made.seconds = heard, sum(one.seconds for one in captures)
        made.protected = any(one.protected for one in captures)
        made.stations = [_heard(one, number) for number, one in enumerate(heard, 1)]
        if here:
            made.left.append("the station dump: the capture has the same stations, with more of them")
    elif here:
        made.stations = [_peer(one, number, radio, width) for number, one in enumerate(here, 1)]
        if not is_ap:
            made.stations = made.stations[:1]
    else:
        made.stations = [_guessed(radio, width, band.value)]
        made.unknown.append("which stations there are: one is made up; 'iw dev INTERFACE station dump' tells")
    made.ap_keys, made.beacon_tu = _ap_keys(radio)
    _dtim(made, here)
    made.sysctl = _all(found, facts.Setting)
    _lines(made, found)
    wired = _rest(made, found, here)
    made.left += unread.of(found, radio, wired if is_ap and made.shaper is None else None)
    loads = [one for one in found if isinstance(one, (facts.Load, facts.Crusader))]
    made.load = next(iter(loads), None)
    made.left += [f"{one.where}: a second test" for one in loads[1:]]
    return made


def _all(found: Iterable[facts.Fact], kind: type[_F]) -> list[_F]:
    return [one for one in found if isinstance(one, kind)]


def _chosen(found: Sequence[facts.Fact], wanted: str | None) -> str:
    dumped: dict[str, int] = {}
    for peer in _all(found, facts.Peer):
        dumped[peer.interface] = dumped.get(peer.interface, 0) + 1
    named = [*dumped, *(one.name for one in _all(found, facts.Interface))]
    if wanted is not None:
        if wanted not in named:
            there = f"; there are {', '.join(dict.fromkeys(named))}" if named else "; no file names any"
            raise InputError(f'--interface: found "{wanted}", expected a Wi-Fi interface of the files{there}')
        return wanted
    if dumped:
        return max(dumped, key=lambda name: dumped[name])
    usable = [one.name for one in _all(found, facts.Interface) if one.kind in ("AP", "managed") and one.mhz]
    return next(iter(usable), "wlan0")


def _radio(found: Sequence[facts.Fact], own: facts.Interface | None) -> facts.Radio | None:
    """The settings of the radio that is meant: of the band of the interface, else of the widest channel in use."""
    radios = [one for one in _all(found, facts.Radio) if not one.disabled]
    if own and own.mhz:
        radios = [one for one in radios if one.band_ghz in (None, _ghz(own.mhz))]
    return max(radios, key=lambda one: (one.width_mhz or 0, one.band_ghz or 0), default=None)


def _ghz(mhz: int) -> float:
    return 2.4 if mhz < 3_000 else 6.0 if mhz >= 5_950 else 5.0


def _is_ap(
    own: facts.Interface | None,
    here: Sequence[facts.Peer],
    radio: facts.Radio | None,
    captures: Sequence[facts.Captured],
) -> bool:
    if own and own.kind in ("AP", "managed"):
        return own.kind == "AP"
    return bool(radio or captures or len(here) != 1 or "beacon loss" not in here[0].counts)


def _band(
    own: facts.Interface | None, radio: facts.Radio | None, captures: Sequence[facts.Captured], names: Sequence[str]
) -> Told:
    if own and own.mhz:
        return Told(f"{_ghz(own.mhz):g} GHz", f"{own.where}: {own.mhz} MHz")
    if captures and captures[0].mhz:
        return Told(f"{_ghz(captures[0].mhz):g} GHz", f"{captures[0].where}: {captures[0].mhz} MHz")
    if radio and radio.band_ghz:
        return Told(f"{radio.band_ghz:g} GHz", radio.where)
    if any(name.startswith(("vht", "he80", "he160")) for name in names):
        return Told("5 GHz", "guess: the stations' rates are of 5 GHz")
    return Told(
        "5 GHz" if not any(name.startswith(("dsss", "cck")) for name in names) else "2.4 GHz", "guess: no file says"
    )


def _width(
    own: facts.Interface | None,
    radio: facts.Radio | None,
    names: Sequence[str],
    found: Sequence[facts.Fact],
    band: Told,
) -> Told:
    used = max((parts(name)[1] for name in names), default=0)
    if own and own.width_mhz:
        told = Told(str(own.width_mhz), own.where)
    elif radio and radio.width_mhz:
        told = Told(str(radio.width_mhz), radio.where)
    elif used:
        told = Told(str(used), "guess: the widest rate of a station")
    else:
        ghz = float(band.value.split()[0])
        can = [phy.bands[ghz][2] for phy in _all(found, facts.Phy) if ghz in phy.bands]
        wide = str(min(max(can), 80)) if can else "20"
        told = Told(wide, "guess: what the device can, 80 MHz at most" if can else "guess: no file says")
    most = 40 if band.value.startswith("2.4") else 160
    if int(told.value) < used:
        told = Told(str(used), f"{told.why}, but a station's rate is of {used} MHz")
    if int(told.value) > most:
        told = Told(str(most), f"{told.why}; more than {most} MHz are not modelled")
    return told


def _profile(found: Sequence[facts.Fact]) -> Told:
    kernels = _all(found, facts.Kernel)
    if kernels and kernels[0].openwrt:
        release = kernels[0].release
        if release in _OPENWRT:
            return Told(f"openwrt-{release}", kernels[0].where)
        return Told(
            f"openwrt-{_OPENWRT[-1]}", f"{kernels[0].where}: release {release} has no profile, this is another one"
        )
    if kernels:
        version = tuple(int(part) for part in kernels[0].release.split("."))
        older = [known for known in _KNOWN if known <= version] or [_KNOWN[0]]
        name = f"linux-{older[-1][0]}.{older[-1][1]}"
        exact = older[-1] == version
        return Told(
            name, f"{kernels[0].where}: {kernels[0].release}" + ("" if exact else ", the nearest profile before it")
        )
    if any(isinstance(one, facts.Shaper) for one in found) or any(
        isinstance(one, facts.Radio) and "wireless" in one.where for one in found
    ):
        return Told(
            f"openwrt-{_OPENWRT[-1]}", "guess: the files are OpenWrt's, no file says which release ('uname -a' tells)"
        )
    return Told("linux-6.6", "guess: no file says which kernel ('uname -a' tells)")


def _scheme(found: Sequence[facts.Fact]) -> Told | None:
    for device in _all(found, facts.Device):
        driver = device.keys.get("driver", "")
        for start, scheme in _SCHEMES.items():
            if driver.startswith(start):
                return Told(scheme, f"{device.where}: driver {driver}")
    return None


def _ap_keys(radio: facts.Radio | None) -> tuple[dict[str, str], Told | None]:
    """Keys of the access point's interface, and its beacon interval in time units, which is the channel's."""
    if radio is None:
        return {}, None
    made, beacons = {}, None
    for key, value in radio.keys.items():
        if key == "beacon_int":
            beacons = Told(value, radio.where) if int(value) in _BEACON_TU and int(value) != _USUAL_TU else None
        elif key == "dtim_period":
            made[key] = f"{value}  # {radio.where}"
        else:
            # hostapd has the burst in ms, without a unit.
            made[key] = f'"{value} ms"' if key.endswith("_burst") else value
    return made, beacons


def _dtim(made: Network, here: Sequence[facts.Peer]) -> None:
    """The DTIM period of a dump, which is the access point's, whoever printed it."""
    told = {peer.counts["DTIM period"]: peer.where for peer in here if "DTIM period" in peer.counts}
    for period, where in told.items():
        if "dtim_period" not in made.ap_keys and 1 <= period <= 255:
            made.ap_keys["dtim_period"] = f"{period}  # {where}"
        elif made.ap_keys.get("dtim_period", "").split("  #")[0] != str(period):
            made.left.append(f"{where}: DTIM period {period}")


def _heard(one: facts.Heard, number: int) -> Station:
    """A station of a capture: rates and losses as they were seen."""
    made = Station(f"sta{number}", [f"{one.mac}, by the capture."])
    down, up = one.down.rate or one.up.rate, one.up.rate or one.down.rate
    if down is None or up is None:
        made.keys["rate"] = '"ofdm-6"'
        made.about.append("guess: the capture has no rate of it that is modelled")
        return made
    made.keys["rate"] = f'"{down}"'
    if up != down:
        made.keys["uplink_rate"] = f'"{up}"'
    for way, word in ((one.down, "To it"), (one.up, "From it")):
        if way.frames:
            shares = sorted(way.rates.items(), key=lambda item: -item[1])[:3]
            told = ", ".join(f"{name} {100 * us / way.airtime_us:.0f} %" for name, us in shares)
            made.about.append(
                f"{word}: {way.frames} frames in {way.ppdus} PPDUs, {100 * way.retried / way.frames:.1f} % sent again,"
                f" {way.airtime_us / 1000:.1f} ms of air: {told}."
            )
    frames, retried = one.down.frames + one.up.frames, one.down.retried + one.up.retried
    if frames and retried:
        made.keys["error_rate"] = f"{min(retried / frames, 0.9):.4f}"
        made.about.append("guess: error_rate is the share of frames sent again, collisions among them.")
    return made


def _peer(peer: facts.Peer, number: int, radio: facts.Radio | None, width: Told) -> Station:
    """A station of a dump."""
    made = Station(f"sta{number}", [f"{peer.mac}, {peer.where}."])
    names = [rate.name for rate in (peer.tx, peer.rx) if rate and rate.name]
    for rate, word in ((peer.tx, "tx"), (peer.rx, "rx")):
        if rate and rate.name is None:
            made.about.append(f"{word} bitrate {rate.told}: the model has no such rate.")
        elif rate and rate.guessed:
            made.about.append(f"guess: {word} bitrate {rate.told} is taken for {rate.name}.")
    newest = max((parts(name)[0] for name in names), key=_NEWER.index, default=None)
    streams = max((parts(name)[2] for name in names), default=2)
    if peer.signal_dbm is not None:
        snr = min(max(peer.signal_dbm - NOISE_DBM, 1), 80)
        made.keys["snr"] = f'"{snr} dB"'
        made.about.append(f"guess: {peer.signal_dbm} dBm are {snr} dB above a noise of {NOISE_DBM} dBm, both ways.")
    used = max((parts(name)[1] for name in names), default=0)
    if newest in ("802.11n", "802.11ac") and peer.signal_dbm is not None and used <= _MINSTREL_MHZ[newest]:
        made.keys["rate"] = _minstrel(newest, min(streams, 4), width)
        told = " and ".join(f"{w} {r.told}" for r, w in ((peer.tx, "tx"), (peer.rx, "rx")) if r)
        made.about.append(f"guess: Minstrel-HT chooses the rates; iw saw {told}.")
    elif names:
        _fixed(made, peer)
    else:
        _no_rate(made, radio, width)
    if peer.counts.get("airtime weight", _WEIGHT) != _WEIGHT:
        made.weight = peer.counts["airtime weight"]
    sent, again = peer.counts.get("tx packets", 0), peer.counts.get("tx retries", 0)
    if "error_rate" not in made.keys and sent:
        made.about.append(
            f"{again} retries for {sent} packets since it came: what counts as one depends on the driver."
        )
    if (seconds := peer.counts.get("connected time", 0)) and "tx bytes" in peer.counts:
        down, up = (8 * peer.counts.get(key, 0) / seconds / 1e6 for key in ("tx bytes", "rx bytes"))
        made.about.append(
            f"Its mean load over {seconds} s: {down:.3g} Mbit/s from this machine, {up:.3g} Mbit/s to it."
        )
    return made


def _minstrel(standard: str, streams: int, width: Told) -> str:
    widest = _MINSTREL_MHZ[standard]
    narrower = f', width = "{widest} MHz"' if int(width.value) > widest else ""
    return f'{{ kind = "minstrel_ht", standard = "{standard}", streams = {streams}{narrower} }}'


def _fixed(made: Station, peer: facts.Peer) -> None:
    tx = peer.tx.name if peer.tx and peer.tx.name else None
    rx = peer.rx.name if peer.rx and peer.rx.name else None
    made.keys["rate"] = f'"{tx or rx}"'
    if rx and tx and rx != tx:
        made.keys["uplink_rate"] = f'"{rx}"'
    # A driver stays at a rate because it works there: with an SNR that is guessed it might not here.
    if made.keys.pop("snr", None):
        made.about.pop()
    made.about.append("guess: fixed at the last rates that iw saw, without losses, as the driver chose what works.")


def _no_rate(made: Station, radio: facts.Radio | None, width: Told) -> None:
    standard = radio.standard if radio and radio.standard in ("802.11n", "802.11ac") else "802.11n"
    made.keys.setdefault("snr", '"35 dB"')
    made.keys["rate"] = _minstrel(standard, 2, width)
    made.about.append(f"guess: no rate is known of it: {standard} with two streams.")


def _guessed(radio: facts.Radio | None, width: Told, band: str) -> Station:
    standard = (radio.standard if radio else None) or "802.11n"
    made = Station("sta1", ["guess: no file tells of a station; this one stands 5 m away."])
    made.keys["distance"] = '"5 m"'
    if standard == "802.11ax" or band.startswith("6"):
        made.keys["rate"] = f'"he{width.value}-mcs9-nss2-gi0.8"'
    elif standard in ("802.11n", "802.11ac"):
        is_ac = standard == "802.11ac" and not band.startswith("2.4")
        made.keys["rate"] = _minstrel("802.11ac" if is_ac else "802.11n", 2, width)
    else:
        made.keys["rate"] = '"ofdm-54"'
    return made


def _lines(made: Network, found: Sequence[facts.Fact]) -> None:
    """The shaper at the line to the Internet, of sqm or of what tc shows of it."""
    for shaper in _all(found, facts.Shaper):
        if made.shaper is not None:
            made.left.append(f"{shaper.where}: a second shaper, at {shaper.device}")
        elif not shaper.enabled:
            made.left.append(f"{shaper.where}: the shaper of {shaper.device} is disabled")
        elif not shaper.script:
            made.left.append(f"{shaper.where}: the shaper of {shaper.device} has no script, and is not started")
        elif shaper.down_kbit <= 0 and shaper.up_kbit <= 0:
            made.left.append(f"{shaper.where}: the shaper of {shaper.device}, which has no rate")
        else:
            _of_sqm(made, shaper)
    every = [one for one in _all(found, facts.Qdisc) if qdiscs.bandwidth_bps(one)]
    if every and made.shaper is None:
        _of_tc(made, every)


def _of_sqm(made: Network, shaper: facts.Shaper) -> None:
    made.shaper = {
        way: Shaped(kbit, options, shaper.bursts.get(way))
        for way, kbit, options in (("down", shaper.down_kbit, shaper.down), ("up", shaper.up_kbit, shaper.up))
        if kbit > 0
    }
    made.shaper_about = [f"{shaper.where}: {shaper.script} at {shaper.device}."]
    made.shaper_about += [f"not read: {one}." for one in shaper.unread]
    made.shaper_about += [f"{one}." for one in shaper.said]
    # Without `nat` cake takes all hosts behind a router that masquerades for one.
    made.masquerades = any(words.looks_at_hosts(one.options) for one in made.shaper.values())


def _of_tc(made: Network, every: Sequence[facts.Qdisc]) -> None:
    made.shaper = {}
    # The rule is that of sqm: on the wire a cake without `nat` takes the hosts of a router that masquerades for one.
    for one in every:
        way = "down" if qdiscs.is_ingress(one) else "up"
        if way in made.shaper:
            made.left.append(f"{one.where}: a second cake that shapes what goes {way}, at {one.device}")
            continue
        taken, left = qdiscs.keys(one)
        drops = one.counts.get("drops", 0)
        made.shaper_about.append(f"{one.where}: cake at {one.device}, {way}; {drops} drops so far.")
        if words.looks_at_hosts(taken):
            made.masquerades = True
            if way == "down" and not one.device.startswith("ifb") and not taken.get("nat"):
                taken["nat"] = True
                made.shaper_about.append(
                    f"guess: {one.device} leads to the hosts, and cake sees their addresses there, as nat has it here."
                )
        made.shaper[way] = Shaped((qdiscs.bandwidth_bps(one) or 0) // 1000, taken)
        made.shaper_about += [f"not read: {what}." for what in left]


def _rest(made: Network, found: Sequence[facts.Fact], here: Sequence[facts.Peer]) -> facts.Qdisc | None:
    """What is left of the files, and what none of them says; the discipline of a wired interface that was taken."""
    taken: facts.Qdisc | None = None
    wired = [q for q in _all(found, facts.Qdisc) if q.root and q.kind not in ("noqueue", "ingress", "clsact", "mq")]
    for one in wired:
        if one.kind in ("fq_codel", "fq", "pfifo_fast") and one.device != made.interface and made.wired_qdisc is None:
            made.wired_qdisc, taken = Told(one.kind, f"{one.where}: {one.device}"), one
    others = {peer.interface for peer in _all(found, facts.Peer)} - {made.interface}
    for name in sorted(others):
        made.left.append(
            f"the stations of {name}: a scenario of one network has those of {made.interface} (--interface)"
        )
    if not made.is_ap and len(here) > 1:
        made.left.append(f"{len(here) - 1} more stations of {made.interface}, which is a station itself")
    for capture in _all(found, facts.Captured):
        made.left += [f"{capture.where}: {count} {why}" for why, count in capture.unread.items()]
    if made.shaper is None:
        made.unknown.append(
            "the line to the Internet: a server stands 10 ms behind 1 Gbit/s ([link.wan] has rate and buffer)"
        )
    if not any(isinstance(one, facts.Kernel) for one in found):
        made.unknown.append("the kernel of this machine: 'uname -a' tells, and on OpenWrt /etc/openwrt_release")
    if made.scheme is None:
        made.unknown.append("the driver of the Wi-Fi device, and so how it queues: 'ethtool -i INTERFACE' tells")
    if made.scheme is None and any("driver" in one.keys for one in _all(found, facts.Device)):
        drivers = ", ".join(one.keys["driver"] for one in _all(found, facts.Device) if "driver" in one.keys)
        made.left.append(
            f"driver {drivers}: no model of its own; the default of the kernel and the channel stands for it"
        )
    made.unknown.append("where the stations stand, and whether they hear each other: all hear all")
    return taken
