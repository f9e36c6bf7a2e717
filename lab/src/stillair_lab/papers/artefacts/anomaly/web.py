"""Page load times: Figure 11 of *Ending the Anomaly*, and its reverse."""

from typing import TYPE_CHECKING

from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.anomaly.schemes import COLOURS, SCHEMES, TITLES
from stillair_lab.papers.artefacts.intervals import along, named, spread
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAGES = ("small", "large")


def text(of: Measurer) -> str:
    """Means by page and scheme, with the number of completed loads."""
    rows = [
        [
            TITLES[scheme],
            *(cell for page in _PAGES for cell in (named(_time(of, page, scheme), 3), _loads(of, page, scheme))),
        ]
        for scheme in SCHEMES
    ]
    heading = ["scheme", *(cell for page in _PAGES for cell in (f"{page} page s", "loads a run"))]
    return "Mean time to load a page.\n\n" + table(heading, rows)


def picture(of: Measurer) -> "Figure":
    """A group of bars for each page, on a logarithmic scale."""
    with style.styled():
        drawn = style.new(5.6, 3.4)
        axes = drawn.add_subplot()
        width = 0.8 / len(SCHEMES)
        for number, scheme in enumerate(SCHEMES):
            found = [_time(of, page, scheme) for page in _PAGES]
            places = [at + (number - (len(SCHEMES) - 1) / 2) * width for at in range(len(found))]
            means = [measured.mean if measured else 0.0 for measured in found]
            style.bars(axes, places, means, [spread(m) for m in found], width, COLOURS[scheme], TITLES[scheme])
        along(axes, [f"{page} page" for page in _PAGES])
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_ylabel("mean time to load, s")
        axes.set_title(f"Pages of {of.experiment.setup['fetcher']}", loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def _time(of: Measurer, page: str, scheme: str) -> Interval | None:
    return of.of_cell({"page": page, "scheme": scheme}, "page fetch time")


def _loads(of: Measurer, page: str, scheme: str) -> str:
    runs = of.result({"page": page, "scheme": scheme}).runs
    counts = [client["loads"] for run in runs for client in run.get("web", {}).values()]
    return f"{sum(counts) / len(counts):.1f}" if counts else NOT_MEASURED
