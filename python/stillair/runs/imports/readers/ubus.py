"""JSON of `ubus call`: hostapd, iwinfo, network.wireless, network.interface, network.device, system board."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stillair.runs.imports.facts import Fact, Interface, Kernel, Netdev, Peer, Rate, Unread, Zone
from stillair.runs.imports.lines import Mistakes
from stillair.runs.imports.openwrt import uci
from stillair.runs.imports.rates import told
from stillair.runs.imports.readers import iwinfo

_FAMILIES = {"802.11n": "ht", "802.11ac": "vht", "802.11ax": "he"}
_SMALL = 1 << 62


def of(file: str, value: Any, line: int) -> Sequence[Fact] | None:  # noqa: ANN401 - any JSON value
    """Facts of a JSON value; `None` if it is none of these."""
    where = f"{file}:{line}"
    if not isinstance(value, Mapping):
        return None
    for is_it, read in _READERS:
        if is_it(value):
            return list(read(file, where, value))
    return None


def _clients(_file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call hostapd.INTERFACE get_clients`."""
    freq = _whole(value.get("freq"))
    yield Interface("", "AP", freq, None, None, where)
    if not value["clients"]:
        yield Unread("hostapd get_clients: no station is connected", where)
    for mac, one in value["clients"].items():
        if not isinstance(one, Mapping):
            continue
        peer = Peer(str(mac).lower(), "", where)
        flags = (("802.11ax", "he"), ("802.11ac", "vht"), ("802.11n", "ht"))
        peer.standard = next((name for name, flag in flags if one.get(flag) is True), None)
        if one.get("eht") is True:
            peer.standard = "802.11ax"
            peer.said.append("802.11be: 802.11ax is used")
        if one.get("wds") is True:
            peer.said.append("WDS (4-address) station: hosts behind it are not modelled")
        if one.get("mesh") is True:
            peer.mesh = True
        level = _whole(one.get("signal"))
        peer.signal_dbm = level if level is not None and level < 0 else None
        for key in ("bytes", "packets"):
            counted = one.get(key)
            if isinstance(counted, Mapping):
                for way in ("rx", "tx"):
                    if (count := _whole(counted.get(way))) is not None:
                        peer.counts[f"{way} {key}"] = count
        rates = one.get("rate")
        if isinstance(rates, Mapping):
            peer.tx, peer.rx = (_rate(rates.get(way), peer.standard) for way in ("tx", "rx"))
        yield peer


def _rate(value: Any, standard: str | None) -> Rate | None:  # noqa: ANN401 - any JSON value
    # hostapd's ubus.c hostapd_bss_get_clients (2.10) - kbit/s.
    kbit = _whole(value)
    if not kbit or kbit < 0:
        return None
    return told(f"{kbit / 1000:.1f} MBit/s", family=_FAMILIES.get(standard or "", ""))


