"""Effect of each change to Linux's airtime scheduling since the paper: docs/airtime-kernels.md and its figure.

An experiment of our own. Prints the tables by default; `--write` regenerates the page and the figure.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stillair.runs import bundled
from stillair_lab.papers.artefacts import style

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, FIGURE = DOCS / "airtime-kernels.md", DOCS / "airtime-kernels.svg"
RUNS = 10
SCHEME = "node.ap.interface.wlan0.scheme"


class Step(NamedTuple):
    """A kernel, its change, and the access point's settings."""

    kernel: str
    changed: str
    sets: Mapping[str, str]


def _mac80211(**settings: str) -> dict[str, str]:
    options = {"kind": '"mac80211"', **settings}
    return {SCHEME: "{ " + ", ".join(f"{key} = {value}" for key, value in options.items()) + " }"}


# linux: net/mac80211/sta_info.c sta_update_codel_params (4.12, commit 484a54c2e597) - 6 Mbit/s per station
# of the device: four in two of the scenarios.
_MAINLINE = {"slow_below": '"24 Mbit/s"'}

STEPS = (
    Step("4.6", "as shipped: pfifo_fast above the driver's queues", {SCHEME: '"fifo"'}),
    Step("4.6 and patches", "the paper's scheduler, CoDel relaxed below 12 Mbit/s", {SCHEME: '"airtime"'}),
    Step(
        "4.10", "the paper's queues merged, stations in turn", {SCHEME: '{ kind = "fq_mac", slow_below = "1 bit/s" }'}
    ),
    Step("4.11", "the paper's scheduler merged", {f"{SCHEME}.slow_below": '"1 bit/s"'}),
    Step("4.12", "CoDel relaxed below 6 Mbit/s per station", {f"{SCHEME}.slow_below": '"24 Mbit/s"'}),
    Step("5.1", "in mac80211: one list, weights, a turn of 256 us", _mac80211(aql="false", **_MAINLINE)),
    Step("5.5", "airtime queue limits (hypothetical: ath9k has none)", _mac80211(**_MAINLINE)),
    Step("5.1, 8 deep", "eight aggregates in the hardware", _mac80211(aql="false", hw_aggregates="8", **_MAINLINE)),
    Step("5.5, 8 deep", "eight, with limits: their purpose", _mac80211(hw_aggregates="8", **_MAINLINE)),
    Step("5.14", "virtual time, without limits", _mac80211(kernel='"linux-5.14"', aql="false", **_MAINLINE)),
    Step("5.14, limits", "the same with limits (hypothetical)", _mac80211(kernel='"linux-5.14"', **_MAINLINE)),
    Step("6.0", "rounds again, without limits", _mac80211(kernel='"linux-6.0"', aql="false", **_MAINLINE)),
    Step("6.0, limits", "the same with limits: pending airtime counts", _mac80211(kernel='"linux-6.0"', **_MAINLINE)),
    # linux: net/mac80211 (6.18), commit 4876376988081 of 2025 - no relaxed CoDel for slow stations.
    Step("6.18, limits", "CoDel relaxed for no station", _mac80211(kernel='"linux-6.16"')),
)

# Columns: a key of the run, or a station and its key, and the scale factor of the unit.
COLUMNS = {
    "total": ("", "goodput_total_mbps", 1.0),
    "share slow": ("slow", "airtime_share", 100.0),
    "ping fast1": ("fast1", "ping_median_ms", 1.0),
    "ping slow": ("slow", "ping_median_ms", 1.0),
    "ping fast3": ("fast3", "ping_median_ms", 1.0),
}

# Scenario, title, columns.
TABLES = (
    (
        "anomaly-sparse-tcp",
        "A download to each of three stations, a fourth only pinged",
        ("total", "share slow", "ping fast1", "ping slow", "ping fast3"),
    ),
    (
        "anomaly-tcp-both",
        "A download to and an upload from each of three",
        ("total", "share slow", "ping fast1", "ping slow"),
    ),
    (
        "anomaly-sparse",
        "A flood of 100 Mbit/s of UDP to each of three, a fourth only pinged",
        ("total", "share slow", "ping slow", "ping fast3"),
    ),
)

