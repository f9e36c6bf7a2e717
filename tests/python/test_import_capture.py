"""A capture of a run of ours, imported, beside the run's own account: stations, rates, retries, airtime, load."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stillair import Result, _native
from stillair.__main__ import status
from stillair.capture import write_capture
from stillair.results import exchanges
from stillair.runs import bundled
from stillair.runs.imports import kinds, network, scenario
from stillair.runs.imports.facts import Captured, Heard

WITHIN = 0.05

RUNS: dict[str, Mapping[str, Any]] = {
    # HT, fixed rates, with losses; a station that is slow; datagrams and pings.
    "anomaly-udp": {"node.fast1.interface.wlan0.error_rate": 0.1, "node.slow.interface.wlan0.error_rate": 0.05},
    # 2.4 GHz without HT, one direction, collisions of hidden stations.
    "hidden": {},
    # VHT by Minstrel-HT, TCP up, calls.
    "home": {},
    # HT, VHT and HE side by side, aggregates with A-MSDUs off.
    "generations": {},
    # Twenty stations by Minstrel-HT, TCP down.
    "examples/openwrt-20": {},
}


class Account(NamedTuple):
    """What a run says of a station: airtime as the air had it, frames sent, those that did not come whole."""

    airtime_us: float
    frames: int
    again: int


@pytest.fixture(scope="module", params=RUNS, ids=str)
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Captured, Result, Path]:
    name = request.param
    wanted = {"duration": "2 s", "warm_up": "0 s", "record.air": "0 s..2 s"} | RUNS[name]
    of, file = bundled.scenario(name), tmp_path_factory.mktemp("capture") / "air.pcapng"
    write_capture(of, wanted, None, 0, file)
    (captured,) = kinds.read(file)
    assert isinstance(captured, Captured)
    return captured, of.run(1, overrides=wanted, series=True), file


def accounts(result: Result) -> list[Account]:
    """Of each station in the scenario's order, both ways: single frames and aggregates with data."""
    recorded = exchanges.of_run(result.runs[0])
    assert recorded is not None
    found = []
    for name in recorded.stations:
        own = [
            one
            for one in recorded.all
            if name in (one.sender, one.receiver) and one.receiver and one.kind in ("single", "aggregate")
        ]
        # Of a single frame each try but the first; of an aggregate what was lost, which comes in a later one.
        again = sum(one.attempt > 0 for one in own if one.kind == "single") + sum(
            one.frames - (one.received if one.acknowledged else 0) for one in own if one.kind == "aggregate"
        )
        found.append(Account(sum(one.airtime_ns for one in own) / 1000, sum(one.frames for one in own), again))
    return found


def by_station(captured: Captured) -> list[Heard]:
    """Stations by their addresses, which count in the scenario's order."""
    return sorted(captured.stations, key=lambda one: one.mac)


def test_stations_airtime_frames_and_retries(imported: tuple[Captured, Result, Path]) -> None:
    captured, result, _ = imported
    own, heard = accounts(result), by_station(captured)
    assert len(own) == len(heard) == len(result.runs[0]["stations"])
    for account, one in zip(own, heard, strict=True):
        assert one.down.airtime_us + one.up.airtime_us == pytest.approx(account.airtime_us, rel=WITHIN)
        assert one.down.frames + one.up.frames == pytest.approx(account.frames, rel=WITHIN)
    retried = sum(one.down.retried + one.up.retried for one in heard)
    # What is lost when the run ends, and what is given up, is not sent again: at most a window of each station.
    assert retried == pytest.approx(sum(one.again for one in own), rel=WITHIN, abs=64)


def test_all_airtime(imported: tuple[Captured, Result, Path]) -> None:
    captured, result, _ = imported
    air = next(iter(result.runs[0]["air"].values()))
    total = sum(one.down.airtime_us + one.up.airtime_us for one in captured.stations)
    # Frames at the same time are booked once there, and twice here.
    assert air["data_us"] * (1 - WITHIN) <= total
    assert total <= (air["data_us"] + 2 * (air["collision_us"] + air["overlap_us"])) * (1 + WITHIN)


def test_the_scenario_runs_and_has_the_load(imported: tuple[Captured, Result, Path], tmp_path: Path) -> None:
    captured, result, file = imported
    target = tmp_path / "made.toml"
    assert status(["import", str(file), "-o", str(target)]) == 0
    assert status(["check", str(target)]) == 0
    survey = json.loads(_native.survey(target.read_text(), "x", []))
    assert len([n for n in survey["nodes"] if n["name"].startswith("sta")]) == len(captured.stations)
    # All that went through is offered again, with what lower layers add or take.
    offered = sum(rate or 0 for flow in survey["flows"] for rate in flow["rates_bps"]) / 1e6
    assert offered > 0.9 * result.runs[0]["goodput_total_mbps"]


def test_fixed_rates_are_found(tmp_path: Path) -> None:
    for name, expected in (
        ("anomaly-udp", ["ht20-mcs15-sgi", "ht20-mcs15-sgi", "ht20-mcs0-sgi"]),
        ("generations", [None, None, "he80-mcs9-nss2-gi0.8"]),
    ):
        write_capture(bundled.scenario(name), {"duration": "300 ms", "warm_up": "0 s"}, None, 0, tmp_path / name)
        (captured,) = kinds.read(tmp_path / name)
        assert isinstance(captured, Captured)
        # One of the second is left to Minstrel-HT.
        # Of the second two are left to Minstrel-HT.
        for one, rate in zip(by_station(captured), expected, strict=True):
            assert rate is None or list(one.down.rates) == [rate]


def test_the_old_format_has_the_same(tmp_path: Path) -> None:
    """The frames of a pcapng file in a pcap file, as `editcap -F pcap` would write them."""
    write_capture(bundled.scenario("hidden"), {"duration": "300 ms", "warm_up": "0 s"}, None, 0, tmp_path / "x.pcapng")
    data = (tmp_path / "x.pcapng").read_bytes()
    out, offset = [struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 127)], 0
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        if kind == 6:
            _, high, low, kept, original = struct.unpack_from("<IIIII", data, offset + 8)
            ns = high << 32 | low
            out.append(struct.pack("<IIII", ns // 10**9, ns % 10**9, kept, original))
            out.append(data[offset + 28 : offset + 28 + kept])
        offset += length
    (tmp_path / "x.pcap").write_bytes(b"".join(out))
    new, old = (kinds.read(tmp_path / name)[0] for name in ("x.pcapng", "x.pcap"))
    assert isinstance(new, Captured)
    assert isinstance(old, Captured)
    assert (new.seconds, new.mhz, new.stations) == (old.seconds, old.mhz, old.stations)
    assert scenario.text(network.of([new]), ["x"]).count("[node.sta") == 4
