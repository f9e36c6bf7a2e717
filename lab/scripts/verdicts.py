"""The table of verdicts in docs/judging.md, from stored results: `--write` updates it after `make papers`."""

import argparse
import sys
from pathlib import Path
from typing import Any

from stillair_lab.papers.pages import report
from stillair_lab.papers.robustness import counts

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "judging.md"
RESULTS = ROOT / "lab" / "results"
TITLES = {
    "ending-the-anomaly": "*Ending the Anomaly*",
    "tsq-pacing": "*The New TCP Modules on the Block*",
    "towards-1ms": "*Towards 1 ms WLAN Latency*",
    "retry-out": "bufferbloat in uploads",
    "bquic": "bursty QUIC",
}


def rows() -> list[dict[str, Any]]:
    """All stored claims."""
    files = [RESULTS / paper / "claims.json" for paper in TITLES]
    return [row for file in files for row in report.read_claims(file)]


def within(text: str) -> tuple[int, int]:
    """Position of the table in the page: from its header to the next empty line."""
    begin = text.index(f"| {counts.TABLE[0]} | {counts.TABLE[1]} |")
    return begin, text.index("\n\n", begin) + 1


def main() -> None:
    """Prints the table or writes it into the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="renew the table in docs/judging.md")
    table = counts.table(rows(), TITLES)
    if not arguments.parse_args().write:
        sys.stdout.write(table)
        return
    text = PAGE.read_text(encoding="utf-8")
    begin, end = within(text)
    PAGE.write_text(text[:begin] + table + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
