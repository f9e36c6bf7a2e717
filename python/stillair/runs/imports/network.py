"""One Wi-Fi network from the facts of all files: stations, access point, line and load."""

from collections.abc import Sequence

from stillair._native import InputError
from stillair.runs.imports import facts, qdiscs
from stillair.runs.imports.assembly import peers, probe, radios, shaping, sides, stations, unmapped
from stillair.runs.imports.assembly.parts import Line, Network, Shaped, Station, Told, every
from stillair.runs.imports.rates import band_ghz, is_legacy, parts

__all__ = ("Line", "Network", "Shaped", "Station", "Told", "of")

NOISE_DBM = stations.NOISE_DBM
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
_BEACON_TU = range(15, 65536)
_USUAL_TU = 100
_MTUS = range(576, 1500)


def of(found: Sequence[facts.Fact], interface: str | None = None, line: Line | None = None) -> Network:
    """Returns the network; `interface` selects one of several Wi-Fi interfaces."""
    left: list[str] = []
    found = shaping.latest(peers.modelled(found, left), left)
    captures = every(found, facts.Captured)
    name = _chosen(found, interface)
    own = next((one for one in every(found, facts.Interface) if one.name == name), None)
    here = [peer for peer in every(found, facts.Peer) if peer.interface == name]
    own = peers.link(own, here, left)
    radio, why = radios.of(found, name, own, here)
    is_ap = _is_ap(own, here, radio, captures)
    heard = [one for capture in captures for one in capture.stations]
    rates = [rate for peer in here for rate in (peer.tx, peer.rx) if rate] or []
    names = [rate.name for rate in rates if rate.name]
    names += [name for one in heard for way in (one.down, one.up) for name in (*way.rates, *way.near)]
    band = _band(own, radio, captures, names, any("320MHz" in rate.told for rate in rates))
    width = _width(own, radio, names, found, band)
    if why and radio:
        band, width = (
            Told(of.value, f"{of.why}; guess: which radio") if radio.where in of.why else of for of in (band, width)
        )
    made = Network(is_ap, name, band, width, [], _profile(found), left=left, line=line or Line())
    made.guesses = [f"{why} ({radio.where}: {radio.name})" if radio else why] if why else []
    made.scheme = _scheme(found)
    standard = stations.newest(here, radio, own)
    if heard:
        made.heard, made.seconds = heard, sum(one.seconds for one in captures)
        made.protected = any(one.protected for one in captures)
        made.stations = [stations.of_capture(one, number) for number, one in enumerate(heard, 1)]
        if here:
            made.left.append("the station dump: the capture has the same stations in more detail")
    elif here:
        made.stations = [stations.of_dump(one, number, standard, width, band) for number, one in enumerate(here, 1)]
        if not is_ap:
            made.stations = made.stations[:1]
    else:
        made.stations = [stations.made_up(standard, width, band.value)]
        made.unknown.append("the stations: one is assumed; 'iw dev INTERFACE station dump' lists them")
    for one in (own, radio):
        if one is not None:
            made.left += [f"{one.where}: {what}" for what in one.said]
    made.ap_keys, made.beacon_tu = _ap_keys(radio, made.left)
    if radio and "basic_rate" in made.ap_keys:
        made.basic_rate = Told(made.ap_keys.pop("basic_rate"), f"{radio.where}: lowest basic rate")
    _dtim(made, here)
    _of_interface(made, own, radio, found)
    made.sysctl = every(found, facts.Setting)
    used = shaping.fill(made, found)
    _mtu(made, found)
    _rest(made, found, here)
    made.left += unmapped.of(found, radio, used)
    made.guesses += dict.fromkeys(one for one in made.left if one.startswith("guess:"))
    made.left = [one for one in dict.fromkeys(made.left) if not one.startswith("guess:")]
    _load(made, found)
    return made


def _load(made: Network, found: Sequence[facts.Fact]) -> None:
    loads = [one for one in found if isinstance(one, (facts.Load, facts.Crusader))]
    made.load = next(iter(loads), None)
    made.left += [f"{one.where}: a second test" for one in loads[1:]]


