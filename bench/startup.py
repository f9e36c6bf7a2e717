"""How long the command line takes before it does anything: CPU time of each command, and what its imports cost.

python bench/startup.py [--runs N] [--imports]
"""

import argparse
import os
import re
import subprocess
import sys

COMMANDS = (
    "--version",
    "run --help",
    "check hidden",
    "scenarios",
    "schema",
    "new",
    "compare --help",
    "paper --help",
    "export --help",
    "validate --help",
)
MOST_S = 0.2
"""What any of them may take where nothing else runs."""


def cpu_s(command: str) -> float:
    """CPU time of one run of it, user and system: other programs do not count."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "stillair", *command.split()], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def imports(command: str) -> list[tuple[int, str]]:
    """The modules that it loads, with what each costs by itself in us, the dearest first."""
    arguments = [sys.executable, "-X", "importtime", "-m", "stillair", *command.split()]
    told = subprocess.run(arguments, check=True, capture_output=True, text=True).stderr
    found = re.findall(r"import time:\s*(\d+) \|\s*\d+ \|\s*(\S+)", told)
    return sorted(((int(us), name) for us, name in found), reverse=True)


def main() -> None:
    """A line for each command: the least of several runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--imports", action="store_true")
    arguments = parser.parse_args()
    for command in COMMANDS:
        least = min(cpu_s(command) for _ in range(arguments.runs))
        print(f"{command:16} {least:.3f} s{'' if least <= MOST_S else f', more than {MOST_S} s'}")
        if arguments.imports:
            for us, name in imports(command)[:8]:
                print(f"    {us:7} us  {name}")


if __name__ == "__main__":
    main()
