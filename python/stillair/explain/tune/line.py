"""A shaper before an access line: the scenario's keys, and the same in the words of `tc` and of sqm-scripts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.explain.access import SHARE
from stillair.explain.tune.parts import Node, Option

_RTT_NS = 100_000_000
"""What cake takes a round trip for by itself."""


class _Key(NamedTuple):
    """An option of cake: as a scenario has it, and the words of `tc`."""

    key: str
    value: str
    words: str


def is_shaped(node: Node, name: str) -> bool:
    """Whether anything at that interface has a rate."""
    of = _interface(node, name)
    return "ingress" in of or _has_rate(of)


def _interface(node: Node, name: str) -> Mapping[str, Any]:
    return next(one for one in node.wires() if one["name"] == name)


def _has_rate(interface: Mapping[str, Any]) -> bool:
    config = interface["qdisc"]["config"]
    return bool(config.get("bandwidth_bps")) or config["kind"] in ("htb", "tbf")


def shaped(node: Node, interface: str, up: Mapping[str, Any], down: Mapping[str, Any], share: float) -> Option:
    """Cake at a part of the line's rates, with the line's framing; a cake that is there keeps its other options."""
    rates = {"down": int(down["rate_bps"] * share), "up": int(up["rate_bps"] * share)}
    framing = {"overhead": up["overhead_bytes"], "mpu": up["mpu_bytes"], "atm": up["atm"]}
    own = node.table.get("interface", {}).get(interface, {})
    options = _kept(_interface(node, interface))
    tables = {way: _table(kept, framing, own.get("masquerade") is True) for way, kept in options.items()}
    key = node.key("interface", interface, "shaper")
    if "qdisc" in own or tables["down"] != tables["up"]:
        # Beside a discipline of its own the shaper of an interface is that of what comes in.
        leaves = ", ".join([f'bandwidth = "{rates["up"]} bit/s"', *tables["up"]])
        sets = [
            (f"{key}.down", f"{rates['down']} bit/s"),
            (node.key("interface", interface, "qdisc"), f'{{ kind = "cake", {leaves} }}'),
        ]
    else:
        sets = [(f"{key}.{way}", f"{bps} bit/s") for way, bps in rates.items()]
    sets.append((f"{key}.qdisc", f'{{ kind = "cake", {", ".join(tables["down"])} }}'))
    kbit = {way: bps // 1000 for way, bps in rates.items()}
    words = {way: [one.words for one in kept] for way, kept in options.items()}
    tc, uci = _by_tc(interface, kbit, framing, words), _by_uci(interface, kbit, framing, words)
    note = ""
    if share > SHARE:
        note = (
            f"more than {100 * SHARE:.0f} % holds only if the line always has {_mbit(down['rate_bps'])} down and"
            f" {_mbit(up['rate_bps'])} up; a line that is slower at times needs less, or packets wait in the modem"
        )
    return Option(
        f"cake at {100 * share:.0f} % of the line: {_mbit(rates['down'])} down, {_mbit(rates['up'])} up",
        tuple(sets),
        tuple(uci if node.openwrt else (*tc, "# on OpenWrt, with sqm-scripts, the same:", *uci)),
        note,
    )


def _kept(interface: Mapping[str, Any]) -> dict[str, list[_Key]]:
    """What the cakes of both directions have beside rate and framing; one that is alone stands for both."""
    there = {"down": interface.get("ingress"), "up": interface["qdisc"]["config"]}
    cakes = {way: one for way, one in there.items() if one and one["kind"] == "cake" and one["bandwidth_bps"]}
    if not cakes:
        return {"down": [], "up": []}
    one = next(iter(cakes.values()))
    both = {"ingress": False} if len(cakes) == 1 else {}
    return {way: list(_options({**one, **both, **cakes.get(way, {})})) for way in ("down", "up")}


def _options(cake: Mapping[str, Any]) -> Iterator[_Key]:
    """The options of a cake that are not the default."""
    for key, default in (("tins", "diffserv3"), ("isolation", "triple-isolate"), ("ack_filter", "no-ack-filter")):
        if cake[key] != default:
            yield _Key(key, f'"{cake[key]}"', cake[key])
    for key in ("ingress", "wash"):
        if cake[key]:
            yield _Key(key, "true", key)
    if not cake["split_gso"]:
        yield _Key("split_gso", "false", "no-split-gso")
    if cake["rtt_ns"] != _RTT_NS:
        us = max(1, cake["rtt_ns"] // 1000)
        yield _Key("rtt", f'"{us} us"', f"rtt {us}us")
    if cake["memlimit_bytes"]:
        yield _Key("memlimit", f'"{cake["memlimit_bytes"]} B"', f"memlimit {cake['memlimit_bytes']}")


def _table(kept: Sequence[_Key], framing: Mapping[str, Any], masquerades: bool) -> list[str]:
    """The options as a scenario has them."""
    hosts = not any(one.value in ('"flows"', '"flowblind"') for one in kept)
    # A scenario takes `nat` only where something masquerades; elsewhere its hosts are told apart without it.
    nat = ["nat = true"] if masquerades and hosts else []
    numbers = [f"{key} = {framing[key]}" for key in ("overhead", "mpu") if framing[key] is not None]
    return [*(f"{one.key} = {one.value}" for one in kept), *nat, *numbers, f'atm = "{framing["atm"]}"']


def _by_tc(
    interface: str, kbit: Mapping[str, int], framing: Mapping[str, Any], kept: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """A shaper by `tc`, with all that differs from cake's defaults or that sqm-scripts have otherwise."""
    numbers = [f"{key} {framing[key]}" for key in ("overhead", "mpu") if framing[key] is not None]
    cake = {way: " ".join(["diffserv3", "nat", *numbers, framing["atm"], *words]) for way, words in kept.items()}
    ifb = f"ifb4{interface}"
    return (
        f"tc qdisc replace dev {interface} root cake bandwidth {kbit['up']}kbit {cake['up']}",
        f"ip link add {ifb} type ifb; ip link set {ifb} up",
        f"tc qdisc replace dev {interface} handle ffff: ingress",
        f"tc filter replace dev {interface} parent ffff: protocol all prio 1 matchall"
        f" action mirred egress redirect dev {ifb}",
        f"tc qdisc replace dev {ifb} root cake bandwidth {kbit['down']}kbit {cake['down']}",
    )


