"""The uplink; a namespace around the run plays the Internet."""

import json
import os
import subprocess
from pathlib import Path

from conftest import User, needs

# /dev/net/tun with udev's mode, in a private mount namespace: in containers only root can open it.
FOR_ALL = "mount -t tmpfs none /mnt && mknod -m 0666 /mnt/tun c 10 200"
FOR_ALL += " && mount --bind /mnt/tun /dev/net/tun && umount -l /mnt"

AROUND = """
set -e
ip link set lo up
ip addr add 198.51.100.1/32 dev lo
ip addr add 2001:db8::1/128 dev lo nodad
mkdir -p web && echo from the Internet >web/page
cd web
/usr/bin/python3 -m http.server -b 198.51.100.1 8000 >/dev/null 2>&1 &
/usr/bin/python3 -m http.server -b 127.0.0.1 8001 >/dev/null 2>&1 &
/usr/bin/python3 -m http.server -b 2001:db8::1 8000 >/dev/null 2>&1 &
/usr/bin/python3 -m http.server -b ::1 8001 >/dev/null 2>&1 &
cd ..
for at in 198.51.100.1:8000 127.0.0.1:8001 [2001:db8::1]:8000 [::1]:8001; do
  until curl -gs http://$at/page >/dev/null; do sleep 0.1; done
done
set +e
./stillair-live run upload.toml --set flow=[] --late 10000000 {uplink} -- sh -c '
for to in {places}; do
  echo "$to: $(curl -gs -m 6 http://$to/page || echo nothing)" &
done
wait'
kill %1 %2 %3 %4
"""

PLACES = {
    "198.51.100.1:8000": "from the Internet",
    "[2001:db8::1]:8000": "from the Internet",
    "10.0.2.2:8001": "nothing",
    "10.0.2.2:8000": "nothing",
    "127.0.0.1:8001": "nothing",
    "[fd00::2]:8001": "nothing",
    "[fd00::2]:8000": "nothing",
    "[::1]:8001": "nothing",
}
"""Places and their answers through an uplink: the Internet is reachable, the machine is not, by any address."""


def reached(user: User, uplink: str) -> tuple[list[str], dict[str, int]]:
    """Returns the answer from each place, and the counters of the station's packets."""
    done = around(
        user, uplink, ["unshare", "-m", "--propagation", "private", "sh", "-c", f'{FOR_ALL} && exec "$@"', "-"]
    )
    *lines, last = done.stdout.splitlines() or [""]
    assert last.startswith('{"'), (done.stdout, done.stderr)
    return lines, json.loads(last)["runs"][0]["live"]["external_io"]


def around(user: User, uplink: str, before: list[str]) -> "subprocess.CompletedProcess[str]":
    """Makes a run inside a simulated Internet; `before` is the command prefix for root."""
    namespaces = ["unshare", "-n"] if user.number == 0 else ["unshare", "-Urn"]
    command = user.words([*namespaces, "bash", "-c", AROUND.format(uplink=uplink, places=" ".join(PLACES))])
    command = [*before, *command] if os.geteuid() == 0 else command
    return subprocess.run(command, cwd=user.folder, capture_output=True, text=True, timeout=90, check=False)


def test_without_a_tun_device_the_error_names_the_fix(user: User) -> None:
    needs("slirp4netns")
    if user.number and not Path("/dev/net/tun").stat().st_mode & 0o006:
        said = around(user, "--uplink", []).stderr
        assert "/dev/net/tun: Permission denied, which slirp4netns needs; 'sudo chmod 0666 /dev/net/tun'" in said


def test_the_internet_is_reachable_and_the_machine_is_not(user: User) -> None:
    needs("curl", "slirp4netns")
    if os.geteuid() and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        # The test above checks the message.
        return
    lines, doors = reached(user, "--uplink")
    assert sorted(lines) == sorted(f"{place}: {found}" for place, found in PLACES.items())
    assert doors["entered"] > 10


def test_without_the_uplink_nothing_is_reachable(user: User) -> None:
    needs("curl")
    lines, doors = reached(user, "")
    assert [line.rsplit(": ", 1)[1] for line in lines] == ["nothing"] * len(PLACES)
    assert doors["no_route"] > 0
