"""A run as the papers keep it: what it reports at length is compressed text, read again whenever it is asked for.

Hundreds of runs wait until all are judged, and parsed each would take ten times the memory of its text.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from stillair._native import InputError
from stillair.results.result import NO_SERIES
from stillair.results.series import Series

# Samples; the rest are a few numbers for each station or flow.
_LONG = ("sockets", "queues", "exchanges", "sojourn", "quic", "flows")
# Nothing reads these of a run, and of its series: more text than all that is read.
_UNREAD = ("rc_stats", "qdiscs", "losses")
_UNREAD_SERIES = ("stations", "drops", "queues")
# The fastest level takes nine tenths off these texts, and the best one not much more.
_LEVEL = 1


class PackedRun(Mapping[str, Any]):
    """A run that takes the memory of its numbers and of its compressed samples; what no claim reads is left out."""

    def __init__(self, text: str) -> None:
        """Packs a run as the engine reports it."""
        run: dict[str, Any] = json.loads(text)
        series = run.pop("series", None)
        # Each flow by itself: a text of megabytes leaves a hole in the heap that the next one does not fit into.
        self._flows = [_pack(flow) for flow in series["flows"]] if series else []
        self._series = series and series | {key: [] for key in ("flows", *_UNREAD_SERIES)}
        self._short = {key: value for key, value in run.items() if key not in (*_LONG, *_UNREAD)}
        self._long = {key: _pack(run[key]) for key in _LONG if key in run}

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - JSON
        """What the run reports; of what is long a new copy each time."""
        return _read(self._long[key]) if key in self._long else self._short[key]

    def __iter__(self) -> Iterator[str]:
        """The keys of the report."""
        yield from self._short
        yield from self._long

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._short) + len(self._long)

    def series(self) -> Series:
        """Its series, with the flows and nothing else; an `InputError` if it has none."""
        if self._series is None:
            raise InputError(NO_SERIES)
        return Series(self._series | {"flows": [_read(flow) for flow in self._flows]})


def _pack(value: object) -> bytes:
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), _LEVEL)


def _read(packed: bytes) -> Any:  # noqa: ANN401 - JSON
    return json.loads(zlib.decompress(packed))
