"""`stillair ss`, `tc` and `rc`: what a host of a run would tell of itself."""

import json
from typing import Any

from stillair.cli import options
from stillair.cli.options import AsJson, At, File, RunNumber, Seed, Set


def ss(
    file: File,
    seed: Seed = None,
    run_: RunNumber = 0,
    at: At = None,
    set_: Set = None,
    as_json: AsJson = False,
) -> None:
    """Print the TCP sockets of a run at one instant, as 'ss -tinm' of iproute2 6.1 prints them.

    With --json they are a list of objects: times in ms, rates in Mbit/s, null where the kernel knows nothing yet.
    """
    from stillair import _native  # noqa: PLC0415 - for its error, which is raised as it is

    scenario = options.scenario(file)
    print(_native.ss(scenario.text, scenario.file, options.overrides(set_), seed, run_, at, as_json).rstrip())


def tc(
    file: File,
    seed: Seed = None,
    run_: RunNumber = 0,
    at: At = None,
    set_: Set = None,
    as_json: AsJson = False,
) -> None:
    """Print the queueing disciplines of a run at one instant, as 'tc -s qdisc' prints them without handles.

    A discipline inside another has that one's kind as its parent, or the number of its queue under an mq. With --json
    they are a list of objects, with counters and options under their names in a result and in the resolved scenario.
    """
    from stillair import _native  # noqa: PLC0415 - loaded when there is something to run
    from stillair.text.tc import tc_list, tc_text  # noqa: PLC0415

    scenario, overrides = options.scenario(file), options.overrides(set_)
    counted = json.loads(_native.tc(scenario.text, scenario.file, overrides, seed, run_, at))
    resolved = json.loads(scenario.resolve(overrides))
    print(_one_line(tc_list(counted, resolved)) if as_json else tc_text(counted, resolved))


def rc(
    file: File,
    seed: Seed = None,
    run_: RunNumber = 0,
    set_: Set = None,
    as_json: AsJson = False,
) -> None:
    """Print what rate control knows at the end of a run, by columns of 'rc_stats' of mac80211.

    They are mode, best, rate, tp(avg), prob(avg), retry, and successes and attempts in the last interval and in sum, of
    rates that were tried or have a place. Its idx, airtime, max_tp, deviation and lines of totals are not there. With
    --json every rate is there, by link.
    """
    from stillair.text.rc import rc_text  # noqa: PLC0415 - loaded when there is something to run

    result = options.scenario(file).run(seed=seed, overrides=options.overrides(set_), first_run=run_)
    run = result.runs[0]
    print(_one_line(run.get("rc_stats", {})) if as_json else rc_text(run))


def _one_line(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
