"""Tables and exports: they say what the summary says, in every format alike."""

import csv
import math
from pathlib import Path

import polars
import pyarrow.parquet
import pytest

from stillair import InputError, Result, Scenario
from stillair.__main__ import status
from stillair.capture import write_capture
from stillair.results import tidy
from stillair.results.series import Series
from stillair.runs import bundled

HEADER = "run,scenario,seed,t,station,flow,ac,metric,value,unit"

SERIES = {
    "step_ns": 200_000_000,
    "steps": 2,
    "duration_ns": 300_000_000,
    "warm_up_ns": 200_000_000,
    "flows": [
        {"name": "u.a", "kind": "udp", "from": "s", "to": "a", "station": "a", "tos": 0, "dscp": 0, "ac": "BE"}
        | {"bytes": [2500, 5000]},
        {"name": "p.a", "kind": "ping", "from": "s", "to": "a", "station": "a", "tos": 184, "dscp": 46, "ac": "VI"}
        | {"pings": [[200_000_000, 1_500_000, 0], [299_999_999, 2_500_000, 1]]},
    ],
    "stations": [
        {"name": "a", "ac": "BE", "airtime_down_ns": [3600, 0], "airtime_up_ns": [0, 1]}
        | {"ppdus_down": [1, 0], "ppdus_up": [0, 1], "mpdus_down": [2, 0], "mpdus_up": [0, 1]}
    ],
    "drops": [{"place": "ap.wlan0 mac", "reason": "codel", "steps": [[1, 7]]}],
    "queues": [{"interface": "ap.wlan0", "layer": "driver", "packets": [0, 3], "bytes": [0, 4542]}],
}

TABLE = f"""\
{HEADER}
4,two,9,0.2,a,u.a,BE,delivered_bytes,2500.0,bytes
4,two,9,0.3,a,u.a,BE,delivered_bytes,5000.0,bytes
4,two,9,0.2,a,u.a,BE,goodput_mbps,0.1,Mbit/s
4,two,9,0.3,a,u.a,BE,goodput_mbps,0.4,Mbit/s
4,two,9,0.3,a,p.a,VI,ping_ms,2.0,ms
4,two,9,0.2,a,,BE,airtime_down_us,3.6,us
4,two,9,0.3,a,,BE,airtime_down_us,0.0,us
4,two,9,0.2,a,,BE,airtime_up_us,0.0,us
4,two,9,0.3,a,,BE,airtime_up_us,0.001,us
4,two,9,0.2,a,,BE,ppdus_down,1.0,count
4,two,9,0.3,a,,BE,ppdus_down,0.0,count
4,two,9,0.2,a,,BE,ppdus_up,0.0,count
4,two,9,0.3,a,,BE,ppdus_up,1.0,count
4,two,9,0.2,a,,BE,mpdus_down,2.0,count
4,two,9,0.3,a,,BE,mpdus_down,0.0,count
4,two,9,0.2,a,,BE,mpdus_up,0.0,count
4,two,9,0.3,a,,BE,mpdus_up,1.0,count
4,two,9,0.3,ap.wlan0 mac,,,drops_codel,7.0,packets
4,two,9,0.2,ap.wlan0,,,queue_driver_packets,0.0,packets
4,two,9,0.3,ap.wlan0,,,queue_driver_packets,3.0,packets
4,two,9,0.2,ap.wlan0,,,queue_driver_bytes,0.0,bytes
4,two,9,0.3,ap.wlan0,,,queue_driver_bytes,4542.0,bytes
"""

PINGS = """\
run,scenario,seed,t,station,flow,ac,seq,rtt_ms
4,two,9,0.2,a,p.a,VI,0,1.5
4,two,9,0.299999999,a,p.a,VI,1,2.5
"""


PAGE = SERIES | {
    "flows": [
        {"name": "w.s", "kind": "web", "from": "a", "to": "s", "station": "a", "tos": 0, "dscp": 0, "ac": "BE"}
        # Two loads end in the first step, none in the second.
        | {"bytes": [60_000, 10], "loads": [[90_000_000, 80_000_000, 0], [150_000_000, 60_000_000, 1]]}
    ],
}


def test_loads_of_a_page_by_steps() -> None:
    found = [row for row in tidy.rows(tidy.Measured("w", {"run": 0, "seed": 1}, Series(PAGE))) if row.flow == "w.s"]
    assert [(row.metric, row.t, row.value) for row in found if row.metric == "page_load_ms"] == [
        ("page_load_ms", 0.2, 70.0)
    ]
    assert [row.value for row in found if row.metric == "delivered_bytes"] == [60_000, 10]


