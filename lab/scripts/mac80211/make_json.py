#!/usr/bin/env python3
"""`make_json.py DEST [OUTS]`: a JSON file for each configuration and repetition, with the spread over them."""

import json
import re
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import counters
import run
import setup_of
from campaign import mac

WARM_S = 5.0
_HT20_MBPS = (6.5, 13, 19.5, 26, 39, 52, 58.5, 65)
_STA_ROLE = {"idle": "idle, only pinged", "loaded": "loaded", "nothing": "nothing"}
_NOTE = (
    "{} repetitions: other seeds of the driver and of the kernel's random numbers, flows started 0, 37 or 71 ms apart; "
    "half range over mean in percent"
)
_RULE = "from the step to the beginning of the first 0.5 s whose mean is at least 90 % of that after 20 s"
# Columns that `flow send` writes for each socket.
_T_MS, _FLOW, _CWND, _RTT_US, _MIN_RTT_US, _RETRANS, _ACKED, _UNACKED, _RWND_US = 0, 1, 2, 4, 6, 9, 10, 11, 16
_SEGS_IN, _DATA_OUT, _DSACKS, _REORDERINGS, _CE = 19, 20, 23, 24, 25


class Run:
    """Results of a boot."""

    def __init__(self, folder: Path) -> None:
        """Reads the folder of a boot."""
        self.folder = folder
        self.info = json.loads((folder / "info.json").read_text(encoding="utf-8"))
        self.one = self.info["config"]
        self.before = counters.driver(self.info["before"]["simwifi"])
        self.after = counters.driver(self.info["after"]["simwifi"])
        self.seconds = (self.after["t_ns"] - self.before["t_ns"]) / 1e9
        self.stations = range(1, self.one["stations"] + 1)
        self.air = {s: [self.grown(s, way)["air_us"] / 1e6 for way in (0, 1)] for s in self.stations}
        self.all_air = sum(map(sum, self.air.values())) or 1.0
        self.spread: dict[str, float] = {}

    def grown(self, station: int, way: int) -> dict[str, int]:
        """Increase of the driver's counters for a station in one direction."""
        before = self.before["sta"][station, way]
        return {name: value - before[name] for name, value in self.after["sta"][station, way].items()}

    def text(self, name: str) -> str | None:
        """A file of the boot, or `None`."""
        path = self.folder / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else None


def distribution(values: Iterable[float], digits: int = 3) -> dict[str, float] | None:
    """Mean and quantiles; `None` without values."""
    ordered = sorted(values)
    if not ordered:
        return None

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], digits)

    return {
        "n": len(ordered), "mean": round(fmean(ordered), digits), "p10": at(0.1), "median": at(0.5), "p90": at(0.9),
        "p95": at(0.95), "min": round(ordered[0], digits), "max": round(ordered[-1], digits),
    }  # fmt: skip


def edca(log: str) -> dict[str, Any]:
    """EDCA parameters that mac80211 passed to the driver."""
    found: dict[str, Any] = {}
    for who, radio in (("access_point", 0), ("station", 1)):
        for ac, *values in re.findall(rf"simwifi{radio} ac(\d) aifs (\d+) cw (\d+) (\d+) txop (\d+)", log):
            names = ("aifs", "cwmin", "cwmax", "txop_not_used")
            category = ("VO", "VI", "BE", "BK")[int(ac)]
            found.setdefault(who, {})[category] = dict(zip(names, map(int, values), strict=True))
    return found


