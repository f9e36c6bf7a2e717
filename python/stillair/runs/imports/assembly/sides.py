"""The direction of a shaping qdisc, and the side of the router that a device is on."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from stillair.runs.imports import facts, qdiscs
from stillair.runs.imports.assembly.parts import TRAFFIC, every

_LAN = re.compile(r"(br-?[\w.-]*|lan\d?|lan[-_.]\w+|veth-lan|bridge\d*|vlan-lan|wlan\d.*|phy\d+-ap\d+|eth-lan)")
_WAN = re.compile(r"(wan[-_.\w]*|wwan\d?|pppo[ea]-\S+|ppp\d+|dsl\d?|modem\d?|lte\d?|internet)")


def of_device(device: str, found: Sequence[facts.Fact]) -> tuple[str, str]:
    """`wan`, `lan` or empty for a device, and the reason."""
    base = device.partition("@")[0]
    for zone in every(found, facts.Zone):
        if zone.device == base:
            return zone.side, zone.where
    if _LAN.fullmatch(base.lower()):
        return "lan", ""
    return ("wan", "") if _WAN.fullmatch(base.lower()) else ("", "")


def is_wifi(device: str, found: Sequence[facts.Fact]) -> bool:
    """Reports whether a device is a Wi-Fi interface, by `iw dev` or its name."""
    if any(one.name == device for one in every(found, facts.Interface)):
        return True
    return bool(re.match(r"(wlan\d|wl[opx]\w*\d|phy\d+-|ath\d|ra\d|rax\d|mesh|mon\d)", device))


def direction(
    one: facts.Qdisc | facts.Class, found: Sequence[facts.Fact], options: dict[str, object] | None = None
) -> tuple[str, str]:
    """`down`, `up` or empty, and the reason if it is a guess."""
    if one.way:
        return one.way, ""
    device = one.device if one.device != qdiscs.NAMELESS else ""
    guess = ""
    if not device:
        device, file = named_by_file(one.where)
        guess = f"guess: {file} is assumed to be the output of {device}, by its name" if device else ""
    own = options if options is not None else dict(one.options) if isinstance(one, facts.Qdisc) else {}
    way, why = _of_device(device, found, own)
    if way:
        return way, why or guess
    return _of_options(one, own, device, found)


def named_by_file(where: str) -> tuple[str, str]:
    """The device in the name of a file, or empty, and that name."""
    file = PurePath(_file(where)).name
    return qdiscs.device_of(file), file


def _of_device(device: str, found: Sequence[facts.Fact], own: dict[str, object]) -> tuple[str, str]:
    if device.startswith("ifb"):
        behind = device.removeprefix("ifb4")
        side = of_device(behind, found)[0] if behind != device else ""
        # An ifb has the ingress of its device: on the LAN side these are the hosts' uploads.
        return ("up", f"guess: {behind} is a LAN device") if side == "lan" else ("down", "")
    if own.get("ingress") is True:
        return "down", ""
    side, where = of_device(device, found)
    if side:
        return ("down" if side == "lan" else "up"), "" if where or side == "wan" else f"guess: {device} is a LAN device"
    return "", ""


_HOSTS = {
    "dual-dsthost": ("down", "isolation by destination hosts"),
    "dsthost": ("down", "isolation by destination hosts"),
    "dual-srchost": ("up", "isolation by source hosts"),
    "srchost": ("up", "isolation by source hosts"),
}


def _of_options(
    one: facts.Qdisc | facts.Class, own: dict[str, object], device: str, found: Sequence[facts.Fact]
) -> tuple[str, str]:
    shown = device or one.where
    isolation = own.get("flowmode")
    by_name = f"; device by the file name {file}" if (file := _guessed_file(one, device)) else ""
    if isinstance(isolation, str) and isolation in _HOSTS:
        way, why = _HOSTS[isolation]
        return way, f"guess: {shown} shapes {TRAFFIC[way]} traffic: {why}{by_name}"
    if not device:
        name = re.sub(r".*[/\\]", "", one.where).lower()
        words = re.findall(r"[a-z]+", name.partition(":")[0])
        for way, marks in (
            ("down", ("down", "download", "ingress", "dl", "in")),
            ("up", ("up", "upload", "egress", "ul")),
        ):
            if set(words) & set(marks):
                return way, f"guess: {shown} shapes {TRAFFIC[way]} traffic, by the name of the file"
    redirected = any(
        isinstance(other, facts.Qdisc)
        and other.kind == "ingress"
        and other.device == one.device
        and _file(other.where) == _file(one.where)
        for other in found
    )
    if redirected:
        return "up", f"guess: {shown} shapes upload traffic: with an ingress qdisc it is a WAN device"
    # `wash` does not decide: devices that wash only incoming packets already have a direction.
    return "", ""


def _guessed_file(one: facts.Qdisc | facts.Class, device: str) -> str:
    return named_by_file(one.where)[1] if device and one.device == qdiscs.NAMELESS else ""


def _file(where: str) -> str:
    """The file of a place."""
    return re.sub(r"(:\d+)?(:\d+|: entry \d+)$", "", where)
