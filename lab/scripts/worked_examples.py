#!/usr/bin/env python3
"""The receiver's answers to the papers' worked examples: `worked-examples.json` in a paper's folder.

    lab/scripts/worked_examples.py PROGRAM             asks the receiver, and fails if its answers differ from the file
    lab/scripts/worked_examples.py PROGRAM --write     stores its answers

PROGRAM is the example `retry_out` of the crate stillair-sim (target/debug/examples/retry_out).
"""

import argparse
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stillair_lab.papers.claims.inventory import experiments
from stillair_lab.papers.measure import worked_examples
from stillair_lab.papers.measure.worked_examples import Events
from stillair_lab.papers.robustness import non_discriminating
from stillair_lab.papers.runs.plan import plan

ROOT = Path(__file__).resolve().parents[2]
PAPER = "retry-out"
FILE = ROOT / "lab" / "src" / "stillair_lab" / "papers" / "data" / PAPER / worked_examples.KEPT
MOST_MBPS = 300

# Frame 4 arrives intact before it is given up.
EARLY: Events = [{"received": [1, 2, 3, 4], "crc_error": [4]}, {"received": [4], "crc_error": []}]


def examples() -> list[tuple[int, Events]]:
    """Returns index and A-MPDUs of each example, also without the mechanism, and of two in which claims would fail."""
    found: list[tuple[int, Events]] = []
    off = int(non_discriminating.known(PAPER)["off"]["index"])
    for experiment in experiments():
        if experiment.paper == PAPER and (of := plan(PAPER).experiments[experiment.id]).worked is not None:
            ampdus = worked_examples.came(worked_examples.events(experiment, of.worked))
            if ampdus:
                found += [(int(experiment.setup["index"]), ampdus), (off, ampdus)]
    longest = max((ampdus for _, ampdus in found), key=len)
    return [*found, (3, longest), (2, EARLY)]


def ask(program: Path, requests: Iterable[dict[str, Any]]) -> list[Any]:
    """Returns the receiver's answer to each request."""
    lines = "".join(f"{json.dumps(one)}\n" for one in requests)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def index_by_rate(program: Path) -> list[list[float | None]]:
    """Returns the rates at which the index changes, in steps of 0.1 Mbit/s, finer than any of the table's ranges."""
    rates = range(10 * MOST_MBPS + 1)
    one = {"received": [1], "crc_error": [1]}
    answers = ask(program, ({"first": 1, "ampdus": [one | {"rate_bps": rate * 100_000}]} for rate in rates))
    rows: list[list[float | None]] = []
    for tenth, (after,) in zip(rates, answers, strict=True):
        if not rows or rows[-1][2] != after["index"]:
            if rows:
                rows[-1][1] = tenth / 10
            rows.append([tenth / 10, None, after["index"]])
    return rows


def text(program: Path) -> str:
    """Returns the file, a line for each A-MPDU."""
    asked = examples()
    answers = ask(program, ({"index": index, "first": 1, "ampdus": ampdus} for index, ampdus in asked))
    parts = []
    for (index, ampdus), after in zip(asked, answers, strict=True):
        came, became = (",\n".join(f"      {json.dumps(one)}" for one in many) for many in (ampdus, after))
        parts.append(f'    {{"index": {index}, "ampdus": [\n{came}\n    ], "after": [\n{became}\n    ]}}')
    rows = json.dumps(index_by_rate(program))
    kept = ",\n".join(parts)
    return f'{{\n  "examples": [\n{kept}\n  ],\n  "index_by_rate": {rows}\n}}\n'


def main() -> int:
    """Compares or writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", type=Path)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    made = text(given.program.absolute())
    if given.write:
        FILE.write_text(made, encoding="utf-8")
        return 0
    if FILE.read_text(encoding="utf-8") != made:
        print(f"{FILE.relative_to(ROOT)}: the receiver's answers are others; --write keeps them")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
