#!/usr/bin/env python3
"""Checks that stored results match this version: repeats the first run of each cell, and compares hash and figures.

    lab/scripts/golden.py check [SET...]     reports stale results, and fails; checks a part of each set in seconds
    lab/scripts/golden.py check --all        checks every cell
    lab/scripts/golden.py make SET           runs the script behind a page, regenerates it, and records the first runs
    lab/scripts/golden.py note [SET...]      only records the first runs of papers and benchmarks

A set contains the cells behind one page or results folder. Its first runs are in
lab/results/first-runs/SET.json: scenario, overrides, seed, trace hash and figures. Papers use the hashes that
`stillair paper` stored (runs.json).
"""

import argparse
import json
import os
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stillair import InputError, RunError, Scenario, __version__, _native
from stillair.runs.scenario import BUNDLED
from stillair_lab.papers.pages import report
from stillair_lab.papers.runs import campaign
from stillair_lab.papers.runs.plan import plan

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "lab" / "results"
FIRST = RESULTS / "first-runs"

PAPERS = ("bquic", "ending-the-anomaly", "retry-out", "towards-1ms", "tsq-pacing")
BENCHMARKS = ("anomaly-udp", "anomaly-tcp", "upload-4", "rrul", "thirty")
"""Scenarios of docs/ns3-comparison.md."""

MADE: Mapping[str, Sequence[str]] = {
    "pieces": ("lab/scripts/pieces.py", "--write"),
    "airtime-kernels": ("lab/scripts/airtime_kernels.py", "--write"),
    "thirty-stations": ("lab/scripts/thirty_stations.py", "--write"),
    "ath9k-mcs": ("lab/scripts/ath9k_mcs.py", "--write"),
    "cells": ("lab/scripts/cells.py", "--write"),
    "anomaly-rates": ("lab/scripts/anomaly_rates.py", "--write"),
    "kernels": ("lab/scripts/kernels_on_wifi.py", "lab/results/kernels"),
    "remedies": ("lab/scripts/retry_out.py", "lab/results/retry-out"),
    "jitter": ("lab/scripts/jitter.py", "--write"),
    "tables": ("lab/scripts/tables.py", "--write"),
    "ns3-examples": ("lab/bench/examples.py", "--ns3", "build/ns3/saturation", "--write", "lab/results/ns3-examples"),
}
"""Sets, and the scripts that generate them."""

SOME = 20
"""Cells to repeat per set, unless all are."""


@dataclass(frozen=True)
class Cell:
    """Inputs of a cell, and the outcome of its first run."""

    scenario: str
    """Name of a bundled scenario, or the scenario's text."""
    overrides: list[tuple[str, str]]
    seed: int | None
    trace_hash: str
    figures: dict[str, float | None]
    paper: str = ""

    def words(self) -> str:
        """The cell on one line."""
        name = self.scenario if "\n" not in self.scenario else "a scenario of its script"
        sets = " ".join(f"{key.removeprefix('node.')}={value}" for key, value in self.overrides)
        return f"{name} {sets}"[:200].rstrip()


def figures(run: Mapping[str, Any]) -> dict[str, float | None]:
    """Some exact figures of a run: total goodput; goodput, airtime and ping of up to four stations."""
    found: dict[str, float | None] = {"goodput_total_mbps": run["goodput_total_mbps"]}
    for name in sorted(run["stations"])[:4]:
        for key in ("goodput_mbps", "airtime_share", "ping_median_ms"):
            found[f"{name}.{key}"] = run["stations"][name].get(key)
    return found


def _source(text: str) -> str:
    """Returns the name of a bundled scenario with this text; otherwise the text."""
    for path in sorted(BUNDLED.rglob("*.toml")):
        if path.read_text(encoding="utf-8") == text:
            return path.relative_to(BUNDLED).with_suffix("").as_posix()
    return text


def _scenario(cell: Cell) -> Scenario:
    if cell.paper:
        return campaign.scenario_of(cell.paper, cell.scenario)
    return Scenario(cell.scenario) if "\n" in cell.scenario else Scenario(BUNDLED / f"{cell.scenario}.toml")


def again(cell: Cell) -> Cell:
    """Repeats the first run of a cell."""
    run = _scenario(cell).run(1, cell.seed, 1, cell.overrides).runs[0]
    return Cell(cell.scenario, cell.overrides, cell.seed, run["trace_hash"], figures(run), cell.paper)


@contextmanager
def noted() -> Iterator[dict[tuple[Any, ...], Cell]]:
    """Records the first run of each cell that runs inside the block."""
    found: dict[tuple[Any, ...], Cell] = {}
    own: Callable[..., str] = _native.run
    names: dict[str, str] = {}

    def run(
        text: str,
        file: str,
        overrides: list[tuple[str, str]],
        seed: int | None,
        runs: int,
        *rest: object,
        **more: object,
    ) -> str:
        result = own(text, file, overrides, seed, runs, *rest, **more)
        first = json.loads(result)["runs"][0]
        if first["run"] == 0:
            names.setdefault(text, _source(text))
            sets = [(key, value) for key, value in overrides]
            cell = Cell(names[text], sets, seed, first["trace_hash"], figures(first))
            found.setdefault((names[text], tuple(sets), seed), cell)
        return result

    _native.run = run
    try:
        yield found
    finally:
        _native.run = own


