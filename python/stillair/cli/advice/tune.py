"""`stillair tune`."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.cli.common.progress import runs_progress
from stillair.text import terminal

if TYPE_CHECKING:
    from stillair.explain.tune.tune import Budget, Tuned

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@click.command()
@options.file
@click.option(
    "--for",
    "goal",
    type=click.Choice(["latency", "goodput", "balance"]),
    default="balance",
    help="Lowest delay, highest goodput, or highest ratio of goodput to delay.",
)
@options.set_
@options.seed
@click.option(
    "--runs",
    "seeds",
    type=options.whole(3, 1000),
    metavar="N",
    default=5,
    help="Runs that confirm the best settings.",
)
@click.option(
    "--budget",
    metavar="RUNS|TIME",
    default="300",
    help="How many runs the search may take, or how much CPU time, such as '2 min'.",
)
@options.jobs
@options.mine
@click.option(
    "-o",
    "folder",
    metavar="DIR",
    type=options.PATH,
    help="Keep runs, page, picture and commands in this folder; a later call continues.",
)
@options.as_json
def tune(
    file: str,
    goal: str,
    set_: tuple[str, ...],
    seed: int | None,
    seeds: int,
    budget: str,
    jobs: int | None,
    mine: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
) -> None:
    """Search for the best settings of a network.

    Changes only settings that an administrator can change and that the scenario has: shaper and qdisc, airtime queue
    limits, the access point's queues, RTS, channel width, TCP small queues, congestion control, pacing. Keys of --set
    stay as given.

    The table's score is the geometric mean of several flows' p95; each flow's own p95 and loss follow.

    The best settings are confirmed with several runs. Each change is removed again to measure its gain, and the network
    is varied by 20 %. Prints the commands for these settings. With -o an interrupted search continues.
    """
    from stillair.text import extras  # noqa: PLC0415 - loaded on use

    extras.need("optuna", "tune")
    from stillair.explain.tune import page  # noqa: PLC0415
    from stillair.explain.tune.tune import tune as search  # noqa: PLC0415

    scenario, overrides, limit = options.scenario(file), options.overrides(set_), _budget(budget)
    scenario.resolve(overrides)
    with options.writing(folder):
        if folder is not None:
            from stillair.cli.common import output_folder  # noqa: PLC0415 - not needed without -o

            # Kept trials are keyed by all inputs of a run, so trials of another scenario in the folder do no
            # harm.
            output_folder.check(folder, output_folder.TUNE, replace=False, grows=True)
        try:
            with runs_progress(limit.runs if limit.cpu_s is None else 1000, quiet=as_json) as watched:
                found = search(
                    scenario,
                    goal,
                    overrides,
                    seed=seed,
                    seeds=seeds,
                    budget=limit,
                    jobs=jobs,
                    folder=folder,
                    progress=watched.progress,
                    mine=mine,
                )
        except KeyboardInterrupt:
            where = "nothing is kept; -o names a folder for finished runs"
            if folder is not None:
                where = f"runs are kept in {folder}; run the same command again to continue"
            print(f"stillair: {terminal.harmless(where)}", file=sys.stderr)
            raise
        name = Path(file).stem
        if folder is not None:
            _write(folder, name, found, page.text(name, found, file, tuple(overrides)))
    print(page.to_json(name, found) if as_json else terminal.harmless(page.text(name, found, file, tuple(overrides))))


def _write(folder: Path, name: str, found: "Tuned", said: str) -> None:
    from stillair.explain.tune import page  # noqa: PLC0415
    from stillair.plot import pareto  # noqa: PLC0415
    from stillair.text import extras, output  # noqa: PLC0415

    output.write_files(folder, {"tune.txt": f"{said}\n", "tune.json": f"{page.to_json(name, found, 1)}\n"})
    if any(found.winner.choice):
        output.write_files(folder, {"commands.sh": f"{page.commands(found)}\n"})
    if not extras.there("matplotlib"):
        print("stillair: no picture of the front, as matplotlib is not installed: stillair[tune]", file=sys.stderr)
        return
    points = [("front, all seeds", one) for one in found.confirmed]
    points += [("as it is", found.before)] + ([("tuned", found.winner)] if any(found.winner.choice) else [])
    pareto.draw(
        folder / "front.svg",
        f"{name}, for {found.goal}",
        [(one.measured.latency_ms, one.measured.goodput_mbps) for one in found.trials],
        [(one.measured.latency_ms, one.measured.goodput_mbps) for one in found.front],
        [pareto.Point(of, one.latency_ms, one.goodput_mbps) for of, one in points],
    )


def _budget(text: str) -> "Budget":
    """Parses a number of runs, or a time with its unit."""
    from stillair.explain.tune.tune import Budget  # noqa: PLC0415

    found = re.fullmatch(r"(\d+(?:\.\d+)?) *(s|min|h)?", text.strip())
    if found is None or float(found[1]) <= 0 or (not found[2] and not found[1].isdigit()):
        raise InputError(
            f'--budget: found "{text}", expected a number of runs such as 300, or CPU time such as "2 min"'
        )
    if found[2]:
        return Budget(cpu_s=float(found[1]) * _SECONDS[found[2]])
    return Budget(int(found[1]))