def require(found: Sequence[facts.Fact]) -> None:
    """An `InputError` with the reasons if no fact can be part of a scenario."""
    left: list[str] = []
    found = peers.modelled(found, left)
    if any(_is_usable(one) for one in found):
        return
    left += [unmapped.radio_of(one) for one in every(found, facts.Radio)]
    told = [f"{one.where}: {one.what}" for one in every(found, facts.Unread)]
    told += [
        f"{one.where}: {one.qdisc} at {one.name}: see 'tc -s qdisc' for its options"
        for one in every(found, facts.Netdev)
        if one.qdisc not in ("", *qdiscs.HOLDLESS)
    ]
    told += [
        f"{one.where}: power save without a connection ('iw dev INTERFACE link' prints it)"
        for one in every(found, facts.Interface)
    ]
    told = list(dict.fromkeys([*left, *told]))
    told += (
        []
        if told
        else [
            f"{one.where}: {one.device} is on the {one.side.upper()} side; device names are not enough for a scenario"
            for one in every(found, facts.Zone)
        ]
    )
    raise InputError(
        "import: found nothing to make a scenario from, expected stations, a channel, settings or a shaper"
        " ('iw dev INTERFACE station dump', 'iw dev', 'tc -s qdisc'):\n" + "\n".join(told[:10])
    )


def _is_usable(one: facts.Fact) -> bool:
    """Reports whether a fact can be part of a scenario."""
    if isinstance(one, facts.Interface) and one.kind == "unknown" and one.power_save is not None:
        return one.mhz is not None
    return not isinstance(one, (facts.Unread, facts.Zone, facts.Netdev)) and not (
        isinstance(one, facts.Radio) and one.off
    )


def _chosen(found: Sequence[facts.Fact], wanted: str | None) -> str:
    dumped: dict[str, int] = {}
    for peer in every(found, facts.Peer):
        dumped[peer.interface] = dumped.get(peer.interface, 0) + 1
    named = [*dumped, *(one.name for one in every(found, facts.Interface))]
    named += [name for one in every(found, facts.Radio) for name in one.interfaces]
    if wanted is not None:
        if wanted not in named:
            there = f"; there are {', '.join(dict.fromkeys(named))}" if named else "; no file names any"
            raise InputError(f'--interface: found "{wanted}", expected a Wi-Fi interface of the files{there}')
        return wanted
    if dumped:
        return max(dumped, key=lambda name: dumped[name])
    usable = [one.name for one in every(found, facts.Interface) if one.kind in ("AP", "managed") and one.mhz]
    return next(iter(usable), "wlan0")


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
    own: facts.Interface | None,
    radio: facts.Radio | None,
    captures: Sequence[facts.Captured],
    names: Sequence[str],
    has_320: bool,
) -> Told:
    if own and own.mhz:
        return Told(f"{band_ghz(own.mhz):g} GHz", f"{own.where}: {own.mhz} MHz")
    if captures and captures[0].mhz:
        return Told(f"{band_ghz(captures[0].mhz):g} GHz", f"{captures[0].where}: {captures[0].mhz} MHz")
    if radio and radio.band_ghz:
        return Told(f"{radio.band_ghz:g} GHz", radio.where)
    if has_320:
        return Told("6 GHz", "guess: a station's rate has 320 MHz, which only 6 GHz has")
    return _band_of_rates(names)


def _band_of_rates(names: Sequence[str]) -> Told:
    """Returns the likely band of rates."""
    if any(name.startswith(("vht", "he80", "he160")) for name in names):
        return Told("5 GHz", "guess: the station rates are only used at 5 GHz")
    if any(name.startswith(("dsss", "cck")) for name in names):
        return Told("2.4 GHz", "guess: a station's rate is only used at 2.4 GHz")
    modern = [name for name in names if not is_legacy(name)]
    if modern and all(parts(name)[1] == 20 and not name.startswith("vht") for name in modern):
        return Told("2.4 GHz", "guess: the station rates have 20 MHz, which is usual at 2.4 GHz")
    return Told("5 GHz", "guess: not in the files")


