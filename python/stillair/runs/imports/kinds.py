"""Which reader a file is for, by its content."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from stillair._native import InputError
from stillair.runs.imports import iw, qdiscs, settings
from stillair.runs.imports.captures import capture, frames
from stillair.runs.imports.facts import Fact
from stillair.runs.imports.loads import crusader, flent
from stillair.runs.imports.openwrt import uci


class Kind(NamedTuple):
    """A kind of text."""

    name: str
    sign: str
    """What one of its lines looks like, as a pattern."""
    read: Callable[[str, str], Sequence[Fact]]


KINDS = (
    Kind("iw dev INTERFACE station dump", r"^Station [0-9a-fA-F:]{17}", iw.stations),
    Kind("iw dev INTERFACE link", r"^Connected to [0-9a-fA-F:]{17} ", iw.link),
    Kind("iw phy", r"^Wiphy \S+", iw.phys),
    Kind("iw dev", r"^\s*Interface \S+$", iw.interfaces),
    Kind("tc -j -s qdisc", r"^\s*\[?\s*\{[^{}]*\"kind\"|^\s*\[\s*\]\s*$", qdiscs.read),
    Kind("OpenWrt's /etc/config/wireless, sqm, network", r"^config \S+", uci.read),
    Kind("sysctl net.ipv4", r"^net[./]\w+[./]\S+\s*=", settings.sysctl),
    Kind("ethtool", r"^(driver: |(Features|Coalesce parameters|Ring parameters|Settings) for \S+:)", settings.ethtool),
    Kind("uname -a", r"^Linux (version )?\S+|^DISTRIB_RELEASE=|^\d+\.\d+\.\d+\S*$", settings.kernel),
    Kind("hostapd.conf", r"^(interface|hw_mode|channel|ssid)=", settings.hostapd),
)


def read(path: Path) -> Sequence[Fact]:
    """The facts of a file; an `InputError` if nothing here reads it, or with what is wrong with it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    file = str(path)
    if frames.looks_like(data):
        return capture.read(file, data)
    if crusader.looks_like(data):
        return crusader.read(file, data)
    if flent.looks_like(data):
        return flent.read(file, data)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}: found a byte at {error.start} that is not UTF-8, expected text, a capture, a Flent file or a"
            " crusader result"
        ) from None
    for kind in KINDS:
        if re.search(kind.sign, text, re.MULTILINE):
            return kind.read(file, text)
    if re.search(r"^qdisc \w+ \S+ dev ", text, re.MULTILINE):
        raise InputError(
            f"{file}: found what 'tc qdisc' prints without -j, expected JSON: run 'tc -j -s qdisc >{path.stem}.json',"
            " and give that file"
        )
    known = "; ".join(kind.name for kind in KINDS)
    raise InputError(
        f"{file}: found nothing that is known, expected one of: {known}; a capture with radiotap; a Flent file; a"
        " crusader result"
    )
