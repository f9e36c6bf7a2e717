"""`stillair compare`: sides, rows, and what is shown of them."""

import json
from pathlib import Path

import pytest

from stillair import Result
from stillair.__main__ import status
from stillair.cli.compare.rendering import as_json, markdown, text
from stillair.cli.compare.rows import differs, rows
from stillair.cli.compare.sides import Side

ROOT = Path(__file__).resolve().parents[2]
SCHEME = "node.ap.interface.wlan0.scheme"
BLINK = "duration=40 ms; warm_up=0 s"


def side(title: str, *goodputs: float, seed: int = 1, **more: float) -> Side:
    runs = [
        {
            "run": number,
            "seed": seed,
            "trace_hash": "0",
            "goodput_total_mbps": goodput,
            "stations": {"sta2": {"goodput_mbps": goodput}, "sta10": {"goodput_mbps": 1.0, **more}},
            "drops": [],
        }
        for number, goodput in enumerate(goodputs)
    ]
    return Side(title, Result({"version": "0.1.0", "scenario": title, "runs": runs}))


def test_runs_of_one_seed_are_compared_pair_by_pair() -> None:
    sides = [side("a", 9.0, 10.0, 11.0), side("b", 18.0, 20.0, 22.0)]
    total, *stations = rows(sides)
    [ratio] = total.ratios
    assert ratio is not None
    # What both have alike cancels: each run has twice as much.
    assert (ratio.mean, round(ratio.low, 9), round(ratio.high, 9)) == (2.0, 2.0, 2.0)
    assert differs(ratio)
    assert [row.name for row in stations] == ["sta2 goodput", "sta10 goodput"]
    [other] = rows([sides[0], side("b", 18.0, 20.0, 22.0, seed=2)])[0].ratios
    assert other is not None
    # By hand: standard errors 0.5774 and 1.1547 of 10 and 20 make sqrt(2 * 0.11547 ** 2) of the ratio, with 4
    # degrees of freedom.
    assert other.high - other.mean == pytest.approx(0.16330 * 2.77645, abs=1e-4)


def test_many_sides_have_letters_where_their_titles_have_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = "shaper={ down = '47 Mbit/s', up = '9 Mbit/s', qdisc = 'cake' }"
    sides = [side("baseline", 10.0, 12.0), side(long, 12.0, 10.0), side("c", 8.0, 7.0)]
    shown = text(sides, rows(sides)).splitlines()
    assert shown[:4] == ["A  baseline", f"B  {long}", "C  c", ""]
    assert shown[4].split() == ["A", "B", "C"]
    assert max(map(len, shown)) <= 80
    values, differences = (line.split()[3:] for line in shown if line.startswith("total goodput"))
    assert values == ["11.00", "±12.71", "11.00", "±12.71", "7.50", "±6.35"]
    assert "B vs A" in "\n".join(shown)
    assert differences[:1] == ["+0.0"]
    assert differences[differences.index("-31.8") :][:4] == ["-31.8", "±136.5", "%", "~"]
    # What has room keeps its titles.
    monkeypatch.setenv("COLUMNS", "160")
    few = [side("a", 1.0, 2.0), side("b", 1.0, 2.0), side("c", 1.0, 2.0)]
    assert text(few, rows(few)).splitlines()[0].split()[:2] == ["a", "b"]


def test_what_was_not_measured_and_what_is_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    sides = [side("a", 10.0, 12.0, 11.0), side("b", 12.0, 10.0, 11.5, ping_p95_ms=3.0), side("c", 0.0, 0.0, 0.0)]
    found = rows(sides)
    shown = text(sides, found)
    lines = {line.split("  ")[0]: line.split("  ") for line in shown.splitlines()}
    assert "~: the difference may be chance; its 95 % interval includes no change." in shown
    assert any(
        cell.strip().startswith("+1.5 ") and cell.strip().endswith(" % ~") for cell in lines["total goodput Mbit/s"]
    )
    assert [cell.strip() for cell in lines["sta10 ping p95 ms"] if cell] == [
        "sta10 ping p95 ms",
        "-",
        "3.0",
        "-",
        "-",
        "-",
    ]
    assert "-100.0 %" in shown
    backwards = rows(sides[::-1])[0]
    assert backwards.ratios == [None, None]


def test_one_run_has_no_interval() -> None:
    sides = [side("a", 10.0), side("b", 20.0)]
    found = rows(sides, ["total*"])
    assert [row.name for row in found] == ["total goodput"]
    assert "+100.0 %" in text(sides, found)
    [row] = json.loads(as_json(sides, found))["rows"]
    assert row["sides"] == [{"mean": 10.0, "low": None, "high": None}, {"mean": 20.0, "low": None, "high": None}]
    assert row["to_first"] == [{"ratio": 2.0, "low": None, "high": None, "differs": None}]


def test_markdown_is_a_table() -> None:
    sides = [side("a|b", 9.0, 10.0, 11.0), side("b", 18.0, 20.0, 22.0)]
    lines = markdown(sides, rows(sides, ["total"])).splitlines()
    assert lines[:3] == [
        "|  | a\\|b | b | vs a\\|b |",
        "| --- | ---: | ---: | ---: |",
        "| total goodput Mbit/s | 10.00 ±2.48 | 20.00 ±4.97 | +100.0 % |",
    ]


