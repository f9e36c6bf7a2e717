"""A built kernel: it boots, has its configuration and patches, and is reproducible by seed."""

import gzip
import time

from conftest import MOUNTS, Machine
from stillair.kernels import config, guest, store

LOOK = (
    MOUNTS
    + """
def read(path):
    with open(path) as file:
        return file.read().strip()
"""
)


def test_the_kernel_has_its_patches_and_configuration(machine: Machine, kernel: store.Kernel) -> None:
    told = machine.told(
        LOOK.replace("GUEST", str(machine.guest))
        + """
told["notsq"] = read("/sys/module/tcp_output/parameters/notsq")
told["shifts"] = read("/sys/module/virtio_net/parameters/pacing_shift")
told["rings"] = [read(f"/sys/module/virtio_uml/parameters/{way}_ring") for way in ("tx", "rx")]
told["release"] = read("/proc/sys/kernel/osrelease")
told["controls"] = read("/proc/sys/net/ipv4/tcp_available_congestion_control").split()
import shutil
shutil.copy("/proc/config.gz", "/mnt/config.gz")
""",
        "virtio_uml.tx_ring=8192",
        "virtio_net.pacing_shift=7,0",
        "tcp_output.notsq=1",
    )
    assert kernel.facts["patches"][:6] == ["header-room", "hz", "pacing-shift", "ring", "tsq-limit", "tsq"]
    assert (told["notsq"], told["rings"], told["release"]) == ("Y", ["8192", "256"], kernel.version)
    assert told["shifts"].split(",")[:2] == ["7", "0"]
    assert {"cubic", "bbr", "reno", "dctcp", "vegas"} <= set(told["controls"])
    assert ("shallow" in told["controls"]) == ("shallow" in kernel.facts["patches"])
    inside = gzip.decompress((machine.guest / "config.gz").read_bytes()).decode().splitlines()
    assert "CONFIG_HZ=250" in inside
    asked = config.read(guest.fragments()["base"])
    assert [one for one in asked if one.value == "y" and f"CONFIG_{one.key}=y" not in inside] == []


RANDOM = """
told["bytes"] = os.urandom(16).hex()
told["boot"] = read("/proc/sys/kernel/random/boot_id")
told["where"] = [line.split()[0] for line in open("/proc/self/maps")]
told["time"] = read("/proc/uptime")
"""


def test_a_guest_depends_on_its_seed(machine: Machine) -> None:
    script = LOOK.replace("GUEST", str(machine.guest)) + RANDOM
    first = machine.told(script, seed=1)
    assert machine.told(script, seed=1) == first
    other = machine.told(script, seed=2)
    assert other["bytes"] != first["bytes"]
    assert other["boot"] != first["boot"]


def test_a_guest_boots_quickly(machine: Machine) -> None:
    """Launcher, kernel, and a first program that powers off. The goal is 0.05 s for the kernel only."""
    machine.boot("")
    began = time.monotonic()
    done = machine.boot("")
    took = time.monotonic() - began
    assert done.returncode == 0, done.stdout + done.stderr
    # An idle machine needs a tenth of this.
    assert took < 3
