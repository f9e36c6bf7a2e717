#!/usr/bin/env python3
"""All configurations. As a program: runs them, three repetitions of each, two boots at a time.

`campaign.py [HH:MM [PREFIX...]]` resumes an earlier campaign, and stops at that time (UTC).
"""

import copy
import queue
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Configuration = dict[str, Any]

FAST, SLOW, MINSTREL = 15, 0, -1
REPETITIONS = (1, 2, 3)
# Probability of a broken MPDU by MCS, in 1/1000.
TABLES: Mapping[str, list[int]] = {
    "A": [0, 0, 0, 0, 0, 20, 100, 300, 0, 0, 0, 0, 100, 250, 600, 900],
    "B": [0, 0, 50, 200, 500, 900, 1000, 1000, 0, 0, 300, 900, 1000, 1000, 1000, 1000],
    "C": [0] * 16,
    "D": [100] * 16,
    "E": [300] * 16,
    "F": [0] * 12 + [1000] * 4,
    "G": [0] * 8 + [1000] * 8,
    "H": [60 * (mcs % 8) + 20 * (mcs // 8) for mcs in range(16)],
    "I": [100, 500] + [1000] * 14,
    "J": [0] * 14 + [200, 500],
    "K": [0] * 4 + [500] * 4 + [0] * 4 + [500] * 4,
    "L": [0, 0, 0, 0, 0, 0, 50, 150, 0, 0, 0, 50, 150, 350, 700, 950],
    "M": [0] * 13 + [900, 50, 50],
}
_RATES = {1: [FAST], 3: [FAST] * 2 + [SLOW], 10: [FAST] * 8 + [SLOW] * 2, 30: [FAST] * 28 + [SLOW] * 2}
_PINGED = {1: [1], 3: [1, 3], 10: [1, 9], 30: [1, 29]}
_WAYS = {"down": ["tcp_down"], "up": ["tcp_up"], "both": ["tcp_down", "tcp_up"]}
_NO_AIRTIME: Configuration = {"commands": ["echo 0 > /sys/kernel/debug/ieee80211/phy0/airtime_flags"]}
_STEP_NOTE = "the table changes at 15 s"


def mac(radio: int) -> str:
    """Address of a radio; radio 0 is the access point."""
    return f"02:00:00:00:00:{radio + 1:02x}"


def _one(
    mcs: Sequence[int],
    flows: Iterable[Configuration],
    pings: Sequence[int],
    idle: bool = True,
    params: Mapping[str, object] | None = None,
    **more: object,
) -> Configuration:
    rates, pinged = list(mcs), list(pings)
    if idle:
        rates.append(FAST)
        pinged.append(len(rates))
    made: Configuration = {
        "stations": len(rates),
        "seconds": 25,
        "warm": 5,
        "params": {"mcs": ",".join(map(str, [MINSTREL, *rates])), **(params or {})},
        "flows": [*flows, *({"kind": "ping", "sta": station} for station in pinged)],
        "idle_station": len(rates) if idle else None,
    }
    return made | more


def _udp(mbps: Sequence[float], burst: int = 8) -> list[Configuration]:
    return [
        {"kind": "udp", "sta": station, "bps": rate * 1e6, "burst": burst} for station, rate in enumerate(mbps, start=1)
    ]


def _tcp(kinds: Iterable[str], stations: int, cc: str = "cubic", **more: object) -> list[Configuration]:
    return [{"kind": kind, "sta": station, "cc": cc, **more} for kind in kinds for station in range(1, stations + 1)]


def _table(name: str) -> str:
    return ",".join(map(str, TABLES[name]))


def _weights(weights: Sequence[int]) -> Configuration:
    commands = [
        f"iw dev wlan0 station set {mac(station)} airtime_weight {weight}"
        for station, weight in enumerate(weights, start=1)
    ]
    return {"commands": commands, "weights": list(weights)}


def _transfers() -> Iterable[tuple[str, Configuration]]:
    for stations in (1, 3):
        for way, kinds in _WAYS.items():
            for cc in ("cubic", "bbr", "reno"):
                flows = _tcp(kinds, stations, cc)
                yield f"tcp_{way}{stations}_{cc}", _one(_RATES[stations], flows, _PINGED[stations])
    for stations in (10, 30):
        for way, kinds in _WAYS.items():
            yield f"tcp_{way}{stations}_cubic", _one(_RATES[stations], _tcp(kinds, stations), _PINGED[stations])
        down = _tcp(["tcp_down"], stations, "bbr")
        yield f"tcp_down{stations}_bbr", _one(_RATES[stations], down, _PINGED[stations])


def _small_queues() -> Iterable[tuple[str, Configuration]]:
    """Shift 7 is mac80211's default, as in `tcp_up1_cubic` and `tcp_up1_bbr`."""
    for cc in ("cubic", "bbr"):
        yield f"up1_{cc}_shift10", _one([FAST], _tcp(["tcp_up"], 1, cc), [1], params={"pacing_shift": 10})
        for shift in (7, 10):
            flows = _tcp(["tcp_up"], 1, cc, n=4)
            yield f"up4_{cc}_shift{shift}", _one([FAST], flows, [1], params={"pacing_shift": shift})
    for most in (65536, 4194304):
        sysctls = [f"net.ipv4.tcp_limit_output_bytes={most}"]
        flows = _tcp(["tcp_up"], 1, n=4)
        one = _one([FAST], flows, [1], params={"pacing_shift": 7}, sysctls=sysctls)
        yield f"up4_cubic_shift7_limit{most}", one


def _queue_limits() -> Iterable[tuple[str, Configuration]]:
    for aql in (0, 1):
        for depth in (2, 4, 8):
            params = {"aql": aql, "depth": depth}
            yield f"aql{aql}_depth{depth}", _one(_RATES[3], _tcp(["tcp_down"], 3), [1, 3], params=params)


def _losses() -> Iterable[tuple[str, Configuration]]:
    down, up = _tcp(["tcp_down"], 1), _tcp(["tcp_up"], 1)
    for per in (10, 50, 200, 800):
        yield f"loss{per // 10}_down", _one([FAST], down, [1], params={"per": f"0,{per}"})
    for per in (50, 200):
        yield f"loss{per // 10}_up", _one([FAST], up, [1], params={"per": f"0,{per}"})
    yield "loss80_udp", _one([FAST], _udp([60]), [1], params={"per": "0,800"})
    tries = {"per": "0,800", "retry_by_tries": 1}
    yield "loss80_udp_hwtries", _one([FAST], _udp([60]), [1], params=tries)
    yield "loss80_down_hwtries", _one([FAST], down, [1], params=tries)
    yield "loss20_down_bbr", _one([FAST], _tcp(["tcp_down"], 1, "bbr"), [1], params={"per": "0,200"})


def _flows_of_one() -> Iterable[tuple[str, Configuration]]:
    for number in (1, 10, 100):
        flows = _tcp(["tcp_down"], 1, n=number)
        if number > 1:
            yield f"flows{number}", _one([FAST], flows, [1])
        yield f"flows{number}_ecn", _one([FAST], flows, [1], sysctls=["net.ipv4.tcp_ecn=1"])
    yield "flows10_slow", _one([4], _tcp(["tcp_down"], 1, n=10), [1])


def _rate_control() -> Iterable[tuple[str, Configuration]]:
    def alone(flows: Iterable[Configuration], params: Mapping[str, object], **more: object) -> Configuration:
        return _one([MINSTREL], flows, [1], idle=False, params=params, rc_series=1, **more)

    def flood(table: str) -> list[Configuration]:
        return _udp([80 if table in "BIG" else 150])

    for table in TABLES:
        yield f"minstrel_{table}", alone(flood(table), {"lossmcs": _table(table)})
    for kind in ("tcp_down", "tcp_up"):
        yield f"minstrel_A_{kind}", alone(_tcp([kind], 1), {"lossmcs": _table("A")})
    for tries in (0, 1):
        for before, after in ("CB", "BC", "JA"):
            command = f"echo {_table(after)} > /sys/module/simwifi/parameters/lossmcs"
            params = {"lossmcs": _table(before)} | ({"retry_by_tries": 1} if tries else {})
            one = alone(_udp([150]), params, steps=[{"at": 15, "cmd": command}], sample_s=0.1, warm_note=_STEP_NOTE)
            yield f"minstrel_step_{before}{after}{'_hwtries' * tries}", one
    for table in "BIK":
        yield f"minstrel_{table}_hwtries", alone(flood(table), {"lossmcs": _table(table), "retry_by_tries": 1})


def _airtime_weights() -> Iterable[tuple[str, Configuration]]:
    def three(mcs: Sequence[int], flows: Iterable[Configuration], weights: Sequence[int]) -> Configuration:
        return _one(mcs, flows, [1, 2, 3], idle=False, **_weights(weights))

    down = _tcp(["tcp_down"], 3)
    yield "weights_udp_equal", three([FAST] * 3, _udp([80, 80, 100]), [256, 512, 1024])
    yield "weights_tcp_equal", three([FAST] * 3, down, [256, 512, 1024])
    yield "weights_tcp_mixed", three(_RATES[3], down, [256, 512, 1024])
    yield "weights_udp_mixed", three(_RATES[3], _udp([80, 80, 20]), [1024, 512, 256])


def _floods() -> Iterable[tuple[str, Configuration]]:
    for burst in (8, 1, 32):
        flood = _udp([70, 70, 15], burst)
        yield f"udp1_b{burst}", _one([FAST], _udp([150], burst), [1])
        yield f"udp3_b{burst}", _one(_RATES[3], flood, [1, 3])
        yield f"udp3_b{burst}_noairtime", _one(_RATES[3], flood, [1, 3], **_NO_AIRTIME)
    yield "tcp_down3_cubic_noairtime", _one(_RATES[3], _tcp(["tcp_down"], 3), [1, 3], **_NO_AIRTIME)
    for burst in (8, 1):
        flood = _udp([7] * 28 + [2] * 2, burst)
        yield f"udp30_b{burst}", _one(_RATES[30], flood, [1, 29])
        yield f"udp30_b{burst}_noairtime", _one(_RATES[30], flood, [1, 29], **_NO_AIRTIME)


CONFIGURATIONS: Mapping[str, Configuration] = dict(
    pair
    for part in (
        _transfers, _small_queues, _queue_limits, _losses, _flows_of_one, _rate_control, _airtime_weights, _floods,
    )
    for pair in part()
)  # fmt: skip


def repetition(name: str, number: int) -> Configuration:
    """A repetition: another seed, and staggered flow starts from the second repetition on."""
    made = copy.deepcopy(CONFIGURATIONS[name])
    made["rep"] = number
    made["params"]["seed"] = number
    if number == 1:
        return made
    gap = {2: 0.037, 3: 0.071}[number]
    for place, flow in enumerate(flow for flow in made["flows"] if flow["kind"] != "ping"):
        flow["start"] = round(gap * place, 3)
        if flow.get("n", 1) > 1:
            flow["stagger_ms"] = round(1000 * gap) if flow["n"] <= 10 else {2: 7, 3: 13}[number]
    return made


def main() -> None:
    """Runs everything that has no result yet."""
    import run  # noqa: PLC0415 - boots a kernel; the configurations alone need none

    until = time.strptime(sys.argv[1], "%H:%M") if len(sys.argv) > 1 else None
    prefixes = tuple(sys.argv[2:]) or ("",)
    todo: queue.Queue[tuple[str, int]] = queue.Queue()
    for number in REPETITIONS:
        for name in CONFIGURATIONS:
            if name.startswith(prefixes) and not (run.outs() / f"{name}.r{number}" / "info.json").exists():
                todo.put((name, number))

    def work() -> None:
        while until is None or time.gmtime()[3:5] < until[3:5]:
            try:
                name, number = todo.get_nowait()
            except queue.Empty:
                return
            out, seconds = run.boot(f"{name}.r{number}", repetition(name, number))
            took = "TIMEOUT" if seconds is None else f"{seconds:.1f} s"
            lacks = "" if (out / "info.json").exists() else "NO RESULT"
            failed = "FAILED" if "FAILED" in (out / "log").read_text(errors="replace") else ""
            print(time.strftime("%H:%M:%S", time.gmtime()), name, number, took, lacks, failed, flush=True)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
