"""Imports of texts in tests."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stillair import _native
from stillair.__main__ import status

HE11 = "1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0"
HE10 = "1080.6 MBit/s 80MHz HE-MCS 10 HE-NSS 2 HE-GI 0 HE-DCM 0"
VHT9 = "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2"
HE11_NAME, HE10_NAME = "he80-mcs11-nss2-gi0.8", "he80-mcs10-nss2-gi0.8"
HT15 = "144.4 MBit/s MCS 15 short GI"


def station(
    mac: str = "02:00:00:00:00:01",
    interface: str = "phy1-ap0",
    *,
    tx: str = HE11,
    rx: str = HE10,
    signal: int | None = -50,
    idle: int = 10,
    more: str = "",
) -> str:
    """A station of a dump that sends and receives full packets."""
    level = f"\tsignal:  \t{signal} [{signal}, -70] dBm\n" if signal is not None else ""
    return (
        f"Station {mac} (on {interface})\n\tinactive time:\t{idle} ms\n\trx bytes:\t37767883\n\trx packets:\t61734\n"
        f"\ttx bytes:\t258015651\n\ttx packets:\t187789\n{level}\ttx bitrate:\t{tx}\n\trx bitrate:\t{rx}\n{more}"
        "\tauthorized:\tyes\n\tconnected time:\t6191 seconds\n"
    )


def cake(device: str, rate: str, options: str) -> str:
    """A cake of `tc -s qdisc`. Without a device, the first line omits it, as with `show dev`."""
    dev = f"dev {device} " if device else ""
    return (
        f"qdisc cake 8003: {dev}root refcnt 2 bandwidth {rate} {options}\n"
        " Sent 3816835440 bytes 8077772 pkt (dropped 4081, overlimits 18216959 requeues 12)\n"
        " backlog 10156b 7p requeues 12\n memory used: 224925b of 4Mb\n capacity estimate: 831Kbit\n"
        "                  Tin 0\n  thresh        831Kbit\n  target         21.7ms\n  interval      116.7ms\n"
        "  pkts         12159752\n  quantum           300\n\n"
    )


class Made(NamedTuple):
    """Output of an import."""

    text: str
    """The scenario, with each comment on one line."""
    toml: dict[str, Any]

    @property
    def ap(self) -> dict[str, Any]:
        """Wi-Fi interface of the access point."""
        found: dict[str, Any] = self.toml["node"]["ap"]["interface"]["wlan0"]
        return found

    @property
    def wan(self) -> dict[str, Any]:
        """Interface of the access point at the line."""
        found: dict[str, Any] = self.toml["node"]["ap"]["interface"]["eth0"]
        return found

    @property
    def channel(self) -> dict[str, Any]:
        """The channel."""
        found: dict[str, Any] = self.toml["channel"]["wifi"]
        return found

    @property
    def stations(self) -> list[dict[str, Any]]:
        """Wi-Fi interfaces of the stations."""
        nodes = self.toml["node"]
        return [nodes[name]["interface"]["wlan0"] for name in nodes if name.startswith("sta")]

    @property
    def rates(self) -> list[tuple[Any, Any]]:
        """Rates of the stations, to them and from them."""
        return [(one["rate"], one.get("uplink_rate", one["rate"])) for one in self.stations]

    @property
    def left(self) -> list[str]:
        """Sentences after `left out:`."""
        start = "# left out: "
        return [line.removeprefix(start) for line in self.text.splitlines() if line.startswith(start)]


class Importer:
    """Imports texts from files of their names."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """In a folder."""
        self._folder, self._capsys = folder, capsys

    def _run(self, files: Mapping[str, str | bytes], arguments: tuple[str, ...]) -> tuple[int, str, str]:
        for name, content in files.items():
            (self._folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        code = status(["import", *(str(self._folder / name) for name in files), *arguments])
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err.replace(f"{self._folder}/", "")

    def made(self, *arguments: str, **files: str | bytes) -> Made:
        """The scenario of files; in names `__` stands for a dot."""
        return self.of({name.replace("__", "."): content for name, content in files.items()}, *arguments)

    def of(self, files: Mapping[str, str | bytes], *arguments: str) -> Made:
        """The scenario of files; `check` must accept it."""
        code, out, err = self._run(files, arguments)
        assert code == 0, err
        _native.survey(out, "imported", [])
        return Made(out.replace("\n#   ", " "), tomllib.loads(out))

    def refused(self, *arguments: str, **files: str | bytes) -> str:
        """The error for files that give no scenario."""
        code, out, err = self._run({name.replace("__", "."): content for name, content in files.items()}, arguments)
        assert (code, out) == (2, "")
        return err
