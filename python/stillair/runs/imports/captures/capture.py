"""Rates, retries, airtime and load of each station of a capture."""

import collections
from collections.abc import Iterable, Sequence

from stillair._native import InputError
from stillair.runs.imports.captures import frames, radiotap
from stillair.runs.imports.captures.frames import Frame
from stillair.runs.imports.captures.packets import Left
from stillair.runs.imports.facts import Captured, Heard, Way
from stillair.text.source import Stream

_DATA, _TO_AP, _FROM_AP, _RETRY, _PROTECTED, _ORDER = 2, 1, 2, 0x08, 0x40, 0x80
_FCS, _LLC_SNAP, _CCMP = 4, 8, 16
_MOST_STATIONS = 16_000
"""Most stations of an imported capture."""
_MOST_FRAMES = 1_024
"""Frames of the longest A-MPDU (802.11be)."""


def read(stream: Stream) -> Sequence[Captured]:
    """Returns the stations of a capture; raises an `InputError` if it has none."""
    file = stream.file
    left = Left()
    heard: dict[str, Heard] = {}
    channels: collections.Counter[int] = collections.Counter()
    spans: dict[int, tuple[int, int]] = {}
    protected = False
    for group in _ppdus(frames.read(stream, left)):
        one = group[0]
        begin, end = spans.get(one.section, (one.at_ns, one.at_ns))
        spans[one.section] = min(begin, one.at_ns), max(end, one.at_ns)
        if one.mhz:
            channels[one.mhz] += 1
        way = _way(one, heard, left)
        if way is None:
            continue
        if len(heard) > _MOST_STATIONS:
            raise InputError(f"{file}: found more than {_MOST_STATIONS} stations, expected a capture of one network")
        if one.why:
            left.counts[_without_rate(one.why)] += len(group)
        _add(way, group)
        protected = protected or bool(one.header[1] & _PROTECTED)
    if not heard:
        told = "".join(f"\n{file}: {one}" for one in left.sentences())
        raise InputError(f"{file}: found no data frame between a station and an access point, expected some{told}")
    mhz = channels.most_common(1)[0][0] if channels else None
    seconds, gaps = _covered(list(spans.values()))
    if gaps:
        left.said.append(f"{gaps:.3g} s between its sections: only the time within sections counts")
    return [Captured(seconds, mhz, protected, list(heard.values()), dict(left.counts), file, left.sentences())]


def _without_rate(why: str) -> str:
    if why == radiotap.NO_RATE:
        return "data frames with no rate in their header: counted without one"
    return f"data frames at {why}: not modelled, counted without a rate"


def _covered(spans: list[tuple[int, int]]) -> tuple[float, float]:
    """Returns the seconds within sections, and between them: sections may be hours apart, or overlap."""
    spans.sort()
    covered, gaps, until = 0, 0, spans[0][0]
    for begin, end in spans:
        gaps += max(begin - until, 0)
        covered += max(end - max(begin, until), 0)
        until = max(until, end)
    return covered / 1e9, gaps / 1e9


def _ppdus(found: Iterable[Frame]) -> Iterable[list[Frame]]:
    """Groups frames by PPDU: the frames of an A-MPDU are consecutive and have one receiver."""
    group: list[Frame] = []
    for frame in found:
        if group and not _is_same(group, frame):
            yield group
            group = []
        group.append(frame)
    if group:
        yield group


def _is_same(group: Sequence[Frame], frame: Frame) -> bool:
    first = group[0]
    return (
        frame.aggregate is not None
        and frame.aggregate == first.aggregate
        and frame.header[4:10] == first.header[4:10]
        and frame.mode == first.mode
        and len(group) < _MOST_FRAMES
    )


def _way(frame: Frame, heard: dict[str, Heard], left: Left) -> Way | None:
    """Returns the direction of a unicast data frame; counts other data frames in `left`."""
    header = frame.header
    if header[0] >> 2 & 3 != _DATA:
        return None
    if len(header) < 24:
        left.counts["data frames without a whole header"] += 1
        return None
    ends = header[1] & 3
    receiver, sender = _mac(header[4:10]), _mac(header[10:16])
    if ends == _TO_AP:
        return heard.setdefault(sender, Heard(sender, receiver)).up
    if ends == _FROM_AP and not header[4] & 1:
        return heard.setdefault(receiver, Heard(receiver, sender)).down
    to_many = ends == _FROM_AP
    left.counts[
        "data frames to several stations" if to_many else "data frames neither from an access point nor to one"
    ] += 1
    return None


def _mac(address: bytes) -> str:
    return address.hex(":")


def _add(way: Way, group: Sequence[Frame]) -> None:
    mode = group[0].mode
    way.ppdus += 1
    if (near := group[0].near) is not None:
        way.near[near] = way.near.get(near, 0) + 1
    if mode is not None:
        airtime = mode.duration_us(_psdu(group), (group[0].mhz or 5_000) < 3_000)
        way.airtime_us += airtime
        if mode.name is not None and not group[0].why:
            way.rates[mode.name] = way.rates.get(mode.name, 0.0) + airtime
    for frame in group:
        if frame.header[0] >> 2 & 3 != _DATA or len(frame.header) < 24 or frame.header[0] & 0x40:
            continue  # no data, or no payload
        retry = bool(frame.header[1] & _RETRY)
        way.frames += 1
        way.retried += retry
        way.broken += frame.broken
        if not retry:
            way.packets += 1
            way.payload_bytes += max(frame.length - _overhead(frame.header), 0)


def _psdu(group: Sequence[Frame]) -> int:
    """Bytes of the PPDU; in an A-MPDU each frame has a delimiter, and all but the last are padded.

    Captures do not contain the empty delimiters that senders insert between short frames, so the airtime of
    short frames is underestimated.
    """
    if group[0].aggregate is None:
        return group[0].length
    total = 0
    for at, frame in enumerate(group):
        subframe = 4 + frame.length
        total += subframe + (-subframe % 4 if at + 1 < len(group) else 0)
    return total


def _overhead(header: bytes) -> int:
    """Bytes around the IP packet: MAC header, LLC/SNAP, FCS, and encryption."""
    qos = 2 if header[0] & 0x80 else 0
    more = 4 if qos and header[1] & _ORDER else 0
    return 24 + qos + more + _LLC_SNAP + _FCS + (_CCMP if header[1] & _PROTECTED else 0)