CALL = SERIES | {
    "steps": 3,
    "duration_ns": 600_000_000,
    "flows": [
        {"name": "c.a", "kind": "voip", "from": "s", "to": "a", "station": "a", "tos": 192, "dscp": 48, "ac": "VO"}
        # Numbers 3 and 4 are missing; nothing came in the last step.
        | {
            "bytes": [172, 344, 0],
            "voip": [[1, 5_000_000, 2], [200_000_000, 9_000_000, 5], [399_999_999, 6_000_000, 6]],
        }
    ],
    "stations": [],
    "drops": [],
    "queues": [],
}


def test_a_call_by_steps() -> None:
    found = [
        (row.metric, row.t, row.value, row.unit)
        for row in tidy.rows(tidy.Measured("call", {"run": 0, "seed": 1}, Series(CALL)))
        if row.metric.startswith("voip")
    ]
    assert found == [
        ("voip_delay_ms", 0.2, 5.0, "ms"),
        ("voip_delay_ms", 0.4, 7.5, "ms"),
        ("voip_jitter_ms", 0.4, 3.5, "ms"),
        ("voip_lost", 0.2, 0, "packets"),
        ("voip_lost", 0.4, 2, "packets"),
        ("voip_lost", 0.6, 0, "packets"),
    ]


def test_the_table_to_the_byte(tmp_path: Path) -> None:
    measured = tidy.Measured("two", {"run": 4, "seed": 9}, Series(SERIES))
    tidy.write_csv(tmp_path / "t.csv", [measured])
    tidy.write_pings_csv(tmp_path / "p.csv", [measured])
    assert (tmp_path / "t.csv").read_bytes() == TABLE.encode()
    assert (tmp_path / "p.csv").read_bytes() == PINGS.encode()