def _width(
    own: facts.Interface | None,
    radio: facts.Radio | None,
    names: Sequence[str],
    found: Sequence[facts.Fact],
    band: Told,
) -> Told:
    used = max((parts(name)[1] for name in names if not is_legacy(name)), default=0)
    if own and own.width_mhz:
        told = Told(str(own.width_mhz), own.where)
    elif radio and radio.width_mhz:
        told = Told(str(radio.width_mhz), radio.where)
    elif used:
        told = Told(str(used), "guess: the widest rate of a station")
    else:
        ghz = float(band.value.split()[0])
        can = [phy.bands[ghz][2] for phy in every(found, facts.Phy) if ghz in phy.bands]
        wide = str(min(max(can), 80)) if can else "20"
        told = Told(wide, "guess: the device's capability, at most 80 MHz" if can else "guess: not in the files")
    most = 40 if band.value.startswith("2.4") else 160
    if int(told.value) < used:
        told = Told(str(used), f"{told.why}, but a station's rate has {used} MHz")
    if int(told.value) > most:
        told = Told(str(most), f"{told.why}; wider than {most} MHz is not modelled")
    return told


def _profile(found: Sequence[facts.Fact]) -> Told:
    # An OpenWrt release identifies more than its kernel release.
    kernels = sorted(every(found, facts.Kernel), key=lambda one: not one.openwrt)
    if kernels and kernels[0].openwrt:
        release = kernels[0].release
        if release in _OPENWRT:
            return Told(f"openwrt-{release}", kernels[0].where)
        nearest = min(_OPENWRT, key=lambda known: abs(float(known) - float(release)))
        return Told(f"openwrt-{nearest}", f"{kernels[0].where}: release {release} has no profile; the nearest is used")
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
        return Told(f"openwrt-{_OPENWRT[-1]}", "guess: OpenWrt files without a release ('uname -a' prints it)")
    return Told("linux-6.6", "guess: not in the files ('uname -a' prints it)")


def _scheme(found: Sequence[facts.Fact]) -> Told | None:
    for device in every(found, facts.Device):
        driver = device.keys.get("driver", "")
        for start, scheme in _SCHEMES.items():
            if driver.startswith(start):
                return Told(scheme, f"{device.where}: driver {driver}")
    return None


def _ap_keys(radio: facts.Radio | None, left: list[str]) -> tuple[dict[str, str], Told | None]:
    """Keys of the access point's interface, and its beacon interval in time units, which is the channel's."""
    if radio is None:
        return {}, None
    made, beacons = {}, None
    for key, value in radio.keys.items():
        if key == "beacon_int":
            beacons = Told(value, radio.where) if int(value) in _BEACON_TU and int(value) != _USUAL_TU else None
        elif key in ("dtim_period", "rts_threshold"):
            made[key] = f"{value}  # {radio.where}"
        else:
            # hostapd has the burst in ms, without a unit.
            made[key] = f'"{value} ms"' if key.endswith("_burst") else value
    lowest = {key: made.pop(key) for key in ("basic_rate",) if key in made}
    taken, refused = probe.access_point(made)
    left += [
        f"{radio.where}: {key} {value.partition('  #')[0]}: outside the modelled range"
        for key, value in refused.items()
    ]
    return taken | lowest, beacons


def _dtim(made: Network, here: Sequence[facts.Peer]) -> None:
    """Sets the DTIM period from a dump. The running access point takes precedence over settings."""
    told = {peer.counts["DTIM period"]: peer.where for peer in here if "DTIM period" in peer.counts}
    usable = {period: where for period, where in told.items() if 1 <= period <= 255}
    for period, where in told.items():
        if period not in usable:
            made.left.append(f"{where}: DTIM period {period}")
    if not usable:
        return
    period, where = next(iter(usable.items()))
    made.left += [f"{at}: DTIM period {other}" for other, at in usable.items() if other != period]
    before, _, source = made.ap_keys.get("dtim_period", "").partition("  # ")
    if before and before != str(period):
        made.left.append(f"{source}: dtim_period {before}; the running value {period} is used")
    if before != str(period):
        made.ap_keys["dtim_period"] = f"{period}  # {where}"


