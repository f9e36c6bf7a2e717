"""Runs the saturated set-ups of ns-3's examples in ns-3 and in Stillair, and compares them: docs/ns3-comparison.md.

`make ns3-examples` builds the ns-3 program and regenerates lab/results/ns3-examples.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compare import NS3_VERSION
from programs import ProgramError
from saturated import report, theory
from saturated.cases import Case, every
from saturated.programs import run_ns3, run_stillair
from saturated.report import Row
from saturated.standard import mpdu, psdu, rate

RUNS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the comparison: 0 on success, 1 if a program failed, 2 on bad input."""
    options = _options().parse_args(arguments)
    cases = [case for case in every() if options.only in case.key]
    if not cases:
        print(f"no case has {options.only!r} in its name", file=sys.stderr)
        return 2
    if options.write and options.only:
        print("--write takes all cases: leave --only away", file=sys.stderr)
        return 2
    if options.predict:
        print(report.predictions(cases))
        return 0
    if not options.ns3.exists():
        print(f"{options.ns3} does not exist: make ns3-examples", file=sys.stderr)
        return 2
    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(lambda case: _row(options.ns3, case), cases))
    except ProgramError as e:
        print(e, file=sys.stderr)
        return 1
    text = f"{_head()}\n\n{report.table(rows)}\n\n{report.totals(rows)}\n"
    print(text, end="")
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        (options.write / "table.txt").write_text(text, encoding="utf-8")
        (options.write / "comparison.json").write_text(_json(rows), encoding="utf-8")
    return 0


def _row(ns3: Path, case: Case) -> Row:
    runs = 1 if case.stations == 1 else case.runs
    stated = run_ns3(ns3, case, runs)
    if case.lacks:
        return Row(case, stated, None)
    here = run_stillair(case, RUNS)
    counts = theory.frames(case, theory.ns3_limits(case)), theory.frames(case, theory.stillair_limits(case))
    if counts[0] == counts[1] and not case.alone:
        return Row(case, stated, here)
    # As many of these MPDUs as Stillair's limits allow.
    length = mpdu(case.payload, case.joined, case.header)
    ampdu = psdu(rate(case.rate), counts[1], length) + 3
    return Row(case, stated, here, run_ns3(ns3, case, runs, *case.alone, ampdu=ampdu))


def _head() -> str:
    from stillair import __version__  # noqa: PLC0415 - tables of predictions need no native module

    return f"ns-3 {NS3_VERSION}; Stillair {__version__}, seed 1, {RUNS} runs; payload in Mbit/s"


def _json(rows: Sequence[Row]) -> str:
    from stillair import __version__  # noqa: PLC0415

    whole = {
        "ns3": NS3_VERSION,
        "stillair": __version__,
        "stillair_seed": 1,
        "stillair_runs": RUNS,
        "ns3_rng_seed": 1,
        "ns3_rng_runs": "1 to the runs of each figure",
        "cases": [report.as_json(row) for row in rows],
    }
    return json.dumps(whole, indent=1) + "\n"


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ns3", type=Path, default=Path("build/ns3/saturation"), help="the program for ns-3")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--predict", action="store_true", help="what arithmetic alone says, without a run")
    parser.add_argument("--write", type=Path, help="folder for the table and the file for programs")
    parser.add_argument("--jobs", type=int, default=2, help="cases at once")
    return parser


if __name__ == "__main__":
    sys.exit(main())
