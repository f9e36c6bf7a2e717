import json
import shlex
import sys
from pathlib import Path

import pytest

import compare
from comparison import NotRun, Row, cost_table, ratios, station_table, summarise
from programs import ProgramError, Run, Station, run_ns3, run_stillair


def station(name: str, mbps: float, aggregate: float | None = None) -> Station:
    return Station(name, mbps, 10 * mbps, None, None, aggregate, None)


def run(cpu_s: float, mbps: float, offered: int | None = None) -> Run:
    return Run(cpu_s, 40.0, 30.0, offered, (station("fast", mbps), station("slow", mbps)))


def row(program: str, us: float, stations: tuple[Station, ...] = ()) -> Row:
    return Row("thirty", program, 3, 1.0, 30.0, us, None, 40.0, 12.0, stations)


def program(folder: Path, text: str) -> Path:
    """A program that runs the Python lines of `text`, in a folder whose name has a space."""
    folder = folder / "a folder"
    folder.mkdir(exist_ok=True)
    script = folder / "program.py"
    script.write_text(f"import sys\n{text}\n", encoding="utf-8")
    # By way of the shell: a path in a first line of `#!` can hold no space, and the interpreter's may.
    path = folder / "program"
    path.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(script)])} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def test_figures_are_per_delivered_packet() -> None:
    # 2 x 11.776 Mbit/s for 30 s in datagrams of 1,472 bytes are 60,000.
    assert run(1.0, 11.776).delivered(1472) == pytest.approx(60_000)
    got = summarise("s", "p", 1472, [run(6.0, 11.776, 120_000), run(3.0, 11.776, 120_000), run(60.0, 11.776, 120_000)])
    assert (got.cpu_s, got.simulated_per_cpu, got.goodput_mbps) == (6.0, 5.0, pytest.approx(23.552))
    assert got.us_per_delivered == pytest.approx(100)
    assert got.us_per_offered == pytest.approx(50)
    assert summarise("s", "p", 1448, [run(6.0, 1.0)]).us_per_offered is None


def test_each_station_has_its_own_median_and_a_look_adds_only_what_it_alone_saw() -> None:
    runs = [run(1.0, mbps) for mbps in (1.0, 5.0, 3.0)]
    look = Run(9.0, 90.0, 30.0, None, (station("fast", 100.0, 42.0), station("slow", 100.0, 3.0)))
    got = summarise("s", "p", 1472, runs, look)
    assert [(s.name, s.goodput_mbps, s.ping_median_ms, s.mean_aggregate_down) for s in got.stations] == [
        ("fast", 3.0, 30.0, 42.0),
        ("slow", 3.0, 30.0, 3.0),
    ]
    assert got.cpu_s == 1.0


def test_tables_stand_in_line_and_say_what_did_not_run() -> None:
    rows: list[Row | NotRun] = [row("ns-3", 100.0), NotRun("thirty", "stillair", "no thirty.toml")]
    assert cost_table(rows).splitlines() == [
        "scenario  program   CPU s  us/delivered  us/offered  sim s/CPU s  peak MB  Mbit/s",
        "thirty    ns-3      1.000        100.00           -        30.00     40.0   12.00",
        "thirty    stillair  not-run: no thirty.toml",
    ]
    assert ratios(rows) == []
    assert ratios([row("ns-3", 100.0), row("stillair", 2.0)]) == [
        "thirty: ns-3 takes 50 times the CPU time per delivered packet"
    ]


def test_many_stations_are_shown_as_first_mean_and_last() -> None:
    many = tuple(station(f"s{i}", float(i)) for i in range(1, 6))
    lines = station_table([row("ns-3", 1.0, many)]).splitlines()
    assert [line.split()[2:-5] for line in lines[1:]] == [["s1", "1.00"], ["mean", "of", "3", "3.00"], ["s5", "5.00"]]


def test_both_programs_are_asked_and_read(tmp_path: Path) -> None:
    values = {"goodput_mbps": 5.0, "airtime_tx_us": 1.0, "mean_aggregate": 2.0, "mean_aggregate_up": None}
    summary = {"stations": {"slow": values}, "packets": {"created": 7}}
    answer = {"seconds": 30.0, "peak_kib": 1000, "summary": summary}
    ours = program(tmp_path, f"assert sys.argv[1:] == ['--json', 's.toml', '2']\nprint({json.dumps(answer)!r})")
    got = run_stillair(ours, Path("s.toml"), 2)
    assert (got.offered, got.peak_mb, got.simulated_s) == (7, 1.024, 30.0)
    assert got.stations == (Station("slow", 5.0, None, None, None, 2.0, None),)
    assert got.cpu_s > 0

    answer = {"seconds": 30, "peak_kib": 1000, "udp_sent": 0, "stations": {"slow": {"goodput_mbps": 5.0}}}
    look = "['--scenario=thirty', '--run=2', '--look']"
    theirs = program(tmp_path, f"assert sys.argv[1:] == {look}\nprint({json.dumps(answer)!r})")
    got = run_ns3(theirs, "thirty", 2, look=True)
    assert (got.offered, got.stations) == (None, (Station("slow", 5.0, None, None, None, None, None),))


@pytest.mark.parametrize(
    ("text", "says"), [("sys.exit(3)", "exit status 3"), ("print('no figures')", "no JSON"), (None, "cannot run")]
)
def test_a_program_that_fails_is_an_error(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "missing" if text is None else program(tmp_path, text)
    with pytest.raises(ProgramError, match=says):
        run_ns3(path, "thirty", 0)


def test_a_scenario_of_ours_that_is_not_there_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = {"seconds": 30, "peak_kib": 1000, "udp_sent": 0, "stations": {"slow": {"goodput_mbps": 5.0}}}
    path = str(program(tmp_path, f"print({json.dumps(answer)!r})"))
    arguments = ["--ns3", path, "--stillair", path, "--scenarios", str(tmp_path), "--scenario", "rrul", "--json"]
    assert compare.main(arguments) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(r["program"], r["status"]) for r in rows] == [("ns-3", "measured"), ("stillair", "not-run")]


def test_a_missing_program_is_named_with_what_builds_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["--ns3", str(tmp_path / "none")]) == 2
    assert "make bench-ns3" in capsys.readouterr().err
