import json
import pickle
import shutil
from pathlib import Path

import pytest

from stillair import InputError, Result
from stillair.__main__ import status
from stillair.cli.compare.rows import rows
from stillair.cli.compare.sides import Side
from stillair.results import result_folder
from stillair.results.result import InOrder
from stillair.results.summary import summary
from stillair.text.table import natural


def test_the_summary_has_the_keys_of_a_run(three_runs: Result) -> None:
    over = three_runs.summary()
    assert set(over) == set(three_runs.runs[0]) - {"run", "seed", "trace_hash"}
    assert over["stations"]["fast1"]["goodput_mbps"]["mean"] == 30.0
    assert over["stations"]["fast1"]["goodput_mbps"]["low"] < 29.0
    assert over["air"]["wifi"]["data_us"] == {"mean": 750_000, "low": 750_000, "high": 750_000}


def test_what_no_run_measured_is_null(three_runs: Result) -> None:
    assert three_runs.summary()["stations"]["slow"]["ping_median_ms"] is None


def test_a_run_without_a_drop_counts_as_zero(three_runs: Result) -> None:
    (drop,) = three_runs.summary()["drops"]
    assert (drop["place"], drop["reason"]) == ("ap.wlan0", "overlimit")
    assert round(drop["packets"]["mean"], 6) == round(200 / 3, 6)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([0], "0, the only run"),
        ([3, 4, 5], "one of the runs 3 to 5"),
        ([0, 2], "one of the runs 0, 2"),
    ],
)
def test_a_run_that_there_is_not(single_run: Result, numbers: list[int], said: str) -> None:
    single_run.runs = [{"run": number} for number in numbers]
    with pytest.raises(InputError) as raised:
        single_run.run_with_series(7)
    assert str(raised.value) == f"run: found 7, expected {said}"


def test_one_run_has_no_interval(single_run: Result, three_runs: Result) -> None:
    assert single_run.summary()["goodput_total_mbps"] == {"mean": 32.0, "low": None, "high": None}
    # So it is with what only one run of several has measured, and with drops.
    three_runs.runs[1]["stations"]["slow"]["ping_median_ms"] = 7.0
    one = {"mean": 7.0, "low": None, "high": None, "runs": 1, "all_runs": 3}
    assert three_runs.summary()["stations"]["slow"]["ping_median_ms"] == one
    single_run.runs[0]["drops"].append({"place": "ap", "reason": "codel", "packets": 3})
    alone = Result(single_run.to_dict()).summary()["drops"]
    assert [drop["packets"] for drop in alone] == [{"mean": 3.0, "low": None, "high": None}]


def test_notes_stand_beside_the_runs(single_run: Result) -> None:
    assert single_run.notes == []
    assert "notes" not in single_run.to_dict()
    noted = Result({**single_run.to_dict(), "notes": ["node.a.rate: too fast"]})
    assert (noted.notes, noted.to_dict()["notes"]) == (["node.a.rate: too fast"],) * 2


def test_json_is_read_back_as_it_was(three_runs: Result) -> None:
    assert Result.from_json(three_runs.to_json()).to_dict() == json.loads(three_runs.to_json(indent=1))


def test_a_result_has_runs() -> None:
    with pytest.raises(InputError, match=r"^runs: found none, expected at least one$"):
        Result({"version": "0", "scenario": "sample", "runs": []})


def test_what_differs_in_kind_between_runs_has_no_mean(three_runs: Result) -> None:
    three_runs.runs[1]["air"] = 7
    three_runs.runs[2]["jain_airtime"] = "much"
    over = three_runs.summary()
    assert (over["air"], over["jain_airtime"]) == (None, None)


def test_a_result_can_be_pickled(three_runs: Result, kept: Path) -> None:
    assert pickle.loads(pickle.dumps(three_runs)).to_dict() == three_runs.to_dict()  # noqa: S301 - our own
    loaded = Result.load(kept)
    again = pickle.loads(pickle.dumps(loaded))  # noqa: S301
    assert again.run_with_series(1).series.flows == loaded.run_with_series(1).series.flows


