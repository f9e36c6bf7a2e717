#!/usr/bin/env python3
"""Generates scenarios/campus.toml: fifty access points on sixteen channels, with twenty people each.

`campus.py` prints the scenario, `campus.py --write` writes the file. `--cells`, `--hall` and `--seconds`
generate variants for benchmarks.
"""

import argparse
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "scenarios" / "campus.toml"

# spec: ETSI EN 301 893 - 20 MHz channels below 5.725 GHz, without 120 to 128, which weather radars use.
CHANNELS = [36, 40, 44, 48, 52, 56, 60, 64, 100, 104, 108, 112, 116, 132, 136, 140]

# Activity of a table, people at it, and its position in the cell of 10 m by 10 m, in metres.
TABLES = [("read", 2, (1, 2)), ("write", 12, (9, 2)), ("talk", 2, (2, 9)), ("meet", 2, (8, 8)), ("fetch", 2, (5, 1))]

HEAD = """\
# Fifty access points on sixteen channels, a thousand people at work: what do calls wait for, do fair queues help?
# They wait little: half of the calls have 99 of 100 packets within 17 ms, one in ten needs 69 ms or more. With a fifo
# in place of fair queues at all access points it is 21 ms and 125 ms.
# Written by scripts/campus.py. Cells of 10 m by 10 m, as an office of four access points in IEEE 802.11-14/0980 (TGax,
# scenario 2). Those of one channel are 44 m apart or more: some hear each other, others do not. In these 8 s a hundred
# people load a page, as many as of 375 who read each for 30 s, and a hundred fetch a file of 2 MB (times and sizes:
# NGMN, Radio Access Performance Evaluation Methodology, 2008, annex A). A call's picture has the 1.5 Mbit/s that
# Microsoft recommends for calls of two (Prepare your organization's network for Teams). How much is typed is a guess.
name = "campus"
duration = "{seconds} s"
warm_up = "2 s"
"""


def station(name: str, count: int, ap: str, channel: str, place: tuple[int, int], first: str | None) -> str:
    """A table of stations. All but the first of its kind inherit from the first."""
    x, y = place
    at = f'position = "{x} m, {y} m"'
    if first is None:
        wlan = f'channel = "{channel}", role = "station", ap = "{ap}.wlan0", rate = "minstrel_ht"'
        return f'node.{name} = {{ count = {count}, profile = "linux-6.12", {at}, interface.wlan0 = {{ {wlan} }} }}\n'
    wlan = f'channel = "{channel}", ap = "{ap}.wlan0"'
    return f'node.{name} = {{ inherits = "{first}", count = {count}, {at}, interface.wlan0 = {{ {wlan} }} }}\n'


def campus(cells: int = 50, row: int = 10, channels: list[int] | None = None, seconds: int = 10) -> str:
    """Returns a scenario of `cells` cells in rows of `row`."""
    numbers = channels or CHANNELS
    text = HEAD.format(seconds=seconds)
    for number in numbers:
        text += f'channel.c{number} = {{ band = "5 GHz", width = "20 MHz", capture = "10 dB" }}\n'
    for n in range(1, cells + 1):
        text += f'link.l{n} = {{ rate = "1 Gbit/s", delay = "5 ms" }}\n'
    text += '[node.servers]\nprofile = "linux-6.12"\n'
    for n in range(1, cells + 1):
        text += f'interface.eth{n}.link = "l{n}"\n'
    text += "[node]\n"
    rows = ""
    for n in range(cells):
        x, y, channel, ap = 10 * (n % row), 10 * (n // row), f"c{numbers[n % len(numbers)]}", f"ap{n + 1}"
        at = f'position = "{x + 5} m, {y + 5} m"'
        if n == 0:
            rows += f'{ap} = {{ profile = "linux-6.12", forward = true, {at}, interface.eth0.link = "l1", '
            rows += f'interface.wlan0 = {{ channel = "{channel}", role = "ap" }} }}\n'
        else:
            rows += f'{ap} = {{ inherits = "ap1", {at}, interface.eth0.link = "l{n + 1}", '
            rows += f'interface.wlan0.channel = "{channel}" }}\n'
        for kind, count, (dx, dy) in TABLES:
            first = None if n == 0 else f"{kind}1at"
            rows += station(f"{kind}{n + 1}at", count, ap, channel, (x + dx, y + dy), first).removeprefix("node.")
    text += rows
    return text + FLOWS


FLOWS = """\
[[flow]]
name = "page"
kind = "web"
from = "read*"
to = "servers"
page = "large"
interval = "30 s"
start_spread = "8 s"
[[flow]]
name = "typing"
kind = "tcp"
from = "write*"
to = "servers"
rate = "64 kbit/s"
write_size = "2 kB"
start_spread = "1 s"
[[flow]]
name = "call"
kind = "voip"
from = "servers"
to = ["talk*", "meet*"]
bidirectional = true
start_spread = "1 s"
[[flow]]
name = "picture"
kind = "video"
from = "servers"
to = "meet*"
rate = "1.5 Mbit/s"
bidirectional = true
start_spread = "1 s"
[[flow]]
name = "file"
kind = "tcp"
from = "servers"
to = "fetch*"
bytes = "2 MB"
start_spread = "8 s"
[sweep]
node.ap1.interface.wlan0.scheme = ["fifo", "mac80211"]
"""


def main() -> None:
    """Prints or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="into scenarios/campus.toml")
    parser.add_argument("--cells", type=int, default=50, help="access points")
    parser.add_argument("--hall", action="store_true", help="all cells on one channel")
    parser.add_argument("--seconds", type=int, default=10, help="how long it is run")
    given = parser.parse_args()
    text = campus(given.cells, channels=CHANNELS[:1] if given.hall else None, seconds=given.seconds)
    if given.write:
        FILE.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