def test_the_table_adds_up_to_the_summary(kept: Path) -> None:
    with (kept / "table.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if float(row["t"]) > 1.0]
    for run in Result.load(kept).runs:
        for name, station in run["stations"].items():
            mine = [r for r in rows if (r["run"], r["station"]) == (str(run["run"]), name)]
            sent = sum(float(r["value"]) for r in mine if r["metric"] == "delivered_bytes")
            assert math.isclose(sent * 8 / 2e6, station["goodput_mbps"], rel_tol=1e-12)
            # A PPDU counts where it ended; the summary's warm-up ends at a step's end.
            airtime = sum(float(r["value"]) for r in mine if r["metric"] == "airtime_down_us")
            assert math.isclose(airtime, station["airtime_tx_us"], rel_tol=1e-12)


def test_pings_are_the_summarys(kept: Path) -> None:
    with (kept / "pings.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["run"], row["station"]) == ("0", "slow")]
    rtts = sorted(float(row["rtt_ms"]) for row in rows if float(row["t"]) >= 1.0)
    middle = (rtts[(len(rtts) - 1) // 2], rtts[len(rtts) // 2])
    assert middle[0] <= Result.load(kept).runs[0]["stations"]["slow"]["ping_median_ms"] <= middle[1]


def test_frames_and_parquet_hold_the_csv(kept: Path, tmp_path: Path) -> None:
    result = Result.load(kept)
    frame, pandas = result.to_polars(), result.to_pandas()
    assert ",".join(frame.columns) == ",".join(pandas.columns) == HEADER
    table = polars.read_csv(kept / "table.csv", schema_overrides=frame.schema).fill_null("")
    assert frame.equals(table)
    assert pandas["value"].tolist() == frame["value"].to_list()
    assert pandas["flow"].tolist() == frame["flow"].to_list()
    assert status(["export", str(kept), "--parquet", "-o", str(tmp_path / "t.parquet")]) == 0
    assert polars.read_parquet(tmp_path / "t.parquet").equals(frame)
    file = pyarrow.parquet.ParquetFile(tmp_path / "t.parquet")
    assert file.schema_arrow.metadata[b"scenario"].decode() == (kept / "scenario.resolved.json").read_text().strip()
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    assert file.metadata.num_row_groups == 2


def test_the_largest_seed_fits(tmp_path: Path) -> None:
    short = {"duration": "0.4 s", "warm_up": "0 s"}
    result = bundled.scenario("anomaly-udp").run(seed=2**63 - 1, overrides=short, series=True)
    result.save(tmp_path / "t.parquet")
    for frame in (result.to_polars(), polars.read_parquet(tmp_path / "t.parquet")):
        assert frame["seed"].unique().to_list() == [2**63 - 1]
    assert set(result.to_pandas()["seed"]) == {2**63 - 1}


def test_export_of_all_runs_is_the_folders_table(kept: Path, tmp_path: Path) -> None:
    assert status(["export", str(kept), "--csv", "-o", str(tmp_path / "t.csv")]) == 0
    assert (tmp_path / "t.csv").read_bytes() == (kept / "table.csv").read_bytes()
    assert status(["export", str(kept), "--csv", "--run", "1", "-o", str(tmp_path / "one.csv")]) == 0
    lines = (kept / "table.csv").read_text().splitlines()
    assert (tmp_path / "one.csv").read_text().splitlines() == [HEADER, *(n for n in lines if n.startswith("1,"))]


@pytest.mark.parametrize(
    ("name", "run", "message"),
    [
        ("x.xls", None, "x.xls: the name must end in .flent.gz, .csv or .parquet"),
        ("x.flent.gz", None, "x.flent.gz: a Flent file holds one run of 2; select one with run=N"),
        ("x.csv", 7, "run: found 7, expected one of the runs 0 to 1"),
    ],
)
def test_what_cannot_be_saved(kept: Path, name: str, run: int | None, message: str) -> None:
    with pytest.raises(InputError) as raised:
        Result.load(kept).save(name, run)
    assert str(raised.value) == message


def test_a_result_without_series_says_so() -> None:
    result = bundled.scenario("anomaly-udp").run(overrides={"duration": "0.4 s", "warm_up": "0 s"})
    with pytest.raises(InputError, match="the result has no series: run the scenario with series=True"):
        result.to_polars()


def test_series_come_run_by_run() -> None:
    texts: list[str] = []
    short = {"duration": "0.4 s", "warm_up": "0 s"}
    result = Scenario(bundled.scenario("anomaly-udp").text).run(
        runs=3, jobs=1, overrides=short, series=True, keep=texts.append
    )
    assert ['"series":' in text for text in texts] == [True] * 3
    with pytest.raises(InputError):
        result.run_with_series(0)


def test_a_capture_is_made_by_running_again(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["export", str(kept), "--pcap", "-o", str(tmp_path)]) == 0
    paths = [tmp_path / f"kept-run-{run}.pcapng" for run in (0, 1)]
    assert capsys.readouterr().out == f"{paths[0]}\n{paths[1]}\n"
    scenario, overrides = Scenario(kept / "scenario.toml"), [("duration", "3 s"), ("warm_up", "1 s")]
    for run, path in enumerate(paths):
        written = write_capture(scenario, overrides, 1, run, tmp_path / "again.pcapng")
        assert written.run == Result.load(kept).runs[run]
        assert path.read_bytes() == (tmp_path / "again.pcapng").read_bytes()
    whole = tmp_path / "whole.pcapng"
    assert status(["export", str(kept), "--pcap", "--run", "0", "--snaplen", "0", "-o", str(whole)]) == 0
    assert whole.stat().st_size > 4 * paths[0].stat().st_size
    assert status(["export", str(kept), "--pcap", "--snaplen", "20", "-o", str(tmp_path), "--force"]) == 2
    assert "snaplen: found 20, expected 0 for all or at least 160" in capsys.readouterr().err


def test_a_capture_of_some_points_and_a_part_of_the_run(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["export", str(kept), "--pcap", "--run", "0", "-o"]
    assert status([*asked, str(tmp_path / "x.pcapng"), "--point", "list"]) == 0
    points = capsys.readouterr().out.split()
    assert points[0] == "air-wifi"
    assert {"ap-wlan0", "lan", "server-eth0"} <= set(points)
    assert not list(tmp_path.iterdir())
    path = tmp_path / "some.pcapng"
    some = ["--point", "lan", "--point", "ap-wlan0", "--window", "2 s..2010 ms"]
    assert status([*asked, str(path), *some]) == 0
    scenario, overrides = Scenario(kept / "scenario.toml"), [("duration", "3 s"), ("warm_up", "1 s")]
    again = tmp_path / "again.pcapng"
    written = write_capture(scenario, overrides, 1, 0, again, ["lan", "ap-wlan0"], ("2 s", "2.01 s"))
    assert set(written.frames) == {"lan", "ap-wlan0"}
    assert path.read_bytes() == again.read_bytes()
    capsys.readouterr()
    for options, says in (
        (["--point", "nowhere"], 'capture point: found "nowhere", expected all or one of air-wifi, '),
        (["--window", "2 s..1 s"], '--window: found "2 s..1 s", expected two times, the later second, such as'),
        (["--title", "x"], "--title: applies only to --flent, not to --pcap"),
    ):
        assert status([*asked, str(tmp_path / "none.pcapng"), *options]) == 2
        assert says in capsys.readouterr().err
    assert not (tmp_path / "none.pcapng").exists()
