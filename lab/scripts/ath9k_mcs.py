"""Public measurements of ath9k by MCS, compared with the model: docs/ath9k-mcs.md and its figure.

Covers all downloads of 30 s in `measurements/ath9k-mcs-2016.csv` (in the papers' data). Each is compared with
a run of `scenarios/ath9k-mcs.toml` with the same settings. Prints the tables by default; `--write`
regenerates the page and the figure.
"""

import argparse
import csv
import statistics
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from stillair.runs import bundled
from stillair_lab.papers.artefacts import style

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "lab/src/stillair_lab/papers/data/measurements/ath9k-mcs-2016.csv"
PAGE, FIGURE = ROOT / "docs/ath9k-mcs.md", ROOT / "docs/ath9k-mcs.svg"
BEGIN, END = "## Side by side\n", "## What is met and what is not\n"
STATIONS = ("osx", "linux")
SCHEME = "node.ap.interface.wlan0.scheme"
FLOWS = (0, 1)


def _sender(name: str) -> dict[str, str]:
    """Selects the sender of the flows and the pings."""
    return {f"flow.{n}.from": name for n in (*FLOWS, 2)}


def _ecn() -> dict[str, str]:
    return {f"node.{node}.sysctl.net.ipv4.tcp_ecn": "1" for node in ("server", *STATIONS)}


class Case(NamedTuple):
    """A set of measurements: the columns that select its rows, and the scenario's overrides."""

    title: str
    rows: Mapping[str, str]
    sets: Mapping[str, str]
    guard: str = "sgi"
    """Guard interval, which the measurements do not state."""


_ROUTER = {"set": "airtime-c2", "direction": "ap-to-stations", "ecn": "no"}
_AIRTIME = {"scheme": "fq_mac+airtime"}
CASES = (
    Case("The MAC's queues with airtime: `airtime`", {**_ROUTER, **_AIRTIME}, {SCHEME: '"airtime"'}, "lgi"),
    Case(
        "The stock driver, probably below FQ-CoDel: `fq_codel`",
        {**_ROUTER, "scheme": "stock-4.4-fq_codel?"},
        # The wired host used ECN in all sets with the stock driver; a FIFO marks nothing.
        {SCHEME: '"fq_codel"', **_ecn()},
    ),
    Case(
        "The stock driver below a PFIFO of 1,000 packets: `fifo`",
        {**_ROUTER, "scheme": "stock-4.4-pfifo_1000"},
        {SCHEME: '"fifo"'},
    ),
    Case(
        'The stock driver below a PFIFO of 20: `fifo`, `qdisc = { kind = "pfifo", limit = 20 }`',
        {**_ROUTER, "scheme": "stock-4.4-pfifo_20"},
        {SCHEME: '"fifo"', "node.ap.interface.wlan0.qdisc": '{ kind = "pfifo", limit = 20 }'},
    ),
    Case("`airtime` with ECN", {**_ROUTER, **_AIRTIME, "ecn": "yes"}, {SCHEME: '"airtime"', **_ecn()}, "lgi"),
    Case(
        "`airtime`, with the access point as sender, with its small queues",
        {"set": "mcs", "ap_role": "endpoint", "direction": "ap-to-stations", **_AIRTIME},
        # The laptop's own TCP: Linux 4.8 with Cubic, and a ping every 50 ms.
        {SCHEME: '"airtime"', **_sender("ap.wlan0"), "node.ap.profile": '"linux-4.6"', "flow.2.interval": '"50 ms"'},
        "lgi",
    ),
)
# Sets in the figure: the three that differ only in the access point.
DRAWN = {0: ("airtime", style.BLUE), 1: ("fq_codel", style.GREEN), 2: ("fifo", style.VERMILION)}


class Cell(NamedTuple):
    """An MCS of a case, measured and simulated: total Mbit/s and the median ping in ms."""

    mcs: int
    goodput: tuple[float, float]
    ping: tuple[float, float]


