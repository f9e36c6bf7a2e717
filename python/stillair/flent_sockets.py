"""The state of TCP senders in Flent data files, under the names of Flent's socket statistics (`--socket-stats`)."""

from collections.abc import Iterable, Mapping
from typing import Any

from stillair import flent_test, sampled
from stillair.series import Series

# What Flent reads from ss: packets, ms, Mbit/s.
_KEYS = {
    "cwnd": "tcp_cwnd",
    "srtt_ms": "tcp_rtt",
    "rttvar_ms": "tcp_rtt_var",
    "pacing_mbps": "tcp_pacing_rate",
    "delivery_mbps": "tcp_delivery_rate",
}

# A socket without a pacing rate has the largest number of bytes a second that the kernel's field holds.
_NO_RATE_MBPS = 2**63 * 8 / 1e6

# In all others no process has the socket, and by its process Flent finds it.
_HELD = ("SYN-SENT", "ESTAB", "CLOSE-WAIT")


def add(
    run: sampled.Run,
    series: Series,
    t0: float,
    results: dict[str, list[float | None]],
    raw: dict[str, list[dict[str, Any]]],
    meta: Mapping[str, Mapping[str, Any]],
) -> None:
    """Adds the samples of `[record] ss` to the TCP series that are there: items of their own beside the throughput's.

    Flent samples where it runs, so uploads alone; its plots take what a download's sender knows as well.
    """
    sockets = sampled.sockets(run)
    for name in [name for name in meta if name.startswith("TCP ")]:
        columns = sockets.get(meta[name]["FLOW"], {})
        items = list(_items(columns))
        for key in _KEYS.values():
            samples = [flent_test.Sample(item["t"], item[key]) for item in items if key in item]
            if samples:
                results[f"{name}::{key}"] = flent_test.on_grid(series, samples)
        moved = [item | {"t": t0 + item["t"]} for item in items]
        raw[name] = sorted([*raw[name], *moved], key=lambda item: item["t"])


def _items(columns: Mapping[str, Iterable[Any]]) -> Iterable[dict[str, Any]]:
    rows = zip(*columns.values(), strict=True)
    for row in (dict(zip(columns, values, strict=True)) for values in rows):
        # ss leaves out what is zero, not known yet, or no rate at all.
        values = {key: row[ours] for ours, key in _KEYS.items() if row.get(ours) and row[ours] < _NO_RATE_MBPS}
        if row["state"] in _HELD and values:
            yield {"t": row["t_s"]} | values
