"""Rates and losses at the stations of *Ending the Anomaly*: docs/anomaly-rates.md.

The paper is judged with three settings side by side: the printed rates without losses; rate control
everywhere; and rate control at the fast stations, with SNRs at all three stations for which their UDP rates
under the airtime scheduler match Table 1 (three parameters for three numbers; nothing else of the paper is
used). This script calibrates the SNRs, and compares the three settings with each other and with public
figures. The verdicts are those of the report.

Prints the results by default. `--write` updates the page, `--write --claims` only the verdicts.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stillair.runs import bundled
from stillair_lab.papers.artefacts.anomaly.schemes import TITLES
from stillair_lab.papers.claims import judge
from stillair_lab.papers.pages import registry, report, words
from stillair_lab.papers.robustness import counts

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "anomaly-rates.md"
JUDGED = ROOT / "lab" / "results" / "ending-the-anomaly" / "claims.json"
PAPER = "ending-the-anomaly"
BEGIN = "## What was fitted\n"
CLAIMS = "## The claims\n"
WORDS = "## What it says\n"
SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
SCHEME = "node.ap.interface.wlan0.scheme"

# The only results of the paper used here. paper: ending-the-anomaly table1 - UDP rates under the airtime
# scheduler, Mbit/s.
RATES = {"fast1": 38.8, "fast2": 35.6, "slow": 2.0}
# The total is the sum of the stations.
FITTED = tuple(f"eta-t1-airtime-{station}-exp" for station in (*RATES, "total"))
# In 0.1 dB: from the first losses with two streams to none, and the same for the slowest rate.
FAST_LADDER = range(260, 281)
SLOW_LADDER = range(38, 51)
# SNR without losses at any rate.
CLEAR = 60.0

# Public measurements by the paper's first author with the driver of December 2016, by scheme, in Mbit/s.
# linux: commit 63fefa050477, its message - the kind of download is not stated; the sums match TCP.
PUBLIC = {
    "fq_mac": {"fast1": 19.17, "fast2": 19.83, "slow": 2.58, "total": 41.58},
    "airtime": {"fast1": 25.09, "fast2": 25.21, "slow": 1.77, "total": 52.07},
}


class Setting(NamedTuple):
    """Choice of the stations' rates."""

    name: str
    sets: tuple[tuple[str, str], ...]


def of(station: str, **keys: str) -> list[tuple[str, str]]:
    """Overrides of a station's interface; fast2, and a virtual station, inherit from fast1."""
    return [(f"node.{station}.interface.wlan0.{key}", value) for key, value in keys.items()]


# An empty list clears inherited and earlier settings.
NO_NOISE = [pair for station in RATES for pair in of(station, snr="[]")]
FIXED = Setting(
    "fixed rates",
    (*of("fast1", rate="ht20-mcs15-sgi", retry_chain='["mcs15", "mcs14", "mcs13", "mcs5"]'), *NO_NOISE),
)


def noisy(ratios: Mapping[str, float]) -> Setting:
    """Rate control at the fast stations, a fixed rate at the slow one, noise at all three."""
    noise = [pair for station, ratio in ratios.items() for pair in of(station, snr=f"{ratio:.1f} dB")]
    return Setting("rate control at the fast stations", (*of("fast1", rate="minstrel_ht", retry_chain="[]"), *noise))


def everywhere(ratios: Mapping[str, float]) -> Setting:
    """Rate control at all stations. The slow one always sends at MCS 0, without losses."""
    masked = '{ kind = "minstrel_ht", streams = 1, ht_mcs = [0] }'
    slow = of("slow", rate=masked, retry_chain="[]", snr="[]")
    return Setting("rate control everywhere", (*noisy(ratios).sets, *slow))


def over(scenario: str, setting: Setting, sets: Mapping[str, str], runs: int) -> Any:  # noqa: ANN401 - the summary over runs, as JSON has it
    """Summary of a scenario over the runs."""
    return bundled.scenario(scenario).run(runs=runs, overrides=[*sets.items(), *setting.sets]).summary()


