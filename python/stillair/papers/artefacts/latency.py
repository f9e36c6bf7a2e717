"""Ping under load: Figures 1 and 4 of *Ending the Anomaly*, distributions by scheme and class of stations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stillair.papers import samples, style
from stillair.papers.artefacts.schemes import COLOURS, TITLES
from stillair.papers.measure import Measurer
from stillair.statistics import percentile
from stillair.summary import NOT_MEASURED
from stillair.table import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PERCENTILES = (10, 50, 90, 95)
_ALL = ("",)
# The paper draws the fast stations as one line; the slow one stands out.
_CLASSES = ("fast", "slow")
_LINES = {"": "-", "fast": "-", "slow": "--"}


def all_text(of: Measurer) -> str:
    """Figure 1: all stations together."""
    return _text(of, _ALL)


def all_picture(of: Measurer) -> "Figure":
    """Figure 1: all stations together."""
    return _picture(of, _ALL)


def text(of: Measurer) -> str:
    """Figure 4: by class of stations."""
    return _text(of, _CLASSES)


def picture(of: Measurer) -> "Figure":
    """Figure 4: by class of stations."""
    return _picture(of, _CLASSES)


def _text(of: Measurer, classes: Sequence[str]) -> str:
    rows = []
    for scheme in of.experiment.setup["schemes"]:
        for name in classes:
            found = replies(of, scheme, name)
            values = [percentile(found, at) if found else None for at in _PERCENTILES]
            title = f"{TITLES[scheme]}{', ' * bool(name)}{name}"
            rows.append([title, *(NOT_MEASURED if value is None else f"{value:.1f}" for value in values)])
    heading = ["", *(f"p{at} ms" for at in _PERCENTILES)]
    return "Ping under load, replies of all runs together.\n\n" + table(heading, rows)


def _picture(of: Measurer, classes: Sequence[str]) -> "Figure":
    with style.styled():
        drawn = style.new(6.2, 3.6)
        axes = drawn.add_subplot()
        for scheme in of.experiment.setup["schemes"]:
            for name in classes:
                found = sorted(replies(of, scheme, name))
                # A few hundred points show the curve; a file of every reply would be megabytes.
                shown = [found[at * (len(found) - 1) // 400] for at in range(401)] if found else []
                axes.plot(
                    shown, [at / 400 for at in range(len(shown))], color=COLOURS[scheme], linestyle=_LINES[name],
                    label=f"{TITLES[scheme]}{', ' * bool(name)}{name}",
                )  # fmt: skip
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_ylim(0, 1)
        axes.set_xlabel("ping RTT, ms")
        axes.set_ylabel("part of the replies")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def replies(of: Measurer, scheme: str, name: str) -> list[float]:
    """Round trips in ms of all runs: to a class of stations, or to all."""
    stations = of.stations(name) if name else None
    result = of.result({"scheme": scheme})
    return [ms for run in result.runs for ms in samples.pings(result, run, stations)]
