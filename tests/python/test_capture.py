"""Captures as dissected by Wireshark, and their airtime computed independently of the engine."""

import resource
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from stillair import InputError, RunError, Scenario
from stillair.capture import Capture, capture_points, write_capture
from stillair.runs import bundled
from tshark import BAD, CHECKS, GOOD, fields

# The script is not a module of the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import airtime_from_capture

DATA, ACK, BLOCK_ACK, REQUEST, BEACON, ACTION = "0x0028", "0x001d", "0x0019", "0x0018", "0x0008", "0x000d"
FIELDS = (
    "frame.interface_name", "frame.time_epoch", "frame.cap_len", "wlan.fc.type_subtype", "wlan.fc.retry", "wlan.ta",
    "wlan.ra", "wlan.seq", "wlan.qos.tid", "wlan.fcs.status", "wlan.ba.bm", "wlan.fixed.ssc.sequence",
    "radiotap.flags.badfcs", "radiotap.mactime", "radiotap.mcs.index", "radiotap.mcs.bw", "radiotap.mcs.gi",
    "radiotap.datarate", "radiotap.ampdu.reference", "radiotap.ampdu.flags.last", "wlan_radio.duration",
    "ip.checksum.status", "udp.checksum.status", "icmp.checksum.status", "ip.dsfield.dscp", "ip.proto", "ip.dst",
    "icmp.type", "icmp.seq", "tcp.checksum.status", "_ws.malformed", "_ws.expert.severity",
)  # fmt: skip
ERROR = 8_388_608
WIRED = ("lan", "server-eth0", "ap-eth0")

HOSTS = """
name = "captured"
duration = "1 s"
seed = 7
[channel.wifi]
band = "{band}"
width = "40 MHz"
[node.server]
profile = "linux-4.4"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "airtime", address = "10.0.1.1" }}
[link.lan]
rate = "1 Gbit/s"
delay = "0.1 ms"
"""
STATION = """
[node.{name}]
profile = "linux-4.4"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.{number}", {more} }}
"""
# Traffic ends long before the run does, so that every exchange is complete in the capture.
UDP = """
[[flow]]
kind = "udp"
from = {ends[0]}
to = {ends[1]}
rate = "{rate}"
payload = {payload}
stop = "0.6 s"
dscp = "{dscp}"
"""
PING = """
[[flow]]
kind = "ping"
from = "server"
to = {to}
interval = "0.1 s"
stop = "0.6 s"
dscp = "{dscp}"
"""


TCP = """
[[flow]]
kind = "tcp"
from = {ends[0]}
to = {ends[1]}
stop = "0.6 s"
"""


def tcp(source: str, to: str) -> str:
    return TCP.format(ends=(f'"{source}"', f'"{to}"'))


def udp(source: str, to: str, rate: str = "20 Mbit/s", payload: int = 1470, dscp: str = "CS0") -> str:
    return UDP.format(ends=(f'"{source}"', f'"{to}"'), rate=rate, payload=payload, dscp=dscp)


def scenario(stations: dict[str, str], flows: str, band: str = "5 GHz") -> Scenario:
    text = HOSTS.format(band=band)
    for number, (name, more) in enumerate(stations.items(), start=11):
        text += STATION.format(name=name, number=number, more=more)
    return Scenario(text + flows)


