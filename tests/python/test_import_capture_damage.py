"""Captures with rates that no scenario has, damaged, cut and joined: what can be used is used, and the rest is said."""

import dataclasses
import gzip
import re
import struct
from pathlib import Path

import pytest

import captures
from captures import data, eht, he, ht, legacy, mpdu, pcap, pcapng, radiotap, vht
from stillair import InputError
from stillair.__main__ import status
from stillair.runs.imports import kinds, network, rates, scenario
from stillair.runs.imports.captures import packets
from stillair.runs.imports.captures.radiotap import read as header
from stillair.runs.imports.facts import Captured
from stillair.runs.imports.rates import Mode

PAYLOAD = 1_000
GOOD = vht(9, 2)
GOOD_NAME = "vht80-mcs9-nss2-lgi"


def read(content: bytes, folder: Path, name: str = "x.pcap") -> Captured:
    (folder / name).write_bytes(content)
    (found,) = kinds.read(folder / name)
    assert isinstance(found, Captured)
    return found


@pytest.mark.parametrize(
    ("rate", "why"),
    [
        *((vht(mcs, 5 + mcs % 4), "VHT with 5 to 8 streams") for mcs in range(10)),
        *((he(mcs, 5 + mcs % 4), "HE with 5 to 8 streams") for mcs in range(12)),
        (vht(7, 9), "VHT with more than 8 streams"),
        (he(7, 15), "HE with more than 8 streams"),
        *((vht(mcs, 1), "VHT MCS 10 and above") for mcs in range(10, 16)),
        *((he(mcs, 1), "HE MCS 12 and above") for mcs in range(12, 16)),
        (vht(9, 1, 0), "VHT MCS 9 at 20 MHz with 1 stream, which the standard excludes"),
        (vht(6, 3, 4), "VHT MCS 6 at 80 MHz with 3 streams, which the standard excludes"),
        (vht(7, 0), "VHT without its streams in the header"),
        (vht(7, 1, 31), "VHT of unknown width"),
        (ht(32, width_40=True), "HT MCS 32"),
        *((ht(mcs), "HT MCS 33 to 76 (unequal modulation)") for mcs in (33, 38, 39, 52, 53, 76)),
        *((ht(mcs), "HT MCS 77 and above") for mcs in (77, 127, 255)),
        (ht(7, known=0x05), "HT without its MCS in the header"),
        (he(7, 2, code=4), "HE on a part of the channel (OFDMA)"),
        (he(7, 2, code=15), "HE of unknown width"),
        (he(3, 1, dcm=True), "HE with dual carrier modulation (DCM)"),
        (he(3, 1, data1=0x4004), "HE without its MCS or width in the header"),
        (eht(), "EHT (802.11be)"),
        (legacy(44), "22 Mbit/s"),
        (legacy(255), "127.5 Mbit/s"),
    ],
)
def test_a_rate_that_no_scenario_has_is_counted_without_it(rate: bytes, why: str, tmp_path: Path) -> None:
    frames = [data(at, rate) for at in range(3)] + [data(3 + at, GOOD) for at in range(5)]
    found = read(pcap(frames), tmp_path)
    (station,) = found.stations
    assert (station.down.frames, station.down.packets, station.down.payload_bytes) == (8, 8, 8 * PAYLOAD)
    assert list(station.down.rates) == [GOOD_NAME]
    told = f"3 data frames at {why}: not modelled, counted without a rate"
    assert found.said == [told]
    assert told in scenario.text(network.of([found]), ["x.pcap"]).replace("\n#   ", " ")


def test_a_frame_without_a_rate_in_its_header_is_counted_too(tmp_path: Path) -> None:
    found = read(pcap([data(0, b""), data(1, GOOD), data(2, b"")]), tmp_path)
    assert found.stations[0].down.frames == 3
    assert found.said == ["2 data frames with no rate in their header: counted without one"]


