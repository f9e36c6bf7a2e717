"""Settings of the local machine that affect latency, each with its source and a run that shows its effect."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stillair._native import InputError
from stillair.runs.imports import qdiscs
from stillair.runs.imports.facts import Device, Fact, Interface, Kernel, Peer, Qdisc, Setting
from stillair.runs.imports.readers import iw

Run = Callable[[Sequence[str]], str | None]
"""Runs a program and returns its output; `None` if it is missing or fails."""


class Finding(NamedTuple):
    """A setting of the machine."""

    what: str
    value: str
    """`not known` if it cannot be read."""
    source: str
    """File or command that has the value."""
    means: str
    weight: str
    """Command that shows the setting's effect."""


UNKNOWN = "not known"

_WEIGHTS = {
    "kernel": "stillair compare examples/openwrt-20 --set node.ap.profile=openwrt-23.05",
    "driver": "stillair compare examples/openwrt-20 --set node.ap.interface.wlan0.scheme=mac80211",
    "channel": "stillair compare home --set channel.wifi.width=40MHz",
    "signal": "stillair compare home --set node.laptop.interface.wlan0.distance=20m",
    "qdisc": "stillair compare home --set node.router.interface.wan.shaper=off",
    "TSQ": "stillair sweep tsq-wifi",
    "congestion control": "stillair sweep examples/upload",
    "airtime flags": (
        "stillair compare generations --set 'node.ap.interface.wlan0.scheme={ kind = \"mac80211\", charge_tx = false }'"
    ),
    "AQL": "stillair compare generations --set 'node.ap.interface.wlan0.scheme={ kind = \"mt76\", aql = false }'",
}
_MEANS = {
    "kernel": "which rules of queueing, airtime and TCP it has",
    "driver": "where packets for Wi-Fi wait, and who makes the aggregates",
    "channel": "how fast frames go, and how many others are near",
    "signal": "which rates work",
    "qdisc": "what a flow that fills the queue does to the others",
    "TSQ": "how much of one socket waits below TCP (net.ipv4.tcp_limit_output_bytes)",
    "congestion control": "how full a sender keeps the narrowest queue",
    "airtime flags": "who is charged for airtime: bit 1 what is sent, bit 2 what is received; 0: no fairness",
    "AQL": "how much airtime waits below the queues that are fair",
}


