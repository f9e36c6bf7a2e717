"""Synthetic results of any length and number of stations."""

from typing import Any

import numpy as np

from stillair.cli.publish import page

SECOND = 1_000_000_000


def synthetic(seconds: int, interval_ns: int, step_ns: int, stations: int) -> page.Read:
    """A result with a ping and a UDP flow of each station, with a reply in each interval."""
    rng = np.random.default_rng(1)
    steps, names = seconds * SECOND // step_ns, [f"sta{n + 1}" for n in range(stations)]
    replies = range(seconds * SECOND // interval_ns)
    series: dict[str, Any] = {
        "step_ns": step_ns, "steps": steps, "duration_ns": seconds * SECOND, "warm_up_ns": 0, "drops": [],
        "flows": [], "stations": [], "queues": [],
    }  # fmt: skip
    for name in names:
        about = {"from": "server", "to": name, "station": name, "ac": "BE", "tos": 0, "dscp": 0}
        rtts = rng.integers(SECOND // 1000, SECOND // 50, len(replies)).tolist()
        pings = [[n * interval_ns + 1_000_000, rtt, n] for n, rtt in zip(replies, rtts, strict=True)]
        series["flows"] += [
            {"name": f"ping-{name}", "kind": "ping", "pings": pings, **about},
            {"name": f"udp-{name}", "kind": "udp", "bytes": rng.integers(0, 10_000, steps).tolist(), **about},
        ]
        air = {
            key: rng.integers(0, step_ns // (4 * stations), steps).tolist()
            for key in ("airtime_down_ns", "airtime_up_ns")
        }
        counts = dict.fromkeys(("ppdus_down", "ppdus_up", "mpdus_down", "mpdus_up"), [2] * steps)
        series["stations"].append({"name": name, "ac": "BE", **air, **counts})
    waiting = {"packets": [1] * steps, "bytes": rng.integers(0, 100_000, steps).tolist()}
    series["queues"].append({"interface": "ap.wlan0", "layer": "driver", **waiting})
    station = {
        "goodput_mbps": 1.0, "airtime_share": 1 / stations, "mean_aggregate": 2.0, "ping_median_ms": 10.0,
        "ping_p95_ms": 19.0,
    }  # fmt: skip
    run = {
        "run": 0, "seed": 1, "trace_hash": "0", "goodput_total_mbps": 1.0, "jain_airtime": 1.0, "drops": [], "air": {},
        "stations": dict.fromkeys(names, station), "series": series,
    }  # fmt: skip
    return page.Read({"version": "0", "scenario": "long", "runs": [run]})