def _of_interface(
    made: Network, own: facts.Interface | None, radio: facts.Radio | None, found: Sequence[facts.Fact]
) -> None:
    _tx_power(made, own, radio)
    _power_save(made, own, found)


def _tx_power(made: Network, own: facts.Interface | None, radio: facts.Radio | None) -> None:
    """Transmit power, from the running interface, then from settings; measured signals include it."""
    told = [
        (one.txpower_dbm, one.where)
        for one in (own, radio)
        if one is not None and one.txpower_dbm is not None and one.txpower_dbm > 0
    ]
    if not told:
        return
    power, where = told[0]
    if any("distance" in station.keys for station in made.stations) and power <= _MOST_DBM:
        made.tx_power = Told(f"{power:g}", f"{where}; guess: stations use the same power")
    else:
        made.left.append(f"{where}: txpower {power:g} dBm: already included in the stations' signal levels")


_MOST_DBM = 36
_SAVERS = {name: name for name in ("iwlwifi", "ath10k", "brcmfmac", "mwifiex")} | {"ath11k": "ath10k"}
"""Presets of power save by the start of the driver's name."""


def _power_save(made: Network, own: facts.Interface | None, found: Sequence[facts.Fact]) -> None:
    """Power save of this machine, by its driver."""
    if own is None or not own.power_save:
        return
    if made.is_ap:
        made.left.append(f"{own.where}: power save of an access point")
        return
    drivers = [one.keys["driver"] for one in every(found, facts.Device) if "driver" in one.keys]
    preset = next((saver for driver in drivers for start, saver in _SAVERS.items() if driver.startswith(start)), "")
    why = f"driver {drivers[0]}" if preset else "guess: the driver is unknown or has no preset"
    made.stations[0].keys["power_save"] = f'"{preset or "mac80211"}"  # {own.where}: on; {why}'


def _mtu(made: Network, found: Sequence[facts.Fact]) -> None:
    """The MTU of the device at the line."""
    for one in every(found, facts.Netdev):
        if one.mtu in _MTUS and sides.of_device(one.name, found)[0] == "wan":
            made.mtu = Told(str(one.mtu), f"{one.where}: {one.name}")
            return


def _rest(made: Network, found: Sequence[facts.Fact], here: Sequence[facts.Peer]) -> None:
    """Adds the values without a scenario key, and the missing values."""
    others = {peer.interface for peer in every(found, facts.Peer)} - {made.interface}
    for name in sorted(others):
        made.left.append(f"the stations of {name}: a scenario has one network, {made.interface} (--interface)")
    for one in every(found, facts.Interface):
        if one.name != made.interface and one.name not in others and one.kind in ("AP", "managed"):
            at = f", {one.mhz} MHz" if one.mhz else ""
            made.left.append(f"{one.where}: {one.name}, type {one.kind}{at}: a scenario has one network (--interface)")
    if not made.is_ap and len(here) > 1:
        made.left.append(f"{len(here) - 1} more stations of {made.interface}, which is a station")
    for capture in every(found, facts.Captured):
        made.left += [f"{capture.where}: {what}" for what in capture.said]
    if made.shaper is None and not any(made.line):
        made.unknown.append("the Internet line: a server at 10 ms behind 1 Gbit/s is assumed (see [link.wan])")
    if not any(isinstance(one, facts.Kernel) for one in found):
        made.unknown.append("this machine's kernel: 'uname -a' prints it, on OpenWrt /etc/openwrt_release has it")
    if made.scheme is None:
        made.unknown.append("the Wi-Fi driver, which decides how packets queue: 'ethtool -i INTERFACE' prints it")
    if made.scheme is None and any("driver" in one.keys for one in every(found, facts.Device)):
        drivers = ", ".join(one.keys["driver"] for one in every(found, facts.Device) if "driver" in one.keys)
        made.left.append(f"driver {drivers}: not modelled; the default for the kernel and channel is used")
    made.unknown.append("station positions: all stations are assumed to hear each other")
