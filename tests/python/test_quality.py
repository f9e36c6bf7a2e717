"""Quality of Outcome: the draft's example, its bounds, damaged files, and the command on a result."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from stillair import InputError, Result, Scenario
from stillair.__main__ import status
from stillair.cli.app import app
from stillair.explain.quality import Bounds, Outcome, Requirement, of_run, outcome

NEED = "latency_ms = [[99, 200, 500], [99.9, 300, 600]]\nloss = [0.01, 0.05]\nthroughput_mbps = 4\n"
EXAMPLE = Requirement({99: Bounds(200, 500), 99.9: Bounds(300, 600)}, Bounds(0.01, 0.05), 4)


def test_the_example_of_the_draft() -> None:
    # Latencies whose 99th percentile is 350 and whose 99.9th is 375, interpolated between 1001 values.
    latencies = [100.0] * 990 + [350.0] * 9 + [375.0] * 2
    assert outcome(EXAMPLE, latencies, 0.02, 28) == pytest.approx((50, 50, 75, 100))


@pytest.mark.parametrize(
    ("latency", "loss", "throughput", "score"),
    [
        (200, 0.0, 4, 100),
        (199, 0.01, 4, 100),
        (500, 0, 4, 0),
        (700, 0, 4, 0),
        (1, 0.05, 4, 0),
        (1, 0.03, 4, 50),
        (1, 0, 3.9, 0),
    ],
)
def test_bounds(latency: float, loss: float, throughput: float, score: float) -> None:
    assert outcome(EXAMPLE, [latency], loss, throughput).score == pytest.approx(score)


def test_a_file_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "need.toml"
    path.write_text(NEED)
    assert Requirement.load(path) == EXAMPLE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loss = [0.01, 0.05]", 'the key "latency_ms" is missing'),
        (NEED.replace("[0.01, 0.05]", "[0.05, 0.01]"), "loss: found 0.05, then 0.01"),
        (NEED.replace("[99, 200, 500]", "[199, 200, 500]"), "latency_ms.0.0: found 199, expected a percentile"),
        (NEED.replace("[99, 200, 500]", "[99, 200]"), "latency_ms.0: found 2 values, expected 3"),
        (NEED.replace("[[99, 200, 500], [99.9, 300, 600]]", "[]"), "latency_ms: found none, expected at least one"),
        (NEED + "jitter = 3", "jitter: found 3, expected latency_ms, loss and throughput_mbps alone"),
        ("loss = [", "Invalid value"),
    ],
)
def test_a_damaged_file_is_one_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "need.toml"
    path.write_text(text)
    with pytest.raises(InputError) as why:
        Requirement.load(path)
    assert message in str(why.value)
    assert str(why.value).startswith(f"{path}: ")


def test_of_a_run() -> None:
    scenario = Scenario("scenarios/anomaly-voip.toml")
    result: Result = scenario.run(overrides={"duration": "7 s"}, series=True)
    easy = Requirement({50: Bounds(5_000, 10_000)}, Bounds(0.9, 1.0))
    hard = Requirement({50: Bounds(0.0, 0.001)}, Bounds(0.9, 1.0))
    found = of_run(result.run_with_series(0), easy)
    assert found
    assert all(one.score == 100 for one in found.values())
    assert all(one.score == 0 for one in of_run(result.run_with_series(0), hard).values())


def test_what_nothing_loaded_is_not_judged(tmp_path: Path) -> None:
    scenario = Scenario("home")
    need = Requirement({50: Bounds(500, 1000)}, Bounds(0.5, 1.0), 10)
    short = {"duration": "8 s", "warm_up": "4 s"}
    found = of_run(scenario.run(overrides=short, series=True).run_with_series(0), need)
    assert found
    assert all(one.score == 100 and one.throughput is None for one in found.values()), found
    # The laptop uploads all the time: its call has a station that is loaded.
    call = {**short, "flow.1.to": "laptop"}
    measured = scenario.run(overrides=call, series=True).run_with_series(0)
    assert {one.throughput for one in of_run(measured, need).values()} == {100.0}
    much = Requirement(need.latency_ms, need.loss, 1000)
    assert {one.throughput for one in of_run(measured, much).values()} == {0.0}
    assert outcome(need, [1.0], 0.0, None) == (100, 100, 100, None)
    folder, file = tmp_path / "result", tmp_path / "need.toml"
    file.write_text("latency_ms = [[50, 500, 1000]]\nloss = [0.5, 1.0]\nthroughput_mbps = 10\n")
    sets = [part for key, value in short.items() for part in ("--set", f"{key}={value}")]
    assert CliRunner().invoke(app, ["run", "home", "-o", str(folder), *sets]).exit_code == 0
    assert "not judged" in CliRunner().invoke(app, ["qoo", str(folder), str(file)]).stdout


SHARED = """
name = "shared"
duration = "6 s"
link.l = { rate = "10 Mbit/s", delay = "5 ms" }
node.a = { profile = "linux-6.12", interface.eth0.link = "l" }
node.b = { profile = "linux-6.12", interface.eth0.link = "l" }
[[flow]]
kind = "video"
name = "film"
from = "a"
to = "b"
rate = "1 Mbit/s"
[[flow]]
kind = "voip"
name = "call"
from = "a"
to = "b"
"""


def test_the_command_says_that_video_is_not_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "need.toml").write_text("latency_ms = [[50, 500, 1000]]\nloss = [0.5, 1.0]\n")
    (tmp_path / "shared.toml").write_text(SHARED)
    (tmp_path / "call.toml").write_text(SHARED.replace('kind = "video"', 'kind = "udp"'))
    for name, said in (("shared", True), ("call", False)):
        assert status(["run", str(tmp_path / f"{name}.toml"), "-o", str(tmp_path / name)]) == 0
        capsys.readouterr()
        assert status(["qoo", str(tmp_path / name), str(tmp_path / "need.toml")]) == 0
        assert ("Video is not scored: film.b." in capsys.readouterr().out) == said


def test_the_command_says_in_how_many_runs_a_flow_was_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "need.toml").write_text("latency_ms = [[50, 500, 1000]]\nloss = [0.5, 1.0]\n")
    (tmp_path / "shared.toml").write_text(SHARED)
    assert status(["run", str(tmp_path / "shared.toml"), "--runs", "3", "-o", str(tmp_path / "kept")]) == 0
    capsys.readouterr()
    scored = iter([{}, *[{"call.b": Outcome(80.0, 80.0, 100.0, None)}] * 2])
    monkeypatch.setattr("stillair.explain.quality.of_run", lambda *_: next(scored))
    assert status(["qoo", str(tmp_path / "kept"), str(tmp_path / "need.toml")]) == 0
    assert "80 (2 of 3 runs)" in capsys.readouterr().out
