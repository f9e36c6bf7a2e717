"""Settings of Wi-Fi interfaces: queueing above the radio, airtime queue limits, RTS, width, power save."""

from collections.abc import Iterator, Sequence

from stillair.explain.tune.parts import AS_IT_IS, Name, Network, Node, Option, Setting, on

_OF_HOST = ("fifo", "fq_codel", "fq_mac", "airtime", "airtime_as_printed", "mac80211")
"""Queueing schemes of drivers without firmware queues, such as ath9k."""
_OF_FIRMWARE = ("ath10k", "ath11k", "mt76")
_AQL_MS = ((8.0, 24.0), (5.0, 12.0), (3.0, 8.0), (2.0, 5.0), (1.0, 2.0))
"""Low and high limit; the kernel's are 5 and 12 ms."""
_DEBUGFS = "/sys/kernel/debug/ieee80211"
_NOT_KEPT = "# debugfs: lost at a reboot; set it again in /etc/rc.local"
_UCI = "uci commit wireless && wifi reload"
_RTS = 500
_NO_RTS = 65535
_LENGTHS = (300, 100, 30)

Place = tuple[Node, str]


def settings(net: Network) -> Iterator[Setting]:
    """All Wi-Fi settings. Settings of stations apply to all stations."""
    aps = list(_places(net, "ap"))
    stations = list(_places(net, "station"))
    senders = {flow["from"].partition(".")[0] for flow in net.resolved["flows"]}
    uploads = [one for one in stations if one[0].resolved["name"] in senders or "count" in one[0].table]
    for who, places in (("access points", aps), ("stations", uploads)):
        if places:
            yield from _schemes(net, who, places)
            # Station debugfs is out of reach: most are phones, televisions and the like.
            yield from _aql(net, places) if who == "access points" else ()
            yield from _lengths(net, places)
    for who, places in (("access points", aps), ("stations", stations)):
        if places:
            yield _rts(net, who, places)
    yield from _widths(net, aps)
    yield from _awake(stations)
    yield from _lowest(net, aps)


def _places(net: Network, role: str) -> Iterator[Place]:
    for node in net.ours():
        for interface in node.wlans(role):
            yield node, interface["name"]


def _sets(places: Sequence[Place], key: str, value: str) -> tuple[tuple[str, str], ...]:
    return tuple((node.key("interface", name, key), value) for node, name in places if node.has(name))


def _hosts(places: Sequence[Place]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node.name for node, _ in places))


def _devices(net: Network, places: Sequence[Place]) -> tuple[Name, ...]:
    """Device names of the interfaces, without duplicates."""
    return tuple(dict.fromkeys(net.device(node, name) for node, name in places))


def _channels(places: Sequence[Place]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(_medium(place)["channel"]) for place in places))


def _medium(place: Place) -> dict[str, object]:
    node, name = place
    found: dict[str, object] = next(one["medium"] for one in node.resolved["interfaces"] if one["name"] == name)
    return found


def _schemes(net: Network, who: str, places: Sequence[Place]) -> Iterator[Setting]:
    now = {str(_medium(place)["scheme"]) for place in places}
    if not now <= set(_OF_HOST):
        return
    devices = _devices(net, places)
    options = [AS_IT_IS]
    if now != {"fq_codel"} and now == {"fifo"}:
        tc = (f"tc qdisc replace dev {dev} root mq" for dev in devices)
        commands = ("sysctl -w net.core.default_qdisc=fq_codel", *tc)
        sets = _sets(places, "scheme", "fq_codel")
        options.append(Option("fq_codel above the driver", sets, commands, "", devices))
    # An older kernel would have to be replaced, which is not a setting.
    if now != {"mac80211"} and all((node.linux or (9, 0)) >= (5, 1) for node, _ in places):
        says = "# ath9k with mac80211's queues and airtime scheduler (Linux 5.1 and later); no qdisc of its own"
        commands = (says, *(f"tc qdisc replace dev {dev} root noqueue" for dev in devices))
        sets = _sets(places, "scheme", "mac80211")
        options.append(Option("queues and airtime by mac80211", sets, commands, "", devices))
    yield Setting(f"scheme of {who}", on(node for node, _ in places), tuple(options), _hosts(places))


def _aql(net: Network, places: Sequence[Place]) -> Iterator[Setting]:
    kinds = {str(_medium(place)["scheme"]) for place in places}
    if len(kinds) != 1 or not kinds <= set(_OF_FIRMWARE):
        return
    (kind,) = kinds
    drivers = [_medium(place)["driver"] for place in places]
    now = {str(driver.get("aql")) if isinstance(driver, dict) else "" for driver in drivers}
    phys = tuple(net.phy(channel) for channel in _channels(places))
    options = [AS_IT_IS]
    if now != {"None"}:
        echo = (f"echo 0 >{_DEBUGFS}/{phy}/aql_enable" for phy in phys)
        options.append(Option("no AQL", _scheme(places, kind, aql="false"), (_NOT_KEPT, *echo), "", phys))
    for low, high in _AQL_MS:
        if any(f"'low_ns': {low * 1e6:.0f}," in one and f"'high_ns': {high * 1e6:.0f}," in one for one in now):
            continue
        sets = _scheme(places, kind, aql="true", aql_low=f"{low:g} ms", aql_high=f"{high:g} ms")
        limits = f'"$ac {low * 1000:.0f} {high * 1000:.0f}"'
        both = (
            (
                f"for ac in 0 1 2 3; do echo {limits} >{_DEBUGFS}/{phy}/aql_txq_limit; done",
                f"echo 1 >{_DEBUGFS}/{phy}/aql_enable",
            )
            for phy in phys
        )
        commands = (_NOT_KEPT, *(line for lines in both for line in lines))
        options.append(Option(f"AQL of {low:g} and {high:g} ms", sets, commands, "", phys))
    yield Setting("AQL", on(node for node, _ in places), tuple(options), _hosts(places))


