"""What a delivered packet costs with 3, 30, 300 and 1,000 stations, and what a campus takes.

python bench/scale.py SCALE [--stations N]... [--kind KIND]... [--instructions | --day HOURS]

SCALE is what crates/sim/examples/scale.rs becomes. `udp`: datagrams of 210 Mbit/s in all to stations of two rates, as
scenarios/bench/stations-N.toml have them, more than goes over the air. `bursts`: 60 Mbit/s in all, sixteen packets to a
station at a time, so that an exchange has as many frames and nothing is lost, however many stations there are. `tcp`: a
greedy download to each station. `apart`: as `udp`, in two halves that do not hear each other. With --instructions
valgrind counts them, which no other program disturbs. `--day` prints the memory of a run of so many hours at each tenth
of it: four stations, each pinged every second, one of them in a call, one that loads a page every minute.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = (3, 30, 300, 1000)
KINDS = ("bursts", "udp", "tcp", "apart")
AP = 'interface.wlan0 = { channel = "wifi", role = "ap", scheme = "airtime", address = "10.0.1.1" }'
RATES = {
    "bursts": ("ht20-mcs15-sgi", "ht20-mcs7-sgi"),
    "udp": ("ht20-mcs15-sgi", "ht20-mcs7-sgi"),
    "tcp": ("ht20-mcs15-sgi", "ht20-mcs7-sgi"),
    "apart": ("ht20-mcs3-lgi",) * 2,
}


def network(kind: str, stations: int, seconds: int) -> str:
    """The scenario of so many stations, half of them at another rate or in another place."""
    places = ('position = "26 m, 1 m"', 'position = "0 m, 1 m"', 'position = "53 m, 1 m"')
    ap_at, *at = places if kind == "apart" else ("", "", "")
    if kind == "tcp":
        flow = 'kind = "tcp"\nstart_spread = "1 s"'
    else:
        bursts = f'rate = "{60_000 // stations} kbit/s"\nburst = 16'
        rate = bursts if kind == "bursts" else f'rate = "{210_000 // stations} kbit/s"'
        flow = f'kind = "udp"\n{rate}\npayload = 1472\ngap = "exponential"\nstart_spread = "1 s"'
    text = f"""name = "scale-{kind}-{stations}"
duration = "{seconds} s"
warm_up = "0 s"
seed = 1
channel.wifi = {{ band = "5 GHz", width = "20 MHz" }}
link.lan = {{ rate = "1 Gbit/s", delay = "1 ms" }}
node.server = {{ profile = "linux-4.4", interface.eth0 = {{ link = "lan", address = "10.0.0.2" }} }}
[node.ap]
profile = "linux-4.6"
forward = true
{ap_at}
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
{AP}
"""
    halves = (stations + 1) // 2, stations // 2
    each = zip(("one", "two"), halves, RATES[kind], at, ("10.1.0.0", "10.2.0.0"), strict=True)
    for name, count, rate, place, address in each:
        text += f'[node.{name}]\ncount = {count}\nprofile = "linux-4.4"\n{place}\n'
        wlan = f'channel = "wifi", role = "station", ap = "ap.wlan0", address = "{address}", rate = "{rate}"'
        text += f"interface.wlan0 = {{ {wlan} }}\n"
    return text + f'[[flow]]\nfrom = "server"\nto = ["one", "two"]\n{flow}\n'


def day(hours: int) -> str:
    """The scenario of a network at home, so long."""
    flows = (
        'kind = "ping"\nfrom = "server"\nto = "sta*"\ninterval = "1 s"',
        'kind = "voip"\nfrom = "server"\nto = "sta1"\nbidirectional = true',
        'kind = "web"\nfrom = "sta2"\nto = "server"\npage = "small"\ninterval = "60 s"',
    )
    wlan = 'channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs7-sgi"'
    return f"""name = "day"
duration = "{3600 * hours} s"
warm_up = "0 s"
seed = 1
channel.wifi = {{ band = "5 GHz", width = "20 MHz", beacon_interval = "off" }}
link.lan = {{ rate = "100 Mbit/s", delay = "10 ms" }}
node.server = {{ profile = "linux-4.4", interface.eth0 = {{ link = "lan" }} }}
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = {{ link = "lan" }}
{AP.replace(', address = "10.0.1.1"', "")}
[node.sta]
count = 4
profile = "linux-4.4"
interface.wlan0 = {{ {wlan} }}
""" + "".join(f"[[flow]]\n{flow}\n" for flow in flows)


def counted(program: str, file: Path) -> tuple[int, int, int]:
    """Instructions of a run with all before and after it, packets and segments that it delivered."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--once", str(file)],
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", run.stderr)
    if found is None:
        raise SystemExit(f"scale: valgrind counts nothing: {run.stderr[-300:]}")
    packets, segments = run.stdout.split()
    return int(found[1]), int(packets), int(segments)


def main() -> int:
    """A line for each kind and number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--stations", type=int, action="append")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--day", type=int, metavar="HOURS")
    given = parser.parse_args()
    if given.instructions and shutil.which("valgrind") is None:
        print("scale: no valgrind (apt-get install valgrind)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if given.day is not None:
            file = Path(folder) / "day.toml"
            file.write_text(day(given.day))
            return subprocess.run([given.program, "--tenths", str(file)], check=True).returncode
        for kind in given.kind or KINDS:
            for stations in given.stations or SIZES:
                file = Path(folder) / f"{kind}-{stations}.toml"
                file.write_text(network(kind, stations, given.seconds))
                subprocess.run([given.program, str(file)], check=True)
                if given.instructions:
                    # Without what is before the run and its first seconds, when sessions open.
                    short = Path(folder) / "short.toml"
                    short.write_text(network(kind, stations, 2))
                    (all_of, packets, segments), (first, *less) = (
                        counted(given.program, file),
                        counted(given.program, short),
                    )
                    per = (all_of - first) / (packets - less[0])
                    text = f"{kind} {stations}: {per:.0f} instructions a delivered packet"
                    if segments:
                        text += f", {(all_of - first) / (segments - less[1]):.0f} a segment"
                    print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
