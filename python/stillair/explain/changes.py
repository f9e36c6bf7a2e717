"""Candidate changes for each cause, as scenario keys with values. A run of each shows whether it helps."""

import json
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.explain import access, outages
from stillair.explain.findings import Finding, Resolved, station
from stillair.runs.overrides import written_node

MOST = 3
"""Maximum number of changes to try."""


class Change(NamedTuple):
    """A change of the scenario."""

    words: str
    overrides: list[tuple[str, str]]
    real: bool = True
    """True for settings. A change that is not a setting removes the cause, to measure its size."""
    action: str = ""
    """The command or option on the real machine; empty if the change needs another device or kernel."""


def of(finding: Finding, resolved: Resolved, own: Collection[str] = ()) -> Iterator[Change]:
    """Yields changes that address a cause, most promising first. Changes to Internet servers are left out.

    `own` lists interfaces before access lines that have a `qdisc` in the file (`with_qdisc`).
    """
    made = _MAKERS.get(finding.kind)
    far = access.outside(resolved)
    if finding.kind in ("bloat", "shaper-above"):
        found = _bloat(finding, resolved, own)
    else:
        found = made(finding, resolved) if made is not None else iter(())
    for change in found:
        sets = [(key, value) for key, value in change.overrides if _node(key) not in far]
        if sets:
            yield change._replace(overrides=sets)


def _node(key: str) -> str:
    """Returns the node that a key sets; empty if the key is not a node's."""
    head, _, rest = key.partition(".")
    return rest.partition(".")[0] if head == "node" else ""


def with_qdisc(resolved: Resolved, overrides: Sequence[tuple[str, str]], scenario: str) -> set[str]:
    """Returns the interfaces before access lines whose `qdisc` is set by the file or an override."""
    nodes = tomllib.loads(scenario).get("node", {})
    given = {key for key, _ in overrides}
    found = set[str]()
    for line in access.lines(resolved):
        node, _, interface = line.near.partition(".")
        written = written_node(node, interface, nodes)
        table: Mapping[str, Any] = nodes.get(written, {}).get("interface", {}).get(interface, {})
        keys = [f"node.{name}.interface.{interface}.qdisc" for name in (node, written)]
        if "qdisc" in table or any(key == one or key.startswith(f"{one}.") for one in keys for key in given):
            found.add(line.near)
    return found


def _key(place: str, key: str) -> str:
    node, _, interface = place.partition(".")
    return f"node.{node}.interface.{interface}.{key}"


def _medium(place: str, resolved: Resolved) -> Mapping[str, Any]:
    node, _, interface = place.partition(".")
    return next((i["medium"] for i in station(node, resolved).get("interfaces", ()) if i["name"] == interface), {})


def _wlans(resolved: Resolved, role: str) -> list[str]:
    return [
        f"{node['name']}.{interface['name']}"
        for node in resolved["nodes"]
        for interface in node["interfaces"]
        if interface["medium"].get("role", {}).get("kind") == role
    ]


def _bloat(finding: Finding, resolved: Resolved, own: Collection[str] = ()) -> Iterator[Change]:
    place = finding.place
    line = access.at(place, resolved)
    if line is not None:
        yield from _shaped(line, resolved, line.near in own)
        return
    medium = _medium(place, resolved)
    driver = medium.get("driver") or {}
    if driver.get("firmware") and not driver.get("aql"):
        action = "echo 1 >/sys/kernel/debug/ieee80211/PHY/aql_enable, again after each reboot"
        yield Change(f"{place}: airtime queue limits (AQL)", [(_key(place, "scheme.aql"), "true")], action=action)
    if "link" not in medium:
        for scheme in (one for one in ("mac80211", "fq_codel") if one != medium.get("scheme")):
            yield Change(f"{place}: scheme {scheme}", _scheme(place, scheme, medium))
    # Another qdisc instead of netem would remove the emulated path.
    elif access.interface(place, resolved).get("qdisc", {}).get("config", {}).get("kind") != "netem":
        action = f"tc qdisc replace dev {place.partition('.')[2]} root fq_codel"
        yield Change(f"{place}: qdisc fq_codel", [(_key(place, "qdisc"), "fq_codel")], action=action)


