"""`stillair explain`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stillair._native import InputError
from stillair.cli.common import options
from stillair.cli.common.progress import runs_progress

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario


@click.command()
@click.argument("what", metavar="SCENARIO|RESULT", help="A scenario, as 'stillair run' takes it, or a result folder.")
@options.set_
@options.seed
@click.option(
    "--runs",
    type=options.whole(1, options.MOST_RUNS),
    metavar="N",
    show_default="3; 1 with --no-try",
    help="Repetitions of the scenario and of each change; two at least for a change to be judged.",
)
@click.option("--packet", is_flag=True, help="Also follow the slowest packet through all layers.")
@click.option("--no-try", is_flag=True, help="Only print the causes; try no changes.")
@options.mine
def explain(
    what: str,
    set_: tuple[str, ...],
    seed: int | None,
    runs: int | None,
    packet: bool,
    no_try: bool,
    mine: tuple[str, ...],
) -> None:
    """Explain why packets are lost or late and what would help.

    Lists lossy flows, then the layer and the cause for which late packets wait. Every proposed change has been run; its
    verdict names each flow that it makes clearly better or worse.

    A scenario is run three times (--runs), and as often with each of up to two changes. For a result folder its
    scenario is run again.
    """
    from stillair.explain import access, changes, evaluation, findings, outages, page  # noqa: PLC0415 - loaded on use
    from stillair.explain import user_hosts as owned  # noqa: PLC0415

    scenario, overrides = _read(what, options.overrides(set_))
    resolved = outages.with_wifi(json.loads(scenario.resolve(overrides)), scenario, overrides)
    own_hosts = owned.read(mine, resolved, scenario.text)
    if own_hosts and no_try:
        raise InputError(
            "--mine: found with --no-try, expected one of the two: --mine limits the changes that are tried"
        )
    seeds = runs or (1 if no_try else evaluation.SEEDS)
    if seeds == 1 and not no_try:
        raise InputError(
            "--runs: found 1, expected 2 or more, or --no-try: one run does not tell an effect from chance"
        )
    with runs_progress(seeds if no_try else seeds * (1 + changes.MOST - 1), quiet=False) as watched:
        made = seeds

        def told(base: int) -> Any:  # noqa: ANN401 - the arguments of the progress bar
            return (lambda n: watched.progress(base + n)) if watched.progress else None

        made_runs = scenario.run(seeds, seed, None, [*overrides, ("record.sojourn", "true")], progress=told(0)).runs
        found = findings.subjects(made_runs, resolved)
        outcomes, left_out = None, ""
        ended: KeyboardInterrupt | None = None
        first = findings.worst(found)
        if not no_try:
            own = changes.with_qdisc(resolved, overrides, scenario.text)
            every = [change for one in (first.to_try if first else ()) for change in changes.of(one, resolved, own)]
            if own_hosts is not None and first is not None:
                every, left_out = owned.limited(every, own_hosts, resolved, scenario.text)
            outcomes = list[evaluation.Tried | evaluation.Refused]()
            planned = every[: changes.MOST - 1]
            try:
                for change in planned:
                    assert first is not None  # noqa: S101 - without a cause there are no changes
                    subject = (first.delays.of, first.delays.name, first.delays.way)
                    outcomes.append(
                        evaluation.try_one(scenario, overrides, change, made_runs, subject, seed, told(made), resolved)
                    )
                    made += seeds
            except KeyboardInterrupt as interrupt:
                ended = interrupt
    shown = None if ended is not None and not outcomes else outcomes
    print(page.text(resolved["name"], made_runs, found, shown, resolved, left_out))
    if ended is not None:
        tested = f"{len(outcomes or ())} of {len(planned)} changes had been run"
        print(f"stillair: {tested}; they are shown above, and nothing is kept", file=sys.stderr)
        raise ended
    if packet:
        print(f"\n{page.packet(made_runs, modems=access.modems(resolved))}")


def _read(text: str, overrides: list[tuple[str, str]]) -> "tuple[Scenario, list[tuple[str, str]]]":
    from stillair.results import result_folder  # noqa: PLC0415
    from stillair.runs.scenario import Scenario  # noqa: PLC0415

    what = Path(text)
    if not what.is_dir():
        return options.scenario(text), overrides
    file = what / "scenario.toml"
    if not file.is_file():
        raise InputError(f"{what}: is not a result folder: it has no scenario.toml")
    return Scenario(file), [*result_folder.overrides(what), *overrides]
