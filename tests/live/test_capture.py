"""Captures written during a live run: tshark reads them and finds the hosts' packets."""

import subprocess
import time
from pathlib import Path

from conftest import PYTHON, User, needs, wait_for

SEND = """
import socket
four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(50):
    four.sendto(b"what a live host sends, %02d" % n, ("server", 7000))
"""

CHECKED = ("-o", "udp.check_checksum:TRUE")
GOOD = "1"
"""tshark's status of a correct checksum."""


def tshark(file: Path, *words: str) -> list[str]:
    """Lines that tshark prints for a capture."""
    done = subprocess.run(["tshark", "-r", file, *words], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


def test_real_bytes_are_in_the_frames(user: User) -> None:
    needs("tshark", "ping")
    (user.folder / "send.py").write_text(SEND)
    points = [word for point in ("air-wifi", "sta-wlan0", "lan") for word in ("--point", point)]
    command = ["sh", "-c", f"ping -4 -q -c 3 -i 0.2 server >/dev/null; {PYTHON} send.py; sleep 0.3"]
    options = ["--set", "flow=[]", "--set", "warm_up=0 s", "--capture", "live.pcapng", *points]
    run, _, status = user.live(*options, command=command)
    assert status == 0, run["notes"]
    file = user.folder / "live.pcapng"
    said = run["live"]["capture"]
    assert (said["path"], said["lost"], said["bytes"]) == ("live.pcapng", 0, file.stat().st_size)
    # The file has every reported frame, at its capture point.
    seen = tshark(file, "-T", "fields", "-e", "frame.interface_name")
    assert {point: seen.count(point) for point in said["frames"]} == said["frames"]
    assert set(said["frames"]) == {"air-wifi", "sta-wlan0", "lan"}
    # With radiotap on the air, as Ethernet on the wire; payload and checksums come from the kernel.
    payload = [f"what a live host sends, {n:02d}" for n in range(50)]
    for point, protocols in (("air-wifi", "radiotap:wlan_radio:wlan:llc:ip:udp:"), ("lan", "eth:ethertype:ip:udp:")):
        # Except the ICMP errors that the server's kernel returns for the closed port.
        show = f'frame.interface_name == "{point}" && udp.dstport == 7000 && !icmp'
        fields = ("frame.protocols", "data.data", "udp.checksum.status")
        columns = [word for field in fields for word in ("-e", field)]
        rows = [row.split("\t") for row in tshark(file, *CHECKED, "-Y", show, "-T", "fields", *columns)]
        assert all(row[0].startswith(protocols) for row in rows), rows[0]
        assert {bytes.fromhex(row[1]).decode() for row in rows} == set(payload), point
        assert {row[2] for row in rows} == {GOOD}
    pings = tshark(file, "-Y", 'frame.interface_name == "lan" && icmp.type == 8')
    assert len(pings) == 3


def test_the_file_grows_during_the_run_and_survives_a_kill(user: User) -> None:
    needs("tshark", "iperf3")
    words = ["run", "upload.toml", "--late", "10000000", "--capture", "live.pcapng", "--snaplen", "200"]
    process = user.start(*words)
    file = user.folder / "live.pcapng"
    try:
        wait_for(file)
        for _ in range(200):
            if file.stat().st_size > 200_000:
                break
            time.sleep(0.05)
        assert file.stat().st_size > 200_000
    finally:
        process.kill()
        process.communicate(timeout=20)
    # Writes end at block boundaries, so readers accept the file.
    done = subprocess.run(["tshark", "-r", file, "-c", "1000"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1000), done.stderr
    assert "cut short" not in done.stderr


def test_an_unknown_point_is_named(user: User) -> None:
    done = user.run("run", "upload.toml", "--capture", "live.pcapng", "--point", "air-nowhere")
    assert done.returncode == 2
    assert 'found "air-nowhere"' in done.stderr
    assert not (user.folder / "live.pcapng").exists()
