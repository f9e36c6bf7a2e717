"""Pictures: each plot in each format is drawn, not empty, and the same for equal results."""

import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from stillair import Result, plot
from stillair.__main__ import status
from stillair.plot import data, distributions, scatter
from stillair.plot.data import Titled
from stillair.results.series import Series
from stillair.runs import bundled


def colours(path: Path) -> int:
    """Different colours in a picture."""
    pixels = matplotlib.image.imread(path)
    return len({tuple(pixel) for row in pixels[::5, ::5].tolist() for pixel in row})


# What a scenario has to ask for: test_sampled.py, test_timeline.py, test_sojourn.py.
_ASKED = ("sockets", "sojourn", "sojourn_p99", plot.TIMELINE)


@pytest.mark.parametrize("name", [name for name in plot.PLOTS if name not in _ASKED])
def test_each_plot_of_one_and_of_two_results(name: str, kept: Path, kept_fifo: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    assert status(["plot", str(kept), "--plot", name, "-o", str(one)]) == 0
    assert status(["plot", str(kept_fifo), str(kept), "--plot", name, "-o", str(two)]) == 0
    assert min(colours(one), colours(two)) > 10
    assert one.read_bytes() != two.read_bytes()


WIRED = """
name = "wired"
duration = "1 s"
warm_up = "0.2 s"
[node.a]
profile = "linux-4.4"
interface.eth0 = { link = "lan", address = "10.0.0.1" }
[node.b]
profile = "linux-4.4"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
[link.lan]
rate = "10 Mbit/s"
delay = "1 ms"
[[flow]]
kind = "udp"
from = "a"
to = ["b"]
rate = "20 Mbit/s"
payload = 1000
"""


@pytest.mark.parametrize("name", plot.PLOTS)
def test_what_was_not_measured_is_not_drawn(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wired.toml").write_text(WIRED)
    assert status(["run", str(tmp_path / "wired.toml"), "-o", str(tmp_path / "wired")]) == 0
    picture = tmp_path / "x.png"
    code = status(["plot", str(tmp_path / "wired"), "--plot", name, "-o", str(picture)])
    if name in ("timeseries", "box", "occupancy"):
        assert code == 0
        assert colours(picture) > 10
    else:
        assert code == 2
        said = f"stillair: {name}: nothing to draw: no "
        assert capsys.readouterr().err.startswith(said)
        assert not picture.exists()


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> list[Titled]:
    """One of Flent's tests: 5 s without load, 6 s with it, and 5 s without it again."""
    folder = tmp_path_factory.mktemp("tested") / "kept"
    assert status(["run", bundled.scenario("one-ms").file, "--set", "test.length=6 s", "-o", str(folder)]) == 0
    return [Titled("tested", Result.load(folder))]


def test_only_the_measured_part_counts(tested: list[Titled]) -> None:
    (run,) = tested[0].result.runs
    station = run["stations"]["client"]
    series = tested[0].result.run_with_series(run["run"]).series
    # Otherwise this would tell nothing: replies before and after the load are shorter.
    times = [ms for _, ms in data.pings(series, "client")]
    assert (series.warm_up_ns, series.cool_down_ns) == (5_000_000_000, 5_000_000_000)
    assert np.median(times) < 0.9 * station["ping_median_ms"]

    for draw in (distributions.ping_cdf, distributions.ping_cdf_log):
        figure = Figure()
        draw(figure, tested)
        (line,) = figure.axes[0].lines
        assert np.median(np.asarray(line.get_xdata())) == pytest.approx(station["ping_median_ms"])

    figure = Figure()
    distributions.box(figure, tested)
    goodput, ping = (axes.lines for axes in figure.axes)
    medians = [line for line in ping if line.get_color() == "black" and len(np.unique(line.get_ydata())) == 1]
    assert station["ping_median_ms"] in [pytest.approx(np.asarray(line.get_ydata())[0]) for line in medians]
    # Boxes of steps without load would begin at zero.
    assert min(np.min(np.asarray(line.get_ydata())) for line in goodput) > 0.3 * station["goodput_mbps"]

    figure = Figure()
    scatter.throughput_latency(figure, tested)
    points, mean = figure.axes[0].collections
    assert len(np.asarray(points.get_offsets())) == 30
    assert np.asarray(mean.get_offsets())[0][1] == pytest.approx(station["goodput_mbps"], rel=0.02)


def test_steps_that_are_measured_in_part_are_left_out() -> None:
    times = {"step_ns": 200, "steps": 6, "duration_ns": 1100, "warm_up_ns": 300}
    empty: dict[str, list[object]] = {"flows": [], "stations": [], "drops": [], "queues": []}
    for cool_down, steps in ((0, [2, 3, 4, 5]), (100, [2, 3, 4]), (150, [2, 3]), (300, [2, 3]), (301, [2])):
        series = Series(times | empty | {"cool_down_ns": cool_down})
        assert list(range(6))[series.measured_steps()] == steps


@pytest.mark.parametrize(("suffix", "begins"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_formats_are_deterministic(kept: Path, tmp_path: Path, suffix: str, begins: bytes) -> None:
    for name in ("a", "b"):
        assert status(["plot", str(kept), "--plot", "ping_cdf", "-o", str(tmp_path / f"{name}.{suffix}")]) == 0
    first = (tmp_path / f"a.{suffix}").read_bytes()
    assert first.startswith(begins)
    assert (tmp_path / f"b.{suffix}").read_bytes() == first


def test_a_legend_has_stations_and_titles(kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    titles = ["--title", "before it", "--title", "after it"]
    assert status(["plot", str(kept), str(kept), *titles, "--plot", "ping_cdf", "-o", str(path)]) == 0
    text = path.read_text()
    assert all(f">{title}: {name}<" in text for title in ("before it", "after it") for name in ("fast1", "slow"))


def test_plots_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["plot", "--plot", "list"]) == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in listed] == list(plot.PLOTS)


@pytest.mark.parametrize("arguments", [["--version"], ["run", "--help"], ["plot", "--plot", "list"]])
def test_nothing_heavy_is_loaded_before_it_is_needed(arguments: list[str]) -> None:
    code = (
        "import sys; from stillair.__main__ import status; status(sys.argv[1:]);"
        "heavy = {'matplotlib', 'numpy', 'pandas', 'polars', 'pyarrow'} & set(sys.modules); sys.exit(str(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.stderr == "set()\n"


def test_a_missing_extra_says_how_to_get_it(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert status(["plot", str(kept), "-o", str(tmp_path / "x.png")]) == 2
    said = "stillair: matplotlib is not installed; install it with: pip install 'stillair[plot]'\n"
    assert capsys.readouterr().err == said


def test_curves_of_pings_end_at_the_share_that_was_answered() -> None:
    # A FIFO with 100 Mbit/s to each station loses most pings; all of those to the slow station.
    fifo = [("node.ap.interface.wlan0.scheme", '"fifo"'), ("duration", "8 s")]
    result = bundled.scenario("anomaly-udp").run(2, overrides=fifo, series=True)
    titled = [Titled("fifo", result)]
    ends = {}
    for draw in (distributions.ping_cdf, distributions.ping_cdf_log):
        figure = Figure()
        draw(figure, titled)
        for line in figure.axes[0].lines:
            y = np.asarray(line.get_ydata(), float)
            ends[str(line.get_label())] = y[-1] if len(y) else 0.0
    pings = [(name.partition(".")[2], ping) for run in result.runs for name, ping in run["pings"].items()]
    assert len(ends) == 3
    for name in ("fast1", "fast2", "slow"):
        lost, received = (sum(ping[key] for of, ping in pings if of == name) for key in ("lost", "received"))
        assert lost > received
        share = lost / (lost + received)
        (end,) = (y for label, y in ends.items() if label.startswith(f"{name} ({100 * share:.3g} % lost"))
        assert end == pytest.approx(1 - share)
    # One of the two runs has no reply of a fast station in its measured time.
    assert any(label.endswith("% lost, replies in 1 of 2 runs)") for label in ends)


def test_a_curve_without_losses_ends_at_one(tested: list[Titled]) -> None:
    figure = Figure()
    distributions.ping_cdf(figure, tested)
    (line,) = figure.axes[0].lines
    lost = data.ping_loss(tested[0].result).get("client", 0.0)
    assert np.asarray(line.get_ydata(), float)[-1] == pytest.approx(1 - lost)
    assert ("lost" in str(line.get_label())) == bool(lost)
