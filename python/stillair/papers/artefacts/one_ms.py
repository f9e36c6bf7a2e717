"""Figures of *Towards 1 ms WLAN Latency*: goodput against ping, and candlesticks of ping."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stillair.papers.artefacts import style
from stillair.papers.measure.measurer import Measurer
from stillair.results.statistics import Interval
from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WORDS = ("cc", "qdisc", "tsq")
_ORDERED = "tsq"  # its values rise, and their colours with them
_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PURPLE, style.SKY, style.INK)
# Not as many as the colours: with equal periods the eighth point would look like the first.
_MARKERS = "osD^vPX*<>"
_GOODPUT = {"TCP goodput": "goodput"}
_DIRECTIONS = {"upload goodput": "up", "download goodput": "down"}
_PERCENTILES = ("p10", "p50", "p90")
_WIDTH = 0.34


def points_text(of: Measurer) -> str:
    """Goodput and ping of each cell."""
    word, names = _varied(of)
    goodputs = _goodputs(of)
    rows = []
    for name in names:
        means = [of.of_cell({**_where(of), word: name}, metric) for metric in (*goodputs, "ping RTT")]
        middle = of.of_cell({**_where(of), word: name}, "ping RTT p50")
        rows.append([name, *(_with_interval(value) for value in means), _figure(middle)])
    heading = [word, *(f"{label} Mbit/s" for label in goodputs.values()), "ping mean ms", "ping median ms"]
    return "Means over the runs, with their 95 % confidence intervals.\n\n" + table(heading, rows)


def points_picture(of: Measurer) -> "Figure":
    """Goodput against ping, a point for each cell; uploads and downloads where both are there."""
    word, _ = _varied(of)
    goodputs = _goodputs(of)
    with style.styled():
        drawn = style.new(6.6, 3.8)
        axes = drawn.add_subplot()
        points = _alike(of, word, ("ping RTT", *goodputs))
        for place, ((ping, *rates), alike) in enumerate(points.items()):
            look = _look(word, place, len(points))
            for way, goodput in zip(goodputs.values(), rates, strict=True):
                if ping is not None and goodput is not None:
                    hollow = way == "up"
                    _point(
                        axes, ping, goodput, look, "white" if hollow else look[0], "" if hollow else ", ".join(alike)
                    )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
        axes.set_xlabel("mean ping RTT, ms")
        axes.set_ylabel("goodput, Mbit/s" if len(goodputs) == 1 else "goodput, Mbit/s (hollow: upload)")
        axes.grid(axis="x")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return drawn


def _alike(of: Measurer, word: str, metrics: Sequence[str]) -> dict[tuple[Interval | None, ...], list[str]]:
    """The cells by their point: a limit that nothing reaches gives the same runs as a larger one."""
    points: dict[tuple[Interval | None, ...], list[str]] = {}
    for name in _values(of, word):
        where = {**_where(of), word: name}
        points.setdefault(tuple(of.of_cell(where, metric) for metric in metrics), []).append(name)
    return points


def _look(word: str, place: int, count: int) -> tuple[str, str]:
    """Colour and marker of one point among so many: no two have the same."""
    colour = style.in_order(place, count) if word == _ORDERED else _COLOURS[place % len(_COLOURS)]
    return colour, _MARKERS[place % len(_MARKERS)]


def _point(axes: "Axes", ping: Interval, goodput: Interval, look: tuple[str, str], fill: str, label: str) -> None:
    colour, marker = look
    axes.errorbar(
        ping.mean,
        goodput.mean,
        xerr=[[ping.mean - ping.low], [ping.high - ping.mean]],
        yerr=[[goodput.mean - goodput.low], [goodput.high - goodput.mean]],
        fmt="none",
        color=colour,
        elinewidth=1,
        capsize=2,
    )
    # Apart from its intervals, so that these do not cover it in the legend.
    axes.plot(ping.mean, goodput.mean, marker, color=colour, markerfacecolor=fill, markersize=7, label=label)


def candles_text(of: Measurer) -> str:
    """Ping of each congestion control, by limit."""
    _, names = _varied(of)
    rows = [
        [f"{cc}, {tsq}", *(_figure(value) for value in (*_percentiles(of, cc, tsq), _mean(of, cc, tsq)))]
        for cc in names
        for tsq in _limits(of)
    ]
    heading = ["", *(f"{percentile} ms" for percentile in _PERCENTILES), "mean ms"]
    return "10th percentile, median and 90th percentile of the pings while the load lasts.\n\n" + table(heading, rows)


def candles_picture(of: Measurer) -> "Figure":
    """A box from the 10th to the 90th percentile with a line at the median."""
    _, names = _varied(of)
    with style.styled():
        drawn = style.new(6.0, 3.4)
        axes = drawn.add_subplot()
        for side, tsq in enumerate(_limits(of)):
            colour = _COLOURS[side]
            for at, cc in enumerate(names):
                low, line, high = _percentiles(of, cc, tsq)
                if low is None or line is None or high is None:
                    continue
                middle = at + (side - 0.5) * (_WIDTH + 0.06)
                label = "" if at else tsq
                height = high.mean - low.mean
                axes.bar(middle, height, width=_WIDTH, bottom=low.mean, color=colour, edgecolor=colour, label=label)
                ends = middle - _WIDTH / 2, middle + _WIDTH / 2
                axes.hlines(line.mean, *ends, color=style.ink_on(colour), linewidth=1)
        axes.set_xticks(range(len(names)), list(names))
        axes.tick_params(axis="x", length=0)
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
        axes.set_ylabel("ping RTT, ms")
        axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
        axes.legend(loc="upper left", ncols=2)
        return drawn


def _where(of: Measurer) -> dict[str, str]:
    return dict(of.own.where or {})


def _goodputs(of: Measurer) -> dict[str, str]:
    return _DIRECTIONS if _where(of).get("test") == "rrul" else _GOODPUT


def _varied(of: Measurer) -> tuple[str, Sequence[str]]:
    """The word that tells the cells of this figure apart, and its values."""
    own = _where(of)
    word = next(word for word in _WORDS if word not in own)
    return word, _values(of, word)


def _limits(of: Measurer) -> Sequence[str]:
    return _values(of, "tsq")


def _values(of: Measurer, word: str) -> Sequence[str]:
    own = _where(of)
    cells = [cell.where for campaign in of.own.campaigns for cell in campaign.cells]
    fit = [cell for cell in cells if all(cell.get(key) == value for key, value in own.items())]
    return list(dict.fromkeys(cell[word] for cell in fit))


def _percentiles(of: Measurer, cc: str, tsq: str) -> list[Interval | None]:
    where = {**_where(of), "cc": cc, "tsq": tsq}
    return [of.of_cell(where, f"ping RTT {percentile}") for percentile in _PERCENTILES]


def _mean(of: Measurer, cc: str, tsq: str) -> Interval | None:
    return of.of_cell({**_where(of), "cc": cc, "tsq": tsq}, "ping RTT")


def _figure(value: Interval | None) -> str:
    return NOT_MEASURED if value is None else f"{value.mean:.2f}"


def _with_interval(value: Interval | None) -> str:
    if value is None:
        return NOT_MEASURED
    return f"{value.mean:.2f} ± {(value.high - value.low) / 2:.2f}"
