#!/usr/bin/env python3
"""Puts a sweep of scenarios/ath9k-mcs.toml beside the public measurements of the same settings, as a table in Markdown.

    stillair sweep scenarios/ath9k-mcs.toml -o results/mcs
    scripts/compare_mcs.py results/mcs/sweep.csv

Goodput in Mbit/s and the median ping in ms: measured, and here. The measurements are those of 30 s without ECN.
"""

import csv
import statistics
import sys
from pathlib import Path

MEASURED = Path(__file__).parents[1] / "python/stillair/papers/data/data/ath9k-mcs-2016.csv"
SCHEMES = {
    "airtime": "fq_mac+airtime",
    "fq_codel": "stock-4.4-fq_codel?",
    "fifo": "stock-4.4-pfifo_1000",
}
SCHEME, RATE = "node.ap.interface.wlan0.scheme", "node.osx.interface.wlan0.rate"
STATIONS = ("osx", "linux")


def main() -> int:
    """The command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: compare_mcs.py SWEEP.csv")
    with MEASURED.open() as file:
        measured = {(row["scheme"], row["mcs"]): row for row in csv.DictReader(file) if wanted(row)}
    with Path(sys.argv[1]).open() as file:
        rows = list(csv.DictReader(file))
    for scheme, name in SCHEMES.items():
        print(f"\n`{scheme}`, measured with {name}:\n")
        print("| MCS | Mbit/s measured | here | here / measured | ping measured, ms | here |")
        print("|---|---|---|---|---|---|")
        ratios = []
        for row in (row for row in rows if row[SCHEME] == scheme):
            mcs = row[RATE].removeprefix("ht20-mcs").removesuffix("-sgi")
            theirs = measured[name, mcs]
            goodput, there = float(row["goodput_total_mbps"]), float(theirs["sum_mbps"])
            ping = statistics.fmean(float(row[f"{station}.ping_median_ms"]) for station in STATIONS)
            ratios.append(goodput / there)
            print(f"| {mcs} | {there:.1f} | {goodput:.1f} | {ratios[-1]:.2f} | {theirs['ping_p50_ms']} | {ping:.1f} |")
        print(f"\nMedian of the ratios {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}.")
    return 0


def wanted(row: dict[str, str]) -> bool:
    """A measurement of the scenario's settings."""
    settings = {"set": "airtime-c2", "direction": "ap-to-stations", "ecn": "no", "length_s": "30", "cc": "cubic"}
    return all(row[key] == value for key, value in settings.items())


if __name__ == "__main__":
    sys.exit(main())