def program(command: Sequence[str]) -> str | None:
    """Runs a program of this machine."""
    found = shutil.which(command[0], path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if found is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - fixed commands
            [found, *command[1:]], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


class Machine:
    """The local machine, or a folder with the files of another machine."""

    def __init__(self, root: Path = Path("/"), run: Run = program) -> None:
        """`root` is where /proc and /sys are; `run` runs iw, tc and ethtool."""
        self._root, self._run = root, run
        self.facts: list[Fact] = []
        """Facts for `stillair import`."""

    def findings(self) -> list[Finding]:
        """Returns all settings, in the order of a packet's path."""
        self.facts = []
        found = [*self._kernel()]
        devices = self._wireless()
        if not devices:
            found += [
                _unknown(what, "no Wi-Fi interface in /sys/class/net") for what in ("driver", "channel", "signal")
            ]
        for name in devices:
            found += [*self._driver(name), *self._iw(name)]
        found += [*self._qdiscs(), *self._sysctl()]
        phys = sorted(self._list("sys/kernel/debug/ieee80211"))
        for what, file in (("airtime flags", "airtime_flags"), ("AQL", "aql_enable"), ("AQL", "aql_txq_limit")):
            found += self._debugfs(what, file, phys)
        return found

    def _read(self, path: str) -> str | None:
        try:
            return (self._root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def _list(self, path: str) -> list[str]:
        try:
            return [one.name for one in (self._root / path).iterdir()]
        except OSError:
            return []

    def _wireless(self) -> list[str]:
        return sorted(name for name in self._list("sys/class/net") if self._list(f"sys/class/net/{name}/phy80211"))

    def _kernel(self) -> Iterator[Finding]:
        release = self._read("proc/sys/kernel/osrelease")
        if release is None:
            yield _unknown("kernel", "/proc/sys/kernel/osrelease cannot be read")
            return
        if at := re.match(r"(\d+\.\d+)", release):
            self.facts.append(Kernel(at[1], "/proc/sys/kernel/osrelease"))
        yield _known("kernel", release, "/proc/sys/kernel/osrelease")

    def _driver(self, name: str) -> Iterator[Finding]:
        link = self._root / f"sys/class/net/{name}/device/driver"
        if not link.is_symlink():
            yield _unknown("driver", f"{name}: no link /sys/class/net/{name}/device/driver")
            return
        driver = link.readlink().name
        source = f"/sys/class/net/{name}/device/driver"
        self.facts.append(Device(name, {"driver": driver}, source))
        told = self._run(["ethtool", "-i", name]) or ""
        firmware = re.search(r"^firmware-version: *(\S.*)$", told, re.MULTILINE)
        yield _known("driver", f"{name}: {driver}" + (f", firmware {firmware[1]}" if firmware else ""), source)

    def _iw(self, name: str) -> Iterator[Finding]:
        for what, command in (("channel", f"iw dev {name} info"), ("signal", f"iw dev {name} station dump")):
            told = self._run(command.split())
            if told is None:
                yield _unknown(what, f"'{command}' failed: is iw installed, and may this user run it?")
                continue
            try:
                yield self._of_iw(what, name, command, told)
            except InputError as error:
                yield _unknown(what, str(error).splitlines()[0])

    def _of_iw(self, what: str, name: str, command: str, told: str) -> Finding:
        if what == "channel":
            own = [one for one in iw.interfaces(command, told) if isinstance(one, Interface)]
            self.facts += own
            width = own[0].width_mhz if own else None
            if not own or own[0].mhz is None:
                return _unknown(what, f"'{command}' names no channel: {name} is not in use")
            return _known(what, f"{name}: {own[0].kind}, {own[0].mhz} MHz, {width} MHz wide", f"'{command}'")
        peers = [one for one in iw.stations(command, told) if isinstance(one, Peer)]
        self.facts += peers
        if not peers:
            return _unknown(what, f"'{command}' lists nobody")
        shown = [
            f"{one.mac} {one.signal_dbm if one.signal_dbm is not None else '?'} dBm"
            + (f", {one.tx.told}" if one.tx else "")
            for one in peers[:4]
        ]
        more = f" and {len(peers) - 4} more" if len(peers) > 4 else ""
        return _known(what, f"{name}: {'; '.join(shown)}{more}", f"'{command}'")

    def _qdiscs(self) -> Iterator[Finding]:
        told = self._run(["tc", "-j", "-s", "qdisc"])
        if told is None:
            yield _unknown("qdisc", "'tc -j -s qdisc' failed: is iproute2 installed?")
            return
        try:
            found = qdiscs.read("tc -j -s qdisc", told or "[]")
        except InputError as error:
            yield _unknown("qdisc", str(error).splitlines()[0])
            return
        self.facts += found
        for one in found:
            if isinstance(one, Qdisc) and one.root and one.device != "lo":
                rate = qdiscs.bandwidth_bps(one)
                words = f"{one.device}: {one.kind}" + (f" at {rate / 1e6:g} Mbit/s" if rate else "")
                yield _known("qdisc", f"{words}, {one.counts.get('drops', 0)} drops", "'tc -j -s qdisc'")

    def _sysctl(self) -> Iterator[Finding]:
        for what, key in (
            ("qdisc", "net.core.default_qdisc"),
            ("TSQ", "net.ipv4.tcp_limit_output_bytes"),
            ("congestion control", "net.ipv4.tcp_congestion_control"),
        ):
            path = f"proc/sys/{key.replace('.', '/')}"
            value = self._read(path)
            if value is None:
                yield _unknown(what, f"/{path} cannot be read")
            else:
                self.facts.append(Setting(key, value, f"/{path}"))
                yield _known(what, f"{key} = {value}", f"/{path}")

    def _debugfs(self, what: str, file: str, phys: Sequence[str]) -> Iterator[Finding]:
        """A file of each device in mac80211's debugfs.

        linux: net/mac80211/debugfs.c (6.12) - airtime_flags, aql_enable, aql_txq_limit, for root.
        """
        folder = "sys/kernel/debug/ieee80211"
        if not phys:
            yield _unknown(what, f"/{folder}/PHY/{file}: no such file; it needs root, debugfs and a driver of mac80211")
        for phy in phys:
            path = f"{folder}/{phy}/{file}"
            value = self._read(path)
            if value is None:
                yield _unknown(what, f"/{path}: no such file in this kernel or driver, or it needs root")
            else:
                yield _known(what, f"{phy}: {file} {' '.join(value.split())}", f"/{path}")


def _known(what: str, value: str, source: str) -> Finding:
    return Finding(what, value, source, _MEANS[what], _WEIGHTS[what])


def _unknown(what: str, why: str) -> Finding:
    return Finding(what, UNKNOWN, why, _MEANS[what], _WEIGHTS[what])
