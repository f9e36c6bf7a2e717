"""What a capture tells of each station: rates, retries, airtime, load."""

import collections
from collections.abc import Iterable, Sequence

from stillair._native import InputError
from stillair.runs.imports.captures import frames
from stillair.runs.imports.captures.frames import Frame
from stillair.runs.imports.facts import Captured, Heard, Way

_DATA, _TO_AP, _FROM_AP, _RETRY, _PROTECTED, _ORDER = 2, 1, 2, 0x08, 0x40, 0x80
_FCS, _LLC_SNAP, _CCMP = 4, 8, 16


def read(file: str, data: bytes) -> Sequence[Captured]:
    """The stations of the capture; an `InputError` if it has none."""
    heard: dict[str, Heard] = {}
    unread: collections.Counter[str] = collections.Counter()
    channels: collections.Counter[int] = collections.Counter()
    first = last = None
    protected = 0
    for group in _ppdus(frames.read(file, data)):
        one = group[0]
        first, last = one.at_ns if first is None else first, one.at_ns
        if one.mhz:
            channels[one.mhz] += 1
        way = _way(one, heard)
        if way is None:
            continue
        if one.mode is None:
            unread["data frames without a rate"] += len(group)
            continue
        _add(way, group)
        protected += bool(one.header[1] & _PROTECTED)
    if not heard or first is None or last is None:
        raise InputError(f"{file}: found no data frame between a station and an access point, expected some")
    mhz = channels.most_common(1)[0][0] if channels else None
    seconds = (last - first) / 1e9
    return [Captured(seconds, mhz, protected > 0, list(heard.values()), dict(unread), file)]


def _ppdus(found: Iterable[Frame]) -> Iterable[list[Frame]]:
    """The frames by the PPDU that they are of: those of one A-MPDU follow each other."""
    group: list[Frame] = []
    for frame in found:
        if group and (frame.aggregate is None or frame.aggregate != group[0].aggregate):
            yield group
            group = []
        group.append(frame)
    if group:
        yield group


def _way(frame: Frame, heard: dict[str, Heard]) -> Way | None:
    """The direction of a data frame to one receiver."""
    header = frame.header
    if len(header) < 24 or header[0] >> 2 & 3 != _DATA:
        return None
    ends = header[1] & 3
    receiver, sender = _mac(header[4:10]), _mac(header[10:16])
    if ends == _TO_AP:
        return heard.setdefault(sender, Heard(sender, receiver)).up
    if ends == _FROM_AP and not header[4] & 1:
        return heard.setdefault(receiver, Heard(receiver, sender)).down
    return None


def _mac(address: bytes) -> str:
    return address.hex(":")


def _add(way: Way, group: Sequence[Frame]) -> None:
    mode = group[0].mode
    assert mode is not None  # noqa: S101 - its caller has looked
    length = _psdu(group)
    airtime = mode.duration_us(length, (group[0].mhz or 5_000) < 3_000)
    way.ppdus += 1
    way.airtime_us += airtime
    if mode.name is not None:
        way.rates[mode.name] = way.rates.get(mode.name, 0.0) + airtime
    for frame in group:
        if frame.header[0] & 0x40:
            continue  # without content
        retry = bool(frame.header[1] & _RETRY)
        way.frames += 1
        way.retried += retry
        way.broken += frame.broken
        if not retry:
            way.packets += 1
            way.payload_bytes += max(frame.length - _overhead(frame.header), 0)


def _psdu(group: Sequence[Frame]) -> int:
    """Bytes of the PPDU; in an A-MPDU each frame has a delimiter, and all but the last are padded.

    Empty delimiters, by which a sender keeps the frames apart, are not in a capture: of short frames the time is less
    than it was.
    """
    if group[0].aggregate is None:
        return group[0].length
    total = 0
    for at, frame in enumerate(group):
        subframe = 4 + frame.length
        total += subframe + (-subframe % 4 if at + 1 < len(group) else 0)
    return total


def _overhead(header: bytes) -> int:
    """Bytes around the IP packet: header, LLC and SNAP, check sequence, and what encryption adds."""
    qos = 2 if header[0] & 0x80 else 0
    more = 4 if qos and header[1] & _ORDER else 0
    return 24 + qos + more + _LLC_SNAP + _FCS + (_CCMP if header[1] & _PROTECTED else 0)
