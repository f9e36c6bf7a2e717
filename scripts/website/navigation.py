"""Pages and navigation of the site. Every page of docs/ must be listed exactly once."""

import json
from pathlib import Path

NAVIGATION: dict[str, str | dict[str, str]] = {
    "Stillair": "index.md",
    "Start": {
        "Start in five minutes": "start.md",
        "Commands by question": "commands.md",
    },
    "How to": {
        "Compare queue settings for my router": "how-to/compare-queues.md",
        "Size an access point": "how-to/size-an-access-point.md",
        "Find out why it is slow": "how-to/find-the-cause.md",
        "Find the best settings": "tune.md",
        "Import my own network": "import.md",
        "Test my transport": "bad-wifi.md",
        "Run my application over it": "how-to/run-an-application.md",
        "Explore in the browser": "explore.md",
        "Run sweeps on many machines": "sweeps.md",
        "Reproduce a paper": "how-to/reproduce-a-paper.md",
    },
    "Answers": {
        "All answers": "faq/README.md",
    },
    "Gallery": "gallery.md",
    "Models": {
        "What is modelled": "models.md",
        "Access point schemes": "models/access-point.md",
        "The air": "models/air.md",
        "TCP": "models/tcp.md",
        "Rates and rate control": "rate-control.md",
        "Rates of 802.11ac and ax": "wide-rates.md",
        "Hidden stations, relays, capture": "cells.md",
        "Interference and neighbours": "interference.md",
        "Power save and scans": "power-save.md",
        "Devices of 802.11ac and ax": "modern-hardware.md",
        "QUIC": "quic.md",
        "Responsiveness and QoO": "responsiveness.md",
        "Hosts with jitter": "jitter.md",
        "Traces": "traces.md",
        "Queueing disciplines": "qdiscs/README.md",
        "Congestion controls": "congestion-controls/README.md",
        "Limits": "limits.md",
    },
    "Papers": {
        "Verdicts": "papers/README.md",
        "How claims are judged": "judging.md",
    },
    "How far to trust it": {
        "Compared with the Linux kernel": "validation.md",
        "Compared with mac80211": "validation-wifi.md",
        "Compared with measurements of ath9k": "ath9k-mcs.md",
        "Imports compared with measurements": "import-measured.md",
        "Compared with ns-3": "ns3-comparison.md",
        "Real transports on the paths": "link.md",
        "Cost of a link": "link-cost.md",
        "Live hosts: measurements": "live-measured.md",
        "Live captures: measurements": "live-captures.md",
        "Cost of the parts": "benchmarks.md",
        "Instructions by stage of a packet's path": "stages.md",
        "Effect of each part of the airtime scheduler": "pieces.md",
        "Airtime scheduling by kernel": "airtime-kernels.md",
    },
    "Reference": {
        "Scenario keys": "scenario.md",
        "Command line": "reference/command-line.md",
        "Python": "reference/python.md",
        "Rust": "reference/rust.md",
        "Live hosts": "live.md",
        "Real kernels as hosts": "kernels.md",
        "Real kernels over the air": "kernels-air.md",
        "Building a kernel": "kernel-build.md",
        "Where a packet's time went": "sojourn.md",
        "Glossary": "glossary.md",
        "Results": "result.md",
        "Architecture": "architecture.md",
        "Design decisions": "decisions.md",
        "Provenance": "provenance.md",
    },
}

# Pages with a list of their own, which follow it in the same section.
LISTED = {
    "Answers": ("faq",),
    "Models": ("qdiscs", "congestion-controls"),
    "Papers": ("papers",),
}
# Pages linked from a paper's page.
BEHIND = {
    "Papers": (
        "anomaly-rates.md",
        "thirty-stations.md",
        "towards-1ms.md",
        "retry-out.md",
        "bursty-quic.md",
        "what-moved.md",
        "results/jitter.md",
        "results/ns3-examples/predicted.md",
    ),
}

_HEAD = """\
[project]
site_name = "Stillair"
site_description = "A Wi-Fi latency testbed in one program"
docs_dir = "docs"
site_dir = "site"
use_directory_urls = false

[project.theme]
language = "en"
font = false
features = [
  "content.code.copy",
  "navigation.footer",
  "navigation.indexes",
  "navigation.top",
  "navigation.tabs",
  "search.highlight",
  "toc.follow",
]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/moon"
toggle.name = "Dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/sun"
toggle.name = "Light"

[project.markdown_extensions]
admonition = {}
attr_list = {}
md_in_html = {}
toc.permalink = true
tables = {}
pymdownx.highlight.pygments_lang_class = true
pymdownx.inlinehilite = {}
pymdownx.superfences = {}
"""


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").replace("`", "").replace("*", "")


def config(docs: Path) -> str:
    """Returns the Zensical configuration for the copied pages. Raises an error for an unlisted page."""
    entries = []
    seen = []
    for name, target in NAVIGATION.items():
        if isinstance(target, str):
            entries.append(f"  {{ {json.dumps(name)} = {json.dumps(target)} }},")
            seen.append(target)
            continue
        pages = list(target.items())
        for folder in LISTED.get(name, ()):
            pages += [
                (_title(path), path.relative_to(docs).as_posix())
                for path in sorted((docs / folder).glob("*.md"))
                if path.name != "README.md"
            ]
        pages += [(_title(docs / page), page) for page in BEHIND.get(name, ())]
        seen += [page for _, page in pages]
        inside = "".join(f"    {{ {json.dumps(title)} = {json.dumps(page)} }},\n" for title, page in pages)
        entries.append(f"  {{ {json.dumps(name)} = [\n{inside}  ] }},")
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    if there != set(seen) or len(seen) != len(set(seen)):
        twice = sorted({page for page in seen if seen.count(page) > 1})
        raise SystemExit(
            f"scripts/website/navigation.py: without a place: {sorted(there - set(seen))}; "
            f"no such page: {sorted(set(seen) - there)}; twice: {twice}"
        )
    nav = "nav = [\n" + "\n".join(entries) + "\n]\n"
    head, theme, rest = _HEAD.partition("\n[project.theme]")
    return f"{head}{nav}{theme}{rest}"