FAST, SLOW = 'rate = "ht20-mcs15-sgi"', 'rate = "ht20-mcs0-lgi"'
CHAIN = 'retry_chain = ["mcs15", "mcs12", "mcs4"]'
SMALL = {"rate": "2 Mbit/s", "payload": 100}
CASES = {
    "clean": scenario(
        {"fast": FAST, "slow": SLOW, "old": 'rate = "ofdm-24"'},
        udp("server", "fast") + udp("server", "slow", "1 Mbit/s") + udp("server", "old", "2 Mbit/s"),
    ),
    "errors": scenario(
        {"fast": f"{FAST}, {CHAIN}, error_rate = 0.6, ack_error_rate = 0.3, retry_limit = 2"},
        udp("server", "fast", "10 Mbit/s") + udp("fast", "server", "5 Mbit/s") + udp("server", "fast", **SMALL),
    ),
    "collisions": scenario(
        {f"up{n}": 'rate = "ht40-mcs7-lgi"' for n in range(6)},
        "".join(udp(f"up{n}", "server", "10 Mbit/s") for n in range(6)),
    ),
    "marks": scenario(
        {"fast": FAST},
        "".join(udp("fast", "server", "8 Mbit/s", dscp=m) + udp("server", "fast", dscp=m) for m in ("CS6", "CS1"))
        + udp("fast", "server", "8 Mbit/s", dscp="CS5"),
    ),
    "pings": scenario(
        {"fast": 'rate = "ht40-mcs31-sgi"', "slow": 'rate = "ofdm-6"'},
        PING.format(to='["fast", "slow"]', dscp="CS0") + PING.format(to='["fast"]', dscp="EF"),
        "2.4 GHz",
    ),
    "old": scenario(
        {"fast": FAST, "b": 'rate = "cck-11"', "older": 'rate = "dsss-1"', "short": 'rate = "cck-5.5-short"'},
        udp("server", "fast")
        + udp("server", "b", "2 Mbit/s")
        + udp("older", "server", "0.2 Mbit/s")
        + udp("fast", "server", "5 Mbit/s")
        + udp("server", "short", "1 Mbit/s"),
        "2.4 GHz",
    ),
    "rts": scenario(
        {f"up{n}": 'rate = "minstrel_ht", rts_threshold = 1000' for n in range(4)},
        "".join(udp(f"up{n}", "server", "10 Mbit/s") for n in range(4)),
    ),
    "tcp": scenario(
        {"fast": f"{FAST}, error_rate = 0.1, ack_error_rate = 0.05", "slow": SLOW},
        tcp("server", "fast") + tcp("fast", "server") + tcp("server", "slow"),
    ),
}


@dataclass
class Seen:
    """A capture and what tshark read in it."""

    case: str
    path: Path
    written: Capture
    frames: list[dict[str, str]]

    def air(self) -> list[dict[str, str]]:
        return [f for f in self.frames if f["frame.interface_name"] == "air-wifi"]


@pytest.fixture(scope="module", params=CASES)
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    path = tmp_path_factory.mktemp("captures") / f"{request.param}.pcapng"
    written = write_capture(CASES[request.param], (), None, 0, path, ["all"], snaplen=0)
    return Seen(request.param, path, written, fields(path, FIELDS))


def test_the_airtime_is_that_of_the_accounts(seen: Seen) -> None:
    measured = airtime_from_capture.airtime(seen.path)["air-wifi"]
    accounts = seen.written.run["air"]["wifi"]
    assert measured["data"] > 0
    for use, nanos in measured.items():
        assert nanos / 1_000 == pytest.approx(accounts[f"{use}_us"], rel=1e-3), use
    if seen.case == "collisions":
        assert measured["collision"] > 10_000_000
    if seen.case == "errors":
        kinds = [frame["wlan.fc.type_subtype"] for frame in seen.air()]
        assert kinds.count(REQUEST) > 5


WIDE = """
name = "wide"
duration = "2 s"
channel.wifi = {{ band = "5 GHz", width = "80 MHz" }}
[node.ap]
profile = "linux-6.6"
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "{scheme}" }}
[node.new]
profile = "linux-6.6"
[node.new.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
scheme = "{scheme}"
rate = "{rate}"
error_rate = 0.1
[node.old]
inherits = "new"
interface.wlan0.rate = "ht40-mcs7-sgi"
"""
WIDE_FLOWS = [("tcp", "ap", "new", ""), ("tcp", "old", "ap", ""), ("udp", "new", "ap", 'rate = "20 Mbit/s"')]


