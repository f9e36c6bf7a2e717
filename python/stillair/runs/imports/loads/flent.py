"""A Flent file: the test that was run is the load to repeat."""

import gzip
import json
import zlib
from collections.abc import Sequence

from stillair._native import InputError
from stillair.runs.imports.facts import Load


def looks_like(data: bytes) -> bool:
    """Whether these are the first bytes of a Flent file."""
    return data[:2] == b"\x1f\x8b" or (data.lstrip()[:1] == b"{" and b'"metadata"' in data)


def read(file: str, data: bytes) -> Sequence[Load]:
    """Its metadata."""
    try:
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        found = json.loads(text)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(
            f"{file}: found what is no Flent file ({error}), expected JSON, or JSON compressed by gzip"
        ) from None
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("NAME"), str):
        raise InputError(f"{file}: found no NAME in metadata, expected the name of Flent's test")
    length = metadata.get("LENGTH")
    host = metadata.get("HOST")
    return [
        Load(
            metadata["NAME"],
            int(length) if isinstance(length, (int, float)) else None,
            host if isinstance(host, str) else None,
            file,
        )
    ]