def measured(ratios: Mapping[str, float], runs: int) -> dict[str, float]:
    """UDP rates of the stations under the airtime scheduler with these SNRs, in Mbit/s."""
    found = over("anomaly-udp", noisy(ratios), {SCHEME: "airtime"}, runs)
    return {station: float(found["stations"][station]["goodput_mbps"]["mean"]) for station in RATES}


def nearest(station: str, ladder: Mapping[float, Mapping[str, float]]) -> float:
    """The SNR at which a station's UDP rate is closest to the printed one."""
    found = min(ladder, key=lambda ratio: abs(ladder[ratio][station] - RATES[station]))
    if found in (min(ladder), max(ladder)):
        raise SystemExit(f"{station}: the nearest is {found} dB, at an end of what was tried")
    return found


def fit(runs: int) -> dict[str, float]:
    """Calibrates the SNR of each station in dB: first the fast ones, then the slow one with them."""
    clear = dict.fromkeys(RATES, CLEAR)
    fast = ("fast1", "fast2")
    ladder = {n / 10: measured({**clear, **dict.fromkeys(fast, n / 10)}, runs) for n in FAST_LADDER}
    ratios = {**clear, **{station: nearest(station, ladder) for station in fast}}
    ladder = {n / 10: measured({**ratios, "slow": n / 10}, runs) for n in SLOW_LADDER}
    return {**ratios, "slow": nearest("slow", ladder)}


def short(value: Any) -> str:  # noqa: ANN401 - a number, an order or nothing, as JSON has it
    """Formats a number, or an order with its groups."""
    if isinstance(value, list):
        return " < ".join(" / ".join(rank) if isinstance(rank, list) else str(rank) for rank in value)
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value or "")


def tally(rows: Sequence[Mapping[str, Any]]) -> str:
    """Number of reproduced claims, of those judged."""
    reproduced = sum(row["verdict"] == judge.REPRODUCED for row in rows)
    others = sum(row["verdict"] == judge.NOT_REPRODUCED for row in rows)
    return f"{reproduced} of {reproduced + others} reproduced ({100 * reproduced / (reproduced + others):.0f} %)"


def cell(row: Mapping[str, Any]) -> str:
    """The measured value of a claim and its verdict, in bold unless it is reproduced."""
    verdict = row["verdict"] if row["verdict"] == judge.REPRODUCED else f"**{row['verdict']}**"
    return f"{short(row['measured'])}, {verdict}"