@pytest.mark.parametrize(
    ("scheme", "rate"),
    [
        ("mt76", "he80-mcs11-nss2-gi0.8"),
        ("ath11k", "he40-mcs3-nss3-gi3.2"),
        ("mac80211", "he20-mcs5-nss1-gi1.6"),
        ("ath10k", "vht80-mcs9-nss2-sgi"),
        ("mt76", "vht40-mcs4-nss1-lgi"),
        ("mac80211", "vht80-mcs9-nss4-sgi"),
    ],
)
def test_the_airtime_of_vht_and_he_is_that_of_the_accounts(scheme: str, rate: str, tmp_path: Path) -> None:
    # What is sent ends before the run does: a PPDU that is cut off is in the accounts alone.
    flows = "".join(
        f'[[flow]]\nkind = "{kind}"\nfrom = "{a}"\nto = "{b}"\nstop = "0.5 s"\n{more}\n'
        for kind, a, b, more in WIDE_FLOWS
    )
    path = tmp_path / "wide.pcapng"
    written = write_capture(Scenario(WIDE.format(scheme=scheme, rate=rate) + flows), (), None, 0, path, ["air-wifi"])
    measured = airtime_from_capture.airtime(path)["air-wifi"]
    accounts = written.run["air"]["wifi"]
    assert measured["data"] > 300_000_000
    for use, nanos in measured.items():
        assert nanos / 1_000 == pytest.approx(accounts[f"{use}_us"], rel=1e-3), use
    frames = [frame for _, _, frame in airtime_from_capture.read(path.read_bytes()) if frame is not None]
    longest = max(frame.length for frame in frames if isinstance(frame.rate, airtime_from_capture.Wide))
    assert (longest > 3_000) == (scheme != "mac80211"), "frames of several packets are among them"


def test_every_point_has_its_frames(seen: Seen) -> None:
    found = dict.fromkeys(seen.written.frames, 0)
    for frame in seen.frames:
        found[frame["frame.interface_name"]] += 1
    assert found == seen.written.frames
    assert seen.path.stat().st_size == seen.written.bytes
    assert min(found.values()) > 0
    times = [float(f["frame.time_epoch"]) for f in seen.frames]
    assert times == sorted(times)


def test_nothing_is_malformed_and_only_broken_frames_have_bad_checksums(seen: Seen) -> None:
    for frame in seen.frames:
        if frame["frame.interface_name"] not in WIRED:
            bad = frame["radiotap.flags.badfcs"] == "1"
            assert frame["wlan.fcs.status"] == (BAD if bad else GOOD), frame
        for checksum in ("ip", "udp", "icmp", "tcp"):
            assert frame[f"{checksum}.checksum.status"] in ("", GOOD), frame
    broken = sum(f["radiotap.flags.badfcs"] == "1" for f in seen.frames)
    assert broken > 100 or seen.case not in ("errors", "collisions")
    # A bad check sequence counts as malformed too: without looking at it, nothing is.
    wrong = f"_ws.malformed or _ws.expert.severity >= {ERROR}"
    assert fields(seen.path, ["frame.number", "_ws.expert.message"], wrong, checks=CHECKS[1:]) == []


def test_sequence_numbers_count_up_and_repeats_are_flagged(seen: Seen) -> None:
    numbers: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for frame in seen.air():
        if frame["wlan.fc.type_subtype"] == DATA:
            known = numbers[frame["wlan.ta"], frame["wlan.ra"], frame["wlan.qos.tid"]]
            again = int(int(frame["wlan.seq"]) in known)
            # What the driver sends once more has the bit, even if nothing but RTS was on the air before, or hardware
            # had returned it unsent.
            assert frame["wlan.fc.retry"] == str(again) or (seen.case in ("rts", "errors") and not again), frame
            known.add(int(frame["wlan.seq"]))
    for known in numbers.values():
        assert len(known) < 4096
        assert known == set(range(len(known)))
    repeated = any(f["wlan.fc.retry"] == "1" for f in seen.air())
    assert repeated or seen.case not in ("errors", "collisions")


