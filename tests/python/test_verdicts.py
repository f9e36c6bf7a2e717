"""The table of verdicts is that of the kept results."""

import importlib.util
from pathlib import Path

from stillair_lab.papers.robustness import counts

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_has_the_counts_of_the_kept_results() -> None:
    spec = importlib.util.spec_from_file_location("verdicts", ROOT / "lab" / "scripts" / "verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = script.PAGE.read_text(encoding="utf-8")
    begin, end = script.within(text)
    assert text[begin:end] == counts.table(script.rows(), script.TITLES), "lab/scripts/verdicts.py --write renews it"
