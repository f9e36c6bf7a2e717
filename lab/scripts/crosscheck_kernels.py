#!/usr/bin/env python3
"""Compares the model with a real kernel over the modelled air: four scenarios, into lab/results/guests/air.txt.

    lab/scripts/crosscheck_kernels.py [KERNEL]     regenerates the file and the table of docs/kernels-air.md
                                                   (default: 6.12); about 7 minutes on two cores

One and three stations with one and four uploads each; cubic and bbr, TCP small queues on and off, pacing
shift 7 and 10. Three runs of each side, with seeds 1 to 3.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from stillair import Scenario, __version__
from stillair.kernels import store
from stillair.runs.crosscheck import Row, crosscheck_with_kernels

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "kernels-air.md"
_PLACE = re.compile(r"(<!-- guests: air -->\n).*?(<!-- /guests -->)", re.DOTALL)
SCENARIOS = {
    "kernels": "1, 1",
    "kernels-4-uploads": "1, 4",
    "kernels-3-stations": "3, 1",
    "kernels-3-stations-4-uploads": "3, 4",
}
"""Scenarios, with their number of stations and uploads per station."""
RUNS = 3
HEAD = "| stations, uploads of each | control | within | goodput | srtt | ping |\n|---|---|---|---|---|---|"


def lines(name: str, rows: list[Row]) -> Iterator[str]:
    """Rows of the page's table: how many figures agree, and the smallest and largest ratio by kind."""
    first = SCENARIOS[name]
    for control in ("cubic", "bbr"):
        own = [row for row in rows if row.within is not None and f"congestion_control={control}," in row.cell]
        cells = [f"{sum(bool(row.within) for row in own)} of {len(own)}"]
        for kind in ("goodput", "srtt", "ping"):
            ratios = [row.live / row.virtual for row in own if row.what.startswith(kind)]
            cells.append(f"{min(ratios):.3f} to {max(ratios):.3f}")
        yield f"| {first} | {control} | {' | '.join(cells)} |".replace("|  |", "| |")
        first = ""


def main() -> int:
    """Writes the file, and prints how many figures agree."""
    kernel = sys.argv[1] if len(sys.argv) > 1 else "6.12"
    version = store.find(kernel).version
    parts, table, asked, agreed = [], list[str](), 0, 0
    for name in SCENARIOS:
        file = ROOT / "scenarios" / "live" / f"{name}.toml"
        found = crosscheck_with_kernels(Scenario(file), [], None, RUNS, f"uml:{kernel}", print)
        judged = [row.within for row in found.rows if row.within is not None]
        asked, agreed = asked + len(judged), agreed + sum(judged)
        table.extend(lines(name, found.rows))
        parts.append(f"scenarios/live/{name}.toml: {sum(judged)} of {len(judged)}\n\n{found.to_text()}\n")
    about = f"stillair {__version__}, Linux {version}, {RUNS} runs of each side, seeds 1 to {RUNS}"
    share = f"{agreed} of {asked} figures agree, {agreed / asked:.1%}"
    text = "\n".join([about, share, "", *parts])
    (ROOT / "lab" / "results" / "guests" / "air.txt").write_text("\n".join(line.rstrip() for line in text.split("\n")))
    said = f"Found with stillair {__version__} and Linux {version}: **{share.replace(' agree', '')}**."
    made = "\n".join([said, "", HEAD, *table, ""])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_PLACE.sub(lambda at: at[1] + made + at[2], page), encoding="utf-8")
    print(share)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
