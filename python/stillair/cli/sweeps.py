"""What a sweep says beside its table: parts of it, and combinations that failed."""

import sys
from collections.abc import Sequence
from pathlib import Path

from stillair._native import InputError, RunError
from stillair.runs.sweep import Shard
from stillair.runs.sweep_text import SweepText
from stillair.runs.work import Failure


def part(shard: str | None, folder: Path | None, *, as_json: bool, parquet: bool) -> Shard | None:
    """The part that is asked for; an `InputError` for options that have no effect."""
    if parquet and folder is None:
        raise InputError("--parquet: has no effect without -o, which names the folder of the data set")
    if shard is None:
        return None
    found = Shard.read(shard, "--shard")
    if folder is None:
        raise InputError("--shard: has no effect without -o, which names the folder that all parts share")
    if as_json:
        raise InputError("--json: a part has no result of its own; the same command without --shard gathers all")
    return found


def said(
    told: SweepText, of: Shard | None, folder: Path | None, count: int, failures: Sequence[Failure], *, as_json: bool
) -> str:
    """What the command prints: the table, or how much of a part is kept."""
    if of is None:
        return told.to_json() if as_json else told.to_text()
    kept = f"part {of.number} of {of.of}: {count - len(failures)} of its {count} combinations are kept in {folder}"
    return f"{kept}; the same command without --shard gathers all parts"


def refuse(told: SweepText, failures: Sequence[Failure], count: int, folder: Path | None) -> None:
    """A `RunError` if any combination failed, after a table of those."""
    if failures:
        print(told.failed(), file=sys.stderr)  # noqa: T201 - the end of what the command has to say
        again = "" if folder is None else f"; the others are kept in {folder}, and the same command tries these again"
        raise RunError(f"{len(failures)} of {count} combinations failed{again}")
