"""Host metadata that Flent records: kernel, sysctls, and the outgoing interface."""

from collections.abc import Mapping
from typing import Any

# The sysctls that Flent reads and a scenario has, and others that affect a sender's queueing.
_SYSCTLS = (
    "net.core.default_qdisc",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
)


def metadata(scenario: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Metadata of a node, given by name or by one of its interfaces NODE.INTERFACE, under Flent's keys."""
    nodes = {node["name"]: node for node in scenario["nodes"]}
    node = nodes[name] if name in nodes else nodes[name.rpartition(".")[0]]
    profile = node["profile"]
    kernel, _, release = profile["name"].partition("-")
    known = {**profile, **profile["tcp"]}
    interface = node["interfaces"][0]
    return {
        "KERNEL_NAME": kernel.capitalize(),
        "KERNEL_RELEASE": release,
        "SYSCTLS": {key: _plain(known[key]) for key in _SYSCTLS if key in known},
        "EGRESS_INFO": {"iface": interface["name"], "qdisc": interface["qdisc"]["config"]["kind"]},
        "MODULE_VERSIONS": {},
    }


def _plain(value: object) -> object:
    """Formats a value like `sysctl`: booleans as numbers, lists separated by tabs."""
    if isinstance(value, list):
        return "\t".join(str(number) for number in value)
    return int(value) if isinstance(value, bool) else value