def tcp(of: Run, station: int, way: str, flow: Mapping[str, Any]) -> dict[str, Any] | None:
    """TCP results of a station in one direction."""
    text = of.text(f"tcp_{way}{station}")
    if text is None:
        return None
    start = flow.get("start", 0)
    lines = [line.split() for line in text.splitlines()]
    rows = [[float(word) for word in line] for line in lines if len(line) > _CE]
    warm = [row for row in rows if row[_T_MS] / 1000 + start >= WARM_S - 1e-3]
    by_flow: dict[int, list[list[float]]] = {}
    for row in warm:
        by_flow.setdefault(int(row[_FLOW]), []).append(row)
    ends = [(own[0], own[-1]) for _, own in sorted(by_flow.items()) if own[-1][_T_MS] > own[0][_T_MS]]
    goodput = [round((b[_ACKED] - a[_ACKED]) * 8 / (b[_T_MS] - a[_T_MS]) / 1e3, 3) for a, b in ends]
    acks = [(b[_DATA_OUT] - a[_DATA_OUT], b[_SEGS_IN] - a[_SEGS_IN]) for a, b in ends if b[_SEGS_IN] > a[_SEGS_IN]]
    last = {int(row[_FLOW]): row for row in rows}
    final = [last[number] for number in sorted(last)]
    squares = len(goodput) * sum(value * value for value in goodput)
    made = {
        "congestion_control": flow.get("cc", "cubic"),
        "flows": flow.get("n", 1),
        "goodput_mbps": round(sum(goodput), 3),
        "goodput_per_flow_mbps": goodput,
        "jain": round(sum(goodput) ** 2 / squares, 4) if squares else None,
        "tcp_srtt_ms": distribution(row[_RTT_US] / 1e3 for row in warm),
        "min_rtt_ms": round(min(row[_MIN_RTT_US] for row in warm) / 1e3, 3) if warm else None,
        "cwnd_pkts": distribution((row[_CWND] for row in warm), 1),
        "inflight_pkts": distribution((row[_UNACKED] for row in warm), 1),
        "retransmissions": [int(row[_RETRANS]) for row in final],
        "retransmissions_from_warm": int(sum(b[_RETRANS] - a[_RETRANS] for a, b in ends)),
        "bytes_acked": [int(row[_ACKED]) for row in final],
        "segments_per_ack": round(sum(one[0] for one in acks) / sum(one[1] for one in acks), 3) if acks else None,
        "delivered_ce_from_warm": int(sum(b[_CE] - a[_CE] for a, b in ends)),
        "reordering_seen": int(sum(row[_REORDERINGS] for row in final)),
        "dsack_dups": int(sum(row[_DSACKS] for row in final)),
        "seconds_rwnd_limited": round(sum(row[_RWND_US] for row in final) / 1e6, 2),
    }
    name = f"sta{station} tcp_{way}"
    of.spread[f"{name} goodput_mbps"] = made["goodput_mbps"]
    if made["tcp_srtt_ms"] and made["cwnd_pkts"]:
        of.spread[f"{name} srtt median ms"] = made["tcp_srtt_ms"]["median"]
        of.spread[f"{name} cwnd mean"] = made["cwnd_pkts"]["mean"]
    if made["segments_per_ack"]:
        of.spread[f"{name} segments_per_ack"] = made["segments_per_ack"]
    return made


