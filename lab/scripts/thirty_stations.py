"""The thirty stations of *Ending the Anomaly* by unstated settings: docs/thirty-stations.md and its figure.

An experiment of our own. Prints the tables by default; `--write` regenerates the page and the figure.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from stillair.results.statistics import jain
from stillair.runs import bundled
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly.schemes import COLOURS, TITLES

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, FIGURE = DOCS / "thirty-stations.md", DOCS / "thirty-stations.svg"
RUNS = 3
SECONDS = 120
WARM_UP = 5  # as in the scenario
SCHEMES = ("fq_codel", "fq_mac", "airtime")
FAST = tuple(f"fast{n}" for n in range(1, 29))
PAPER = {"fq_codel": 3.3, "airtime": 17.7}
# Rates in Mbit/s of HT20 with a short guard interval. spec: ieee80211 2012 20.6 - data rates of one and two
# streams.
RATES = {
    "mcs0": 7.2, "mcs1": 14.4, "mcs2": 21.7, "mcs3": 28.9, "mcs4": 43.3, "mcs5": 57.8, "mcs6": 65.0, "mcs7": 72.2,
    "mcs12": 86.7, "mcs13": 115.6, "mcs14": 130.0, "mcs15": 144.4,
}  # fmt: skip


class Row(NamedTuple):
    """Results of a setting with a scheme."""

    total: float
    slow: float
    """Airtime share of the slow station, in per cent."""
    jain: float
    """Jain's index of the 29 stations with a download."""
    pings: Mapping[str, float]
    """Median ping in ms of the fast stations, the slow one, and the station with pings only."""


def everyone(key: str, values: Sequence[str]) -> dict[str, str]:
    """Sets a key of each fast station's interface."""
    return {f"node.{one}.interface.wlan0.{key}": value for one, value in zip(FAST, values, strict=True)}


def ratios(first: int, step: float = 0.0) -> dict[str, str]:
    """SNRs of the fast stations: a first value and equal steps."""
    return everyone("snr", [f"{first + step * n:g} dB" for n in range(len(FAST))])


def fixed(rate: str) -> dict[str, str]:
    """One rate for all stations, without errors."""
    # The others inherit from the first. At 60 dB no rate has errors.
    return {
        "node.fast1.interface.wlan0.rate": f"ht20-{rate}-sgi",
        **ratios(60),
        "node.sparse.interface.wlan0.snr": "60 dB",
    }


SETTINGS = {
    "as in the scenario: 8 to 35 dB": {},
    "4 to 31 dB": ratios(4, 1),
    "15 to 42 dB": ratios(15, 1),
    "all at 12 dB": ratios(12),
    "all at 20 dB": ratios(20),
    "all at 35 dB": ratios(35),
    "an 802.11g slow station: no protection, short slots": {
        "channel.wifi.protection": "false",
        "channel.wifi.long_slot": "false",
    },
    "one stream": {"node.fast1.interface.wlan0.rate": '{ kind = "minstrel_ht", streams = 1 }'},
}

HEAD = f"""# Thirty stations: what the paper leaves open

*Ending the Anomaly* (section 4.1.5) measures thirty stations at 2.4 GHz, one of them at 1 Mbit/s, at another site. It
states totals, 3.3 Mbit/s with FQ-CoDel and 17.7 with the airtime scheduler, and a share of the airtime for the slow
station of about two thirds, but not the rates of the fast stations. `scenarios/anomaly-thirty.toml` has rate control
and signal-to-noise ratios of 8 to 35 dB, set before the first run; its results are in [the paper's
report](../lab/results/ending-the-anomaly/report.txt). This page has the results of other settings, as means of
{RUNS} runs of {SECONDS} s. `lab/scripts/thirty_stations.py --write` updates tables and figure.
"""


def measure(overrides: Mapping[str, str], scheme: str, extra: Mapping[str, str]) -> Row:
    """Means over the runs."""
    chosen = {"duration": f"{SECONDS + WARM_UP} s", "node.ap.interface.wlan0.scheme": scheme, **overrides, **extra}
    runs = bundled.scenario("anomaly-thirty").run(runs=RUNS, overrides=chosen).runs
    stations: list[Mapping[str, Any]] = [run["stations"] for run in runs]

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    def ping(names: Sequence[str]) -> float:
        return mean([one[name]["ping_median_ms"] for one in stations for name in names if one[name]["ping_median_ms"]])

    return Row(
        mean([run["goodput_total_mbps"] for run in runs]),
        mean([100 * one["slow"]["airtime_share"] for one in stations]),
        mean([jain([one[name]["airtime_share"] for name in (*FAST, "slow")]) or 0.0 for one in stations]),
        {"fast": ping(FAST), "slow": ping(["slow"]), "sparse": ping(["sparse"])},
    )


