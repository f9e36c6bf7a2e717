"""The compared quantities, computed from a kernel's file and from a simulated run with the same statistics."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from stillair.results.statistics import jain, percentile
from stillair_lab.sawtooth import sawtooth
from stillair_lab.validate.kernel_file import WARM_UP_S, KernelFile
from stillair_lab.validate.outcome import Outcome, Socket
from stillair_lab.validate.tc import tree as tc

# The files have the window every 0.1 s, starting at 0.1 s.
_WINDOW_STEP_S = 0.1
# Times are sums of decimal fractions.
_SLACK_S = 1e-6

QUANTITIES = (
    "goodput_mbps", "srtt_median_ms", "srtt_p90_ms", "ping_median_ms", "ping_mean_ms", "ping_p95_ms", "cwnd_mean_pkts",
    "retransmissions", "drops", "jain", "sawtooth_period_s", "sawtooth_depth",
)  # fmt: skip

Trees = Mapping[tc.Device, tc.Qdisc]
Measured = dict[str, float]
"""Values by quantity; unmeasured ones are missing."""


def of_kernel(file: KernelFile, trees: Trees) -> Measured:
    """Quantities of a file."""
    summary = ("summary", "from_2s")
    sent_again = file.numbers("retransmissions")
    found = {
        "goodput_mbps": file.number(*summary, "goodput_mbps"),
        "srtt_median_ms": file.number(*summary, "tcp_srtt_ms", "median"),
        "srtt_p90_ms": file.number(*summary, "tcp_srtt_ms", "p90"),
        "ping_median_ms": file.number(*summary, "ping_ms", "median"),
        "ping_mean_ms": file.number(*summary, "ping_ms", "mean"),
        "ping_p95_ms": file.number(*summary, "ping_ms", "p95"),
        "cwnd_mean_pkts": file.number(*summary, "cwnd_pkts", "mean"),
        "retransmissions": None if sent_again is None else sum(sent_again),
        "drops": _dropped(file, trees),
        "jain": file.number(*summary, "jain"),
    }
    measured = {name: value for name, value in found.items() if value is not None}
    windows = file.numbers("series", "cwnd")
    # The combined series of several flows shows no single sawtooth.
    if windows is not None and file.config.flows == 1:
        first = round(WARM_UP_S / _WINDOW_STEP_S) - 1
        measured |= _saw(windows[first:])
    return measured


def of_model(ran: Outcome, file: KernelFile) -> Measured:
    """Quantities of a simulated run."""
    sockets = [_from_warm_up(socket) for socket in ran.sockets]
    pings = [rtt for sent, rtt in ran.pings if sent >= WARM_UP_S - _SLACK_S]
    srtt = [value for socket in sockets for value in socket.srtt_ms]
    windows = [value for socket in sockets for value in socket.cwnd]
    goodputs = _goodputs(sockets)
    devices = file.queues()
    found = {
        "goodput_mbps": sum(goodputs),
        "srtt_median_ms": _if_any(srtt, lambda values: percentile(values, 50)),
        "srtt_p90_ms": _if_any(srtt, lambda values: percentile(values, 90)),
        "ping_median_ms": _if_any(pings, lambda values: percentile(values, 50)),
        "ping_mean_ms": _if_any(pings, mean),
        "ping_p95_ms": _if_any(pings, lambda values: percentile(values, 95)),
        "cwnd_mean_pkts": _if_any(windows, mean),
        "retransmissions": float(sum(socket.retransmissions for socket in ran.sockets)),
        "drops": float(sum(count for device, count in ran.drops.items() if device in devices)),
        "jain": jain(goodputs),
    }
    measured = {name: value for name, value in found.items() if value is not None}
    return measured | _saw(_every_step(sockets[0])) if len(sockets) == 1 else measured


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return sum(values) / len(values)


def _dropped(file: KernelFile, trees: Trees) -> float | None:
    """Drops of the leaves over the whole run; `None` if the file lacks them."""
    kinds = {device: root.leaf().kind for (_, device), root in trees.items()}
    counts = [
        float(row["dropped"])
        for device, rows in file.queues().items()
        for row in rows
        if device in kinds and row.get("qdisc", kinds[device]) == kinds[device] and row.get("dropped") is not None
    ]
    return sum(counts) if counts else None


def _from_warm_up(socket: Socket) -> Socket:
    first = next((place for place, t in enumerate(socket.t_s) if t >= WARM_UP_S - _SLACK_S), len(socket.t_s))
    columns = (socket.t_s, socket.srtt_ms, socket.cwnd, socket.bytes_acked)
    t_s, srtt_ms, cwnd, bytes_acked = (column[first:] for column in columns)
    return Socket(t_s, srtt_ms, cwnd, bytes_acked, socket.retransmissions)


def _goodputs(sockets: Sequence[Socket]) -> list[float]:
    """Goodput of each flow in Mbit/s, from the bytes acknowledged between the first and last sample of all flows."""
    first = min((socket.t_s[0] for socket in sockets if socket.t_s), default=0.0)
    last = max((socket.t_s[-1] for socket in sockets if socket.t_s), default=0.0)
    if last <= first:
        return [0.0 for _ in sockets]
    return [_acked(socket, first) * 8 / 1_000_000 / (last - first) for socket in sockets]


def _acked(socket: Socket, since_s: float) -> float:
    """Bytes acknowledged since the first sample of all flows; a flow that started later had none then."""
    if not socket.t_s:
        return 0.0
    before = socket.bytes_acked[0] if socket.t_s[0] <= since_s + _SLACK_S else 0.0
    return socket.bytes_acked[-1] - before


def _every_step(socket: Socket) -> list[float]:
    """The window at each multiple of the files' step; empty if it was sampled at other times."""
    if not socket.t_s:
        return []
    by_time = {round(t / _SLACK_S): window for t, window in zip(socket.t_s, socket.cwnd, strict=True)}
    first, last = (round(socket.t_s[end] / _WINDOW_STEP_S) for end in (0, -1))
    times = [round(step * _WINDOW_STEP_S / _SLACK_S) for step in range(first, last + 1)]
    return [by_time[time] for time in times if time in by_time]


def _saw(windows: Iterable[float]) -> Measured:
    saw = sawtooth(list(windows), _WINDOW_STEP_S)
    return {} if saw is None else {"sawtooth_period_s": saw.period_s, "sawtooth_depth": saw.depth}


def _if_any(values: Sequence[float], statistic: Callable[[Sequence[float]], float]) -> float | None:
    return statistic(values) if values else None
