"""Effects of the `sysctl` settings of a kernel's run; some have none in the compared runs."""

from collections.abc import Mapping

# Neither bulk transfers of a few seconds nor pings depend on these settings, or on the listed values of them.
# linux: Documentation/networking/ip-sysctl.rst, Documentation/admin-guide/sysctl/net.rst (6.1).
_IDLE: dict[str, tuple[int, ...] | None] = {
    "net.core.message_burst": None,
    "net.core.message_cost": None,
    "net.core.netdev_max_backlog": None,
    "net.core.optmem_max": None,
    "net.core.rmem_default": None,
    "net.core.somaxconn": None,
    "net.core.wmem_default": None,
    "net.core.wmem_max": None,
    "net.ipv4.conf.all.rp_filter": None,
    "net.ipv4.conf.default.rp_filter": None,
    "net.ipv4.ip_forward": None,
    "net.ipv4.ip_local_port_range": None,
    # Data written in full segments is not held back for more.
    "net.ipv4.tcp_autocorking": None,
    "net.ipv4.tcp_fastopen": None,
    "net.ipv4.tcp_fin_timeout": None,
    "net.ipv4.tcp_keepalive_intvl": None,
    "net.ipv4.tcp_keepalive_probes": None,
    "net.ipv4.tcp_keepalive_time": None,
    "net.ipv4.tcp_low_latency": None,
    "net.ipv4.tcp_max_syn_backlog": None,
    "net.ipv4.tcp_max_tw_buckets": None,
    "net.ipv4.tcp_mem": None,
    "net.ipv4.tcp_mtu_probing": (0,),
    # Measured and modelled connections are each the first between their addresses.
    "net.ipv4.tcp_no_metrics_save": None,
    "net.ipv4.tcp_orphan_retries": None,
    "net.ipv4.tcp_retries1": None,
    "net.ipv4.tcp_retries2": None,
    "net.ipv4.tcp_rfc1337": None,
    "net.ipv4.tcp_syn_retries": None,
    "net.ipv4.tcp_synack_retries": None,
    "net.ipv4.tcp_syncookies": None,
    "net.ipv4.tcp_tw_reuse": None,
}


def idle(name: str, value: int | str) -> bool:
    """Returns true if a setting has no effect in the compared runs."""
    if name not in _IDLE:
        return False
    values = _IDLE[name]
    return values is None or value in values


def split(sysctl: Mapping[str, int | str]) -> tuple[dict[str, int | str], list[str]]:
    """Settings for the scenario, and the names of those without effect."""
    given = {name: value for name, value in sysctl.items() if not idle(name, value)}
    return given, [name for name in sysctl if name not in given]
