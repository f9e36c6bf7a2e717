"""Frames of a capture with their 802.11 headers, without their payload."""

from collections.abc import Iterator
from typing import NamedTuple

from stillair.runs.imports.captures import packets, radiotap
from stillair.runs.imports.captures.packets import Left
from stillair.runs.imports.rates import Mode
from stillair.text.source import Stream

_HEADER = 36
"""Bytes kept of a frame: the longest header of a data frame."""
_SHORTEST = 10
"""Bytes of the shortest header, of an acknowledgement."""
_LONGEST = 65_535
"""Upper limit of the length of a frame."""

looks_like = packets.looks_like


class Frame(NamedTuple):
    """A frame as the capturing radio received it."""

    number: int
    """Counted from 1, as Wireshark does."""
    section: int
    at_ns: int
    mode: Mode | None
    """Rate; `None` if the header has none, or its durations are unknown."""
    why: str
    """Reason why the rate is not modelled; empty if it is."""
    mhz: int | None
    length: int
    """Length of the MPDU with its check sequence."""
    broken: bool
    aggregate: int | None
    """Number of its A-MPDU."""
    header: bytes
    """The first bytes of the MPDU."""
    near: str | None
    """Nearest modelled rate, if the frame's is known but not modelled."""


def read(stream: Stream, left: Left) -> Iterator[Frame]:
    """Yields the frames; counts damaged packets in `left` by reason."""
    for number, section, at_ns, kept, original in packets.Reader(stream, left):
        try:
            radio = radiotap.read(kept)
        except ValueError:
            left.counts["packets with a damaged radiotap header"] += 1
            continue
        length = original - radio.length + (0 if radio.has_fcs else 4)
        header = kept[radio.length : radio.length + _HEADER]
        if len(header) < _SHORTEST:
            left.counts["frames without a whole 802.11 header"] += 1
        elif not len(kept) <= original <= _LONGEST:
            left.counts["frames with a wrong length"] += 1
        else:
            rate = radio.mode, radio.why, radio.mhz
            yield Frame(number, section, at_ns, *rate, length, radio.broken, radio.aggregate, header, radio.near)
