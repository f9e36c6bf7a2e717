"""A shaper before an access line: scenario keys, and the commands of `tc` and sqm-scripts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stillair.explain import access
from stillair.explain.access import SHARE, Framing, framing
from stillair.explain.tune.parts import Name, Node, Option
from stillair.runs.overrides import pairs
from stillair.text.toml import to_value


def is_shaped(node: Node, name: str) -> bool:
    """Returns true if a discipline at that interface shapes."""
    of = _interface(node, name)
    return "ingress" in of or _has_rate(of)


def _interface(node: Node, name: str) -> Mapping[str, Any]:
    return next(one for one in node.wires() if one["name"] == name)


def _has_rate(interface: Mapping[str, Any]) -> bool:
    config = interface["qdisc"]["config"]
    return bool(config.get("bandwidth_bps")) or config["kind"] in ("htb", "tbf")


def shaped(
    node: Node, interface: str, device: Name, up: Mapping[str, Any], down: Mapping[str, Any], share: float
) -> Option:
    """Cake at a share of the line's rates, with the line's framing.

    An existing cake keeps its other options.
    """
    rates = {"down": int(down["rate_bps"] * share), "up": int(up["rate_bps"] * share)}
    own = node.table.get("interface", {}).get(interface, {})
    there, line = _interface(node, interface), framing(up)
    options = access.kept_options(there)
    cakes = {way: access.with_framing(kept, line, access.masquerades(there)) for way, kept in options.items()}
    texts = {way: f"{bps} bit/s" for way, bps in rates.items()}
    sets = list[tuple[str, str]]()
    tables = access.shaper_keys(cakes, texts, "qdisc" in own)
    for name, table in tables.items():
        key = node.key("interface", interface, name)
        # A shaper whose `up` moved into the discipline is set as a whole.
        sets += pairs({key: table}) if len(tables) == 1 else [(key, to_value(table, key))]
    kbit = {way: bps // 1000 for way, bps in rates.items()}
    words = {way: _words(kept) for way, kept in options.items()}
    tc, uci = _by_tc(device, kbit, line, words), _by_uci(device, kbit, line, words)
    note = ""
    if share > SHARE:
        note = (
            f"more than {100 * SHARE:.0f} % works only if the line always reaches {_mbit(down['rate_bps'])} down and"
            f" {_mbit(up['rate_bps'])} up; on a line that is slower at times, packets queue in the modem"
        )
    return Option(
        f"cake at {100 * share:.0f} % of the line: {_mbit(rates['down'])} down, {_mbit(rates['up'])} up",
        tuple(sets),
        _both(node, tc, uci),
        note,
        (device,),
    )


def _words(kept: Mapping[str, Any]) -> list[str]:
    """Options of cake in `tc` syntax."""
    made = [kept[key] for key in ("tins", "isolation", "ack_filter") if key in kept]
    made += [key for key in ("ingress", "wash") if kept.get(key)]
    made += ["no-split-gso"] if kept.get("split_gso") is False else []
    made += [f"rtt {kept['rtt'].replace(' ', '')}"] if "rtt" in kept else []
    made += [f"memlimit {kept['memlimit'].removesuffix(' B')}"] if "memlimit" in kept else []
    return made


def _by_tc(device: Name, kbit: Mapping[str, int], line: Framing, kept: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Shaper commands for `tc`, with all options that differ from the defaults of cake or of sqm-scripts."""
    # linux: net/sched/sch_cake.c cake_change (6.1) - `replace` on an existing cake keeps options that are not
    # given; `raw` resets overhead and ATM/PTM compensation.
    overhead = "raw" if line.overhead is None else f"overhead {line.overhead}"
    numbers = [overhead, f"mpu {line.mpu}", line.atm]
    cake = {way: " ".join(["diffserv3", "nat", *numbers, *words]) for way, words in kept.items()}
    ifb = f"ifb4{device}"
    return (
        f"tc qdisc replace dev {device} root cake bandwidth {kbit['up']}kbit {cake['up']}",
        f"ip link add {ifb} type ifb; ip link set {ifb} up",
        f"tc qdisc replace dev {device} handle ffff: ingress",
        f"tc filter replace dev {device} parent ffff: protocol all prio 1 matchall"
        f" action mirred egress redirect dev {ifb}",
        f"tc qdisc replace dev {ifb} root cake bandwidth {kbit['down']}kbit {cake['down']}",
    )


def _by_uci(device: Name, kbit: Mapping[str, int], line: Framing, kept: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The commands for sqm-scripts."""
    overhead, mpu, atm = line
    opts = ["nat"]
    if overhead is None:
        # Without framing, pass no link layer; the remaining options are cake's own.
        layer = "none"
        opts += [*([f"mpu {mpu}"] if mpu else []), *([atm] if atm != "noatm" else [])]
    else:
        # sqm-scripts: functions.sh get_cake_lla_string - supports ATM cells but not PTM.
        layer = "atm" if atm == "atm" else "ethernet"
        opts += ["ptm"] if atm == "ptm" else []
    down, up = (" ".join([*opts, *kept[way]]) for way in ("down", "up"))
    return (
        "# sqm.@queue[0] is the first queue: uci show sqm",
        f'uci set sqm.@queue[0].interface="{device}"',
        *_uci(download=kbit["down"], upload=kbit["up"]),
        *_uci(qdisc="cake", script="layer_cake.qos", qdisc_advanced=1, squash_dscp=0, squash_ingress=0),
        *_uci(qdisc_really_really_advanced=1, iqdisc_opts=down, eqdisc_opts=up),
        *_uci(linklayer=layer, overhead=overhead or 0, linklayer_advanced=1, tcMPU=mpu),
        *_uci(linklayer_adaptation_mechanism="default", enabled=1),
        _RESTART,
    )


_RESTART = "uci commit sqm && /etc/init.d/sqm restart"


def _both(node: Node, tc: Sequence[str], uci: Sequence[str]) -> tuple[str, ...]:
    """A node's commands: only those of OpenWrt if it runs OpenWrt."""
    return tuple(uci) if node.openwrt else (*tc, "# on OpenWrt, with sqm-scripts, the same:", *uci)


def _uci(**options: object) -> Iterator[str]:
    return (f"uci set sqm.@queue[0].{name}='{value}'" for name, value in options.items())


def unshaped(node: Node, interface: str, device: Name) -> Option:
    """Removes every shaper."""
    sets = [(node.key("interface", interface, "shaper"), "off")]
    own = node.table.get("interface", {}).get(interface, {})
    if own.get("masquerade") is True:
        # Only cake reads it, and the scenario reader rejects it without cake.
        sets.append((node.key("interface", interface, "masquerade"), "false"))
    if "qdisc" in own and _has_rate(_interface(node, interface)):
        sets.append((node.key("interface", interface, "qdisc"), node.resolved["profile"]["net.core.default_qdisc"]))
    tc = (f"tc qdisc del dev {device} root", f"tc qdisc del dev {device} ingress")
    names = () if node.openwrt else (device,)
    return Option("no shaper", tuple(sets), _both(node, tc, (*_uci(enabled=0), _RESTART)), "", names)


def _mbit(bps: int) -> str:
    return f"{bps / 1e6:.4g} Mbit/s"
