"""Malformed packets at each kind of port: all are counted, and have no other effect."""

import json
import re

import pytest

from conftest import PYTHON, User, needs, wait_for

# Enters a host of a run as its user, with all privileges there, which programs started by the run lack.
SEND = r"""
import ctypes, os, random, socket, struct, sys

pid, namespace, kind, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
libc = ctypes.CDLL(None, use_errno=True)
user, network = f"/proc/{pid}/ns/user", f"/proc/{pid}/fd/{namespace}"
opened = [network] if os.readlink(user) == os.readlink("/proc/self/ns/user") else [user, network]
for place in [os.open(path, os.O_RDONLY) for path in opened]:
    if libc.setns(place, 0) != 0:
        sys.exit(f"setns: {os.strerror(ctypes.get_errno())}")

draws = random.Random(11)
sent = 0

def noise(at_least):
    return draws.randbytes(draws.randint(at_least, 200))

def whole(version):
    # A packet with one error.
    body = noise(0)
    if version == 4:
        head = bytearray(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 7, 0, 64, 17, 0, bytes(4), bytes(4)))
        spoiled = [(0, 0x44), (0, 0x75), (2, 0xFF), (3, 0x05)]
    else:
        head = bytearray(struct.pack("!IHBB16s16s", 0x60000000, len(body), 17, 64, bytes(16), bytes(16)))
        spoiled = [(0, 0x10), (4, 0xFF)]
    at, value = draws.choice(spoiled)
    head[at] = value
    return bytes(head) + body

if kind == "device":
    # Bypasses the IP stack: directly to the device with AF_PACKET.
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    ethernet = bytes(14) if sys.argv[5] == "veth" else b""
    for n in range(count):
        version = draws.choice([4, 6])
        packet = whole(version) if n % 2 else bytes([draws.choice([0x40, 0xF0, 0x00])]) + noise(0)
        if ethernet:
            kind_of = draws.choice([0x0800, 0x86DD]) if n % 3 else draws.choice([0x0806, 0x88CC])
            packet = bytes(12) + struct.pack("!H", kind_of) + packet
        out.sendto(packet, ("wlan0", draws.choice([0x0800, 0x86DD])))
        sent += 1
else:
    # Through netfilter, which checks little of what a raw socket sends.
    four = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    six = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
    for n in range(count):
        if n % 2:
            # The kernel fills in length and checksum, and requires a 20-byte header.
            packet = bytes([draws.choice([0x05, 0x35, 0x75, 0xF5])]) + noise(24)
            four.sendto(packet, ("10.0.0.2", 0))
        else:
            six.sendto(whole(6), ("fd00::a00:2", 0))
        sent += 1
print(sent)
"""


@pytest.mark.parametrize("port", ["device", "queue"])
def test_a_thousand_malformed_packets_are_counted(user: User, port: str) -> None:
    needs("ping")
    (user.folder / "send.py").write_text(SEND)
    tsq = "on" if port == "queue" else "off"
    options = ["--set", "flow=[]", "--set", f"node.sta.tcp.tsq={tsq}", "--late", "10000000"]
    process = user.start("run", "upload.toml", *options, "--", "sh", "-c", "echo begun >begun; sleep 60")
    try:
        wait_for(user.folder / "begun")
        [run] = json.loads(user.run("ps").stdout)
        sta = run["status"]["hosts"]["sta"]
        before = run["status"]["external_io"]
        sender = [PYTHON, "send.py", run["pid"], sta["namespace"], port, 1000, sta["port"]]
        done = user.plain(*[str(word) for word in sender])
        assert done.stdout.strip() == "1000", done.stderr
        # The run continues: valid packets pass.
        assert user.run("exec", "sta", "--", "ping", "-q", "-c", "2", "-i", "0.2", "server").returncode == 0
        [run] = json.loads(user.run("ps").stdout)
        after = run["status"]["external_io"]
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert after["malformed"] - before["malformed"] == 1000, (before, after)
    assert after["entered"] - before["entered"] <= 10
    assert re.search(r'"malformed":1000\b', out.splitlines()[-1]), err
