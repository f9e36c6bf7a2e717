"""`stillair validate wifi`: files, scenarios, bounds and the command."""

import importlib
import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stillair import InputError
from stillair.__main__ import status
from stillair_lab.validate import json_file
from stillair_lab.validate.wifi import command, compare, measured, scenario
from stillair_lab.validate.wifi.bounds import BOUNDS, QUANTITIES
from stillair_lab.validate.wifi.compare import Configuration
from stillair_lab.validate.wifi.outcome import Outcome, Station, Tcp, Way
from stillair_lab.validate.wifi.units import units

ROOT = Path(__file__).resolve().parents[2]
FOLDER = measured.bundled()
FIELDS = ["configuration", "unit", "quantity", "kernel", "spread", "model", "low", "high", "verdict", "why"]
# A module's parameters as a guest reads them.
PARAMS = {"depth": "2", "frames_max": "32", "aql": "0", "sgi": "1", "pacing_shift": "0", "seed": "1", "per": ""}
SYSCTL = {"tcp_limit_output_bytes": "1048576", "tcp_rmem": "4096\t131072\t4736544", "tcp_ecn": "2"}


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    """The campaign, and what writes its set-ups down."""
    monkeypatch.syspath_prepend(str(ROOT / "lab" / "scripts" / "mac80211"))
    return importlib.import_module("campaign"), importlib.import_module("setup_of")


def edited(tmp_path: Path, changes: dict[str, object], name: str = "udp1_b8.r1") -> Path:
    """A file of the package with other values at keys with dots; none takes a key away."""
    raw = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for key, value in changes.items():
        *way, last = key.split(".")
        at: Any = raw
        for step in way:
            at = at[int(step) if isinstance(at, list) else step]
        if value is None:
            del at[last]
        else:
            at[last] = value
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def test_every_file_is_read_and_repetitions_have_one_set_up() -> None:
    by_name: dict[str, list[measured.Measurement]] = {}
    for path in json_file.paths(FOLDER):
        one = measured.read(path)
        assert path.name == f"{one.name}.r{one.repetition}.json"
        by_name.setdefault(one.name, []).append(one)
    assert len(by_name) == 61
    for own in by_name.values():
        assert [one.repetition for one in own] == [1, 2, 3]
        assert own[0].setup == own[1].setup == own[2].setup
    assert by_name["loss80_udp_hwtries"][0].setup.driver.counts_tries
    assert not by_name["udp1_b8"][0].setup.driver.counts_tries


def test_every_configuration_of_the_campaign_is_a_scenario(
    tmp_path: Path, scripts: tuple[ModuleType, ModuleType]
) -> None:
    campaign, setup_of = scripts
    assert len(campaign.CONFIGURATIONS) == 98
    edca = json.loads((FOLDER / "udp1_b8.r1.json").read_text(encoding="utf-8"))["driver"]["edca"]
    setups = set()
    for name in campaign.CONFIGURATIONS:
        read = []
        for number in campaign.REPETITIONS:
            one = campaign.repetition(name, number)
            params = PARAMS | {key: str(value) for key, value in one["params"].items()}
            flags = "" if any("airtime_flags" in line for line in one.get("commands", [])) else "AIRTIME_TX AIRTIME_RX"
            raw = {
                "name": name,
                "repetition": number,
                "kernel": setup_of.KERNEL,
                "driver": setup_of.driver(one, params, edca),
                "config": setup_of.config(one, SYSCTL, flags, "fq_limit 8192", params["aql"] == "1"),
                "results": {},
            }
            path = tmp_path / f"{name}.r{number}.json"
            path.write_text(json.dumps(raw), encoding="utf-8")
            read.append(measured.read(path))
        assert read[0].setup == read[1].setup == read[2].setup, name
        resolved = json.loads(scenario.scenario(read[0]).resolve())
        assert len(resolved["nodes"]) == read[0].setup.config.stations + 2, name
        setups.add(scenario.text(read[0]).split("\n", 1)[1])
    # What differs in how a frame is given up (8), and what is run under two names (aql0_depth2), is one scenario.
    assert len(setups) == 98 - 8 - 1


