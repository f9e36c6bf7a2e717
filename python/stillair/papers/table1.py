"""*Ending the Anomaly*, Table 1 and Figure 5: one-way UDP to two fast stations and a slow one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stillair import bundled
from stillair.papers import table1_text
from stillair.papers.anomaly_model import Prediction, Station, predict
from stillair.papers.claims import Claim, Experiment, experiments
from stillair.papers.measured import Measured
from stillair.result import Result
from stillair.scenario import Scenario
from stillair.statistics import Interval, interval

SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
STATIONS = ("fast1", "fast2", "slow")
FAST = ("fast1", "fast2")

_SCHEME = "node.ap.interface.wlan0.scheme"
# fast2 is `like` fast1, so this reaches both.
_CHAIN = "node.fast1.interface.wlan0.retry_chain"
_BURST = "flow.0.burst"

# The four schemes with the scenario as it stands; then, beside them, what Table 1's numbers depend on and the paper
# leaves open: how long an aggregate the retry chain allows, and how the UDP packets arrive.
CELLS: dict[str, dict[str, str]] = {
    **{scheme: {_SCHEME: scheme} for scheme in SCHEMES},
    "airtime, 32-frame aggregates": {_SCHEME: "airtime", _CHAIN: '["mcs15"]'},
    "fifo, UDP in bursts of 1": {_SCHEME: "fifo", _BURST: "1"},
    "fifo, UDP in bursts of 32": {_SCHEME: "fifo", _BURST: "32"},
}

# How the inventory names what a run reports: (key of a station, key of the run for all stations, scale).
_METRICS: dict[str, tuple[str, str | None, float]] = {
    "mean aggregate size": ("mean_aggregate", None, 1),
    "measured UDP throughput": ("goodput_mbps", "goodput_total_mbps", 1),
    "total UDP throughput": ("goodput_mbps", "goodput_total_mbps", 1),
    "airtime share": ("airtime_share", None, 100),
}
# What the model says: paper's metric, and how to read it from a prediction.
_MODEL: dict[str, Callable[[Prediction], float]] = {
    "airtime share T(i)": lambda said: 100 * said.share,
    "rate alone, Base": lambda said: said.base_mbps,
    "expected rate R(i)": lambda said: said.rate_mbps,
}


@dataclass(frozen=True)
class Table1:
    """Runs the cells of Table 1 and Figure 5 and sets them beside the paper's."""

    def cells(self) -> int:
        """Configurations to run."""
        return len(CELLS)

    def repetitions(self) -> int:
        """Repetitions of each cell in the paper."""
        return int(_experiment("table1-model-udp").setup["repetitions"])

    def run(self, runs: int, jobs: int | None, progress: Callable[[int], object] | None) -> Measured:
        """Runs every cell with the same seeds, so that cells differ in nothing but their settings."""
        scenario = bundled.scenario("anomaly-udp")
        results = {
            name: _cell(scenario, overrides, runs, jobs, progress, done=number * runs)
            for number, (name, overrides) in enumerate(CELLS.items())
        }
        return measure(results)


def measure(results: Mapping[str, Result]) -> Measured:
    """The artefacts and the measurement of each claim, from the result of each cell."""
    table, figure = _experiment("table1-model-udp"), _experiment("fig5-airtime-udp")
    claims = {}
    for claim in (*table.claims, *figure.claims):
        measured = _of_claim(claim, results, table)
        if measured is not None:
            claims[claim.id] = measured
    predictions = {scheme: _predict_ours(results[scheme], table, scheme) for scheme in ("fifo", "airtime")}
    return Measured(table1_text.text(results, predictions, table, figure), claims)


def _cell(
    scenario: Scenario,
    overrides: Mapping[str, str],
    runs: int,
    jobs: int | None,
    progress: Callable[[int], object] | None,
    done: int,
) -> Result:
    heard = (lambda finished: progress(done + finished)) if progress else None
    return scenario.run(runs=runs, jobs=jobs, overrides=overrides, progress=heard)


def _of_claim(claim: Claim, results: Mapping[str, Result], table: Experiment) -> Interval | None:
    """What was measured for a claim; nothing for an input, an order, or a claim about several cells at once."""
    scheme, station, metric = claim.cell()
    if claim.kind == "ratio":
        return _ratio(claim, results)
    if metric in _MODEL:
        said = _predict_printed(table, scheme).get(station)
        total = sum(_MODEL[metric](p) for p in _predict_printed(table, scheme).values())
        value = _MODEL[metric](said) if said else total
        return Interval(value, value, value)
    if scheme not in results or metric not in _METRICS or not station:
        return None
    named = station if isinstance(station, list) else [station]
    measured = [found for name in named if (found := _over(_values(results[scheme], name, metric)))]
    if not measured or claim.value is None:
        return None
    # Several stations hold the claim if the worst of them does.
    stated = claim.value
    return max(measured, key=lambda found: abs(found.mean - stated))


def _ratio(claim: Claim, results: Mapping[str, Result]) -> Interval | None:
    above, below = claim.configuration["numerator"], claim.configuration["denominator"]
    station = claim.configuration.get("station", "total")
    # Same seeds on both sides: the ratio is taken run by run.
    pairs = zip(
        _values(results[above], station, claim.metric), _values(results[below], station, claim.metric), strict=True
    )
    return _over([a / b for a, b in pairs if a is not None and b])


def _over(values: Sequence[float | None]) -> Interval | None:
    found = [value for value in values if value is not None]
    return interval(found) if found else None


def _values(result: Result, station: str, metric: str) -> list[float | None]:
    """A metric run by run, for a station, for the total, or for the sum of stations named `a + b`."""
    key, total, scale = _METRICS[metric]
    if station == "total" and total:
        return [_scaled(run.get(total), scale) for run in result.runs]
    names = station.split(" + ")
    return [_sum([_scaled(_station(run, name).get(key), scale) for name in names]) for run in result.runs]


def _station(run: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    station: Mapping[str, Any] = run["stations"][name]
    return station


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _sum(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) if len(found) == len(values) else None


def _predict_ours(result: Result, table: Experiment, scheme: str) -> dict[str, Prediction]:
    """The model at the aggregate sizes that we measured; none if a station sent no aggregate."""
    sizes = {name: _over(_values(result, name, "mean aggregate size")) for name in STATIONS}
    means = {name: size.mean for name, size in sizes.items() if size}
    return _predict(means, table, scheme) if len(means) == len(sizes) else {}


def _predict_printed(table: Experiment, scheme: str) -> dict[str, Prediction]:
    """The model at the aggregate sizes that the paper prints."""
    printed = table.printed()
    return _predict({name: printed[scheme, name, "mean aggregate size"] for name in STATIONS}, table, scheme)


def _predict(sizes: Mapping[str, float], table: Experiment, scheme: str) -> dict[str, Prediction]:
    printed = table.printed()
    stations = [Station(aggregate=size, phy_mbps=printed[scheme, name, "PHY rate"]) for name, size in sizes.items()]
    said = predict(stations, airtime_fair=scheme == "airtime")
    return dict(zip(sizes, said, strict=True))


def _experiment(name: str) -> Experiment:
    return next(e for e in experiments() if e.paper == "ending-the-anomaly" and e.id == name)