def _by_uci(
    interface: str, kbit: Mapping[str, int], framing: Mapping[str, Any], kept: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """The same by sqm-scripts."""
    overhead, mpu, atm = framing["overhead"], framing["mpu"], framing["atm"]
    opts = ["nat"]
    if overhead is None:
        # Of a line without framing nothing is handed over: what is left of it are words of cake.
        layer = "none"
        opts += [*([f"mpu {mpu}"] if mpu else []), *([atm] if atm != "noatm" else [])]
    else:
        # sqm-scripts: functions.sh get_cake_lla_string - knows cells of ATM, and none of PTM.
        layer = "atm" if atm == "atm" else "ethernet"
        opts += ["ptm"] if atm == "ptm" else []
    down, up = (" ".join([*opts, *kept[way]]) for way in ("down", "up"))
    return (
        *_uci(interface=interface, download=kbit["down"], upload=kbit["up"]),
        *_uci(qdisc="cake", script="layer_cake.qos", qdisc_advanced=1, squash_dscp=0, squash_ingress=0),
        *_uci(qdisc_really_really_advanced=1, iqdisc_opts=down, eqdisc_opts=up),
        *_uci(linklayer=layer, overhead=overhead or 0, linklayer_advanced=1, tcMPU=mpu),
        *_uci(linklayer_adaptation_mechanism="default", enabled=1),
        "uci commit sqm; /etc/init.d/sqm restart",
    )


def _uci(**options: object) -> Iterator[str]:
    return (f"uci set sqm.@queue[0].{name}='{value}'" for name, value in options.items())


def unshaped(node: Node, interface: str) -> Option:
    """Nothing that has a rate."""
    sets = [(node.key("interface", interface, "shaper"), "off")]
    own = node.table.get("interface", {}).get(interface, {})
    if own.get("masquerade") is True:
        # Nothing but cake looks at it, and the scenario's reader says so.
        sets.append((node.key("interface", interface, "masquerade"), "false"))
    if "qdisc" in own and _has_rate(_interface(node, interface)):
        sets.append((node.key("interface", interface, "qdisc"), node.resolved["profile"]["net.core.default_qdisc"]))
    commands = (f"tc qdisc del dev {interface} root", f"tc qdisc del dev {interface} ingress")
    return Option("no shaper", tuple(sets), commands)


def _mbit(bps: int) -> str:
    return f"{bps / 1e6:.4g} Mbit/s"