def test_bundled_files_say_what_their_scripts_would(scripts: tuple[ModuleType, ModuleType]) -> None:
    campaign, _ = scripts
    for path in json_file.paths(FOLDER):
        one = measured.read(path)
        meant = campaign.repetition(one.name, one.repetition)
        assert one.raw["config"]["flows"] == meant["flows"], path
        assert one.raw["config"]["steps"] == meant.get("steps", []), path


def text_of(name: str) -> str:
    return scenario.text(measured.read(FOLDER / f"{name}.r1.json"))


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("tcp_down3_cubic", ['profile = "linux-6.12"', "wifi_pacing_shift = 7", "busy_backoff = false"]),
        ("tcp_up1_reno", ["rx_buffer = 4352", 'rate = "1 Gbit/s"', 'congestion_control = "reno"', 'from = "sta1"']),
        ("up1_cubic_shift10", ["wifi_pacing_shift = 10"]),
        ("aql1_depth4", ["aql = true", "hw_aggregates = 4"]),
        ("udp3_b8_noairtime", ["charge_tx = false", "charge_rx = false"]),
        ("weights_udp_mixed", ["airtime_weight = 1024", "airtime_weight = 256"]),
        ("flows100_ecn", ['"net.ipv4.tcp_ecn" = 1', "tcp_down-sta1-99"]),
        ("loss5_up", ["error_rate = 0.05"]),
        ("minstrel_B", ['rate = "minstrel_ht"', "probability = 0.9", 'rates = "mcs15"']),
        ("minstrel_step_JA_hwtries", ['at = "16 s"']),
        ("udp3_b32", ["burst = 32", 'rate = "15 Mbit/s"', "payload = 1470"]),
    ],
)
def test_settings_become_keys(name: str, has: list[str]) -> None:
    text = text_of(name)
    assert [word for word in has if word not in text] == []


def test_a_run_begins_a_second_earlier_with_pings_that_open_the_sessions() -> None:
    one = measured.read(FOLDER / "tcp_down3_cubic.r1.json")
    times = one.setup.config.seconds, one.setup.config.warm
    resolved = json.loads(scenario.scenario(one).resolve())
    assert (resolved["duration_ns"], resolved["warm_up_ns"]) == tuple((1 + s) * 10**9 for s in times)
    flows = [(flow["name"], flow["traffic"]["kind"], flow["start_ns"]) for flow in resolved["flows"]]
    stations = one.setup.config.stations
    assert flows[:stations] == [(f"first-sta{n}", "ping", 0) for n in range(1, stations + 1)]
    # Programs that the kernel started at one instant run one after the other.
    assert [start for _, _, start in flows[stations:]] == [10**9 + n * 10**5 for n in range(len(flows) - stations)]


