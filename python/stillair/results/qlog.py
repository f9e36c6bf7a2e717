"""qlog of QUIC flows, for qvis: packets sent, received and lost by the data sender, and its window.

Requires `[record] quic`. The file is a JSON text sequence: each record starts with a record separator, and
the first is a header.
"""

# spec: draft-ietf-quic-qlog-main-schema (version 0.3), draft-ietf-quic-qlog-quic-events; rfc7464 (JSON text sequences).

import json
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from stillair._native import InputError, __version__
from stillair.text import output, shape

_SEPARATOR = "\x1e"
_WHOLE, _NUMBER = shape.whole(), shape.maybe(shape.number)

_TRACES = shape.both(
    shape.record({}),
    *(
        shape.columns(columns, rest=shape.unread)
        for columns in (
            {"sent_t_s": shape.number, "sent_number": _WHOLE, "sent_bytes": _WHOLE},
            {"back_t_s": shape.number, "back_number": _WHOLE, "back_bytes": _WHOLE, "back_acked": shape.whole(-1)},
            {"lost_t_s": shape.number, "lost_number": _WHOLE},
            {
                **dict.fromkeys(("long_row", "long_number", "long_bytes"), _WHOLE),
                "long_back": shape.truth,
                "long_type": shape.text,
            },
            {"t_s": shape.number, **dict.fromkeys(("cwnd_bytes", "in_flight_bytes", "srtt_ms"), _NUMBER)},
        )
    ),
)

SHAPE = shape.table(shape.record({}, {"traces": shape.maybe(_TRACES)}))
"""QUIC flows of a run by name."""

Event = tuple[float, str, Mapping[str, Any]]
"""Time in s, name, data."""


def write(path: Path, flow: str, summary: Mapping[str, Any], title: str) -> None:
    """Writes the qlog of one flow, as seen by its sender."""
    traces = summary.get("traces")
    if traces is None:
        raise InputError(f"{flow}: its datagrams were not recorded: add [record] quic = true to the scenario")
    with output.text_file(path) as file:
        for record in (_header(flow, title), *(_record(event) for event in _events(traces))):
            file.write(f"{_SEPARATOR}{json.dumps(record, separators=(',', ':'))}\n")


def _header(flow: str, title: str) -> dict[str, Any]:
    return {
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": title,
        "generator": f"Stillair {__version__}",
        "trace": {
            "title": flow,
            "vantage_point": {"name": flow, "type": "server"},
            "common_fields": {"time_format": "relative", "reference_time": 0, "ODCID": flow.encode().hex()},
        },
    }


def _record(event: Event) -> dict[str, Any]:
    at, name, data = event
    return {"time": round(at * 1000, 6), "name": name, "data": data}


def _events(traces: Mapping[str, Sequence[Any]]) -> list[Event]:
    """All events by time. Simultaneous events keep the order of the parts below."""
    parts = (_received(traces), _lost(traces), _metrics(traces), _sent(traces))
    return sorted((event for part in parts for event in part), key=itemgetter(0))


def _packet(kind: str, number: int, length: int, frames: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {
        "header": {"packet_type": kind, "packet_number": number},
        "raw": {"length": length},
        "frames": frames,
    }


def _long(traces: Mapping[str, Sequence[Any]], back: bool) -> dict[int, list[Mapping[str, Any]]]:
    """Handshake packets, by the row of their datagram among the sent or received ones.

    Their frames are unknown.
    """
    found: dict[int, list[Mapping[str, Any]]] = {}
    names = ("long_row", "long_back", "long_type", "long_number", "long_bytes")
    for row, came_back, kind, number, length in zip(*(traces[name] for name in names), strict=True):
        if came_back == back:
            found.setdefault(row, []).append(_packet(kind, number, length, []))
    return found


def _short_bytes(length: int, long: Sequence[Mapping[str, Any]]) -> int:
    """Bytes of a datagram outside its handshake packets: the length of its 1-RTT packet, or 0."""
    rest: int = length - sum(packet["raw"]["length"] for packet in long)
    return rest


def _sent(traces: Mapping[str, Sequence[Any]]) -> Iterator[Event]:
    handshake = _long(traces, back=False)
    rows = zip(traces["sent_t_s"], traces["sent_number"], traces["sent_bytes"], strict=True)
    for row, (at, number, length) in enumerate(rows):
        long = handshake.get(row, [])
        for packet in long:
            yield at, "transport:packet_sent", packet
        if rest := _short_bytes(length, long):
            frames: list[Mapping[str, Any]] = [{"frame_type": "stream", "stream_id": 0, "length": rest}]
            yield at, "transport:packet_sent", _packet("1RTT", number, rest, frames)


def _received(traces: Mapping[str, Sequence[Any]]) -> Iterator[Event]:
    """Received datagrams with their acknowledgements.

    Only the newest acknowledged packet is known. All packets up to it that were not declared lost count as
    acknowledged.
    """
    # Each encryption level has its own packet numbers; acknowledgements and losses are those of 1-RTT
    # packets.
    sent_long, handshake = _long(traces, back=False), _long(traces, back=True)
    rows_sent = enumerate(zip(traces["sent_number"], traces["sent_bytes"], strict=True))
    sent = {number for row, (number, length) in rows_sent if _short_bytes(length, sent_long.get(row, []))}
    lost = set(traces["lost_number"])
    known = -1
    rows = zip(traces["back_t_s"], traces["back_number"], traces["back_bytes"], traces["back_acked"], strict=True)
    for row, (at, number, length, largest) in enumerate(rows):
        long = handshake.get(row, [])
        for packet in long:
            yield at, "transport:packet_received", packet
        rest = _short_bytes(length, long)
        if not rest:
            continue
        frames: list[Mapping[str, Any]] = []
        if largest > max(known, 0):
            # Numbers may have gaps: quinn skips some on purpose.
            fresh = [n for n in range(known + 1, largest + 1) if n in sent and n not in lost]
            frames.append({"frame_type": "ack", "acked_ranges": ranges(fresh)})
            known = largest
        yield at, "transport:packet_received", _packet("1RTT", number, rest, frames)


def ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Groups ascending numbers into inclusive ranges."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def _lost(traces: Mapping[str, Sequence[Any]]) -> Iterator[Event]:
    for at, number in zip(traces["lost_t_s"], traces["lost_number"], strict=True):
        header = {"packet_type": "1RTT", "packet_number": number}
        yield at, "recovery:packet_lost", {"header": header}


def _metrics(traces: Mapping[str, Sequence[Any]]) -> Iterator[Event]:
    rows = zip(traces["t_s"], traces["cwnd_bytes"], traces["in_flight_bytes"], traces["srtt_ms"], strict=True)
    for at, window, in_flight, srtt in rows:
        data = {"congestion_window": window, "bytes_in_flight": in_flight, "smoothed_rtt": srtt}
        yield at, "recovery:metrics_updated", data
