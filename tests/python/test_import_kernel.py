"""Kernel releases, and numbers that look like one."""

import pytest

from importing import Importer, station

DUMP = station()


@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("Linux OpenWrt 5.15.150 #0 SMP Fri Mar 22 22:09:42 2024 aarch64 GNU/Linux\n", "linux-5.15"),
        # A host may have an address for its name.
        ("Linux 192.168.1.1 6.6.73 #0 SMP Mon Feb 3 23:09:37 2025 mips GNU/Linux\n", "linux-6.6"),
        ("Linux raspberrypi 6.12.25+rpt-rpi-v8 #1 SMP PREEMPT Debian 1:6.12.25-1+rpt1 aarch64\n", "linux-6.12"),
        ("Linux version 5.15.150 (builder@buildhost) (aarch64-openwrt-linux-musl-gcc 12.3.0)\n", "linux-5.15"),
        ("[    0.000000] Linux version 6.1.82 (x@y)\n", "linux-6.1"),
        ("          Kernel: Linux 6.8.5-301.fc40.x86_64\n", "linux-6.6"),
        ("Kernel Version\t5.15.150\n", "linux-5.15"),
        ("root@x:~# uname -r\n5.15.150\n", "linux-5.15"),
        ("5.15.150\n", "linux-5.15"),
        ("6.8.0-45-generic\n", "linux-6.6"),
        ("6.17.1-300.fc43.x86_64\n", "linux-6.12"),
        ("Firmware Version\tOpenWrt 23.05.3 r23809-234f1a2efa / LuCI openwrt-23.05 branch\n", "openwrt-23.05"),
        ("root@x:~# cat /etc/openwrt_version\n23.05.3\n", "openwrt-23.05"),
        (" OpenWrt 24.10.0, r28427-6df0e3d02a\n", "openwrt-24.10"),
    ],
)
def test_a_kernel_release(importer: Importer, text: str, profile: str) -> None:
    made = importer.made(x=DUMP, kernel=text)
    assert made.toml["node"]["ap"]["profile"] == profile
    assert "not recognised" not in made.text


@pytest.mark.parametrize(
    "text",
    ["23.05.3", "24.10.0", "192.168.1.1", "10.0.0.1", "192.168.1", "3.0.0.4.388.7", "386.12_4", "1.2.3", "6.6.73.1"],
)
def test_a_number_that_is_no_kernel_release(importer: Importer, text: str) -> None:
    assert "found nothing that is recognised" in importer.refused(x=f"{text}\n")
    made = importer.made(x=DUMP, y=f"{text}\n", kernel="Linux x 5.10.1 #0\n")
    assert made.toml["node"]["ap"]["profile"] == "linux-5.10"
    # Among the lines of an output it neither ends it nor names a kernel.
    made = importer.made(x=f"{text}\n{DUMP}")
    assert "guess: not in the files ('uname -a' prints it)" in made.text
    assert made.left == [f'x:1: not recognised: "{text}".']
