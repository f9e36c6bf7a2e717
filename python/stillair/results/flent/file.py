"""Flent data files, with the names that Flent's own tests and plots use.

Written from the description of the format (Flent 2.3, data file version 4). Flent itself is not run: a
scenario is described as the Flent test that would have measured the same.
"""

import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from stillair._native import InputError, __version__
from stillair.results.flent import apps as flent_apps
from stillair.results.flent import host as flent_host
from stillair.results.flent import sockets as flent_sockets
from stillair.results.flent import test as flent_test
from stillair.results.flent.streams import is_upload, streams
from stillair.results.series import Flow, Series
from stillair.results.statistics import jain
from stillair.results.tidy import Measured
from stillair.text import output

DATA_VERSION = 4

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""Default start time of a run: virtual time has no date, and equal runs give equal files."""

# Flent's plots leave out this time at both ends of a test.
_DELAY = 5.0

Values = list[float | None]


class _Test(NamedTuple):
    """A Flent test and the names of its series."""

    name: str
    upload: str
    ping: str


# A single flow to a single host has names without the host.
_FLOOD_ONE = _Test("udp_flood", "UDP upload", "Ping (ms) ICMP")
_FLOOD = _Test("udp_flood_var_up", "UDP upload {}", "Ping (ms) ICMP {}")
_PING = _Test("ping", "UDP upload {}", "Ping (ms) ICMP {}")
# All three TCP tests have series of both directions. Streams between two hosts have their own names.
_TCP = {
    (False, True): _Test("rtt_fair_var_down", "UDP upload {}", "Ping (ms) ICMP {}"),
    (True, False): _Test("rtt_fair_var_up", "UDP upload {}", "Ping (ms) ICMP {}"),
    (True, True): _Test("rtt_fair_var", "UDP upload {}", "Ping (ms) ICMP {}"),
}


def test_name(measured: Measured) -> str:
    """Returns the Flent test that corresponds to a run."""
    return _test(measured.series).name


def file_name(measured: Measured, title: str, begun: datetime = EPOCH) -> str:
    """Returns the file name that Flent would choose."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in title)
    return f"{test_name(measured)}-{_iso(begun).replace(':', '')}.{plain}.flent.gz"


def write(path: Path, measured: Measured, resolved: str, title: str | None = None, begun: datetime = EPOCH) -> None:
    """Writes one run, as if its test had started at `begun`."""
    data = json.dumps(to_dict(measured, resolved, title, begun), ensure_ascii=False, allow_nan=False)
    with (
        output.whole(path) as part,
        part.open("wb") as raw,
        # Leave name and time out of the gzip header.
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file,
    ):
        file.write(data.encode())


def to_dict(measured: Measured, resolved: str, title: str | None = None, begun: datetime = EPOCH) -> dict[str, Any]:
    """Returns the content of a data file."""
    series, scenario = measured.series, json.loads(resolved)
    if not any(flow.pings is not None or flow.bytes is not None for flow in series.flows):
        raise InputError("a Flent file needs a flow with data or a ping, and the scenario has neither")
    t0 = begun.timestamp()
    test = _test(series)
    results: dict[str, Values] = {}
    raw: dict[str, list[dict[str, Any]]] = {}
    meta: dict[str, dict[str, Any]] = {}
    parameters: dict[str, object] = {}
    if series.test is None:
        _uploads(test, series, t0, results, raw, meta)
        _tcp(series, t0, results, raw, meta)
        _pings(test, series, t0, results, raw, meta)
    else:
        _by_name(series, t0, results, raw, meta)
    flent_sockets.add(measured.summary, series, t0, results, raw, meta)
    parameters |= flent_apps.calls(series, t0, results, raw, meta) | flent_apps.pages(series, t0, results, raw, meta)
    stations = _wifi(series, scenario, t0, results, raw)
    _qdiscs(series, scenario, results)
    if not any(raw.values()):
        raise InputError("nothing arrived in this run: Flent would refuse an empty file")
    metadata = _metadata(measured, scenario, title, begun, test) | {"SERIES_META": meta}
    metadata["TEST_PARAMETERS"] |= {
        **parameters,
        "wifi_stats_hosts": ",".join(stations),
        "wifi_stats_interfaces": ",".join(interface for interface, _ in stations.values()),
        "wifi_stats_stations": ",".join(",".join(macs) for _, macs in stations.values()),
    }
    return {
        "version": DATA_VERSION,
        "metadata": metadata,
        "x_values": [series.end_ns(step) / 1e9 for step in range(series.steps)],
        "results": results,
        "raw_values": {name: values for name, values in raw.items() if values},
    }


