"""The real Flent opens our files, plots them and reads the numbers that we wrote."""

import csv
import gzip
import io
import json
import os
import re
import statistics
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

from stillair import Result, Scenario
from stillair.__main__ import status
from stillair.results.flent import file as flent
from stillair.results.flent import host as flent_host
from stillair.runs import bundled

FLENT = Path(__file__).resolve().parents[2] / "build" / "flent-venv" / "bin" / "flent"

# Long enough for Flent, whose plots leave out 5 s at both ends.
LONG = {"duration": "14 s", "warm_up": "5 s"}

PING_ONLY = """
name = "ping-only"
duration = "3 s"
warm_up = "1 s"
channel.wifi = { band = "5 GHz", width = "20 MHz" }
[node.ap]
profile = "linux-4.6"
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "airtime", address = "10.0.1.1" }
[node.sta]
profile = "linux-4.4"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.2", rate = "ht20-mcs7-lgi" }
[[flow]]
kind = "ping"
from = "ap"
to = ["sta"]
interval = "0.1 s"
"""


def run_flent(*arguments: object) -> str:
    """What Flent prints; its exit status says nothing."""
    if not FLENT.exists():
        pytest.fail(f"{FLENT} is missing: run 'make build/stamps/flent-venv'")
    environment = os.environ | {"MPLBACKEND": "agg"}
    command = [str(FLENT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "Traceback" not in done.stderr, done.stderr
    assert "ERROR" not in done.stderr, done.stderr
    return done.stdout


def is_drawn(path: Path) -> bool:
    """A picture with something in it: Flent leaves an empty file when it plots nothing."""
    pixels = matplotlib.image.imread(path)
    return path.stat().st_size > 10_000 and bool((pixels != pixels[0, 0]).any(axis=-1).sum() > 2000)


@pytest.fixture(scope="module")
def result() -> Result:
    return bundled.scenario("anomaly-udp").run(overrides=LONG, series=True)


@pytest.fixture(scope="module")
def file(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flent") / "x.flent.gz"
    result.save(path)
    return path


def content(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(gzip.decompress(path.read_bytes()))


@pytest.mark.parametrize(
    "name",
    [
        "upload",
        "totals",
        "ping",
        "ping_cdf",
        "airtime_tx",
        "airtime",
        "airtime_tx_stacked",
        "airtime_tx_combine",
        "aggregation",
    ],
)
def test_flent_draws(name: str, file: Path, tmp_path: Path) -> None:
    picture = tmp_path / "x.png"
    run_flent("-p", name, "-i", file, "-o", picture)
    assert is_drawn(picture)


def test_flent_compares_two_results(result: Result, tmp_path: Path) -> None:
    fifo = {"node.ap.interface.wlan0.scheme": "fifo"}
    other = bundled.scenario("anomaly-udp").run(overrides=LONG | fifo, series=True)
    paths = [tmp_path / "airtime.flent.gz", tmp_path / "fifo.flent.gz"]
    for path, one in zip(paths, (result, other), strict=True):
        one.save(path)
    run_flent("-p", "airtime_total_combine", "-i", *paths, "-o", tmp_path / "x.png")
    assert is_drawn(tmp_path / "x.png")


def test_summary_reads_our_means_and_medians(result: Result, file: Path) -> None:
    said = {
        match[1]: (float(match[2]), float(match[3]))
        for line in run_flent("-f", "summary", "-i", file).splitlines()
        if (match := re.match(r" (\S.*?) +: +([\d.]+) +([\d.]+) +[\d.N/A]+ ", line))
    }
    series = result.run_with_series(0).series
    for flow in series.flows:
        values = series.mbps(flow) if flow.pings is None else [ping.rtt_ns / 1e6 for ping in flow.pings]
        kind = "UDP upload" if flow.pings is None else "Ping (ms) ICMP"
        mean, median = said[f"{kind} {flow.station}"]
        assert abs(mean - statistics.fmean(values)) <= 0.005 + 1e-9
        assert abs(median - statistics.median(values)) <= 0.005 + 1e-9
    total = sum(sum(flow.bytes or []) for flow in series.flows) * 8 / 14e6
    assert abs(said["UDP upload sum"][0] - total) <= 0.005 + 1e-9


def test_stats_reads_our_extremes(result: Result, file: Path) -> None:
    text = run_flent("-f", "stats", "-i", file)
    series = result.run_with_series(0).series
    pings = next(flow.pings for flow in series.flows if flow.pings and flow.station == "slow")
    block = text[text.index(" Ping (ms) ICMP slow:") :]
    found = {key: float(re.search(rf"{key}: +([\d.]+)", block)[1]) for key in ("Min", "Max", "Mean")}  # type: ignore[index]
    rtts = [ping.rtt_ns / 1e6 for ping in pings]
    expected = {"Min": min(rtts), "Max": max(rtts), "Mean": statistics.fmean(rtts)}
    assert found == {key: pytest.approx(value, abs=1e-6) for key, value in expected.items()}


def test_csv_reads_every_series_of_every_step(result: Result, file: Path) -> None:
    _, _, text = run_flent("-f", "csv", "-i", file).partition("\n")
    rows = list(csv.DictReader(io.StringIO(text)))
    data = content(file)
    series = result.run_with_series(0).series
    assert len(rows) == series.steps == len(data["x_values"]) == 70
    assert [float(row["udp_flood_var_up"]) for row in rows] == data["x_values"]
    for name, values in data["results"].items():
        assert [float(row[name]) if row[name] else None for row in rows] == values, name
    station = next(s for s in series.stations if s.name == "slow")
    name = "wifi_stats_ap::airtime_tx::02:00:00:00:00:06"
    assert data["results"][name] == [ns / 1000 for ns in station.airtime_down_ns]


def test_the_file_has_what_flent_needs(file: Path) -> None:
    data = content(file)
    assert (data["version"], data["metadata"]["NAME"]) == (4, "udp_flood_var_up")
    assert {"NAME", "TITLE", "HOST", "LOCAL_HOST", "LENGTH", "STEP_SIZE"} <= set(data["metadata"])
    assert data["metadata"]["HOSTS"] == ["fast1", "fast2", "slow"]
    # The last of six interfaces.
    assert "02:00:00:00:00:06 is slow" in data["metadata"]["NOTE"]
    assert (data["metadata"]["LOCAL_HOST"], data["metadata"]["LENGTH"]) == ("server", 4.0)
    assert all(len(values) == len(data["x_values"]) for values in data["results"].values())
    assert all(values for values in data["raw_values"].values())
    t0 = datetime.strptime(data["metadata"]["T0"], "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
    assert all(0 < item["t"] - t0 <= 14.0 for items in data["raw_values"].values() for item in items)


def test_a_station_without_traffic_takes_no_part_in_fairness(tmp_path: Path) -> None:
    idle = PING_ONLY.partition("[[flow]]")[0].partition("[node.sta]")[2]
    idle = f"[node.idle]{idle}".replace("10.0.1.2", "10.0.1.3")
    path = tmp_path / "idle.flent.gz"
    Scenario(PING_ONLY.replace("[[flow]]", f"{idle}\n[[flow]]")).run(series=True).save(path)
    found = content(path)["results"]
    totals = [values for name, values in found.items() if name.startswith("wifi_stats_ap::airtime_total::")]
    assert sorted(any(values) for values in totals) == [False, True]
    # With the idle station it would be 1/2.
    assert {value for value in found["wifi_stats_ap::airtime_fairness"] if value is not None} == {1.0}


def test_equal_runs_make_equal_files(result: Result, file: Path, tmp_path: Path) -> None:
    result.save(tmp_path / "again.flent.gz")
    assert (tmp_path / "again.flent.gz").read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("receivers", "name", "series"),
    [
        ('["fast1"]', "udp_flood", {"UDP upload", "Ping (ms) ICMP"}),
        ('["fast1", "slow"]', "udp_flood_var_up", {"UDP upload slow", "UDP upload sum", "Ping (ms) ICMP slow"}),
    ],
)
def test_the_test_fits_the_scenario(receivers: str, name: str, series: set[str], tmp_path: Path) -> None:
    to = {"flow.0.to": receivers, "flow.1.to": receivers, "duration": "1 s", "warm_up": "0 s"}
    result = bundled.scenario("anomaly-udp").run(overrides=to, series=True)
    result.save(tmp_path / "x.flent.gz")
    data = content(tmp_path / "x.flent.gz")
    assert data["metadata"]["NAME"] == name
    assert series <= set(data["results"])
    run_flent("-p", "totals", "-i", tmp_path / "x.flent.gz", "-o", tmp_path / "x.png")
    assert is_drawn(tmp_path / "x.png")


def test_pings_alone_are_flents_ping_test(tmp_path: Path) -> None:
    result = Scenario(PING_ONLY).run(series=True)
    result.save(tmp_path / "x.flent.gz")
    assert content(tmp_path / "x.flent.gz")["metadata"]["NAME"] == "ping"
    for name in ("ping", "ping_cdf"):
        run_flent("-p", name, "-i", tmp_path / "x.flent.gz", "-o", tmp_path / f"{name}.png")
        assert is_drawn(tmp_path / f"{name}.png")


def test_directions_and_classes_have_names_of_their_own(tmp_path: Path) -> None:
    short = {"duration": "1 s", "warm_up": "0 s", "flow.0.to": '["fast1"]', "flow.1.to": '["fast1"]'}
    both = bundled.scenario("anomaly-udp").text + (
        '[[flow]]\nkind = "udp"\nfrom = "fast1"\nto = ["server"]\nrate = "1 Mbit/s"\n'
        '[[flow]]\nkind = "ping"\nfrom = "server"\nto = ["fast1"]\ninterval = "0.2 s"\ndscp = "EF"\n'
    )
    # The sweep of the file is in the way of appended flows.
    before, _, after = both.partition("[sweep]")
    flows = after[after.index("[[flow]]") :]
    Scenario(before + flows).run(overrides=short, series=True).save(tmp_path / "x.flent.gz")
    names = set(content(tmp_path / "x.flent.gz")["results"])
    assert {"UDP upload fast1", "UDP upload fast1 up"} <= names
    assert {"Ping (ms) ICMP fast1", "Ping (ms) ICMP fast1 VI"} <= names


def test_each_run_is_exported_under_the_name_that_flent_gives(kept: Path, tmp_path: Path) -> None:
    arguments = ["export", str(kept), "--flent", "--time", "2017-07-12T08:00:00", "-o", str(tmp_path)]
    assert status([*arguments, "--title", "four schemes: one"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"udp_flood_var_up-2017-07-12T080000.000000Z.four_schemes__one_run_{run}.flent.gz" for run in (0, 1)
    ]
    assert status(["export", str(kept), "--flent", "-o", str(tmp_path / "one.flent.gz")]) == 2
    assert status(["export", str(kept), "--flent", "--run", "1", "-o", str(tmp_path / "one.flent.gz")]) == 0
    metadata = content(tmp_path / "one.flent.gz")["metadata"]
    assert (metadata["STILLAIR"]["run"], metadata["TITLE"]) == (1, "kept run 1")
    assert datetime(2000, 1, 1, tzinfo=UTC) == flent.EPOCH


def one_ms(tmp_path: Path, name: str, **more: str) -> tuple[Result, Path]:
    """A short run of one of Flent's tests, and its file."""
    overrides = {"test.name": name, "test.length": "4 s"} | more
    result = bundled.scenario("one-ms").run(overrides=overrides, series=True)
    path = tmp_path / f"{name}.flent.gz"
    result.save(path)
    return result, path


@pytest.mark.parametrize(
    ("name", "plots"),
    [
        ("rrul", ["all_scaled", "box_totals"]),
        ("rrul_be", ["all"]),
        ("tcp_1up", ["totals"]),
        ("tcp_4down", ["totals"]),
        ("ping", ["ping"]),
    ],
)
def test_flent_draws_its_own_tests(name: str, plots: list[str], tmp_path: Path) -> None:
    _, path = one_ms(tmp_path, name)
    data = content(path)
    assert (data["metadata"]["NAME"], data["metadata"]["LENGTH"]) == (name, 4.0)
    assert (data["metadata"]["HOST"], data["metadata"]["LOCAL_HOST"]) == ("server", "client")
    for plot in plots:
        run_flent("-p", plot, "-i", path, "-o", tmp_path / "x.png")
        assert is_drawn(tmp_path / "x.png"), plot


def test_series_of_rrul_have_flents_names_and_numbers(tmp_path: Path) -> None:
    result, path = one_ms(tmp_path, "rrul")
    results = content(path)["results"]
    kinds = ("BE", "BK", "CS5", "EF", "avg", "sum")
    wanted = {f"TCP {way} {kind}" for way in ("upload", "download") for kind in kinds} | {"TCP totals"}
    wanted |= {f"Ping (ms) {kind}" for kind in ("UDP EF", "UDP BK", "UDP BE", "ICMP", "avg")}
    assert wanted <= set(results)
    # 5 s of pings alone, 4 s of load, 5 s of pings alone.
    loaded = [step for step, value in enumerate(results["TCP upload BE"]) if value is not None]
    assert (len(results["Ping (ms) ICMP"]), loaded[0] >= 25, loaded[-1] <= 45) == (70, True, True)
    assert sum(value is not None for value in results["Ping (ms) ICMP"][:25]) >= 24
    series = result.run_with_series(0).series
    means = run_flent("-f", "stats", "-i", path)
    for flow in series.flows:
        if flow.pings is not None:
            block = means[means.index(f" {flow.flent}:") :]
            found = float(re.search(r"Mean: +([\d.]+)", block)[1])  # type: ignore[index]
            assert found == pytest.approx(statistics.fmean(ping.rtt_ns / 1e6 for ping in flow.pings), abs=1e-3)


def test_streams_are_flents_parameter(tmp_path: Path) -> None:
    _, path = one_ms(tmp_path, "tcp_nup", **{"test.streams": "3"})
    data = content(path)
    assert data["metadata"]["TEST_PARAMETERS"]["upload_streams"] == "3"
    results = data["results"]
    assert {"TCP upload::1", "TCP upload::2", "TCP upload::3", "TCP upload avg", "TCP upload fairness"} <= set(results)
    parts = [results[f"TCP upload::{n}"][30] for n in (1, 2, 3)]
    assert results["TCP upload sum"][30] == pytest.approx(sum(parts))
    run_flent("-p", "totals", "-i", path, "-o", tmp_path / "x.png")
    assert is_drawn(tmp_path / "x.png")


STREAMS = """
name = "streams"
duration = "14 s"
link.lan = { rate = "50 Mbit/s", delay = "5 ms" }
node.server.profile = "linux-6.1"
node.server.interface.eth0 = { link = "lan", address = "10.0.0.1" }
node.client.profile = "linux-4.4"
node.client.interface.eth0 = { link = "lan", address = "10.0.0.2" }
"""


def streams(*flows: str) -> Result:
    """A run of flows between two hosts."""
    return Scenario(STREAMS + "\n".join(f"[[flow]]\n{flow}" for flow in flows)).run(series=True)


UPLOAD = 'kind = "tcp"\nfrom = "client"\nto = "server"'
PING = 'kind = "ping"\nfrom = "server"\nto = "client"\ninterval = "0.2 s"'


@pytest.mark.parametrize("pinged", [True, False])
def test_streams_between_two_hosts_are_flents_tcp_nup(pinged: bool, tmp_path: Path) -> None:
    result = streams(UPLOAD, UPLOAD, *[PING] * pinged, UPLOAD)
    path = tmp_path / "x.flent.gz"
    result.save(path)
    data = content(path)
    metadata = data["metadata"]
    assert (metadata["NAME"], metadata["TEST_PARAMETERS"]["upload_streams"]) == ("tcp_nup", "3")
    assert (metadata["LOCAL_HOST"], metadata["HOST"], metadata["LENGTH"]) == ("client", "server", 4.0)
    names = {f"TCP upload::{n}" for n in (1, 2, 3)} | {f"TCP upload {what}" for what in ("avg", "sum", "fairness")}
    assert set(data["results"]) == names | ({"Ping (ms) ICMP"} if pinged else set())
    measured = result.run_with_series(0).series
    tcp = [flow for flow in measured.flows if flow.kind == "tcp"]
    for number, flow in enumerate(tcp, 1):
        assert data["results"][f"TCP upload::{number}"] == measured.mbps(flow)
    for plot in ("totals", "upload", "box_totals", *(["ping_cdf"] if pinged else [])):
        run_flent("-p", plot, "-i", path, "-o", tmp_path / "x.png")
        assert is_drawn(tmp_path / "x.png"), plot


def test_sysctls_are_those_of_the_host(tmp_path: Path) -> None:
    mine = '"net.ipv4.tcp_congestion_control" = "reno", "net.ipv4.tcp_limit_output_bytes" = 65536, '
    mine += '"net.ipv4.tcp_wmem" = [4096, 16384, 100000]'
    client = f'[node.client]\nprofile = "linux-4.4"\nsysctl = {{ {mine} }}\n'
    interface = 'interface.eth0 = { link = "lan", address = "10.0.0.2" }\n'
    text = STREAMS.partition("node.client")[0] + client + interface + f"[[flow]]\n{UPLOAD}\n"
    Scenario(text).run(series=True).save(tmp_path / "x.flent.gz")
    said = run_flent("-f", "metadata", "-i", tmp_path / "x.flent.gz")
    (metadata,) = json.loads(said[said.index("[") :])
    assert (metadata["KERNEL_RELEASE"], metadata["EGRESS_INFO"]["iface"]) == ("4.4", "eth0")
    sysctls = metadata["SYSCTLS"]
    assert sysctls["net.ipv4.tcp_congestion_control"] == "reno"
    assert sysctls["net.ipv4.tcp_limit_output_bytes"] == 65536
    assert sysctls["net.ipv4.tcp_wmem"] == "4096\t16384\t100000"
    assert sysctls["net.core.default_qdisc"] == "pfifo_fast"
    assert (sysctls["net.ipv4.tcp_sack"], type(sysctls["net.ipv4.tcp_sack"])) == (1, int)
    server = metadata["REMOTE_METADATA"]["server"]
    assert (server["LOCAL_HOST"], server["KERNEL_RELEASE"]) == ("server", "6.1")
    assert server["SYSCTLS"]["net.ipv4.tcp_limit_output_bytes"] == 1048576


def test_a_flow_may_go_to_an_interface(tmp_path: Path) -> None:
    short = ["--set", "duration=1 s", "--set", "warm_up=0 s"]
    file = Path(__file__).parents[2] / "scenarios" / "mesh.toml"
    assert status(["run", str(file), *short, "-o", str(tmp_path / "kept")]) == 0
    assert status(["export", str(tmp_path / "kept"), "--flent", "-o", str(tmp_path / "x.flent.gz")]) == 0
    data = content(tmp_path / "x.flent.gz")
    assert "relay1.up" in {meta["RECEIVER"] for meta in data["metadata"]["SERIES_META"].values()}
    scenario = data["metadata"]["STILLAIR"]["scenario"]
    assert flent_host.metadata(scenario, "relay1.up") == flent_host.metadata(scenario, "relay1")


def test_what_comes_to_a_station_is_tcp_ndown(tmp_path: Path) -> None:
    to = {"flow.0.to": '["slow"]', "flow.1.to": '["slow"]', "flow.0.start": "0 s", "duration": "14 s", "warm_up": "0 s"}
    bundled.scenario("anomaly-tcp").run(overrides=to, series=True).save(tmp_path / "x.flent.gz")
    data = content(tmp_path / "x.flent.gz")
    metadata = data["metadata"]
    assert (metadata["NAME"], metadata["TEST_PARAMETERS"]["download_streams"]) == ("tcp_ndown", "1")
    assert (metadata["LOCAL_HOST"], metadata["HOST"]) == ("slow", "server")
    assert {"TCP download::1", "TCP download sum", "Ping (ms) ICMP"} <= set(data["results"])
    run_flent("-p", "totals", "-i", tmp_path / "x.flent.gz", "-o", tmp_path / "x.png")
    assert is_drawn(tmp_path / "x.png")


@pytest.mark.parametrize(
    ("flows", "name"),
    [
        ([UPLOAD, UPLOAD.replace("client", "x").replace("server", "client").replace("x", "server"), PING],
         "rtt_fair_var_up"),
        ([UPLOAD, PING, PING.replace("0.2", "0.5")], "rtt_fair_var_up"),
        ([UPLOAD, 'kind = "udp"\nfrom = "client"\nto = "server"\nrate = "1 Mbit/s"'], "rtt_fair_var_up"),
    ],
)  # fmt: skip
def test_more_than_streams_of_one_way_is_no_tcp_nup(flows: list[str], name: str) -> None:
    assert flent.test_name(streams(*flows).run_with_series(0)) == name


def test_flent_draws_the_samples_of_sockets(tmp_path: Path) -> None:
    result, path = one_ms(tmp_path, "rrul", **{"record.ss": "50 ms"})
    data = content(path)
    flow = next(flow for flow in result.run_with_series(0).series.flows if flow.flent == "TCP upload BE")
    columns = result.runs[0]["sockets"][flow.name]
    held = [n for n, state in enumerate(columns["state"]) if state in ("SYN-SENT", "ESTAB")]
    assert len(columns["state"]) - 5 > len(held) > 70
    items = [item for item in data["raw_values"]["TCP upload BE"] if "tcp_cwnd" in item]
    t0 = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
    wanted = [(round(t0 + columns["t_s"][n], 6), columns["cwnd"][n], columns["srtt_ms"][n]) for n in held]
    assert [(round(item["t"], 6), item["tcp_cwnd"], item.get("tcp_rtt")) for item in items] == wanted
    # Throughput is there as without samples, and all in order of time.
    times = [item["t"] for item in data["raw_values"]["TCP upload BE"]]
    assert times == sorted(times)
    assert sum("val" in item for item in data["raw_values"]["TCP upload BE"]) > 15
    # A step of 0.2 s has four samples.
    step = [item["tcp_cwnd"] for item in items if 6.0 < round(item["t"] - t0, 6) <= 6.2]
    assert data["results"]["TCP upload BE::tcp_cwnd"][30] == pytest.approx(sum(step) / 4)
    # A socket that has no pacing rate yet is none that paces at the largest number.
    rates = [item["tcp_pacing_rate"] for items in data["raw_values"].values() for item in items if len(item) > 4]
    assert max(rates) < 10_000
    (tmp_path / "bare").mkdir()
    _, bare = one_ms(tmp_path / "bare", "rrul")
    for plot in ("tcp_cwnd", "tcp_rtt", "tcp_pacing"):
        pictures = []
        for given in (path, bare):
            run_flent("-p", plot, "-i", given, "-o", tmp_path / "x.png")
            pictures.append(matplotlib.image.imread(tmp_path / "x.png"))
        assert (pictures[0] != pictures[1]).any(axis=-1).sum() > 2000, plot
