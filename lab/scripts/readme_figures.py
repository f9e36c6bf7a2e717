#!/usr/bin/env python3
"""Figures of README, the site's first page and the comparison with ns-3, from stored results.

    lab/scripts/readme_figures.py             reports outdated pages, and fails
    lab/scripts/readme_figures.py --write     updates them

A generated part starts with `<!-- front: NAME -->` and ends with `<!-- /front -->`.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from stillair import __version__
from stillair_lab.papers.pages import report

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RESULTS = ROOT / "lab" / "results"
PAGES = (ROOT / "README.md", ROOT / "scripts" / "website" / "pages" / "index.md", DOCS / "ns3-comparison.md")
_PLACE = re.compile(r"(<!-- front: (\w+) -->\n).*?(<!-- /front -->)", re.DOTALL)
_WITHIN = re.compile(r"(\d+) of (\d+) quantities in (\d+)")


def within(page: str) -> tuple[str, ...]:
    """Number of quantities within their bounds, from the text of a page that a test compares with the runs."""
    found = _WITHIN.search((DOCS / page).read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"docs/{page}: found no 'N of M quantities in K'")
    return found.groups()


def verdicts() -> tuple[int, Counter[str], int]:
    """Number of claims, their verdicts, and number of papers."""
    files = sorted(RESULTS.glob("*/claims.json"))
    rows = [row for file in files for row in report.read_claims(file)]
    return len(rows), Counter(row["verdict"] for row in rows), len(files)


def costs() -> Mapping[str, list[float]]:
    """CPU time per delivered packet in us of both programs, from the stored output of `make bench-ns3`."""
    table = (RESULTS / "ns3-bench" / "table.txt").read_text(encoding="utf-8")
    found: dict[str, list[float]] = {"ns-3": [], "stillair": []}
    head, _, rest = table.partition("us/delivered")
    del head
    for line in rest.partition("\n\n")[0].splitlines():
        parts = line.split()
        if len(parts) > 3 and parts[1] in found:
            found[parts[1]].append(float(parts[3]))
    if not all(found.values()):
        raise SystemExit("lab/results/ns3-bench/table.txt: found no costs of both programs")
    return found


def _span(values: list[float]) -> str:
    return f"{min(values):.2g} to {max(values):.2g}" if max(values) < 10 else f"{min(values):.0f} to {max(values):.0f}"


def air() -> str:
    """Number of agreeing figures of real kernels over the air, from the stored output of `make crosscheck-kernels`."""
    found = re.search(
        r"^(\d+ of \d+) figures agree", (RESULTS / "guests" / "air.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    if found is None:
        raise SystemExit("lab/results/guests/air.txt: found no count of figures")
    return found[1]


def figures(to: str) -> str:
    """The table of README and first page; `to` is the relative path of docs/."""
    kernel, wifi = within("validation.md"), within("validation-wifi.md")
    count, found, papers = verdicts()
    cost = costs()
    less = [ns3 / own for ns3, own in zip(cost["ns-3"], cost["stillair"], strict=True)]
    rows = [
        ("Speed", f"{_span(cost['stillair'])} us of CPU time per delivered packet, with Linux TCP and the MAC; ns-3 takes "
         f"{_span(cost['ns-3'])} us ({min(less):.0f} to {max(less):.0f} times as long) for the same stations and flows", "ns3-comparison.md"),
        ("Compared with the Linux kernel", f"{kernel[0]} of {kernel[1]} quantities from {kernel[2]} measurements are within bounds (3 % of goodput, 10 % of median delay)", "validation.md"),
        ("Compared with the real mac80211", f"{wifi[0]} of {wifi[1]} quantities from {wifi[2]} configurations are within bounds that were fixed in advance (10 % of goodput, 20 % of ping)", "validation-wifi.md"),
        ("Compared with real kernels over the modelled air", f"{air()} figures are within bounds (3 % of goodput, 10 % of delay)", "kernels-air.md"),
        (f"{count} claims from {papers} papers", f"{found['reproduced']} reproduced, {found['not-reproduced']} not reproduced, {found['undecided']} undecided, {found['not-judged']} not judged, all by one rule; each difference is explained, or the attempts to explain it are listed", "judging.md"),
    ]  # fmt: skip
    lines = [f"| [{name}]({to}{page}) | {text} |" for name, text, page in rows]
    return (
        "\n".join(
            [
                "| What | Result |",
                "|---|---|",
                *lines,
                "",
                f"Results of Stillair {__version__}. CI repeats the first run of each and compares trace hashes and figures.",
            ]
        )
        + "\n"
    )


def ns3(_to: str) -> str:
    """The stored output of `make bench-ns3`, without its rows by station."""
    parts = (RESULTS / "ns3-bench" / "table.txt").read_text(encoding="utf-8").rstrip().split("\n\n")
    kept = [part for part in parts if "station" not in part.partition("\n")[0]]
    return "\n```text\n" + "\n\n".join(kept) + "\n```\n\n"


MAKERS: Mapping[str, Callable[[str], str]] = {"figures": figures, "ns3": ns3}


def renewed(page: Path) -> str:
    """A page with the current figures."""
    to = "docs/" if page.parent == ROOT else ""
    return _PLACE.sub(lambda of: of[1] + MAKERS[of[2]](to) + of[3], page.read_text(encoding="utf-8"))


def main() -> int:
    """Compares or writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true")
    write = arguments.parse_args().write
    wrong = [page for page in PAGES if renewed(page) != page.read_text(encoding="utf-8")]
    for page in wrong if write else ():
        page.write_text(renewed(page), encoding="utf-8")
    print(
        f"{'renewed' if write else 'not as kept'}: {', '.join(str(page.relative_to(ROOT)) for page in wrong) or 'none'}"
    )
    return 1 if wrong and not write else 0


if __name__ == "__main__":
    raise SystemExit(main())
