"""`ip addr`, `ip link` and `ifconfig`: names, MTU and root qdisc of network devices; `ip route`, without a use."""

import re
from collections.abc import Sequence
from typing import Any

from stillair.runs.imports.facts import Netdev, Unread
from stillair.runs.imports.lines import unrecognised
from stillair.runs.imports.readers import recognised

_IP = re.compile(r"\s*\d+: ([\w.:-]+?)(?:@[\w.-]+)?: <[^>]*>(.*)")
_IFCONFIG = re.compile(r"(\S+?)(?:\s+Link encap:|: flags=\d+<[^>]*>)(.*)")


def ip(file: str, text: str) -> Sequence[Netdev | Unread]:
    """The devices of `ip addr` or `ip link`."""
    found, strange = list[Netdev](), list[tuple[int, str]]()
    for number, line in enumerate(text.splitlines(), 1):
        if head := _IP.match(line):
            mtu, qdisc = re.search(r"\bmtu (\d{1,6})\b", head[2]), re.search(r"\bqdisc (\S+)", head[2])
            mtu_of = int(mtu[1]) if mtu else None
            found.append(Netdev(head[1], mtu_of, qdisc[1] if qdisc else "", f"{file}:{number}"))
        elif line.strip() and not recognised.IP.fullmatch(line.strip()):
            strange.append((number, line.strip()))
    return [*found, *unrecognised(file, strange)]


def ip_json(file: str, rows: Sequence[Any]) -> Sequence[Netdev]:
    """The devices of `ip -j addr` or `ip -j link`."""
    return [
        Netdev(
            row["ifname"],
            row["mtu"] if isinstance(row.get("mtu"), int) else None,
            str(row.get("qdisc") or ""),
            f"{file}: entry {at}",
        )
        for at, row in enumerate(rows)
        if isinstance(row, dict) and isinstance(row.get("ifname"), str)
    ]


def routes(file: str, text: str) -> Sequence[Unread]:
    """The output of `ip route`, which has no scenario keys."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    strange = [(number, line) for number, line in lines if not recognised.ROUTE.fullmatch(line)]
    return [Unread("ip route: routes are not imported", f"{file}:{lines[0][0]}"), *unrecognised(file, strange)]


def ifconfig(file: str, text: str) -> Sequence[Netdev | Unread]:
    """The devices of `ifconfig`."""
    found: list[Netdev] = []
    strange: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if head := _IFCONFIG.match(line.strip()):
            found.append(Netdev(head[1], None, "", f"{file}:{number}"))
        if found and (mtu := re.search(r"\b(?:MTU:|mtu )(\d{1,6})\b", line)):
            found[-1] = Netdev(found[-1].name, int(mtu[1]), "", found[-1].where)
        if line.strip() and not recognised.IFCONFIG.fullmatch(line.strip()):
            strange.append((number, line.strip()))
    return [*found, *unrecognised(file, strange)]
