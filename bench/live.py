"""What a live run costs and how late it is, beside a bare veth: `bench/live.py target/release/stillair-live`, as root.

A row is one run of iperf3 for 5 s. CPU time is that of the engine, with what the kernel does in its calls.
"""

import json
import subprocess
import sys
import tempfile
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


def main(binary: str) -> None:
    """Prints a table."""
    heads = ("run", "egress", "Mbit/s", "us/packet", "user", "core", "p50 us", "p99 us", "max us")
    print(row(*heads), "valid")
    for name, text, options, flows in RUNS:
        for tsq in ("off", "on"):
            with tempfile.TemporaryDirectory() as folder:
                scenario = Path(folder) / "bench.toml"
                scenario.write_text(text.format(tsq=tsq, **options) + "".join(flows))
                done = subprocess.run([binary, "run", scenario], capture_output=True, text=True, check=False)
            if not done.stdout:
                sys.exit(done.stderr)
            run = json.loads(done.stdout)["runs"][0]
            live = run["live"]
            packets = live["doors"]["entered"]
            cpu = live["cpu_user_s"] + live["cpu_system_s"]
            late = live["lateness"]
            figures = [run["goodput_total_mbps"], cpu * 1e6 / packets, live["cpu_user_s"] * 1e6 / packets]
            figures += [cpu / live["elapsed_s"], late["p50_us"] or 0, late["p99_us"] or 0, late["max_us"]]
            shown = [f"{figure:.2f}" for figure in figures]
            valid = "yes" if live["valid"] else "no"
            print(row(name, live["hosts"]["sta"]["egress"], *shown), f"{valid}, {live['priority']}")
    print(row("bare veth, 1 TCP", "-", f"{veth():.2f}"))


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