ONE = """\
sample: run 0, seed 1

station  goodput Mbit/s  airtime share %  frames per aggregate  ping p50 ms  ping p95 ms
fast1             30.00             50.0                 16.00         10.0         20.0
slow               2.00             50.0                  2.00            -            -

total goodput 32.00 Mbit/s, Jain's index of the airtime 1.000

no drops

air of wifi, whole run: data 75.0 %, contention 25.0 %
"""

THREE = """\
sample: 3 runs, seed 1; means with 95 % confidence intervals over the runs

station  goodput Mbit/s  airtime share %  frames per aggregate  ping p50 ms  ping p95 ms
fast1       30.00 ±2.48             50.0           16.00 ±2.48    10.0 ±2.5         20.0
slow               2.00             50.0                  2.00            -            -

total goodput 32.00 ±2.48 Mbit/s, Jain's index of the airtime 1.000

dropped at  reason     packets
ap.wlan0    overlimit  67 ±143

air of wifi, whole run: data 75.0 %, contention 25.0 %
"""


def test_summary_of_one_run(single_run: Result) -> None:
    assert summary(single_run) == ONE


def test_the_level_of_an_interval_can_be_chosen(three_runs: Result) -> None:
    """Three runs have two degrees of freedom: t is 4.3027 at 95 % and 9.9248 at 99 %."""
    usual, wide = (three_runs.summary(*ci)["goodput_total_mbps"] for ci in ((), (0.99,)))
    assert (
        usual
        == three_runs.summary(ci=0.95)["goodput_total_mbps"]
        == three_runs.to_dict()["over_runs"]["goodput_total_mbps"]
    )
    halves = [float(one["high"]) - float(one["mean"]) for one in (wide, usual)]  # type: ignore[arg-type]
    assert halves[0] / halves[1] == pytest.approx(9.92484 / 4.30265, rel=1e-5)
    for wrong in (0.0, 1.0, 95.0):
        with pytest.raises(InputError, match=f"ci: found {wrong}, expected a level between 0 and 1"):
            three_runs.summary(ci=wrong)


def test_summary_over_runs(three_runs: Result) -> None:
    assert summary(three_runs) == THREE


WIRED = """\
wire: run 0, seed 1

total goodput 9.00 Mbit/s

flow       from    over  goodput Mbit/s  loss %  retransmissions  timeouts  least RTT ms  one-way p50 ms  p95 ms  p99 ms
down.host  server  tcp             6.00       -               12         0          10.2            3.10    4.20    5.30
up.server  host    tcp             3.00       -                0         1             -               -       -       -
video.b    server  udp            69.50   30.00                -         -             -           20.00   40.00   60.00

ping       p50 ms  p95 ms  p99 ms  replies
ping.host    12.5    31.0    44.0      150

no drops
"""


def test_summary_of_a_wire_tells_flows_and_pings() -> None:
    down = {
        "protocol": "tcp", "from": "server", "goodput_mbps": 6.0, "loss": None, "retransmissions": 12, "timeouts": 0,
        "minrtt_ms": 10.2, "delay_p50_ms": 3.1, "delay_p95_ms": 4.2, "delay_p99_ms": 5.3,
    }  # fmt: skip
    up = {
        "protocol": "tcp", "from": "host", "goodput_mbps": 3.0, "loss": None, "retransmissions": 0, "timeouts": 1,
        "minrtt_ms": None, "delay_p50_ms": None,
    }  # fmt: skip
    video = {
        "protocol": "udp", "from": "server", "goodput_mbps": 69.5, "packets": 700, "lost": 300, "loss": 0.3,
        "delay_p50_ms": 20.0, "delay_p95_ms": 40.0, "delay_p99_ms": 60.0,
    }  # fmt: skip
    run = {
        "run": 0, "seed": 1, "trace_hash": "0", "goodput_total_mbps": 9.0, "jain_airtime": None, "stations": {},
        "flows": {"down.host": down, "up.server": up, "video.b": video}, "drops": [], "air": {},
        "pings": {"ping.host": {"replies": 150, "median_ms": 12.5, "p95_ms": 31.0, "p99_ms": 44.0, "mean_ms": 14.0}},
    }  # fmt: skip

    def told(stations: dict[str, object]) -> str:
        return summary(Result({"version": "0.1.0", "scenario": "wire", "runs": [{**run, "stations": stations}]}))

    assert told({}) == WIRED
    # Flows are told beside stations too: a row of those adds up what goes up and what goes down.
    beside_stations = told({"a": {"goodput_mbps": 6.0}, "b": {"goodput_mbps": 3.0}})
    assert "up.server  host    tcp             3.00" in beside_stations
    assert "ping.host" not in beside_stations


