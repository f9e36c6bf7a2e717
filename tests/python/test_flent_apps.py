"""Calls and TCP in Flent's eyes: the names of its tests, and its own score of the same call."""

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

from stillair import Result, Scenario
from stillair.runs import bundled

PYTHON = Path(__file__).resolve().parents[2] / "build" / "flent-venv" / "bin" / "python"

# Flent's score of a delay and a loss, and its reading of a call in a file; it runs as a program of its own.
SCORES = (
    "import json, sys; from flent.util import mos_score as s; print(json.dumps([s(*p) for p in json.load(sys.stdin)]))"
)
OF_FILE = (
    "import sys; from flent.combiners import MosReducer; from flent.resultset import ResultSet;"
    "print(MosReducer('', None, False)(ResultSet.load_file(sys.argv[1]), {'data': 'VoIP'}))"
)

CALL = """
name = "call"
duration = "10 s"
link.lan = { rate = "100 Mbit/s", delay = "1 ms" }
node.a.profile = "linux-4.4"
node.a.interface.eth0 = { link = "lan", address = "10.0.0.1", qdisc = { kind = "netem", limit = 9000 } }
node.b.profile = "linux-4.4"
node.b.interface.eth0 = { link = "lan", address = "10.0.0.2" }
flow = [{ kind = "voip", from = "a", to = "b" }]
"""


def flent(code: str, *arguments: str, given: str = "") -> Any:  # noqa: ANN401 - JSON
    if not PYTHON.exists():
        pytest.fail(f"{PYTHON} is missing: run 'make build/stamps/flent-venv'")
    command = [str(PYTHON), "-c", code, *arguments]
    return json.loads(subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout)


def called(**netem: str) -> Result:
    overrides = {f"node.a.interface.eth0.qdisc.{key}": value for key, value in netem.items()}
    return Scenario(CALL).run(overrides=overrides, series=True)


