"""Figure 8 of *The New TCP Modules on the Block*: throughput and delay on Wi-Fi by the limit of small queues."""

from typing import TYPE_CHECKING

from stillair.papers.artefacts import style
from stillair.papers.measure.measurer import Measurer
from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WORDS = {"ca_ratio": ("2p", "3p", "4p"), "base_rtt_ms": ("1", "10", "100")}
_LABELS = {
    "2p": "ratio 1.2", "3p": "ratio 1.3", "4p": "ratio 1.4",
    "1": "base RTT 1 ms", "10": "base RTT 10 ms", "100": "base RTT 100 ms",
}  # fmt: skip
_COLOURS = (style.GREEN, style.BLUE, style.VERMILION)
_METRICS = {"throughput": "throughput, Mbit/s", "RTT": "ping RTT, ms"}


def text(of: Measurer) -> str:
    """A row for each limit."""
    word, limits = _varied(of), _limits(of)
    rows = [
        [limit, *(_figure(_cell(of, word, value, limit, name)) for value in _WORDS[word] for name in _METRICS)]
        for limit in limits
    ]
    heading = ["limit", *(f"{_LABELS[value]} {unit}" for value in _WORDS[word] for unit in ("Mbit/s", "ms"))]
    return "Mean throughput of four uploads and the median ping; nTSQ is a limit of n ms.\n\n" + table(heading, rows)


def picture(of: Measurer) -> "Figure":
    """Throughput and delay over the limit."""
    word, limits = _varied(of), _limits(of)
    with style.styled():
        drawn = style.new(7.2, 3.2)
        for place, (name, label) in enumerate(_METRICS.items()):
            axes = drawn.add_subplot(1, len(_METRICS), place + 1)
            for value, colour in zip(_WORDS[word], _COLOURS, strict=True):
                found = [(at, _cell(of, word, value, limit, name)) for at, limit in enumerate(limits, 1)]
                points = [(at, measured) for at, measured in found if measured is not None]
                axes.errorbar(
                    [at for at, _ in points],
                    [measured.mean for _, measured in points],
                    yerr=[[m.mean - m.low for _, m in points], [m.high - m.mean for _, m in points]],
                    color=colour,
                    marker="o",
                    markersize=3.5,
                    linewidth=1.2,
                    capsize=2,
                    label=_LABELS[value],
                )
            axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
            axes.set_xlabel("limit, ms of data")
            axes.set_ylabel(label)
            if place == 0:
                axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
                axes.legend(loc="lower right")
        return drawn


def _limits(of: Measurer) -> list[str]:
    cells = [cell.where for campaign in of.own.campaigns for cell in campaign.cells]
    return list(dict.fromkeys(cell["tsq"] for cell in cells if "ca_ratio" in cell))


def _varied(of: Measurer) -> str:
    return next(word for word in _WORDS if word not in (of.own.where or {}))


def _cell(of: Measurer, word: str, value: str, limit: str, name: str) -> Interval | None:
    # The conclusions are about the curves of Figure 8a.
    common = {"base_rtt_ms": "0.8"} if word == "ca_ratio" else {}
    return of.of_cell({**common, **(of.own.where or {}), word: value, "tsq": limit}, name)


def _figure(value: Interval | None) -> str:
    return NOT_MEASURED if value is None else f"{value.mean:.2f}"
