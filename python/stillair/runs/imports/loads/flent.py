"""A Flent file: its test becomes the scenario's load."""

import json
import math
from collections.abc import Sequence

from stillair._native import InputError
from stillair.runs.imports.facts import Load
from stillair.text import source

HEAD = 1 << 20
"""Bytes searched for the signs of a Flent file, whose metadata may follow long series."""
MOST_BYTES = 128 << 20
"""Limit of unpacked bytes. An hour of `rrul` with all samples has 20 MB."""
_LONGEST_S = 86_400


def looks_like(head: bytes) -> bool:
    """Reports whether these are the first bytes of a Flent file, unpacked."""
    return head.lstrip()[:1] == b"{" and (b'"metadata"' in head or b'"x_values"' in head or b'"raw_values"' in head)


def read(file: str, data: bytes) -> Sequence[Load]:
    """Returns the test from the metadata; `data` is unpacked."""
    try:
        found = source.parsed(data)
    except ValueError as error:
        raise InputError(
            f"{file}: found a malformed Flent file ({error}), expected JSON, or JSON compressed by gzip or bzip2"
        ) from None
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("NAME"), str):
        raise InputError(f"{file}: found no NAME in metadata, expected the name of Flent's test")
    host = metadata.get("HOST")
    return [
        Load(
            metadata["NAME"],
            _seconds(file, metadata.get("LENGTH")),
            host if isinstance(host, str) else None,
            file,
        )
    ]


def _seconds(file: str, length: object) -> int | None:
    """Returns the length of the test; raises an `InputError` for an impossible length."""
    if length is None or isinstance(length, str):
        return None
    if isinstance(length, bool) or not isinstance(length, int | float):
        raise InputError(f"{file}: LENGTH: found {json.dumps(length)[:60]}, expected the test's length in seconds")
    if not math.isfinite(length) or not 0 <= length <= _LONGEST_S:
        raise InputError(f"{file}: LENGTH: found {length:.6g}, expected the test's length, 0 to {_LONGEST_S} s")
    return round(length)
