"""What guests cost: CPU time of engine and guests together for a virtual second, memory, and boot.

Usage: guests.py PATH/stillair-uml [KERNEL]      a release build, and a kernel of `stillair kernel list` (6.12)
A second is what a longer run takes beyond a shorter one, so that boot and start are not in it. Each is the least of 3.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LONG_S, SHORT_S = 8, 2


def wire(kernel: str) -> str:
    """Two guests, one upload over 50 Mbit/s and 10 ms."""
    host = f'host = {{ kind = "uml", kernel = "{kernel}" }}'
    return f"""
name = "wire"
link.lan = {{ rate = "50 Mbit/s", delay = "5 ms" }}
node.a = {{ profile = "linux-6.12", {host}, interface.eth0.link = "lan" }}
node.b = {{ profile = "linux-6.12", {host}, interface.eth0.link = "lan" }}
flow = [{{ name = "up", kind = "tcp", from = "a", to = "b" }}]
"""


def crowd(kernel: str, rate: str) -> str:
    """Thirty stations of 802.11ac and a server, all guests; each station gets so much over UDP."""
    host = f'host = {{ kind = "uml", kernel = "{kernel}" }}'
    stations = "".join(
        f'node.sta{n} = {{ profile = "linux-6.12", {host}, interface.wlan0 = {{ channel = "wifi", role = "station",'
        f' ap = "ap.wlan0", rate = "vht80-mcs7-nss2-sgi" }} }}\n'
        for n in range(30)
    )
    names = ", ".join(f'"sta{n}"' for n in range(30))
    return f"""
name = "crowd"
channel.wifi = {{ band = "5 GHz", width = "80 MHz" }}
link.lan = {{ rate = "1 Gbit/s", delay = "1 ms" }}
node.server = {{ profile = "linux-6.12", {host}, interface.eth0.link = "lan" }}
node.ap = {{ profile = "openwrt-24.10", forward = true, interface.eth0.link = "lan", \
interface.wlan0 = {{ channel = "wifi", role = "ap" }} }}
{stations}
flow = [{{ name = "down", kind = "udp", from = "server", to = [{names}], rate = "{rate}", gap = "periodic" }}]
"""


def children(of: int) -> set[int]:
    """All processes below one."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, fresh = set[int](), {of}
    while fresh:
        found |= fresh
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
    return found - {of}


def memory(of: int) -> int:
    """Memory of all processes below one in bytes; what several share is divided among them."""
    total = 0
    for pid in children(of):
        try:
            text = (Path("/proc") / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total * 1024


def run(program: str, text: str, seconds: float, *, look: bool = False) -> tuple[float, float, int, dict[str, Any]]:
    """CPU s, s, bytes of the guests, and the run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(f'duration = "{seconds} s"\n{text}')
        before, began, most = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), 0
        with (Path(folder) / "result").open("w+") as result:
            with subprocess.Popen([program, str(file)], stdout=result) as made:
                while look and made.poll() is None:
                    most = max(most, memory(made.pid))
                    time.sleep(0.5)
            result.seek(0)
            found = json.load(result)["runs"][0]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - began, most, found


def a_second(program: str, text: str) -> tuple[float, dict[str, Any]]:
    """CPU s of a virtual second."""
    least = {n: min((run(program, text, n) for _ in range(3)), key=lambda one: one[0]) for n in (LONG_S, SHORT_S)}
    return (least[LONG_S][0] - least[SHORT_S][0]) / (LONG_S - SHORT_S), least[LONG_S][3]


def main() -> None:
    """Measures, and prints a line each."""
    program, kernel = sys.argv[1], (*sys.argv[2:], "6.12")[0]
    print(f"kernel {kernel}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    cost, found = a_second(program, wire(kernel))
    print(f"2 guests, {found['goodput_total_mbps']:.1f} Mbit/s of TCP: {cost:.2f} CPU s a virtual second (bar 0.35)")
    for rate, bar in (("100 kbit/s", ""), ("1.6 Mbit/s", " (bar 0.50)")):
        cost, found = a_second(program, crowd(kernel, rate))
        print(f"31 guests, {found['goodput_total_mbps']:.1f} Mbit/s of UDP: {cost:.2f} CPU s a virtual second{bar}")
    cpu, took, _, _ = min((run(program, crowd(kernel, "1 kbit/s"), 0.001) for _ in range(3)), key=lambda one: one[0])
    print(f"31 guests that boot, live 2 s and go: {cpu / 31:.3f} CPU s and {took / 31:.3f} s each (bar 0.05)")
    _, _, most, _ = run(program, crowd(kernel, "100 kbit/s"), 20, look=True)
    print(f"31 guests: {most / 1e6:.0f} MB together (bar 300)")


if __name__ == "__main__":
    main()
