"""What rate control knows at the end of a run, by columns of mac80211's `rc_stats`.

The report of a run has neither its `idx`, `airtime`, `max_tp` and deviation nor its totals over all rates.
"""

from collections.abc import Mapping
from typing import Any

# linux: net/mac80211/rc80211_minstrel_ht_debugfs.c (4.4) - columns; rates never tried are left out here.
_HEAD = (
    f"{'mode':8} {'best':5} {'rate':15} {'tp(avg)':>7} {'prob(avg)':>9} "
    f"{'retry':>5} {'last suc/att':>13} {'sum suc/att':>17}"
)


def rc_text(run: Mapping[str, Any]) -> str:
    """All links of a run's report whose rates are not fixed."""
    links: Mapping[str, list[Mapping[str, Any]]] = run.get("rc_stats", {})
    blocks = ["\n".join([name, _HEAD, *map(_line, filter(_tried, rows))]) for name, rows in links.items()]
    return "\n\n".join(blocks) or "all rates are fixed"


def _tried(row: Mapping[str, Any]) -> bool:
    return bool(row["attempts"] or row["best"])


def _line(row: Mapping[str, Any]) -> str:
    return (
        f"{row['mode']:8} {row['best']:5} {row['rate']:15} {row['avg_tp_mbps']:7.1f} {row['avg_prob_percent']:9.1f} "
        f"{row['retry']:5} {row['suc']:6}/{row['att']:<6} {row['success']:8}/{row['attempts']}"
    )
