"""Parses kernel text files: counters of the driver, mac80211, the network stack, and rate control."""

import re
from collections.abc import Iterable
from typing import Any

# linux: net/mac80211/rc80211_minstrel_ht_debugfs.c (6.12) - letters of the rates in the chain.
PLACES = {"A": "best", "B": "second", "C": "third", "D": "fourth", "P": "most_reliable"}
SNMP = (
    "Tcp.InSegs", "Tcp.OutSegs", "Tcp.RetransSegs", "TcpExt.TCPOFOQueue", "TcpExt.TCPFastRetrans",
    "TcpExt.TCPLostRetransmit", "TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder", "TcpExt.TCPTimeouts",
    "TcpExt.TCPSpuriousRTOs", "TcpExt.TCPLossProbes", "TcpExt.TCPDSACKRecv", "TcpExt.DelayedACKs",
    "TcpExt.TCPAckCompressed", "TcpExt.TCPDelivered", "TcpExt.TCPDeliveredCE", "TcpExt.TCPRcvCoalesce",
    "TcpExt.TCPSmallQueueFailure", "TcpExt.TCPAutoCorking", "IpExt.InCEPkts",
)  # fmt: skip
_AQM = {
    "backlog_bytes": 2, "backlog_packets": 3, "new_flows": 4, "drops": 5, "marks": 6, "overlimit": 7, "collisions": 8,
    "tx_bytes": 9, "tx_packets": 10,
}  # fmt: skip
_RATE = re.compile(
    r"HT20\s+(LGI|SGI)\s+(\d)\s+([ABCDPS ]*?)\s*(MCS\d+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)"
    r"\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)"
)
LEGACY = 32
"""Key of all rates outside 802.11n. Others are the MCS, plus 16 for a short guard interval."""


def driver(text: str | Iterable[str]) -> dict[str, Any]:
    """`/proc/simwifi`: counters by station and direction (0 is down), and of the channel."""
    read: dict[str, Any] = {"sta": {}, "mcs": {}, "hist": {}}
    for line in text.splitlines() if isinstance(text, str) else text:
        if found := re.match(r"sta (\d+) dir (\d) (.*)", line):
            pairs = re.findall(r"(\w+) (\d+)", found[3])
            read["sta"][int(found[1]), int(found[2])] = {key: int(value) for key, value in pairs}
        elif found := re.match(r"mcs (\d+) (\d):(.*)", line):
            words = (word.split("=") for word in found[3].split())
            rates = {int(key): list(map(int, values.split(","))) for key, values in words}
            read["mcs"][int(found[1]), int(found[2])] = rates
        elif found := re.match(r"hist (\d+) (\d):(.*)", line):
            words = (word.split("=") for word in found[3].split())
            read["hist"][int(found[1]), int(found[2])] = {int(key): int(value) for key, value in words}
        elif found := re.match(r"t_ns (\d+) collisions (\d+) collision_us (\d+)", line):
            read["t_ns"], read["collisions"], read["collision_us"] = map(int, found.groups())
    return read


def snmp(text: str) -> dict[str, int]:
    """`/proc/net/snmp` and `netstat`."""
    lines = [line.split() for line in text.splitlines() if ":" in line]
    read = {}
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        for name, value in zip(names[1:], values[1:], strict=False):
            if value.lstrip("-").isdigit():
                read[f"{names[0][:-1]}.{name}"] = int(value)
    return read


def grown(after: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    """The network counters that increased."""
    return {
        name: after[name] - before.get(name, 0) for name in SNMP if name in after and after[name] != before.get(name, 0)
    }


def aqm(text: str) -> dict[str, int]:
    """mac80211's `aqm` file of a station, over its TIDs."""
    read = dict.fromkeys(_AQM, 0)
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) >= 12 and fields[0].isdigit():
            for name, column in _AQM.items():
                read[name] += int(fields[column])
    return read


def airtime(text: str) -> dict[str, int]:
    """mac80211's `airtime` file of a station."""
    return {name.lower(): int(value) for name, value in re.findall(r"(RX|TX|Weight): (\d+)", text)}


def rate_name(key: int) -> str:
    """Name of a rate in the driver's counters."""
    return "legacy" if key == LEGACY else f"mcs{key % 16}-{'sgi' if key >= 16 else 'lgi'}"


def rates_csv(text: str) -> dict[str, Any]:
    """`rc_stats_csv`: the rates in Minstrel-HT's chain."""
    read: dict[str, Any] = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) < 10:
            continue
        name = f"{fields[4].lower()}-{fields[1].lower()}".replace(" ", "")
        for letter in fields[3]:
            if letter in PLACES:
                read[PLACES[letter]] = name
        if (
            "A" in fields[3]
            and re.fullmatch(r"[\d.]+", fields[8].strip())
            and re.fullmatch(r"[\d.]+", fields[9].strip())
        ):
            read["best_probability_percent"], read["best_throughput_mbps"] = float(fields[9]), float(fields[8])
    return read


def rates(text: str) -> dict[str, Any]:
    """`rc_stats` at the end, with every rate that was tried."""
    read: dict[str, Any] = {}
    table = {}
    for line in text.splitlines():
        if found := _RATE.match(line):
            name = f"{found[4].lower()}-{found[1].lower()}"
            table[name] = {
                "throughput_mbps": float(found[8]), "probability_percent": float(found[9]),
                "success": int(found[13]), "attempts": int(found[14]),
            }  # fmt: skip
            read |= {PLACES[letter]: name for letter in found[3] if letter in PLACES}
    if found := re.search(r"ideal (\d+)\s+lookaround (\d+)", text):
        read["ideal"], read["lookaround"] = int(found[1]), int(found[2])
    read["rates"] = {name: row for name, row in table.items() if row["attempts"]}
    return read
