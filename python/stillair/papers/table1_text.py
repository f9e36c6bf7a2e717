"""Table 1 and Figure 5 of *Ending the Anomaly* as text, ours beside the paper's."""

from collections.abc import Mapping
from typing import Any

from stillair.papers.anomaly_model import Prediction
from stillair.papers.claims import Experiment
from stillair.result import Result
from stillair.summary import NOT_MEASURED, figure
from stillair.table import table

_TITLES = {"fifo": "FIFO", "airtime": "Airtime fair FQ"}


def text(
    results: Mapping[str, Result],
    predictions: Mapping[str, Mapping[str, Prediction]],
    table1: Experiment,
    figure5: Experiment,
) -> str:
    """The whole report of the runs."""
    runs = len(next(iter(results.values())).runs)
    stations = next(iter(results.values())).over_runs()["stations"]
    parts = [
        f"Ending the Anomaly, Table 1: UDP to three stations, {runs} run{'s' if runs > 1 else ''} of each scheme.\n"
        "Each of our figures stands before the paper's. T(i), Base and R(i) are the paper's model, ours at the\n"
        "aggregate sizes measured here. Rates in Mbit/s, ± half a 95 % confidence interval over the runs.",
        *(_block(scheme, results[scheme], said, table1) for scheme, said in predictions.items()),
        "Figure 5: measured share of the airtime, per cent.",
        _shares(results, figure5),
        f"Beside it: settings that the paper leaves open. Means of {' / '.join(stations)}.",
        _beside(results),
    ]
    return "\n\n".join(parts) + "\n"


def _block(scheme: str, result: Result, said: Mapping[str, Prediction], table1: Experiment) -> str:
    over = result.over_runs()
    printed = table1.printed()

    def paper(station: str, metric: str) -> str:
        value = printed.get((scheme, station, metric))
        return "" if value is None else f"{value:g}"

    def model(value: float | None) -> str:
        return NOT_MEASURED if value is None else f"{value:.1f}"

    rows = []
    for name, station in over["stations"].items():
        expected = said.get(name)
        rows.append([
            name,
            figure(station.get("mean_aggregate")),
            paper(name, "mean aggregate size"),
            model(100 * expected.share if expected else None),
            paper(name, "airtime share T(i)"),
            paper(name, "PHY rate"),
            model(expected.base_mbps if expected else None),
            paper(name, "rate alone, Base"),
            model(expected.rate_mbps if expected else None),
            paper(name, "expected rate R(i)"),
            figure(station.get("goodput_mbps"), digits=1),
            paper(name, "measured UDP throughput"),
        ])  # fmt: skip
    total = sum(expected.rate_mbps for expected in said.values()) if said else None
    rows.append([
        "total", *[""] * 7,
        model(total), paper("total", "expected rate R(i)"),
        figure(over["goodput_total_mbps"], digits=1), paper("total", "measured UDP throughput"),
    ])  # fmt: skip
    header = [_TITLES[scheme], "aggregate", "paper", "T(i) %", "paper", "PHY", "Base", "paper", "R(i)", "paper"]
    return table([*header, "UDP", "paper"], rows)


def _shares(results: Mapping[str, Result], figure5: Experiment) -> str:
    schemes = [name for name in results if "," not in name]
    stations = list(results[schemes[0]].over_runs()["stations"])
    rows = []
    for scheme in schemes:
        over = results[scheme].over_runs()
        shares = [figure(over["stations"][name].get("airtime_share"), 100, 1) for name in stations]
        rows.append([scheme, *shares, figure(over["jain_airtime"], digits=3), _said(scheme, figure5)])
    return table(["scheme", *stations, "Jain", "the paper says"], rows)


def _said(scheme: str, figure5: Experiment) -> str:
    """The numbers that the paper's text gives for a bar of the figure; most bars have none."""
    parts = []
    for claim in figure5.claims:
        if claim.configuration.get("scheme") == scheme and claim.value is not None:
            station = claim.configuration["station"]
            parts.append(f"{station if isinstance(station, str) else 'each'} {claim.value:g}")
    return ", ".join(parts)


def _beside(results: Mapping[str, Result]) -> str:
    rows = []
    for scheme in _TITLES:
        for name in (name for name in results if name.split(",")[0] == scheme):
            over = results[name].over_runs()
            rows.append([
                name if "," in name else f"{name}, as above",
                _means(over, "mean_aggregate"),
                _means(over, "airtime_share", 100),
                _means(over, "goodput_mbps"),
                figure(over["goodput_total_mbps"], digits=1),
            ])  # fmt: skip
    return table(["", "frames an aggregate", "airtime %", "UDP Mbit/s", "total"], rows)


def _means(over: Mapping[str, Any], key: str, scale: float = 1) -> str:
    """The means of all stations in one cell."""
    values = [station.get(key) for station in over["stations"].values()]
    return " / ".join(NOT_MEASURED if value is None else f"{value['mean'] * scale:.1f}" for value in values)
