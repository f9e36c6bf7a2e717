"""Measures each part of the airtime scheduler with runs that change one part at a time: docs/pieces.md.

An experiment of our own, not a claim of a paper. Prints the page by default; `--write` regenerates it.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stillair.results.result import Result
from stillair.runs import bundled

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pieces.md"
RUNS = 10
SCHEME = "node.ap.interface.wlan0.scheme"


class Piece(NamedTuple):
    """A change to the scheme `airtime`."""

    name: str
    sets: Mapping[str, str]


def _of(**settings: str) -> dict[str, str]:
    return {f"{SCHEME}.{key}": value for key, value in settings.items()}


PIECES = (
    Piece("unchanged", {}),
    Piece("no priority for sparse stations", _of(sparse="false")),
    Piece("received frames not charged", _of(charge_rx="false")),
    Piece("no relaxed CoDel for slow stations", _of(slow_below="1 bit/s")),
    Piece("no CoDel", _of(target="10 s", slow_target="10 s")),
    Piece("airtime quantum 100 us", _of(quantum="100 us")),
    Piece("airtime quantum 1 ms", _of(quantum="1 ms")),
    Piece("airtime quantum 4 ms", _of(quantum="4 ms")),
    Piece("flow quantum 1514 B", _of(fq_quantum="1514 B")),
    Piece("1 aggregate in the hardware", _of(hw_aggregates="1")),
    Piece("4 aggregates in the hardware", _of(hw_aggregates="4")),
    Piece("a pool of 1 queue", _of(flows="1")),
    Piece("a pool of 2 queues", _of(flows="2")),
    Piece("limit 1024 packets", _of(limit="1024")),
    Piece("no limit of truesize", _of(memory_limit="1024 MiB")),
    Piece("limit 1 MiB of truesize", _of(memory_limit="1 MiB")),
    Piece("station by station, as the paper prints it", {SCHEME: "airtime_as_printed"}),
    Piece("the scheduler of mac80211 since 5.1", {SCHEME: "mac80211"}),
    Piece("the virtual time of 5.14", {SCHEME: '{ kind = "mac80211", kernel = "linux-5.14" }'}),
    Piece("the rounds of 6.0", {SCHEME: '{ kind = "mac80211", kernel = "linux-6.0" }'}),
    Piece("no airtime scheduler: fq_mac", {SCHEME: "fq_mac"}),
    Piece(
        "the same, but a station that finds no room keeps its turn",
        {SCHEME: '{ kind = "fq_mac", kernel = "linux-4.11" }'},
    ),
    Piece("no queues in the MAC: fq_codel", {SCHEME: "fq_codel"}),
    Piece("no flow queues: fifo", {SCHEME: "fifo"}),
)

TABLES = (
    (
        "A download to each of three stations",
        "anomaly-sparse-tcp",
        "A fourth station is only pinged.",
        ("total", "share slow", "ping fast1", "ping slow", "ping fast3"),
    ),
    (
        "A download to and an upload from each",
        "anomaly-tcp-both",
        "",
        ("total", "share slow", "ping fast1", "ping slow"),
    ),
    (
        "A flood of 100 Mbit/s of UDP to each",
        "anomaly-udp",
        "",
        ("total", "share slow", "ping fast1", "ping slow"),
    ),
)

HEAD = f"""# The effect of each part of the airtime scheduler

This page changes one part of the scheme `airtime` at a time, in the three-station network of *Ending the Anomaly*. It
is an experiment of this project. The tables have means of {RUNS} runs; `lab/scripts/pieces.py --write` updates them.
Each row is the scheme with the settings in its last column, under `node.ap.interface.wlan0.scheme`.

Columns: total goodput in Mbit/s, the slow station's share of the airtime in per cent, median ping in ms.
"""


def measure(result: Result, column: str) -> float:
    """Mean of a column over the runs."""
    over: Any = result.summary()
    what, _, station = column.partition(" ")
    if what == "total":
        return float(over["goodput_total_mbps"]["mean"])
    key, scale = ("airtime_share", 100) if what == "share" else ("ping_median_ms", 1)
    found = over["stations"][station][key]
    return float(found["mean"]) * scale if found else float("nan")


def page(runs: int = RUNS, extra: Mapping[str, str] | None = None) -> str:
    """The page, all tables."""
    parts = [HEAD]
    for title, scenario, note, columns in TABLES:
        lines = [f"| change | {' | '.join(columns)} | settings |", "|---|" + "---:|" * len(columns) + "---|"]
        for piece in PIECES:
            base = {SCHEME: "airtime"} if SCHEME not in piece.sets else {}
            result = bundled.scenario(scenario).run(runs=runs, overrides={**base, **piece.sets, **(extra or {})})
            values = [f"{measure(result, column):.1f}" for column in columns]
            said = ", ".join(
                f"`{key.removeprefix(SCHEME).lstrip('.') or 'kind'} = {v}`" for key, v in piece.sets.items()
            )
            lines.append(f"| {piece.name} | {' | '.join(values)} | {said} |")
        parts += [f"## {title}\n", f"`{scenario}.toml`. {note}".strip() + "\n", "\n".join(lines) + "\n"]
    return "\n".join(parts)


def main() -> None:
    """Prints the page or writes it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="renew docs/pieces.md")
    arguments.add_argument("--runs", type=int, default=RUNS)
    chosen = arguments.parse_args()
    text = page(chosen.runs)
    if chosen.write:
        kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        _, mark, words = kept.partition("## What it says\n")
        PAGE.write_text(text + ("\n" + mark + words if mark else ""), encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
