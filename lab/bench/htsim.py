"""CPU time per delivered packet of a wired bottleneck in htsim and in Stillair, in alternating runs.

    python lab/bench/htsim.py HTSIM SCALE [--flows N] [--runs N]

HTSIM is `htsim_dumbell_tcp`, built with `make` in `sim` and `sim/tests` of github.com/Broadcom/csg-htsim. It
takes `-conns`, `-qs` and `-seed`, sends 1 MB per connection over 10 Gbit/s and 10 us in packets of 9,000
bytes, and ends after 5 s of simulated time. SCALE is the program built from crates/sim/examples/scale.rs: the
same network in Stillair, in Ethernet-sized segments, with Reno. Queues are large enough that neither program
loses packets. The time that htsim takes with one connection, for its start and clock, is subtracted; for
Stillair only the run itself counts.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BYTES, PACKET, SEGMENT = 1_000_000, 9_000, 1_448
QUEUE = 400_000
"""Queue length of the bottleneck in packets, in both programs."""


def network(flows: int) -> str:
    """The scenario: `flows` connections from one host to another."""
    text = """name = "bottleneck"
duration = "5 s"
link.wire = { rate = "10 Gbit/s", delay = "0.01 ms" }
[node.client]
profile = "linux-6.12"
interface.eth0 = { link = "wire", tso = false, gro = false, qdisc = { kind = "pfifo", limit = 400000 } }
[node.server]
profile = "linux-6.12"
interface.eth0 = { link = "wire", gro = false }
"""
    one = """[[flow]]
kind = "tcp"
from = "client"
to = "server"
bytes = "1 MB"
congestion_control = "reno"
start_spread = "1 ms"
"""
    return text + one * flows


def theirs(program: Path, flows: int, seed: int, folder: str) -> float:
    """CPU time of a run of htsim in seconds."""
    before = os.times()
    arguments = [str(program.resolve()), "-conns", str(flows), "-qs", str(QUEUE), "-seed", str(seed)]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def ours(program: Path, file: Path, seed: int) -> tuple[float, float]:
    """CPU time of a run in ns per segment, and megabytes received."""
    told = subprocess.run(
        [str(program.resolve()), "--set", f"seed={seed}", str(file)], check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"([\d.]+) s of CPU.* (\d+) ns a segment", told)
    if found is None:
        raise SystemExit(f"htsim: cannot read {told!r}")
    return float(found[2]), float(found[1]) * 1e9 / float(found[2]) * SEGMENT / 1e6


def main() -> int:
    """Prints the medians of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("htsim", type=Path)
    parser.add_argument("scale", type=Path)
    parser.add_argument("--flows", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    for program in (given.htsim, given.scale):
        if not program.is_file():
            print(f"htsim: no program {program}; see the head of lab/bench/htsim.py", file=sys.stderr)
            return 2
    packets = given.flows * -(-BYTES // PACKET)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bottleneck.toml"
        file.write_text(network(given.flows))
        them, us = [], []
        for run in range(1, given.runs + 1):
            alone = theirs(given.htsim, 1, run, folder)
            them.append((theirs(given.htsim, given.flows, run, folder) - alone) * 1e9 / packets)
            us.append(ours(given.scale, file, run))
    print(f"{given.flows} connections of 1 MB, medians of {given.runs} runs by turns")
    print(f"htsim: {statistics.median(them):.0f} ns a packet of {PACKET} bytes, {min(them):.0f} to {max(them):.0f}")
    ns = [each for each, _ in us]
    arrived = statistics.median(megabytes for _, megabytes in us)
    print(f"here: {statistics.median(ns):.0f} ns a segment, {min(ns):.0f} to {max(ns):.0f}; {arrived:.0f} MB arrived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
