"""`stillair qoo`: scores a path against an application's needs (Quality of Outcome)."""

from pathlib import Path

import click

from stillair._native import InputError
from stillair.cli.common import options


@click.command()
@click.argument("result", metavar="RESULT", type=options.PATH, help="A folder that 'stillair run -o' wrote.")
@click.argument("need", metavar="NEED", type=options.PATH, help="Requirements of the application, as TOML.")
def qoo(result: Path, need: Path) -> None:
    """Score pings and calls by what an application needs (QoO).

    The score (draft-ietf-ippm-qoo) is 100 if everything is optimal and 0 if anything is unacceptable.

    NEED is a file such as

    \b
      latency_ms = [[99, 200, 500], [99.9, 300, 600]]  # %, optimal, worst
      loss = [0.01, 0.05]                              # optimal, worst
      throughput_mbps = 4                              # least; 0 if left out

    Latency is the round trip of pings and the one-way delay of calls. Throughput is the goodput of the flow's station
    over all its flows. A throughput below the need is not judged if nothing loaded the station: TCP that always has
    data, or UDP of that rate. The score is the mean over runs.
    """  # noqa: D301 - click takes the character that \b stands for
    from stillair.explain.quality import Outcome, Requirement, of_run, videos_of  # noqa: PLC0415 - loaded on use
    from stillair.results.result import Result  # noqa: PLC0415
    from stillair.results.statistics import interval, some  # noqa: PLC0415
    from stillair.text.table import natural, table  # noqa: PLC0415

    requirement = Requirement.load(need)
    found: dict[str, list[Outcome]] = {}
    videos = dict[str, None]()
    runs = 0
    for measured in Result.load(result).runs_with_series():
        runs += 1
        videos |= dict.fromkeys(videos_of(measured.summary))
        for name, outcome in of_run(measured, requirement).items():
            found.setdefault(name, []).append(outcome)
    if not found:
        raise InputError(
            f"{result}: found no ping and no call (voip) that was answered, expected one to be scored;"
            " a video flow has no score"
        )
    rows = []
    for name in natural(found):
        parts = ([value for value in part if value is not None] for part in zip(*found[name], strict=True))
        scores = (f"{interval(part).mean:.0f}{some(len(part), runs)}" if part else "not judged" for part in parts)
        rows.append([name, *scores])
    print(table(["of", "QoO", *(f"{part} alone" for part in Outcome._fields[1:])], rows))
    if videos:
        print(f"Video is not scored: {', '.join(natural(videos))}.")
