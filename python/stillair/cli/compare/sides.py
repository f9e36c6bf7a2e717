"""The sides of a comparison: kept results, scenarios, or one scenario with several settings."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stillair._native import InputError
from stillair.cli.common import options

if TYPE_CHECKING:
    from stillair.results.result import Result
    from stillair.runs.scenario import Scenario

Overrides = list[tuple[str, str]]


class Side(NamedTuple):
    """One side of the comparison."""

    title: str
    result: "Result"


class Planned(NamedTuple):
    """A side: a kept result, or a scenario to run."""

    title: str
    kept: Path | None
    scenario: "Scenario | None" = None
    overrides: Sequence[tuple[str, str]] = ()


def planned(names: Sequence[str], settings: Sequence[str], baseline: str = "baseline") -> list[Planned]:
    """Plans the sides.

    One scenario is compared with itself under each of `settings`; several scenarios all get all settings.

    Reads every scenario, so that mistakes are reported before the first run.
    """
    changes = [options.overrides(_apart(setting)) for setting in settings]
    if len(names) == 1 and changes:
        if _is_result(names[0]):
            raise InputError(f"--set: {names[0]} is a kept result, which settings cannot change; give a scenario")
        scenario = options.scenario(names[0])
        sets: list[Overrides] = [[], *changes]
        titles = [baseline, *settings]
        found = [Planned(title, None, scenario, made) for title, made in zip(_short(titles, sets), sets, strict=True)]
    else:
        every = [override for change in changes for override in change]
        found = [_side(name, every) for name in names]
    if len(found) < 2:
        raise InputError("compare: found one side, expected several: results, scenarios, or a scenario with --set")
    for side in found:
        if side.scenario is not None:
            side.scenario.resolve(side.overrides)
    return _told_apart(found)


def made(
    sides: Sequence[Planned],
    runs: int,
    seed: int | None,
    jobs: int | None,
    progress: Callable[[float], object] | None,
    keep: Path | None = None,
) -> list[Side]:
    """Returns the results: reads kept results and runs the rest.

    Finished runs are kept in the folder `keep`.
    """
    from stillair.results.result import Result  # noqa: PLC0415 - loaded on use

    done = 0
    found = []
    for side in sides:
        if side.kept is not None:
            found.append(Side(side.title, Result.load(side.kept)))
        elif side.scenario is not None:
            heard = _after(progress, done) if progress else None
            if keep is None:
                result = side.scenario.run(runs, seed, jobs, side.overrides, progress=heard, passed=heard)
            else:
                result = _kept(side.scenario, side.overrides, runs, seed, jobs, heard, keep)
            found.append(Side(side.title, result))
            done += runs
    return found


def _kept(
    scenario: "Scenario",
    overrides: Sequence[tuple[str, str]],
    runs: int,
    seed: int | None,
    jobs: int | None,
    heard: Callable[[float], object] | None,
    folder: Path,
) -> "Result":
    """Runs a side, except for runs already in the folder, and stores each run there as it finishes."""
    from stillair.results.result import Result  # noqa: PLC0415 - loaded on use
    from stillair.runs import cache  # noqa: PLC0415
    from stillair.runs.result_writer import inputs  # noqa: PLC0415
    from stillair.text import signals  # noqa: PLC0415

    name = inputs(scenario.resolve(overrides), seed)
    found = cache.read_runs(folder, name, runs)
    before = len(found)

    def keep(text: str) -> None:
        run = json.loads(text)
        with signals.held_back():
            cache.add_run(folder, name, run)
            found[run["run"]] = run

    def tell(finished: float) -> object:
        return heard(before + finished) if heard else None

    head = scenario.run_text(runs, seed, jobs, overrides, 0, tell, False, keep, tell, sorted(found))
    return Result({**json.loads(head), "runs": [found[number] for number in sorted(found)]})


def _after(progress: Callable[[float], object], done: int) -> Callable[[float], object]:
    return lambda made: progress(done + made)


def _side(name: str, overrides: Overrides) -> Planned:
    path = Path(name)
    if _is_result(name):
        if overrides:
            raise InputError(f"--set: {name} is a kept result, which settings cannot change")
        return Planned(path.resolve().name, path)
    if (path / "sweep.json").exists():
        raise InputError(
            f"{name}: holds a result of 'stillair sweep', whose own table compares its combinations;"
            " give folders of 'stillair run -o'"
        )
    return Planned(Path(name).stem, None, options.scenario(name), overrides)


def _is_result(name: str) -> bool:
    return (Path(name) / "result.json").exists()


def _apart(setting: str) -> list[str]:
    """Splits the settings of a side at semicolons outside quotes."""
    parts, quote = [""], ""
    for letter in setting:
        if letter == ";" and not quote:
            parts.append("")
            continue
        if letter in "\"'" and quote in ("", letter):
            quote = "" if quote else letter
        parts[-1] += letter
    return [part for part in parts if part.strip()]


def _short(titles: Sequence[str], sets: Sequence[Overrides]) -> Iterator[str]:
    """Titles of the sides: their settings, with keys shortened as long as they stay distinct."""
    keys = {key for made in sets for key, _ in made}
    last = {key: key.rpartition(".")[2] for key in keys}
    is_clear = len(set(last.values())) == len(last) and not any(name.isdigit() for name in last.values())
    for title, made in zip(titles, sets, strict=True):
        named = (f"{last[key] if is_clear else key}={value}" for key, value in made)
        yield ", ".join(named) or title


def _told_apart(sides: Sequence[Planned]) -> list[Planned]:
    """Numbers the titles if two are equal."""
    titles = [side.title for side in sides]
    if len(set(titles)) == len(titles):
        return list(sides)
    return [side._replace(title=f"{side.title} ({number})") for number, side in enumerate(sides, 1)]
