"""Existing network namespaces as hosts."""

import subprocess
from collections.abc import Iterator

import pytest

from conftest import User, needs

REFUSED = [
    ("sta=pid:self", "found pid:self, which is the network namespace of this command, expected another"),
    (
        "sta=netns:/etc/hostname",
        "found netns:/etc/hostname, which is not a network namespace, expected HOST=netns:PATH",
    ),
    ("ap=pid:1", '--attach: found "ap", expected a live host: server, sta'),
]


@pytest.fixture
def container() -> Iterator[int]:
    """A process with its own network namespace."""
    process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo made; exec sleep 120"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"made\n"
    yield process.pid
    process.kill()
    process.communicate()


def within(pid: int, *words: str) -> str:
    command = ["nsenter", f"--target={pid}", "--net", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_an_existing_namespace_is_a_host_and_is_left_unchanged(user: User, container: int) -> None:
    needs("ping")
    attach = ["--attach", f"sta=pid:{container}"]
    if user.number:
        refused = user.run("run", "upload.toml", *attach)
        assert refused.returncode == 2
        assert "--attach: found an ordinary user, expected root" in refused.stderr
        return
    before = within(container, "ip", "-o", "addr"), within(container, "ip", "-o", "route", "show", "table", "all")
    look = "ip -br addr show wlan0; ping -q -c 3 -i 0.2 server"
    run, printed, status = user.live("--set", "flow=[]", *attach, command=["sh", "-c", look])
    text = "\n".join(printed)
    assert status == 0, (text, run["notes"])
    assert "10.0.1.10/32" in text
    assert "3 received, 0% packet loss" in text
    assert run["live"]["hosts"]["sta"]["egress"] == run["live"]["hosts"]["sta"]["port"]
    assert any("sta is attached" in note for note in run["notes"])
    after = within(container, "ip", "-o", "addr"), within(container, "ip", "-o", "route", "show", "table", "all")
    assert after == before


def test_an_existing_device_is_not_taken_over(user: User, container: int) -> None:
    if user.number:
        return
    within(container, "ip", "tuntap", "add", "wlan0", "mode", "tun")
    before = within(container, "ip", "-o", "link", "show", "wlan0")
    done = user.run("run", "upload.toml", "--set", "flow=[]", "--attach", f"sta=pid:{container}", "--", "true")
    assert done.returncode == 1, done
    assert "sta: found an existing device wlan0 in the namespace, expected no device of that name" in done.stderr
    assert within(container, "ip", "-o", "link", "show", "wlan0") == before


@pytest.mark.parametrize(("attach", "says"), REFUSED)
def test_invalid_places_are_reported(user: User, attach: str, says: str) -> None:
    done = user.run("run", "upload.toml", "--attach", attach)
    assert done.returncode == 2
    ordinary = user.number and not attach.startswith("ap=")
    assert ("found an ordinary user" if ordinary else says) in done.stderr


def test_an_attached_host_keeps_its_settings(user: User, container: int) -> None:
    if user.number:
        return
    setting = ["--set", "node.sta.sysctl={ 'net.ipv4.tcp_sack' = 0 }", "--attach", f"sta=pid:{container}"]
    done = user.run("run", "upload.toml", *setting)
    assert done.returncode == 2
    assert "node.sta.sysctl: found settings of an attached host" in done.stderr