def test_rates_of_the_standard() -> None:
    """Beside the data rates that IEEE 802.11 prints."""
    # spec: ieee80211-2020 table 19-39 - MCS 32: 6.0 and 6.7 Mbit/s, one stream, 40 MHz.
    for guard_ns, mbps in ((800, 6.0), (400, 6.0 * 4 / 3.6)):
        assert Mode("ht", 32, 1, 40, guard_ns).mbps() == pytest.approx(mbps)
    radio = header(ht(32, width_40=True, short=True))
    assert radio.mode == Mode("ht", 32, 1, 40, 400)
    assert radio.mode.name is None
    # spec: ieee80211-2020 tables 21-54 and 21-61, ieee80211ax-2021 27.5 - of eight streams.
    for mode, mbps in (
        (Mode("vht", 9, 8, 160, 400), 6933.3),
        (Mode("vht", 9, 5, 80, 800), 1950.0),
        (Mode("he", 11, 8, 160, 800), 9607.8),
    ):
        assert mode.mbps() == pytest.approx(mbps, abs=0.06)
        assert mode.name is None
    # Preamble and one symbol: 36 + 4 x 8 + 4 us, and the extension is of HE and 2.4 GHz alone.
    assert Mode("vht", 9, 8, 160).duration_us(100, lower_band=False) == 36 + 4 * 8 + 4
    assert Mode("vht", 9, 6, 160).duration_us(100, lower_band=False) == 36 + 4 * 6 + 4


def test_airtime_of_many_streams_counts(tmp_path: Path) -> None:
    found = read(pcap([data(0, vht(9, 8)), data(1, GOOD)]), tmp_path)
    psdu = len(mpdu(PAYLOAD)) + 4
    both = [Mode("vht", 9, streams, 80).duration_us(psdu, lower_band=False) for streams in (8, 2)]
    assert found.stations[0].down.airtime_us == pytest.approx(sum(both))
    assert found.stations[0].down.rates == {GOOD_NAME: both[1]}


def test_iw_prints_mcs_32_too() -> None:
    found = rates.told("6.0 MBit/s MCS 32 40MHz")
    assert (found.name, found.guessed) == ("ht20-mcs0-lgi", True)


FRAMES = [data(at, GOOD) for at in range(10)]


@pytest.mark.parametrize(
    ("packet", "says"),
    [
        (b"", "1 packet with a damaged radiotap header"),
        (b"\0\0\x08", "1 packet with a damaged radiotap header"),
        (b"\1" + radiotap(0, b"")[1:] + mpdu(), "1 packet with a damaged radiotap header"),
        (struct.pack("<BBHI", 0, 0, 4, 0) + mpdu(), "1 packet with a damaged radiotap header"),
        (struct.pack("<BBHI", 0, 0, 60_000, 0) + mpdu(), "1 packet with a damaged radiotap header"),
        (struct.pack("<BBHI", 0, 0, 12, 1 << 21) + mpdu(), "1 packet with a damaged radiotap header"),
        (struct.pack("<BBHI", 0, 0, 8, 1 << 31) + mpdu(), "1 packet with a damaged radiotap header"),
        (GOOD, "1 frame without a whole 802.11 header"),
        (GOOD + mpdu()[:9], "1 frame without a whole 802.11 header"),
        (GOOD + mpdu()[:23], "1 data frame without a whole header"),
        (GOOD + mpdu(70_000), "1 frame with a wrong length"),
    ],
)
def test_a_damaged_packet_is_counted_and_the_others_are_used(packet: bytes, says: str, tmp_path: Path) -> None:
    frames = [*FRAMES[:5], (5, packet), *FRAMES[5:]]
    for name, content in (("x.pcap", pcap(frames)), ("x.pcapng", pcapng(frames)), ("b.pcapng", pcapng(frames, ">"))):
        found = read(content, tmp_path, name)
        assert found.stations[0].down.frames == 10
        assert found.said == [says]


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (captures.block(6, b""), "1 packet with a wrong length"),
        (captures.block(6, bytes(16)), "1 packet with a wrong length"),
        (
            captures.block(6, struct.pack("<5I", 0, 0, 0, 5_000, 5_000) + bytes(100)),
            "1 packet with a wrong length",
        ),
        (captures.packet(FRAMES[0], at=3), "1 packet of an interface that the file does not describe"),
        (captures.block(3, struct.pack("<I", 20) + bytes(20)), "1 packet without a time (simple packet blocks)"),
        (
            captures.interface(link=1) + captures.packet((0, bytes(60)), at=1),
            "1 packet of link type 1, without a radiotap header",
        ),
        (
            captures.block(1, b"") + captures.packet(FRAMES[0], at=1),
            "1 packet of an interface that the file does not describe",
        ),
        (
            captures.packet(FRAMES[0])[:-4] + b"\1\2\3\4",
            "1 place with damage: reading went on at the next whole packet",
        ),
        (b"\xde\xad\xbe\xef" * 5, "1 place with damage: reading went on at the next whole packet"),
    ],
)
def test_a_damaged_block_is_counted_and_the_others_are_used(block: bytes, says: str, tmp_path: Path) -> None:
    content = pcapng(FRAMES[:5]) + block + b"".join(captures.packet(one) for one in FRAMES[5:])
    found = read(content, tmp_path, "x.pcapng")
    assert found.stations[0].down.frames == 10
    assert found.said == [says]
    assert found.seconds == pytest.approx(0.009)