def _test(series: Series) -> _Test:
    if series.test is not None:
        return _Test(series.test.name, "", "")
    tcp = [flow for flow in series.flows if flow.kind == "tcp"]
    if tcp:
        if found := streams(series):
            return _Test(found.test, "", "Ping (ms) ICMP")
        up = [is_upload(flow) for flow in tcp]
        return _TCP[any(up), not all(up)]
    udp = [flow for flow in series.flows if flow.kind == "udp"]
    pings = len(series.flows) - len(udp)
    if not udp:
        return _PING
    return _FLOOD_ONE if len(udp) == 1 and pings <= 1 else _FLOOD


def host(flow: Flow) -> str:
    """Host of a flow in Flent's sense: the station, or the receiver if there is none."""
    return flow.station or flow.receiver


def _labels(flows: Iterable[Flow]) -> list[str]:
    """The shortest distinct label for each flow."""
    labels: list[str] = []
    for flow in flows:
        plain = f"{host(flow)} up" if flow.sender == flow.station and flow.kind == "udp" else host(flow)
        names = (plain, f"{plain} {flow.ac}", f"{plain} {flow.name}")
        labels.append(next(name for name in names if name not in labels))
    return labels


def _by_name(
    series: Series,
    t0: float,
    results: dict[str, Values],
    raw: dict[str, list[dict[str, Any]]],
    meta: dict[str, dict[str, Any]],
) -> None:
    """Adds the flows of the scenario's Flent test, and the series that Flent derives from them."""
    for flow in flent_test.flows(series):
        name = flow.flent or ""
        tcp = flow.bytes is not None
        samples = flent_test.throughput(series, flow) if tcp else flent_test.pings(flow)
        results[name] = flent_test.on_grid(series, samples)
        raw[name] = [{"t": t0 + t, "val": value} for t, value in samples]
        meta[name] = _meta(flow, "Mbits/s" if tcp else "ms", [value for _, value in samples])
    results.update(flent_test.made(results))


def _uploads(
    test: _Test,
    series: Series,
    t0: float,
    results: dict[str, Values],
    raw: dict[str, list[dict[str, Any]]],
    meta: dict[str, dict[str, Any]],
) -> None:
    flows = [flow for flow in series.flows if flow.kind == "udp"]
    names = [test.upload.format(label) for label in _labels(flows)]
    _rates(dict(zip(names, flows, strict=True)), series, t0, results, raw, meta)
    if "{}" in test.upload and flows:
        _over_flows("UDP upload", names, results)


def _tcp(
    series: Series,
    t0: float,
    results: dict[str, Values],
    raw: dict[str, list[dict[str, Any]]],
    meta: dict[str, dict[str, Any]],
) -> None:
    """Adds TCP flows by direction, as seen from a station: data to a station is a download."""
    alone = streams(series)
    for direction, up in (("TCP upload", True), ("TCP download", False)):
        flows = [flow for flow in series.flows if flow.kind == "tcp" and is_upload(flow) is up]
        names = alone.names() if alone and flows else [f"{direction} {label}" for label in _marked(flows)]
        _rates(dict(zip(names, flows, strict=True)), series, t0, results, raw, meta)
        if flows:
            _over_flows(direction, names, results)


def _marked(flows: Iterable[Flow]) -> list[str]:
    """Labels that start with the access category, as in Flent's rtt_fair tests."""
    labels: list[str] = []
    for flow in flows:
        plain = f"{flow.ac} {host(flow)}"
        labels.append(plain if plain not in labels else f"{plain} {flow.name}")
    return labels


def _rates(
    named: Mapping[str, Flow],
    series: Series,
    t0: float,
    results: dict[str, Values],
    raw: dict[str, list[dict[str, Any]]],
    meta: dict[str, dict[str, Any]],
) -> None:
    for name, flow in named.items():
        values = series.mbps(flow)
        results[name] = list(values)
        raw[name] = [{"t": t0 + series.end_ns(step) / 1e9, "val": value} for step, value in enumerate(values)]
        meta[name] = _meta(flow, "Mbits/s", values)