def measured(case: Case) -> dict[int, Mapping[str, str]]:
    """Rows of a case by MCS; of repeated measurements the last."""
    wanted = {**case.rows, "length_s": "30"}
    with MEASURED.open() as file:
        rows = [row for row in csv.DictReader(file) if all(row[key] == value for key, value in wanted.items())]
    return {int(row["mcs"]): row for row in rows}


def modelled(case: Case, mcs: int) -> Any:  # noqa: ANN401 - the run, as JSON has it
    """A simulated run."""
    rate = {f"node.{STATIONS[0]}.interface.wlan0.rate": f'"ht20-mcs{mcs}-{case.guard}"'}
    return bundled.scenario("ath9k-mcs").run(overrides={**case.sets, **rate}, jobs=1).runs[0]


def cells(case: Case) -> list[Cell]:
    """All MCS of a case."""
    rows = sorted(measured(case).items())
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda row: modelled(case, row[0]), rows))
    found = []
    for (mcs, row), run in zip(rows, runs, strict=True):
        ping = statistics.fmean(run["stations"][station]["ping_median_ms"] for station in STATIONS)
        goodput = (float(row["sum_mbps"]), run["goodput_total_mbps"])
        found.append(Cell(mcs, goodput, (float(row["ping_p50_ms"]), ping)))
    return found


def _median(ratios: Sequence[float]) -> str:
    return f"{statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"


def told(case: Case, found: Sequence[Cell]) -> str:
    """A table of a case."""
    lines = [f"### {case.title}", ""]
    lines += ["| MCS | Mbit/s measured | model | model / measured | ping measured, ms | model | model / measured |"]
    lines += ["|---:|---:|---:|---:|---:|---:|---:|"]
    for mcs, (there, here), (before, ping) in found:
        numbers = f"{there:.1f} | {here:.1f} | {here / there:.2f} | {before:.1f} | {ping:.1f} | {ping / before:.2f}"
        lines.append(f"| {mcs} | {numbers} |")
    carried = [cell.goodput[1] / cell.goodput[0] for cell in found]
    waited = [cell.ping[1] / cell.ping[0] for cell in found]
    lines += ["", f"Medians of the ratios: goodput {_median(carried)}; ping {_median(waited)}."]
    return "\n".join(lines)


def picture(found: Sequence[Sequence[Cell]]) -> bytes:
    """Goodput and pings by MCS."""
    with style.styled():
        drawn = style.new(8.0, 3.2)
        goodput, ping = drawn.subplots(1, 2)
        for number, (label, colour) in DRAWN.items():
            of = found[number]
            xs = [cell.mcs for cell in of]
            for axes, ys in ((goodput, [cell.goodput for cell in of]), (ping, [cell.ping for cell in of])):
                axes.plot(xs, [here for _, here in ys], ".-", color=colour, label=label)
                axes.plot(xs, [there for there, _ in ys], "x", color=colour)
        goodput.set_ylabel("goodput, Mbit/s")
        goodput.set_title("Four TCP flows (crosses: measured)", loc="left", fontsize=10)
        goodput.legend(loc="upper left")
        ping.set_yscale("log")
        ping.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ping.set_ylabel("median ping, ms")
        for axes in (goodput, ping):
            axes.set_xlabel("MCS")
        return style.save(drawn, "svg")


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew page and figure")
    arguments = parser.parse_args()
    found = [cells(case) for case in CASES]
    tables = "\n\n".join(told(case, of) for case, of in zip(CASES, found, strict=True))
    if not arguments.write:
        print(tables)
        return 0
    page = PAGE.read_text()
    before, after = page.index(BEGIN) + len(BEGIN), page.index(END)
    PAGE.write_text(
        f"{page[:before]}\n{tables}\n\n![Measured and modelled goodput and pings]({FIGURE.name})\n\n{page[after:]}"
    )
    FIGURE.write_bytes(picture(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