def _scheme(place: str, scheme: str, medium: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Sets another queueing scheme and keeps the Block Ack window, because a smaller window costs goodput."""
    window = medium.get("block_ack_window", _WINDOW)
    same = [(_key(place, "block_ack_window"), str(window))] if window != _WINDOW else []
    return [(_key(place, "scheme"), scheme), *same]


_WINDOW = 64
"""Block Ack window of mac80211, which applies to schemes that are not a device's."""


def _shaped(line: access.Line, resolved: Resolved, has_qdisc: bool) -> Iterator[Change]:
    """Shapes both directions of a line at its router, to move the queue from the modem to the router.

    Existing cake options are kept; cake counts packets with the line's framing.
    """
    if access.is_shaped(line, resolved):
        return
    of = access.interface(line.near, resolved)
    ways = (("down", line.down_bps), ("up", line.up_bps))
    rates = {way: f"{access.SHARE * bps / 1e6:.9g} Mbit/s" for way, bps in ways}
    hidden = access.masquerades(of)
    cakes = {way: access.with_framing(kept, line.framing, hidden) for way, kept in access.kept_options(of).items()}
    cakes = {way: {k: v for k, v in one.items() if (k, v) not in _OF_CAKE} for way, one in cakes.items()}
    yield Change(
        f"{line.near}: cake at {access.SHARE:.0%} of the line, {rates['down']} down and {rates['up']} up".replace(
            "%", " %"
        ),
        [(_key(line.near, key), toml(table)) for key, table in access.shaper_keys(cakes, rates, has_qdisc).items()],
        action="sqm-scripts: "
        + ", ".join(f"option {way}load '{access.SHARE * bps / 1000:.0f}'" for way, bps in ways)
        + ", qdisc 'cake' with the overhead below; 'stillair tune' prints all options",
    )


_OF_CAKE = (("mpu", 0), ("atm", "noatm"))
"""Options that are cake's default."""


def toml(value: object) -> str:
    """Formats a value on one line without spaces, for the command line."""
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}={toml(one)}' for key, one in value.items())}}}"
    return json.dumps(value)


def _fair(_: Finding, resolved: Resolved) -> Iterator[Change]:
    for scheme in ("mac80211", "airtime"):
        places = (place for place in _wlans(resolved, "ap") if _medium(place, resolved).get("scheme") != scheme)
        sets = [one for place in places for one in _scheme(place, scheme, _medium(place, resolved))]
        yield Change(f"access points: scheme {scheme}, airtime shared among stations", sets)


def _turns(finding: Finding, resolved: Resolved) -> Iterator[Change]:
    """Changes for a round robin that makes stations lose turns: airtime fairness, or a newer kernel's round robin."""
    place = finding.place
    words = f"{place}: scheme airtime, Linux 4.11's airtime fairness"
    yield Change(words, _scheme(place, "airtime", _medium(place, resolved)), action=_NEWER)
    words = f"{place}: round robin of Linux 4.11, in which stations keep their turns"
    table = '{kind="fq_mac",kernel="linux-4.11"}'
    yield Change(words, [(_key(place, "scheme"), table)], action=_NEWER)


_NEWER = "a newer kernel on the access point: airtime fairness is on by default since Linux 4.11"


def _rates(finding: Finding, resolved: Resolved) -> Iterator[Change]:
    places = [p for p in _wlans(resolved, "station") if not finding.place or p.split(".")[0] == finding.place]
    roles = {place: _medium(place, resolved)["role"] for place in places}
    fixed = [(_key(place, "rate"), "minstrel_ht") for place in places if "retry_chain" in roles[place]]
    # An explicit chain takes precedence over rate control.
    chains = [(_key(place, "retry_chain"), "[]") for place in places if "retry_chain" in roles[place]]
    action = "no fixed rate: iw dev WLAN set bitrates"
    yield Change("rates by Minstrel-HT", [*fixed, *chains], action=action)
    yield _lossless(roles, resolved)
    # Collisions are the remaining cause if there is another sender.
    if any(_senders(channel["name"], resolved) > _PAIR for channel in resolved["channels"]):
        yield _protected(resolved)


_LOSSES = ("error_rate", "ack_error_rate", "preamble_loss_rate")
"""Station interface keys that give losses as probabilities."""


def _lossless(roles: Mapping[str, Mapping[str, Any]], resolved: Resolved) -> Change:
    """Clears the losses that a scenario gives as probabilities.

    Losses that follow from SNR, distance or a trace, and losses set by a later step, cannot be cleared.
    """
    later = [outages.roles(step["to"]) for step in resolved.get("steps") or ()]
    keys = (*_LOSSES, "snr")
    kept = [
        place
        for place, role in roles.items()
        if "error_rate" not in role or any(to[place].get(key) != role.get(key) for to in later for key in keys)
    ]
    sets = [(_key(place, key), "0") for place in roles if place not in kept for key in _LOSSES]
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    but = f", except those by SNR, trace or step at {', '.join(kept[:_NAMED])}{more}, which no setting clears"
    return Change(f"no losses on the air{but if kept else ''}", sets, real=False)


_NAMED = 3
"""Maximum number of stations to name."""

_PAIR = 2
"""An access point with a single station hears it, so RTS is useless."""


def _senders(channel: str, resolved: Resolved) -> int:
    media = [interface["medium"] for node in resolved["nodes"] for interface in node["interfaces"]]
    return sum(medium.get("channel") == channel for medium in media)


def _protected(resolved: Resolved) -> Change:
    places = [*_wlans(resolved, "station"), *_wlans(resolved, "ap")]
    sets = [(_key(p, "rts_threshold"), "500") for p in places]
    action = "OpenWrt: option rts '500' of the wifi-device; iw phy PHY set rts 500"
    return Change("RTS/CTS before frames of 500 bytes and more", sets, action=action)


