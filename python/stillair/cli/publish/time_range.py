"""Part of a run, written as `10 s..10.05 s`."""

import re

from stillair._native import InputError


def parse(text: str) -> tuple[int, int]:
    """Parses two times such as `10 s..10.05 s`, in ns."""
    units = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
    found = re.fullmatch(r"\s*([\d.]+)\s*([nmu]?s)\s*\.\.\s*([\d.]+)\s*([nmu]?s)\s*", text)
    try:
        begin, end = (round(float(found[n]) * units[found[n + 1]]) for n in (1, 3)) if found else (0, 0)
    except (ValueError, OverflowError):
        begin, end = 0, 0
    if begin >= end:
        raise InputError(f'--window: found "{text}", expected two times, the later second, such as "10 s..10.05 s"')
    return begin, end
