#!/usr/bin/env python3
"""Compares retry-out at the AP, fewer tries at the station, and both, under Linux 3.13 and 6.18.

    lab/scripts/retry_out.py FOLDER [--runs 10]

One upload with a concurrent ping in the house of the retry-out paper, at rates of its table. Writes
`remedies.txt` and `remedies.svg` into FOLDER.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from stillair.results.statistics import Interval, interval
from stillair.runs import bundled
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.measure import scatter
from stillair_lab.papers.runs.plan import plan

RATES = {
    "6.5": "ht20-mcs0-lgi",
    "13": "ht20-mcs1-lgi",
    "26": "ht20-mcs3-lgi",
    "39": "ht20-mcs4-lgi",
    "81": "ht40-mcs4-lgi",
}
ERRORS = (5, 10, 20, 30)
_PLACING = scatter.placing(plan("retry-out"))
_PLAIN = {"node.sta.sysctl.net.ipv4.tcp_limit_output_bytes": "43520000"}
_TODAY = {
    **{f"node.{node}.profile": "linux-6.18" for node in ("sta", "ap", "server")},
    **{f"node.{node}.interface.wlan0.scheme": '{ kind = "mac80211", kernel = "linux-6.16" }' for node in ("sta", "ap")},
    **{f"node.{node}.interface.wlan0.retry_limit": "30" for node in ("sta", "ap")},
}
STATIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "3.13": ("Linux 3.13, no small queues", _PLAIN),
    "6.18": ("Linux 6.18, as it is", _TODAY),
    "6.18 tsq off": ("Linux 6.18, no small queues", {**_TODAY, "node.sta.tcp.tsq": "off"}),
}
_AT_AP = {"node.ap.interface.wlan0.retry_out": "by_rate"}
_AT_STATION = {"node.sta.interface.wlan0.retry_limit_by_rate": "true"}
METHODS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "none": (style.VERMILION, {}),
    "access point": (style.BLUE, _AT_AP),
    "station": (style.GREEN, _AT_STATION),
    "both": (style.PURPLE, {**_AT_AP, **_AT_STATION}),
}
_MARKERS = {"3.13": "o", "6.18": "s", "6.18 tsq off": "D"}


class Cell(NamedTuple):
    """Results of a cell."""

    station: str
    method: str
    rate: str
    error: int
    ping: Interval
    goodput: Interval
    queue: Interval


def run(station: str, method: str, rate: str, error: int, runs: int) -> Cell:
    """Runs a cell."""
    path = {
        "node.sta.interface.wlan0.rate": RATES[rate],
        "node.sta.interface.wlan0.error_rate": f"{error / 100:.2f}",
    }
    overrides = {**path, **STATIONS[station][1], **METHODS[method][1]}
    result = bundled.scenario("retry-out").run(runs=runs, overrides=overrides)
    own = [one["stations"]["sta"] for one in result.runs]
    ping, goodput = (interval([values[key] or 0.0 for values in own]) for key in ("ping_mean_ms", "goodput_mbps"))
    return Cell(
        station, method, rate, error, ping, goodput, interval([scatter.queue(_PLACING, one) for one in result.runs])
    )


def text(cells: list[Cell]) -> str:
    """A table for each kind of station: a row per rate and error; ping, goodput and queue by method."""
    parts = ["Means over the runs: ping in ms, goodput in Mbit/s, packets in the station's discipline and driver."]
    for station, (title, _) in STATIONS.items():
        rows = []
        for rate in RATES:
            for error in ERRORS:
                row = [f"{rate} Mbit/s, {error} %"]
                for method in METHODS:
                    cell = next(c for c in cells if c[:4] == (station, method, rate, error))
                    row += [f"{cell.ping.mean:.0f}", f"{cell.goodput.mean:.1f}", f"{cell.queue.mean:.0f}"]
                rows.append(row)
        heading = ["rate, broken", *(h for method in METHODS for h in (f"{method}: ping", "goodput", "queue"))]
        parts.append(f"{title}\n\n{table(heading, rows)}")
    return "\n\n".join(parts) + "\n"


def picture(cells: list[Cell], error: int = 20) -> bytes:
    """Ping, and goodput relative to no method, by rate; colours for methods, markers for stations."""
    with style.styled():
        drawn = style.new(9.6, 3.8)
        for place, (what, label) in enumerate(
            {"ping": "average ping RTT, ms", "goodput": "throughput over that without, %"}.items()
        ):
            axes = drawn.add_subplot(1, 2, place + 1)
            for station, marker in _MARKERS.items():
                for method, (colour, _) in METHODS.items():
                    line = [c for c in cells if c[:2] == (station, method) and c.error == error]
                    plain = [c for c in cells if c[:2] == (station, "none") and c.error == error]
                    values = [getattr(c, what).mean for c in line]
                    if what == "goodput":
                        values = [100 * v / base.goodput.mean for v, base in zip(values, plain, strict=True)]
                    axes.plot(
                        [float(c.rate) for c in line], values, f"{marker}-", color=colour, markersize=5, linewidth=1
                    )
            axes.set_xscale("log")
            if what == "ping":
                axes.set_yscale("log")
            axes.set_xticks([float(rate) for rate in RATES], list(RATES))
            axes.xaxis.set_minor_formatter(lambda *_: "")
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.yaxis.set_minor_formatter(lambda *_: "")
            axes.set_xlabel(f"data rate, Mbit/s; {error} % of the frames broken")
            axes.set_ylabel(label)
            axes.grid(axis="x")
        for method, (colour, _) in METHODS.items():
            axes.plot([], [], "-", color=colour, label=f"gives up: {method}")
        for station, marker in _MARKERS.items():
            axes.plot([], [], marker, color=style.FAINT, label=STATIONS[station][0])
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return style.save(drawn, "svg")


def main() -> None:
    """Runs all cells and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    given = parser.parse_args()
    grid = [(s, method, rate, error) for s in STATIONS for method in METHODS for rate in RATES for error in ERRORS]
    cells = [run(*where, given.runs) for where in grid]
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "remedies.txt").write_text(text(cells), encoding="utf-8")
    (given.folder / "remedies.svg").write_bytes(picture(cells))


if __name__ == "__main__":
    main()
