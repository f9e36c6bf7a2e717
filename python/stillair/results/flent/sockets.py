"""TCP sender state in Flent data files, with the names of Flent's socket statistics (`--socket-stats`)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stillair.results import sampled
from stillair.results.flent import test as flent_test
from stillair.results.series import Series

# Fields that Flent reads from ss: packets, ms, Mbit/s.
_KEYS = {
    "cwnd": "tcp_cwnd",
    "srtt_ms": "tcp_rtt",
    "rttvar_ms": "tcp_rtt_var",
    "pacing_mbps": "tcp_pacing_rate",
    "delivery_mbps": "tcp_delivery_rate",
}

# Without a pacing rate, a socket reports the maximum of the kernel's field, in bytes per second.
_NO_RATE_MBPS = 2**63 * 8 / 1e6

# In other states no process owns the socket, and Flent finds sockets by process.
_HELD = ("SYN-SENT", "ESTAB", "CLOSE-WAIT")


def add(
    run: sampled.Run,
    series: Series,
    t0: float,
    results: dict[str, list[float | None]],
    raw: dict[str, list[dict[str, Any]]],
    meta: Mapping[str, Mapping[str, Any]],
) -> None:
    """Adds the samples of `[record] ss` to the existing TCP series, as separate items.

    Flent samples on its own host and so only knows uploads; its plots accept a download's sender as well.
    """
    sockets = sampled.sockets(run)
    for name in [name for name in meta if name.startswith("TCP ")]:
        columns = sockets.get(meta[name]["FLOW"])
        items = [] if columns is None else list(_items(columns))
        for key in _KEYS.values():
            samples = [flent_test.Sample(item["t"], item[key]) for item in items if key in item]
            if samples:
                results[f"{name}::{key}"] = flent_test.on_grid(series, samples)
        moved = [item | {"t": t0 + item["t"]} for item in items]
        raw[name] = sorted([*raw[name], *moved], key=lambda item: item["t"])


def _items(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for t, state, *row in zip(columns["t_s"], columns["state"], *(columns[ours] for ours in _KEYS), strict=True):
        # ss leaves out zero and unknown values, and infinite rates.
        named = zip(_KEYS.values(), row, strict=True)
        values = {key: value for key, value in named if value and value < _NO_RATE_MBPS}
        if state in _HELD and values:
            yield {"t": t} | values
