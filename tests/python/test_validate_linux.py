"""`stillair validate linux` as a command."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError, RunError, _native
from stillair.__main__ import status
from stillair_lab.validate import command, kernel_file

KERNEL = kernel_file.bundled()
FIELDS = ["file", "quantity", "kernel", "model", "low", "high", "verdict"]
Engine = Callable[[], list[str]]


def report(flows: int, broken: bool = False) -> str:
    """A run as the engine reports it, of flows that do not change."""
    t_s = [0.05 * (step + 1) for step in range(600)]
    socket: dict[str, Any] = {
        "t_s": t_s,
        # A socket that has measured nothing yet.
        "srtt_ms": [0.0, *[3.4] * 599],
        "cwnd": [26] * 600,
        "bytes_acked": [t * 95.6e6 / 8 / flows for t in t_s],
        "retrans_total": [0] * 600,
    }
    if broken:
        del socket["cwnd"]
    counts = {"packets": 1, "bytes": 1}
    qdiscs = {
        name: {"drops": drops, **counts}
        for name, drops in {"C.cr": 9, "C.cr/child": 1, "R.rs": 9, "R.rs/child": 2, "R.rc": 9}.items()
    }
    ping = {"name": "ping.S", "kind": "ping", "from": "C", "to": "S", "station": None, "tos": 0, "dscp": 0, "ac": "BE"}
    pings = [[100_000_000 * seq + 2_900_000, 2_900_000, seq] for seq in range(300)]
    series = {
        "step_ns": 200_000_000, "steps": 150, "duration_ns": 30_000_000_000, "warm_up_ns": 2_000_000_000,
        "flows": [ping | {"pings": pings}], "stations": [], "drops": [], "queues": [],
    }  # fmt: skip
    sockets = {f"upload{number + 1}.S": socket for number in range(flows)}
    run = {"run": 0, "seed": 1, "drops": [], "sockets": sockets, "qdiscs": qdiscs, "series": series}
    return json.dumps({"version": "0", "scenario": "s", "runs": [run]})


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Puts a stand-in in the engine's place: no run of it shows a saw, bbr is not understood, and nv breaks."""

    def install() -> list[str]:
        ran: list[str] = []

        def resolve(text: str, file: str, overrides: object) -> str:  # noqa: ARG001
            if '"bbr"' in text:
                raise InputError(f"{file}:16: found bbr")
            return "{}"

        def run(
            text: str, file: str, *arguments: object, series: bool, keep: object, passed: object, kept: object
        ) -> str:
            assert (series, keep, passed, arguments[4], bool(kept)) == (True, None, None, 1, False)
            if '"nv"' in text:
                raise RunError("run 0: accounts do not close")
            ran.append(file)
            return report(text.count('kind = "tcp"'), broken='"hybla"' in text)

        monkeypatch.setattr(_native, "resolve", resolve)
        monkeypatch.setattr(_native, "run", run)
        return ran

    return install


def folder(tmp_path: Path, *names: str) -> Path:
    for name in names:
        shutil.copy(KERNEL / f"{name}.json", tmp_path)
    return tmp_path