def _rts(_: Finding, resolved: Resolved) -> Iterator[Change]:
    yield _protected(resolved)
    hidden = [(f"channel.{channel['name']}.hidden", "[]") for channel in resolved["channels"] if channel["hidden"]]
    yield Change("all hear each other", hidden, real=False)


def _beacons(_: Finding, resolved: Resolved) -> Iterator[Change]:
    names = [channel["name"] for channel in resolved["channels"]]
    sets = [(f"channel.{name}.basic_rate", "ofdm-6") for name in names]
    action = (
        "OpenWrt: option legacy_rates '0' of the wifi-device; hostapd.conf: supported_rates and basic_rates from 60"
    )
    yield Change("beacons and management at 6 Mbit/s", sets, action=action)
    sets = [(f"channel.{name}.beacon_interval", "307.2 ms") for name in names]
    yield Change("beacons each 307.2 ms", sets, action="OpenWrt: option beacon_int '300' of the wifi-device")


def _awake(finding: Finding, resolved: Resolved) -> Iterator[Change]:
    places = [place for place in _wlans(resolved, "station") if place.split(".")[0] == finding.place]
    for ap in dict.fromkeys(_medium(place, resolved)["role"].get("ap", "") for place in places):
        period = _medium(ap, resolved).get("dtim_period")
        if period and period > 1:
            words = f"{ap}: a DTIM in each beacon, not in each {_ordinal(period)} (dtim_period 1)"
            action = "OpenWrt: option dtim_period '1' of the wifi-iface"
            yield Change(words, [(_key(ap, "dtim_period"), "1")], action=action)
    for place in places:
        words = f"{place}: no power save, which the station itself decides"
        action = "at the station: iw dev WLAN set power_save off"
        yield Change(words, [(_key(place, "power_save"), "off")], action=action)


def _ordinal(n: int) -> str:
    end = "th" if 10 < n % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{end}"


def _scan(finding: Finding, resolved: Resolved) -> Iterator[Change]:
    for place in _wlans(resolved, "station"):
        if place.split(".")[0] == finding.place:
            yield Change(f"{place}: a scan every 300 s", [(_key(place, "scan.interval"), "300 s")], action=_RARER)


_RARER = (
    'at the station: wpa_supplicant bgscan="simple:30:-65:300"; NetworkManager a connection with a fixed BSSID, which'
    " does not scan; iwd DisableRoamingScan=true"
)


def _ap_scan(finding: Finding, _: Resolved) -> Iterator[Change]:
    table = '{ kind = "mac80211", max_off_channel = "125 ms" }'
    yield Change(f"{finding.place}: return after every 125 ms of a scan", [(_key(finding.place, "scan"), table)])


def _neighbour(_: Finding, resolved: Resolved) -> Iterator[Change]:
    names = [one["name"] for channel in resolved["channels"] for one in channel.get("neighbours", ())]
    sets = [(f"neighbour.{name}.load", "0.0") for name in names]
    yield Change("another channel, without traffic of the neighbours", sets, action=_CHANNEL)


_CHANNEL = "OpenWrt: option channel of the wifi-device; 'iw dev WLAN survey dump' shows how busy a channel is"


def _interference(_: Finding, resolved: Resolved) -> Iterator[Change]:
    sources = [one["name"] for channel in resolved["channels"] for one in channel.get("interference", ())]
    sets = [(f"interference.{name}.power", "-120 dBm") for name in sources]
    yield Change("out of reach of the interference, or on another channel", sets, action=_CHANNEL)


def _small_queues(finding: Finding, _: Resolved) -> Iterator[Change]:
    node = finding.place.split(".")[0]
    action = f"at {node}: sysctl -w net.ipv4.tcp_limit_output_bytes=65536"
    yield Change(f"{node}: TCP small queues of 64 KiB", [(f"node.{node}.tcp.tsq_bytes", "64 KiB")], action=action)


def _wake(_: Finding, resolved: Resolved) -> Iterator[Change]:
    sets = [(f"link.{link['name']}.rx_usecs", "0") for link in resolved["links"]]
    yield Change("no coalescing of arrivals (rx_usecs 0)", sets, action="ethtool -C DEV rx-usecs 0")


def _window(_: Finding, resolved: Resolved) -> Iterator[Change]:
    key = 'sysctl."net.ipv4.tcp_rmem"'
    sets = [(f"node.{node['name']}.{key}", "[4096, 131072, 33554432]") for node in resolved["nodes"]]
    action = "sysctl -w net.ipv4.tcp_rmem='4096 131072 33554432'"
    yield Change("receive buffers of up to 32 MiB", sets, action=action)


_MAKERS: Mapping[str, Callable[[Finding, Resolved], Iterator[Change]]] = {
    "bloat": _bloat,
    "shaper-above": _bloat,
    "tsq": _small_queues,
    "reorder": _rates,
    "slow-station": _fair,
    "others": _fair,
    "starved": _turns,
    "retries": _rates,
    "hidden": _rts,
    "beacons": _beacons,
    "power-save": _awake,
    "scan": _scan,
    "ap-scan": _ap_scan,
    "neighbour": _neighbour,
    "interference": _interference,
    "wake": _wake,
    "window": _window,
}
