"""*Ending the Anomaly* on a radio with errors fitted to three of its numbers: a part of docs/anomaly-errors.md.

The paper does not say whether frames were lost. Its UDP rates under the airtime scheduler (Table 1) are 3 to 13 % below
those of a radio without errors. So each station's error rate is what takes its UDP rate there to the printed one: three
numbers for three, and nothing else of the paper is read. With them all experiments on three stations are run, once.

Without arguments the part is printed; `--write` puts it into the page.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stillair import bundled
from stillair.papers import judge, registry, report, words

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "anomaly-errors.md"
WITHOUT = ROOT / "docs" / "results" / "ending-the-anomaly" / "claims.json"
PAPER = "ending-the-anomaly"
TITLE = "## Errors fitted to three rates of Table 1\n"

# All that is read of the paper's results.
# paper: ending-the-anomaly table1 - UDP rates under the airtime scheduler, Mbit/s.
RATES = {"fast1": 38.8, "fast2": 35.6, "slow": 2.0}
FITTED = tuple(f"eta-t1-airtime-{station}-exp" for station in RATES)
FIT_RUNS = 10
# The rate of a full channel goes with the share of frames that come whole: each step leaves a hundredth of the way.
STEPS = 4


def overrides(errors: Mapping[str, float]) -> list[tuple[str, str]]:
    """The keys that set these error rates; a virtual station on fast1's radio is `like` it."""
    return [(f"node.{station}.interface.wlan0.error_rate", f"{rate:.4f}") for station, rate in errors.items()]


def measured(errors: Mapping[str, float]) -> dict[str, float]:
    """UDP goodput of each station under the airtime scheduler."""
    chosen = [("node.ap.interface.wlan0.scheme", "airtime"), *overrides(errors)]
    over: Any = bundled.scenario("anomaly-udp").run(runs=FIT_RUNS, overrides=chosen).over_runs()
    return {station: float(over["stations"][station]["goodput_mbps"]["mean"]) for station in RATES}


def fit() -> dict[str, float]:
    """The error rate of each station at which its UDP rate is the printed one."""
    errors = dict.fromkeys(RATES, 0.0)
    for _ in range(STEPS):
        found = measured(errors)
        errors = {station: max(0.0, 1 - (1 - errors[station]) * RATES[station] / found[station]) for station in RATES}
    return {station: round(rate, 4) for station, rate in errors.items()}


def judged(errors: Mapping[str, float], runs: int | None, jobs: int | None) -> list[report.Row]:
    """Every claim about three stations, with these errors; those that were fitted to are not judged."""
    wanted = [
        entry
        for entry in registry.entries()
        if entry.experiment.paper == PAPER
        and all(campaign.settings == "three stations" for campaign in entry.plan.campaigns)
    ]
    extra = overrides(errors)
    rows = report.run(wanted, report.prepare(wanted, extra), runs, jobs, extra).rows()
    for row in rows:
        if row["id"] in FITTED:
            row["verdict"] = judge.NOT_JUDGED
    return rows


def tally(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many claims were held, of how many judged."""
    held = sum(row["verdict"] == judge.HELD for row in rows)
    missed = sum(row["verdict"] == judge.MISSED for row in rows)
    return f"{held} of {held + missed} held ({100 * held / (held + missed):.0f} %)"


def part(errors: Mapping[str, float], rows: Sequence[report.Row], without: Sequence[Mapping[str, Any]]) -> str:
    """The part of the page."""
    before = {row["id"]: row for row in without}
    same = [before[row["id"]] for row in rows]
    rest = [row for row in without if row["id"] not in {one["id"] for one in rows}]
    said = ", ".join(f"{100 * rate:.1f} % ({station})" for station, rate in errors.items())
    goal = ", ".join(f"{RATES[station]:g}" for station in RATES)
    lines = [
        TITLE,
        "`scripts/anomaly_errors.py --write` sets the chance that a frame to or from a station is lost so that the UDP",
        f"rates of Table 1's airtime block are the printed {goal} Mbit/s, and looks at no other number of the paper:",
        f"{said}. Then it runs all experiments on three stations; the three claims",
        "that were fitted to are not judged. Thirty stations have errors from their signals already and are as in the",
        "report.",
        "",
        "| | three stations | with the thirty |",
        "|---|---:|---:|",
        f"| no errors | {tally(same)} | {tally(without)} |",
        f"| errors fitted | {tally(rows)} | {tally([*rows, *rest])} |",
        "",
        "Claims whose verdict differs, and those missed by both:",
        "",
        "| claim | the paper | no errors | errors fitted | verdict |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        old = before[row["id"]]
        if row["verdict"] == old["verdict"] != judge.MISSED:
            continue
        verdict = row["verdict"] if row["verdict"] == old["verdict"] else f"{old['verdict']} -> **{row['verdict']}**"
        lines.append(
            f"| `{row['id']}` | {words.stated(row)} | {words.measured(old)} | {words.measured(row)} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints the part or puts it into the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="renew its part of docs/anomaly-errors.md")
    arguments.add_argument("--runs", type=int, help="repetitions of each cell; the paper's if not given")
    arguments.add_argument("--jobs", type=int, help="runs at a time")
    chosen = arguments.parse_args()
    errors = fit()
    without = [row for row in json.loads(WITHOUT.read_text(encoding="utf-8")) if row["paper"] == PAPER]
    text = part(errors, judged(errors, chosen.runs, chosen.jobs), without)
    if not chosen.write:
        sys.stdout.write(text)
        return
    kept = PAGE.read_text(encoding="utf-8")
    first, mark, old = kept.partition(TITLE)
    _, heading, rest = old.partition("\n## ") if mark else first.partition("\n## ")
    first = first if mark else first[: len(first) - len(heading) - len(rest)] + "\n"
    PAGE.write_text(first + text + heading + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