def test_another_tick_is_said(tmp_path: Path) -> None:
    path = edited(tmp_path, {"kernel": "Linux 6.12.0 (HZ=1000)"})
    assert "hz = 1000" in scenario.text(measured.read(path))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"config.mtu": 1400}, "config.mtu: found 1400, expected a setting that a scenario has"),
        ({"driver.frames_max": 64}, "driver.frames_max: found 64, expected 32, as ath9k has it"),
        ({"driver.depth": 0}, "driver.depth: found 0, expected a whole number from 1 to 64"),
        ({"driver.mcs_by_station": {"1": 15}}, 'driver.mcs_by_station: found {"1": 15}, expected a rate for each of 2'),
        ({"driver.mcs_by_station": {"1": 16, "2": 15}}, "driver.mcs_by_station: found"),
        ({"driver.edca.station.BE.cwmin": 31}, "driver.edca: found"),
        ({"driver.channel": "VHT80"}, 'driver.channel: found "VHT80", expected words that begin with "HT20'),
        ({"config.flows.0.kind": "quic"}, 'config.flows[0].kind: found "quic", expected "udp", "tcp_down"'),
        ({"config.flows.0.sta": 3}, "config.flows[0].sta: found 3, expected a station from 1 to 2"),
        ({"config.flows.0.tos": 4}, "config.flows[0].tos: found 4, expected a setting that a scenario has"),
        ({"config.commands": ["reboot"]}, 'config.commands: found "reboot", expected a command for airtime flags'),
        ({"config.steps": [{"at": 5, "cmd": "x"}]}, 'config.steps[0].cmd: found "x", expected another loss table'),
        ({"config.sysctls": ["ecn=1"]}, 'config.sysctls: found "ecn=1", expected settings such as'),
        ({"config.warm": 25}, "config.warm: found 25, expected seconds above zero and below the whole time"),
        ({"kernel": "BSD"}, 'kernel: found "BSD", expected a version such as'),
        ({"kernel": "Linux 6.12 (HZ=5)"}, "kernel: found"),
        ({"name": "a b"}, 'name: found "a b", expected the name of a configuration'),
        ({"results": None}, "results: found nothing, expected an object"),
    ],
)
def test_what_cannot_be_said_is_one_clear_error(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    path = edited(tmp_path, changes)
    with pytest.raises(InputError) as error:
        measured.read(path)
    assert str(error.value).startswith(f"{path}: {says}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("tcp_down30_cubic", ["sta1-28 mcs15", "sta29-30 mcs0", "sta31 mcs15 idle"]),
        ("tcp_down3_cubic", ["sta1-2 mcs15", "sta3 mcs0", "sta4 mcs15 idle"]),
        ("weights_tcp_equal", ["sta1 mcs15", "sta2 mcs15", "sta3 mcs15"]),
        ("minstrel_A", ["sta1 minstrel"]),
    ],
)
def test_alike_stations_are_one_unit(name: str, names: list[str]) -> None:
    setup = measured.read(FOLDER / f"{name}.r1.json").setup
    assert [unit.name for unit in units(setup)] == names


def configuration(tmp_path: Path, name: str, values: list[float]) -> Configuration:
    """A configuration whose repetitions have this goodput, and no spread told of."""
    own = []
    for number, value in enumerate(values, start=1):
        changes: dict[str, object] = {"results.goodput_mbps": value, "spread": None}
        own.append(measured.read(edited(tmp_path, changes, f"{name}.r{number}")))
    return Configuration(name, own[0].setup, tuple(own))


def ran(goodput: float, ping: float | None = 5.0, rate: str = "mcs13-sgi") -> Outcome:
    way = Way(10, 320, {rate: 5, "mcs0-lgi": 1})
    station = Station(goodput, 1.0, ping, {}, {"down": way, "up": way})
    return Outcome(goodput, {1: station, 2: station}, 0, 0.0, 0.2, [])


@pytest.mark.parametrize(
    ("kernel", "model", "verdict"),
    [
        ([100.0] * 3, 110.0, "within"),
        ([100.0] * 3, 110.01, "outside"),
        ([100.0] * 3, 90.0, "within"),
        ([100.0] * 3, 89.99, "outside"),
        # The kernel's own spread, half the range, is the least tolerance.
        ([80.0, 100.0, 120.0], 120.0, "within"),
        ([80.0, 100.0, 120.0], 120.01, "outside"),
        ([100.0], 110.0, "within"),
    ],
)
def test_a_bound_holds_at_its_edges(tmp_path: Path, kernel: list[float], model: float, verdict: str) -> None:
    of = configuration(tmp_path, "udp1_b8", kernel)
    row = next(row for row in compare.rows(of, [ran(model)] * 3) if row.quantity == "goodput_mbps")
    assert (row.verdict, row.kernel, row.model) == (verdict, pytest.approx(100.0), pytest.approx(model))


def test_the_mean_of_our_runs_counts(tmp_path: Path) -> None:
    of = configuration(tmp_path, "udp1_b8", [100.0])
    row = compare.rows(of, [ran(80.0), ran(100.0), ran(120.0)])[0]
    assert (row.model, row.verdict) == (100.0, "within")


def test_a_files_own_spread_counts_where_repetitions_are_missing(tmp_path: Path) -> None:
    values = {"sta1 ping median ms": {"values": [5.0, 25.0, 6.0], "mean": 12.0}}
    one = measured.read(edited(tmp_path, {"spread.quantities": values}))
    row = next(
        row
        for row in compare.rows(Configuration(one.name, one.setup, (one,)), [ran(100.0)])
        if (row.unit, row.quantity) == ("sta1", "ping_median_ms")
    )
    assert row.spread == 10.0
    assert isinstance(row.kernel, float)
    assert (row.low, row.high) == (max(0.0, row.kernel - 10), row.kernel + 10)


