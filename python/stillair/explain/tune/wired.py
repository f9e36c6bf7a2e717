"""Settings of wired interfaces (a shaper, a queueing discipline) and of TCP."""

from collections.abc import Iterator
from typing import Any

from stillair.explain.access import ends
from stillair.explain.tune import shaper
from stillair.explain.tune.parts import AS_IT_IS, Name, Network, Node, Option, Setting, on

_SHARES = (0.98, 0.95, 0.9, 0.85, 0.8, 0.7)
_LIMITS = (1 << 20, 1 << 18, 1 << 17, 1 << 16, 1 << 15, 1 << 14)
_QDISCS = ("fq_codel", "fq", "cake")


def shapers(net: Network) -> Iterator[Setting]:
    """Cake before each access line, at several shares of its rates."""
    by_name = {node.resolved["name"]: node for node in net.ours()}
    for link in net.resolved["links"]:
        for here, _ in ends(link, net.resolved):
            name, _, interface = here.partition(".")
            node = by_name.get(name)
            if node is None or not node.has(interface):
                continue
            back, forth = link.get("medium_back") or link["medium"], link["medium"]
            up, down = (forth, back) if link["ends"][0] == here else (back, forth)
            options, device = [AS_IT_IS], net.device(node, interface)
            options += [shaper.shaped(node, interface, device, up["line"], down["line"], share) for share in _SHARES]
            if shaper.is_shaped(node, interface):
                options.append(shaper.unshaped(node, interface, device))
            yield Setting("shaper", f"{node.name}.{interface}", tuple(options), (node.name,))


def qdiscs(net: Network) -> Iterator[Setting]:
    """Queueing disciplines of wired interfaces without a shaper, on nodes that send or forward."""
    senders = {node.name for node in net.senders()}
    for node in net.ours():
        if node.name not in senders and not node.resolved["forward"]:
            continue
        for interface in node.wires():
            name, kind = interface["name"], interface["qdisc"]["config"]["kind"]
            if not node.has(name) or shaper.is_shaped(node, name) or kind in ("netem", "htb", "tbf"):
                continue
            device = net.device(node, name)
            made = [
                Option(
                    f"qdisc {one}", ((node.key("interface", name, "qdisc"), one),), (_root(device, one),), "", (device,)
                )
                for one in _QDISCS
                if one != kind
            ]
            yield Setting("qdisc", f"{node.name}.{name}", (AS_IT_IS, *made), (node.name,))


def _root(device: Name, qdisc: str) -> str:
    return f"tc qdisc replace dev {device} root {qdisc}"


def tcp(net: Network) -> Iterator[Setting]:
    """TCP settings of the senders: small queues, congestion control, pacing; ECN of all nodes."""
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


def _sysctl(nodes: list[Node], name: str, values: Any) -> Setting:  # noqa: ANN401 - strings in any container
    own = [node for node in nodes if "inherits" not in node.table or "sysctl" in node.table] or nodes
    made = (
        Option(f"{name.rpartition('.')[2]} {value}", _all(own, name, value), (f"sysctl -w {name}={value}",))
        for value in values
    )
    return Setting(name, on(nodes), (AS_IT_IS, *made), tuple(node.name for node in nodes))


def _all(nodes: list[Node], name: str, value: str) -> tuple[tuple[str, str], ...]:
    return tuple((node.key("sysctl", f'"{name}"'), value) for node in nodes)
