"""What rate control knows at the end of a run, by columns of mac80211's `rc_stats`.

The report of a run has neither its `idx`, `airtime`, `max_tp` and deviation nor its totals over all rates.
"""

from collections.abc import Mapping
from typing import Any

# linux: net/mac80211/rc80211_minstrel_ht_debugfs.c (4.4) - columns; rates never tried are left out here.
_HEAD = f"{'best':5} {{rate}} {'tp(avg)':>7} {'prob(avg)':>9} {'retry':>5} {'last suc/att':>13} {'sum suc/att':>17}"
# Least widths of mode and rate: names of HT fit, those of VHT are longer.
_WIDTHS = {"mode": 8, "rate": 15}


def rc_text(run: Mapping[str, Any]) -> str:
    """All links of a run's report whose rates are not fixed."""
    links: Mapping[str, list[Mapping[str, Any]]] = run.get("rc_stats", {})
    return "\n\n".join(_link(name, list(filter(_tried, rows))) for name, rows in links.items()) or "all rates are fixed"


def _link(name: str, rows: list[Mapping[str, Any]]) -> str:
    mode, rate = (max([least, *(len(row[key]) for row in rows)]) for key, least in _WIDTHS.items())
    head = f"{'mode':{mode}} " + _HEAD.format(rate=f"{'rate':{rate}}")
    return "\n".join([name, head, *(_line(row, mode, rate) for row in rows)])


def _tried(row: Mapping[str, Any]) -> bool:
    return bool(row["attempts"] or row["best"])


def _line(row: Mapping[str, Any], mode: int, rate: int) -> str:
    return (
        f"{row['mode']:{mode}} {row['best']:5} {row['rate']:{rate}} "
        f"{row['avg_tp_mbps']:7.1f} {row['avg_prob_percent']:9.1f} "
        f"{row['retry']:5} {row['suc']:6}/{row['att']:<6} {row['success']:8}/{row['attempts']}"
    )
