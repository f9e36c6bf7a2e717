"""*Ending the Anomaly* on a radio with errors fitted to three of its numbers: docs/anomaly-errors.md.

The paper does not say whether frames were lost. Its UDP rates under the airtime scheduler (Table 1) are 3 to 13 % below
those of a radio without errors. So each station's error rate is what takes its UDP rate there to the printed one: three
numbers for three, and nothing else of the paper is read. With them all experiments on three stations are run, once.

Then one rate for all stations, whatever it explains: the totals of Table 2 and the downloads of Figures 4 and 7.

Without arguments both parts are printed; `--write` puts them into the page.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stillair import bundled
from stillair.papers import judge, registry, report, words
from stillair.papers.artefacts.schemes import TITLES

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "anomaly-errors.md"
WITHOUT = ROOT / "docs" / "results" / "ending-the-anomaly" / "claims.json"
PAPER = "ending-the-anomaly"
TITLE = "## Errors fitted to three rates of Table 1\n"
EVERYWHERE = "## One rate for all\n"
WORDS = "## What it says\n"

# All that is read of the paper's results.
# paper: ending-the-anomaly table1 - UDP rates under the airtime scheduler, Mbit/s.
RATES = {"fast1": 38.8, "fast2": 35.6, "slow": 2.0}
FITTED = tuple(f"eta-t1-airtime-{station}-exp" for station in RATES)
FIT_RUNS = 10
SOME_RUNS = 3
LOST = ("0", "0.05", "0.1", "0.15")
SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
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


def judged(errors: Mapping[str, float], runs: int, jobs: int | None) -> list[report.Row]:
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


def short(value: Any) -> str:  # noqa: ANN401 - a number, an order or nothing, as JSON has it
    """A number, or an order with its groups."""
    if isinstance(value, list):
        return " < ".join(" / ".join(rank) if isinstance(rank, list) else str(rank) for rank in value)
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value or "")


def tally(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many claims were held, of how many judged."""
    held = sum(row["verdict"] == judge.HELD for row in rows)
    missed = sum(row["verdict"] == judge.MISSED for row in rows)
    return f"{held} of {held + missed} held ({100 * held / (held + missed):.0f} %)"


def part(
    errors: Mapping[str, float], rows: Sequence[report.Row], without: Sequence[Mapping[str, Any]], runs: int
) -> str:
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
        f"{said}. Then it runs all experiments on three stations, {runs}",
        "runs a cell; the three claims that were fitted to are not judged. Thirty stations have errors from their",
        "signals already and are as in the report.",
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
        stated = words.stated(row).replace("|", "/")
        lines.append(f"| `{row['id']}` | {stated} | {short(old['measured'])} | {short(row['measured'])} | {verdict} |")
    return "\n".join(lines) + "\n"


def mean(scenario: str, lost: str, sets: Mapping[str, str]) -> Any:  # noqa: ANN401 - the summary over runs, as JSON has it
    """What a scenario gives if each frame to and from any station is lost with this chance."""
    # The other stations are `like` the first.
    chosen = {**sets, "node.fast1.interface.wlan0.error_rate": lost}
    return bundled.scenario(scenario).run(runs=SOME_RUNS, overrides=chosen).over_runs()


def calls() -> str:
    """The totals of Table 2 by the share of frames lost, beside the paper's."""
    printed = {
        (c.configuration["baseline_ms"], c.configuration["scheme"], c.configuration["qos"]): c.value
        for entry in registry.find(f"{PAPER}/table2-voip")
        for c in entry.experiment.claims
        if c.metric == "total throughput" and c.value is not None
    }
    lines = ["| scheme, mark, delay | the paper | no errors | 5 % | 10 % | 15 % |", "|---|" + "---:|" * 5]
    off: list[list[float]] = [[] for _ in LOST]
    for (delay, scheme, qos), paper in sorted(printed.items(), key=lambda one: (one[0][0], SCHEMES.index(one[0][1]))):
        sets = {
            "node.ap.interface.wlan0.scheme": scheme,
            "flow.0.mark": "CS6" if qos == "VO" else "CS0",
            "node.server.interface.eth0.qdisc.delay": f"{delay} ms",
            "node.ap.interface.eth0.qdisc.delay": f"{delay} ms",
        }
        found = [float(mean("anomaly-voip", lost, sets)["goodput_total_mbps"]["mean"]) for lost in LOST]
        for column, value in zip(off, found, strict=True):
            column.append(abs(value / paper - 1))
        told = " | ".join(f"{value:.1f}" for value in found)
        lines.append(f"| {TITLES[scheme]}, {qos}, {delay} ms | {paper:.1f} | {told} |")
    distance = " | ".join(f"{100 * sum(column) / len(column):.0f} %" for column in off)
    within = " | ".join(f"{sum(value <= judge.WITHOUT_HEDGE for value in column)} of {len(column)}" for column in off)
    lines += [f"| mean distance from the paper | | {distance} |", f"| within a quarter of it | | {within} |"]
    return "\n".join(lines) + "\n"


def downloads() -> str:
    """The downloads of Figures 4 and 7 with a tenth of all frames lost."""
    lines = [f"| | {' | '.join(TITLES[scheme] for scheme in SCHEMES)} |", "|---|" + "---:|" * len(SCHEMES)]
    for lost, said in (("0", "no errors"), ("0.1", "10 % lost")):
        over = [mean("anomaly-tcp", lost, {"node.ap.interface.wlan0.scheme": scheme}) for scheme in SCHEMES]
        rows = {
            "total": [one["goodput_total_mbps"]["mean"] for one in over],
            "a fast station": [one["stations"]["fast1"]["goodput_mbps"]["mean"] for one in over],
            "ping of the slow station": [one["stations"]["slow"]["ping_median_ms"]["mean"] for one in over],
        }
        lines += [f"| {name}, {said} | {' | '.join(f'{v:.1f}' for v in row)} |" for name, row in rows.items()]
    return "\n".join(lines) + "\n"


def everywhere() -> str:
    """The part of the page about one rate for all."""
    return "\n".join([
        EVERYWHERE,
        "The total goodput of Table 2 in Mbit/s if each frame to and from any station is lost with a fixed chance,",
        f"means of {SOME_RUNS} runs (`--set node.fast1.interface.wlan0.error_rate=0.1`; the other stations are `like`",
        "the first).\n",
        calls(),
        "And of the downloads of Figures 4 and 7 (`anomaly-tcp.toml`), Mbit/s and median pings in ms:\n",
        downloads(),
    ])  # fmt: skip


def main() -> None:
    """Prints the part or puts it into the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="renew its part of docs/anomaly-errors.md")
    arguments.add_argument("--runs", type=int, default=10, help="repetitions of each cell")
    arguments.add_argument("--jobs", type=int, help="runs at a time")
    chosen = arguments.parse_args()
    errors = fit()
    without = [row for row in json.loads(WITHOUT.read_text(encoding="utf-8")) if row["paper"] == PAPER]
    text = part(errors, judged(errors, chosen.runs, chosen.jobs), without, chosen.runs) + "\n" + everywhere()
    if not chosen.write:
        sys.stdout.write(text)
        return
    kept = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(kept[: kept.index(TITLE)] + text + "\n" + kept[kept.index(WORDS) :], encoding="utf-8")


if __name__ == "__main__":
    main()