def udp(of: Run, station: int, flows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Counters of a station's sink."""
    found = re.search(r"(\d+) bytes (\d+) packets ([\d.]+)", of.text(f"sink{station}") or "")
    if not found:
        return None
    offered = sum(flow["bps"] for flow in flows if flow["kind"] == "udp") / 1e6
    goodput = round(int(found[1]) * 8 / of.seconds / 1e6, 3)
    of.spread[f"sta{station} udp goodput_mbps"] = goodput
    return {"offered_mbps": offered, "goodput_mbps": goodput, "datagrams": int(found[2])}


def pings(of: Run, station: int) -> dict[str, Any]:
    """Ping replies of a station."""
    text = of.text(f"ping{station}") or ""
    times = {int(number): float(ms) for number, ms in re.findall(r"icmp_seq=(\d+).*?time=([\d.]+)", text)}
    found = distribution(ms for number, ms in times.items() if number > WARM_S * 10)
    if found is None:
        return {}
    of.spread[f"sta{station} ping median ms"] = found["median"]
    of.spread[f"sta{station} ping mean ms"] = found["mean"]
    last = max(times)
    return {
        "ping_ms": found,
        "pings": {"interval_s": 0.1, "sent_up_to_last_answer": last, "lost": last - len(times)},
    }


def airtime(of: Run, station: int) -> dict[str, Any]:
    """Airtime of a station, from the driver and from mac80211."""
    down, up = of.air[station]
    made: dict[str, Any] = {
        "share": round((down + up) / of.all_air, 4), "down_s": round(down, 4), "up_s": round(up, 4),
    }  # fmt: skip
    of.spread[f"sta{station} airtime share"] = made["share"]
    before, after = (counters.airtime(of.info[when]["airtime"].get(mac(station), "")) for when in ("before", "after"))
    if after:
        made["mac80211"] = {
            "tx_s": round((after["tx"] - before["tx"]) / 1e6, 4),
            "rx_s": round((after["rx"] - before["rx"]) / 1e6, 4),
            "weight": after["weight"],
        }
    return made


def air(of: Run, station: int, way: int) -> dict[str, Any] | None:
    """Aggregates and rates in one direction."""
    own = of.grown(station, way)
    if not own["tries"]:
        return None
    had = of.before["hist"].get((station, way), {})
    sizes = {size: count - had.get(size, 0) for size, count in of.after["hist"].get((station, way), {}).items()}
    mean = round(own["frames"] / own["ppdus"], 3) if own["ppdus"] else None
    made: dict[str, Any] = {
        "aggregates": own["ppdus"], "frames_per_aggregate": mean, "tries": own["tries"], "mpdus_ok": own["ok"],
        "mpdus_bad": own["bad"], "tries_collided": own["collided"], "bars": own["bar"],
        "aggregates_by_frames": {str(size): count for size, count in sizes.items() if count},
    }  # fmt: skip
    if own["ppdus"] > 20 and mean is not None:
        of.spread[f"sta{station} air_{('down', 'up')[way]} frames_per_aggregate"] = mean
    before = of.before["mcs"].get((station, way), {})
    rates = {
        key: [value - old for value, old in zip(values, before.get(key, [0] * 4), strict=True)]
        for key, values in of.after["mcs"].get((station, way), {}).items()
    }
    mpdus, time = (sum(values[column] for values in rates.values()) or 1 for column in (1, 3))
    ht = {key: values[1] for key, values in rates.items() if key < counters.LEGACY and values[1]}
    if ht:
        weighted = sum(count * _mbps(key) for key, count in ht.items())
        made["mean_rate_mbps"] = round(weighted / sum(ht.values()), 3)
    made["by_rate"] = {
        counters.rate_name(key): {
            "tries": values[0], "mpdus": values[1], "mpdus_ok": values[2],
            "share_of_mpdus": round(values[1] / mpdus, 4), "share_of_time": round(values[3] / time, 4),
        }
        for key, values in sorted(rates.items())
        if values[0]
    }  # fmt: skip
    return made


def _mbps(key: int) -> float:
    return _HT20_MBPS[key % 8] * (1 + key % 16 // 8) * (10 / 9 if key >= 16 else 1)


def station_of(of: Run, station: int) -> dict[str, Any]:
    """All results of a station."""
    flows = [flow for flow in of.one["flows"] if flow["sta"] == station]
    mcs, per = setup_of.numbers(of.info["params"]["mcs"]), setup_of.numbers(of.info["params"]["per"])
    role = "nothing" if not flows else "idle" if station == of.one.get("idle_station") else "loaded"
    fixed = station < len(mcs) and mcs[station] >= 0
    made: dict[str, Any] = {"role": _STA_ROLE[role], "mcs": mcs[station] if fixed else "minstrel_ht"}
    if station < len(per) and per[station]:
        made["mpdu_loss"] = per[station] / 1000
    parts: dict[str, Any] = {"udp": udp(of, station, flows)}
    for way in ("down", "up"):
        own = [flow for flow in flows if flow["kind"] == f"tcp_{way}"]
        parts[f"tcp_{way}"] = tcp(of, station, way, own[0]) if own else None
    parts |= pings(of, station) | {"airtime": airtime(of, station)}
    parts |= {"air_down": air(of, station, 0), "air_up": air(of, station, 1)}
    made |= {name: part for name, part in parts.items() if part is not None}
    before, after = (of.info[when]["aqm"].get(mac(station), "") for when in ("before", "after"))
    if after:
        old, new = counters.aqm(before), counters.aqm(after)
        made["aqm_down"] = {key: new[key] if key.startswith("backlog") else new[key] - old[key] for key in new}
    if not fixed:
        made["rc_down"] = counters.rates(of.info["rc"].get(mac(station), ""))
        made["rc_up"] = counters.rates(of.info["rc_up"].get(f"sta{station}", ""))
        made["rc_series"] = [
            {"t_s": round(t, 3), **counters.rates_csv(rates.get(mac(station), ""))} for t, rates in of.info["rc_series"]
        ]
    network = [counters.snmp(of.info[when]["snmp"].get(f"sta{station}", "")) for when in ("before", "after")]
    if network[1]:
        made["host_counters"] = counters.grown(network[1], network[0])
    return made


def step(of: Run, series: Mapping[str, Any], rates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Recovery time after a change of the loss table."""
    at, length = of.one["steps"][0]["at"], series["step_s"]
    samples = list(zip(series["t_s"], series["mpdus_down"]["1"], strict=True))
    before = fmean(count for t, count in samples if at - 5 < t <= at)
    after = fmean(count for t, count in samples if t > 20)
    later = [(t, count) for t, count in samples if t > at + 1e-3]
    recovered = None
    for place in range(len(later) - 4):
        if fmean(count for _, count in later[place : place + 5]) >= 0.9 * after:
            recovered = round(later[place][0] - length - at, 3)
            break
    final = rates[-1].get("best")
    until_best = next(
        (round(row["t_s"] - at, 3) for row in rates if row["t_s"] > at and row.get("best") == final), None
    )
    if recovered is not None:
        of.spread["step recovery_s"] = recovered
    return {
        "at_s": at,
        "mpdus_per_s_before": round(before / length, 1),
        "mpdus_per_s_after_20_s": round(after / length, 1),
        "recovery_s": recovered,
        "recovery_rule": _RULE,
        "seconds_until_best_is_the_final_best": until_best,
        "mpdus_in_first_second": sum(count for t, count in later if t <= at + 1.0001),
    }


def results(of: Run) -> dict[str, Any]:
    """All results of a run."""
    stations = {str(station): station_of(of, station) for station in of.stations}
    samples = [(t, counters.driver(lines)["sta"]) for t, lines in of.info["series"]]
    series: dict[str, Any] = {
        "step_s": round(samples[1][0] - samples[0][0], 3),
        "what": "MPDUs that arrived for the first time, by station, in each step",
        "t_s": [round(t, 3) for t, _ in samples[1:]],
    }
    loaded = [station for station in of.stations if stations[str(station)]["role"] == "loaded"]
    for way, name in enumerate(("down", "up")):
        series[f"mpdus_{name}"] = {
            str(station): [
                after[station, way]["ok"] - before[station, way]["ok"] for (_, before), (_, after) in pairwise(samples)
            ]
            for station in loaded
        }
    kinds = ("udp", "tcp_down", "tcp_up")
    total = round(sum(x[kind]["goodput_mbps"] for x in stations.values() for kind in kinds if kind in x), 3)
    collided = of.after["collisions"] - of.before["collisions"]
    share = round((of.after["collision_us"] - of.before["collision_us"]) / 1e6 / of.seconds, 4)
    of.spread |= {"goodput_mbps": total, "collision share of time": share}
    server = [counters.snmp(of.info[when]["snmp"]["srv"]) for when in ("before", "after")]
    made: dict[str, Any] = {
        "measured_s": round(of.seconds, 6),
        "goodput_mbps": total,
        "collisions_per_s": round(collided / of.seconds, 2),
        "collision_share_of_time": share,
        "air_of_data_share_of_time": round(of.all_air / of.seconds, 4),
        "stations": stations,
        "device_aqm": {name: int(value) for name, value in re.findall(r"(fq_\w+)\s+(\d+)", of.info["phyaqm"])},
        "server_counters": counters.grown(server[1], server[0]),
        "series": series,
    }
    if of.one.get("steps"):
        made["step"] = step(of, series, stations["1"]["rc_series"])
    return made


def one_file(folder: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """The file of one boot, and the quantities for the spread over repetitions."""
    of = Run(folder)
    name, _, number = folder.name.rpartition(".r")
    params, queues, flags = of.info["params"], of.info["phyaqm"], of.info["airtime_flags"]
    made = {
        "name": name,
        "repetition": int(number),
        "kernel": setup_of.KERNEL,
        "driver": setup_of.driver(of.one, params, edca(of.text("log") or "")),
        "config": setup_of.config(of.one, of.info["sysctl"], flags, queues, bool(int(params["aql"]))),
        "results": results(of),
    }
    return made, of.spread


def spread(own: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Values, mean and half range of every quantity that all repetitions have."""
    quantities = {}
    for name in own[0]:
        values = [one[name] for one in own if name in one]
        if len(values) == len(own):
            mean = fmean(values)
            half = round(50 * (max(values) - min(values)) / abs(mean), 2) if mean else 0.0
            quantities[name] = {"values": values, "mean": round(mean, 4), "half_range_percent": half}
    return {"note": _NOTE.format(len(own)), "quantities": quantities}


def main() -> None:
    """Writes all files."""
    destination = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else run.outs()
    destination.mkdir(parents=True, exist_ok=True)
    by_name: dict[str, list[tuple[dict[str, Any], dict[str, float]]]] = {}
    for path in sorted(folder.glob("*.r[0-9]")):
        if not (path / "info.json").exists():
            continue
        try:
            made = one_file(path)
        except (KeyError, IndexError, ValueError):
            print("BAD", path)
            traceback.print_exc()
            continue
        by_name.setdefault(made[0]["name"], []).append(made)
    for name, files in by_name.items():
        over = spread([own for _, own in files])
        for one, _ in files:
            target = destination / f"{name}.r{one['repetition']}.json"
            target.write_text(json.dumps(one | {"spread": over}, separators=(",", ":")), encoding="utf-8")
    print(len(by_name), "configurations", sum(map(len, by_name.values())), "files")


if __name__ == "__main__":
    main()
