"""Runs a campaign: each cell as often as requested, with the same seeds."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import cast

from stillair._native import InputError, __version__
from stillair.results.result import Result
from stillair.results.series import Series
from stillair.runs import bundled
from stillair.runs import cache as runs_kept
from stillair.runs.result_writer import inputs
from stillair.runs.scenario import Scenario
from stillair.text import signals
from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.runs.compressed import PackedRun
from stillair_lab.papers.runs.plan import Campaign, CellPlan


@dataclass(frozen=True)
class Outcome:
    """Results of a campaign: one for each cell, or the reason why there are none."""

    text: str = ""
    """Scenario text as given."""
    results: Mapping[str, Result] | None = None
    lacks: str = ""


def scenario_of(paper: str, name: str) -> Scenario:
    """Returns the paper's own scenario of this name, or the bundled one."""
    folder = paper_registry.folders().get(paper)
    own = folder and folder / "scenarios" / f"{name}.toml"
    if own is None or not own.is_file():
        return bundled.scenario(name)
    with resources.as_file(own) as path:
        return Scenario(path)


def _scenario(campaign: Campaign) -> Scenario:
    return scenario_of(campaign.paper, campaign.scenario)


def prepare(campaign: Campaign, extra: Sequence[tuple[str, str]] = ()) -> str:
    """Returns why the campaign cannot be run; empty if it can.

    `extra` overrides are the user's and must be valid.
    """
    scenario = _scenario(campaign)
    for cell in campaign.cells:
        try:
            scenario.resolve([*cell.overrides.items()])
        except InputError as error:
            # Unless the campaign names a missing feature, an unreadable scenario is a mistake.
            if not campaign.needs:
                raise
            # The file's location on this machine is not part of a result.
            return f"needs {campaign.needs} ({str(error).removeprefix(f'{Path(scenario.file).parent}{os.sep}')})"
        if extra:
            scenario.resolve([*cell.overrides.items(), *extra])
    return ""


def run(
    campaign: Campaign,
    runs: int,
    jobs: int | None,
    extra: Sequence[tuple[str, str]] = (),
    progress: Callable[[int], object] | None = None,
    folder: Path | None = None,
) -> Outcome:
    """Runs every cell `runs` times. All cells use the same seeds, so that they only differ in their settings.

    With `folder`, finished runs are stored there, and stored runs are not repeated.
    """
    scenario = _scenario(campaign)
    results = {}
    for number, cell in enumerate(campaign.cells):
        heard = _counter(progress, number * runs) if progress else None
        overrides = [*cell.overrides.items(), *extra]
        results[cell.name] = _cell(scenario, runs, jobs, overrides, heard, campaign.series, folder)
    return Outcome(scenario.text, results)


class WhenAsked(Mapping[str, Result]):
    """Results of a campaign's cells by name, each run on first access."""

    def __init__(
        self,
        campaign: Campaign,
        runs: int,
        jobs: int | None,
        extra: Callable[[CellPlan], Sequence[tuple[str, str]]],
        known: dict[object, Result],
    ) -> None:
        """`extra` returns a cell's further overrides, applied after its own. `known` has earlier runs."""
        self.scenario = _scenario(campaign)
        self.ran: dict[str, Result] = {}
        self._campaign, self._runs, self._jobs, self._extra, self._known = campaign, runs, jobs, extra, known

    def __getitem__(self, name: str) -> Result:
        """The runs of a cell."""
        if name not in self.ran:
            cell = next((cell for cell in self._campaign.cells if cell.name == name), None)
            if cell is None:
                raise KeyError(name)
            overrides = [*cell.overrides.items(), *self._extra(cell)]
            same = (self._campaign.scenario, self._campaign.series, self._runs, *overrides)
            if same not in self._known:
                made = _cell(self.scenario, self._runs, self._jobs, overrides, None, self._campaign.series)
                self._known[same] = made
            self.ran[name] = self._known[same]
        return self.ran[name]

    def __iter__(self) -> Iterator[str]:
        """Names of the cells; those that have run come first."""
        yield from dict.fromkeys([*self.ran, *(cell.name for cell in self._campaign.cells)])

    def __len__(self) -> int:
        """Number of cells."""
        return len(self._campaign.cells)


def _cell(
    scenario: Scenario,
    runs: int,
    jobs: int | None,
    overrides: Sequence[tuple[str, str]],
    progress: Callable[[int], object] | None,
    series: bool,
    folder: Path | None = None,
) -> Result:
    """Runs a cell. Each run is packed as soon as it finishes, and stored in `folder`."""
    kept: dict[int, PackedRun] = {}
    resolved = scenario.resolve(overrides)
    stored = f"{inputs(resolved, None)}{'-series' if series else ''}"
    if folder is not None:
        found = runs_kept.read_runs(folder, stored, runs)
        kept = {number: PackedRun(json.dumps(run, ensure_ascii=False)) for number, run in found.items()}
    before = len(kept)

    def keep(text: str) -> None:
        with signals.held_back():
            run = PackedRun(text)
            if folder is not None:
                runs_kept.add_run(folder, stored, json.loads(text))
            kept[run["run"]] = run

    def told(finished: int) -> object:
        return progress(before + finished) if progress else None

    scenario.run_text(runs, jobs=jobs, overrides=overrides, progress=told, series=series, keep=keep, kept=sorted(kept))
    name = json.loads(resolved)["name"]
    # Concurrent runs finish in any order.
    head = {"version": __version__, "scenario": name, "runs": [kept[number] for number in sorted(kept)]}

    def load(run: Mapping[str, object]) -> Series:
        return kept[cast("int", run["run"])].series()

    return Result(head, load=load if series else None)


def _counter(progress: Callable[[int], object], done: int) -> Callable[[int], object]:
    return lambda finished: progress(done + finished)