def test_aggregates_have_one_number_and_end_with_their_last_frame(seen: Seen) -> None:
    last: dict[str, str] = {}
    order = []
    for frame in seen.air():
        reference = frame["radiotap.ampdu.reference"]
        if reference:
            assert frame["wlan.fc.type_subtype"] == DATA
            assert frame["radiotap.mcs.index"], "only HT frames are aggregated"
            assert last.get(reference, "0") == "0", "nothing follows the last frame"
            last[reference] = frame["radiotap.ampdu.flags.last"]
            order.append(int(reference))
    assert set(last.values()) <= {"1"}
    assert order == sorted(order)
    if seen.case != "pings":
        assert len(order) > 2 * len(last) > 0


def test_block_acks_say_which_frames_were_whole(seen: Seen) -> None:
    # By link and number: whether a try of the frame has come whole.
    whole: dict[tuple[str, str, str, str], bool] = {}
    asked: list[dict[str, str]] = []
    checked = 0
    for frame in seen.air():
        if frame["wlan.fc.type_subtype"] == DATA:
            key = (frame["wlan.ta"], frame["wlan.ra"], frame["wlan.qos.tid"], frame["wlan.seq"])
            whole[key] = whole.get(key, False) or frame["radiotap.flags.badfcs"] == "0"
            if not asked or asked[0]["radiotap.ampdu.reference"] != frame["radiotap.ampdu.reference"]:
                asked = []
            asked.append(frame)
            continue
        if frame["wlan.fc.type_subtype"] == BLOCK_ACK and asked and asked[0]["radiotap.ampdu.reference"]:
            assert (frame["wlan.ra"], frame["wlan.ta"]) == (asked[0]["wlan.ta"], asked[0]["wlan.ra"])
            start = int(frame["wlan.fixed.ssc.sequence"])
            bitmap = int.from_bytes(bytes.fromhex(frame["wlan.ba.bm"].replace(":", "")), "little")
            for data in asked:
                key = (data["wlan.ta"], data["wlan.ra"], data["wlan.qos.tid"], data["wlan.seq"])
                bit = bitmap >> (int(data["wlan.seq"]) - start) % 4096 & 1
                assert bit == whole[key], data
                checked += 1
            assert any(data["radiotap.flags.badfcs"] == "0" for data in asked)
        asked = []
    assert checked > 0 or seen.case == "pings"


def test_rates_and_marks_are_those_of_the_scenario(seen: Seen) -> None:
    data = [f for f in seen.air() if f["wlan.fc.type_subtype"] == DATA]
    names = ("radiotap.mcs.index", "radiotap.mcs.bw", "radiotap.mcs.gi", "radiotap.datarate")
    rates = {tuple(f[name] for name in names) for f in data}
    expected = {
        "clean": {("15", "0", "1", "144.444"), ("0", "0", "0", "6.5"), ("", "", "", "24")},
        "errors": {("15", "0", "1", "144.444"), ("12", "0", "1", "86.6667"), ("4", "0", "1", "43.3333")},
        "collisions": {("7", "1", "0", "135")},
        "marks": {("15", "0", "1", "144.444")},
        "pings": {("31", "1", "1", "600"), ("", "", "", "6")},
        "tcp": {("15", "0", "1", "144.444"), ("0", "0", "0", "6.5")},
        "old": {("15", "0", "1", "144.444"), ("", "", "", "11"), ("", "", "", "5.5"), ("", "", "", "1")},
    }
    if seen.case == "rts":
        # Minstrel-HT tries what an HT station of two streams can.
        assert ("0", "0", "0", "6.5") in rates
        assert any(int(mcs) >= 11 and (bw, gi) == ("1", "1") for mcs, bw, gi, _ in rates), rates
        assert all(int(mcs) < 16 for mcs, *_ in rates)
    else:
        assert rates == expected[seen.case]
    # TID: the upper three bits of the code point; voice, which is 6, is not aggregated.
    marks = {(f["ip.dsfield.dscp"], f["wlan.qos.tid"]) for f in data}
    assert marks == {"marks": {("48", "6"), ("8", "1"), ("40", "5")}, "pings": {("0", "0"), ("46", "5")}}.get(
        seen.case, {("0", "0")}
    )
    assert all(not f["radiotap.ampdu.reference"] for f in data if f["wlan.qos.tid"] == "6")


