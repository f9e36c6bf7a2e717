"""What `stillair tune` finds in the networks of tests/python/tune_problems, with the CPU time that it takes."""

import os
import time
import tomllib
from pathlib import Path

from stillair import Scenario
from stillair.explain.tune import page
from stillair.explain.tune.tune import Budget, tune

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = Path("tests", "python", "tune_problems")


def main() -> None:
    """Prints the page of each, with the budget that the command has."""
    # Pages name files: from here their names are the same on every machine.
    os.chdir(ROOT)
    for file in sorted(PROBLEMS.glob("*.toml")):
        lines = file.read_text(encoding="utf-8").splitlines()
        told = tomllib.loads("\n".join(line.removeprefix("#:") for line in lines if line.startswith("#:")))
        began = time.process_time()
        found = tune(Scenario(file), told["goal"], budget=Budget())
        took = time.process_time() - began
        best = ", ".join(f"{key} = {value}" for key, value in told["best"])
        print(f"{page.text(file.stem, found, str(file))}\n\nKnown best: {best}\nCPU time: {took:.0f} s\n\n{'-' * 80}\n")


if __name__ == "__main__":
    main()