@pytest.mark.parametrize(
    ("rate", "goodput", "verdict"),
    [
        ("mcs13-sgi", 10.0, "within"),
        ("mcs12-sgi", 61.6, "within"),
        ("mcs12-sgi", 50.0, "outside"),
    ],
)
def test_the_main_rate_is_the_same_or_goodput_is(rate: str, goodput: float, verdict: str) -> None:
    own = tuple(measured.read(FOLDER / f"minstrel_A.r{number}.json") for number in (1, 2, 3))
    of = Configuration("minstrel_A", own[0].setup, own)
    row = next(row for row in compare.rows(of, [ran(goodput, rate=rate)]) if row.quantity == "main_rate_down")
    assert (row.verdict, row.model) == (verdict, rate)


def test_who_starves_is_not_judged_but_how_much() -> None:
    own = tuple(measured.read(FOLDER / f"udp3_b8_noairtime.r{number}.json") for number in (1, 2, 3))
    way = Way(1, 1, {})
    shares = [0.0, 1.0, 0.0, 0.0]
    stations = {number: Station(0.0, shares[number - 1], None, {}, {"down": way, "up": way}) for number in range(1, 5)}
    rows = compare.rows(Configuration("x", own[0].setup, own), [Outcome(6.4, stations, 0, 0.0, 0.2, [])])
    judged = {(row.unit, row.verdict) for row in rows if row.verdict != "not judged"}
    # Another station has it all than in the kernel.
    assert judged == {("rank 1", "within"), ("rank 2", "within"), ("rank 3", "within")}
    assert all(bool(row.why) == (row.verdict == "not judged") for row in rows)


def test_a_station_of_tcp_is_held_by_every_quantity() -> None:
    own = tuple(measured.read(FOLDER / f"flows100_ecn.r{number}.json") for number in (1, 2, 3))
    tcp = Tcp(104.0, 58.0, 4.8, 1.8, 0, 32_000)
    way = Way(10, 318, {})
    stations = {number: Station(104.0, 1.0, 6.4, {"tcp_down": tcp}, {"down": way, "up": way}) for number in (1, 2)}
    rows = compare.rows(Configuration("x", own[0].setup, own), [Outcome(104.0, stations, 0, 0.0, 0.2, [])])
    found = {row.quantity: row.verdict for row in rows if row.unit in ("all", "sta1 mcs15")}
    within = [
        "goodput_mbps", "frames_down", "srtt_median_down_ms", "cwnd_mean_down_pkts", "segments_per_ack_down",
        "retransmissions_down", "ce_delivered_down", "codel_drops",
    ]  # fmt: skip
    assert {name: found[name] for name in within} == dict.fromkeys(within, "within")
    assert found["frames_up"] == "outside"
    assert set(found) <= set(QUANTITIES)


def test_bounds_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "validation-wifi.md").read_text(encoding="utf-8")
    for quantity in QUANTITIES:
        stem = quantity.replace("_down", "_*").replace("_up", "_*")
        assert f"`{quantity}`" in page or f"`{stem}`" in page, quantity
    assert (BOUNDS["goodput_mbps"].share, BOUNDS["airtime_share_percent"].number) == (0.10, 2.0)
    assert (BOUNDS["srtt_median_up_ms"].share, BOUNDS["srtt_median_up_ms"].number) == (0.15, 2.0)
    assert (BOUNDS["ping_median_ms"].share, BOUNDS["ping_median_ms"].number) == (0.20, 2.0)


def short(tmp_path: Path, *names: str) -> Path:
    """A folder of configurations that run for three seconds."""
    folder = tmp_path / "files"
    folder.mkdir()
    for name in names:
        for number in (1, 2, 3):
            edited(folder, {"config.seconds": 3, "config.warm": 1}, f"{name}.r{number}")
    return folder