def write(name: str, cells: Iterable[Cell]) -> None:
    """Stores the first runs of a set."""
    FIRST.mkdir(exist_ok=True)
    lines = ",\n".join("  " + json.dumps(asdict(cell)) for cell in cells)
    (FIRST / f"{name}.json").write_text(f'{{"version": "{__version__}", "cells": [\n{lines}\n]}}\n', encoding="utf-8")


def read(name: str) -> list[Cell]:
    """Reads the stored first runs of a set."""
    kept = json.loads((FIRST / f"{name}.json").read_text(encoding="utf-8"))
    return [Cell(**cell | {"overrides": [(key, value) for key, value in cell["overrides"]]}) for cell in kept["cells"]]


def sets() -> list[str]:
    """All stored sets."""
    return sorted(path.stem for path in FIRST.glob("*.json"))


def some(cells: Sequence[Cell]) -> list[Cell]:
    """A part of a set, evenly spaced and always the same."""
    return list(cells[:: max(1, -(-len(cells) // SOME))])


def differs(kept: Cell, now: Cell) -> str:
    """Describes the difference between a stored and a new first run; empty if they are equal."""
    if kept.trace_hash != now.trace_hash:
        shown = "; ".join(
            f"{key} {value} -> {now.figures.get(key)}"
            for key, value in list(kept.figures.items())[:3]
            if value != now.figures.get(key)
        )
        return f"trace hash {kept.trace_hash} -> {now.trace_hash}{f' ({shown})' if shown else ''}"
    wrong = [
        f"{key} {value} -> {now.figures.get(key)}"
        for key, value in kept.figures.items()
        if value != now.figures.get(key)
    ]
    return f"the same trace, and other figures: {'; '.join(wrong)}" if wrong else ""


def stale(name: str, *, whole: bool = False, jobs: int | None = None) -> tuple[int, list[str]]:
    """Number of cells that were run, and descriptions of the stale ones."""
    cells = read(name) if whole else some(read(name))

    def one(cell: Cell) -> str:
        try:
            told = differs(cell, again(cell))
        except (InputError, RunError) as error:
            told = str(error)
        return f"{name}: {cell.words()}: {told}" if told else ""

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return len(cells), [told for told in pool.map(one, cells) if told]


def kept_of_paper(paper: str) -> list[Cell]:
    """Cells of a paper with the hashes of its report."""
    path = RESULTS / paper / "runs.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    report.check_schema(path, data)
    cells: dict[tuple[Any, ...], Cell] = {}
    for cell in data["cells"]:
        first = next((run for run in cell["runs"] if run["run"] == 0), None)
        if first is not None:
            sets = list(cell["overrides"].items())
            cells.setdefault(
                (cell["scenario"], tuple(sets)),
                Cell(cell["scenario"], sets, None, first["trace_hash"], {}, paper),
            )
    return list(cells.values())


def note(name: str) -> list[str]:
    """Records the first runs of a paper or of the benchmarks, and reports differences from the paper's hashes."""
    if name in PAPERS:
        plan(name)
        kept = kept_of_paper(name)
    elif name == "ns3-bench":
        kept = [Cell(f"bench/{one}", [], None, "", {}) for one in BENCHMARKS]
    else:
        raise SystemExit(f"{name}: found no such set, expected one of {', '.join((*PAPERS, 'ns3-bench'))}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        now = list(pool.map(again, kept))
    wrong = [
        f"{name}: {cell.words()}: trace hash {cell.trace_hash} -> {new.trace_hash}"
        for cell, new in zip(kept, now, strict=True)
        if cell.trace_hash and cell.trace_hash != new.trace_hash
    ]
    write(name, now)
    return wrong


def make(name: str) -> None:
    """Runs the script behind a set and records its first runs."""
    if name not in MADE:
        raise SystemExit(f"{name}: found no such set, expected one of {', '.join(MADE)}")
    script, *arguments = MADE[name]
    os.chdir(ROOT)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(ROOT / Path(script).parent))
    with noted() as found:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as ended:
            if ended.code:
                raise
    write(name, found.values())
    print(f"{name}: {len(found)} cells noted")


def main() -> int:
    """Reads the arguments."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=("check", "make", "note"))
    arguments.add_argument("names", nargs="*", metavar="SET")
    arguments.add_argument("--all", action="store_true", help="every cell, not a part of them")
    arguments.add_argument("--jobs", type=int)
    given = arguments.parse_args()
    if given.what == "make":
        for name in given.names:
            make(name)
        return 0
    if given.what == "note":
        wrong = [told for name in given.names or [*PAPERS, "ns3-bench"] for told in note(name)]
    else:
        wrong = []
        for name in given.names or sets():
            count, told = stale(name, whole=given.all, jobs=given.jobs)
            print(f"{name}: {count} of {len(read(name))} cells run again, {len(told)} stale")
            wrong += told
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