def _over_flows(what: str, names: Sequence[str], results: dict[str, Values]) -> None:
    totals = [[value or 0.0 for value in step] for step in zip(*(results[name] for name in names), strict=True)]
    results[f"{what} avg"] = [math.fsum(step) / len(step) for step in totals]
    results[f"{what} sum"] = [math.fsum(step) for step in totals]
    results[f"{what} fairness"] = [jain(step) for step in totals]


def _pings(
    test: _Test,
    series: Series,
    t0: float,
    results: dict[str, Values],
    raw: dict[str, list[dict[str, Any]]],
    meta: dict[str, dict[str, Any]],
) -> None:
    flows = [flow for flow in series.flows if flow.pings is not None]
    for flow, label in zip(flows, _labels(flows), strict=True):
        name = _ping(test, flow, label)
        pings = flow.pings or []
        results[name] = series.ping_ms(flow)
        raw[name] = [{"t": t0 + p.at_ns / 1e9, "val": p.rtt_ns / 1e6, "seq": p.seq} for p in pings]
        meta[name] = _meta(flow, "ms", [p.rtt_ns / 1e6 for p in pings])
    if "{}" in test.ping and flows:
        names = (_ping(test, flow, label) for flow, label in zip(flows, _labels(flows), strict=True))
        steps = zip(*(results[name] for name in names), strict=True)
        results["Ping (ms) avg"] = [_mean([value for value in step if value is not None]) for step in steps]


def _ping(test: _Test, flow: Flow, label: str) -> str:
    """Name of a ping series. Flent's depend on the protocol."""
    name = test.ping.format(label)
    return name.replace("ICMP", "UDP") if flow.kind == "udp_ping" else name


def _meta(flow: Flow, units: str, values: Sequence[float]) -> dict[str, Any]:
    return {
        "UNITS": units,
        "MEAN_VALUE": _mean(values),
        "RUNNER": "Stillair",
        "FLOW": flow.name,
        "SENDER": flow.sender,
        "RECEIVER": flow.receiver,
        "DSCP": flow.dscp,
    }


def mac(interface: int) -> str:
    """Locally administered address of an interface, numbered over all nodes in scenario order."""
    number = interface + 1
    return ":".join(f"{byte:02x}" for byte in (0x02, 0, 0, 0, number >> 8 & 0xFF, number & 0xFF))


def _wifi(
    series: Series,
    scenario: Mapping[str, Any],
    t0: float,
    results: dict[str, Values],
    raw: dict[str, list[dict[str, Any]]],
) -> dict[str, tuple[str, list[str]]]:
    """Adds the statistics of each access point's stations.

    Returns each AP's interface and station addresses.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for station, address, ap, interface in _stations(scenario):
        steps = [s for s in series.stations if s.name == station]
        columns = {
            key: _sum(series.steps, [getattr(s, key) for s in steps])
            for key in ("airtime_down_ns", "airtime_up_ns", "mpdus_down", "ppdus_down")
        }
        tx = [ns / 1e3 for ns in columns["airtime_down_ns"]]
        rx = [ns / 1e3 for ns in columns["airtime_up_ns"]]
        total = [(a + b) / 1e3 for a, b in zip(columns["airtime_down_ns"], columns["airtime_up_ns"], strict=True)]
        sizes = [m / p if p else None for m, p in zip(columns["mpdus_down"], columns["ppdus_down"], strict=True)]
        name = f"wifi_stats_{ap}"
        results[f"{name}::airtime_tx::{address}"] = list(tx)
        results[f"{name}::airtime_rx::{address}"] = list(rx)
        results[f"{name}::airtime_total::{address}"] = list(total)
        results[f"{name}::avg_aggr_size::{address}"] = sizes
        results[f"{name}::airtime_sum"] = [
            a + (b or 0.0) for a, b in zip_longest(total, results.get(f"{name}::airtime_sum", []), fillvalue=0.0)
        ]
        items = raw.setdefault(
            name, [{"t": t0 + series.end_ns(step) / 1e9, "stations": {}} for step in range(series.steps)]
        )
        for step, item in enumerate(items):
            values: dict[str, float | None] = {"airtime_tx": tx[step], "airtime_rx": rx[step]}
            if sizes[step] is not None:
                values["avg_aggr_size"] = sizes[step]
            item["stations"][address] = values
        found.setdefault(ap, (interface, []))[1].append(address)
    for ap, (_, addresses) in found.items():
        totals = [results[f"wifi_stats_{ap}::airtime_total::{address}"] for address in addresses]
        # Leave stations without traffic out of the fairness index.
        busy = [values for values in totals if any(values)] or totals
        rows = zip(*busy, strict=True)
        results[f"wifi_stats_{ap}::airtime_fairness"] = [jain([us or 0.0 for us in row]) for row in rows]
    return found


def _stations(scenario: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Each station with its address, and its access point's node and interface."""
    interfaces = [(node["name"], interface) for node in scenario["nodes"] for interface in node["interfaces"]]
    found: dict[str, tuple[str, str, str, str]] = {}
    for number, (name, interface) in enumerate(interfaces):
        role = interface["medium"].get("role", {})
        if role.get("kind") == "station":
            ap, _, at = role["ap"].partition(".")
            # Airtime is counted per node; use the node's first interface.
            found.setdefault(name, (name, mac(number), ap, at))
    return list(found.values())


