"""Results in the formats of other programs."""

from datetime import datetime
from pathlib import Path

from stillair._native import InputError
from stillair.capture import USUAL, Wanted, capture_points, write_capture
from stillair.results import qlog, sampled, tidy
from stillair.results import result_folder as folders
from stillair.results.flent import file as flent
from stillair.results.flent.file import EPOCH
from stillair.results.result import Result
from stillair.runs.scenario import Scenario
from stillair.text import output

__all__ = ["EPOCH", "FORMATS", "TABLES", "USUAL", "Wanted", "export", "export_table", "points"]

_SUFFIX = {"flent": ".flent.gz", "csv": ".csv", "parquet": ".parquet", "pcap": ".pcapng", "qlog": ".sqlog"}

FORMATS = tuple(_SUFFIX)

TABLES = {
    "sojourn": sampled.sojourn_frame,
    "queues": sampled.queues_frame,
    "exchanges": sampled.exchanges_frame,
    "sockets": sampled.sockets_frame,
}
"""Exportable tables, by the name of their `[record]` key."""


def export(
    kind: str,
    folder: Path,
    target: Path | None,
    run: int | None,
    title: str | None,
    begun: datetime = EPOCH,
    frames: Wanted = USUAL,
    *,
    force: bool = False,
) -> list[Path]:
    """Exports a result folder as `kind` and returns the written files.

    Flent and pcap files hold one run, qlog files one flow of a run: if there are several, `target` is a
    folder. `title` and `begun` apply to Flent, `frames` to pcap. Existing files are only replaced with
    `force`.
    """
    result = Result.load(folder)
    numbers = [found["run"] for found in result.runs] if run is None else [run]
    if kind in ("csv", "parquet"):
        path = target or Path(f"{folder.resolve().name}.{kind}")
        _check(path, kind)
        output.refuse_present([path], force)
        runs = (result.run_with_series(number) for number in numbers)
        if kind == "csv":
            tidy.write_csv(path, runs)
        else:
            tidy.write_parquet(path, runs, result.resolved_json())
        return [path]
    if kind == "qlog":
        return _qlogs(folder, result, target, numbers, force=force)
    single = len(numbers) == 1 and not (target and target.is_dir())
    if not single and target is not None and not target.is_dir():
        raise InputError(f"{target}: {len(numbers)} files are to be written: give an existing folder, or --run N")
    _check(target, kind)
    own = folder.resolve().name if title is None else title
    titles = {number: own if len(result.runs) == 1 else f"{own} run {number}" for number in numbers}
    if single and target:
        files = dict.fromkeys(numbers, target)
    else:
        # All runs share the test name, which starts the name of a Flent file.
        first = result.run_with_series(numbers[0]) if kind == "flent" else None
        name, into = folder.resolve().name, target or Path()
        files = {
            n: into / (flent.file_name(first, titles[n], begun) if first else f"{name}-run-{n}.pcapng") for n in numbers
        }
    output.refuse_present(files.values(), force)
    for number, path in files.items():
        measured = result.run_with_series(number)
        if kind == "flent":
            flent.write(path, measured, result.resolved_json(), titles[number], begun)
        else:
            # The capture repeats the run; a run with another trace hash is refused.
            scenario, overrides = Scenario(folder / "scenario.toml"), folders.overrides(folder)
            seed, trace_hash = measured.summary["seed"], measured.summary["trace_hash"]
            write_capture(scenario, overrides, seed, number, path, *frames, trace_hash=trace_hash, some=True)
    return list(files.values())


def export_table(
    kind: str, table: str, folder: Path, target: Path | None, run: int | None, *, force: bool = False
) -> Path:
    """Exports a table of `TABLES` and returns the file.

    Raises `InputError` if the scenario did not record it.
    """
    result = Result.load(folder)
    path = target or Path(f"{folder.resolve().name}-{table}.{kind}")
    _check(path, kind)
    output.refuse_present([path], force)
    runs = [found for found in result.runs if run in (None, found["run"])]
    if not runs:
        raise InputError(f"--run: found {run}, expected one of {', '.join(str(found['run']) for found in result.runs)}")
    TABLES[table](result.scenario, runs).save(path)
    return path


def points(folder: Path) -> list[str]:
    """Returns the capture points of a kept result."""
    Result.load(folder)
    return capture_points(Scenario(folder / "scenario.toml"), folders.overrides(folder))


def _check(target: Path | None, kind: str) -> None:
    """Rejects unwritable targets and names with another suffix."""
    if kind not in ("csv", "parquet") and (target is None or target.is_dir()):
        output.prepare(target or Path())
        return
    if target is not None:
        output.check_kind(target, _SUFFIX[kind], f"a file for --{kind}")


def _qlogs(folder: Path, result: Result, target: Path | None, numbers: list[int], *, force: bool) -> list[Path]:
    """Writes a qlog for each QUIC flow of each run."""
    name = folder.resolve().name
    flows = [
        (number, flow, found)
        for number in numbers
        for flow, found in sorted(result.run_with_series(number).summary.get("quic", {}).items())
    ]
    if not flows:
        raise InputError(f"{folder}: has no QUIC flow")
    if len(flows) > 1 and target is not None and not target.is_dir():
        raise InputError(f"{target}: {len(flows)} files are to be written: give an existing folder")
    _check(target, "qlog")
    names = [f"{name}-run-{number}-{flow}.sqlog" for number, flow, _ in flows]
    paths = [target] if target and not target.is_dir() else [(target or Path()) / plain for plain in names]
    output.refuse_present(paths, force)
    for path, (number, flow, found) in zip(paths, flows, strict=True):
        qlog.write(path, flow, found, f"{name}, run {number}")
    return paths
