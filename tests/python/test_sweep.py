"""Sweeps: every combination once, kept as it finishes, run again only when something it depends on has changed."""

import csv
import io
import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError, Scenario, _native
from stillair.__main__ import status
from stillair.runs import bundled, sweep
from stillair.runs.sweep import Sweep

TEXT = """
name = "two"
duration = "50 ms"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[node.ap]
profile = "linux-4.6"
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "airtime", address = "10.0.1.1" }
[node.fast]
profile = "linux-4.4"
[node.fast.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.11"
rate = "ht20-mcs15-sgi"
[[flow]]
kind = "udp"
from = "ap"
to = "fast"
rate = "10 Mbit/s"
[[flow]]
kind = "ping"
from = "ap"
to = "fast"
interval = "10 ms"
[sweep]
"node.ap.interface.wlan0.scheme" = ["fifo", "airtime"]
flow.0.rate = ["5 Mbit/s", "20 Mbit/s"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many combinations each call of the engine was given."""
    counts: list[int] = []
    original = _native.run_variants

    def run_variants(text: str, file: str, variants: list[list[tuple[str, str]]], *rest: object) -> None:
        counts.append(len(variants))
        original(text, file, variants, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(_native, "run_variants", run_variants)
    return counts


def test_a_row_for_each_combination_in_the_order_of_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = file.parent / "kept"
    assert status(["sweep", str(file), "--jobs", "3", "--runs", "2", "-o", str(folder)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    lines = captured.out.splitlines()
    assert lines[0].split()[:4] == ["scheme", "rate", "total", "Mbit/s"]
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["fifo", "5"],
        ["fifo", "20"],
        ["airtime", "5"],
        ["airtime", "20"],
    ]
    assert "means over 2 runs" in captured.out
    data = json.loads((folder / "sweep.json").read_text())
    assert [row["set"]["flow.0.rate"] for row in data["combinations"]] == ["5 Mbit/s", "20 Mbit/s"] * 2
    rows = list(csv.DictReader((folder / "sweep.csv").open()))
    for row, kept in zip(rows, data["combinations"], strict=True):
        assert row["node.ap.interface.wlan0.scheme"] == kept["set"]["node.ap.interface.wlan0.scheme"]
        assert float(row["fast.goodput_mbps"]) == kept["over_runs"]["stations"]["fast"]["goodput_mbps"]["mean"]
        assert float(row["fast.airtime_share"]) == 1
        result = json.loads((folder / kept["file"]).read_text())
        assert [run["run"] for run in result["runs"]] == [0, 1]


def test_a_combination_gives_what_run_gives_for_any_number_of_workers(file: Path) -> None:
    table = Sweep(Scenario(file), runs=2, seed=5)
    one, three = table.run(jobs=1).results, table.run(jobs=3).results
    assert [result.to_json() for result in one] == [result.to_json() for result in three]
    for combination, result in zip(table.combinations, one, strict=True):
        assert Scenario(file).run(runs=2, seed=5, overrides=combination.sets).runs == result.runs


def test_what_is_kept_is_not_run_again_unless_it_depends_on_what_changed(
    file: Path, begun: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = file.parent / "kept"

    def again(text: str = TEXT, runs: int = 1, seed: int | None = None) -> int:
        begun.clear()
        table = Sweep(Scenario(text), runs=runs, seed=seed)
        assert len(table.run(folder=folder).results) == len(table.combinations)
        return sum(begun)

    assert again() == 4
    assert again() == 0
    assert again("# a comment\n" + TEXT) == 0
    assert again(TEXT.replace('"5 Mbit/s"', '"6 Mbit/s"')) == 2
    assert again(TEXT.replace('["fifo", "airtime"]', '["airtime", "fifo", "fq_mac"]')) == 2
    assert again(TEXT.replace('"50 ms"', '"60 ms"')) == 4
    assert again(runs=2) == 4
    assert again(seed=7) == 4
    assert again() == 0
    monkeypatch.setattr(sweep, "__version__", "99")
    assert again() == 4


def goodput(value: object) -> Callable[[dict[str, Any]], object]:
    return lambda data: data["runs"][0].update(goodput_total_mbps=value)


def of_fast(value: object) -> Callable[[dict[str, Any]], object]:
    return lambda data: data["runs"][0]["stations"].update(fast=value)


@pytest.mark.parametrize(
    "change",
    [
        goodput(-5),
        goodput("much"),
        goodput(math.nan),
        of_fast(7),
        lambda data: data["runs"][0].update(stations=[1]),
        lambda data: data["runs"][0].pop("drops"),
        lambda data: data.update(runs=[]),
        lambda data: data.pop("sha256"),
        lambda data: data.update(more=1),
    ],
)
def test_what_was_edited_is_run_again(
    file: Path, change: Callable[[dict[str, Any]], object], begun: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = file.parent / "kept"
    assert status(["sweep", str(file), "-o", str(folder)]) == 0
    printed = capsys.readouterr().out
    one = sorted((folder / "combinations").iterdir())[1]
    whole = one.read_bytes()
    data = json.loads(whole)
    change(data)
    one.write_text(json.dumps(data))
    begun.clear()
    assert status(["sweep", str(file), "-o", str(folder)]) == 0
    assert (begun, capsys.readouterr().out) == ([1], printed)
    assert one.read_bytes() == whole


@pytest.mark.parametrize(
    "left",
    [
        lambda text: text[:100],
        lambda _: "",
        lambda _: "[]",
        lambda _: '{"version": "", "scenario": "two", "runs": []}',
        lambda _: "[" * 100_000,
        lambda _: f'{{"version": {"9" * 5000}}}',
    ],
    ids=["cut off", "empty", "of another shape", "without runs", "deep", "large"],
)
def test_what_is_damaged_is_run_again(file: Path, left: Callable[[str], str], begun: list[int]) -> None:
    folder = file.parent / "kept"
    Sweep(Scenario(file)).run(folder=folder)
    for path in (folder / "combinations").iterdir():
        path.write_text(left(path.read_text()))
    Sweep(Scenario(file)).run(folder=folder)
    assert begun == [4, 4]


def test_a_seed_beside_swept_seeds_is_refused(file: Path, begun: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(TEXT.partition("[sweep]")[0] + '[sweep]\nflow.0.burst = [1, 2]\nseed = "1..3"\n')
    assert status(["sweep", str(file), "--seed", "9", "-o", str(file.parent / "kept")]) == 2
    assert capsys.readouterr().err == (
        f"stillair: --seed: found 9, but the [sweep] table of {file} sets seed: leave out one of the two\n"
    )
    assert begun == []
    assert not (file.parent / "kept").exists()


@pytest.mark.parametrize("name", ["sweep.csv", "sweep.json"])
def test_a_file_of_somebody_else_is_not_touched(
    file: Path, name: str, begun: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = file.parent / "kept"
    folder.mkdir()
    (folder / name).write_text("[1]")
    assert status(["sweep", str(file), "-o", str(folder)]) == 2
    assert capsys.readouterr().err == (
        f"stillair: {folder / name}: is in the way, and not of a sweep of Stillair; give another folder with -o\n"
    )
    assert begun == []
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, "[1]")]


def test_a_sweep_goes_on_and_another_takes_its_place_when_asked_only(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(file), "-o", str(file.parent / "kept")]
    assert status(command) == 0
    assert status(command) == 0
    capsys.readouterr()
    assert status([*command, "--seed", "9"]) == 2
    assert "already holds a result of 'stillair sweep'; replace it with --force" in capsys.readouterr().err
    assert status([*command, "--seed", "9", "--force"]) == 0


def test_progress_counts_what_was_found_too(file: Path) -> None:
    folder = file.parent / "kept"
    counts: list[int] = []
    Sweep(Scenario(TEXT.replace("[sweep]", '[sweep]\nseed = "1..2"')), runs=2).run(
        folder=folder, progress=counts.append
    )
    assert counts == list(range(17))
    counts.clear()
    Sweep(Scenario(TEXT.replace("[sweep]", '[sweep]\nseed = "1..3"')), runs=2).run(
        folder=folder, progress=counts.append
    )
    assert counts == list(range(16, 25))


def test_a_mistake_in_any_combination_is_found_before_the_first_run(begun: list[int]) -> None:
    with pytest.raises(InputError, match='did you mean "airtime"'):
        Sweep(Scenario(TEXT.replace('["fifo", "airtime"]', '["fifo", "airtme"]'))).run()
    assert begun == []


def test_without_a_table_the_scenario_itself_is_the_only_combination(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    file.write_text(TEXT.partition("[sweep]")[0])
    assert status(["sweep", str(file), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["combinations"]
    assert row["set"] == {}
    assert status(["sweep", str(file)]) == 0
    assert capsys.readouterr().out.startswith("total Mbit/s")


def test_run_says_that_there_is_a_sweep(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(file), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["scenario"] == "two"
    assert "its [sweep] table (4 combinations) is ignored" in captured.err
    assert captured.err.count("\n") == 1


def test_keys_are_shown_by_what_tells_them_apart() -> None:
    text = TEXT.partition("[sweep]")[0] + '[sweep]\n"flow.0.start" = ["0 s"]\n"flow.1.start" = ["0 s", "1 ms"]\n'
    table = Sweep(Scenario(text))
    heading = table.told(*table.run()).to_text().splitlines()[0]
    assert heading.split()[:2] == ["0.start", "1.start"]


def test_a_run_ignores_a_sweep_that_does_not_fit_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swept = '[sweep]\n"node.ap.interface.wlan0.scheme.sparse" = [true, false]\n'
    file.write_text(TEXT.partition("[sweep]")[0] + swept)
    assert status(["run", str(file)]) == 0
    assert "its [sweep] table (2 combinations) is ignored" in capsys.readouterr().err
    # What is swept is no key of this scheme.
    scheme = ["--set", "node.ap.interface.wlan0.scheme=fifo"]
    assert status(["run", str(file), *scheme]) == 0
    assert capsys.readouterr().err == ""
    assert status(["sweep", str(file), *scheme]) == 2
    assert "found an unknown key" in capsys.readouterr().err


def test_an_interrupt_keeps_what_was_finished(file: Path) -> None:
    # The second combination would take for ever.
    endless = TEXT.partition("[sweep]")[0] + '[sweep]\nduration = ["50 ms", "90000 s"]\n'
    file.write_text(endless)
    folder = file.parent / "kept"
    command = [sys.executable, "-m", "stillair", "sweep", str(file), "--jobs", "1", "-o", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        for _ in range(6000):
            if list((folder / "combinations").glob("*.json")) or running.poll() is not None:
                break
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert out == ""
    assert err.splitlines() == [
        f"stillair: 1 of 2 combinations are kept in {folder}; run the same command again to continue",
        "stillair: interrupted",
    ]
    table = Sweep(Scenario(endless))
    assert table.kept(folder) == 1


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            'seed = "1..1000"\nflow.0.burst = "1..1000"',
            "two.toml:30: sweep.flow.0.burst: found 1000 times 1000 runs, expected at most 100000 in a sweep",
        ),
        (
            'seed = "1..4"\nflow.0.burst = [1,\n 0]',
            "two.toml:31: sweep.flow.0.burst.1: found 0, expected a whole number from 1 to 10000",
        ),
    ],
)
def test_a_mistake_in_the_table_is_found_before_the_first_run(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: str, says: str
) -> None:
    file.write_text(TEXT.partition("[sweep]")[0] + f"[sweep]\n{table}\n")
    runs: list[object] = []
    monkeypatch.setattr(_native, "run", lambda *arguments, **_: runs.append(arguments))
    monkeypatch.setattr(_native, "run_variants", lambda *arguments, **_: runs.append(arguments))
    assert status(["sweep", str(file)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert says in captured.err
    assert runs == []


def test_a_combination_that_is_refused_is_named(file: Path) -> None:
    # Each value is right with one of the other key's, and one of the four combinations is wrong.
    file.write_text(
        TEXT.partition("[sweep]")[0] + '[sweep]\nduration = ["50 ms", "80 ms"]\nwarm_up = ["0 s", "60 ms"]\n'
    )
    says = r"two\.toml: \[sweep\] with duration = 50 ms, warm_up = 60 ms: .*warm_up: found \"60 ms\""
    with pytest.raises(InputError, match=says):
        Sweep(Scenario(file))


def test_overrides_count_for_the_values_of_the_table(file: Path) -> None:
    file.write_text(TEXT.partition("[sweep]")[0] + '[sweep]\nwarm_up = ["60 ms"]\n')
    with pytest.raises(InputError, match=r"sweep\.warm_up\.0: found \"60 ms\""):
        Sweep(Scenario(file))
    assert len(Sweep(Scenario(file), [("duration", "80 ms")]).combinations) == 1


# By file of `scenarios`: what is overridden, the figures of flows in sweep.csv, and a title of the printed table.
FLOWS = {
    "anomaly-voip": (
        {"duration": "7 s"},
        ["call.slow.mos", "call.slow.delay_ms", "call.slow.jitter_ms"],
        "call.slow MOS",
    ),
    "anomaly-web": ({"duration": "7 s"}, ["page.server.mean_s"], "page.server load s"),
    "quic-quinn": ({"duration": "3 s"}, ["quic.client.throughput_mbps"], "quic.client Mbit/s"),
}


@pytest.mark.parametrize("name", FLOWS)
def test_calls_pages_and_quic_are_told(name: str) -> None:
    sets, figures, title = FLOWS[name]
    table = Sweep(bundled.scenario(name), sets, runs=2)
    table.combinations = table.combinations[:2]
    results = table.run().results
    rows = list(csv.DictReader(io.StringIO(table.told(results).to_csv())))
    for row, result in zip(rows, results, strict=True):
        flows = result.summary()[{"anomaly-voip": "voip", "anomaly-web": "web", "quic-quinn": "quic"}[name]]
        for figure in figures:
            flow, _, key = figure.rpartition(".")
            found = [float(row[figure + end]) for end in ("", ".low", ".high")]
            assert found == [flows[flow][key][end] for end in ("mean", "low", "high")]
    assert title in table.told(results).to_text()


def test_a_sweep_of_wires_tells_flows_and_pings() -> None:
    text = (
        bundled.scenario("bench/wired-4").text
        + '\n[[flow]]\nkind = "ping"\nname = "ping"\nfrom = "client"\nto = "server"\n'
    )
    table = Sweep(Scenario(text + '\n[sweep]\n"link.cr.delay" = ["1 ms", "5 ms"]\n'), {"duration": "2 s"})
    head = table.told(*table.run()).to_csv().partition("\n")[0].split(",")
    assert {"upload1.server.goodput_mbps", "upload1.server.minrtt_ms", "ping.server.median_ms"} <= set(head)
    assert not any(name.endswith(".low") for name in head)


def test_keys_that_change_nothing_are_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Nobody is slow here, so that it does not matter how CoDel would treat one; the rate of the flow does.
    text = file.read_text().replace(
        '"node.ap.interface.wlan0.scheme" = ["fifo", "airtime"]',
        '"node.ap.interface.wlan0.scheme.slow_target" = ["20 ms", "80 ms"]',
    )
    file.write_text(text.replace("[sweep]", "[sweep]\nseed = [1, 2]"))
    assert status(["sweep", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["without_effect"] == ["node.ap.interface.wlan0.scheme.slow_target"]
    assert status(["sweep", str(file)]) == 0
    said = "node.ap.interface.wlan0.scheme.slow_target: no effect in any combination"
    assert [line for line in capsys.readouterr().out.splitlines() if "no effect" in line] == [said]


def test_a_file_tells_every_flow(file: Path) -> None:
    table = Sweep(Scenario(file))
    header = next(csv.reader(io.StringIO(table.told(*table.run()).to_csv())))
    assert [name for name in header if name.startswith("udp-0.fast.")] == [
        f"udp-0.fast.{key}" for key in ("goodput_mbps", "loss", "delay_p50_ms", "delay_p95_ms", "delay_p99_ms")
    ]


def test_a_rate_that_its_signal_cannot_carry_is_said_once(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text().replace('"ht20-mcs15-sgi"', '"ht20-mcs15-sgi"\nsnr = "12 dB"'))
    for command in ("run", "sweep"):
        assert status([command, str(file)]) == 0
        said = " ".join(capsys.readouterr().err.split())
        assert said.count("note:") == 1
        said = said[said.index("stillair: note:") :]
        assert said.startswith("stillair: note: node.fast.interface.wlan0.rate: the signal is 12.0 dB above the noise")
        assert "is the fastest rate of its kind that loses less than a tenth" in said
    assert len(Scenario(file).run().notes) == 1


def test_a_table_has_the_late_pings_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert status(["sweep", "laptop-scan", "--set", "duration=20 s", "-o", str(tmp_path / "kept")]) == 0
    out = capsys.readouterr().out
    assert "by station: goodput Mbit/s / airtime share % / ping p50 / p95 / p99 ms" in out
    rows = [line for line in out.splitlines() if line.startswith(("mac80211", "iwlwifi", "ath10k"))]
    assert [row.count(" / ") for row in rows] == [4, 4, 4]
    header = next(csv.reader((tmp_path / "kept" / "sweep.csv").open()))
    assert {f"laptop.ping_{part}_ms" for part in ("median", "p95", "p99")} <= set(header)


def test_a_table_has_the_share_of_pings_that_was_lost() -> None:
    over = {"node.ap.interface.wlan0.scheme": ["fifo", "airtime"]}
    found = Sweep(bundled.scenario("anomaly-udp"), [("duration", "8 s")], over=over)
    told = found.told(*found.run())
    heading, rows, _ = told.grid()
    at = heading.index("pings lost %")
    assert float(rows[0][at]) > 50 > float(rows[1][at])
    [fifo, _] = csv.DictReader(io.StringIO(told.to_csv()))
    assert float(fifo["ping-1.slow.lost"]) <= float(fifo["ping-1.slow.sent"])
    assert float(fifo["ping-1.slow.loss"]) == pytest.approx(
        float(fifo["ping-1.slow.lost"]) / float(fifo["ping-1.slow.sent"])
    )