def tell(name: str, rows: Mapping[str, Row]) -> str:
    """A line of a table."""
    totals = [f"{rows[scheme].total:.1f}" for scheme in SCHEMES]
    shares = [f"{rows[scheme].slow:.0f}" for scheme in SCHEMES]
    pings = [f"{rows[scheme].pings['fast']:.0f}" for scheme in SCHEMES]
    others = [f"{rows['airtime'].jain:.3f}", f"{rows['airtime'].total / rows['fq_codel'].total:.1f}"]
    return f"| {' | '.join([name, *totals, *others, *shares, *pings])} |"


def table(first: str, rows: Mapping[str, Mapping[str, Row]]) -> str:
    """A table of settings."""
    short = ("FQ-CoDel", "FQ-MAC", "airtime")
    heading = [first, *(f"total {s}" for s in short), "Jain", "gain", *(f"slow % {s}" for s in short)]
    heading += [f"ping {s}" for s in short]
    lines = [f"| {' | '.join(heading)} |", "|---|" + "---:|" * (len(heading) - 1)]
    return "\n".join([*lines, *(tell(name, row) for name, row in rows.items())])


def crossing(rows: Mapping[str, Mapping[str, Row]], scheme: str, at: float) -> tuple[float, float] | None:
    """Fast rate at which a scheme's total equals `at`, and FQ-CoDel's total there.

    Interpolates between the simulated rates.
    """
    points = [(RATES[name], row[scheme].total, row["fq_codel"].total) for name, row in rows.items()]
    for (x0, y0, z0), (x1, y1, z1) in pairwise(points):
        if y0 <= at <= y1:
            part = (at - y0) / (y1 - y0)
            return x0 + part * (x1 - x0), z0 + part * (z1 - z0)
    return None


def page(settings: Mapping[str, Mapping[str, Row]], rates: Mapping[str, Mapping[str, Row]]) -> str:
    """The generated part of the page."""
    found = crossing(rates, "airtime", PAPER["airtime"])
    named = {f"{name.upper()}, {RATES[name]:g} Mbit/s": row for name, row in rates.items()}
    where = (
        f"The airtime scheduler has the paper's 17.7 Mbit/s where the fast stations have {found[0]:.0f} Mbit/s; there "
        f"FQ-CoDel has {found[1]:.1f} Mbit/s, where the paper has 3.3."
        if found
        else "No rate gives the paper's 17.7 Mbit/s."
    )
    legend = (
        "Columns: totals in Mbit/s; Jain's index of the airtime of the 29 stations with a download, under the airtime\n"
        "scheduler; the gain in total goodput from FQ-CoDel to the airtime scheduler; the slow station's share of the\n"
        "airtime in per cent; medians of the fast stations' pings in ms.\n"
    )
    return "\n".join([
        HEAD, legend, "## Other settings\n", table("fast stations", settings),
        "\n## All fast stations at one rate, without errors\n", table("fast stations", rates and named),
        f"\n{where}\n", "![Totals over the fast stations' rate](thirty-stations.svg)\n",
    ])  # fmt: skip


def picture(rates: Mapping[str, Mapping[str, Row]]) -> bytes:
    """Totals and the slow station's share by fast rate."""
    with style.styled():
        drawn = style.new(7.2, 3.2)
        totals, shares = drawn.subplots(1, 2)
        xs = [RATES[name] for name in rates]
        for scheme in SCHEMES:
            totals.plot(
                xs, [row[scheme].total for row in rates.values()], ".-", color=COLOURS[scheme], label=TITLES[scheme]
            )
            shares.plot(xs, [row[scheme].slow for row in rates.values()], ".-", color=COLOURS[scheme])
            if scheme in PAPER:
                totals.axhline(PAPER[scheme], color=COLOURS[scheme], linestyle=":", linewidth=0.9)
        shares.axhline(200 / 3, color=style.FAINT, linestyle=":", linewidth=0.9)
        totals.set_yscale("log")
        totals.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        totals.set_ylabel("total goodput, Mbit/s")
        shares.set_ylabel("slow station's airtime, %")
        shares.set_ylim(0, 100)
        for axes in (totals, shares):
            axes.set_xlabel("rate of the fast stations, Mbit/s")
        totals.legend(loc="lower right")
        totals.set_title("Thirty stations (dotted: the paper)", loc="left", fontsize=10)
        return style.save(drawn, "svg")


def main() -> None:
    """Prints the tables or writes the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="renew docs/thirty-stations.md and its figure")
    chosen = arguments.parse_args()
    settings = {n: {s: measure(o, s, {}) for s in SCHEMES} for n, o in SETTINGS.items()}
    rates = {n: {s: measure(fixed(n), s, {}) for s in SCHEMES} for n in RATES}
    text = page(settings, rates)
    if not chosen.write:
        sys.stdout.write(text)
        return
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    _, mark, words = kept.partition("## What it says\n")
    PAGE.write_text(text + ("\n" + mark + words if mark else ""), encoding="utf-8")
    FIGURE.write_bytes(picture(rates))


if __name__ == "__main__":
    main()
