#!/usr/bin/env python3
"""The papers' settings for the web page: web/papers.json.

Reports by default whether the stored file is current, and fails if it is not. `--write` regenerates it, after
a change of an experiment's settings.
"""

import argparse
import json
from itertools import takewhile
from pathlib import Path
from typing import Any

from stillair.runs import bundled
from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.runs.plan import plan

FILE = Path(__file__).resolve().parents[2] / "web" / "papers.json"
MOST_CELLS = 16
"""Most settings in a selection list. `stillair paper` runs whole grids."""


def campaigns() -> list[dict[str, Any]]:
    """Returns the small campaigns of bundled scenarios.

    `set` contains the overrides shared by all cells; `set` of a cell is applied after them.
    """
    names, made = set(bundled.names()), []
    for paper, folder in paper_registry.folders().items():
        known = {one.id: one for of in plan(paper).experiments.values() for one in of.campaigns}
        for name in paper_registry.table(folder, "experiments.toml").get("campaign", {}):
            one = known[name]
            if one.scenario in names and 0 < len(one.cells) <= MOST_CELLS:
                sets = [list(cell.overrides.items()) for cell in one.cells]
                shared = [same[0] for same in takewhile(lambda at: len(set(at)) == 1, zip(*sets, strict=False))]
                cells = [
                    {"name": cell.name, "set": own[len(shared) :]} for cell, own in zip(one.cells, sets, strict=True)
                ]
                made.append({"paper": paper, "name": name, "scenario": one.scenario, "set": shared, "cells": cells})
    return made


def text() -> str:
    """Returns the file with one line per cell, for readable diffs."""
    parts = []
    for one in campaigns():
        cells = ",\n".join(f"    {json.dumps(cell, ensure_ascii=False)}" for cell in one.pop("cells"))
        head = json.dumps(one, ensure_ascii=False).removesuffix("}")
        parts.append(f'  {head}, "cells": [\n{cells}\n  ]}}')
    return "[\n" + ",\n".join(parts) + "\n]\n"


def main() -> int:
    """Compares or writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true")
    if arguments.parse_args().write:
        FILE.write_text(text(), encoding="utf-8")
        return 0
    if FILE.read_text(encoding="utf-8") != text():
        print("web/papers.json is not current: lab/scripts/page_settings.py --write renews it")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
