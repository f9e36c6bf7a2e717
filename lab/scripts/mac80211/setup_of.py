"""The set-up of a run as recorded in its file: `driver` and `config`."""

import re
from collections.abc import Mapping
from typing import Any

from campaign import Configuration

KERNEL = (
    "Linux 6.12.117 (Debian linux-source-6.12 6.12.117, ARCH=um, HZ=250, time-travel=inf-cpu, no SMP), "
    "drivers/net/wireless/virtual/simwifi.c, hostapd 2.10, iw 5.19"
)
_CHANNEL = "HT20, 5 GHz, two streams, everybody hears everybody, ACK 28 us, Block Ack 32 us, no RTS"
_WIRED = "veth between server and access point: netem, 1 Gbit/s and 250 us from the server, 250 us without a rate to it"
_SERVER = (
    "tso off, gso off, gso_max_segs 1: one MSS a packet; no GRO anywhere. Frames of an aggregate that a station sends "
    "reach the server together (the access point's netem has a delay and no rate), so that its TCP sees them in one "
    "softirq; stations send with software GSO"
)
_READER = "epoll, reads until EAGAIN, after the softirq in which frames arrive"
_AQL = {"low_us": 5000, "high_us": 12000, "threshold_us": 24000}


def numbers(text: str) -> list[int]:
    """Parses the numbers of a module parameter."""
    return [int(word) for word in text.split(",")] if text else []


def driver(one: Configuration, params: Mapping[str, str], edca: Mapping[str, Any]) -> dict[str, Any]:
    """The simulated radio; `params` are the module's, read in the guest."""
    stations = range(1, one["stations"] + 1)
    mcs, per = numbers(params["mcs"]), numbers(params.get("per", ""))
    losses = {str(station): per[station] for station in stations if station < len(per) and per[station]}
    table = one["params"].get("lossmcs")
    return {
        "name": "simwifi",
        "depth": int(params["depth"]),
        "frames_max": int(params["frames_max"]),
        "aggregate_limit_ms": 4,
        "software_retries": 30,
        "retry_by_tries": int(params.get("retry_by_tries", 0)),
        "aql": int(params["aql"]),
        "sgi": int(params["sgi"]),
        "pacing_shift": int(params["pacing_shift"]) or 7,
        "seed": int(params["seed"]),
        "mcs_by_station": {str(station): mcs[station] for station in stations},
        "retry_chain_of_a_fixed_rate": "10 tries at that rate (minstrel_ht's chain otherwise)",
        "loss_by_mcs_per_mille": numbers(table) if table else None,
        "loss_by_station_per_mille": losses or None,
        "channel": _CHANNEL,
        "edca": edca,
    }


def config(one: Configuration, sysctl: Mapping[str, str], flags: str, queues: str, aql: bool) -> dict[str, Any]:
    """The network and its load: settings, flags and queue limits read in the guest."""
    found = re.findall(r"(fq_(?:memory_limit|limit|quantum|flows_cnt))\s+(\d+)", queues)
    return {
        "stations": one["stations"],
        "idle_station": one.get("idle_station"),
        "seconds": one["seconds"],
        "warm": one["warm"],
        "flows": one["flows"],
        "ping_interval_s": 0.1,
        "wired": _WIRED,
        "server": _SERVER,
        "reader": _READER,
        "airtime_flags": [name for name in ("TX", "RX") if f"AIRTIME_{name}" in flags],
        "weights": one.get("weights"),
        "sysctls": one.get("sysctls", []),
        "sysctl": {name: value.replace("\t", " ") for name, value in sysctl.items()},
        "fq": {name: int(value) for name, value in found},
        "commands": one.get("commands", []),
        "steps": one.get("steps", []),
        "aql_limits": _AQL if aql else None,
    }