def test_the_command_runs_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = short(tmp_path, "udp3_b8", "tcp_both1_cubic")
    assert status(["validate", "wifi", str(folder), "--json", "--jobs", "1"]) == 0
    first = capsys.readouterr()
    assert first.err == ""
    rows = json.loads(first.out)
    assert all(list(row) == FIELDS for row in rows)
    assert {row["configuration"] for row in rows} == {"udp3_b8", "tcp_both1_cubic"}
    assert all(row["model"] is not None for row in rows)
    # A flood fills the air at once: what the kernel showed over 20 s holds for two.
    flood = {(row["unit"], row["quantity"]): row["verdict"] for row in rows if row["configuration"] == "udp3_b8"}
    assert flood["all", "goodput_mbps"] == flood["sta3 mcs0", "airtime_share_percent"] == "within"
    # The same again, other runs side by side, into files.
    into = tmp_path / "out"
    assert status(["validate", "wifi", str(folder), "--jobs", "2", "-o", str(into)]) == 0
    text = capsys.readouterr().out
    assert json.loads((into / "comparison.json").read_text(encoding="utf-8")) == rows
    assert (into / "report.txt").read_text(encoding="utf-8") == text
    judged = [row["verdict"] for row in rows if row["verdict"] != "not judged"]
    last = f"{len(judged)} comparisons in 2 configurations: {judged.count('within')} within, "
    assert text.splitlines()[-1].startswith(last)


def test_a_file_that_cannot_be_said_leaves_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = short(tmp_path, "udp1_b8")
    edited(folder, {"config.mtu": 1400}, "minstrel_E.r1")
    edited(folder, {"config.sysctls": ["net.ipv4.tcp_magic=1"]}, "minstrel_G.r1")
    edited(folder, {"config.seconds": 4, "config.warm": 1}, "udp1_b8.r3")
    assert status(["validate", "wifi", str(folder), "--json"]) == 2
    captured = capsys.readouterr()
    assert {row["configuration"] for row in json.loads(captured.out)} == {"udp1_b8"}
    lines = captured.err.splitlines()
    assert len(lines) == 3
    assert "minstrel_E.r1.json: config.mtu: found 1400" in lines[0]
    assert "udp1_b8.r3.json: another set-up than udp1_b8.r1.json has" in lines[1]
    assert "minstrel_G.r1.json" in lines[2]
    assert "tcp_magic" in lines[2]


def test_some_configurations_and_their_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["validate", "wifi", "--only", "tcp_up*", "--scenarios", str(tmp_path)]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        f"tcp_up{name}.toml" for name in ("10_cubic", "1_bbr", "1_cubic", "1_reno", "3_bbr", "3_cubic", "3_reno")
    }
    assert (tmp_path / "tcp_up1_bbr.toml").read_text(encoding="utf-8") == text_of("tcp_up1_bbr")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none"], "none: no such folder"),
        (["--only", "x*"], 'found "x*", expected a pattern'),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_mistakes_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["validate", "wifi", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err


def test_every_bundled_configuration_is_planned() -> None:
    plan = command.plan(None)
    assert (len(plan.configurations), plan.faults, plan.notes) == (61, [], [])


def test_a_kernel_without_a_profile_is_noted(tmp_path: Path) -> None:
    edited(tmp_path, {"kernel": "Linux 6.13.1"})
    plan = command.plan(tmp_path)
    assert plan.notes == ["udp1_b8: kernel: Linux 6.13 has no profile; linux-6.12 is used instead"]


def test_one_file_stands_for_itself(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "udp1_b8.r2.json", tmp_path)
    assert [one.name for one in command.plan(tmp_path / "udp1_b8.r2.json").configurations] == ["udp1_b8"]


def test_the_model_is_as_near_to_mac80211_as_the_page_says() -> None:
    rows = command.run(command.plan(None)).rows
    judged = [row for row in rows if row.verdict in (compare.WITHIN, compare.OUTSIDE)]
    within = sum(row.verdict == compare.WITHIN for row in judged)
    names = {row.configuration for row in judged}
    counts = f"{within} of {len(judged)} quantities in {len(names)} configurations are within"
    docs = ROOT / "docs"
    assert counts in (docs / "validation-wifi.md").read_text(encoding="utf-8")
    kept = (ROOT / "lab/results/validate-wifi/report.txt").read_text(encoding="utf-8")
    assert f": {within} within, {len(judged) - within} outside" in kept
    assert within >= 0.9 * len(judged)