def claims(rows: Sequence[Mapping[str, Any]]) -> str:
    """Verdicts by setting, and the claims not reproduced with one of them.

    Claims on thirty stations do not depend on the setting.
    """
    names, ours = counts.settings(rows), [row for row in rows if "settings" in row]
    lines = ["| | three stations | with the thirty |", "|---|---:|---:|"]
    for name in names:
        lines.append(f"| {name} | {tally(counts.under(ours, name))} | {tally(counts.under(rows, name))} |")
    every, none, some = counts.alike(rows)
    lines += [
        "",
        f"{every} claims hold with all three settings, {none} with none, {some} with some. Not reproduced with all:",
        "",
    ]
    lines += [f"| claim | the paper | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    for row in ours:
        found = [row["settings"][name] for name in names]
        if any(one["verdict"] == judge.NOT_REPRODUCED for one in found):
            stated = words.stated(row).replace("|", "/")
            lines.append(f"| `{row['id']}` | {stated} | {' | '.join(cell(one) for one in found)} |")
    return "\n".join(lines) + "\n"


def printed(experiment: str) -> list[Any]:
    """Claims of an experiment that state a number."""
    found = [c for entry in registry.find(f"{PAPER}/{experiment}") for c in entry.experiment.claims]
    return [claim for claim in found if claim.value is not None]


def table1(settings: Sequence[Setting], runs: int) -> str:
    """Frames per aggregate and UDP rates of Table 1."""
    names = " | ".join(setting.name for setting in settings)
    lines = [f"| | the paper | {names} |", "|---|" + "---:|" * (1 + len(settings))]
    keys = {"mean aggregate size": ("frames", "mean_aggregate"), "measured UDP throughput": ("Mbit/s", "goodput_mbps")}
    found = {
        (scheme, setting): over("anomaly-udp", setting, {SCHEME: scheme}, runs)["stations"]
        for scheme in ("fifo", "airtime")
        for setting in settings
    }
    for claim in printed("table1-model-udp"):
        station, scheme = claim.configuration.get("station"), claim.configuration.get("scheme")
        if claim.metric not in keys or station in (None, "total"):
            continue
        unit, key = keys[claim.metric]
        values = [float(found[scheme, setting][station][key]["mean"]) for setting in settings]
        fitted = " (fitted to)" if claim.id in FITTED else ""
        told = " | ".join(f"{value:.2f}" for value in values)
        lines.append(f"| {TITLES[scheme]}, {station}, {unit}{fitted} | {claim.value:g} | {told} |")
    return "\n".join(lines) + "\n"


def call(scheme: str, qos: str, delay: int) -> dict[str, str]:
    """A cell of Table 2."""
    return {
        SCHEME: scheme,
        "flow.0.dscp": "CS6" if qos == "VO" else "CS0",
        "node.server.interface.eth0.qdisc.delay": f"{delay} ms",
        "node.ap.interface.eth0.qdisc.delay": f"{delay} ms",
    }


def table2(settings: Sequence[Setting], runs: int) -> str:
    """Totals of Table 2, compared with the paper's."""
    paper = {
        (c.configuration["baseline_ms"], c.configuration["scheme"], c.configuration["qos"]): c.value
        for c in printed("table2-voip")
        if c.metric == "total throughput"
    }
    names = " | ".join(setting.name for setting in settings)
    lines = [f"| scheme, mark, delay | the paper | {names} |", "|---|" + "---:|" * (1 + len(settings))]
    off: list[list[float]] = [[] for _ in settings]
    for (delay, scheme, qos), stated in sorted(paper.items(), key=lambda one: (one[0][0], SCHEMES.index(one[0][1]))):
        sets = call(scheme, qos, delay)
        found = [float(over("anomaly-voip", setting, sets, runs)["goodput_total_mbps"]["mean"]) for setting in settings]
        for column, value in zip(off, found, strict=True):
            column.append(abs(value / stated - 1))
        told = " | ".join(f"{value:.1f}" for value in found)
        lines.append(f"| {TITLES[scheme]}, {qos}, {delay} ms | {stated:.1f} | {told} |")
    distance = " | ".join(f"{100 * sum(column) / len(column):.0f} %" for column in off)
    within = " | ".join(f"{sum(value <= judge.WITHOUT_HEDGE for value in column)} of {len(column)}" for column in off)
    lines += [f"| mean distance from the paper | | {distance} |", f"| within a quarter of it | | {within} |"]
    return "\n".join(lines) + "\n"


def public(settings: Sequence[Setting], runs: int) -> str:
    """Downloads to three stations, as reported in the driver's commit."""
    lines = [
        f"| | measured in 2016 | {' | '.join(setting.name for setting in settings)} |",
        "|---|" + "---:|" * (1 + len(settings)),
    ]
    for scheme, figures in PUBLIC.items():
        found = [over("anomaly-tcp", setting, {SCHEME: scheme}, runs) for setting in settings]
        for what, figure in figures.items():
            values = [
                one["goodput_total_mbps"] if what == "total" else one["stations"][what]["goodput_mbps"] for one in found
            ]
            told = " | ".join(f"{float(value['mean']):.2f}" for value in values)
            lines.append(f"| {TITLES[scheme]}, {what} | {figure:.2f} | {told} |")
    return "\n".join(lines) + "\n"


# Further assumptions: overrides, and their scope.
BESIDE = (
    ("a CoDel target of 5 ms", [(f"{SCHEME}.target", "5 ms")]),
    ("frames passed up together by Ethernet: `link.lan.rx_usecs = 50`", [("link.lan.rx_usecs", "50")]),
)


def beside(setting: Setting, runs: int) -> str:
    """Totals of Table 2 and downloads under FIFO, with one further change each."""
    calls = [
        (scheme, qos, delay) for delay in (5, 50) for scheme in ("fifo", "fq_mac", "airtime") for qos in ("VO", "BE")
    ]
    lines = [
        f"| | {' | '.join(f'{TITLES[s]}, {qos}, {delay} ms' for s, qos, delay in calls)} |",
        "|---|" + "---:|" * len(calls),
    ]
    for name, more in ((setting.name, []), *BESIDE):
        values = []
        for scheme, qos, delay in calls:
            # Schemes without their own CoDel have no target.
            fits = [pair for pair in more if not (scheme == "fifo" and pair[0].startswith(SCHEME))]
            changed = Setting(name, (*setting.sets, *fits))
            values.append(
                float(over("anomaly-voip", changed, call(scheme, qos, delay), runs)["goodput_total_mbps"]["mean"])
            )
        lines.append(f"| {name} | {' | '.join(f'{value:.1f}' for value in values)} |")
    return "\n".join(lines) + "\n"


def pings(setting: Setting, runs: int) -> str:
    """Downloads to three stations under FIFO and FQ-CoDel, with and without Ethernet devices that gather arrivals."""
    lines = ["| | FIFO | FQ-CoDel | FIFO's ping, fast1 |", "|---|---:|---:|---:|"]
    for name, more in ((setting.name, []), BESIDE[1]):
        changed = Setting(name, (*setting.sets, *more))
        fifo, fq_codel = (over("anomaly-tcp", changed, {SCHEME: scheme}, runs) for scheme in ("fifo", "fq_codel"))
        totals = [float(one["goodput_total_mbps"]["mean"]) for one in (fifo, fq_codel)]
        ping = float(fifo["stations"]["fast1"]["ping_median_ms"]["mean"])
        lines.append(f"| {name} | {totals[0]:.1f} | {totals[1]:.1f} | {ping:.0f} ms |")
    return "\n".join(lines) + "\n"


def verdicts() -> str:
    """The part of the page from the report."""
    return "\n".join([
        CLAIMS,
        "The verdicts are those of [the report](../lab/results/ending-the-anomaly/report.txt). Claims that a setting",
        "is fitted to are judged with none. The thirty stations use rate control in every setting.\n",
        claims(report.read_claims(JUDGED)),
    ])  # fmt: skip


def page(runs: int) -> str:
    """The measured part of the page."""
    ratios = fit(runs)
    settings = (noisy(ratios), FIXED, everywhere(ratios))
    said = ", ".join(f"{ratio:.1f} dB ({station})" for station, ratio in ratios.items())
    goal = ", ".join(f"{rate:g}" for rate in RATES.values())
    return "\n".join([
        BEGIN,
        "The signal-to-noise ratios of the stations were fitted, in tenths of a decibel, to their UDP rates of",
        f"{goal} Mbit/s under the airtime scheduler: {said}.",
        f"`lab/scripts/anomaly_rates.py --write` repeats the fit and updates all tables; means of {runs} runs.\n",
        "## Table 1\n",
        table1(settings, runs),
        "## Totals of Table 2, Mbit/s\n",
        table2(settings, runs),
        "With one more change to the first setting:\n",
        beside(settings[0], runs),
        "## Downloads to three stations, Mbit/s\n",
        "The measured figures are from the message of the driver's commit of December 2016 (63fefa050477), by the",
        "paper's first author.\n",
        public(settings, runs),
        "Under the older schemes, with the Ethernet device as above:\n",
        pings(settings[0], runs),
        verdicts(),
    ])  # fmt: skip


def main() -> None:
    """Prints the results or updates the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="renew docs/anomaly-rates.md but for its words")
    arguments.add_argument("--runs", type=int, default=10, help="repetitions of each cell")
    arguments.add_argument("--claims", action="store_true", help="the verdicts alone, which takes no runs")
    chosen = arguments.parse_args()
    text = verdicts() if chosen.claims else page(chosen.runs)
    if not chosen.write:
        sys.stdout.write(text)
        return
    kept, begin = PAGE.read_text(encoding="utf-8"), CLAIMS if chosen.claims else BEGIN
    PAGE.write_text(kept[: kept.index(begin)] + text + "\n" + kept[kept.index(WORDS) :], encoding="utf-8")


if __name__ == "__main__":
    main()
