"""Results of a simulated run in the form of the kernel's measurements; the only module that uses the report's keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stillair._native import RunError
from stillair.results.result import Result
from stillair_lab.validate.kernel_file import Config
from stillair_lab.validate.scenario import PING, reported, upload
from stillair_lab.validate.tc import tree as tc


@dataclass(frozen=True)
class Socket:
    """Samples of a flow's socket, oldest first."""

    t_s: Sequence[float]
    srtt_ms: Sequence[float]
    cwnd: Sequence[float]
    bytes_acked: Sequence[float]
    retransmissions: int
    """Retransmitted segments in the whole run."""


@dataclass(frozen=True)
class Outcome:
    """Results of a run."""

    sockets: Sequence[Socket]
    pings: Sequence[tuple[float, float]]
    """Send time of each answered request in seconds, and its round-trip time in ms."""
    drops: Mapping[str, int]
    """Packets dropped by the leaf of each device, by device name."""


def outcome(result: Result, config: Config, trees: Mapping[tc.Device, tc.Qdisc]) -> Outcome:
    """Reads the only run of a result with series."""
    run: Mapping[str, Any] = result.runs[0]
    try:
        sockets = [_socket(run["sockets"][reported(upload(number))]) for number in range(config.flows)]
        drops = {device: _drops(run["qdiscs"], node, device, root) for (node, device), root in trees.items()}
    except KeyError as error:
        raise RunError(f'{result.scenario}: the run has no "{error.args[0]}" in its report') from None
    flows = result.run_with_series(run["run"]).series.flows
    pings = [
        ((reply.at_ns - reply.rtt_ns) / 1_000_000_000, reply.rtt_ns / 1_000_000)
        for flow in flows
        if flow.name == reported(PING)
        for reply in flow.pings or ()
    ]
    return Outcome(sockets, pings, drops)


def _socket(columns: Mapping[str, Any]) -> Socket:
    # A socket has no round-trip time before its first measurement.
    kept = [place for place, srtt in enumerate(columns["srtt_ms"]) if srtt]
    t_s, srtt_ms, cwnd, acked = (
        [columns[name][place] for place in kept] for name in ("t_s", "srtt_ms", "cwnd", "bytes_acked")
    )
    retransmissions = columns["retrans_total"]
    return Socket(t_s, srtt_ms, cwnd, acked, retransmissions[-1] if retransmissions else 0)


def _drops(qdiscs: Mapping[str, Mapping[str, int]], node: str, device: str, root: tc.Qdisc) -> int:
    """Drops of the leaf discipline, which the kernel's rows describe."""
    name, at = f"{node}.{device}", root
    while at is not root.leaf():
        name, at = f"{name}/child", _below(at)
    return qdiscs[name]["drops"]


def _below(qdisc: tc.Qdisc) -> tc.Qdisc:
    found = qdisc.child or next(one.child for one in qdisc.classes.values() if one.child)
    assert found is not None  # noqa: S101 - only a leaf has nothing below
    return found
