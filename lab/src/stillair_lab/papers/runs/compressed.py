"""Runs in little memory: long parts are kept as compressed text, and parsed on each access.

Hundreds of runs are held until all are judged; parsed, each would take ten times the memory of its text.
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
# Keys that no claim reads, larger than all that are read.
_UNREAD = ("rc_stats", "qdiscs", "losses")
_UNREAD_SERIES = ("stations", "drops", "queues")
# The fastest level saves 90 % of these texts, the best one hardly more.
_LEVEL = 1


class PackedRun(Mapping[str, Any]):
    """A run with its numbers and compressed samples, without the parts that no claim reads."""

    def __init__(self, text: str) -> None:
        """Packs a run's report."""
        run: dict[str, Any] = json.loads(text)
        series = run.pop("series", None)
        # Compress each flow separately: a text of megabytes would leave a hole in the heap that the next one
        # does not fit.
        self._flows = [_pack(flow) for flow in series["flows"]] if series else []
        self._series = series and series | {key: [] for key in ("flows", *_UNREAD_SERIES)}
        self._short = {key: value for key, value in run.items() if key not in (*_LONG, *_UNREAD)}
        self._long = {key: _pack(run[key]) for key in _LONG if key in run}

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - JSON
        """A value of the report; long ones are parsed anew each time."""
        return _read(self._long[key]) if key in self._long else self._short[key]

    def __iter__(self) -> Iterator[str]:
        """Keys of the report."""
        yield from self._short
        yield from self._long

    def __len__(self) -> int:
        """Number of keys."""
        return len(self._short) + len(self._long)

    def series(self) -> Series:
        """Series of the run, only with the flows. Raises `InputError` without series."""
        if self._series is None:
            raise InputError(NO_SERIES)
        return Series(self._series | {"flows": [_read(flow) for flow in self._flows]})


def _pack(value: object) -> bytes:
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), _LEVEL)


def _read(packed: bytes) -> Any:  # noqa: ANN401 - JSON
    return json.loads(zlib.decompress(packed))
