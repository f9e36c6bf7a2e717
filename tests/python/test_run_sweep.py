"""`run_sweep`: the same cells on any executor, stored as they finish, with failures reported at the end."""

import concurrent.futures
import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError, RunError, Scenario, SweepError, SweepResult, _native, run_sweep
from stillair.__main__ import status
from stillair.runs import work
from stillair.runs.dataset import chunks
from stillair.runs.overrides import Value
from stillair.runs.sweep import Sweep
from stillair.runs.work import Cell

TEXT = """
name = "two"
duration = "50 ms"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[node.ap]
profile = "linux-4.6"
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "airtime", address = "10.0.1.1" }
[node.sta]
profile = "linux-4.4"
[node.sta.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.11"
rate = "ht20-mcs15-sgi"
[[flow]]
kind = "udp"
from = "ap"
to = "sta"
rate = "10 Mbit/s"
"""
SCHEME = "node.ap.interface.wlan0.scheme"
AXES = {SCHEME: ["fifo", "airtime"], "flow.0.burst": [1, 2, 3]}


def files(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Files of a sweep on one thread of this process."""
    folder = tmp_path_factory.mktemp("plain")
    run_sweep(TEXT, AXES, runs=2, jobs=1, folder=folder, parquet=True)
    return files(folder)


def test_there_is_a_file_of_each_cell_and_one_of_each_chunk(plain: dict[str, bytes]) -> None:
    kinds = [name.partition("/")[0] for name in plain]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "combinations": 6, "sweep.csv": 1, "sweep.json": 1, "table": 6
    }  # fmt: skip


@contextmanager
def threads() -> Iterator[Executor]:
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        yield pool


@contextmanager
def processes() -> Iterator[Executor]:
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@contextmanager
def dask() -> Iterator[Executor]:
    distributed = pytest.importorskip("distributed")
    # Separate processes, as on other machines.
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len({worker.process.pid for worker in cluster.workers.values()} | {os.getpid()}) == 4
        yield client.get_executor()


@pytest.mark.parametrize("pool", [threads, processes, dask])
def test_every_executor_leaves_the_same_bytes(
    tmp_path: Path, plain: dict[str, bytes], pool: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "run_variants", lambda *_: pytest.fail("run in this process"))
    with pool() as executor:
        run_sweep(TEXT, AXES, runs=2, executor=executor, folder=tmp_path, parquet=True)
    assert files(tmp_path) == plain


def test_any_number_of_threads_leaves_the_same_bytes(tmp_path: Path, plain: dict[str, bytes]) -> None:
    run_sweep(TEXT, AXES, runs=2, jobs=3, folder=tmp_path, parquet=True)
    assert files(tmp_path) == plain


def test_shards_and_a_gathering_leave_the_same_bytes(tmp_path: Path, plain: dict[str, bytes]) -> None:
    results = [run_sweep(TEXT, AXES, runs=2, folder=tmp_path, parquet=True, shard=f"{n}/4") for n in (3, 1, 4, 2)]
    # Each has every fourth, and all have all.
    assert [[cell.number for cell in result] for result in results] == [[2], [0, 4], [3], [1, 5]]
    assert not (tmp_path / "sweep.json").exists()
    whole = run_sweep(TEXT, AXES, runs=2, folder=tmp_path, parquet=True)
    assert files(tmp_path) == plain
    assert len(whole) == 6


def test_shards_work_side_by_side_and_nobody_else_does(tmp_path: Path) -> None:
    def other(shard: str | None) -> Callable[[int], object]:
        return lambda _: run_sweep(TEXT, AXES, folder=tmp_path, shard=shard)

    run_sweep(TEXT, AXES, folder=tmp_path, shard="1/2", progress=other("2/2"))
    with pytest.raises(InputError, match="another run is writing its result there"):
        run_sweep(TEXT, AXES, folder=tmp_path, shard="1/2", progress=other(None))
    assert len(list((tmp_path / "combinations").iterdir())) == 6


def test_the_command_runs_shards(tmp_path: Path, plain: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    file, kept = tmp_path / "two.toml", tmp_path / "kept"
    file.write_text(TEXT + f'[sweep]\n"{SCHEME}" = ["fifo", "airtime"]\n"flow.0.burst" = [1, 2, 3]\n')
    command = ["sweep", str(file), "--runs", "2", "-o", str(kept), "--parquet"]
    for n in (2, 1):
        assert status([*command, "--shard", f"{n}/2"]) == 0
        said = capsys.readouterr().out
        assert said == (
            f"part {n} of 2: 3 of its 3 combinations are kept in {kept}; "
            "the same command without --shard gathers all parts\n"
        )
    assert status(command) == 0
    assert files(kept) == plain


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--shard", "1/2"], "--shard: has no effect without -o"),
        (["--parquet"], "--parquet: has no effect without -o"),
        (["--shard", "0/2", "-o", "x"], '--shard: found "0/2", expected I/N such as 2/16, I from 1 to N'),
        (["--shard", "3/2", "-o", "x"], '--shard: found "3/2", expected'),
        (["--shard", "half", "-o", "x"], '--shard: found "half", expected'),
        (["--shard", "1/2", "-o", "x", "--json"], "--json: a part has no result of its own"),
    ],
)
def test_options_without_effect_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.toml").write_text(TEXT)
    assert status(["sweep", "two.toml", *options]) == 2
    assert says in capsys.readouterr().err
    assert not Path("x").exists()


def test_what_kill_9_left_is_not_run_again(tmp_path: Path, plain: dict[str, bytes]) -> None:
    # The last cells wait for a file that never comes, so that the kill meets a sweep under way.
    program = f"""
import os, time
from concurrent.futures import ThreadPoolExecutor
from stillair import run_sweep
from stillair.runs import work
def slow(cell, run=work.run_cell):
    while dict(cell.sets)["flow.0.burst"] == "3":
        time.sleep(1)
    return run(cell)
work.run_cell = slow
run_sweep({TEXT!r}, {AXES!r}, runs=2, executor=ThreadPoolExecutor(6), folder={str(tmp_path)!r}, parquet=True)
"""
    with subprocess.Popen([sys.executable, "-c", program]) as running:
        for _ in range(6000):
            if len(list((tmp_path / "table").glob("cells-*.parquet"))) == 4 or running.poll() is not None:
                break
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
    assert running.returncode == -signal.SIGKILL
    # As it is left by one that was killed while it wrote.
    (tmp_path / "combinations" / ".x.json.0123abcd.part").write_text("begun")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    assert len(before) == 4

    ran: list[str] = []

    class Here(Executor):
        def submit(self, function: Callable[..., Any], /, *arguments: Cell, **_: object) -> Future[Any]:
            future: Future[Any] = Future()
            ran.append(dict(arguments[0].sets)["flow.0.burst"])
            future.set_result(function(*arguments))
            return future

    counts: list[int] = []
    run_sweep(TEXT, AXES, runs=2, executor=Here(), folder=tmp_path, parquet=True, progress=counts.append)
    assert ran == ["3", "3"]
    assert counts == [8, 10, 12]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert files(tmp_path) == plain


class Breaking(Executor):
    """Fails the cells of one burst, like a dying worker."""

    def submit(self, function: Callable[..., Any], /, *arguments: Cell, **_: object) -> Future[Any]:
        """Runs a cell at once."""
        future: Future[Any] = Future()
        if dict(arguments[0].sets)["flow.0.burst"] == "2":
            future.set_exception(MemoryError("worker\n lost"))
        else:
            future.set_result(function(*arguments))
        return future


def test_a_cell_that_fails_is_told_at_the_end_and_tried_again(tmp_path: Path, plain: dict[str, bytes]) -> None:
    with pytest.raises(SweepError) as caught:
        run_sweep(TEXT, AXES, runs=2, executor=Breaking(), folder=tmp_path, parquet=True)
    assert str(caught.value).splitlines() == [
        "2 of 6 combinations failed",
        "cell  sets: error",
        "1     scheme = fifo, burst = 2: MemoryError: worker lost",
        "4     scheme = airtime, burst = 2: MemoryError: worker lost",
    ]
    assert isinstance(caught.value, RunError)
    result = caught.value.result
    assert [cell.number for cell in result] == [0, 2, 3, 5]
    assert [failure.cell for failure in result.failures] == [1, 4]
    assert len(result.to_csv().splitlines()) == 5
    assert '"failures": [{"set": {' in result.to_json()
    assert "MemoryError: worker lost" in repr(result)
    run_sweep(TEXT, AXES, runs=2, folder=tmp_path, parquet=True)
    assert files(tmp_path) == plain


def test_the_command_ends_with_a_status_for_cells_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = _native.run_variants

    def run_variants(text: str, file: str, variants: list[Any], *rest: Callable[..., object]) -> None:
        *_, done, failed = rest

        def instead(position: int, found: str) -> None:
            if position == 1:
                failed(position, "run 0: accounts do not close")
            else:
                done(position, found)

        original(text, file, variants, *rest[:-2], instead, failed)

    monkeypatch.setattr(_native, "run_variants", run_variants)
    file = tmp_path / "two.toml"
    file.write_text(TEXT + '[sweep]\n"flow.0.burst" = [1, 2, 3]\n')
    assert status(["sweep", str(file), "--jobs", "1", "-o", str(tmp_path / "kept")]) == 1
    said = capsys.readouterr()
    assert [line.split()[0] for line in said.out.splitlines()[:3]] == ["burst", "1", "3"]
    assert [" ".join(line.split()) for line in said.err.splitlines()] == [
        "cell sets: error",
        "1 burst = 2: run 0: accounts do not close",
        f"stillair: 1 of 3 combinations failed; the others are kept in {tmp_path / 'kept'}, "
        "and the same command retries these",
    ]


def test_a_pool_that_breaks_fails_what_it_had_and_what_was_to_come() -> None:
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(os.kill, pool.submit(os.getpid).result(), signal.SIGKILL)
        with pytest.raises(SweepError) as caught:
            run_sweep(TEXT, AXES, executor=pool)
    assert [failure.cell for failure in caught.value.result.failures] == list(range(6))
    assert {failure.error.partition(":")[0] for failure in caught.value.result.failures} == {"BrokenProcessPool"}


def test_a_dask_worker_that_is_killed_costs_nothing_but_its_cell(tmp_path: Path, plain: dict[str, bytes]) -> None:
    with dask() as executor:
        victim = next(iter(executor._client.run(os.getpid).values()))  # type: ignore[attr-defined]

        def kill(runs: int) -> None:
            if runs == 2:
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)

        run_sweep(TEXT, AXES, runs=2, executor=executor, folder=tmp_path, parquet=True, progress=kill)
    assert files(tmp_path) == plain


@pytest.mark.parametrize("times", [1, 2])
def test_a_result_that_an_executor_loses_is_made_once_more(times: int) -> None:
    class Losing(concurrent.futures.ThreadPoolExecutor):
        lost = 0

        def submit(self, function: Callable[..., Any], /, *arguments: Cell, **_: object) -> Future[Any]:
            if "airtime" in str(arguments) and self.lost < times:
                self.lost += 1
                return super().submit(int, "too many values to unpack")
            return super().submit(function, *arguments)

    with Losing(1) as pool:
        over = {SCHEME: ["airtime"], "flow.0.burst": [1]}
        if times == 1:
            assert run_sweep(TEXT, over, executor=pool).to_csv() == run_sweep(TEXT, over).to_csv()
        else:
            with pytest.raises(SweepError, match="ValueError: invalid literal"):
                run_sweep(TEXT, over, executor=pool)


def test_no_more_cells_are_handed_over_than_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "IN_FLIGHT", 2)
    most: list[int] = []
    waiting: list[Future[str]] = []

    class Counting(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function: Callable[..., Any], /, *arguments: Cell, **_: object) -> Future[Any]:
            future = super().submit(function, *arguments)
            waiting.append(future)
            most.append(sum(not one.done() for one in waiting))
            return future

    with Counting(4) as pool:
        assert len(run_sweep(TEXT, AXES, executor=pool)) == 6
    assert max(most) <= 2


def test_combinations_can_be_given_one_by_one() -> None:
    result = run_sweep(TEXT, [{SCHEME: "fifo", "flow.0.burst": 1}, {"flow.0.burst": 2, SCHEME: "airtime"}])
    assert [dict(cell.overrides) for cell in result] == [
        {SCHEME: "fifo", "flow.0.burst": "1"},
        {SCHEME: "airtime", "flow.0.burst": "2"},
    ]
    with pytest.raises(InputError, match=r"over\.1: found no node\.ap.*, expected the keys of over\.0"):
        run_sweep(TEXT, [{SCHEME: "fifo"}, {"flow.0.burst": 1}])
    with pytest.raises(InputError, match="over: found no combination"):
        run_sweep(TEXT, [])
    assert len(run_sweep(TEXT, {})) == 1
    assert [dict(cell.overrides) for cell in run_sweep(TEXT, {"seed": "3..4"})] == [{"seed": "3"}, {"seed": "4"}]


def test_a_mistake_in_what_is_swept_has_its_key() -> None:
    with pytest.raises(InputError) as caught:
        run_sweep(TEXT, {"flow.0.burst": [1, 0]})
    assert (caught.value.key, caught.value.line) == ("flow.0.burst", None)
    assert "[sweep] with flow.0.burst = 0" in str(caught.value)
    with pytest.raises(InputError, match=r"over\.seed: expected a list of values or a range such as"):
        run_sweep(TEXT, {"seed": "many"})
    with pytest.raises(InputError, match="over: found 200002 combinations, expected at most 100000"):
        run_sweep(TEXT, {"seed": "0..100000", "flow.0.burst": [1, 2]})
    with pytest.raises(InputError, match="jobs: found 2, which has no effect with an executor"):
        run_sweep(TEXT, AXES, executor=Breaking(), jobs=2)
    with pytest.raises(InputError, match="parquet: found no folder"):
        run_sweep(TEXT, AXES, parquet=True)


@pytest.mark.parametrize(
    ("cells", "count", "first", "last"), [(1, 1, 1, 1), (512, 512, 1, 1), (513, 257, 2, 1), (100_000, 511, 196, 40)]
)
def test_there_are_not_too_many_files(cells: int, count: int, first: int, last: int) -> None:
    found = chunks(cells)
    assert [len(found), len(found[0]), len(found[-1])] == [count, first, last]
    assert [cell for chunk in found for cell in chunk] == list(range(cells))


def test_files_of_another_sweep_do_not_stay_in_the_table(tmp_path: Path, plain: dict[str, bytes]) -> None:
    run_sweep(TEXT, {SCHEME: ["fifo"], "flow.0.burst": [1]}, runs=2, folder=tmp_path, parquet=True)
    (tmp_path / "table" / "mine.parquet").write_text("not ours")
    run_sweep(TEXT, AXES, runs=2, folder=tmp_path, parquet=True)
    assert set(files(tmp_path)) == {*plain, "table/mine.parquet"}


def test_the_scenario_may_be_whatever_a_scenario_is_made_of(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TEXT)
    sums = {
        hashlib.sha256(run_sweep(source, {SCHEME: ["fifo"]}).to_json().encode()).hexdigest()
        for source in (file, str(file), TEXT, Scenario(file))
    }
    assert len(sums) == 1
    assert isinstance(run_sweep(file, {SCHEME: ["fifo"]}), SweepResult)


def test_a_list_takes_the_values_that_a_table_takes() -> None:
    key = "node.ap.interface.wlan0.scheme"
    values: list[Value] = ["fifo", {"kind": "airtime", "charge_rx": False}, "airtime"]
    table = Sweep(Scenario(TEXT), over={key: values, "flow.0.burst": [2]})
    rows = Sweep(Scenario(TEXT), over=[{key: value, "flow.0.burst": 2} for value in values])
    assert rows.combinations == table.combinations
    with pytest.raises(InputError) as caught:
        Sweep(Scenario(TEXT), over=[{key: "fifo", "flow.0.burst": 2}, {key: values[1], "flow.0.brust": 2}])
    # Only the keys that differ.
    assert str(caught.value) == "over.1: found no flow.0.burst, an additional flow.0.brust, expected the keys of over.0"