def test_blocks_that_nobody_needs_are_passed_over(tmp_path: Path) -> None:
    large = captures.block(0x0BAD, bytes(3 << 20))
    content = pcapng(FRAMES[:5]) + large + captures.block(5, bytes(40)) + captures.packet(FRAMES[5])
    found = read(content, tmp_path, "x.pcapng")
    assert (found.stations[0].down.frames, found.said) == (6, [])


def test_older_packet_blocks_are_read(tmp_path: Path) -> None:
    _, _, high, low = struct.unpack_from("<IIII", captures.packet(FRAMES[0]), 4)[:4]
    content = FRAMES[0][1]
    older = captures.block(2, struct.pack("<HHIIII", 0, 0xFFFF, high, low, len(content), len(content)) + content)
    assert read(pcapng(FRAMES) + older, tmp_path, "x.pcapng").stations[0].down.frames == 11


@pytest.mark.parametrize("form", ["pcap", "pcapng", "big"])
def test_a_cut_file_is_used_up_to_its_end(form: str, tmp_path: Path) -> None:
    whole = {"pcap": pcap(FRAMES), "pcapng": pcapng(FRAMES), "big": pcapng(FRAMES, ">")}[form]
    for cut in (1, 5, len(FRAMES[0][1]) // 2, len(FRAMES[0][1]) + 8):
        found = read(whole[:-cut], tmp_path, f"x.{form}")
        assert found.stations[0].down.frames == 9
        assert found.said == [
            f"the file ends within packet 10, at byte {len(whole) - cut}: it is cut, and the packets before are used"
        ]


def test_a_wrong_length_in_a_pcap_file_costs_one_packet(tmp_path: Path) -> None:
    record = 16 + len(FRAMES[0][1])
    for length in (0xFFFFFFFF, 200_000):
        whole = bytearray(pcap(FRAMES))
        struct.pack_into("<I", whole, 24 + 4 * record + 8, length)
        found = read(bytes(whole), tmp_path)
        assert found.stations[0].down.frames == 9
        assert found.said == ["1 place with damage: reading went on at the next whole packet"]


def test_a_compressed_capture_is_read_and_a_cut_one_up_to_there(tmp_path: Path) -> None:
    packed = gzip.compress(pcap([data(at, GOOD) for at in range(2_000)]))
    assert read(packed, tmp_path, "x.pcap.gz").stations[0].down.frames == 2_000
    found = read(packed[: len(packed) // 2], tmp_path, "x.pcap.gz")
    assert 500 < found.stations[0].down.frames < 2_000
    assert any("the gzip data is damaged or cut" in one for one in found.said)


@pytest.mark.parametrize("orders", ["<<", "<>", "><", ">>"])
@pytest.mark.parametrize("resolutions", [(6, 6), (6, 9), (9, 6), (9, 3)])
def test_sections_have_interfaces_and_resolutions_of_their_own(
    orders: str, resolutions: tuple[int, int], tmp_path: Path
) -> None:
    first = [data(at, GOOD) for at in range(0, 1_001, 10)]
    second = [data(at, GOOD) for at in range(1_000, 2_001, 10)]
    content = b"".join(pcapng(one, *of) for one, *of in zip((first, second), orders, resolutions, strict=True))
    found = read(content, tmp_path, "x.pcapng")
    assert found.seconds == pytest.approx(2.0)
    assert found.stations[0].down.frames == len(first) + len(second)
    assert found.said == []


def test_sections_of_another_day_count_by_the_time_that_they_cover(tmp_path: Path) -> None:
    first = [data(at, GOOD) for at in range(0, 1_001, 10)]
    second = [data(3_600_000 + at, GOOD) for at in range(0, 1_001, 10)]
    for join in (pcapng, pcap):
        found = read(join(first) + join(second), tmp_path)
        assert found.seconds == pytest.approx(2.0)
        assert found.said == ["3.6e+03 s between its sections: only the time within sections counts"]
    # 202 packets of 1,000 bytes in 2 s: 808 kbit/s.
    made = scenario.text(network.of([found]), ["x"])
    assert re.search(r'rate = "785\.\d+ kbit/s"\npayload = "972 B"', made), made


def test_a_pcap_file_of_nanoseconds(tmp_path: Path) -> None:
    assert read(pcap(FRAMES, ">", nano=True), tmp_path).seconds == pytest.approx(0.009)


_HEAD = pcap([])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (_HEAD[:9], "found 9 bytes, expected the 24 of a capture's header"),
        (_HEAD[:20] + struct.pack("<I", 1), "found link type 1, expected 127"),
        (_HEAD, "found no data frame between a station and an access point"),
        (pcap([(0, b"")]), "1 packet with a damaged radiotap header"),
        (_HEAD + struct.pack("<IIII", 0, 0, 9, 9), "the file ends within packet 1, at byte 40"),
        (captures.section() + captures.interface(link=1), "found link type 1, expected 127"),
        (captures.section()[:8] + bytes(20), "found no byte-order magic at byte 8"),
        (captures.section()[:6], "found no byte-order magic at byte 8"),
    ],
)
def test_a_capture_of_which_nothing_can_be_used(content: bytes, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        read(content, tmp_path)


def test_the_command_says_what_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.pcap").write_bytes(pcap([*FRAMES, data(10, he(11, 8))])[:-3])
    assert status(["import", str(tmp_path / "x.pcap"), "-o", str(tmp_path / "x.toml")]) == 0
    assert "left out: x.pcap: the file ends within packet 11" in (tmp_path / "x.toml").read_text().replace(
        "\n#   ", " "
    )
    assert status(["check", str(tmp_path / "x.toml")]) == 0
    capsys.readouterr()


def test_a_capture_without_end_is_read_up_to_a_number_of_packets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packets, "MOST_PACKETS", 7)
    for name, content in (("x.pcap", pcap(FRAMES)), ("x.pcapng", pcapng(FRAMES))):
        found = read(content, tmp_path, name)
        assert found.stations[0].down.frames == 7
        assert found.said == ["more than 7 packets: the others are not read ('editcap' splits it)"]


@pytest.mark.parametrize(
    ("rate", "name"),
    [
        (vht(9, 8), "vht80-mcs9-nss4-lgi"),
        (vht(11, 2), "vht80-mcs9-nss2-lgi"),
        (he(13, 2), "he80-mcs11-nss2-gi0.8"),
        # 86.0 and 43.0 Mbit/s by dual carrier modulation.
        (he(3, 1, dcm=True), "he80-mcs1-nss1-gi0.8"),
        (ht(32, width_40=True), "ht20-mcs0-lgi"),
        (ht(38), "ht20-mcs11-lgi"),
        (legacy(44), "ofdm-24"),
        # 980 subcarriers x 12 bits x 5/6 x 2 streams / 13.6 us = 1441.2 Mbit/s; 802.11ax has 1201.0.
        (captures.eht(13, 2, 80), "he80-mcs11-nss2-gi0.8"),
        (captures.eht(9, 1, 320), "he160-mcs11-nss1-gi0.8"),
        (captures.eht(0, 1, 20), "he20-mcs0-nss1-gi0.8"),
    ],
)
def test_a_station_of_unmodelled_rates_has_the_nearest(rate: bytes, name: str, tmp_path: Path) -> None:
    # 802.11be stations send null-data frames at 24 Mbit/s.
    frames = [data(0, rate), data(1, rate), data(2, legacy(48))]
    made = scenario.text(network.of([read(pcap(frames), tmp_path)]), ["x.pcap"]).replace("\n#   ", " ")
    assert f'rate = "{name}"' in made
    assert f"guess: frames to it are at rates that are not modelled; {name}, the nearest, is used." in made


def test_a_station_without_rates_is_reported(tmp_path: Path) -> None:
    made = scenario.text(network.of([read(pcap([data(0, b""), data(1, b"")]), tmp_path)]), ["x"])
    assert 'rate = "ofdm-6"' in made
    assert "guess: the capture has no rate of this station; ofdm-6 is used." in made


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.25, '"30 s"  # guess: the capture has only 250 ms'),
        (2.0, '"2 s"  # duration of the capture'),
        (700.0, '"600 s"  # guess: the capture has 700 s'),
    ],
)
def test_the_duration_says_where_it_is_from(seconds: float, expected: str, tmp_path: Path) -> None:
    found = dataclasses.replace(read(pcap([data(0, GOOD), data(1, GOOD)]), tmp_path), seconds=seconds)
    made = scenario.text(network.of([found]), ["x"])
    assert f"duration = {expected}\n" in made
