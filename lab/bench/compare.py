"""Runs the benchmark scenarios in ns-3 and in Stillair, side by side, and prints their cost and results.

`make bench-ns3` builds both programs and calls this.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from comparison import NS3, STILLAIR, NotRun, Row, cost_table, ratios, station_table, summarise
from programs import ProgramError, run_ns3, run_stillair

ROOT = Path(__file__).resolve().parents[2]
NS3_VERSION = "3.44 (wheel ns3==3.44.post0)"
PAYLOAD = {"anomaly-udp": 1472, "anomaly-tcp": 1448, "upload-4": 1448, "rrul": 1448, "thirty": 1448}
"""The scenarios, and the payload of their packets in bytes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the comparison: 0 on success, 1 if a program failed, 2 on bad input."""
    options = _options().parse_args(arguments)
    for path, remedy in ((options.ns3, "make bench-ns3"), (options.stillair, "make bench-ns3")):
        if not path.exists():
            print(f"compare: no {path}; build it with: {remedy}", file=sys.stderr)
            return 2
    try:
        rows = [row for scenario in options.scenario or PAYLOAD for row in compare(scenario, options)]
    except ProgramError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps({"machine": machine(), "ns3": NS3_VERSION, "rows": [_as_json(row) for row in rows]}))
    else:
        print(f"ns-3 {NS3_VERSION}; {machine()}; medians of {options.runs} runs\n")
        print(cost_table(rows), station_table(rows), "\n".join(ratios(rows)), sep="\n\n")
    return 0


def compare(scenario: str, options: argparse.Namespace) -> list[Row | NotRun]:
    """Runs one scenario in both programs, alternating so that other load on the machine affects both alike."""
    file = options.scenarios / f"{scenario}.toml"
    theirs, ours = [], []
    for run in range(options.runs):
        _progress(f"{scenario}: run {run + 1} of {options.runs}")
        theirs.append(run_ns3(options.ns3, scenario, run))
        if file.exists():
            ours.append(run_stillair(options.stillair, file, run))
    _progress(f"{scenario}: a look into ns-3's MAC, not timed")
    look = run_ns3(options.ns3, scenario, 0, look=True)
    _progress("")
    return [
        summarise(scenario, NS3, PAYLOAD[scenario], theirs, look),
        summarise(scenario, STILLAIR, PAYLOAD[scenario], ours)
        if ours
        else NotRun(scenario, STILLAIR, f"no {file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}"),
    ]


def machine() -> str:
    """Processor and compiler in a few words."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), platform.machine())
    compiler = shutil.which("g++")
    version = (
        subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=False)
        if compiler
        else None
    )
    return f"{os.cpu_count()} x {name}; g++ {version.stdout.strip() if version else 'none'}"


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="compare", description=__doc__)
    parser.add_argument("--ns3", type=Path, default=ROOT / "build/ns3/bench", help="the program for ns-3")
    parser.add_argument(
        "--stillair", type=Path, default=ROOT / "target/release/examples/bench", help="Stillair's benchmark program"
    )
    parser.add_argument(
        "--scenarios", type=Path, default=ROOT / "scenarios/bench", help="folder of Stillair's scenarios"
    )
    parser.add_argument(
        "--scenario", action="append", choices=list(PAYLOAD), help="only this one; may be given several times"
    )
    parser.add_argument("--runs", type=_positive, default=3, help="runs of each, with seeds of their own (default 3)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _as_json(row: Row | NotRun) -> dict[str, object]:
    return {"status": "not-run" if isinstance(row, NotRun) else "measured", **asdict(row)}


def _progress(text: str) -> None:
    """Overwrites a progress line on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
