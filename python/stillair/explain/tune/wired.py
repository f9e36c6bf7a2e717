"""Settings of wired interfaces (a shaper, a queueing discipline) and of TCP."""

from collections.abc import Iterator, Mapping
from typing import Any

from stillair.explain.access import SHARE, ends
from stillair.explain.tune.parts import AS_IT_IS, Network, Node, Option, Setting, on

_SHARES = (0.98, 0.95, 0.9, 0.85, 0.8, 0.7)
_LIMITS = (1 << 20, 1 << 18, 1 << 17, 1 << 16, 1 << 15, 1 << 14)
_QDISCS = ("fq_codel", "fq", "cake")


def shapers(net: Network) -> Iterator[Setting]:
    """Cake before each access line, at parts of its rates."""
    by_name = {node.resolved["name"]: node for node in net.ours()}
    for link in net.resolved["links"]:
        for here, _ in ends(link, net.resolved):
            name, _, interface = here.partition(".")
            node = by_name.get(name)
            if node is None or not node.has(interface):
                continue
            back, forth = link.get("medium_back") or link["medium"], link["medium"]
            up, down = (forth, back) if link["ends"][0] == here else (back, forth)
            options = [AS_IT_IS]
            options += [_shaped(node, interface, up["line"], down["line"], share) for share in _SHARES]
            if _is_shaped(node, interface):
                options.append(_unshaped(node, interface))
            yield Setting("shaper", f"{node.name}.{interface}", tuple(options))


def _is_shaped(node: Node, name: str) -> bool:
    of = next(one for one in node.wires() if one["name"] == name)
    return "ingress" in of or _has_rate(of)


def _has_rate(interface: Mapping[str, Any]) -> bool:
    config = interface["qdisc"]["config"]
    return bool(config.get("bandwidth_bps")) or config["kind"] in ("htb", "tbf")


