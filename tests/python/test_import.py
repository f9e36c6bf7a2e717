"""What machines print, made into scenarios: real samples of each format, and damaged ones."""

import gzip
import json
import os
import random
import re
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from stillair import InputError, _native
from stillair.__main__ import status
from stillair.runs.imports import facts, kinds, network, qdiscs, rates, scenario

SAMPLES = Path(__file__).parent / "samples"
ALL = sorted(path for path in SAMPLES.iterdir() if path.suffix != ".md")


@pytest.fixture(autouse=True)
def in_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments are wrapped, and the length of a file's path decides where: names are relative."""
    monkeypatch.chdir(SAMPLES)


def read(*names: str) -> list[facts.Fact]:
    return [fact for name in names for fact in kinds.read(Path(name))]


def made(*names: str, interface: str | None = None) -> str:
    return scenario.text(network.of(read(*names), interface), names)


def without_comments(text: str) -> list[str]:
    return [line.partition("  # ")[0] for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_each_sample_alone_makes_a_scenario_that_is_checked(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "made.toml"
    assert status(["import", str(path), "-o", str(target)]) == 0
    text = target.read_text()
    assert "guess:" in text
    assert "not known:" in text
    assert status(["check", str(target)]) == 0
    # What was made of it says the same when it is read.
    assert json.loads(_native.survey(text, "made.toml", []))["name"] == "imported"


def test_all_samples_have_a_source() -> None:
    told = (SAMPLES / "README.md").read_text()
    assert [path.name for path in ALL if f"`{path.name}`" not in told] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # The levels of that driver were positive: no level is known.
        ("station-dump-2015.txt", [("wlan0", None, "ofdm-54", "ofdm-54", 6191)]),
        ("station-dump-2024.txt", [("wlo1", -59, "vht80-mcs7-nss2-sgi", "vht80-mcs7-nss2-sgi", 233)]),
        ("station-dump-2024-eht.txt", [("wlo1", -95, "he40-mcs11-nss2-gi0.8", "he40-mcs8-nss3-gi0.8", None)]),
        ("station-dump-2026-mt7921u.txt", [("wlan-usb", -32, "he80-mcs11-nss2-gi0.8", "he80-mcs11-nss2-gi0.8", 32)]),
        ("station-dump-2026-brcmfmac.txt", [("wlan0", None, "ht20-mcs7-sgi", "ht20-mcs7-sgi", 70)]),
    ],
)
def test_stations(name: str, expected: Sequence[object]) -> None:
    found = [one for one in read(name) if isinstance(one, facts.Peer)]
    assert [
        (
            one.interface,
            one.signal_dbm,
            one.tx.name if one.tx else None,
            one.rx.name if one.rx else None,
            one.counts.get("connected time"),
        )
        for one in found
    ] == expected


def test_interfaces_and_devices() -> None:
    assert [
        (one.name, one.kind, one.mhz, one.width_mhz, one.txpower_dbm)
        for one in read("iw-dev-2015.txt", "iw-dev-2024.txt", "iw-dev-managed.txt")
        if isinstance(one, facts.Interface)
    ] == [
        ("wlan1", "AP", 5805, 80, None),
        ("wlan0", "AP", 2437, 20, None),
        ("hn5wpa2r", "AP", 5180, 160, 20.0),
        ("wlo1", "managed", 5260, 80, 22.0),
    ]
    assert [dict(one.bands) for one in read("iw-phy-2020.txt", "iw-phy-2024.txt") if isinstance(one, facts.Phy)] == [
        {2.4: ("802.11n", 2, 40), 5.0: ("802.11ac", 2, 80)},
        {5.0: ("802.11ax", 4, 160)},
    ]


def test_disciplines() -> None:
    found = [one for one in read("tc-2026.json", "tc-2022.json") if isinstance(one, facts.Qdisc)]
    assert [(one.device, one.kind, qdiscs.bandwidth_bps(one), qdiscs.is_ingress(one)) for one in found] == [
        ("lo", "noqueue", None, False),
        ("ens18", "fq_codel", None, False),
        ("ens27", "cake", 18_000_000, False),
        ("ens28", "cake", 95_000_000, True),
        ("?", "cake", None, False),
    ]
    assert qdiscs.keys(found[2]) == (
        {
            "kind": "cake",
            "tins": "diffserv4",
            "isolation": "triple-isolate",
            "wash": False,
            "ack_filter": "ack-filter",
            "split_gso": True,
            "rtt": "100000 us",
            "atm": "ptm",
            "overhead": 22,
            "memlimit": "33554432 B",
        },
        [],
    )
    assert qdiscs.keys(found[1])[0]["target"] == "5 ms"


