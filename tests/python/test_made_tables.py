"""Tables of figures in README and docs/: a script makes each, a test holds it, or the page says of what day it is."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_FIGURE = re.compile(r"\**[-+]?\d[\d.,]*( ?(ms|us|%|s|Mbit/s|±.*))?")
_AS_OF = re.compile(r"As of Stillair \d+\.\d+\.\d+, \d{4}-\d\d-\d\d; no script renews this table\.")
_MARK = re.compile(r"<!-- (/?)(?:table|front|cells|guests)\b")

WRITTEN = {
    "airtime-kernels.md": ("airtime_kernels.py", "## What it says"),
    "anomaly-rates.md": ("anomaly_rates.py", "## What it says"),
    "ath9k-mcs.md": ("ath9k_mcs.py", "## What is met and what is not"),
    "judging.md": ("verdicts.py", ""),
    "pieces.md": ("pieces.py", "## What it says"),
    "results/jitter.md": ("jitter.py", ""),
    "thirty-stations.md": ("thirty_stations.py", "## What it says"),
}
"""Pages that a script writes, down to a heading or to the end."""

SETTINGS = "settings, definitions, bounds or predictions: no run of ours"
OTHERS = "what others measured, beside a prediction that a test holds or that stands as it was written"
TESTED = "a test works these out and holds them"
LISTED: dict[tuple[str, str], str] = {
    ("benchmarks.md", "| | what"): "CPU time; each row names the version of its program",
    ("cells.md", "| window | second's rate"): TESTED,
    ("cells.md", "| window | rate | outer"): TESTED,
    ("cells.md", "| stations | rate | window"): TESTED,
    ("congestion-controls/README.md", "| | 10 ms: 100"): TESTED,
    ("congestion-controls/README.md", "| controller | path"): TESTED,
    ("import-measured.md", "| scenario | stations | airtime"): TESTED,
    ("import-measured.md", "| source | network"): OTHERS,
    ("import-measured.md", "| adapter |"): OTHERS,
    ("import-measured.md", "| test | discipline"): OTHERS,
    ("import-measured.md", "| network | load"): SETTINGS,
    ("live.md", "| exit status"): SETTINGS,
    ("modern-hardware.md", "| device | driver"): SETTINGS,
    ("modern-hardware.md", "| case | predicted"): OTHERS,
    ("ns3-comparison.md", "| example | ns-3's test"): "bench/examples.py, kept in docs/results/ns3-examples",
    ("power-save.md", "| `power_save`"): SETTINGS,
    ("power-save.md", "| power save | L"): SETTINGS,
    ("power-save.md", "| kind | gaps"): SETTINGS,
    ("quic.md", "| link | queue"): TESTED,
    ("quic.md", "| `server_handshake`"): TESTED,
    ("responsiveness.md", "| key | source"): SETTINGS,
    ("sojourn.md", "| packet | qdisc"): TESTED,
    ("sojourn.md", "| from | to"): TESTED,
    ("sojourn.md", "| | off | each packet"): "instructions; the line above has their day",
    ("towards-1ms.md", "| | | source"): SETTINGS,
    ("towards-1ms.md", "| | 4.14"): SETTINGS,
    ("validation.md", "| quantity | within"): SETTINGS,
    ("validation.md", "| missed | kernel"): TESTED,
    ("validation-wifi.md", "| quantity | within"): SETTINGS,
    ("what-moved.md", "| what changed"): "scripts/verdict_changes.py, of states that are past",
    ("what-moved.md", "| changed | why"): "what single changes moved when they were made",
    ("wide-rates.md", "| channel or kernel"): SETTINGS,
    ("wide-rates.md", "| SNR | best fixed"): TESTED,
}
"""Tables that are neither made nor dated, by page and beginning, and why."""


def tables(text: str) -> Iterator[tuple[int, int, str]]:
    """First and last line and head of each table with three figures or more."""
    lines = [line.strip() for line in text.splitlines()]
    begin = 0
    while begin < len(lines):
        end = begin
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        cells = [cell.strip() for line in lines[begin + 2 : end] for cell in line.strip("|").split("|")]
        if sum(bool(_FIGURE.match(cell)) for cell in cells) >= 3:
            yield begin, end - 1, lines[begin]
        begin = end + 1


def made(page: str, text: str, begin: int) -> bool:
    """Whether a script writes the line: it stands between marks, or in the part of a page that is a script's."""
    marks = [found[1] for line in text.splitlines()[:begin] if (found := _MARK.match(line))]
    if marks and not marks[-1]:
        return True
    if page not in WRITTEN:
        return False
    words = WRITTEN[page][1]
    return not words or begin < text.splitlines().index(words)


def dated(text: str, end: int) -> bool:
    """Whether the line below a table says of what version and day it is."""
    return any(_AS_OF.fullmatch(line.strip()) for line in text.splitlines()[end + 1 : end + 3])


def listed(page: str, head: str) -> list[tuple[str, str]]:
    return [key for key in LISTED if key[0] == page and head.startswith(key[1])]


def unaccounted(page: str, text: str) -> list[str]:
    """Tables of a page of which nobody knows when they go stale."""
    return [
        f"{page}:{begin + 1}: {head}: found neither a script nor a day"
        for begin, end, head in tables(text)
        if not made(page, text, begin) and not dated(text, end) and not listed(page, head)
    ]


# docs/faq and docs/scenario.md are written as a whole, by `make faq` and `make describe`.
PAGES = [
    path.relative_to(DOCS).as_posix()
    for path in sorted(DOCS.rglob("*.md"))
    if path.parent.name != "faq" and path.name != "scenario.md"
]


@pytest.mark.parametrize("page", PAGES)
def test_each_table_of_figures_is_made_held_or_dated(page: str) -> None:
    assert unaccounted(page, (DOCS / page).read_text(encoding="utf-8")) == []


def test_tables_of_the_first_page_are_made() -> None:
    assert unaccounted("../README.md", (ROOT / "README.md").read_text(encoding="utf-8")) == []


def test_a_table_by_hand_is_told() -> None:
    table = "| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n| z | 3 ms |\n"
    assert unaccounted("new.md", table) == ["new.md:1: | a | b |: found neither a script nor a day"]
    assert unaccounted("new.md", table + "\nAs of Stillair 0.1.0, 2026-11-26; no script renews this table.\n") == []
    assert unaccounted("new.md", f"<!-- table: x -->\n{table}<!-- /table -->\n") == []
    after = f"<!-- table: x -->\n<!-- /table -->\n{table}"
    assert unaccounted("new.md", after) == ["new.md:3: | a | b |: found neither a script nor a day"]


def test_what_is_listed_is_there_and_needs_it() -> None:
    needed = {
        key
        for page in PAGES
        if (text := (DOCS / page).read_text(encoding="utf-8"))
        for begin, end, head in tables(text)
        if not made(page, text, begin) and not dated(text, end)
        for key in listed(page, head)
    }
    assert set(LISTED) - needed == set()


def test_scripts_that_write_pages_exist_and_name_them() -> None:
    for page, (script, words) in WRITTEN.items():
        source = (ROOT / "scripts" / script).read_text(encoding="utf-8")
        assert Path(page).name in source
        assert words in source


def test_marked_tables_have_makers() -> None:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "scripts" / "tables.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    marks = {
        (page, name)
        for page in PAGES
        for name in re.findall(r"<!-- table: (\w+) -->", (DOCS / page).read_text(encoding="utf-8"))
    }
    assert {page for page, _ in marks} == set(module.PAGES)
    assert {name for _, name in marks} == set(module.MAKERS)
