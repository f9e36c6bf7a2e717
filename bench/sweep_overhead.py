"""What a sweep costs beside the runs in it: CPU time of a local one, and a Dask task's time.

Usage: python bench/sweep_overhead.py [--cells N] [--repeat N] [--tasks N]
"""

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from stillair import Scenario, run_sweep
from stillair.runs import bundled
from stillair.runs.overrides import Value, pairs
from stillair.runs.work import cells, run_cell

_TINY: dict[str, Value] = {"duration": "20 ms", "warm_up": "0 s"}


def main() -> None:
    """Prints both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=500)
    chosen = parser.parse_args()
    scenario = bundled.scenario("anomaly-udp")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    local(scenario, chosen.cells, chosen.repeat)
    dask(scenario, chosen.tasks)


def local(scenario: Scenario, count: int, repeat: int) -> None:
    """CPU time of single runs, and of a sweep of the same runs, in turn; the least of each counts."""
    seeds = range(1, count + 1)

    def single() -> None:
        for seed in seeds:
            scenario.run(overrides={"seed": seed}, jobs=1)

    def swept(jobs: int, parquet: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            axes = {"seed": list(seeds)}
            run_sweep(scenario, axes, jobs=jobs, folder=folder, parquet=parquet)

    # What is imported late is imported before anything is measured.
    swept(1, parquet=True)
    for jobs, parquet in ((1, False), (1, True), (os.cpu_count() or 1, True)):
        pairs = [(spent(single), spent(partial(swept, jobs, parquet))) for _ in range(repeat)]
        # Others on the machine make either take longer, never shorter.
        (alone, own), (both, more) = (
            [min(1000 * value / count for value in values) for values in zip(*times, strict=True)]
            for times in zip(*pairs, strict=True)
        )
        print(
            f"local, jobs {jobs}, kept{', and as Parquet' if parquet else ''}: a run takes {alone:.1f} ms of CPU time "
            f"alone and {both:.1f} ms in a sweep of {count}, {100 * (both / alone - 1):+.1f} %; without the engine's "
            f"threads {own:.2f} and {more:.2f} ms, {100 * (more - own) / alone:+.1f} %"
        )


def spent(run: Callable[[], object]) -> tuple[float, float]:
    """CPU time of all threads of this process, and of this one, which does all but the runs."""
    begin = time.thread_time()
    whole = cpu(run)
    return whole, time.thread_time() - begin


def cpu(run: Callable[[], object]) -> float:
    """CPU time of all threads of this process."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    run()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def dask(scenario: Scenario, tasks: int) -> None:
    """CPU time and wall time of a task on one worker, beside the same cell run here."""
    # Neither has types of its own.
    distributed, psutil = import_module("distributed"), import_module("psutil")
    seeds = range(1, tasks + 1)
    one = cells(scenario, [pairs({**_TINY, "seed": 1})], None, 1)[0]
    alone = cpu(lambda: [run_cell(one) for _ in range(tasks)])
    # Reading the combinations is no part of a task.
    read = cpu(lambda: [scenario.resolve({**_TINY, "seed": seed}) for seed in seeds])
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        (worker,) = (psutil.Process(worker.process.pid) for worker in cluster.workers.values())
        executor = client.get_executor()
        run_sweep(scenario, {"seed": [0]}, overrides=_TINY, executor=executor, folder=Path(folder) / "0", parquet=True)
        for parquet in (False, True):
            kept = Path(folder) / str(parquet)
            sweep = partial(run_sweep, scenario, {"seed": seeds}, overrides=_TINY, executor=executor, folder=kept)
            there, begin = sum(worker.cpu_times()[:2]), time.perf_counter()
            # The scheduler runs in this process.
            here = cpu(partial(sweep, parquet=parquet))
            wall = time.perf_counter() - begin
            there = sum(worker.cpu_times()[:2]) - there
            each = [1000 * part / tasks for part in (here - read, there, here - read + there - alone, wall, alone)]
            print(
                f"Dask, one worker, kept{', and as Parquet' if parquet else ''}: {tasks} tasks, each {each[0]:.1f} ms "
                f"of CPU time here and {each[1]:.1f} ms there, {each[2]:.1f} ms more than the {each[4]:.1f} ms of the "
                f"cell alone; {each[3]:.1f} ms on the wall"
            )


if __name__ == "__main__":
    main()