def content(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(gzip.decompress(path.read_bytes()))


def test_flent_scores_every_delay_and_loss_as_we_do() -> None:
    calls = [
        called(delay=delay, jitter=jitter, loss=loss).runs[0]["voip"]["voip-0.b"]
        for delay, jitter in (("1 ms", "0 s"), ("90 ms", "2 ms"), ("250 ms", "20 ms"), ("900 ms", "0 s"))
        for loss in ("0", "0.004", "0.03", "0.2")
    ]
    given = [
        (call["delay_ms"] + 2 * call["jitter_ms"], call["lost"] / (call["due"] - call["under_way"])) for call in calls
    ]
    assert len({loss for _, loss in given}) > 5
    for call, score in zip(calls, flent(SCORES, given=json.dumps(given)), strict=True):
        # With jitter Flent takes twice its mean for the de-jitter buffer; ours is the best fixed one.
        if call["jitter_ms"] < 0.1:
            assert call["mos"] == pytest.approx(score, abs=1e-2)


def test_flent_reads_our_score_from_the_file(tmp_path: Path) -> None:
    result = called(delay="60 ms", loss="0.02")
    result.save(tmp_path / "x.flent.gz")
    call = result.runs[0]["voip"]["voip-0.b"]
    assert call["lost"] > 0
    meta = content(tmp_path / "x.flent.gz")["metadata"]["SERIES_META"]["VoIP"]
    assert meta["OWD_UP_MEAN"] == pytest.approx(call["delay_ms"])
    # Flent knows packets that came or were lost; our denominator also has those under way at the end.
    assert meta["PACKET_LOSS_RATE"] == pytest.approx(call["lost"] / (call["due"] - call["under_way"]))
    assert flent(OF_FILE, str(tmp_path / "x.flent.gz")) == pytest.approx(call["mos"], abs=2e-3)
    # Without what we say of it, from every packet: there the loss is that over what came.
    data = content(tmp_path / "x.flent.gz")
    data["metadata"]["SERIES_META"] = {}
    (tmp_path / "y.flent.gz").write_bytes(gzip.compress(json.dumps(data).encode()))
    delay = call["delay_ms"] + 2 * call["jitter_ms"]
    (score,) = flent(SCORES, given=json.dumps([[delay, call["lost"] / call["packets"]]]))
    assert flent(OF_FILE, str(tmp_path / "y.flent.gz")) == pytest.approx(score)


@pytest.mark.parametrize("plot", ["voip_delay", "voip_delay_cdf", "voip_mos_combine", "all_scaled", "download"])
def test_flent_draws_a_call_beside_downloads(plot: str, downloads: Path, tmp_path: Path) -> None:
    picture = tmp_path / "x.png"
    command = [str(PYTHON.with_name("flent")), "-p", plot, "-i", str(downloads), "-o", str(picture)]
    subprocess.run(command, capture_output=True, check=True)
    pixels = matplotlib.image.imread(picture)
    assert (pixels != pixels[0, 0]).any(axis=-1).sum() > 2000


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flent") / "x.flent.gz"
    bundled.scenario("anomaly-voip").run(overrides={"duration": "14 s"}, series=True).save(path)
    return path


def test_a_call_has_flents_names(downloads: Path) -> None:
    data = content(downloads)
    assert data["metadata"]["NAME"] == "rtt_fair_var_down"
    assert data["metadata"]["TEST_PARAMETERS"]["voip_host"] == "slow"
    names = {"VoIP", *(f"VoIP::{part}" for part in ("bitrate", "delay", "jitter", "loss", "induced_delay"))}
    assert names <= set(data["results"])
    assert {"TCP download BE slow", "TCP download sum", "Ping (ms) ICMP slow"} <= set(data["results"])
    assert not any("upload" in name for name in data["results"])
    assert len(data["raw_values"]["VoIP"]) > 650


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    path = tmp_path_factory.mktemp("flent") / "x.flent.gz"
    result = bundled.scenario("anomaly-web").run(overrides={"duration": "14 s", "warm_up": "0 s"}, series=True)
    result.save(path)
    return result, path


def test_loads_of_a_page_have_flents_name(loads: tuple[Result, Path]) -> None:
    result, path = loads
    data = content(path)
    assert data["metadata"]["NAME"] == "rtt_fair_var_down"
    raw = data["raw_values"]["HTTP latency"]
    page = result.runs[0]["web"]["page.server"]
    assert len(raw) == page["loads"] > 50
    assert sum(item["val"] for item in raw) / len(raw) == pytest.approx(1000 * page["mean_s"])
    assert raw[0]["dur"] == pytest.approx(raw[0]["val"] / 1000)


@pytest.mark.parametrize("plot", ["http_delay", "http_delay_cdf", "http_box_combine"])
def test_flent_draws_loads(plot: str, loads: tuple[Result, Path], tmp_path: Path) -> None:
    picture = tmp_path / "x.png"
    command = [str(PYTHON.with_name("flent")), "-p", plot, "-i", str(loads[1]), "-o", str(picture)]
    subprocess.run(command, capture_output=True, check=True)
    pixels = matplotlib.image.imread(picture)
    assert (pixels != pixels[0, 0]).any(axis=-1).sum() > 1000


def test_both_directions_of_tcp(tmp_path: Path) -> None:
    result = bundled.scenario("anomaly-tcp-both").run(overrides={"duration": "7 s"}, series=True)
    result.save(tmp_path / "x.flent.gz")
    data = content(tmp_path / "x.flent.gz")
    assert data["metadata"]["NAME"] == "rtt_fair_var"
    assert {f"TCP {way} BE {name}" for way in ("upload", "download") for name in ("fast1", "slow")} <= set(
        data["results"]
    )
    series = result.run_with_series(0).series
    fast = next(flow for flow in series.flows if flow.name == "up-fast1.server")
    assert data["results"]["TCP upload BE fast1"] == series.mbps(fast)
