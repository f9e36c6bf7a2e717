"""Rate control at the end of a run, in the columns of mac80211's `rc_stats`.

A run's report lacks `idx`, `airtime`, `max_tp`, the deviation, and the totals over all rates. `mode`, the
prefix of a rate's name, is only in the report.
"""

from collections.abc import Mapping
from typing import Any

from stillair.text.table import table

# linux: net/mac80211/rc80211_minstrel_ht_debugfs.c (4.4) - columns. Rates never tried are left out here.
_HEAD = ("rate", "best", "tp (avg)", "prob (avg)", "retry", "last suc/att", "sum suc/att")


def rc_stats_text(run: Mapping[str, Any], width: int = 80) -> str:
    """Tables of all links of a run's report whose rates are not fixed, no wider than `width`."""
    links: Mapping[str, list[Mapping[str, Any]]] = run.get("rc_stats", {})
    return "\n\n".join(_link(*link, width) for link in links.items()) or "all rates are fixed"


def _link(name: str, rows: list[Mapping[str, Any]], width: int) -> str:
    return f"{name}\n{table(_HEAD, [_cells(row) for row in rows if _tried(row)], width=width, words=2)}"


def _tried(row: Mapping[str, Any]) -> bool:
    return bool(row["attempts"] or row["best"])


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        row["rate"],
        row["best"],
        f"{row['avg_tp_mbps']:.1f}",
        f"{row['avg_prob_percent']:.1f}",
        str(row["retry"]),
        f"{row['suc']}/{row['att']}",
        f"{row['success']}/{row['attempts']}",
    ]
