#!/usr/bin/env python3
"""The model beside a real kernel over the modelled air: four scenarios, into docs/results/guests/air.txt.

    scripts/agree_kernels.py [KERNEL]     makes the file anew (6.12 if no kernel is named); some 7 minutes on two cores

One and three stations, one and four uploads each; cubic and bbr, small queues on and off, pacing shift 7 and 10.
Three runs of each side, seeds 1 to 3.
"""

import sys
from pathlib import Path

from stillair import Scenario, __version__
from stillair.kernels import store
from stillair.runs.agree import agree_with_kernels

ROOT = Path(__file__).resolve().parents[1]
SCENARIOS = ("kernels", "kernels-4-uploads", "kernels-3-stations", "kernels-3-stations-4-uploads")
RUNS = 3


def main() -> int:
    """Writes the file, and prints how many figures agree."""
    kernel = sys.argv[1] if len(sys.argv) > 1 else "6.12"
    version = store.find(kernel).version
    parts, asked, agreed = [], 0, 0
    for name in SCENARIOS:
        file = ROOT / "scenarios" / "live" / f"{name}.toml"
        found = agree_with_kernels(Scenario(file), [], None, RUNS, f"uml:{kernel}", print)
        judged = [row.within for row in found.rows if row.within is not None]
        asked, agreed = asked + len(judged), agreed + sum(judged)
        parts.append(f"scenarios/live/{name}.toml: {sum(judged)} of {len(judged)}\n\n{found.to_text()}\n")
    about = f"stillair {__version__}, Linux {version}, {RUNS} runs of each side, seeds 1 to {RUNS}"
    share = f"{agreed} of {asked} figures agree, {agreed / asked:.1%}"
    text = "\n".join([about, share, "", *parts])
    (ROOT / "docs" / "results" / "guests" / "air.txt").write_text("\n".join(line.rstrip() for line in text.split("\n")))
    print(share)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
