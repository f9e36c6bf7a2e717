#!/usr/bin/env python3
"""Instructions by stage of a packet's walk, counted by callgrind: docs/stages.md.

usage: stages.py BENCH [--set KEY=VALUE]... [--write] SCENARIO...

BENCH is the example `bench` of stillair-sim, built with line tables. Each instruction belongs to the source file that
it comes from, inlined or not, and each file to a stage; what the standard library has inlined into one of our functions
belongs to that function's file. Instructions do not vary with the machine or its load.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "stages.md"
BEGIN = "```text\n"
END = "```\n"

# The first that a path contains is its stage.
STAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("applications", ("model/src/app/", "world/hosts/apps", "world/hosts/web", "world/hosts/responsiveness")),
    ("TCP, sender", ("transport/tcp/sender/", "transport/cc/")),
    ("TCP, receiver", ("transport/tcp/receiver/",)),
    ("TCP, socket", ("transport/tcp/", "transport/seq", "transport/mod", "model/src/transport/quic/")),
    ("hosts: wake, deliver", ("world/hosts/", "node/wake", "node/jitter")),
    ("routes, interfaces", ("world/network/", "model/src/node/")),
    ("disciplines, flow queues", ("model/src/qdisc/", "model/src/fair/", "model/src/aqm/")),
    ("segmentation, merging", ("model/src/offload/",)),
    ("wires", ("model/src/wire/",)),
    (
        "Wi-Fi: driver, aggregates",
        ("wifi/driver/", "wifi/tx/", "wifi/dev", "wifi/rate/", "wifi/power", "wifi/stations", "wifi/config"),
    ),
    ("Wi-Fi: air", ("wifi/air/", "wifi/phy/", "wifi/marks", "wifi/timeline", "world/air/")),
    ("Wi-Fi: receiver", ("wifi/rx/", "wifi/seq_window")),
    ("packets and lists", ("model/src/types/packet", "types/list", "types/bytes", "types/fate")),
    ("random numbers", ("types/rng", "rand_")),
    ("timers, events", ("sim/src/engine/", "sim/src/world/mod", "sim/src/world/common", "types/time")),
    ("recorder, trace hash", ("sim/src/recorder/", "types/trace", "types/probe", "model/src/metrics/")),
    ("other types", ("model/src/types/",)),
    ("set-up, scenario, report", ("sim/src/", "toml", "serde", "wiring/")),
    ("copies, allocation, library", ("",)),
)
EARLY = ("wiring/", "sim/src/scenario/", "sim/src/run/", "sim/src/api")


class Counted(NamedTuple):
    """One run."""

    scenario: str
    unit: str
    packets: int
    stages: Counter[str]


def stage(path: str) -> str:
    """The stage of a source file."""
    if any(part in path for part in EARLY):
        return "set-up, scenario, report"
    return next(name for name, parts in STAGES if any(part in path for part in parts))


def is_ours(path: str) -> bool:
    """Whether a file is one of the crates."""
    return "crates/" in path


def by_stage(text: str) -> Counter[str]:
    """Instructions by stage of what callgrind has written."""
    names: dict[str, str] = {}
    found: Counter[str] = Counter()
    own = file = ""
    calls = False

    def named(value: str) -> str:
        number, _, name = value.partition(" ")
        if name:
            names[number] = name
        return names[number]

    for line in text.splitlines():
        match line[:3]:
            case "fl=" | "ob=" | "fn=":
                if line.startswith("fl="):
                    own = file = named(line[3:])
            case "fi=" | "fe=":
                file = named(line[3:])
            case "cfi" | "cfl" if line[3:4] == "=":
                named(line[4:])
            case "cal":
                calls = True
            case _ if re.match(r"[0-9+*-]", line):
                # What a call costs is that of the function called.
                if not calls:
                    at = file if is_ours(file) or not is_ours(own) else own
                    found[stage(at)] += int(line.split()[1])
                calls = False
    return found


def run(bench: str, sets: list[str], scenario: str) -> Counted:
    """One run of a scenario under callgrind."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        sys.exit("instructions not counted: no valgrind (apt-get install valgrind)")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={out}", bench, "--once", *sets, scenario]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a program that the user names
        if done.returncode:
            sys.exit(f"{scenario}: {done.stderr[-2000:]}")
        stages = by_stage(out.read_text())
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith(scenario))
    delivered, segments = int(row[2]), int(row[3])
    unit, packets = ("segment", segments) if segments else ("packet", delivered)
    return Counted(Path(scenario).stem, unit, packets, stages)


def table(runs: list[Counted]) -> str:
    """Instructions per unit, a column for each scenario."""
    names = [name for name, _ in STAGES]
    width = max(map(len, names))
    rows = [("", [run.scenario for run in runs]), ("instructions per", [run.unit for run in runs])]
    rows += [(name, [f"{run.stages[name] / run.packets:.0f}" for run in runs]) for name in names]
    rows.append(("all", [f"{run.stages.total() / run.packets:.0f}" for run in runs]))
    return "".join(f"{name:{width}}" + "".join(f"{cell:>13}" for cell in cells) + "\n" for name, cells in rows)


def main() -> None:
    """Counts, and prints or writes the table."""
    arguments = sys.argv[1:]
    write = "--write" in arguments
    arguments = [one for one in arguments if one != "--write"]
    if len(arguments) < 2:
        sys.exit((__doc__ or "").split("\n\n")[1])
    bench, rest, sets = arguments[0], arguments[1:], list[str]()
    while rest[:1] == ["--set"]:
        sets += rest[:2]
        rest = rest[2:]
    text = table([run(bench, sets, scenario) for scenario in rest])
    if not write:
        print(text, end="")
        return
    page = PAGE.read_text()
    before, _, after = page.partition(BEGIN)
    PAGE.write_text(before + BEGIN + text + END + after.partition(END)[2])


if __name__ == "__main__":
    main()
