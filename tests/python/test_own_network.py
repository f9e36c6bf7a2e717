"""`stillair new` and `stillair check`: a network of one's own, and what it comes to."""

import itertools
import json
import tomllib
from pathlib import Path

import pytest

from stillair import Scenario, _native
from stillair.__main__ import status
from stillair.cli.new import home
from stillair.explain import access

BLINK = {"duration": "1.1 s", "warm_up": "1 s"}
EVERYTHING = [part for kind in home.TRAFFIC for part in ("--traffic", kind)]


def test_traffic_of_one_station(capsys: pytest.CaptureFixture[str]) -> None:
    stations = ["--station", "pc=3m", "--station", "phone=8m", "--station", "tv=9m"]
    wanted = ["upload=phone", "game=pc", "game=tv", "ping", "web"]
    assert status(["new", *stations, *(part for one in wanted for part in ("--traffic", one))]) == 0
    flows = tomllib.loads(capsys.readouterr().out)["flow"]
    assert [(one["name"], one["from"], one["to"]) for one in flows] == [
        ("up-phone", "phone", "server"),
        ("pages", "pc", "server"),
        ("game-down-pc", "server", "pc"),
        ("game-up-pc", "pc", "server"),
        ("game-down-tv", "server", "tv"),
        ("game-up-tv", "tv", "server"),
        ("ping", "server", ["pc", "phone", "tv"]),
    ]
    assert status(["new", *stations, "--traffic", "upload=car"]) == 2
    assert 'found "upload=car", expected one of the stations pc, phone, tv' in capsys.readouterr().err
    assert status(["new", "--station", "living room=5m"]) == 2
    assert 'found the name "living room", expected letters' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("standard", "line"),
    [
        ("g", ["--internet", "50/10"]),
        ("a", ["--internet", "20/5", "--shaper", "fq_codel"]),
        ("n", []),
        ("ac", ["--internet", "1000/50", "--shaper", "cake"]),
        ("ax", ["--internet", "2500/2500"]),
        ("ac", ["--line", "cable-500-50", "--shaper", "cake", "--power-save", "phone"]),
        ("n", ["--line", "adsl-16-1"]),
    ],
)
def test_what_is_new_is_right_and_runs(
    standard: str, line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "home.toml"
    stations = ["--station", "near=3m", "--station", "far=25 dB"]
    assert status(["new", str(file), "--standard", standard, *stations, *line, *EVERYTHING]) == 0
    assert "stillair check" in capsys.readouterr().err
    assert status(["check", str(file)]) == 0
    captured = capsys.readouterr()
    assert max(map(len, captured.out.splitlines())) <= 80
    scenario = Scenario(file)
    run = scenario.run(overrides=BLINK).runs[0]
    # With the load under way, and everything in each of the shapers or ways to queue that the file sweeps.
    assert run["stations"]["near"]["goodput_mbps"] > 0
    tried = [value for ((_, value),) in scenario.sweep()]
    if line:
        assert tried[0] == "off", tried
        assert ["fq_codel" in tried[1], "cake" in tried[2], len(tried)] == [True, True, 3]
    else:
        assert {"fq_codel", "airtime", "mac80211"} <= set(tried)
    for combination in scenario.sweep():
        scenario.resolve(combination)


def test_what_is_assumed_is_counted_in_a_run_and_listed_by_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "home.toml"
    assert status(["new", str(file), "--station", "phone=5m,power-save", "--station", "tv=9m"]) == 0
    assert status(["run", str(file), "--set", "duration=1.1 s", "--set", "warm_up=1 s"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "parameters of node.ap and 2 more are assumed" in said
    assert "after each PPDU is assumed" not in said
    assert status(["check", str(file)]) == 0
    assert "after each PPDU is assumed" in " ".join(capsys.readouterr().out.split())


def test_a_queue_before_a_modem_is_told_to_have_no_effect() -> None:
    text = _new(["--internet", "50/10"])
    before = 'interface.eth0 = { link = "wan", address = "10.0.0.1"'
    assert before in text

    def notes(keys: str) -> list[str]:
        return [note for note in Scenario(text.replace(before, before + keys)).notes() if "modem" in note]

    [note] = notes(', qdisc = "fq_codel"')
    assert note.startswith("node.ap.interface.eth0.qdisc: ")
    assert "has no effect before a modem" in note
    assert notes("") == notes(', qdisc = { kind = "cake", bandwidth = "9 Mbit/s" }') == []
    assert notes(', qdisc = { kind = "netem", delay = "5 ms" }') == []


def test_fixed_rates_of_802_11ax_are_those_that_work() -> None:
    text = _new(["--standard", "ax", "--station", "near=1 m", "--station", "far=20 m"])
    rates = {name: tomllib.loads(text)["node"][name]["interface"]["wlan0"]["rate"] for name in ("near", "far")}
    paths = json.loads(_native.survey(text, "x", []))["paths"]
    assert rates["near"] == "he80-mcs11-nss2-gi0.8"
    assert rates["far"] != rates["near"]
    assert all(path["down"]["rate"]["loss"] < 0.1 for path in paths)


def test_a_shaper_takes_the_queue_from_the_modem(capsys: pytest.CaptureFixture[str]) -> None:
    def slowest_ping(shaper: str) -> float:
        text = _new(["--internet", "20/5", "--shaper", shaper, "--buffer", "500 ms"])
        run = Scenario(text).run(overrides={"duration": "8 s"}).runs[0]
        return float(max(of["ping_p95_ms"] for of in run["stations"].values()))

    assert slowest_ping("none") > 150
    assert slowest_ping("cake") < 60
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("shaper", ["cake", "fq_codel"])
@pytest.mark.parametrize(
    ("line", "framing", "below"),
    [
        (["--line", "adsl-16-1"], (40, 0, "atm"), 82),
        (["--line", "vdsl-80-20"], (30, 0, "ptm"), 92),
        (["--internet", "100/20"], (18, 64, "noatm"), 94),
        (["--line", "starlink-104-14"], (None, 0, "noatm"), 95),
    ],
)
def test_a_shaper_is_below_its_line_with_what_that_adds(
    line: list[str], framing: tuple[int | None, int, str], below: int, shaper: str
) -> None:
    text = _new([*line, "--shaper", shaper])
    whole = json.loads(Scenario(text).resolve([]))
    (of,) = access.lines(whole)
    assert access.is_shaped(of, whole)
    made = access.interface(of.near, whole)
    part = 95 if shaper == "cake" else below
    assert f"# The shaper uses {part} % of the line's rates, so that packets queue there" in text
    for one, bps in ((made["ingress"], of.down_bps), (made["qdisc"]["config"], of.up_bps)):
        assert one["bandwidth_bps" if shaper == "cake" else "rate_bps"] == bps * part // 100_000 * 1000
        if shaper == "cake":
            assert (one["overhead_bytes"], one["mpu_bytes"], one["atm"]) == framing
    # At 95 % without it a full packet in cells of ATM comes to 110 % of the line, in those of PTM to 98 %.
    as_raw = [("node.ap.interface.eth0.shaper.qdisc", "fq_codel")] if shaper == "cake" else []
    rates = [(f"node.ap.interface.eth0.shaper.{way}", f"{bps * 95 // 100} bit/s") for way, bps in _rates_of(of)]
    whole = json.loads(Scenario(text).resolve([*as_raw, *rates]))
    assert access.is_shaped(of, whole) == (framing[2] != "atm")


def _rates_of(line: access.Line) -> list[tuple[str, int]]:
    return [("down", line.down_bps), ("up", line.up_bps)]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (["download", "ping"], ["Each station downloads.", "Each station is pinged."]),
        (["download=tv", "ping=tv"], ["tv downloads.", "tv is pinged."]),
        (["download=tv", "download=pc"], ["pc and tv download."]),
    ],
)
def test_who_does_it_is_named(wanted: list[str], says: list[str]) -> None:
    stations = ["--station", "pc=3m", "--station", "phone=8m", "--station", "tv=9m"]
    lines = _new([*stations, *(part for one in wanted for part in ("--traffic", one))]).splitlines()
    assert [line[2:] for line, after in itertools.pairwise(lines) if after == "[[flow]]"] == says


def test_cells_of_atm_do_not_fill_the_modem_of_a_shaped_line() -> None:
    for shaper in ("cake", "fq_codel"):
        text = _new(["--line", "adsl-16-1", "--shaper", shaper, "--station", "laptop=5m"])
        run = Scenario(text).run(overrides={"duration": "10 s"}).runs[0]
        (ping,) = run["pings"].values()
        assert ping["p95_ms"] is not None
        assert ping["p95_ms"] < 60, shaper


def test_a_home_by_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A named line with cake keeps a call usable beside an upload; without a shaper it waits in the modem."""

    def waits(shaper: str) -> float:
        text = _new(["--line", "cable-500-50", "--shaper", shaper, "--traffic", "upload", "--traffic", "call"])
        run = Scenario(text).run(overrides={"duration": "9 s"}).runs[0]
        delay = run["voip"]["speaks.server"]["delay_ms"]
        assert delay is not None
        return delay

    assert waits("none") > 150
    assert waits("cake") < 40
    assert capsys.readouterr().err == ""


def test_check_shows_shapers_mtu_and_ip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "home.toml"
    assert status(["new", str(file), "--line", "vdsl-80-20", "--shaper", "cake"]) == 0
    sets = ["--set", "link.wan.mtu=1492", "--set", "flow.0.ip=6"]
    capsys.readouterr()
    assert status(["check", str(file), *sets]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "cake 19 Mbit/s; in: cake 76 Mbit/s" in out
    assert "80 Mbit/s / 20 Mbit/s" in out or "20 Mbit/s / 80 Mbit/s" in out
    assert " MTU " in out
    assert " 1492 " in out
    assert "down tcp over IPv6 server" in out


LOSSY = """
name = "lossy"
duration = "4 s"
[link.lan]
rate = "10 Mbit/s"
delay = "1 ms"
[node.a]
profile = "linux-6.1"
interface.eth0 = { link = "lan", qdisc = { kind = "netem", limit = 100, loss = LOSS } }
[node.b]
profile = "linux-6.1"
interface.eth0 = { link = "lan" }
[[flow]]
kind = "ping"
from = "a"
to = "b"
[[flow]]
kind = "voip"
from = "a"
to = "b"
"""


def test_what_is_lost_has_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lossy.toml"
    for loss, pings in (("0.0", "20 received, 0 lost"), ("1.0", "0 received, 20 lost")):
        file.write_text(LOSSY.replace("LOSS", loss))
        assert status(["run", str(file)]) == 0
        out = capsys.readouterr().out
        assert f"pings: 20 sent, {pings}" in out
        assert "voip-1.b" in out
        assert ("100.00" in out) == (loss == "1.0")
    assert status(["run", str(file), "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["runs"][0]
    assert run["pings"]["ping-0.b"] == {
        **dict.fromkeys(("received", "replies"), 0),
        **dict.fromkeys(("sent", "lost"), 20),
        "loss": 1.0,
        **dict.fromkeys(("median_ms", "p95_ms", "p99_ms", "mean_ms", "longest_ms")),
    }
    assert (run["voip"]["voip-1.b"]["mos"], run["voip"]["voip-1.b"]["loss"]) == (1.0, 1.0)


def _new(arguments: list[str]) -> str:
    import contextlib  # noqa: PLC0415 - here alone
    import io  # noqa: PLC0415

    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert status(["new", *arguments]) == 0
    return out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--station", "a"], "expected NAME=DISTANCE, NAME=SNR or NAME=RATE"),
        (["--station", "a=1 m", "--station", "a=2 m"], 'found "a" a second time'),
        (["--station", "ap=1 m"], 'found "ap" a second time'),
        (["--station", "a=ht20-mcs99-sgi"], "expected an HT rate"),
        (["--standard", "802.11bx"], "expected one of 802.11g, 802.11a, 802.11n, 802.11ac, 802.11ax"),
        (["--width", "160"], "expected at most 80 MHz with 802.11ac"),
        (["--kernel", "linux-6.7"], '--kernel: found "linux-6.7", expected one of linux-3.13, linux-3.19,'),
        (["--internet", "100"], 'such as "100/20"'),
        (["--shaper", "cake"], "has no effect without --internet or --line"),
        (["--buffer", "1 s"], "has no effect without --internet or --line"),
        (["--line", "cable-500-5"], 'did you mean "cable-500-50"?'),
        (["--line", "vdsl-80-20", "--internet", "9/9"], "expected one of the two"),
        (["--power-save", "phones"], 'did you mean "phone"?'),
        (["--station", "a=1 m,power-save=phones"], 'or "power-save=KIND" with one of'),
        (["--station", "a=1 m,sleeps"], 'expected only "power-save"'),
        (["--shaper", "cak", "--internet", "9/9"], 'did you mean "cake"?'),
        (["--traffic", "downlod"], 'did you mean "download"?'),
        (["--traffic", "upload="], 'found "upload=", expected a station after "=", or "upload" alone'),
        (["--delay", "soon"], 'found "soon", expected a time'),
        (["--force"], "has no effect without a file"),
    ],
)
def test_mistakes(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["new", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err
    assert captured.err.count("\n") == 1


def test_stations_and_kernels_of_ones_own() -> None:
    stations = ["--station", "laptop=5m", "--station", "phone=12m,power-save", "--station", "tv=9m, power-save=none"]
    text = tomllib.loads(_new([*stations, "--kernel", "linux-6.1", "--power-save", "iwlwifi"]))
    nodes = text["node"]
    saves = {name: nodes[name]["interface"]["wlan0"].get("power_save") for name in ("laptop", "phone", "tv")}
    assert saves == {"laptop": "iwlwifi", "phone": "phone", "tv": None}
    assert {name: node["profile"] for name, node in nodes.items()} == {
        **dict.fromkeys(("ap", "laptop", "phone", "tv"), "linux-6.1"),
        "server": "linux-6.6",
    }
    assert nodes["phone"]["interface"]["wlan0"]["distance"] == "12 m"


def test_a_router_of_openwrt_has_clients_that_have_none() -> None:
    written = _new(["--kernel", "openwrt-24.10", "--internet", "100/20"])
    profiles = {name: node["profile"] for name, node in tomllib.loads(written)["node"].items()}
    assert profiles == {
        **dict.fromkeys(("laptop", "tv", "server"), "linux-6.6"),
        "ap": "openwrt-24.10",
    }
    # There a driver's FIFOs have fq_codel above them, so that nothing would differ.
    offered = next(line for line in written.splitlines() if line.startswith('# "node.ap.interface.wlan0.scheme"'))
    assert "fifo" not in offered
    assert 'qdisc = "pfifo_fast"' in written
    wlan = "node.ap.interface.wlan0"
    kinds = [
        {
            one["kind"]
            for name, one in Scenario(written).run(overrides=BLINK | sets).runs[0]["qdiscs"].items()
            if "wlan0/" in name
        }
        for sets in ({f"{wlan}.scheme": "fq_codel"}, {f"{wlan}.scheme": "fifo", f"{wlan}.qdisc": "pfifo_fast"})
    ]
    assert kinds == [{"fq_codel"}, {"pfifo_fast"}]
    assert '"fifo"' in _new(["--kernel", "linux-6.6"])


def test_kernels_are_those_of_the_schema() -> None:
    known = json.loads(_native.schema())["definitions"]["kernel"]["enum"]
    assert sorted(known) == sorted(home.KERNELS)


def test_the_framing_of_rates_alone_is_told() -> None:
    written = _new(["--internet", "100/20"])
    assert "# assumed: the framing of a cable line, 18 bytes per IP packet and at least 64 in total." in written
    assert "# assumed" not in _new(["--line", "vdsl-80-20"])


def test_a_film_comes_in_segments() -> None:
    scenario = Scenario(_new(["--station", "tv=5m", "--traffic", "streaming"]))
    (flow,) = tomllib.loads(scenario.text)["flow"]
    assert (flow["name"], flow["to"], flow["write_size"]) == ("film", "tv", "2.5 MB")
    run = scenario.run(overrides={"duration": "21 s", "warm_up": "1 s"}).runs[0]
    assert run["flows"]["film.tv"]["goodput_mbps"] == pytest.approx(5, rel=0.15)


def test_a_file_is_not_written_over_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "home.toml"
    file.write_text("mine")
    assert status(["new", str(file)]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert status(["new", str(file), "--force"]) == 0
    assert tomllib.loads(file.read_text())["name"] == "home"


ROW = """\
name = "row"
duration = "1 s"
[channel.wifi]
band = "5 GHz"
width = "40MHz"
cca_sensitivity = "-87 dBm"
[node.ap]
profile = "linux-6.6"
position = "40 m, 0 m"
interface.wlan0 = { channel = "wifi", role = "ap", address = "10.0.0.1" }
[node.left]
profile = "linux-6.6"
position = "0 m, 0 m"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.0.3", rate = "ht40-mcs15-sgi" }
[node.right]
profile = "linux-6.6"
position = "80 m, 0 m"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.0.4", rate = "ht40-mcs0-lgi" }
[[flow]]
kind = "udp"
from = "left"
to = "ap"
rate = "5 Mbit/s"
start = "100 ms"
"""


def test_hidden_nodes_and_rates_that_fail_are_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "row.toml").write_text(ROW)
    assert status(["check", str(tmp_path / "row.toml")]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "Channel wifi: 5 GHz, 40 MHz, 3 radios" in lines
    assert "left.wlan0 15.2 - !6.2" in lines
    assert "! not heard at all" in lines
    assert any(line.startswith("left both ways 15.2 ht40-mcs15-sgi 100.0 ht40-mcs") for line in lines)
    assert any(line.startswith("right both ways 15.2 ht40-mcs0-lgi 0.0 ht40-mcs") for line in lines)
    assert "udp-0 udp left ap 5 Mbit/s from 0.1 s" in lines
    assert any("where 100 % of full frames" in line for line in lines)


def test_check_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["check", "anomaly-tcp", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["combinations"] == 4
    assert {node["name"] for node in found["nodes"]} == {"server", "ap", "fast1", "fast2", "slow"}
    assert status(["check", "anomaly-tcp", "--set", "seed=x"]) == 2
    assert 'seed: found "x"' in capsys.readouterr().err


def test_a_host_tells_of_itself_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--set", "duration=5200 ms", "--json"]
    assert status(["ss", "anomaly-tcp", *short, "--at", "5.1 s"]) == 0
    sockets = json.loads(capsys.readouterr().out)
    assert {one["flow"] for one in sockets} == {"down.fast1", "down.fast2", "down.slow"}
    assert all(one["rto_ms"] > 0 for one in sockets)
    counted = []
    for at in ("5 s", "5.1 s"):
        assert status(["tc", "anomaly-tcp", *short, "--at", at]) == 0
        [root] = (one for one in json.loads(capsys.readouterr().out) if one["dev"] == "server.eth0")
        assert (root["kind"], root["root"], root["options"]["limit"]) == ("pfifo_fast", True, 1000)
        counted.append(root["packets"])
    assert counted[0] < counted[1]
    assert status(["tc", "anomaly-tcp", "--at", "1000 s"]) == 2
    assert "the run is shorter" in capsys.readouterr().err
    assert status(["rc-stats", "snr", "--set", "duration=100 ms", "--set", "warm_up=0 s", "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--internet", "250 Mbit/s / 40Mbps"], 'rate = { down = "250 Mbit/s", up = "40 Mbit/s" }'),
        (["--station", "tv=4 meters"], 'distance = "4 m"'),
        (["--station", "tv=30db"], 'snr = "30 dB"'),
        (["--width", "160MHz", "--standard", "ax"], 'width = "160 MHz"'),
    ],
)
def test_units_are_taken_as_people_write_them(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["new", *arguments]) == 0
    assert says in capsys.readouterr().out
    assert status(["new", "--station", "tv=4 feet"]) == 2
    assert 'expected a distance in m such as "tv=5 m"' in capsys.readouterr().err