def _associated(_file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call iwinfo assoclist`."""
    if not value["results"]:
        yield Unread("iwinfo assoclist: no station is connected", where)
    for one in value["results"]:
        if not isinstance(one, Mapping) or "mac" not in one:
            continue
        peer = Peer(str(one["mac"]).lower(), "", where)
        level, noise = _whole(one.get("signal")), _whole(one.get("noise"))
        peer.signal_dbm = level if level is not None and -128 < level < 0 else None
        peer.noise_dbm = noise if noise is not None and -128 < noise < 0 else None
        peer.mesh = bool(one.get("mesh llid") or one.get("mesh plid"))
        for key, name in (("inactive", "inactive time"), ("connected_time", "connected time")):
            if (count := _whole(one.get(key))) is not None:
                peer.counts[name] = count
        for way in ("rx", "tx"):
            given = one.get(way)
            if not isinstance(given, Mapping):
                continue
            if (count := _whole(given.get("packets"))) is not None:
                peer.counts[f"{way} packets"] = count
            rate = _of_words(given)
            if way == "rx":
                peer.rx = rate
            else:
                peer.tx = rate
        yield peer


def _of_words(given: Mapping[str, Any]) -> Rate | None:
    """A rate in iwinfo's JSON, converted to iw's format."""
    kbit, mcs, nss = _whole(given.get("rate")), _whole(given.get("mcs")), _whole(given.get("nss"))
    if not kbit or kbit < 0:
        return None
    text = f"{kbit / 1000:.1f} MBit/s"
    mhz = _whole(given.get("mhz"))
    wide = f" {mhz}MHz" if mhz in (40, 80, 160, 320) else ""
    short = " short GI" if given.get("short_gi") is True else ""
    if mcs is not None and 0 <= mcs < 64:
        for flag in ("eht", "he", "vht"):
            if given.get(flag) is True:
                name = flag.upper()
                guard = _whole(given.get(f"{flag}_gi")) or 0
                more = f" {name}-GI {max(0, min(guard, 2))}" if flag != "vht" else short
                return told(f"{text}{wide} {name}-MCS {mcs} {name}-NSS {max(1, nss or 1)}{more}")
        if given.get("ht") is True or mhz:
            return told(f"{text} MCS {mcs}{wide}{short}") if given.get("ht") is True else told(text)
    return told(text)


def _info(_file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call iwinfo info`."""
    standard, width, said = iwinfo.of_htmode(str(value.get("htmode") or ""))
    modes = value.get("hwmodes")
    standard = standard or iwinfo.of_hwmodes("/".join(map(str, modes)) if isinstance(modes, list) else "")
    mhz, power = _whole(value.get("frequency")), _whole(value.get("txpower"))
    name = str(value.get("device") or value.get("ifname") or "")
    kind = iwinfo.of_mode(str(value["mode"]))
    yield Interface(name, kind, mhz, width, float(power) if power is not None else None, where, said, standard)


def _board(_file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call system board`."""
    release = value.get("release")
    version = str(release.get("version", "")) if isinstance(release, Mapping) else ""
    if at := re.match(r"\d{1,4}\.\d{1,4}", version):
        yield Kernel(at[0], where, openwrt=True)
    elif at := re.match(r"\d{1,4}\.\d{1,4}", str(value.get("kernel", ""))):
        yield Kernel(at[0], where)
    else:
        yield Unread("system board: it names no release", where)


def _wireless(file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call network.wireless status`: the running configuration, with interface names."""
    sections: list[uci.Section] = []
    at = int(where.rpartition(":")[2])
    for name, one in value.items():
        if not isinstance(one, Mapping):
            continue
        down = not one.get("up", True) or one.get("disabled") is True
        options = {**_texts(one.get("config")), "disabled": "1" if down else "0"}
        sections.append(uci.Section("wifi-device", str(name), options, dict.fromkeys(options, at), at))
        for number, row in enumerate(one.get("interfaces") or []):
            if not isinstance(row, Mapping):
                continue
            own = {**_texts(row.get("config")), "device": str(name)}
            if isinstance(row.get("ifname"), str):
                own["ifname"] = row["ifname"]
            section = str(row.get("section") or f"{name}.{number}")
            sections.append(uci.Section("wifi-iface", section, own, dict.fromkeys(own, at), at))
    mistakes = Mistakes(file)
    yield from uci.of(file, sections, mistakes, {})
    mistakes.tell()


def _config(file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call uci get`: the sections of a configuration."""
    at, others = int(where.rpartition(":")[2]), dict[str, int]()
    sections = []
    for name, one in value["values"].items():
        options = {key: text for key, text in _texts(one).items() if not key.startswith(".")}
        sections.append(uci.Section(str(one[".type"]), str(name), options, dict.fromkeys(options, at), at))
    mistakes = Mistakes(file)
    yield from uci.of(file, sections, mistakes, others)
    if others:
        told = ", ".join(f"{count} of {kind}" for kind, count in others.items())
        yield Unread(f"sections that are not imported: {told}", where)
    mistakes.tell()


def _is_config(value: Mapping[str, Any]) -> bool:
    rows = value.get("values")
    return isinstance(rows, Mapping) and all(isinstance(one, Mapping) and ".type" in one for one in rows.values())


def _texts(config: Any) -> dict[str, str]:  # noqa: ANN401 - any JSON value
    if not isinstance(config, Mapping):
        return {}
    made = {}
    for key, value in config.items():
        if isinstance(value, bool):
            made[str(key)] = "1" if value else "0"
        elif isinstance(value, (str, int)):
            made[str(key)] = str(value)
        elif isinstance(value, list):
            made[str(key)] = " ".join(map(str, value))
    return made


def _zones(_file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call network.interface dump` and `network.interface.NAME status`."""
    rows = value["interface"] if isinstance(value.get("interface"), list) else [value]
    for row in rows:
        if not isinstance(row, Mapping):
            continue
        name, proto = str(row.get("interface") or ""), str(row.get("proto") or "")
        routes = row.get("route")
        to_all = isinstance(routes, list) and any(isinstance(one, Mapping) and one.get("mask") == 0 for one in routes)
        side = "wan" if to_all else uci.side_of(name, proto)
        devices = {str(row[key]) for key in ("l3_device", "device") if isinstance(row.get(key), str)} - {"lo"}
        if side:
            yield from (Zone(device, side, where) for device in sorted(devices))


def _devices(_file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call network.device status`."""
    rows = {"": value} if "mtu" in value else value
    for name, row in rows.items():
        if not isinstance(row, Mapping):
            continue
        yield Netdev(str(name), _whole(row.get("mtu")), "", where)
        members = row.get("bridge-members")
        if isinstance(members, list) and str(name).startswith("br-"):
            yield from (Zone(str(one), "lan", where) for one in [name, *members])


def _channel(_file: str, where: str, value: Mapping[str, Any]) -> Iterator[Fact]:
    """`ubus call hostapd.INTERFACE get_status`."""
    yield Interface("", "AP", _whole(value.get("freq")), None, None, where)


def _survey(_file: str, where: str, _value: Mapping[str, Any]) -> Iterator[Fact]:
    yield Unread("iwinfo: neighbouring networks and channel surveys are not imported", where)


def _whole(value: Any) -> int | None:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, int) and not isinstance(value, bool) and -_SMALL < value < _SMALL else None


def _is_device_status(value: Mapping[str, Any]) -> bool:
    rows = [one for one in value.values() if isinstance(one, Mapping)]
    is_one = "mtu" in value and "statistics" in value
    return is_one or (bool(rows) and len(rows) == len(value) and all("mtu" in one or "present" in one for one in rows))


def _is_wireless(value: Mapping[str, Any]) -> bool:
    rows = list(value.values())
    return bool(rows) and all(isinstance(one, Mapping) and "config" in one and "interfaces" in one for one in rows)


_READERS = (
    (lambda of: isinstance(of.get("clients"), Mapping), _clients),
    (
        lambda of: (
            isinstance(of.get("results"), list)
            and all(isinstance(one, Mapping) and "signal" in one and "rx" in one for one in of["results"])
        ),
        _associated,
    ),
    (lambda of: isinstance(of.get("results"), list), _survey),
    (lambda of: "release" in of and "kernel" in of, _board),
    (lambda of: isinstance(of.get("mode"), str) and ("hwmodes" in of or "htmode" in of or "frequency" in of), _info),
    (lambda of: isinstance(of.get("interface"), list) or ("l3_device" in of and "proto" in of), _zones),
    (lambda of: "freq" in of and "channel" in of and "airtime" in of, _channel),
    (_is_wireless, _wireless),
    (_is_config, _config),
    (_is_device_status, _devices),
)