def _scheme(places: Sequence[Place], kind: str, **keys: str) -> tuple[tuple[str, str], ...]:
    """Keys of a scheme, which the file may give as a word or not at all."""
    made = list[tuple[str, str]]()
    for node, name in places:
        if not node.has(name):
            continue
        if not isinstance(node.table.get("interface", {}).get(name, {}).get("scheme"), dict):
            made.append((node.key("interface", name, "scheme"), kind))
        made += [(node.key("interface", name, "scheme", key), value) for key, value in keys.items()]
    return tuple(made)


def _lengths(net: Network, places: Sequence[Place]) -> Iterator[Setting]:
    if {str(_medium(place)["scheme"]) for place in places} != {"fifo"}:
        return
    devices = _devices(net, places)
    options = [AS_IT_IS]
    for n in _LENGTHS:
        commands = tuple(f"ip link set dev {dev} txqueuelen {n}" for dev in devices)
        options.append(Option(f"txqueuelen {n}", _sets(places, "txqueuelen", str(n)), commands, "", devices))
    yield Setting("txqueuelen", on(node for node, _ in places), tuple(options), _hosts(places))


def _rts(net: Network, who: str, places: Sequence[Place]) -> Setting:
    options, names = [AS_IT_IS], [net.phy(channel) for channel in _channels(places)]
    phys, radios = tuple(names), [net.radio(channel) for channel in _channels(places)]
    if who == "access points":
        names += radios
    kinds = ((_RTS, f"RTS before more than {_RTS} bytes", str(_RTS), _RTS), (_NO_RTS, "no RTS", "off", -1))
    for bytes_, words, iw, hostapd in kinds:
        commands = [f"iw phy {phy} set rts {iw}" for phy in phys]
        if who == "access points":
            commands.append(f"# hostapd.conf: rts_threshold={hostapd}")
            commands += [f"uci set wireless.{radio}.rts='{hostapd}' && {_UCI}" for radio in radios]
        sets = _sets(places, "rts_threshold", str(bytes_))
        options.append(Option(words, sets, tuple(commands), "", tuple(names)))
    if all(_medium(place).get("rts_threshold_bytes") is None for place in places):
        options.pop()
    return Setting(f"rts_threshold of {who}", on(node for node, _ in places), tuple(options), _hosts(places))


def _widths(net: Network, aps: Sequence[Place]) -> Iterator[Setting]:
    for channel in (one for one in net.resolved["channels"] if _at(aps, one["name"])):
        radio = net.radio(channel["name"])
        mode = "HT" if channel["band_ghz"] < 3 else "VHT"
        options = [AS_IT_IS]
        for width in (80, 40, 20):
            if width < channel["width_mhz"]:
                says = f"uci set wireless.{radio}.htmode='{mode}{width}' && {_UCI}"
                wider = f"# HE{width} where it is HE now; "
                hostapd = f"hostapd.conf: {_chwidth(width, mode)}"
                sets = ((f"channel.{channel['name']}.width", f"{width} MHz"),)
                options.append(Option(f"{width} MHz wide", sets, (wider + hostapd, says), "", (radio,)))
        yield Setting("width", channel["name"], tuple(options), _at(aps, channel["name"]))


def _chwidth(width: int, mode: str) -> str:
    """The width as hostapd options."""
    wide = f"vht_oper_chwidth={int(width == 80)}, " if mode == "VHT" else ""
    return f"{wide}no [HT40+] or [HT40-] in ht_capab" if width == 20 else f"{wide}[HT40+] or [HT40-] in ht_capab"


def _at(aps: Sequence[Place], channel: str) -> tuple[str, ...]:
    """Access points of a channel."""
    return _hosts([place for place in aps if _medium(place)["channel"] == channel])


def _awake(stations: Sequence[Place]) -> Iterator[Setting]:
    asleep = [(node, name) for node, name in stations if _saves(node, name)]
    if asleep:
        commands = tuple(f"iw dev {name} set power_save off" for _, name in asleep[:1])
        option = Option("no power save", _sets(asleep, "power_save", "off"), commands)
        yield Setting("power_save", on(node for node, _ in asleep), (AS_IT_IS, option), _hosts(asleep))


def _saves(node: Node, name: str) -> bool:
    given = node.table.get("interface", {}).get(name, {}).get("power_save", "off")
    return (given.get("kind") if isinstance(given, dict) else given) != "off"


def _lowest(net: Network, aps: Sequence[Place]) -> Iterator[Setting]:
    for channel in (one for one in net.resolved["channels"] if _at(aps, one["name"])):
        if str(channel["basic_rate"]).startswith("dsss") and aps:
            radio = net.radio(channel["name"])
            commands = (
                "# hostapd.conf: supported_rates=60 90 120 180 240 360 480 540, basic_rates=60 120 240",
                f"uci set wireless.{radio}.legacy_rates='0' && {_UCI}",
            )
            sets = ((f"channel.{channel['name']}.basic_rate", "ofdm-6"),)
            option = Option("beacons at 6 Mbit/s", sets, commands, "", (radio,))
            yield Setting("basic_rate", channel["name"], (AS_IT_IS, option), _at(aps, channel["name"]))
