"""Two hidden stations: prints two tables of docs/cells.md; `--write` regenerates them and the page's figure.

`build/ns3/hidden` (`make -C lab/bench/ns3 NS3=... OUT=... hidden`) measures the same in ns-3; its means are
stored here.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from stillair.runs import bundled
from stillair_lab.papers.artefacts import style

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, FIGURE = DOCS / "cells.md", DOCS / "cells.svg"
_PLACE = re.compile(r"(<!-- cells: (\w+) -->\n).*?(<!-- /cells -->)", re.DOTALL)
RUNS = 5
RATES = (6, 12, 24, 54)
TRIES = (4, 5, 6, 7, 8, 10, 12, 15)
# ns-3 3.44, `hidden --rate=OfdmRate54Mbps --retries=N --run=1..5`: Mbit/s by attempts, including the first.
NS3 = {
    12: {8: 4.19, 16: 5.46},
    24: {8: 10.71, 16: 12.84},
    54: {8: 23.56, 16: 25.98},
}
METRES = (10, 12, 15, 20, 25, 30, 35, 40)
SHOWN = (20, 25)
"""Distances on either side of the capture threshold, for the table."""
PLACES = {"node.ap.position": "100 m, 0 m", "node.left.position": "90 m, 0 m"}
STATION = "node.left.interface.wlan0"


def rate(mbps: int, tries: int) -> dict[str, str]:
    """A fixed rate with a number of attempts."""
    return {
        f"{STATION}.rate": f"ofdm-{mbps}",
        f"{STATION}.retry_chain": f'[{{ rate = "ofdm-{mbps}", tries = {tries} }}]',
        # ns-3's stations without 802.11e wait for DIFS.
        "node.ap.interface.wlan0.wmm_ac_be_aifs": "2",
    }


def goodput(overrides: Mapping[str, str]) -> tuple[float, float]:
    """Mean goodput of both stations in Mbit/s."""
    runs = bundled.scenario("hidden").run(runs=RUNS, overrides=dict(overrides)).runs
    of = [[run["stations"][name]["goodput_mbps"] for run in runs] for name in ("left", "right")]
    return sum(of[0]) / RUNS, sum(of[1]) / RUNS


def protected(mbps: int) -> list[float]:
    """Totals: no hidden stations, hidden stations, and both with RTS."""
    heard, rts = {"channel.wifi.hidden": "[]"}, {f"{STATION}.rts_threshold": "0"}
    return [sum(goodput({**rate(mbps, 8), **more})) for more in ({**heard}, {}, {**heard, **rts}, {**rts})]


def captured(metres: int, capture: str) -> tuple[float, float]:
    """A station at 10 m and another at this distance on the other side; neither has losses to noise."""
    places = {**PLACES, "node.right.position": f"{100 + metres} m, 0 m", "channel.wifi.capture": capture}
    return goodput({**rate(24, 8), **places, f"{STATION}.snr": "60 dB"})


def picture() -> bytes:
    """Goodput of hidden stations by attempts, and with capture by distance."""
    with style.styled():
        drawn = style.new(8.0, 3.2)
        tries, capture = drawn.subplots(1, 2)
        for mbps, colour in zip(RATES[1:], (style.BLUE, style.VERMILION, style.GREEN), strict=True):
            ys = [sum(goodput(rate(mbps, n))) for n in TRIES]
            tries.plot(TRIES, ys, ".-", color=colour, label=f"{mbps} Mbit/s")
            tries.plot(list(NS3[mbps]), list(NS3[mbps].values()), "x", color=colour)
        tries.set_xlabel("tries of a frame")
        tries.set_ylabel("both stations, Mbit/s")
        tries.set_ylim(0, 28)
        tries.set_title("Two hidden stations (crosses: ns-3)", loc="left", fontsize=10)
        tries.legend(loc="center left", bbox_to_anchor=(0.5, 0.62))
        for setting, line in (("off", ":"), ("10 dB", "-")):
            both = [captured(metres, setting) for metres in METRES]
            for n, (colour, name) in enumerate(((style.BLUE, "at 10 m"), (style.VERMILION, "the other"))):
                label = name if setting != "off" else None
                capture.plot(METRES, [one[n] for one in both], f".{line}", color=colour, label=label)
        capture.set_xlabel("distance of the other station, m")
        capture.set_ylabel("goodput, Mbit/s")
        capture.set_ylim(0)
        capture.set_title("24 Mbit/s, capture 10 dB (dotted: off)", loc="left", fontsize=10)
        capture.legend(loc="center right")
        return style.save(drawn, "svg")


def by_rate() -> str:
    """Totals with and without RTS."""
    out = ["| rate | all hear | hidden | all hear, RTS | hidden, RTS |", "|---|---:|---:|---:|---:|"]
    out += [f"| {mbps} Mbit/s | {' | '.join(f'{x:.1f}' for x in protected(mbps))} |" for mbps in RATES]
    return "\n".join(out) + "\n"


def by_distance() -> str:
    """Goodput of each station with and without capture."""
    out = ["| other station at | nearer | other | nearer, capture | other, capture |", "|---|---:|---:|---:|---:|"]
    for metres in SHOWN:
        row = (*captured(metres, "off"), *captured(metres, "10 dB"))
        out.append(f"| {metres} m | {' | '.join(f'{x:.1f}' for x in row)} |")
    return "\n".join(out) + "\n"


MAKERS = {"rate": by_rate, "distance": by_distance}


def main() -> None:
    """Prints the tables, or writes them and the figure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="renew docs/cells.md and docs/cells.svg")
    write = arguments.parse_args().write
    made = {name: maker() for name, maker in MAKERS.items()}
    if write:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(_PLACE.sub(lambda of: of[1] + made[of[2]] + of[3], text), encoding="utf-8")
        FIGURE.write_bytes(picture())
        return
    sys.stdout.write("\n".join(made.values()))


if __name__ == "__main__":
    main()
