#!/usr/bin/env python3
"""Tables of pages that are one sweep of a scenario each. Compares them by default; `--write` regenerates them.

A table is between `<!-- table: NAME -->` and `<!-- /table -->`. `golden.py make tables` records first runs.
"""

import argparse
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stillair import Scenario

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("responsiveness.md", "interference.md", "power-save.md", "rate-control.md")
_PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def sweep(name: str, runs: int, overrides: Mapping[str, str] | None = None) -> list[tuple[dict[str, str], Any]]:
    """Combinations of a scenario's [sweep] table, with means over the runs."""
    scenario, own = Scenario(name), list((overrides or {}).items())
    return [(dict(sets), scenario.run(runs, overrides=[*own, *sets]).summary()) for sets in scenario.sweep(own)]


def _mean(of: Any) -> float:  # noqa: ANN401 - JSON
    return float(of["mean"])


def _table(head: str, align: str, rows: list[list[str]]) -> str:
    return "\n".join([head, align, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def responsiveness() -> str:
    """RPM by load, with and without cake."""
    keys = ("rpm", "foreign_rpm", "loaded_rpm", "rpm_draft_01", "rpm_goresponsiveness_p90")
    rows = []
    for load in ("none", "up", "down", "both"):
        for sets, over in sweep("responsiveness", 3, {"flow.0.load": json.dumps(load)}):
            (found,) = over["responsiveness"].values()
            router = "plain" if "off" in sets.values() else "cake"
            speed = "" if load == "none" else f"{_mean(found['goodput_mbps']):.1f}"
            rows.append([load, router, *(f"{_mean(found[key]):.0f}" for key in keys), speed])
    head = "| load | router | RPM | new connections | loaded ones | draft -01 | goresponsiveness P90 | goodput Mbit/s |"
    return _table(head, "|---|---|---:|---:|---:|---:|---:|---:|", rows)


def microwave() -> str:
    """A download next to a microwave oven."""
    found = [over["stations"]["sta"] for _, over in sweep("microwave", 5)]
    alone = _mean(found[0]["goodput_mbps"])
    said = [
        ("none (-120 dBm)", ""),
        ("-75 dBm", "no number"),
        ("-65 dBm", "no number"),
        ("-55 dBm", "0.5 less cut aggregates"),
    ]
    rows = [
        [
            *words,
            f"{_mean(one['goodput_mbps']):.1f}",
            f"{_mean(one['goodput_mbps']) / alone:.2g}",
            f"{_mean(one['ping_median_ms']):.1f} ms",
            f"{_mean(one['ping_p95_ms']):.1f} ms",
        ]
        for words, one in zip(said, found, strict=True)
    ]
    head = f"| oven | predicted | Mbit/s | of {alone:.1f} | ping, median | 95 % |"
    return _table(head, "|---|---|---:|---:|---:|---:|", rows)


def generations() -> str:
    """Three generations on one access point."""
    rows = []
    for sets, over in sweep("generations", 5):
        stations = [over["stations"][name] for name in ("n", "ac", "ax")]
        speeds = ", ".join(f"{_mean(one['goodput_mbps']):.0f}" for one in stations)
        airtime = ", ".join(f"{_mean(one['airtime_share']):.2f}" for one in stations)
        (scheme,) = sets.values()
        rows.append([f"`{scheme}`", speeds, airtime, f"{_mean(over['goodput_total_mbps']):.0f}"])
    return _table("| scheme | Mbit/s n, ac, ax | airtime n, ac, ax | sum |", "|---|---|---|---:|", rows)


def pings() -> str:
    """Pings of an idle phone."""
    rows = []
    for sets, over in sweep("phone-power-save", 5):
        one = over["pings"]["ping.phone"]
        (kind,) = sets.values()
        values = (one[key] for key in ("mean_ms", "median_ms", "p95_ms", "p99_ms"))
        rows.append([kind if kind == "off" else f"`{kind}`", *(f"{_mean(value):.1f}" for value in values)])
    return _table("| ping of `phone-power-save` | mean | p50 | p95 | p99 |", "|---|---:|---:|---:|---:|", rows)


def calls() -> str:
    """Delay of a call to a phone in power save."""
    said = ["off", "`phone`, timeout 10 ms", "the same with U-APSD", "`static` with U-APSD", "`static`"]
    seconds = json.loads(Scenario("phone-call").resolve())["duration_ns"] / 1e9
    rows = []
    for words, (_, over) in zip(said, sweep("phone-call", 5), strict=True):
        one = over["flows"]["down.phone"]
        power = over.get("power", {}).get("phone.wlan0")
        asleep = f"{100 * _mean(power['dozing_s']) / seconds:.0f} %" if power else "0"
        values = (one[f"delay_{key}_ms"] for key in ("p50", "p95", "p99"))
        rows.append([words, *(f"{_mean(value):.3g}" for value in values), asleep])
    return _table("| call, to the phone | p50 | p95 | p99 | asleep |", "|---|---:|---:|---:|---:|", rows)


def scans() -> str:
    """Pings during scans, and the prediction."""
    predicted = {"mac80211": (55, 103), "iwlwifi": (28, 96), "ath10k": (65, 135)}
    rows = []
    for sets, over in sweep("laptop-scan", 5):
        (kind,) = sets.values()
        one = over["pings"]["ping-0.laptop"]
        p95, p99 = predicted[kind]
        away = _mean(over["power"]["laptop.wlan0"]["away_s"])
        rows.append(
            [
                f"`{kind}`",
                f"{p95}",
                f"{_mean(one['p95_ms']):.1f}",
                f"{p99}",
                f"{_mean(one['p99_ms']):.1f}",
                f"{away:.1f} s",
            ]
        )
    head = "| ping during scans | p95 predicted | p95 | p99 predicted | p99 | away in 120 s |"
    return _table(head, "|---|---:|---:|---:|---:|---:|", rows)


def snr() -> str:
    """Minstrel-HT of two kernels compared with the best of sixteen fixed rates, by SNR."""
    rate = "node.sta.interface.wlan0.rate"
    fixed: dict[str, dict[str, float]] = {}
    older: dict[str, float] = {}
    for sets, over in sweep("snr", 4):
        ratio, kind, goodput = sets["node.sta.interface.wlan0.snr"], sets[rate], _mean(over["goodput_total_mbps"])
        if kind == "minstrel_ht":
            older[ratio] = goodput
        else:
            fixed.setdefault(ratio, {})[kind.split("-")[1].replace("mcs", "MCS ")] = goodput
    newer = {ratio: _snr_since_5_12(ratio) for ratio in older}
    rows, shares = [], []
    for ratio, rates in fixed.items():
        name = max(rates, key=rates.__getitem__)
        each = [of[ratio] / rates[name] for of in (older, newer)]
        shares.append(each)
        found = (f"{older[ratio]:.1f}", f"{each[0]:.0%}", f"{newer[ratio]:.1f}", f"{each[1]:.0%}")
        rows.append([ratio, name, f"{rates[name]:.1f}", *(text.replace("%", " %") for text in found)])
    head = "| SNR | best fixed rate | Mbit/s | Minstrel-HT, 4.6 | of the best | 6.1 | of the best |"
    before, since = ([share[kernel] for share in shares] for kernel in (0, 1))
    near = [sum(share >= 0.9 for share in of) for of in (before, since)]
    return _table(head, "|---|---|---|---|---|---|---|", rows) + (
        f"\nWithin 10 % of the best fixed rate: {near[0]} of {len(rows)} ratios before 5.12, {near[1]} since. "
        f"The worst is {min(before) * 100:.0f} % before and {min(since) * 100:.0f} % since.\n"
    )


def _snr_since_5_12(ratio: str) -> float:
    sets = {
        "node.ap.profile": "linux-6.1",
        "node.sta.interface.wlan0.rate": "minstrel_ht",
        "node.sta.interface.wlan0.snr": ratio,
    }
    return _mean(Scenario("snr").run(4, overrides=list(sets.items())).summary()["goodput_total_mbps"])


MAKERS: Mapping[str, Callable[[], str]] = {
    "responsiveness": responsiveness,
    "microwave": microwave,
    "generations": generations,
    "pings": pings,
    "calls": calls,
    "scans": scans,
    "snr": snr,
}


def main() -> int:
    """Compares or writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true")
    write = arguments.parse_args().write
    wrong = []
    for name in PAGES:
        page = DOCS / name
        text = page.read_text(encoding="utf-8")
        now = _PLACE.sub(lambda of: of[1] + MAKERS[of[2]]() + of[3], text)
        if now != text:
            wrong.append(name)
            if write:
                page.write_text(now, encoding="utf-8")
    print(f"{'renewed' if write else 'not as this version gives'}: {', '.join(wrong) or 'none'}")
    return 1 if wrong and not write else 0


if __name__ == "__main__":
    raise SystemExit(main())
