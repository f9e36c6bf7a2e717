"""The air as a picture: every exchange in the lane of its station."""

import csv
import itertools
import re
from pathlib import Path

import pytest

from stillair import Result, plot
from stillair.__main__ import status
from stillair.plot.data import Titled
from stillair.results import exchanges
from stillair.runs import bundled

SHORT = ["--set", "duration=5.6 s", "--set", "record.air=5.3 s..5.38 s"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TCP in both directions, which collides, and a slow station with errors."""
    path = tmp_path_factory.mktemp("air") / "kept"
    file = str(bundled.scenario("anomaly-tcp-both").file)
    errors = ["--set", "node.slow.interface.wlan0.error_rate=0.2"]
    assert status(["run", file, *SHORT, *errors, "-o", str(path)]) == 0
    return path


def drawn(folder: Path, tmp_path: Path, *more: str) -> str:
    target = tmp_path / "x.svg"
    assert status(["plot", str(folder), "--plot", plot.TIMELINE, *more, "-o", str(target), "--force"]) == 0
    return target.read_text()


def test_lanes_boxes_and_sizes(folder: Path, tmp_path: Path) -> None:
    found = exchanges.of_run(Result.load(folder).runs[0])
    assert found
    text = drawn(folder, tmp_path)
    assert all(f">{name}<" in text for name in ("fast1.wlan0", "slow.wlan0", "air"))
    # A box for each PPDU in its lane and in that of the air, and one for each answer in both.
    answers = sum(exchange.answer_ns() is not None for exchange in found.all)
    collisions = sum(exchange.collided for exchange in found.all)
    again = sum(exchange.attempt > 0 and not exchange.collided for exchange in found.all)
    assert answers > 10
    boxes = text.count('<g id="patch_')
    expected = 2 * (len(found.all) + answers + collisions + again)
    # Axes and legend have patches of their own.
    assert expected <= boxes <= expected + 20
    sizes = {f"{exchange.frames}" for exchange in found.all if exchange.kind == "aggregate"}
    assert any(f">{size}<" in text for size in sizes)


def test_a_window_shows_less_and_a_wrong_one_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, part = drawn(folder, tmp_path), drawn(folder, tmp_path, "--window", "5310 ms..5.33 s")
    assert part.count("patch_") < whole.count("patch_")
    assert whole == drawn(folder, tmp_path)
    for window in ("1 s", "2 s..1 s", "1..2", "now..then"):
        assert status(["plot", str(folder), "--plot", plot.TIMELINE, "--window", window]) == 2
        assert "expected two times, the later second, such as" in capsys.readouterr().err
    for window in ("100 ms..200 ms", "5.5 s..5.6 s"):
        assert status(["plot", str(folder), "--plot", plot.TIMELINE, "--window", window]) == 2
        assert "recorded is what began in 5.3 s..5.38 s" in capsys.readouterr().err
    assert status(["plot", str(folder), "--plot", "ping_cdf", "--window", "1 s..2 s"]) == 2
    assert "shows the whole run" in capsys.readouterr().err


def test_the_table_has_what_was_recorded(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "exchanges.csv").open(encoding="utf-8")))
    found = exchanges.of_run(Result.load(folder).runs[0])
    assert found
    assert len(rows) == len(found.all) > 50
    assert {row["kind"] for row in rows} >= {"single", "aggregate"}
    assert {row["sender"] for row in rows} >= {"ap.wlan0", "slow.wlan0"}
    assert sum(int(row["airtime_ns"]) for row in rows) == sum(exchange.airtime_ns for exchange in found.all)
    # Nothing starts before the stretch, and no answer before its frame is over.
    assert all(5_300_000_000 <= int(row["start_ns"]) < 5_380_000_000 for row in rows)
    for exchange in found.all:
        answer = exchange.answer_ns()
        assert answer is None or exchange.start_ns + exchange.airtime_ns < answer[0] < answer[1]


def test_in_one_lane_boxes_do_not_overlap_but_in_collisions(folder: Path) -> None:
    found = exchanges.of_run(Result.load(folder).runs[0])
    assert found
    alone = sorted((e.start_ns, e.end_ns) for e in found.all if not e.collided)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(alone))


def test_a_lane_for_each_channel(tmp_path: Path) -> None:
    scenario = bundled.scenario("bquic-mesh")
    result = scenario.run(overrides={"duration": '"1.2 s"', "warm_up": '"1 s"', "record.air": '"1 s..1.1 s"'})
    found = exchanges.of_run(result.runs[0])
    assert found
    # A device is on one channel, and who talks to it on the same.
    channel = {exchange.sender: exchange.channel for exchange in found.all}
    assert {channel["gateway.down"], channel["r1.down"]} == {"hop1", "hop2"}
    assert all(channel.get(e.receiver, e.channel) == e.channel == channel[e.sender] for e in found.all)
    plot.draw(plot.TIMELINE, [Titled("mesh", result)], tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert [text.count(f">{lane}<") for lane in ("air of hop1", "air of hop2", "air")] == [1, 1, 0]


def test_two_results_are_two_panels(folder: Path, tmp_path: Path) -> None:
    result = Result.load(folder)
    plot.draw(plot.TIMELINE, [Titled("one", result), Titled("two", result)], tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert all(len(re.findall(f">{title}<", text)) == 1 for title in ("one", "two"))
