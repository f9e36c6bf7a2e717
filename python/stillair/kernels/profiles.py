"""Profiles of Linux releases, by version."""

import functools
import json
import re

from stillair import _native
from stillair._native import InputError

Version = tuple[int, int]


@functools.cache
def known() -> dict[Version, str]:
    """Returns the profiles of Linux releases, oldest first."""
    names = json.loads(_native.schema())["definitions"]["kernel"]["enum"]
    found = {}
    for name in names:
        version = re.fullmatch(r"linux-(\d+)\.(\d+)", name)
        if version:
            found[int(version[1]), int(version[2])] = name
    return dict(sorted(found.items()))


def profile(version: Version) -> str:
    """Returns the profile of this version, or of the closest older release."""
    older = [name for at, name in known().items() if at <= version]
    if not older:
        oldest = next(iter(known().values()))
        raise InputError(f"kernel: found Linux {version[0]}.{version[1]}, expected {oldest} or newer")
    return older[-1]


def is_exact(version: Version) -> bool:
    """Returns true if this exact version has a profile."""
    return version in known()