def test_settings_of_access_points() -> None:
    names = ("uci-wireless-23.txt", "uci-wireless-19.txt", "hostapd-ac.conf", "hostapd-n.conf")
    assert [
        (one.name, one.band_ghz, one.channel, one.width_mhz, one.standard)
        for one in read(*names)
        if isinstance(one, facts.Radio)
    ] == [
        ("radio0", 2.4, None, 40, "802.11n"),
        ("radio1", 5.0, 44, 80, "802.11ax"),
        ("radio1", None, None, 80, "802.11ax"),
        ("wlan1", 5.0, 36, 80, "802.11ac"),
        ("wlx08beac123456", 2.4, 6, 40, "802.11n"),
    ]
    assert [
        (one.device, one.down_kbit, one.up_kbit, one.up["kind"], one.up.get("overhead"))
        for one in read("uci-sqm-cake.txt", "uci-sqm-fq_codel.txt")
        if isinstance(one, facts.Shaper)
    ] == [("pppoe-wan", 63000, 4500, "cake", 40), ("eth0", 12750, 8500, "fq_codel", None)]


@pytest.mark.parametrize(
    ("told", "name", "mbps"),
    [
        ("6.5 MBit/s MCS 0", "ht20-mcs0-lgi", 6.5),
        ("300.0 MBit/s MCS 15 40MHz short GI", "ht40-mcs15-sgi", 300.0),
        ("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "vht80-mcs9-nss2-sgi", 866.7),
        ("1733.3 MBit/s VHT-MCS 9 160MHz short GI VHT-NSS 2", "vht160-mcs9-nss2-sgi", 1733.3),
        ("286.7 MBit/s HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0", "he20-mcs11-nss2-gi0.8", 286.7),
        ("975.0 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 2 HE-DCM 0", "he80-mcs11-nss2-gi3.2", 1020.8),
        ("11.0 MBit/s", "cck-11", 11.0),
        ("24.0 MBit/s", "ofdm-24", 24.0),
        ("433.3 MBit/s", "vht80-mcs9-nss1-sgi", 433.3),
    ],
)
def test_bit_rates(told: str, name: str, mbps: float) -> None:
    assert rates.told(told).name == name
    if parts := re.match(r"(ht|vht|he)(\d+)-mcs(\d+)(?:-nss(\d))?-(?:([ls])gi|gi([\d.]+))", name):
        family, width, mcs = parts[1], int(parts[2]), int(parts[3])
        streams = int(parts[4]) if parts[4] else mcs // 8 + 1
        guard = round(float(parts[6]) * 1000) if parts[6] else 400 if parts[5] == "s" else 800
        mode = rates.Mode(family, mcs, streams, width, guard)
        assert mode.name == name
        assert mode.mbps() == pytest.approx(mbps, abs=0.1)


def test_a_home_of_openwrt() -> None:
    text = made("uci-wireless-23.txt", "uci-sqm-cake.txt", "openwrt_release-23.05.txt", "station-dump-2026-mt7921u.txt")
    lines = without_comments(text)
    assert 'profile = "openwrt-23.05"' in lines
    assert 'rate = { down = "66316 kbit/s", up = "4737 kbit/s" }' in lines
    assert tomllib.loads(text)["node"]["ap"]["interface"]["eth0"] == {
        "link": "wan",
        "address": "10.0.0.1",
        "masquerade": True,
        "shaper": {
            "down": "63000 kbit/s",
            "up": "4500 kbit/s",
            "qdisc": {"kind": "cake", "tins": "diffserv3", "nat": True, "overhead": 40},
            "qdisc_down": {"kind": "cake", "tins": "besteffort", "nat": True, "wash": True, "overhead": 40},
        },
    }
    assert max(map(len, text.splitlines())) <= 120
    assert 'rate = "he80-mcs11-nss2-gi0.8"' in lines
    assert "# guess: the shaper has 95 % of the line's rates" in text
    assert "openwrt_release-23.05.txt:2" in text


def test_a_laptop() -> None:
    names = ("station-dump-2024.txt", "iw-dev-managed.txt", "ethtool-i-6.8.txt", "uname-6.8.txt", "sysctl-5.15.txt")
    text = made(*names)
    lines = without_comments(text)
    assert 'scheme = "ath10k"' in lines
    assert 'snr = "35 dB"' in lines
    assert 'rate = { kind = "minstrel_ht", standard = "802.11ac", streams = 2 }' in lines
    assert 'sysctl."net.ipv4.tcp_limit_output_bytes" = 1048576' in lines
    assert "6.8, the nearest profile before it" in text
    assert "# left out: 6 sysctl settings that are not modelled." in text
    survey = json.loads(_native.survey(text, "x", []))
    # The machine is the station, with its own settings.
    assert [node["profile"] for node in survey["nodes"]] == ["linux-6.12", "linux-6.6", "linux-6.6"]


def test_what_the_model_does_not_take_is_left_out_aloud() -> None:
    text = made("sysctl-4.14.txt")
    assert "left out: " in text
    assert "net.ipv4.tcp_notsent_lowat = -1: not modelled." in text.replace("\n#   ", " ")
    assert "guess: tx bitrate 688.2 MBit/s 40MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0: he40-mcs11" in made(
        "station-dump-2024-eht.txt"
    ).replace("\n#   ", " ")


def test_dtim_period_and_airtime_weight(tmp_path: Path) -> None:
    def of(*lines: str, station: bool = False) -> str:
        head = ["Station 02:00:00:00:00:01 (on wlan0)", "tx packets: 1", *(["beacon loss: 0"] if station else [])]
        (tmp_path / "dump.txt").write_text("\n".join([*head, *lines]) + "\n")
        found = kinds.read(tmp_path / "dump.txt")
        return scenario.text(network.of(found), ["x"])

    # 802.11n without a driver that is known: mac80211 weighs.
    text = of("tx bitrate: 65.0 MBit/s MCS 7", "airtime weight: 512", "DTIM period: 3")
    assert "\nairtime_weight = 512\n" in text
    assert "\ndtim_period = 3  # " in text
    assert "airtime_weight" not in of("tx bitrate: 65.0 MBit/s MCS 7", "airtime weight: 256")
    # Of a station's dump the period is its access point's, the weight is of no use.
    text = of("tx bitrate: 65.0 MBit/s MCS 7", "airtime weight: 512", "DTIM period: 2", station=True)
    assert "# left out: airtime weight 512 is this machine's weight for its access point." in text
    assert text.index("dtim_period = 2") < text.index("[node.sta1]")
    text = of("tx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "airtime weight: 512", "DTIM period: 0")
    assert "# left out: airtime weight 512 of sta1: scheme mt76 has no weights." in text
    assert "DTIM period 0." in text
    assert "dtim_period =" not in text


def test_a_link_is_of_a_station(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = "Connected to 02:00:00:00:00:01 (on wlan0)\n\tSSID: x\n\tfreq: 2437.0\n\tsignal: -40 dBm\n"
    rates = "\trx bitrate: 52.0 MBit/s MCS 5\n\ttx bitrate: 72.2 MBit/s MCS 7 short GI\n"
    (tmp_path / "link.txt").write_text(link + rates)
    text = scenario.text(network.of(kinds.read(tmp_path / "link.txt")), ["link.txt"])
    assert "# This machine. iw describes its access point" in text
    assert 'band = "2.4 GHz"' in text
    assert 'snr = "54 dB"' in text
    (tmp_path / "link.txt").write_text(link.replace("2437.0", "fast") + rates)
    assert status(["import", str(tmp_path / "link.txt")]) == 2
    assert 'link.txt:3: found "freq: fast", expected a frequency in MHz' in capsys.readouterr().err


def test_two_cakes_of_tc() -> None:
    text = made("tc-2026.json")
    # Each way has its own options.
    eth0 = tomllib.loads(text)["node"]["ap"]["interface"]["eth0"]
    shaper = eth0["shaper"]
    assert (shaper["down"], shaper["up"]) == ("95000 kbit/s", "18000 kbit/s")
    assert (shaper["qdisc_down"]["kind"], shaper["qdisc_down"]["tins"]) == ("cake", "diffserv4")
    assert shaper["qdisc"]["kind"] == "cake"
    assert text.count("ingress = true") == 1
    # The one that leads to the hosts sees their addresses; the one before the line sees the router's.
    assert eth0["masquerade"]
    assert "nat" not in shaper["qdisc"]
    assert text.count("nat = true") == 1
    assert "guess: cake sees the addresses of hosts on ens28, a LAN device" in text
    assert [line for line in text.splitlines() if "dropped so far" in line] == [
        "# tc-2026.json: entry 3: cake at ens28, down; 83800 packets dropped so far.",
        "# tc-2026.json: entry 2: cake at ens27, up; 138555 packets dropped so far.",
    ]
    assert "guess: down has up's options" not in text


@pytest.mark.parametrize(
    ("device", "nat", "flows", "masquerade", "told_apart"),
    [
        ("wan", True, "triple-isolate", True, True),
        # As sqm's: on the wire such a cake has one host, and so it has here.
        ("wan", False, "triple-isolate", True, False),
        ("ifb4wan", False, "dual-dsthost", True, False),
        ("wan", False, "flows", False, False),
    ],
)
def test_a_cake_of_tc_is_behind_masquerading_as_that_of_sqm_is(
    device: str, nat: bool, flows: str, masquerade: bool, told_apart: bool, tmp_path: Path
) -> None:
    options = {"bandwidth": 1_250_000, "diffserv": "diffserv3", "flowmode": flows, "nat": nat, "raw": True}
    (tmp_path / "tc.json").write_text(json.dumps([{"kind": "cake", "dev": device, "root": True, "options": options}]))
    text = scenario.text(network.of(kinds.read(tmp_path / "tc.json")), ["tc.json"])
    assert ("masquerade = true" in text, "nat = true" in text) == (masquerade, told_apart)
    assert ("# guess: the router masquerades, as home routers do" in text) == masquerade


def test_the_interface_that_is_meant() -> None:
    assert 'band = "2.4 GHz"' in made("iw-dev-2015.txt", interface="wlan0")
    assert 'band = "5 GHz"' in made("iw-dev-2015.txt", interface="wlan1")
    with pytest.raises(
        InputError, match='found "wlan7", expected a Wi-Fi interface of the files; there are wlan1, wlan0'
    ):
        made("iw-dev-2015.txt", interface="wlan7")


def test_a_flent_file_is_the_load(tmp_path: Path) -> None:
    data = json.dumps({"metadata": {"NAME": "rrul", "LENGTH": 10, "HOST": "server"}, "results": {}}).encode()
    for name, content in (("x.flent", data), ("x.flent.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(content)
        text = scenario.text(network.of(kinds.read(tmp_path / name)), [name])
        assert '[test]\nname = "rrul"\nfrom = "sta1"\nto = "server"\nlength = "10 s"' in text
    (tmp_path / "y.flent").write_bytes(data.replace(b"rrul", b"my_test"))
    text = scenario.text(network.of(kinds.read(tmp_path / "y.flent")), ["y.flent"])
    assert "the test my_test: not modelled" in text.replace("\n#   ", " ")
    (tmp_path / "z.flent.gz").write_bytes(gzip.compress(data)[:-9])
    with pytest.raises(InputError, match="found damaged gzip"):
        kinds.read(tmp_path / "z.flent.gz")


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("station-dump-2024.txt", ("3441", "34x1"), ':6: found "tx packets: 34x1", expected a whole number'),
        ("station-dump-2024.txt", ("-59 dBm", "loud"), ':13: found "signal avg: loud", expected a level in dBm'),
        ("station-dump-2024.txt", ("650.0 MBit/s VHT", "fast VHT"), ':15: found "tx bitrate: fast VHT'),
        ("station-dump-2024.txt", ("(on wlo1)", ""), ':1: found "Station 02:00:00:32:3f:d2", expected'),
        ("iw-dev-2024.txt", ("(5180 MHz)", "(51"), ':8: found "channel 36 (51, width'),
        ("iw-phy-2024.txt", ("indexes supported: 0-31", "indexes supported: ?"), ':16: found "HT TX/RX MCS'),
        ("tc-2026.json", ('"packets":10765526', '"packets":'), ":1: found text that is not JSON at column"),
        ("tc-2026.json", ('"bandwidth":2250000', '"bandwidth":"a lot"'), ': entry 2: found "a lot" under bandwidth'),
        ("tc-2026.json", ('"kind":"cake","handle":"8004:"', '"kind":7'), ": entry 3: found no text under kind"),
        ("uci-sqm-cake.txt", ("'63000'", "'63 Mbit'"), ':4: found "download 63 Mbit", expected a whole number'),
        ("uci-wireless-23.txt", ("'HE80'", "'fast'"), ':24: found "htmode fast", expected a mode'),
        (
            "uci-wireless-23.txt",
            ("option band '5g'", "option band '5g"),
            ':22: found "option band \'5g", expected a closing',
        ),
        ("hostapd-ac.conf", ("channel=36 ", "channel=x "), ':5: found "channel=x", expected a whole number'),
        ("hostapd-ac.conf", ("ieee80211n=1", "ieee80211n"), ':6: found "ieee80211n", expected "KEY=VALUE"'),
        ("sysctl-5.15.txt", ("tcp_dsack = 1", "tcp_dsack"), ':2: found "net.ipv4.tcp_dsack", expected "net.ipv4.KEY'),
        (
            "ethtool-i-6.8.txt",
            ("version: 6.8", "version 6.8"),
            ':2: found "version 6.8.0-106-generic", expected "NAME: ',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_damaged_line_is_told(
    name: str, change: tuple[str, str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (SAMPLES / name).read_text()
    assert change[0] in text
    (tmp_path / name).write_text(text.replace(*change, 1))
    assert status(["import", str(tmp_path / name), "-o", str(tmp_path / "x.toml")]) == 2
    captured = capsys.readouterr()
    assert f"{tmp_path / name}{says}" in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "x.toml").exists()


def test_all_damaged_lines_of_all_files_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for name, change in (("station-dump-2024.txt", ("bytes:\t", "bytes:\tx")), ("sysctl-5.15.txt", ("_ecn", "_ecn?"))):
        (tmp_path / name).write_text((SAMPLES / name).read_text().replace(*change))
        files.append(str(tmp_path / name))
    assert status(["import", *files]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [re.search(r"\.txt:(\d+): found", line)[1] for line in lines] == ["3", "5", "4", "5"]  # type: ignore[index]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_no_damage_is_more_than_an_error(path: Path, tmp_path: Path) -> None:
    data, draw = path.read_bytes(), random.Random(path.name)  # noqa: S311 - the same damage each time
    told: list[str] = []
    for _ in range(60):
        broken = bytearray(data[: draw.randrange(len(data))] if draw.random() < 0.5 else data)
        for _ in range(draw.randrange(4)):
            if broken:
                broken[draw.randrange(len(broken))] = draw.randrange(256)
        (tmp_path / path.name).write_bytes(bytes(broken))
        try:
            found = kinds.read(tmp_path / path.name)
        except InputError as error:
            told.append(str(error))
            continue
        text = scenario.text(network.of(found), [path.name])
        assert "imported" in text
    assert told or path.suffix != ".json"
    assert all(line.startswith(str(tmp_path / path.name)) for error in told for line in error.splitlines())


def test_what_nothing_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(SAMPLES / "README.md", tmp_path / "x.md")
    (tmp_path / "b").write_bytes(b"\x7fELF\x00\x00")
    (tmp_path / "empty").write_bytes(b" \n")
    (tmp_path / "large").write_bytes(b"a" * (kinds.MOST_BYTES + 1))
    os.mkfifo(tmp_path / "fifo")
    for name, says in (
        ("x.md", 'found nothing that is recognised (it begins "# What machines'),
        ("x.md", "expected one of: iw dev INTERFACE station dump; "),
        ("b", "found a byte at 0 that is not text"),
        ("none", "cannot be read: No such file or directory"),
        ("empty", "is empty"),
        ("large", "found more than 16 MiB, expected at most 16 MiB of text"),
        ("fifo", "is not a regular file, expected one"),
        (".", "is a directory, expected a file"),
    ):
        assert status(["import", str(tmp_path / name)]) == 2
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1
    # Among files that are read each is left out, with its reason.
    others = [str(tmp_path / name) for name in ("b", "none", "empty", "fifo", "x.md")]
    assert status(["import", str(SAMPLES / "uname-6.8.txt"), *others]) == 0
    left = [line for line in capsys.readouterr().out.replace("\n#   ", " ").splitlines() if "left out" in line]
    reasons = (
        "is not text",
        "No such file or directory",
        "is empty",
        "not a regular file",
        "nothing that is recognised",
    )
    assert len(left) == len(others)
    assert all(reason in line for reason, line in zip(reasons, left, strict=True))