def test_wireshark_reckons_the_same_durations(seen: Seen, tmp_path: Path) -> None:
    # One point alone: Wireshark takes frames of one time and rate for an A-MPDU, at whatever point they were seen.
    path = tmp_path / "air.pcapng"
    write_capture(CASES[seen.case], (), None, 0, path, ["air-wifi"])
    frames = [frame for _, _, frame in airtime_from_capture.read(path.read_bytes()) if frame is not None]
    rows = fields(path, ["wlan_radio.duration"])
    # Frames that collided are taken for an A-MPDU too.
    at = Counter(frame.start for frame in frames)
    checked = 0
    for frame, row in zip(frames, rows, strict=True):
        # It leaves out the signal extension, and with the short guard interval the rounding to legacy symbols; at
        # 40 MHz it takes twice the bits of 20 MHz for a symbol, which are fewer than there are.
        if frame.reference is None and at[frame.start] == 1 and (len(frame.rate) == 2 or frame.rate[1:] == (20, 0)):
            mine = airtime_from_capture.duration(frame.rate, frame.length, False)
            assert mine == 1_000 * int(row["wlan_radio.duration"])
            checked += 1
    assert checked > 0


def test_pings_on_the_air_are_those_of_the_wire(seen: Seen) -> None:
    if seen.case != "pings":
        return
    kinds: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for frame in seen.frames:
        if frame["icmp.type"]:
            kinds[frame["frame.interface_name"]].add((frame["icmp.type"], frame["ip.dst"], frame["icmp.seq"]))
    assert kinds["lan"] == kinds["air-wifi"] == kinds["ap-wlan0"] == kinds["fast-wlan0"] | kinds["slow-wlan0"]
    requests = [{(to, seq) for kind, to, seq in kinds[point] if kind == "8"} for point in ("fast-wlan0", "slow-wlan0")]
    assert requests[0]
    assert requests[1]
    assert not requests[0] & requests[1]


def test_a_window_and_a_limit_keep_captures_small(tmp_path: Path) -> None:
    path = tmp_path / "small.pcapng"
    whole = write_capture(CASES["errors"], (), None, 0, tmp_path / "whole.pcapng", snaplen=0)
    small = write_capture(CASES["errors"], (), None, 0, path, window=("0.2 s", "0.4 s"), snaplen=160)
    assert small.run == whole.run
    assert 0 < small.bytes < whole.bytes // 8
    frames = fields(path, FIELDS, checks=CHECKS[1:])
    assert len(frames) == small.frames["air-wifi"] < whole.frames["air-wifi"]
    assert all(int(f["frame.cap_len"]) <= 160 for f in frames)
    assert all(float(f["frame.time_epoch"]) >= 0.2 for f in frames)
    # An answer goes with what it answers, even if the window has closed in between.
    late = [f for f in frames if float(f["frame.time_epoch"]) >= 0.4]
    assert all(f["wlan.fc.type_subtype"] in (ACK, BLOCK_ACK) for f in late)
    assert len(late) <= 1
    assert not any(f["_ws.malformed"] for f in frames)
    # Airtime does not depend on the truncation of frames.
    within = airtime_from_capture.airtime(path)["air-wifi"]
    whole_time = airtime_from_capture.airtime(tmp_path / "whole.pcapng")["air-wifi"]
    assert 0 < within["data"] < whole_time["data"]


def test_a_capture_is_of_the_run_that_was_asked_for(tmp_path: Path) -> None:
    case = CASES["errors"]
    runs = case.run(runs=2, seed=5, jobs=1).runs
    overrides = {"flow.0.payload": "700"}
    other = write_capture(case, overrides, 5, 1, tmp_path / "other.pcapng")
    same = write_capture(case, (), 5, 1, tmp_path / "a.pcapng")
    again = write_capture(case, (), 5, 1, tmp_path / "b.pcapng")
    assert same.run == runs[1] == again.run != other.run
    assert (tmp_path / "a.pcapng").read_bytes() == (tmp_path / "b.pcapng").read_bytes()