def test_json_is_a_list_of_rows(engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = engine()
    of = folder(tmp_path, "L100M_cubic_pfifo_fast_tsq", "cc_reno_50mbit_rtt20")
    assert status(["validate", "linux", str(of), "--json", "--jobs", "2"]) == 0
    captured = capsys.readouterr()
    rows = json.loads(captured.out)
    assert captured.out.count("\n") == 1
    assert captured.err == ""
    assert all(list(row) == FIELDS for row in rows)
    assert [row["file"] for row in rows] == ["L100M_cubic_pfifo_fast_tsq.json"] * 8 + ["cc_reno_50mbit_rtt20.json"] * 10
    found = {row["quantity"]: (row["model"], row["verdict"]) for row in rows[:8]}
    assert found == {
        "goodput_mbps": (95.6, "within"),
        "srtt_median_ms": (3.4, "within"),
        "srtt_p90_ms": (3.4, "within"),
        "ping_median_ms": (2.9, "within"),
        "ping_p95_ms": (2.9, "within"),
        "cwnd_mean_pkts": (26.0, "within"),
        "retransmissions": (0.0, "within"),
        # Those of the leaves.
        "drops": (3.0, "within"),
    }
    assert {row["verdict"] for row in rows if row["quantity"].startswith("sawtooth")} == {"outside"}
    assert len(ran) == 2


def test_the_text_has_every_file_and_the_totals(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine()
    of = folder(tmp_path, "L100M_cubic_pfifo_fast_tsq", "cc_reno_50mbit_rtt20")
    assert status(["validate", "linux", str(of)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "L100M_cubic_pfifo_fast_tsq.json" in lines
    assert "srtt_median_ms 3.41 3.40 2.41 4.41 within" in lines
    assert "sawtooth_period_s 3.12 - 2.66 3.59 outside" in lines
    assert "goodput_mbps 1 1" in lines
    assert "L100M_cubic_pfifo_fast_tsq.json 8 0" in lines
    assert lines[-1] == "18 comparisons in 2 files: 8 within, 10 outside"


def test_one_file_stands_for_itself(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    ran = engine()
    file = KERNEL / "L100M_cubic_pfifo_fast_tsq.json"
    assert status(["validate", "linux", str(file), "--json"]) == 0
    assert {row["file"] for row in json.loads(capsys.readouterr().out)} == {file.name}
    assert ran == [f"{file} (as a scenario)"]


def test_without_a_folder_it_is_those_of_the_package(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine()
    assert status(["validate", "linux", "--json"]) == 2
    captured = capsys.readouterr()
    files = {row["file"] for row in json.loads(captured.out)}
    left_out = {path.name for path in KERNEL.glob("*.json")} - files
    assert left_out == {
        path.name for path in KERNEL.glob("*.json") if any(cc in path.name for cc in ("bbr", "nv", "hybla"))
    }
    assert "found bbr" in captured.err
    assert all(name in captured.err for name in left_out)
    assert len(captured.err.splitlines()) == len(left_out)


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("cc_bbr_50mbit_rtt20", 2, "cc_bbr_50mbit_rtt20.json (as a scenario):16: found bbr"),
        ("cc_nv_50mbit_rtt20", 1, "cc_nv_50mbit_rtt20.json: run 0: accounts do not close"),
        ("cc_hybla_50mbit_rtt20", 1, 'cc_hybla_50mbit_rtt20.json: s: the run has no "cwnd" in its report'),
    ],
)
def test_a_file_that_cannot_be_run_leaves_the_others(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int, says: str
) -> None:
    engine()
    of = folder(tmp_path, name, "cc_reno_50mbit_rtt20")
    assert status(["validate", "linux", str(of), "--json"]) == code
    captured = capsys.readouterr()
    assert {row["file"] for row in json.loads(captured.out)} == {"cc_reno_50mbit_rtt20.json"}
    assert captured.err == f"stillair: {tmp_path / says}\n"


def test_bad_input_alone_says_nothing_on_stdout(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = engine()
    text = (KERNEL / "cc_reno_50mbit_rtt20.json").read_text(encoding="utf-8")
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(text.replace("pfifo limit 100", "red limit 100"), encoding="utf-8")
    assert status(["validate", "linux", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 3
    for number, line in enumerate(lines):
        assert line.startswith(f'stillair: {tmp_path / f"{number}.json"}: config.tc: "tc -n R qdisc add dev')
    assert ran == []


def test_settings_that_nobody_knows_are_mentioned(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine()
    text = (KERNEL / "cc_reno_50mbit_rtt20.json").read_text(encoding="utf-8")
    changed = text.replace('"ping"', '"notes"', 1).replace("Linux 6.1", "Linux 6.3")
    (tmp_path / "x.json").write_text(changed, encoding="utf-8")
    assert status(["validate", "linux", str(tmp_path), "--json"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"stillair: {tmp_path / 'x.json'}: kernel: Linux 6.3 has no profile; linux-6.1 is used instead",
        f"stillair: {tmp_path / 'x.json'}: config.notes: changes nothing here, and is left out of the scenario",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["linux", "none"], "none: no such folder"), (["windows"], "windows"), (["linux", "--jobs", "0"], "--jobs")],
)
def test_mistakes_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["validate", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err


def test_results_do_not_depend_on_jobs(engine: Engine) -> None:
    engine()
    plan = command.plan(KERNEL)
    told: list[int] = []
    one = command.run(plan, jobs=1, progress=told.append)
    assert told == list(range(1, len(plan.subjects) + 1))
    many = command.run(plan, jobs=8)
    assert one.rows == many.rows
    assert [str(fault) for fault in one.faults] == [str(fault) for fault in many.faults]


def test_one_short_file_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # One flow with small queues is steady after two seconds: what the kernel showed over 28 s holds for two.
    measured = json.loads((KERNEL / "L100M_cubic_pfifo_fast_tsq_f1.json").read_text(encoding="utf-8"))
    measured["config"]["seconds"] = 4
    (tmp_path / "short.json").write_text(json.dumps(measured), encoding="utf-8")
    assert status(["validate", "linux", str(tmp_path), "--json"]) == 0
    rows = {row["quantity"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == {
        "goodput_mbps", "srtt_median_ms", "srtt_p90_ms", "ping_median_ms", "ping_p95_ms", "cwnd_mean_pkts",
        "retransmissions", "drops",
    }  # fmt: skip
    assert all(row["model"] is not None for row in rows.values())
    for quantity in ("goodput_mbps", "srtt_median_ms", "ping_median_ms", "retransmissions", "drops"):
        assert rows[quantity]["verdict"] == "within", rows[quantity]


# What the model misses, each with its cause in docs/validation.md. A miss that is mended leaves this list.
KNOWN_MISSES = {
    *(
        (f"L100M_cubic_pfifo_fast_tsq_tso_rtt10{start}.json", f"{what}_median_ms")
        for start in ("", "_stagger7")
        for what in ("srtt", "ping")
    ),
    *(
        ("R100M_cubic_pfifo_fast_tsq_tso.json", what)
        for what in ("srtt_median_ms", "ping_median_ms", "retransmissions", "drops")
    ),
}


def test_the_model_is_as_near_to_the_kernel_as_the_page_says() -> None:
    report = command.run(command.plan(None))
    outside = {(row.file, row.quantity) for row in report.rows if row.verdict == "outside"}
    assert outside == KNOWN_MISSES
    # Comparisons that are made no more would go unnoticed otherwise.
    page = (Path(__file__).parents[2] / "docs" / "validation.md").read_text(encoding="utf-8")
    rows = [row for row in report.rows if row.verdict in ("within", "outside")]
    files = {row.file for row in rows}
    assert f"{len(rows) - len(outside)} of {len(rows)} quantities in {len(files)} files are within" in page
