"""Table 2 of *Ending the Anomaly*: call quality and bulk goodput, simulated and printed."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from stillair.results.report import Run
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly.schemes import SCHEMES, TITLES
from stillair_lab.papers.artefacts.intervals import named
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_QOS = ("VO", "BE")
_BASELINES = (5, 50)
_METRICS = {"MOS": ("MOS", 2), "total throughput": ("Mbit/s", 1)}
_HEADINGS = [
    f"{heading}{' at ' * (end == 0)}{f'{baseline} ms' * (end == 0)}"
    for baseline in _BASELINES
    for heading in ("MOS", "Mbit/s")
    for end in (0, 1)
]


def text(of: Measurer) -> str:
    """The table, and below it the components of the scores."""
    heading = ["", *(said if number % 2 == 0 else "paper" for number, said in enumerate(_HEADINGS))]
    why = [
        [
            f"{TITLES[scheme]}, {qos}",
            *(_why(of, scheme, qos, baseline, key) for baseline in _BASELINES for key in _CALL),
        ]
        for scheme in SCHEMES
        for qos in _QOS
    ]
    return (
        "A call to the slow station beside a download to each of four; ours before the paper's.\n"
        "Scores as Flent 0.15 to 1.2 computed them.\n\n"
        + table(heading, list(_rows(of)))
        + "\n\nOf the calls, means over the runs: the score by the E-model (G.107), one-way delay, jitter in ms,\n"
        "packets lost in per cent.\n\n"
        + table(["", *(f"{key} {baseline} ms" for baseline in _BASELINES for key in _CALL.values())], why)
        + "\n\nBeside it, at 5 ms: other losses at the slow station.\n\n"
        + _beside(of)
    )


def picture(of: Measurer) -> "Figure":
    """The table as printed in the paper, with its own numbers in grey."""
    with style.styled():
        drawn = style.new(8.6, 3.0)
        axes = drawn.add_subplot()
        axes.axis("off")
        labels = ["", *(said if number % 2 == 0 else "paper" for number, said in enumerate(_HEADINGS))]
        grid = axes.table(
            cellText=list(_rows(of)),
            colLabels=labels,
            loc="center",
            cellLoc="right",
            colLoc="right",
            edges="horizontal",
        )
        grid.auto_set_font_size(False)
        grid.set_fontsize(8)
        grid.scale(1, 1.35)
        for (row, column), cell in grid.get_celld().items():
            cell.set_edgecolor("#d5d9de")
            if column == 0:
                cell.set_text_props(ha="left")
            elif column % 2 == 0:
                cell.set_text_props(color=style.FAINT)
            if row == 0:
                cell.set_text_props(weight="bold")
        axes.set_title("Table 2: ours before the paper's", loc="left", fontsize=10)
        return drawn


def _rows(of: Measurer) -> Iterator[list[str]]:
    printed = {
        (c["scheme"], c["qos"], c["baseline_ms"], claim.metric): claim.value
        for claim in of.experiment.claims
        if claim.kind == "value" and (c := claim.configuration)
    }
    for scheme in SCHEMES:
        for qos in _QOS:
            row = [f"{TITLES[scheme]}, {qos}"]
            for baseline in _BASELINES:
                where = {"scheme": scheme, "qos": qos, "baseline_ms": baseline}
                for metric, (_, digits) in _METRICS.items():
                    said = printed[scheme, qos, baseline, metric]
                    row += [named(of.of_cell(where, metric), digits), f"{said:.{digits}f}"]
            yield row


def _beside(of: Measurer) -> str:
    """Cells without a claim."""
    rows = []
    for campaign in of.own.campaigns:
        results = of.outcomes[campaign.id].results or {}
        for cell in (cell for cell in campaign.cells if not cell.where and cell.name in results):
            calls = [call for run in results[cell.name].runs for call in _calls(run)]
            means = {key: sum(call[key] for call in calls) / len(calls) for key in ("mos_flent_1_2", *_CALL)}
            values = [f"{means[key] * (100 if key == 'loss' else 1):.2f}" for key in means]
            rows.append([cell.name, *values])
    return table(["", "MOS", *_CALL.values()], rows)


_CALL = {"mos": "E-model", "delay_ms": "delay", "jitter_ms": "jitter", "loss": "lost %"}


def _why(of: Measurer, scheme: str, qos: str, baseline: int, key: str) -> str:
    result = of.result({"scheme": scheme, "qos": qos, "baseline_ms": baseline})
    found = [call[key] for run in result.runs for call in _calls(run)]
    scale = 100 if key == "loss" else 1
    return f"{scale * sum(found) / len(found):.2f}" if found else NOT_MEASURED


def _calls(run: Run) -> list[Mapping[str, float]]:
    return [cast("Mapping[str, float]", call) for call in run.get("voip", {}).values()]
