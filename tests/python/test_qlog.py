"""qlog of QUIC flows, and the figures of a run for the paper on them."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError
from stillair.cli.publish.export import export
from stillair.results import qlog
from stillair.runs import bundled
from stillair.runs.result_writer import ResultWriter
from stillair.runs.scenario import Overrides, Scenario
from stillair_lab.papers.measure import quic

LAB = bundled.scenario("bquic-lab")
SHORT = [("duration", "2 s"), ("flow.0.bytes", "300 kB"), ("record.quic", "true")]


def keep(path: Path, overrides: Overrides, scenario: Scenario = LAB) -> None:
    """A result folder of one run."""
    writer = ResultWriter(path, scenario, overrides, 1)
    scenario.run(1, overrides=overrides, series=True, keep=writer.keep)
    writer.finish()


def records(path: Path) -> list[dict[str, Any]]:
    """A JSON text sequence, each record after its separator."""
    parts = path.read_text(encoding="utf-8").split("\x1e")
    assert parts[0] == ""
    return [json.loads(part) for part in parts[1:]]


def test_a_transfer_as_qlog(tmp_path: Path) -> None:
    result = tmp_path / "lab"
    keep(result, SHORT)
    (path,) = export("qlog", result, tmp_path, None, None)
    header, *events = records(path)
    assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
    times = [event["time"] for event in events]
    assert times == sorted(times)
    sent = [e["data"]["header"]["packet_number"] for e in events if e["name"] == "transport:packet_sent"]
    assert sent == list(range(1, len(sent) + 1))
    assert len(sent) > 300_000 / 1350
    ranges = [
        bounds
        for e in events
        if e["name"] == "transport:packet_received"
        for frame in e["data"]["frames"]
        for bounds in frame["acked_ranges"]
    ]
    # Each packet is acknowledged once, in order.
    assert ranges[0][0] == 1
    assert all(low <= high for low, high in ranges)
    assert all(before[1] < after[0] for before, after in pairwise(ranges))
    windows = [e["data"]["congestion_window"] for e in events if e["name"] == "recovery:metrics_updated"]
    assert windows[0] == 32 * 1460
    assert max(windows) > windows[0]


def test_a_real_stack_has_the_same_events(tmp_path: Path) -> None:
    result = tmp_path / "quinn"
    access_point = "node.ap.interface.wlan0"
    short = [(f"{access_point}.scheme", "fifo"), (f"{access_point}.txqueuelen", "60"), ("flow.0.bytes", "4 MB")]
    keep(result, [*short, ("record.quic", "true")], bundled.scenario("quic-quinn"))
    (path,) = export("qlog", result, tmp_path, None, None)
    _, *events = records(path)
    named = {name: [e["data"] for e in events if e["name"] == name] for name in {e["name"] for e in events}}
    assert set(named) == {
        "transport:packet_sent",
        "transport:packet_received",
        "recovery:packet_lost",
        "recovery:metrics_updated",
    }
    kinds = {
        name: Counter(data["header"]["packet_type"] for data in named[f"transport:packet_{name}"])
        for name in ("sent", "received")
    }
    # The hello; the certificates in what is left of that datagram and in three more, the last with the first data.
    assert (kinds["sent"]["initial"], kinds["sent"]["handshake"]) == (1, 4)
    # The hello, an acknowledgement of the server's; acknowledgements of the certificates, and the end.
    assert (kinds["received"]["initial"], kinds["received"]["handshake"]) == (2, 4)
    assert set(kinds["sent"]) == set(kinds["received"]) == {"initial", "handshake", "1RTT"}
    # A level has its own numbers, each once.
    for name in kinds:
        numbers = Counter(tuple(data["header"].values()) for data in named[f"transport:packet_{name}"])
        assert max(numbers.values()) == 1
    short = [data for data in named["transport:packet_sent"] if data["header"]["packet_type"] == "1RTT"]
    sent = {data["header"]["packet_number"] for data in short}
    lost = {data["header"]["packet_number"] for data in named["recovery:packet_lost"]}
    acknowledged = {
        number
        for data in named["transport:packet_received"]
        for frame in data["frames"]
        for low, high in frame["acked_ranges"]
        for number in range(low, high + 1)
    }
    assert len(lost) > 20
    assert lost <= sent
    assert acknowledged <= sent
    assert not acknowledged & lost
    # What was under way at the end is neither.
    assert len(sent) - len(acknowledged) - len(lost) < 100
    assert max(data["congestion_window"] for data in named["recovery:metrics_updated"]) > 20_000


def test_without_a_record_there_is_no_qlog(tmp_path: Path) -> None:
    result = tmp_path / "lab"
    keep(result, SHORT[:-1])
    with pytest.raises(InputError, match=r"\[record\] quic = true"):
        export("qlog", result, tmp_path, None, None)


def test_ranges() -> None:
    assert qlog.ranges([1, 2, 3, 5, 8, 9]) == [[1, 3], [5, 5], [8, 9]]


def test_peaks_of_gaps() -> None:
    gaps = [0] * 200
    gaps[9], gaps[10], gaps[48], gaps[120] = 40, 30, 60, 1
    assert quic.modes(gaps) == [95.0, 485.0]
    # What is beside a peak is none, and neither is what is hardly there.
    gaps[48] = 0
    assert quic.modes(gaps) == [95.0, 1205.0]
    gaps[9] = 400
    assert quic.modes(gaps) == [95.0]
    gaps[9], gaps[48] = 40, 60
    run = {"quic": {"a": {"gaps": [*gaps, 7], "datagrams_back": 100, "transfer_s": 2.0, "loss_percent": 0.5}}}
    assert quic.of_run(run, "gaps", "mode1") == 95.0
    assert quic.of_run(run, "gaps", "mode2") == 485.0
    assert quic.of_run(run, "acks_20ms", "mean") == 1.0
    assert quic.of_run(run, "loss_percent", "mean") == 0.5
    assert quic.of_run(run, "srtt_ms", "mean") is None
    # Two gaps of equal number: half their difference over their mean.
    even = [0] * 200
    even[0], even[2] = 5, 5
    assert quic.variation(even) == pytest.approx(10 / 15)
