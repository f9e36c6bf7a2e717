#!/usr/bin/env python3
"""The grid of *Towards 1 ms WLAN Latency* under several kernels: a table and a picture.

    lab/scripts/kernels_on_wifi.py FOLDER [--runs 5]

Five congestion controls, default small queues and 64 KB per flow, fq_codel everywhere, one upload and RRUL
all in best effort, over the paper's USB device at both ends. Writes `kernels.txt` and `kernels.svg` into
FOLDER.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stillair.results.statistics import Interval, interval
from stillair.runs import bundled
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.measure import samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KERNELS = {
    "linux-4.14": style.BLUE,
    "linux-5.10": style.ORANGE,
    "linux-6.1": style.GREEN,
    "linux-6.18": style.VERMILION,
}
CONTROLS = {"bbr": "o", "cubic": "s", "nv": "D", "reno": "^", "yeah": "v"}
LIMITS = ("TSQ", "64KB")
TESTS = {"tcp_1up": "one upload", "rrul_be": "four uploads and four downloads, all best effort"}


class Cell(NamedTuple):
    """Results of a cell."""

    kernel: str
    cc: str
    limit: str
    test: str
    up: Interval
    down: Interval | None
    ping: Interval


def run(kernel: str, cc: str, limit: str, test: str, runs: int) -> Cell:
    """Runs a cell of the grid."""
    overrides = {"test.name": test}
    for node in ("client", "router", "server"):
        overrides[f"node.{node}.profile"] = kernel
    for node in ("client", "server"):
        overrides[f"node.{node}.sysctl.net.ipv4.tcp_congestion_control"] = cc
        if limit == "64KB":
            overrides[f"node.{node}.tcp.tsq_bytes"] = "64 KiB"
    result = bundled.scenario("one-ms").run(runs=runs, overrides=overrides, series=True)

    def of(what: str) -> Interval | None:
        values = [samples.of_run(result, one, what, "mean") for one in result.runs]
        found = [value for value in values if value is not None]
        return interval(found) if found else None

    up, down, ping = (of(what) for what in ("up_mbps", "down_mbps", "ping_ms"))
    if up is None or ping is None:
        raise SystemExit(f"{kernel}, {cc}, {limit}, {test}: nothing measured")
    return Cell(kernel, cc, limit, test, up, down, ping)


def text(cells: list[Cell]) -> str:
    """The grid as tables."""
    parts = ["Means over the runs and the time of the load; ping in ms, goodput in Mbit/s."]
    for test, title in TESTS.items():
        both = test != "tcp_1up"
        rows = []
        for cc in CONTROLS:
            for limit in LIMITS:
                row = [f"{cc}, {limit}"]
                for kernel in KERNELS:
                    cell = next(c for c in cells if (c.kernel, c.cc, c.limit, c.test) == (kernel, cc, limit, test))
                    down = f" {cell.down.mean:.0f}" if cell.down is not None and both else ""
                    row += [f"{cell.ping.mean:.1f}", f"{cell.up.mean:.0f}{down}"]
                rows.append(row)
        named = "up down" if both else "up"
        heading = ["", *(h for k in KERNELS for h in (f"{k.removeprefix('linux-')} ping", named))]
        parts.append(f"{title[0].upper()}{title[1:]}\n\n{table(heading, rows)}")
    return "\n\n".join(parts) + "\n"


def picture(cells: list[Cell]) -> bytes:
    """Goodput of both directions against ping.

    Colours are kernels, markers congestion controls, hollow markers 64 KB.
    """
    with style.styled():
        drawn = style.new(9.6, 4.0)
        for place, (test, title) in enumerate(TESTS.items()):
            axes = drawn.add_subplot(1, 2, place + 1)
            for cell in (c for c in cells if c.test == test):
                colour = KERNELS[cell.kernel]
                total = cell.up.mean + (cell.down.mean if cell.down else 0)
                face = colour if cell.limit == "TSQ" else "white"
                axes.plot(cell.ping.mean, total, CONTROLS[cell.cc], color=colour, markerfacecolor=face, markersize=6)
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
            axes.set_ylim(0, 105)
            axes.set_xlabel("mean ping RTT, ms")
            axes.set_title(title, loc="left", fontsize=10)
            axes.grid(axis="x")
            if place == 0:
                axes.set_ylabel("goodput, Mbit/s")
                legend(axes)
        return style.save(drawn, "svg")


def legend(axes: "Axes") -> None:
    """Legend for colours, markers and fill."""
    for kernel, colour in KERNELS.items():
        axes.plot([], [], "o", color=colour, label=kernel)
    for cc, marker in CONTROLS.items():
        axes.plot([], [], marker, color=style.FAINT, label=cc)
    axes.plot([], [], "o", color=style.FAINT, markerfacecolor="white", label="64 KB a flow")
    axes.legend(loc="lower right", ncols=2, fontsize=8)


def main() -> None:
    """Runs the grid and writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    grid = [(k, cc, limit, test) for test in TESTS for k in KERNELS for cc in CONTROLS for limit in LIMITS]
    cells = [run(*where, given.runs) for where in grid]
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "kernels.txt").write_text(text(cells), encoding="utf-8")
    (given.folder / "kernels.svg").write_bytes(picture(cells))


if __name__ == "__main__":
    main()