def _shaped(node: Node, interface: str, up: Mapping[str, Any], down: Mapping[str, Any], share: float) -> Option:
    rates = {"down": int(down["rate_bps"] * share), "up": int(up["rate_bps"] * share)}
    framing = {"overhead": up["overhead_bytes"], "mpu": up["mpu_bytes"], "atm": up["atm"]}
    own = node.table.get("interface", {}).get(interface, {})
    # A scenario takes `nat` only where something masquerades; elsewhere its hosts are told apart without it.
    nat = {"nat": "true"} if own.get("masquerade") is True else {}
    quoted = {"atm": f'"{up["atm"]}"'}
    keys = [f"{key} = {value}" for key, value in {**nat, **framing, **quoted}.items() if value is not None]
    key = node.key("interface", interface, "shaper")
    if "qdisc" in own:
        # Beside a discipline of its own the shaper of an interface is that of what comes in.
        leaves = ", ".join(['kind = "cake"', f'bandwidth = "{rates["up"]} bit/s"', *keys])
        sets = [
            (f"{key}.down", f"{rates['down']} bit/s"),
            (node.key("interface", interface, "qdisc"), f"{{ {leaves} }}"),
        ]
    else:
        sets = [(f"{key}.{way}", f"{bps} bit/s") for way, bps in rates.items()]
    alike = ", ".join(['kind = "cake"', *keys])
    sets.append((f"{key}.qdisc", f"{{ {alike} }}"))
    kbit = {way: bps // 1000 for way, bps in rates.items()}
    tc, uci = _by_tc(interface, kbit, framing), _by_uci(interface, kbit, framing)
    words = f"cake at {100 * share:.0f} % of the line: {_mbit(rates['down'])} down, {_mbit(rates['up'])} up"
    note = ""
    if share > SHARE:
        note = (
            f"more than {100 * SHARE:.0f} % holds only if the line always has {_mbit(down['rate_bps'])} down and"
            f" {_mbit(up['rate_bps'])} up; a line that is slower at times needs less, or packets wait in the modem"
        )
    commands = uci if node.openwrt else (*tc, "# on OpenWrt, with sqm-scripts, the same:", *uci)
    return Option(words, tuple(sets), tuple(commands), note)


def _by_tc(interface: str, kbit: Mapping[str, int], framing: Mapping[str, Any]) -> tuple[str, ...]:
    """A shaper by `tc`, with all that differs from cake's defaults or that sqm-scripts have otherwise."""
    words = [f"{key} {framing[key]}" for key in ("overhead", "mpu") if framing[key] is not None]
    cake = " ".join(["diffserv3", "nat", *words, framing["atm"]])
    ifb = f"ifb4{interface}"
    return (
        f"tc qdisc replace dev {interface} root cake bandwidth {kbit['up']}kbit {cake}",
        f"ip link add {ifb} type ifb; ip link set {ifb} up",
        f"tc qdisc replace dev {interface} handle ffff: ingress",
        f"tc filter replace dev {interface} parent ffff: protocol all prio 1 matchall"
        f" action mirred egress redirect dev {ifb}",
        f"tc qdisc replace dev {ifb} root cake bandwidth {kbit['down']}kbit {cake}",
    )


def _by_uci(interface: str, kbit: Mapping[str, int], framing: Mapping[str, Any]) -> tuple[str, ...]:
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
    queue = "sqm.@queue[0]"
    return (
        *_uci(queue, interface=interface, download=kbit["down"], upload=kbit["up"]),
        *_uci(queue, qdisc="cake", script="layer_cake.qos", qdisc_advanced=1, squash_dscp=0, squash_ingress=0),
        *_uci(queue, qdisc_really_really_advanced=1, iqdisc_opts=" ".join(opts), eqdisc_opts=" ".join(opts)),
        *_uci(queue, linklayer=layer, overhead=overhead or 0, linklayer_advanced=1, tcMPU=mpu),
        *_uci(queue, linklayer_adaptation_mechanism="default", enabled=1),
        "uci commit sqm; /etc/init.d/sqm restart",
    )


def _unshaped(node: Node, interface: str) -> Option:
    sets = [(node.key("interface", interface, "shaper"), "off")]
    own = node.table.get("interface", {}).get(interface, {})
    if own.get("masquerade") is True:
        # Nothing but cake looks at it, and the scenario's reader says so.
        sets.append((node.key("interface", interface, "masquerade"), "false"))
    if "qdisc" in own and _has_rate(next(one for one in node.wires() if one["name"] == interface)):
        sets.append((node.key("interface", interface, "qdisc"), node.resolved["profile"]["net.core.default_qdisc"]))
    commands = (f"tc qdisc del dev {interface} root", f"tc qdisc del dev {interface} ingress")
    return Option("no shaper", tuple(sets), commands)


def _uci(section: str, **options: object) -> Iterator[str]:
    return (f"uci set {section}.{name}='{value}'" for name, value in options.items())


def _mbit(bps: int) -> str:
    return f"{bps / 1e6:.4g} Mbit/s"


def qdiscs(net: Network) -> Iterator[Setting]:
    """The discipline of wired interfaces of those who send or forward, where nothing shapes."""
    senders = {node.name for node in net.senders()}
    for node in net.ours():
        if node.name not in senders and not node.resolved["forward"]:
            continue
        for interface in node.wires():
            name, kind = interface["name"], interface["qdisc"]["config"]["kind"]
            if not node.has(name) or _is_shaped(node, name) or kind in ("netem", "htb", "tbf"):
                continue
            made = [
                Option(f"qdisc {one}", ((node.key("interface", name, "qdisc"), one),), (_root(name, one),))
                for one in _QDISCS
                if one != kind
            ]
            yield Setting("qdisc", f"{node.name}.{name}", (AS_IT_IS, *made))


def _root(interface: str, qdisc: str) -> str:
    return f"tc qdisc replace dev {interface} root {qdisc}"


def tcp(net: Network) -> Iterator[Setting]:
    """TCP of those who send: small queues, congestion control, pacing; ECN of all."""
    senders = [node for node in net.senders() if node.linux or node.openwrt]
    if not senders:
        return
    profile = senders[0].resolved["profile"]
    now = profile["tcp"]["net.ipv4.tcp_limit_output_bytes"]
    yield _sysctl(senders, "net.ipv4.tcp_limit_output_bytes", (str(one) for one in _LIMITS if one != now))
    given = profile["net.ipv4.tcp_congestion_control"]
    if all(flow["traffic"]["congestion_control"] == given for flow in net.flows("tcp")):
        controls = (one for one in ("cubic", "bbr", "reno") if one != given)
        yield _sysctl(senders, "net.ipv4.tcp_congestion_control", controls)
    ratio = profile["tcp"]["net.ipv4.tcp_pacing_ca_ratio"]
    yield _sysctl(senders, "net.ipv4.tcp_pacing_ca_ratio", (one for one in ("100", "150") if one != str(ratio)))
    if profile["tcp"]["net.ipv4.tcp_ecn"] != 1:
        yield _sysctl(senders, "net.ipv4.tcp_ecn", ["1"])


def _sysctl(nodes: list[Node], name: str, values: Any) -> Setting:  # noqa: ANN401 - texts, in whatever they come
    own = [node for node in nodes if "like" not in node.table or "sysctl" in node.table] or nodes
    made = (
        Option(f"{name.rpartition('.')[2]} {value}", _all(own, name, value), (f"sysctl -w {name}={value}",))
        for value in values
    )
    return Setting(name, on(nodes), (AS_IT_IS, *made))


def _all(nodes: list[Node], name: str, value: str) -> tuple[tuple[str, str], ...]:
    return tuple((node.key("sysctl", f'"{name}"'), value) for node in nodes)
