"""Where the time of packets went: what a run reports of it, the table, the pictures."""

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from stillair import InputError, Scenario, plot
from stillair.capture import write_capture
from stillair.cli.app import app
from stillair.plot.data import Titled
from stillair.results import sojourn
from stillair.results.result import Result
from stillair.runs import bundled

TEXT = """
name = "two"
duration = "3 s"
warm_up = "1 s"

[channel.wifi]
band = "5 GHz"
width = "20 MHz"

[link.lan]
rate = "1 Gbit/s"
delay = "1 ms"

[node.server]
profile = "linux-6.1"
interface.eth0 = { link = "lan" }

[node.ap]
profile = "linux-6.1"
forward = true
interface.eth0 = { link = "lan" }
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fq_codel" }

[node.near]
profile = "linux-6.1"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs7-sgi" }

[node.far]
inherits = "near"
interface.wlan0 = { rate = "ht20-mcs0-lgi" }

[[flow]]
kind = "udp"
from = "server"
to = ["near", "far"]
rate = "20 Mbit/s"

[[flow]]
kind = "ping"
from = "server"
to = "near"
interval = "20 ms"

[[flow]]
kind = "tcp"
from = "near"
to = "server"
"""


@pytest.fixture(scope="module")
def result() -> Result:
    """One run in which each packet is followed."""
    return Scenario(TEXT).run(overrides={"record.sojourn": True})


def test_the_parts_add_up_to_the_delays(result: Result) -> None:
    found = sojourn.of_run(result.runs[0])
    assert {(d.of, d.name, d.way) for d in found if d.of == "station"} >= {
        ("station", "near", "down"),
        ("station", "near", "up"),
        ("station", "near", "round_trip"),
        ("station", "far", "down"),
    }
    for delays in found:
        for bucket in delays.buckets:
            parts = sum(ns for (layer, _), ns in bucket.parts_ns.items() if layer != "socket")
            assert parts == bucket.delay_ns
            # What was at an interface is no more than the whole.
            assert 0 < sum(bucket.places_ns.values()) <= parts


def test_the_delays_are_those_of_the_flows(result: Result) -> None:
    run = result.runs[0]
    by_name = {d.name: d for d in sojourn.of_run(run) if d.of == "flow"}
    for name, flow in run["flows"].items():
        for percentile, key in ((50, "delay_p50_ms"), (99, "delay_p99_ms")):
            measured = flow[key]
            assert measured is not None
            # Buckets are 3 % wide, and those of the report 1.6 %.
            assert by_name[name].around(percentile).delay_ms == pytest.approx(measured, rel=0.05)
    (ping,) = run["pings"].values()
    (replies,) = [d for d in by_name.values() if d.packets() == ping["replies"]]
    assert replies.around(50).delay_ms == pytest.approx(ping["median_ms"], rel=0.05)


def test_one_in_so_many_is_followed_and_nothing_else_changes(result: Result) -> None:
    plain = Scenario(TEXT).run()
    some = Scenario(TEXT).run(overrides={"record.sojourn": {"sample": 10}})
    assert {r.runs[0]["trace_hash"] for r in (plain, some, result)} == {result.runs[0]["trace_hash"]}
    assert "sojourn" not in plain.runs[0]
    of_all, of_some = ({d.name: d.packets() for d in sojourn.of_run(r.runs[0])} for r in (result, some))
    for name in ("udp-0.far", "udp-0.near"):
        assert of_some[name] == pytest.approx(of_all[name] / 10, rel=0.1)
    # A packet of TCP has several segments, which are followed or not together.
    assert of_some["tcp-2.server"] == pytest.approx(of_all["tcp-2.server"] / 10, rel=0.3)
    with pytest.raises(InputError, match=r"record\.sojourn: nothing was sampled"):
        plain.sojourn()


def test_a_slow_station_keeps_the_other_waiting(result: Result) -> None:
    (near,) = [d for d in sojourn.of_run(result.runs[0]) if (d.name, d.way) == ("near", "round_trip")]
    parts = near.around(95).parts_ms
    others = sum(ms for (_, cause), ms in parts.items() if cause == "others")
    assert others > 0.4 * near.around(95).delay_ms
    assert max(near.around(95).places_ms, key=lambda place: near.around(95).places_ms[place])[0] == "ap.wlan0"


def test_table_and_pictures(tmp_path: Path) -> None:
    file, folder = tmp_path / "two.toml", tmp_path / "result"
    file.write_text(TEXT, encoding="utf-8")
    ran = CliRunner().invoke(app, ["run", str(file), "--set", "record.sojourn=true", "-o", str(folder)])
    assert ran.exit_code == 0, ran.output
    kept = Result.load(folder)
    rows = list(csv.DictReader((folder / "sojourn.csv").open(encoding="utf-8")))
    assert len(rows) == sum(len(batch["ns"]) for batch in kept.sojourn().batches())
    assert {row["layer"] for row in rows} >= {"driver", "hardware", "contention", "air", "wire", "socket"}
    table = tmp_path / "sojourn.parquet"
    told = CliRunner().invoke(app, ["export", str(folder), "--parquet", "--table", "sojourn", "-o", str(table)])
    assert told.exit_code == 0, told.output
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = parquet.read_table(table).to_pydict()
    assert [str(ns) for ns in columns["ns"]] == [row["ns"] for row in rows]
    assert columns["layer"] == [row["layer"] for row in rows]
    refused = CliRunner().invoke(app, ["export", str(folder), "--flent", "--table", "sojourn"])
    assert "--table: applies only to --csv and --parquet, not to --flent" in str(refused.exception)
    none = CliRunner().invoke(app, ["export", str(folder), "--csv", "--table", "queues"])
    assert "record.queues" in str(none.exception)
    for name in ("sojourn", "sojourn_p99"):
        svg = plot.picture(name, [Titled("two", kept)], "svg").decode()
        assert "near round trip" in svg


SHORTER = {"campus": {"duration": "3 s", "flow.0.start_spread": "2 s", "flow.4.start_spread": "2 s"}}
"""Of a thousand stations a few seconds are enough."""


@pytest.mark.parametrize(
    "name", sorted(name for name in bundled.names() if not name.startswith(("bench/", "live/")) and "quic" not in name)
)
def test_the_account_of_every_scenario_that_comes_with_it_closes(name: str) -> None:
    # A run whose parts do not add up to each packet's delay ends as an error: shapers, steps, calls and pages included.
    result = bundled.scenario(name).run(runs=1, overrides={"record.sojourn": True, **SHORTER.get(name, {})})
    assert "sojourn" in result.runs[0]


def test_a_capture_follows_packets_too(tmp_path: Path, result: Result) -> None:
    captured = write_capture(Scenario(TEXT), {"record.sojourn": True}, None, 0, tmp_path / "two.pcapng")
    assert captured.run["trace_hash"] == result.runs[0]["trace_hash"]
    assert captured.run.get("sojourn") == result.runs[0].get("sojourn")
    assert "sojourn" not in write_capture(Scenario(TEXT), (), None, 0, tmp_path / "plain.pcapng").run
