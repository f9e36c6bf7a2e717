"""The summary at the terminal: text first."""

from collections.abc import Mapping
from typing import Any

from stillair.result import Result
from stillair.table import table

_STATIONS = (
    ("goodput_mbps", "goodput Mbit/s", 1, 2),
    ("airtime_share", "airtime %", 100, 1),
    ("mean_aggregate", "frames/aggregate", 1, 2),
    ("ping_median_ms", "ping median ms", 1, 1),
    ("ping_p95_ms", "ping p95 ms", 1, 1),
    ("udp_ping_median_ms", "UDP ping median ms", 1, 1),
    ("udp_ping_p95_ms", "UDP ping p95 ms", 1, 1),
)

NOT_MEASURED = "-"


def summary(result: Result) -> str:
    """What a person wants to know about the runs."""
    over = result.over_runs()
    traffic = [_flows(over), _pings(over), _calls(over), _pages(over), _transfers(over)]
    parts = [_head(result), _stations(over), _totals(over), *traffic, _drops(over), _air(over)]
    return "\n\n".join(part for part in parts if part) + "\n"


def figure(value: Mapping[str, float] | None, scale: float = 1, digits: int = 2) -> str:
    """A mean, with half its interval if there is one: `5.91 ±0.12`."""
    if value is None:
        return NOT_MEASURED
    mean = f"{value['mean'] * scale:.{digits}f}"
    half = (value["high"] - value["low"]) / 2 * scale
    return mean if value["high"] == value["low"] else f"{mean} ±{half:.{digits}f}"


def _head(result: Result) -> str:
    runs = len(result.runs)
    seeds = sorted({run["seed"] for run in result.runs})
    if runs == 1:
        return f"{result.scenario}: run {result.runs[0]['run']}, seed {seeds[0]}"
    return (
        f"{result.scenario}: {runs} runs, seed {', '.join(map(str, seeds))}; "
        "means with 95 % confidence intervals over the runs"
    )


def _stations(over: Mapping[str, Any]) -> str:
    stations = (over.get("stations") or {}).items()
    # What no station has, such as UDP pings in most scenarios, takes no column.
    columns = [
        column
        for column in _STATIONS
        if not column[0].startswith("udp_") or any(station.get(column[0]) for _, station in stations)
    ]
    rows = [
        [name, *(figure(station.get(key), scale, digits) for key, _, scale, digits in columns)]
        for name, station in stations
    ]
    return table(["station", *(heading for _, heading, _, _ in columns)], rows) if rows else ""


def _totals(over: Mapping[str, Any]) -> str:
    goodput = f"total goodput {figure(over.get('goodput_total_mbps'))} Mbit/s"
    jain = over.get("jain_airtime")
    return goodput if jain is None else f"{goodput}, Jain's index of the airtime {figure(jain, digits=3)}"


_FLOWS = (
    ("goodput_mbps", "goodput Mbit/s", 1, 2),
    ("retransmissions", "retransmissions", 1, 0),
    ("timeouts", "timeouts", 1, 0),
    ("minrtt_ms", "least RTT ms", 1, 1),
)
_PINGS = (("median_ms", "median ms", 1, 1), ("p95_ms", "p95 ms", 1, 1), ("replies", "replies", 1, 0))


def _flows(over: Mapping[str, Any]) -> str:
    """The TCP flows, unless there is no more than one for each station, whose row has said it."""
    flows = (over.get("flows") or {}).items()
    if len(flows) <= len(over.get("stations") or {}):
        return ""
    rows = [[name, *(figure(flow.get(key), scale, digits) for key, _, scale, digits in _FLOWS)] for name, flow in flows]
    return table(["TCP", *(heading for _, heading, _, _ in _FLOWS)], rows)


def _pings(over: Mapping[str, Any]) -> str:
    """The pings that have no row of a station."""
    pings = {} if over.get("stations") else over.get("pings") or {}
    rows = [
        [name, *(figure(ping.get(key), scale, digits) for key, _, scale, digits in _PINGS)]
        for name, ping in pings.items()
    ]
    return table(["ping", *(heading for _, heading, _, _ in _PINGS)], rows) if rows else ""


_CALLS = (
    ("mos", "MOS", 1, 2),
    ("delay_ms", "delay ms", 1, 1),
    ("jitter_ms", "jitter ms", 1, 2),
    ("loss", "loss %", 100, 2),
    ("packets", "packets", 1, 0),
)


def _calls(over: Mapping[str, Any]) -> str:
    calls = (over.get("voip") or {}).items()
    rows = [[name, *(figure(call.get(key), scale, digits) for key, _, scale, digits in _CALLS)] for name, call in calls]
    return table(["call", *(heading for _, heading, _, _ in _CALLS)], rows) if rows else ""


_TRANSFERS = (
    ("throughput_mbps", "UDP payload Mbit/s", 1, 2),
    ("transfer_s", "transfer s", 1, 3),
    ("srtt_ms", "srtt ms", 1, 1),
    ("loss_percent", "loss %", 1, 3),
    ("acks_sent", "ACKs", 1, 0),
    ("gaps_below_100us_percent", "gaps < 100 us %", 1, 1),
)


def _transfers(over: Mapping[str, Any]) -> str:
    flows = (over.get("quic") or {}).items()
    rows = [
        [name, *(figure(flow.get(key), scale, digits) for key, _, scale, digits in _TRANSFERS)] for name, flow in flows
    ]
    return table(["QUIC", *(heading for _, heading, _, _ in _TRANSFERS)], rows) if rows else ""


_PAGES = (
    ("mean_s", "page load mean s", 1, 3),
    ("median_s", "median s", 1, 3),
    ("p95_s", "p95 s", 1, 3),
    ("loads", "loads", 1, 0),
    ("unfinished_s", "unfinished s", 1, 1),
)


def _pages(over: Mapping[str, Any]) -> str:
    pages = (over.get("web") or {}).items()
    rows = [[name, *(figure(page.get(key), scale, digits) for key, _, scale, digits in _PAGES)] for name, page in pages]
    return table(["page", *(heading for _, heading, _, _ in _PAGES)], rows) if rows else ""


def _drops(over: Mapping[str, Any]) -> str:
    drops = over["drops"]
    if not drops:
        return "no drops"
    rows = [[drop["place"], drop["reason"], figure(drop["packets"], digits=0)] for drop in drops]
    return table(["dropped at", "reason", "packets"], rows)


def _air(over: Mapping[str, Any]) -> str:
    channels = (over.get("air") or {}).items()
    return "\n".join(line for name, uses in channels if (line := _channel(name, uses)))


def _channel(name: str, uses: Mapping[str, Any]) -> str:
    accounts = [(use.removesuffix("_us"), value["mean"]) for use, value in uses.items() if value is not None]
    whole = sum(us for _, us in accounts)
    if whole <= 0:
        return ""
    return f"air of {name}: " + ", ".join(f"{use} {100 * us / whole:.1f} %" for use, us in accounts)
