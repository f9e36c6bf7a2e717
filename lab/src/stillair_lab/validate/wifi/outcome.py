"""Results of a simulated run by station, in the form of the kernel's files.

Only this module uses the report's keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from stillair._native import RunError
from stillair_lab.validate.wifi.measured import Flow, Setup
from stillair_lab.validate.wifi.scenario import LEAD_S, reported, station

_SLACK_S = 1e-6
_QUEUES = "ap.wlan0 mac"


@dataclass(frozen=True)
class Tcp:
    """All connections of a station in one direction, after the warm-up."""

    goodput_mbps: float
    srtt_median_ms: float | None
    cwnd_mean_pkts: float | None
    segments_per_ack: float | None
    retransmissions: int
    ce_delivered: int


@dataclass(frozen=True)
class Way:
    """Airtime and frames between access point and station in one direction, after the warm-up."""

    ppdus: int
    mpdus: int
    by_rate: Mapping[str, int]
    """Attempts by rate over the whole run, with Minstrel."""


@dataclass(frozen=True)
class Station:
    """Results of a station."""

    goodput_mbps: float
    airtime_share: float
    ping_median_ms: float | None
    tcp: Mapping[str, Tcp]
    """TCP results by kind of flow."""
    ways: Mapping[str, Way]
    """Air by direction, `down` and `up`."""


@dataclass(frozen=True)
class Outcome:
    """Results of a run."""

    goodput_mbps: float
    stations: Mapping[int, Station]
    codel_drops: int
    """CoDel drops in the access point's queues, after the warm-up."""
    collision_share: float
    """Share of the whole time."""
    step_s: float
    datagrams: Sequence[float]
    """UDP datagrams received by station 1 in each step since the start of the loads."""


def outcome(run: Mapping[str, Any], setup: Setup) -> Outcome:
    """Reads a run with series."""
    try:
        series, first = run["series"], _warm(setup) * 1e9
        stations = {number: _station(run, setup, number) for number in range(1, setup.config.stations + 1)}
        drops = sum(
            packets
            for row in series["drops"]
            if (row["place"], row["reason"]) == (_QUEUES, "codel")
            for step, packets in row["steps"]
            if step * series["step_ns"] >= first
        )
        air = run["air"]["wifi"]
        share = air.get("collision_us", 0.0) / sum(air.values())
        return Outcome(
            run["goodput_total_mbps"], stations, drops, share, series["step_ns"] / 1e9, _datagrams(series, setup)
        )
    except KeyError as error:
        raise RunError(f'the run has no "{error.args[0]}" in its report') from None


def _datagrams(series: Mapping[str, Any], setup: Setup) -> list[float]:
    own = {reported(flow): flow for flow in setup.config.flows if (flow.kind, flow.station) == ("udp", 1)}
    counts = [0.0] * series["steps"]
    for row in series["flows"]:
        if row["name"] in own:
            counts = [
                count + arrived / own[row["name"]].payload for count, arrived in zip(counts, row["bytes"], strict=True)
            ]
    return counts[round(LEAD_S * 1e9 / series["step_ns"]) :]


def _warm(setup: Setup) -> float:
    """End of the warm-up in a simulated run."""
    return LEAD_S + setup.config.warm


def _station(run: Mapping[str, Any], setup: Setup, number: int) -> Station:
    name = station(number)
    summary = run["stations"][name]
    loads = [flow for flow in setup.config.flows if flow.station == number and flow.kind.startswith("tcp")]
    ways = {
        "down": _way(run, name, "down", _warm(setup), f"ap.wlan0 to {name}.wlan0"),
        "up": _way(run, name, "up", _warm(setup), f"{name}.wlan0 to ap.wlan0"),
    }
    return Station(
        summary["goodput_mbps"],
        summary["airtime_share"] or 0.0,
        summary["ping_median_ms"],
        {flow.kind: _tcp(run, flow, _warm(setup)) for flow in loads},
        ways,
    )


def _way(run: Mapping[str, Any], name: str, way: str, warm: float, link: str) -> Way:
    series = run["series"]
    first = round(warm * 1e9 / series["step_ns"])
    own = [row for row in series["stations"] if row["name"] == name]
    ppdus, mpdus = (sum(sum(row[f"{what}_{way}"][first:]) for row in own) for what in ("ppdus", "mpdus"))
    rates = run.get("rc_stats", {}).get(link, ())
    # Stillair's `ht20-mcs13-sgi` is the kernel's `mcs13-sgi`.
    return Way(ppdus, mpdus, {row["rate"].partition("-")[2]: row["attempts"] for row in rates})


def _tcp(run: Mapping[str, Any], flow: Flow, warm: float) -> Tcp:
    names = [reported(flow, number) for number in range(flow.number)]
    goodput = sum(run["flows"][name]["goodput_mbps"] for name in names)
    sockets = [_from(run["sockets"][name], warm) for name in names]
    # A socket has no round-trip time before its first measurement.
    srtt = [value for socket in sockets for value in socket["srtt_ms"] if value]
    windows = [value for socket in sockets for value in socket["cwnd"]]
    acks = sum(map(_grown, (socket["segs_in"] for socket in sockets)))
    data = sum(map(_grown, (socket["data_segs_out"] for socket in sockets)))
    return Tcp(
        goodput,
        median(srtt) if srtt else None,
        fmean(windows) if windows else None,
        data / acks if acks else None,
        sum(_grown(socket["retrans_total"]) for socket in sockets),
        sum(_grown(socket["delivered_ce"]) for socket in sockets),
    )


_COLUMNS = ("srtt_ms", "cwnd", "segs_in", "data_segs_out", "retrans_total", "delivered_ce")


def _from(socket: Mapping[str, Sequence[Any]], warm: float) -> dict[str, list[Any]]:
    """Samples of a socket after the warm-up."""
    kept = [place for place, t in enumerate(socket["t_s"]) if t >= warm - _SLACK_S]
    return {name: [socket[name][place] for place in kept] for name in _COLUMNS}


def _grown(counter: Sequence[int]) -> int:
    return counter[-1] - counter[0] if counter else 0
