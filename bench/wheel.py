#!/usr/bin/env python3
"""Instructions and CPU time of a TCP segment in an installed Stillair, without set-up: docs/stages.md.

usage: wheel.py PYTHON BENCH FILE...

PYTHON is an interpreter that has Stillair, such as that of an environment with the wheel. BENCH is the example `bench`
of stillair-sim of the same version, which counts the segments. Each figure is the difference of two lengths of the
same run. Instructions are counted by callgrind, from 4 to 8 s; CPU time is the least of five runs, from 5 to 25 s.
"""

import subprocess
import sys

RUN = """
import sys, time, stillair
file, seconds, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
best = float("inf")
for _ in range(times):
    began = time.process_time()
    stillair.Scenario(file).run(overrides={"duration": f"{seconds} s", "warm_up": "0 s"}, runs=1, jobs=1)
    best = min(best, time.process_time() - began)
print(best)
"""


def main() -> None:
    """Prints a line for each file."""
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    python, bench, *files = sys.argv[1:]
    for file in files:
        counted = [instructions(python, file, seconds) for seconds in (4, 8)]
        instructions_each = (counted[1] - counted[0]) / (segments(bench, file, 8) - segments(bench, file, 4))
        took = [float(said([python, "-c", RUN, file, str(seconds), "5"])) for seconds in (5, 25)]
        ns = 1e9 * (took[1] - took[0]) / (segments(bench, file, 25) - segments(bench, file, 5))
        print(f"{file}: {instructions_each:,.0f} instructions and {ns:.0f} ns a segment", flush=True)


def instructions(python: str, file: str, seconds: int) -> int:
    """Instructions of a run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*valgrind, python, "-c", RUN, file, str(seconds), "1"], capture_output=True, text=True, check=True
    )
    return int(done.stderr.split("Collected :")[1].split()[0])


def segments(bench: str, file: str, seconds: int) -> int:
    """Segments that a run delivers: the fourth column of the last line."""
    sets = ["--set", f"duration={seconds} s", "--set", "warm_up=0 s"]
    return int(said([bench, "--once", *sets, file]).splitlines()[-1].split()[3])


def said(command: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