HEAD = f"""# Airtime scheduling since the paper

This page shows the effect of each Linux change since *Ending the Anomaly* on the network of that paper. It is an
experiment of this project. The ath9k radio and the stations are the same throughout; only the access point's scheduler
differs. The tables have means of {RUNS} runs: goodput in Mbit/s, the slow station's share of the airtime in per cent,
median ping in ms. `lab/scripts/airtime_kernels.py --write` updates tables and figure.

For the Linux sources and keys of each step see [scenario.md](scenario.md#scheme-mac80211). Airtime queue limits are
hypothetical, because ath9k never used them. ath9k holds two aggregates in the hardware, on which limits of 5 and 12 ms
have almost no effect; their purpose shows with a driver that holds eight. Without limits the pending airtime is
unknown, so 6.0 differs from 5.1 only in the station that it charges.
"""


def measure(scenario: str, sets: Mapping[str, str], columns: Sequence[str]) -> dict[str, float]:
    """Means over the runs."""
    over: Any = bundled.scenario(scenario).run(runs=RUNS, overrides=sets).summary()
    found = {}
    for name in columns:
        station, key, scale = COLUMNS[name]
        entry = (over["stations"][station] if station else over)[key]
        found[name] = scale * float(entry["mean"])
    return found


def told(rows: Mapping[str, Mapping[str, float]]) -> str:
    """A table of the kernels."""
    columns = list(next(iter(rows.values())))
    heading = ["kernel", *columns]
    lines = [f"| {' | '.join(heading)} |", "|---|" + "---:|" * len(columns)]
    lines += [f"| {name} | {' | '.join(f'{row[c]:.1f}' for c in columns)} |" for name, row in rows.items()]
    return "\n".join(lines)


def picture(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> bytes:
    """Goodput and pings by kernel."""
    with style.styled():
        drawn = style.new(8.0, 3.4)
        panels = drawn.subplots(1, 2)
        names = [step.kernel for step in STEPS]
        colours = {
            "total": style.BLUE,
            "ping fast1": style.SKY,
            "ping slow": style.VERMILION,
            "ping fast3": style.PURPLE,
        }
        down = found["anomaly-sparse-tcp"]
        for axes, columns in zip(panels, (("total",), ("ping fast1", "ping slow", "ping fast3")), strict=True):
            for column in columns:
                ys = [down[name][column] for name in names]
                axes.plot(range(len(names)), ys, "o-", color=colours[column], label=column, markersize=4)
            axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
        panels[0].set_ylabel("total goodput, Mbit/s")
        panels[0].set_ylim(0)
        panels[0].set_title("TCP downloads", loc="left", fontsize=10)
        panels[1].set_ylabel("median ping, ms")
        panels[1].set_yscale("log")
        panels[1].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        panels[1].legend()
        return style.save(drawn, "svg")


def page(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """The generated part of the page."""
    lines = ["| kernel | what changed | settings of the access point |", "|---|---|---|"]
    for step in STEPS:
        said = ", ".join(f"`{key.removeprefix('node.ap.interface.wlan0.')} = {v}`" for key, v in step.sets.items())
        lines.append(f"| {step.kernel} | {step.changed} | {said} |")
    parts = [HEAD, "## The steps\n", "\n".join(lines) + "\n"]
    for scenario, title, _ in TABLES:
        parts += [f"## {title}\n", f"`{scenario}.toml`.\n", told(found[scenario]) + "\n"]
    return "\n".join([*parts, "![Goodput and pings by kernel](airtime-kernels.svg)\n"])


def main() -> None:
    """Prints the tables or writes the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="renew docs/airtime-kernels.md and its figure")
    chosen = arguments.parse_args()
    found = {
        scenario: {step.kernel: measure(scenario, step.sets, columns) for step in STEPS}
        for scenario, _, columns in TABLES
    }
    text = page(found)
    if not chosen.write:
        sys.stdout.write(text)
        return
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    _, mark, words = kept.partition("## What it says\n")
    PAGE.write_text(text + ("\n" + mark + words if mark else ""), encoding="utf-8")
    FIGURE.write_bytes(picture(found))


if __name__ == "__main__":
    main()
