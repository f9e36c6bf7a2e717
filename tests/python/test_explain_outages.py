"""`explain` with outages of links, losses in one direction, and data that waits in its socket."""

import json
from pathlib import Path

import pytest

from stillair import Scenario
from stillair.__main__ import status
from stillair.explain import outages

WIRE = """
name = "wire"
duration = "12 s"
warm_up = "1 s"
link.l = { rate = "10 Mbit/s", delay = "5 ms" }
[node.server]
profile = "linux-6.12"
interface.eth0.link = "l"
[node.client]
profile = "linux-6.12"
interface.eth0.link = "l"
"""
CALL = """
[[flow]]
kind = "voip"
from = "server"
to = "client"
"""
DOWN = """
[[step]]
at = "5 s"
set = ["link.l.rate={rate}"]
[[step]]
at = "7 s"
set = ["link.l.rate=10 Mbit/s"]
"""


def explained(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    file = tmp_path / "wire.toml"
    file.write_text(text, encoding="utf-8")
    assert status(["explain", str(file), "--no-try"]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("rate", ["0 bit/s", "1 kbit/s"])
def test_an_outage_is_the_cause_of_what_waits_for_it(
    tmp_path: Path, rate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = explained(tmp_path, WIRE + CALL + DOWN.format(rate=rate), capsys)
    assert "Outage: link l carries nothing from 5 to 7 s." in out
    assert "Main cause: waits until the link is up again (server.eth0): " in out
    assert "a queue that is too long" not in out.partition("Where:")[0].partition("1. ")[0]


def test_a_slower_link_is_no_outage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = explained(tmp_path, WIRE + CALL + DOWN.format(rate="60 kbit/s"), capsys)
    assert "Outage" not in out
    assert "link is up again" not in out


def test_small_queues_are_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A bulk transfer has more data than the link carries: its data waits in the socket, its packets hardly wait.
    tcp = CALL.replace("voip", "tcp") + DOWN.format(rate="0 bit/s")
    queue = 'interface.eth0 = { link = "l", qdisc = { kind = "pfifo", limit = 40 } }'
    out = explained(tmp_path, WIRE.replace('interface.eth0.link = "l"', queue, 1) + tcp, capsys)
    main = out.partition("packets of tcp-0.client (")[0]
    assert "small queues" not in main
    assert "window is too small" not in out


def test_outages_by_link_and_direction() -> None:
    text = WIRE.replace(
        'rate = "10 Mbit/s"', 'kind = "access", rate = { down = "10 Mbit/s", up = "5 Mbit/s" }, buffer = "64 KiB"'
    )
    text = text.replace(
        '[node.client]\nprofile = "linux-6.12"', '[node.client]\nprofile = "linux-6.12"\nforward = true'
    )
    steps = [
        ("2 s", "link.l.rate={ down = '0 bit/s', up = '5 Mbit/s' }"),
        ("3 s", "link.l.delay=6 ms"),
        ("4 s", "link.l.rate={ down = '10 Mbit/s', up = '0 bit/s' }"),
    ]
    text += CALL + "".join(f'[[step]]\nat = "{at}"\nset = ["{sets}"]\n' for at, sets in steps)
    resolved = json.loads(Scenario(text).resolve())
    found = [(one.place, one.from_ns / 1e9, one.until_ns / 1e9) for one in outages.outages(resolved)]
    assert found == [("client.eth0", 4, 12), ("server.eth0", 2, 4)]
    assert list(outages.outage_lines(resolved)) == [
        "Outage: link l carries nothing from client.eth0 from 4 to 12 s.",
        "Outage: link l carries nothing from server.eth0 from 2 to 4 s.",
    ]


def test_losses_in_one_direction_are_reported_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loses = 'interface.eth0 = { link = "l", qdisc = { kind = "netem", loss = 0.05 } }'
    back = '[[flow]]\nkind = "voip"\nfrom = "client"\nto = "server"\n'
    out = explained(tmp_path, WIRE.replace('interface.eth0.link = "l"', loses, 1) + CALL + back, capsys)
    assert "Main problem: voip-0.client (call) loses " in out
    assert "most of them dropped at server.eth0 qdisc (loss of the link or netem)." in out
    assert "Nothing is wrong" not in out
    assert "voip-1.server (call) loses" not in out
