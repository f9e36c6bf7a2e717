"""What a live run costs and how late it is, beside a bare veth: `bench/live.py target/release/stillair-live`, as root.

A row is one run of iperf3 for 5 s. CPU time is that of the engine, with what the kernel does in its calls.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

WIFI = """
name = "bench-live"
duration = "7 s"
warm_up = "2 s"
channel.wifi = {{ band = "5 GHz", width = "40 MHz" }}
link.lan = {{ rate = "10 Gbit/s", delay = "1 ms" }}
[node.server]
profile = "linux-6.18"
host = "live"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
tcp.tsq = "{tsq}"
[node.ap]
profile = "openwrt-24.10"
forward = true
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
interface.wlan0 = {{ channel = "wifi", role = "ap", address = "10.0.1.1" }}
[node.sta]
profile = "linux-6.18"
host = "live"
tcp.tsq = "{tsq}"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", rate = "{rate}", address = "10.0.1.10" }}
"""

WIRE = """
name = "bench-live-wire"
duration = "7 s"
warm_up = "2 s"
link.lan = {{ rate = "10 Gbit/s", delay = "100 us" }}
[node.server]
profile = "linux-6.18"
host = "live"
tcp.tsq = "{tsq}"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
[node.sta]
profile = "linux-6.18"
host = "live"
tcp.tsq = "{tsq}"
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
"""


def flow(kind: str) -> str:
    """A flow up."""
    more = 'rate = "50 Mbit/s"' if kind == "udp" else ""
    return f'[[flow]]\nkind = "{kind}"\nfrom = "sta"\nto = "server"\n{more}\n'


RUNS = [
    ("802.11n 65 Mbit/s, UDP 50 Mbit/s", WIFI, {"rate": "ht20-mcs7-lgi"}, [flow("udp")]),
    ("802.11n 65 Mbit/s, TCP", WIFI, {"rate": "ht20-mcs7-lgi"}, [flow("tcp")]),
    ("802.11n 600 Mbit/s, 4 TCP", WIFI, {"rate": "ht40-mcs31-sgi"}, [flow("tcp")] * 4),
    ("wire 10 Gbit/s, 4 TCP", WIRE, {}, [flow("tcp")] * 4),
]
NO_PRIORITY = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
"""So that root too has no real-time priority: what a run of an ordinary user has."""


@dataclass(frozen=True)
class Found:
    """A run: its rate in Mbit/s and packets/s, its cost in us a packet and in processors, how late it was in us."""

    mbps: float
    packets_s: float
    us: float
    user_us: float
    core: float
    p50: float
    p99: float
    most: float
    valid: bool
    priority: str


@dataclass(frozen=True)
class Bar:
    """What is asked of a row, by its number, its egress, and whether it has real-time priority."""

    run: int
    egress: str
    what: str
    of: Callable[[Found], float]
    most: float | None = None
    least: float | None = None
    real_time: bool = True

    def holds(self, found: Found) -> bool:
        """Whether a run is within it."""
        value = self.of(found)
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)


BARS = [
    Bar(2, "tun", "core", lambda f: f.core, most=0.25),
    Bar(2, "nfqueue", "core", lambda f: f.core, most=0.35),
    Bar(
        3,
        "tun",
        "Mbit/s, or hundreds of packets/s, of a core",
        lambda f: max(f.mbps, f.packets_s / 100) / f.core,
        least=3000,
    ),
    Bar(3, "tun", "us/packet", lambda f: f.us, most=2.6),
    Bar(3, "nfqueue", "us/packet", lambda f: f.us, most=4.5),
    Bar(3, "tun", "us/packet in user space", lambda f: f.user_us, most=1.2),
    Bar(3, "nfqueue", "us/packet in user space", lambda f: f.user_us, most=1.2),
    Bar(0, "tun", "p99 us late", lambda f: f.p99, most=120),
    Bar(0, "nfqueue", "p99 us late", lambda f: f.p99, most=120),
    Bar(2, "tun", "p99 us late", lambda f: f.p99, most=300),
    Bar(2, "nfqueue", "p99 us late", lambda f: f.p99, most=300),
    Bar(0, "nfqueue", "p99 us late, no real-time priority", lambda f: f.p99, most=1500, real_time=False),
]
"""Those of a machine whose other processors are idle."""


def main(binary: str) -> None:
    """Prints a table of the runs, and one of the bars."""
    heads = ("run", "egress", "Mbit/s", "us/packet", "user", "core", "p50 us", "p99 us", "max us")
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"kernel {platform.release()}, {os.cpu_count()} processors, load average {load}\n")
    print(row(*heads), "valid, priority")
    all_: dict[tuple[int, str, bool], Found] = {}
    for n, real_time in [*((n, True) for n in range(len(RUNS))), (0, False)]:
        for tsq in ("off", "on"):
            egress, found = measured(binary, n, tsq, real_time=real_time)
            all_[n, "nfqueue" if tsq == "on" else "tun", real_time] = found
            figures = (found.mbps, found.us, found.user_us, found.core, found.p50, found.p99, found.most)
            shown = [f"{figure:.2f}" for figure in figures]
            print(row(RUNS[n][0], egress, *shown), f"{'yes' if found.valid else 'no'}, {found.priority}", flush=True)
    print(row("bare veth, 1 TCP", "-", f"{veth():.2f}"))
    print(f"\n{'bar':<36} {'egress':<8} {'figure':<44} {'found':>10} {'asked':>12}")
    for bar in BARS:
        found = all_[bar.run, bar.egress, bar.real_time]
        asked = f"<= {bar.most:g}" if bar.most is not None else f">= {bar.least:g}"
        verdict = "holds" if bar.holds(found) else "MISSED"
        late = "" if found.valid else ", in a run that is not valid"
        print(
            f"{RUNS[bar.run][0]:<36} {bar.egress:<8} {bar.what:<44} {bar.of(found):>10.2f} {asked:>12} {verdict}{late}"
        )


def measured(binary: str, n: int, tsq: str, *, real_time: bool) -> tuple[str, Found]:
    """A run of a row: how its station's packets leave, and what was found."""
    _, text, options, flows = RUNS[n]
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "bench.toml"
        scenario.write_text(text.format(tsq=tsq, **options) + "".join(flows))
        command = [*([] if real_time else NO_PRIORITY), binary, "run", str(scenario)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    run = json.loads(done.stdout)["runs"][0]
    live = run["live"]
    packets, late = live["external_io"]["entered"], live["lateness"]
    cpu, elapsed = live["cpu_user_s"] + live["cpu_system_s"], live["elapsed_s"]
    figures = (packets / elapsed, cpu * 1e6 / packets, live["cpu_user_s"] * 1e6 / packets, cpu / elapsed)
    lateness = (late["p50_us"] or 0, late["p99_us"] or 0, late["max_us"])
    found = Found(run["goodput_total_mbps"], *figures, *lateness, live["valid"], live["priority"])
    return live["hosts"]["sta"]["egress"], found


def row(name: str, egress: str, *figures: str) -> str:
    """A line of the table."""
    return f"{name:<34} {egress:<8}" + "".join(f"{figure:>10}" for figure in figures)


def veth() -> float:
    """Mbit/s of one TCP flow over a pair of virtual devices between two namespaces."""
    script = """
set -e
mount -t tmpfs tmpfs /run && mkdir /run/netns
ip netns add a && ip netns add b
ip link add va netns a type veth peer name vb netns b
ip -n a addr add 10.9.0.1/24 dev va && ip -n b addr add 10.9.0.2/24 dev vb
ip -n a link set va up && ip -n b link set vb up
ip netns exec b iperf3 -s -1 >/dev/null & sleep 0.5
ip netns exec a iperf3 -c 10.9.0.2 -t 5 -J
"""
    command = ["unshare", "-mn", "--propagation", "private", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]) / 1e6


if __name__ == "__main__":
    main(sys.argv[1])
