"""`stillair ss`, `tc` and `rc-stats`: the state of a simulated host."""

import json
from typing import Any

import click

from stillair.cli.common import options
from stillair.text import terminal


@click.command()
@options.file
@options.seed
@options.run_number
@options.at
@options.set_
@options.as_json
def ss(file: str, seed: int | None, run_: int, at: str | None, set_: tuple[str, ...], as_json: bool) -> None:
    """Print the TCP sockets of a run at one instant, as 'ss' does.

    The format is that of 'ss -tinm' (iproute2 6.1).

    --json prints a list of objects: times in ms, rates in Mbit/s, null for values that are not known yet.
    """
    from stillair import _native  # noqa: PLC0415 - for its error, which is raised as it is

    scenario = options.scenario(file)
    print(_native.ss(scenario.text, scenario.file, options.overrides(set_), seed, run_, at, as_json).rstrip())


@click.command()
@options.file
@options.seed
@options.run_number
@options.at
@options.set_
@options.as_json
def tc(file: str, seed: int | None, run_: int, at: str | None, set_: tuple[str, ...], as_json: bool) -> None:
    """Print the queueing disciplines at one instant, as 'tc' does.

    The format is that of 'tc -s qdisc', without handles.

    The parent of a child is the kind of the outer discipline, or under mq the number of the queue. --json prints a list
    of objects, whose counters and options have the names of a result and of the resolved scenario.
    """
    from stillair import _native  # noqa: PLC0415 - loaded on use
    from stillair.text.tc import tc_list, tc_text  # noqa: PLC0415

    scenario, overrides = options.scenario(file), options.overrides(set_)
    counted = json.loads(_native.tc(scenario.text, scenario.file, overrides, seed, run_, at))
    resolved = json.loads(scenario.resolve(overrides))
    print(_one_line(tc_list(counted, resolved)) if as_json else tc_text(counted, resolved))


@click.command("rc-stats")
@options.file
@options.seed
@options.run_number
@options.set_
@options.as_json
def rc_stats(file: str, seed: int | None, run_: int, set_: tuple[str, ...], as_json: bool) -> None:
    """Print rate control at the end of a run, as 'rc_stats' does.

    'rc_stats' is the debugfs file of Minstrel and Minstrel-HT in mac80211. Its columns best, tp(avg), prob(avg), retry
    and suc/att are printed, for each rate that was tried or is in the chain. --json prints every rate, with its mode.
    """
    from stillair.text.rc_stats import rc_stats_text  # noqa: PLC0415 - loaded on use

    result = options.scenario(file).run(seed=seed, overrides=options.overrides(set_), first_run=run_)
    run = result.runs[0]
    print(_one_line(run.get("rc_stats", {})) if as_json else rc_stats_text(run, terminal.width()))


def _one_line(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
