"""Every command that prints a table or prose keeps within the columns of the terminal.

`ss`, `tc`, `schema` and `new` are left out: they print the lines of other programs, JSON, and a file.
"""

import pytest

from stillair.__main__ import status
from stillair.cli.app import _COMMANDS

_SHORT = ["--set", "duration=9s"]
_HOME = ["--set", "duration=9s", "--set", "warm_up=8s"]
_PHONE = ["--set", "node.phone.interface.wlan0.distance=20m"]

TABLES = [
    ["run", "home", *_SHORT],
    ["run", "examples/openwrt-20"],
    ["run", "examples/hidden-nodes"],
    ["run", "tsq-wired", "--runs", "2"],
    ["sweep", "home", *_HOME, "--runs", "2"],
    ["sweep", "hidden"],
    ["sweep", "anomaly-tcp", "--set", "duration=7s", "--set", "warm_up=6s"],
    ["compare", "home", *_PHONE, "--set", "duration=9s", "--runs", "2"],
    ["check", "dormitory"],
    ["check", "mesh"],
    ["check", "anomaly-thirty"],
    ["check", "home"],
    ["rc-stats", "home", *_SHORT],
    ["rc-stats", "generations", *_SHORT],
    ["scenarios"],
    ["paper"],
    ["paper", "retry-out/fig4-worked-example"],
    ["plot", "--plot", "list"],
    ["validate"],
    ["doctor"],
]


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
def test_80_columns(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("command", [*_COMMANDS, "live exec", "live set", "live ps", "validate linux", "validate wifi"])
def test_help_fits_too(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status([*command.split(), "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_the_list_of_commands_has_whole_sentences(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status([]) == 0
    listed = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(_COMMANDS)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


def test_what_is_swept_is_told_once_where_it_is_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status(["sweep", "home", *_HOME]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "cell  sets",
        "0     shaper = off",
        '1     shaper = { down = "450 Mbit/s", up = "45 Mbit/s", qdisc = { kind = "cake",',
    ]
    assert [line.split()[0] for line in lines[5:9]] == ["total", "cell", "0", "1"]