def test_a_capture_that_fails_leaves_nothing_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "of-yesterday.pcapng"
    path.write_text("yesterday's")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, hard))
    try:
        with pytest.raises(RunError, match=r"of-yesterday\.pcapng: the capture could not be written: File too large"):
            write_capture(CASES["errors"], (), None, 0, path, snaplen=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "yesterday's"


def test_points_are_listed_and_wrong_requests_explained(tmp_path: Path) -> None:
    case = CASES["clean"]
    points = ["air-wifi", "ap-wlan0", "fast-wlan0", "slow-wlan0", "old-wlan0", "lan", "server-eth0", "ap-eth0"]
    assert capture_points(case) == points
    path = tmp_path / "never.pcapng"
    with pytest.raises(InputError, match='capture point: found "fast", expected all or one of air-wifi, ap-wlan0'):
        write_capture(case, (), None, 0, path, ["fast"])
    with pytest.raises(InputError, match='window: found "soon", expected a time'):
        write_capture(case, (), None, 0, path, window=("soon", None))
    with pytest.raises(InputError, match="window: it ends before it begins"):
        write_capture(case, (), None, 0, path, window=("0.5 s", "0.5 s"))
    with pytest.raises(InputError, match="snaplen: found 100, expected 0 for all or at least 160"):
        write_capture(case, (), None, 0, path, snaplen=100)
    with pytest.raises(InputError, match="cannot be written there"):
        write_capture(case, (), None, 0, tmp_path / "no" / "folder.pcapng")
    assert not path.exists()


def test_the_airtime_script_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    write_capture(CASES["pings"], (), None, 0, path)
    whole = path.read_bytes()
    for content, says in [(b"text", "not a pcapng file"), (whole[:-5], "cut off"), (whole[:2002], "cut off")]:
        path.write_bytes(content)
        done = subprocess.run(
            [sys.executable, airtime_from_capture.__file__, path], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert says in done.stderr
        assert done.stderr.count("\n") == 1
    path.unlink()
    done = subprocess.run(
        [sys.executable, airtime_from_capture.__file__, path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, f"{path}: No such file or directory\n")


def test_without_air_every_wire_is_captured(tmp_path: Path) -> None:
    text = """
name = "wires"
duration = "1 s"
[link.left]
kind = "veth"
[link.right]
rate = "100 Mbit/s"
delay = "1 ms"
[node.a]
profile = "linux-6.1"
interface.eth0 = { link = "left", address = "10.0.0.1" }
[node.router]
profile = "linux-6.1"
forward = true
interface.eth0 = { link = "left", address = "10.0.0.2" }
interface.eth1 = { link = "right", address = "10.0.1.2" }
[node.b]
profile = "linux-6.1"
interface.eth0 = { link = "right", address = "10.0.1.1" }
[[flow]]
kind = "ping"
from = "a"
to = "b"
interval = "0.1 s"
"""
    captured = write_capture(Scenario(text), (), None, 0, tmp_path / "wires.pcapng")
    assert set(captured.frames) == {"left", "right"}
    assert min(captured.frames.values()) >= 18


def test_of_hidden_stations_a_capture_tells_the_sum_alone(tmp_path: Path) -> None:
    """Nobody sees in a capture who hears whom: the help says so, and the sum of all uses agrees to a thousandth."""
    overrides = {"duration": "2 s", "warm_up": "0 s"}
    seen = write_capture(bundled.scenario("hidden"), overrides, None, 0, tmp_path / "x.pcapng")
    mine = airtime_from_capture.airtime(tmp_path / "x.pcapng")["air-wifi"]
    accounts = dict(seen.run["air"]["wifi"])
    assert accounts["overlap_us"] > 0 == accounts["collision_us"]
    assert mine["collision"] > 1_000 * accounts["overlap_us"]
    used = sum(us for use, us in accounts.items() if use not in ("idle_us", "contention_us"))
    assert sum(mine.values()) / 1_000 == pytest.approx(used, rel=1e-3)
    helped = subprocess.run(
        [sys.executable, airtime_from_capture.__file__, "--help"], capture_output=True, text=True, check=True
    )
    assert "does not tell who hears whom" in " ".join(helped.stdout.split())