def test_a_long_table_is_cut_and_says_so() -> None:
    flows = {f"udp-{n}.sta{n}": {"protocol": "udp", "from": "ap", "goodput_mbps": 1.0} for n in range(2_000)}
    run = {
        "run": 0, "seed": 1, "trace_hash": "0", "goodput_total_mbps": 9.0, "jain_airtime": None, "stations": {},
        "flows": flows, "drops": [], "air": {},
    }  # fmt: skip
    text = summary(Result({"version": "0.1.0", "scenario": "many", "runs": [run]}))
    assert "... and 1950 more; --json has all" in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith("udp-")][:12][2:] == [
        f"udp-{n}.sta{n}" for n in range(2, 12)
    ]


def test_names_are_sorted_as_people_count() -> None:
    assert natural(["sta10", "sta2", "b", "sta1.wlan0", "\u00b2", "2", "10"]) == [
        "2", "10", "b", "sta1.wlan0", "sta2", "sta10", "\u00b2",
    ]  # fmt: skip


def test_a_large_result_is_read_a_run_at_a_time(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Result.load(kept)
    monkeypatch.setattr(result_folder, "_LARGE", 0)
    lazy = Result.load(kept)
    assert isinstance(lazy.runs, result_folder.Runs)
    assert list(lazy.runs) == list(plain.runs)
    assert (lazy.runs[-1], lazy.runs[:1]) == (plain.runs[-1], list(plain.runs[:1]))
    assert lazy.to_json() == plain.to_json()
    one, other = lazy.run_with_series(1), plain.run_with_series(1)
    assert (one.summary, one.series.flows) == (other.summary, other.series.flows)
    assert pickle.loads(pickle.dumps(lazy)).to_json() == plain.to_json()  # noqa: S301 - our own
    # A folder of an older version has its runs on several lines, and is read at once.
    old = tmp_path / "old"
    shutil.copytree(kept, old)
    data = json.loads((old / "result.json").read_text())
    (old / "result.json").write_text(json.dumps(data, indent=1))
    assert Result.load(old).to_json() == plain.to_json()
    # Damage is found when a run is read.
    lines = (kept / "result.json").read_text().split("\n")
    lines[2] = lines[2].replace('"stations"', '"stetions"')
    (old / "result.json").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r'result\.json: the key "stations" is missing'):
        list(Result.load(old).runs)


def test_a_large_result_is_read_once_for_each_use(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_folder, "_LARGE", 0)
    original, read = result_folder.Runs._read, []

    def count(self: result_folder.Runs, at: int, text: bytes) -> object:
        read.append(at)
        return original(self, at, text)

    monkeypatch.setattr(result_folder.Runs, "_read", count)
    lazy = Result.load(kept)
    runs = len(lazy.runs)
    for use in (
        lambda: list(lazy.runs_with_series()),
        lazy.summary,
        lazy.figures,
        lazy.pings,
        lambda: rows([Side("a", lazy)]),
        lambda: lazy.run_with_series(runs - 1),
    ):
        read.clear()
        use()
        assert len(read) <= runs
    read.clear()
    assert status(["compare", str(kept), str(kept)]) == 0
    assert len(read) <= 2 * runs


def test_runs_in_any_order_are_taken_in_order() -> None:
    taken: list[int] = []
    order = InOrder(lambda run: taken.append(run["run"]))
    for number in (2, 0, 4, 1):
        order.add(number, lambda number=number: {"run": number})  # type: ignore[misc]
    assert taken == [0, 1, 2]
    order.rest()
    assert taken == [0, 1, 2, 4]
