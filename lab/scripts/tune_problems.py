"""Results of `stillair tune` in the networks of tests/python/tune_problems, and its CPU time."""

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
    """Prints the page of each network, with the command's default budget."""
    # Pages contain file names; relative ones are the same on every machine.
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