def _qdiscs(series: Series, scenario: Mapping[str, Any], results: dict[str, Values]) -> None:
    """Packets dropped per interval by the queueing disciplines of each node that dropped any."""
    for node in scenario["nodes"]:
        places = [f"{node['name']}.{interface['name']} qdisc" for interface in node["interfaces"]]
        dropped = [0.0] * series.steps
        for drops in series.drops:
            if drops.place in places:
                for step, packets in drops.steps:
                    dropped[step] += packets
        if any(dropped):
            results[f"qdisc_stats_{node['name']}::dropped"] = list(dropped)


def _metadata(
    measured: Measured, scenario: Mapping[str, Any], title: str | None, begun: datetime, test: _Test
) -> dict[str, Any]:
    series, summary = measured.series, measured.summary
    total = series.duration_ns / 1e9
    hosts = list(dict.fromkeys(host(flow) for flow in series.flows))
    senders = [flow.sender for flow in series.flows if flow.sender != flow.station]
    local = senders[0] if senders else series.flows[0].sender
    title = measured.scenario if title is None else title
    begin = _iso(begun)
    length, parameters = total - 2 * _DELAY if total > 2 * _DELAY else total, {}
    if series.test is not None:
        hosts, local = [series.test.receiver], series.test.sender
        length, parameters = series.test.length_ns / 1e9, flent_test.parameters(series.test)
    elif found := streams(series):
        (local, remote), parameters = found.hosts, found.parameters()
        hosts = [remote]
    return {
        "NAME": test.name,
        "TITLE": title,
        "NOTE": _note(scenario),
        "HOST": hosts[0],
        "HOSTS": hosts,
        "LOCAL_HOST": local,
        "LENGTH": length,
        "TOTAL_LENGTH": total,
        "STEP_SIZE": series.step_ns / 1e9,
        "TIME": begin,
        "T0": begin,
        "BATCH_NAME": None,
        "BATCH_TIME": begin,
        "BATCH_TITLE": None,
        "BATCH_UUID": None,
        "DATA_FILENAME": file_name(measured, title, begun),
        "FLENT_VERSION": f"Stillair {__version__}",
        "IP_VERSION": 4,
        "TEST_PARAMETERS": parameters,
        **flent_host.metadata(scenario, local),
        "REMOTE_METADATA": {
            name: {"LOCAL_HOST": name} | flent_host.metadata(scenario, name) for name in hosts if name != local
        },
        "STILLAIR": {
            "version": __version__,
            "scenario": scenario,
            "run": summary["run"],
            "seed": summary["seed"],
            "trace_hash": summary["trace_hash"],
            "warm_up_s": series.warm_up_ns / 1e9,
        },
    }


def _note(scenario: Mapping[str, Any]) -> str:
    names = ", ".join(f"{address} is {station}" for station, address, _, _ in _stations(scenario))
    return "Made by Stillair in virtual time; the date has no meaning. " + (f"Stations: {names}." if names else "")


def _iso(time: datetime) -> str:
    """Flent requires the fraction and the Z."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _sum(steps: int, columns: Sequence[Sequence[int]]) -> list[int]:
    return [sum(values) for values in zip(*columns, strict=True)] if columns else [0] * steps


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