def test_settings_stand_beside_the_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, scenario = tmp_path / "f.svg", tmp_path / "udp.toml"
    text = (ROOT / "scenarios" / "anomaly-udp.toml").read_text().replace('"35 s"', '"6 s"')
    scenario.write_text(text.partition("[sweep]")[0])
    settings = ["--set", f"{BLINK}; {SCHEME}=fifo", "--set", f"{BLINK}; {SCHEME}=fq_mac"]
    assert status(["compare", str(scenario), *settings, "--runs", "2", "--json", "-o", str(file), "--seed", "3"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    titles = [one["title"] for one in found["sides"]]
    assert titles == [
        "baseline",
        "duration=40 ms, warm_up=0 s, scheme=fifo",
        "duration=40 ms, warm_up=0 s, scheme=fq_mac",
    ]
    assert [one["runs"] for one in found["sides"]] == [2, 2, 2]
    assert "are drawn; --only 'PATTERN' chooses" in captured.err
    drawn = file.read_bytes()
    assert b"scheme=fifo" in drawn


def test_kept_results_and_scenarios(kept: Path, kept_fifo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["compare", str(kept), str(kept_fifo), "--only", "airtime"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["kept", "fifo", "vs", "kept"]
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["anomaly-udp"], "found one side, expected several"),
        (["anomaly-udp", "anomaly-tpc"], 'did you mean "anomaly-tcp"'),
        (["anomaly-udp", "--set", f"{SCHEME}=fifoo"], 'did you mean "fifo"?'),
        (["KEPT", "--set", "seed=2"], "is a kept result, which settings cannot change"),
        (["KEPT", "mesh", "--set", "seed=2"], "is a kept result, which settings cannot change"),
        (["KEPT", "KEPT", "--runs", "3"], "--runs: has no effect on kept results"),
        (["KEPT", "KEPT", "--markdown", "--json"], "expected one of the two"),
        (["KEPT", "KEPT", "--only", "xyzzy"], "expected part of a quantity's name"),
        (["KEPT", "KEPT", "-o", "x.gif"], "x.gif: the name must end in .png, .svg or .pdf"),
    ],
)
def test_mistakes(kept: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["compare", *(str(kept) if one == "KEPT" else one for one in arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err


def test_rows_that_were_chosen_are_all_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    sides = [side("a", 10.0, 11.0), side("b", 12.0, 13.0)]
    many = [row for _ in range(40) for row in rows(sides, ["goodput"])]
    assert "... and 60 more; --only 'PATTERN' chooses" in text(sides, many)
    shown = text(sides, many, chosen=True)
    assert "more; --only" not in shown
    assert sum("goodput" in line for line in shown.splitlines()) == len(many) == 120


def test_differences_stand_beside_what_they_are_of_where_letters_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    long = "shaper={ down = '47 Mbit/s', up = '9 Mbit/s', qdisc = 'cake' }"
    sides = [side("baseline", 10.0, 12.0), side(long, 12.0, 10.0), side("c", 8.0, 7.0)]
    shown = text(sides, rows(sides, ["total"])).splitlines()
    assert shown[:4] == ["A  baseline", f"B  {long}", "C  c", ""]
    assert shown[4].split() == ["A", "B", "B", "vs", "A", "C", "C", "vs", "A"]
    assert sum(line.startswith("total goodput") for line in shown) == 1
    assert max(map(len, shown)) <= 100


def test_long_names_are_broken_rather_than_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "54")
    sides = [side("a", 10.0, 12.0, ping_p95_ms=100.25), side("b", 12.0, 10.0, ping_p95_ms=3.0)]
    found = [row._replace(of="a-flow-with-a-long-name") for row in rows(sides, ["sta10 ping p95"])]
    heading, first, second = text(sides, found).splitlines()[:3]
    assert heading.split() == ["a", "b", "vs", "a"]
    assert first == "a-flow-with-a-long-name ping p95"
    assert second.split() == ["ms", "100.2", "3.0", "-97.0", "%"]


def with_gaps(title: str, gap: float, *pings: float | None) -> Side:
    """A side with a call and a ping. A run whose ping is `None` has no reply."""
    made = side(title, *(10.0 for _ in pings))
    for run, longest in zip(made.result.runs, pings, strict=True):
        of = {"sent": 10, "longest_ms": longest, "p99_ms": longest}
        run.update({"flows": {"call.sta2": {"longest_gap_ms": gap}}, "pings": {"ping.sta2": of}})  # type: ignore[typeddict-item]
    return made


def test_the_longest_gap_and_ping_have_rows_if_they_differ() -> None:
    names = {"call.sta2 longest gap", "ping.sta2 longest ping"}
    same = [with_gaps("a", 60.0, 20.0, 30.0), with_gaps("b", 60.0, 20.0, 30.0)]
    assert not names & {row.name for row in rows(same)}
    assert {row.name for row in rows(same, ["longest"])} == names
    assert names <= {row.name for row in rows(same, every=True)}
    other = [same[0], with_gaps("b", 2000.0, 20.0, 31.0)]
    assert names <= {row.name for row in rows(other)}


def test_a_figure_of_some_runs_says_of_how_many() -> None:
    sides = [with_gaps("a", 60.0, 20.0, None, 30.0), with_gaps("b", 60.0, 20.0, 20.0, 20.0)]
    shown = markdown(sides, rows(sides, ["longest ping"]))
    assert "| 25.0 ±63.5 (2 of 3 runs) | 20.0 |" in shown
    [row] = json.loads(as_json(sides, rows(sides, ["longest ping"])))["rows"]
    assert [one.get("runs") for one in row["sides"]] == [2, None]
    assert row["sides"][0]["all_runs"] == 3
