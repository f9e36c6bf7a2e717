#!/usr/bin/env python3
"""Puts a sweep of scenarios/ath9k-mcs.toml beside the public measurements of the same settings, as a table in Markdown.

    stillair sweep scenarios/ath9k-mcs.toml -o results/mcs
    scripts/compare_mcs.py results/mcs/sweep.csv docs/ath9k-mcs.svg

Goodput in Mbit/s and the median ping in ms: measured, and here. The measurements are those of 30 s without ECN.
A second argument is where the same is drawn.
"""

import csv
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from stillair.papers import style

MEASURED = Path(__file__).parents[1] / "python/stillair/papers/data/measurements/ath9k-mcs-2016.csv"
SCHEMES = {
    "airtime": "fq_mac+airtime",
    "fq_codel": "stock-4.4-fq_codel?",
    "fifo": "stock-4.4-pfifo_1000",
}
SCHEME, RATE = "node.ap.interface.wlan0.scheme", "node.osx.interface.wlan0.rate"
STATIONS = ("osx", "linux")


class Cell(NamedTuple):
    """One MCS with one scheme: measured, and here."""

    mcs: int
    goodput: tuple[float, float]
    ping: tuple[float, float]


def cells(rows: list[dict[str, str]], scheme: str, measured: dict[tuple[str, str], dict[str, str]]) -> list[Cell]:
    """What was measured with a scheme beside what is here."""
    found = []
    for row in (row for row in rows if row[SCHEME] == scheme):
        mcs = row[RATE].removeprefix("ht20-mcs").removesuffix("-sgi")
        theirs = measured[SCHEMES[scheme], mcs]
        ping = statistics.fmean(float(row[f"{station}.ping_median_ms"]) for station in STATIONS)
        goodput = (float(theirs["sum_mbps"]), float(row["goodput_total_mbps"]))
        found.append(Cell(int(mcs), goodput, (float(theirs["ping_p50_ms"]), ping)))
    return found


def main() -> int:
    """The command line."""
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: compare_mcs.py SWEEP.csv [FIGURE.svg]")
    with MEASURED.open() as file:
        measured = {(row["scheme"], row["mcs"]): row for row in csv.DictReader(file) if wanted(row)}
    with Path(sys.argv[1]).open() as file:
        rows = list(csv.DictReader(file))
    found = {scheme: cells(rows, scheme, measured) for scheme in SCHEMES}
    for scheme, name in SCHEMES.items():
        print(f"\n`{scheme}`, measured with {name}:\n")
        print("| MCS | Mbit/s measured | here | here / measured | ping measured, ms | here |")
        print("|---|---|---|---|---|---|")
        for mcs, (there, here), (before, ping) in found[scheme]:
            print(f"| {mcs} | {there:.1f} | {here:.1f} | {here / there:.2f} | {before:.1f} | {ping:.1f} |")
        ratios = [here / there for _, (there, here), _ in found[scheme]]
        print(f"\nMedian of the ratios {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}.")
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_bytes(picture(found))
    return 0


def picture(found: dict[str, list[Cell]]) -> bytes:
    """Goodput and pings over the MCS."""
    colours = {"airtime": style.BLUE, "fq_codel": style.GREEN, "fifo": style.VERMILION}
    with style.styled():
        drawn = style.new(8.0, 3.2)
        goodput, ping = drawn.subplots(1, 2)
        for scheme, of in found.items():
            xs = [cell.mcs for cell in of]
            for axes, ys in ((goodput, [cell.goodput for cell in of]), (ping, [cell.ping for cell in of])):
                axes.plot(xs, [here for _, here in ys], ".-", color=colours[scheme], label=scheme)
                axes.plot(xs, [there for there, _ in ys], "x", color=colours[scheme])
        goodput.set_ylabel("goodput, Mbit/s")
        goodput.set_title("Four TCP flows (crosses: measured)", loc="left", fontsize=10)
        goodput.legend(loc="upper left")
        ping.set_yscale("log")
        ping.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ping.set_ylabel("median ping, ms")
        for axes in (goodput, ping):
            axes.set_xlabel("MCS")
        return style.save(drawn, "svg")


def wanted(row: dict[str, str]) -> bool:
    """A measurement of the scenario's settings."""
    settings = {"set": "airtime-c2", "direction": "ap-to-stations", "ecn": "no", "length_s": "30", "cc": "cubic"}
    return all(row[key] == value for key, value in settings.items())


if __name__ == "__main__":
    sys.exit(main())
