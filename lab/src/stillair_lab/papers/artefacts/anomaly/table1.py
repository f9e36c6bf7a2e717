"""Table 1 of *Ending the Anomaly*: model and measured rates, simulated and printed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stillair.results.result import Result
from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED, figure
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.measure import table1_model
from stillair_lab.papers.measure.anomaly_model import Prediction
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.table1_model import SIZE, STATIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UDP = "measured UDP throughput"
_BLOCKS = {"fifo": "FIFO, medians", "airtime": "Airtime fair FQ"}
_HEADINGS = ("frames", "paper", "T(i) %", "paper", "PHY", "Base", "paper", "R(i)", "paper", "UDP", "paper")


@dataclass(frozen=True)
class _Line:
    """A row of the table: a station, or the total."""

    name: str
    cells: tuple[str, ...]


def text(of: Measurer) -> str:
    """The table, and the settings that the paper leaves open."""
    runs = len(of.result({"scheme": "fifo"}).runs)
    parts = [
        f"UDP to three stations, {runs} run{'s' if runs > 1 else ''} of each scheme. Each of our figures stands before"
        " the paper's.\nT(i), Base and R(i) are the paper's model, ours at the aggregate sizes measured here. Rates in"
        " Mbit/s,\n± half a 95 % confidence interval over the runs. As in the paper, the FIFO block is the median over"
        " the\nrepetitions and the other one their mean; fewer than six runs give a median no 95 %, only their range.",
        *(
            table([title, *_HEADINGS], [[line.name, *line.cells] for line in _block(of, scheme)])
            for scheme, title in _BLOCKS.items()
        ),
        f"Beside it: settings that the paper leaves open. Means of {' / '.join(STATIONS)}.",
        _beside(of),
    ]
    return "\n\n".join(parts) + "\n"


def picture(of: Measurer) -> "Figure":
    """The two blocks as printed in the paper, with its own numbers in grey."""
    with style.styled():
        drawn = style.new(8.6, 3.6)
        axes = drawn.add_subplot()
        axes.axis("off")
        rows: list[list[str]] = []
        titles: list[int] = []
        for scheme, title in _BLOCKS.items():
            titles.append(len(rows))
            rows.append([title, *[""] * len(_HEADINGS)])
            rows += [[f"  {line.name}", *line.cells] for line in _block(of, scheme)]
        grid = axes.table(
            cellText=rows, colLabels=["", *_HEADINGS], loc="center", cellLoc="right", colLoc="right",
            edges="horizontal",
            colWidths=[0.2, 0.1, 0.06, 0.07, 0.06, 0.06, 0.065, 0.065, 0.065, 0.065, 0.1, 0.06],
        )  # fmt: skip
        grid.auto_set_font_size(False)
        grid.set_fontsize(8)
        grid.scale(1, 1.35)
        for (row, column), cell in grid.get_celld().items():
            cell.set_edgecolor("#d5d9de")
            cell.PAD = 0.04
            if column == 0:
                cell.set_text_props(ha="left")
            elif _HEADINGS[column - 1] == "paper":
                cell.set_text_props(color=style.FAINT)
            if row == 0 or row - 1 in titles:
                cell.set_text_props(weight="bold")
        axes.set_title("Table 1: ours before the paper's; rates in Mbit/s", loc="left", fontsize=10)
        return drawn


def _block(of: Measurer, scheme: str) -> list[_Line]:
    printed = of.experiment.printed()

    def paper(station: str, metric: str) -> str:
        value = printed.get((scheme, station, metric))
        return "" if value is None else f"{value:g}"

    def model(value: float | None) -> str:
        return NOT_MEASURED if value is None else f"{value:.1f}"

    sizes = {name: of.of_cell({"scheme": scheme, "station": name}, SIZE) for name in STATIONS}
    said = _predict(of, scheme, sizes)
    lines = []
    for name in STATIONS:
        expected = said.get(name)
        udp = of.of_cell({"scheme": scheme, "station": name}, _UDP)
        cells = (
            _figure(sizes[name], 2), paper(name, SIZE),
            model(100 * expected.share if expected else None), paper(name, "airtime share T(i)"),
            paper(name, "PHY rate"),
            model(expected.base_mbps if expected else None), paper(name, "rate alone, Base"),
            model(expected.rate_mbps if expected else None), paper(name, "expected rate R(i)"),
            _figure(udp, 1), paper(name, _UDP),
        )  # fmt: skip
        lines.append(_Line(name, cells))
    rate = sum(expected.rate_mbps for expected in said.values()) if said else None
    udp = of.of_cell({"scheme": scheme, "station": "total"}, _UDP)
    ends = (model(rate), paper("total", "expected rate R(i)"), _figure(udp, 1), paper("total", _UDP))
    return [*lines, _Line("total", (*[""] * (len(_HEADINGS) - len(ends)), *ends))]


def _predict(of: Measurer, scheme: str, sizes: Mapping[str, Interval | None]) -> dict[str, Prediction]:
    """The model at the simulated aggregate sizes; empty if a station sent no aggregate."""
    means = {name: size.mean for name, size in sizes.items() if size}
    return table1_model.at(means, of.experiment, scheme) if len(means) == len(sizes) else {}


def _beside(of: Measurer) -> str:
    rows = []
    for campaign in of.own.campaigns:
        for scheme in _BLOCKS:
            for cell in (cell for cell in campaign.cells if cell.name.split(",")[0] == scheme):
                result = of.outcomes[campaign.id].results
                if result is not None:
                    rows.append(_beside_row(cell.name, result[cell.name]))
    return table(["", "frames an aggregate", "airtime %", "UDP Mbit/s", "total"], rows)


def _beside_row(name: str, result: Result) -> list[str]:
    over = result.summary()

    def means(key: str, scale: float = 1) -> str:
        values = [over["stations"][station].get(key) for station in STATIONS]
        return " / ".join(NOT_MEASURED if value is None else f"{value['mean'] * scale:.1f}" for value in values)

    return [
        name if "," in name else f"{name}, as above",
        means("mean_aggregate"),
        means("airtime_share", 100),
        means("goodput_mbps"),
        figure(over["goodput_total_mbps"], digits=1),
    ]


def _figure(measured: Interval | None, digits: int) -> str:
    return figure(measured._asdict(), digits=digits) if measured else NOT_MEASURED
