"""From a measured kernel's version to the profile that stands for it."""

import functools
import json
import re

from stillair import _native
from stillair._native import InputError

Version = tuple[int, int]


@functools.cache
def known() -> dict[Version, str]:
    """The profiles of Linux, oldest first."""
    names = json.loads(_native.schema())["definitions"]["kernel"]["enum"]
    found = {}
    for name in names:
        version = re.fullmatch(r"linux-(\d+)\.(\d+)", name)
        if version:
            found[int(version[1]), int(version[2])] = name
    return dict(sorted(found.items()))


def profile(version: Version) -> str:
    """The profile of this version, or of the nearest older one."""
    older = [name for at, name in known().items() if at <= version]
    if not older:
        oldest = next(iter(known().values()))
        raise InputError(f"kernel: found Linux {version[0]}.{version[1]}, expected one that is not older than {oldest}")
    return older[-1]


def is_exact(version: Version) -> bool:
    """Whether the version has a profile of its own."""
    return version in known()
