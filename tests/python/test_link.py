"""A path inside somebody's tests, from Python."""

import doctest

import pytest

from stillair import InputError, link
from stillair.link import Link, Packet, Wait, Writable, presets

WIRE = """
name = "wire"
link.lan = { rate = "12 Mbit/s", delay = "3 ms" }
node.a = { profile = "linux-6.12", host = "external", interface.eth0.link = "lan" }
node.b = { profile = "linux-6.12", host = "external", interface.eth0.link = "lan" }
"""


def test_the_example() -> None:
    assert doctest.testmod(link) == (0, 11)


def test_presets_say_what_they_are_for() -> None:
    assert len(presets()) >= 12
    assert all(preset.sources and preset.not_for and preset.name in preset.text for preset in presets())


def test_a_packet_and_its_answer() -> None:
    path = Link(WIRE)
    assert path.endpoints == ["a", "b"]
    assert path.send(0, "a", "b", bytes(1472), ecn=1, dscp=46, ports=(5, 6)) == (1, "queued")
    packet = path.poll(10**9)
    assert isinstance(packet, Packet)
    assert (packet.ecn, packet.dscp, packet.ports, len(packet.payload)) == (1, 46, (5, 6), path.max_payload)
    assert 4_000_000 < packet.delay < 4_100_000
    assert path.now == packet.at
    path.send(packet.at, "b", "a", b"")
    assert isinstance(path.poll(10**9), Packet)
    assert path.poll(10**9) == Wait(None)
    assert path.finish()["hosts"]["b"]["from"]["packets"] == 1
    with pytest.raises(ValueError, match="finished"):
        path.poll(10**9)


def test_a_full_socket() -> None:
    path = Link(WIRE)
    path.limit("a", 4608, 4608)
    sent = 0
    while path.send(0, "a", "b", bytes(1400)):
        sent += 1
    assert sent == 2
    assert isinstance(path.poll(10**9), Writable | Packet)
    with pytest.raises(ValueError, match="used"):
        path.limit("b", 1, 1)


def test_mistakes() -> None:
    with pytest.raises(InputError, match='did you mean "home-80211ac-far"'):
        Link.preset("home-80211ac-fat")
    with pytest.raises(InputError) as raised:
        Link(WIRE.replace("3 ms", "soon"))
    assert (raised.value.line, raised.value.key) == (3, "link.lan.delay")
    path = Link.preset("vdsl-40-10", overrides={"link.wan.delay": "50 ms"})
    with pytest.raises(ValueError, match="at most 1472"):
        path.send(0, "client", "server", bytes(1473))
    with pytest.raises(ValueError, match="no endpoint 'nobody', expected one of server, client"):
        path.send(0, "client", "nobody", b"")
    path.poll(5)
    with pytest.raises(ValueError, match="before the link's"):
        path.poll(4)
