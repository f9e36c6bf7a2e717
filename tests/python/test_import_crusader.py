"""Results of crusader as the load to repeat.

These files are made by the structure that crusader's source has. The three results in its own repository (data/v0.crr
to data/v2.crr) were read with the same code.
"""

import json
import random
import struct
from pathlib import Path

import pytest

from stillair import InputError, _native
from stillair.__main__ import status
from stillair.runs.imports import facts, kinds, network, scenario
from stillair.runs.imports.loads import crusader_encoding

MAGIC = struct.pack("<Q", 0x5372AB82AE7C59CB)


def message(value: object) -> bytes:
    """MessagePack as rmp-serde writes it: the shortest form of each."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        if value < 0x80:
            return bytes([value])
        for tag, size in ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
            if value < 1 << 8 * size:
                return bytes([tag]) + value.to_bytes(size, "big")
    if isinstance(value, str):
        return bytes([0xA0 | len(value)]) + value.encode()
    if isinstance(value, dict):
        head = bytes([0x80 | len(value)])
        return head + b"".join(message(key) + message(one) for key, one in value.items())
    assert isinstance(value, list)
    head = bytes([0x90 | len(value)]) if len(value) < 16 else b"\xdc" + struct.pack(">H", len(value))
    return head + b"".join(message(one) for one in value)


def frames(data: bytes) -> bytes:
    """Frames of snappy: the first 100 bytes as they are, the others as a literal."""
    made = b"\xff\x06\x00\x00sNaPpY"
    for kind, part in ((1, data[:100]), (0, data[100:])):
        if not part:
            continue
        content = part if kind else bytes(packed_literal(part))
        chunk = struct.pack("<I", crusader_encoding.masked_crc(part)) + content
        made += bytes([kind]) + len(chunk).to_bytes(3, "little") + chunk
    return made


def packed_literal(part: bytes) -> bytes:
    length, rest = b"", len(part)
    while rest >= 0x80:
        length, rest = length + bytes([rest & 0x7F | 0x80]), rest >> 7
    return length + bytes([rest, 61 << 2]) + struct.pack("<H", len(part) - 1) + part


def time(seconds: float) -> dict[str, int]:
    return {"secs": int(seconds), "nanos": round(seconds % 1 * 1e9)}


def result(version: int = 2, groups: object = None) -> bytes:
    """Two flows each way; 10 and then 5 Mbit/s each, after 1 s."""
    points = [(1.0, 0), (2.0, 0), (3.0, 1_250_000), (4.0, 2_500_000)]
    stream = {"data": [{"time": time(at), "bytes": count} for at, count in points]}
    body = {
        "version": version,
        "generated_by": "Crusader 0.3",
        "config": {
            "stagger": time(0.5),
            "load_duration": time(4),
            "grace_duration": time(2),
            "ping_interval": time(0.005),
            "bandwidth_interval": time(0.06),
        },
        "ipv6": False,
        "server_latency": time(0.001),
        "start": time(0),
        "duration": time(20),
        "stream_groups": [
            {"download": down, "both": both, "streams": [stream, stream]}
            for down, both in ((True, False), (True, True), (False, False), (False, True))
        ]
        if groups is None
        else groups,
        "pings": [
            {"index": at, "sent": time(2 + at / 10), "latency": {"total": time(0.004), "up": time(0.001)}}
            for at in range(20)
        ]
        + [{"index": 20, "sent": time(9), "latency": None}],
    }
    return MAGIC + struct.pack("<Q", version) + frames(message(body))


def oldest() -> bytes:
    """Version 0, in bincode: one download of one flow."""
    points = ((1, 0, 0), (2, 500_000_000, 3_000_000))
    made = MAGIC + struct.pack("<Q4Q", 0, 5, 1, 20, 60) + struct.pack("<QIQI", 0, 0, 9, 0)
    made += struct.pack("<Q??QQ", 1, True, False, 1, len(points))
    made += b"".join(struct.pack("<QIQ", *point) for point in points)
    return made + struct.pack("<QQQI?QI", 2, 0, 1, 0, True, 0, 7_000_000) + struct.pack("<QQI?", 1, 1, 5, False)


def test_the_check_sum() -> None:
    crc = crusader_encoding.masked_crc(b"123456789") - 0xA282EAD8 & 0xFFFFFFFF
    # spec: RFC 3720 and others - CRC-32C of these digits is e3069283.
    assert (crc << 15 | crc >> 17) & 0xFFFFFFFF == 0xE3069283


def test_copies_of_snappy() -> None:
    # "ab", then a copy of five from two before (with an offset of one byte more, two, and four), then "c".
    for copy in (b"\x05\x02", b"\x12\x02\x00", b"\x13\x02\x00\x00\x00"):
        content = b"\x08\x04ab" + copy + b"\x00c"
        assert crusader_encoding._uncompressed(content) == b"abababac"


@pytest.mark.parametrize("version", [1, 2])
def test_a_result(version: int, tmp_path: Path) -> None:
    (tmp_path / "test.crr").write_bytes(result(version))
    (found,) = kinds.read(tmp_path / "test.crr")
    assert isinstance(found, facts.Crusader)
    assert (found.version, found.streams, found.load_s, found.grace_s, found.stagger_s) == (version, 2, 4, 2, 0.5)
    assert found.ping_ms == 5
    assert found.measured == dict.fromkeys(("download", "upload", "both down", "both up"), (20.0, 4.0))
    text = scenario.text(network.of([found]), ["test.crr"])
    assert "It measured 20 Mbit/s (download, 4 ms)." in text.replace("\n#   ", " ")
    flows = [block for block in text.split("\n\n") if '[[flow]]\nkind = "tcp"' in block]
    assert len(flows) == 8
    # 2 s idle, 4 s and the second flow's delay of download, 2 s idle, the same of upload, of both.
    assert 'name = "download-1"\nfrom = "server"\nto = "sta1"\nstart = "2 s"\nstop = "6 s"' in text
    assert 'name = "upload-2"\nfrom = "sta1"\nto = "server"\nstart = "9 s"\nstop = "13 s"' in text
    assert 'name = "both-up-1"\nfrom = "sta1"\nto = "server"\nstart = "15.25 s"' in text
    survey = json.loads(_native.survey(text, "x", []))
    assert survey["name"] == "imported"
    assert 'duration = "21.5 s"' in text
    assert 'interval = "5 ms"\npayload = "16 B"' in text


def test_an_idle_result_and_the_oldest(tmp_path: Path) -> None:
    (tmp_path / "idle.crr").write_bytes(result(groups=[]))
    text = scenario.text(network.of(kinds.read(tmp_path / "idle.crr")), ["idle.crr"])
    assert 'kind = "tcp"' not in text
    assert 'duration = "2 s"' in text
    (tmp_path / "old.crr").write_bytes(oldest())
    (found,) = kinds.read(tmp_path / "old.crr")
    assert isinstance(found, facts.Crusader)
    assert (found.version, found.streams, found.load_s, found.grace_s, found.ping_ms) == (0, 1, 5, 1, 20)
    assert found.measured == {"download": (16.0, 7.0)}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (result()[:-9], r"is damaged \(the last chunk is cut off\), expected one as crusader saves it"),
        (result()[:20], r"is damaged \(the last chunk is cut off\)"),
        (MAGIC, r"is damaged \(it is cut off\)"),
        (result(version=3), "found a crusader result of version 3, expected 0 to 2"),
        (result()[:60] + b"x" + result()[61:], r"is damaged \(the check sum of a chunk is wrong\)"),
        (MAGIC + struct.pack("<Q", 2) + frames(message({"version": 2})), r"is damaged \(no 'config'\)"),
        (result(groups=7), r"is damaged \(no list where one is expected\)"),
        (result(groups=[{"download": True, "both": False, "streams": []}]), r"\(a load of 0 flows for 4 s\)"),
        (oldest()[:-1], r"is damaged \(it is cut off\)"),
        (oldest() + b"x", r"is damaged \(1 bytes after the end\)"),
    ],
)
def test_damage_is_told(data: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.crr").write_bytes(data)
    with pytest.raises(InputError, match=says):
        kinds.read(tmp_path / "x.crr")
    assert status(["import", str(tmp_path / "x.crr")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("whole", [result(), oldest()], ids=["snappy", "bincode"])
def test_no_damage_is_more_than_an_error(whole: bytes, tmp_path: Path) -> None:
    draw = random.Random("crusader")  # noqa: S311 - the same damage each time
    refused = 0
    for _ in range(150):
        broken = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            broken[draw.randrange(16, len(broken))] = draw.randrange(256)
        (tmp_path / "x.crr").write_bytes(bytes(broken))
        try:
            found = kinds.read(tmp_path / "x.crr")
        except InputError as error:
            refused += "\n" not in str(error)
            continue
        assert "imported" in scenario.text(network.of(found), ["x.crr"])
    assert refused > (140 if whole[8] else 20)
