"""Scenario of a measured kernel run: client C, router R and server S in a row."""

import re
from collections.abc import Iterable, Mapping

from stillair._native import InputError
from stillair.kernels import profiles
from stillair.runs.scenario import Scenario
from stillair.text.toml import to_toml
from stillair_lab.validate import settings
from stillair_lab.validate.kernel_file import WARM_UP_S, Config, KernelFile
from stillair_lab.validate.tc import scenario_values as units
from stillair_lab.validate.tc import tree as tc
from stillair_lab.validate.tc.options import Bits, Nanoseconds, Value

# Interfaces of each node, with their link and address.
_NODES = {
    "C": {"cr": ("cr", "10.0.1.1")},
    "R": {"rc": ("cr", "10.0.1.2"), "rs": ("rs", "10.0.2.2")},
    "S": {"sr": ("rs", "10.0.2.1")},
}

PING = "ping"

# HZ of every profile.
_PROFILES_HZ = 250


def upload(number: int) -> str:
    """Name of a flow by its number, from 0."""
    return f"upload{number + 1}"


def reported(flow: str) -> str:
    """Name of a flow in a run's report, which includes the destination node."""
    return f"{flow}.S"


def scenario(file: KernelFile) -> Scenario:
    """Returns a file's run as a scenario."""
    made = Scenario(text(file))
    # Messages name the file; the line is that of the text returned by `text`.
    made.file = f"{file.path} {_AS_SCENARIO}"
    return made


# Scenario keys, with the file's key that they derive from.
_AS_SCENARIO = "(as a scenario)"
_KEYS = (
    (r"node\.\w+\.profile", "kernel"),
    (r"node\.\w+\.tcp\.hz", "kernel"),
    (r"node\.\w+\.tcp\.tsq_period", "config.tsq_shift"),
    (r"node\.\w+\.tcp\.tsq", "config.notsq"),
    (r"node\.\w+\.sysctl\.net\.ipv4\.tcp_congestion_control", "config.cc"),
    (r"node\.\w+\.(sysctl\..*)", r"config.\1"),
    (r"node\.(\w+)\.interface\.(\w+)\.qdisc\b.*", r"config.tc (\1 \2)"),
    (r"record\.ss", "config.sample_ms"),
    (r"duration|warm_up", "config.seconds"),
    (r"flow\.\d+\.start", "config.stagger_ms"),
)


def in_terms_of_the_file(message: str) -> str:
    """Rewrites a message about such a scenario in terms of the file's own key, if it has one."""
    found = re.fullmatch(rf"(?s)(.*) {re.escape(_AS_SCENARIO)}:\d+: ([^\s:]+): (.*)", message)
    if found:
        for pattern, key in _KEYS:
            own = re.fullmatch(pattern, found[2])
            if own:
                return f"{found[1]}: {own.expand(key)}: {found[3]}"
    return message


def disciplines(file: KernelFile) -> dict[tc.Device, tc.Qdisc]:
    """The tree of disciplines that the file's commands set up on each device."""
    try:
        trees = tc.tree(file.config.tc)
    except tc.TcError as error:
        raise InputError(f"{file.path}: config.tc: {error}") from None
    for node, device in trees:
        if device not in _NODES.get(node, {}):
            known = ", ".join(f"{node} {device}" for node, devices in _NODES.items() for device in devices)
            raise InputError(f"{file.path}: config.tc: found device {device} of {node}, expected one of {known}")
    return trees


def text(file: KernelFile) -> str:
    """The scenario as readable TOML."""
    config, trees = file.config, disciplines(file)
    times = {"duration": units.of_seconds(config.seconds), "warm_up": units.of_seconds(WARM_UP_S)}
    parts = [to_toml({"name": file.path.stem} | times)]
    parts += [_table(f"link.{link}", {"kind": "veth"}) for link in ("cr", "rs")]
    for node, devices in _NODES.items():
        parts += _node(config, node)
        for device, (link, address) in devices.items():
            interface: dict[str, object] = {"link": link, "address": address}
            if node == "C" and not config.gso:
                interface["tso"] = False
            interface["gro"] = False
            if (node, device) in trees:
                interface["qdisc"] = _qdisc(trees[node, device])
            parts.append(_table(f"node.{node}.interface.{device}", interface))
    parts += [_table("[flow]", flow) for flow in _flows(config)]
    parts.append(_table("record", {"ss": units.time(round(config.sample_ms * 1_000_000))}))
    return "\n".join(parts)


def _node(config: Config, node: str) -> Iterable[str]:
    keys: dict[str, object] = {"profile": profiles.profile(config.kernel)}
    if node == "R":
        yield _table(f"node.{node}", keys | {"forward": True})
        return
    yield _table(f"node.{node}", keys)
    # Settings apply to both ends; receive buffers are among them.
    sysctl, _ = settings.split(config.sysctl)
    if node == "C":
        sysctl["net.ipv4.tcp_congestion_control"] = config.cc
    if sysctl:
        yield _table(f"node.{node}.sysctl", sysctl)
    # The measured kernels had neither Wi-Fi nor tunnels.
    tcp: dict[str, object] = {"max_header": 256}
    if config.hz not in (None, _PROFILES_HZ):
        tcp["hz"] = config.hz
    if node == "C" and not config.small_queues:
        tcp["tsq"] = "off"
    if node == "C" and config.tsq_shift:
        tcp["tsq_period"] = units.time(1_000_000 << config.tsq_shift)
    yield _table(f"node.{node}.tcp", tcp)


def _flows(config: Config) -> Iterable[dict[str, object]]:
    for number in range(config.flows):
        start = units.time(round(number * config.stagger_ms * 1_000_000))
        yield {"name": upload(number), "kind": "tcp", "from": "C", "to": "S", "start": start}
    if config.ping:
        yield {"name": PING, "kind": "ping", "from": "C", "to": "S", "interval": "100 ms"}


def _qdisc(of: tc.Qdisc) -> dict[str, object]:
    """A discipline as a scenario table; an HTB is merged with its only class."""
    table: dict[str, object] = {"kind": of.kind}
    options, child = of.options, of.child
    for one in of.classes.values():
        options, child = options | one.options, one.child
    if of.kind == "tbf" and child is not None:
        # tc requires one of them in any case; with a child neither has an effect.
        options = {key: value for key, value in options.items() if key not in ("limit", "latency")}
    table |= {key: _value(value) for key, value in options.items()}
    return table | {"child": _qdisc(child)} if child else table


def _value(value: Value) -> object:
    if isinstance(value, Bits):
        return units.rate(value)
    return units.time(value) if isinstance(value, Nanoseconds) else value


def _table(name: str, keys: Mapping[str, object]) -> str:
    return f"[{name}]\n{to_toml(keys)}"
