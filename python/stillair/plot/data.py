"""Data of the plots, from series."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from stillair._native import InputError
from stillair.results.result import Result
from stillair.results.series import Flow, Ping, Series
from stillair.results.statistics import some
from stillair.text.table import natural

T = TypeVar("T")

Values = Callable[[Series, str], list[T]]
"""Extracts the values of a station from a run's series."""


class UndrawnError(InputError):
    """The results have no data for a plot, which is not a mistake."""


class Titled(NamedTuple):
    """A result with its title in legends."""

    title: str
    result: Result


def stations(results: Iterable[Titled]) -> list[str]:
    """Stations of all results, in natural order, so that a station has the same colour in every plot."""
    return natural(dict.fromkeys(name for _, result in results for run in result.runs for name in run["stations"]))


def hosts(results: Iterable[Titled]) -> list[str]:
    """The stations, and the receivers of flows without a station."""
    results = list(results)
    wired = [
        flow.receiver
        for _, result in results
        for run in itertools.islice(result.runs_with_series(), 1)
        for flow in run.series.flows
        if flow.station is None
    ]
    return list(dict.fromkeys([*stations(results), *wired]))


def over_runs(result: Result, names: Sequence[str], values: Values[T]) -> tuple[dict[str, list[T]], dict[str, str]]:
    """Values of each station in all runs, and ` (45 of 300 runs)` for stations with values in some runs only.

    Reads each run once, because the files are long.
    """
    found: dict[str, list[T]] = {name: [] for name in names}
    counts = dict.fromkeys(names, 0)
    runs = 0
    for run in result.runs_with_series():
        runs += 1
        for name in names:
            own = values(run.series, name)
            found[name] += own
            counts[name] += bool(own)
    return found, {name: some(count, runs) for name, count in counts.items()}


def label(results: Sequence[Titled], title: str, name: str) -> str:
    """The name, prefixed with the result's title if there are several."""
    return name if len(results) == 1 else f"{title}: {name}"


def host(flow: Flow) -> str:
    """The station of a flow, or its receiver if no station takes part."""
    return flow.station or flow.receiver


def goodput(series: Series, station: str) -> list[float]:
    """UDP payload to and from a station in each step, in Mbit/s; empty without such a flow."""
    flows = [series.mbps(flow) for flow in series.flows if host(flow) == station and flow.bytes is not None]
    return [sum(values) for values in zip(*flows, strict=True)]


def pings(series: Series, station: str) -> list[tuple[float, float]]:
    """Time in s and round trip in ms of all replies to or from a station."""
    return [(ping.at_ns / 1e9, ping.rtt_ns / 1e6) for ping in _replies(series, station)]


def measured_pings(series: Series, station: str) -> list[float]:
    """Round trips in ms of replies within the measured time, as counted in the summary."""
    since, until = series.measured_ns()
    return [ping.rtt_ns / 1e6 for ping in _replies(series, station) if since <= ping.at_ns < until]


def ping_loss(result: Result) -> dict[str, float]:
    """Share of lost pings over all runs, for hosts that lost any.

    A ping unanswered at the end of the run is neither lost nor received. Older results do not count lost
    pings.
    """
    lost: dict[str, int] = {}
    ended: dict[str, int] = {}
    for measured in result.runs_with_series():
        counts = measured.summary.get("pings") or {}
        for flow in measured.series.flows:
            of = counts.get(flow.name)
            if of is not None and of.get("lost") is not None and of.get("received") is not None:
                lost[host(flow)] = lost.get(host(flow), 0) + of["lost"]
                ended[host(flow)] = ended.get(host(flow), 0) + of["lost"] + of["received"]
    return {name: count / ended[name] for name, count in lost.items() if count}


def _replies(series: Series, station: str) -> list[Ping]:
    samples = (ping for flow in series.flows if host(flow) == station for ping in flow.pings or [])
    return sorted(samples, key=lambda ping: (ping.at_ns, ping.rtt_ns))


def step_pings(series: Series, station: str) -> list[float | None]:
    """Mean round trip in each step, in ms."""
    flows = [series.ping_ms(flow) for flow in series.flows if host(flow) == station and flow.pings is not None]
    found = ([value for value in values if value is not None] for values in zip(*flows, strict=True))
    return [sum(values) / len(values) if values else None for values in found]


def airtime(series: Series, station: str) -> list[float]:
    """Airtime of a station's data in both directions, as a share of each step."""
    columns = [
        column
        for steps in series.stations
        if steps.name == station
        for column in (steps.airtime_down_ns, steps.airtime_up_ns)
    ]
    sums = [sum(values) for values in zip(*columns, strict=True)] or [0] * series.steps
    return [ns / series.length_ns(step) for step, ns in enumerate(sums)]


def times(series: Series) -> list[float]:
    """Middle of each step, in s."""
    return [(series.end_ns(step) - series.length_ns(step) / 2) / 1e9 for step in range(series.steps)]
