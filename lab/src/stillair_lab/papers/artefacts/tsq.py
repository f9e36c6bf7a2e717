"""Figures 4 to 7 of *The New TCP Modules on the Block*: candlesticks of delay, and delay and throughput over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stillair.results.summary import NOT_MEASURED
from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.measure import samples
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.measure.samples import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# paper: tsq-pacing sec. IV-A - a box from the 10th to the 90th percentile, with a line at the median.
_PERCENTILES = ("p10", "p50", "p90")
_COLOURS = {"TSQ": style.BLUE, "NoTSQ": style.ORANGE}
_CONTROLS = {"cubic": ("Cubic", style.VERMILION), "bbr": ("BBR", style.GREEN)}
_WIDTH = 0.34
# The text has a line for every two seconds of a run; the picture has every sample.
_TEXT_STEP_S = 2.0


def ping_text(of: Measurer) -> str:
    """Figure 4: throughput and ping."""
    return _candles_text(of, {"throughput": "Mbit/s", "RTT": "ping, ms"})


def ping_picture(of: Measurer) -> "Figure":
    """Figure 4: throughput and ping."""
    return _candles_picture(of, {"throughput": "throughput, Mbit/s", "RTT": "ping RTT, ms"})


def candles_text(of: Measurer) -> str:
    """Figure 5: TCP RTT."""
    return _candles_text(of, {"TCP RTT": "ms"})


def candles_picture(of: Measurer) -> "Figure":
    """Figure 5: TCP RTT on an axis of two decades."""
    return _candles_picture(of, {"TCP RTT": "TCP RTT, ms"})


def _candles_text(of: Measurer, metrics: dict[str, str]) -> str:
    rows = [
        [
            f"{bottleneck}, {tsq}",
            *(_figure(value) for name in metrics for value in _percentiles(of, bottleneck, tsq, name)),
        ]
        for bottleneck in of.experiment.setup["bottleneck"]
        for tsq in _COLOURS
    ]
    heading = ["", *(f"{percentile} {unit}" for unit in metrics.values() for percentile in _PERCENTILES)]
    about = ", ".join(str(of.experiment.setup[key]) for key in ("cc", "qdisc"))
    return f"10th percentile, median and 90th percentile of all samples, four uploads; {about}.\n\n" + table(
        heading, rows
    )


def _candles_picture(of: Measurer, metrics: dict[str, str]) -> "Figure":
    bottlenecks = of.experiment.setup["bottleneck"]
    with style.styled():
        drawn = style.new(3.2 * len(metrics) + 0.5 * len(bottlenecks), 3.4)
        for place, (name, label) in enumerate(metrics.items()):
            axes = drawn.add_subplot(1, len(metrics), place + 1)
            for side, (tsq, colour) in enumerate(_COLOURS.items()):
                for at, bottleneck in enumerate(bottlenecks):
                    middle = at + (side - 0.5) * (_WIDTH + 0.06)
                    _candle(axes, middle, _percentiles(of, bottleneck, tsq, name), colour, "" if at else tsq)
            axes.set_xticks(range(len(bottlenecks)), bottlenecks)
            axes.tick_params(axis="x", length=0)
            axes.set_ylabel(label)
            _scale(axes, of, name)
            axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
        return drawn


def _scale(axes: "Axes", of: Measurer, name: str) -> None:
    """Delays on a logarithmic axis with plain numbers, throughput from zero, and room above the highest box."""
    found = [
        end
        for bottleneck in of.experiment.setup["bottleneck"]
        for tsq in _COLOURS
        for end in _percentiles(of, bottleneck, tsq, name)
        if end
    ]
    if found and "RTT" in name:
        axes.set_yscale("log")
        axes.set_ylim(min(found) / 1.8, max(found) * 1.8)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if max(found) < 10 * min(found) else "")
    elif found:
        axes.set_ylim(0, 1.1 * max(found))


def _candle(axes: "Axes", middle: float, ends: Sequence[float | None], colour: str, label: str) -> None:
    low, line, high = ends
    if low is None or line is None or high is None:
        return
    axes.bar(middle, high - low, width=_WIDTH, bottom=low, color=colour, linewidth=3, edgecolor=colour, label=label)
    # A box may be thinner than a line; its edge is wide enough to show its colour on both sides of this line.
    axes.hlines(line, middle - _WIDTH / 2, middle + _WIDTH / 2, color=style.ink_on(colour), linewidth=1)


def _percentiles(of: Measurer, bottleneck: str, tsq: str, name: str) -> list[float | None]:
    """Means over the runs."""
    where = {**(of.own.where or {}), "bottleneck": bottleneck, "tsq": tsq}
    found = [of.of_cell(where, f"{name} {percentile}") for percentile in _PERCENTILES]
    return [measured.mean if measured else None for measured in found]


def time_text(of: Measurer) -> str:
    """Figures 6 and 7: throughput and TCP RTT of both congestion controls in the first run."""
    curves = {(cc, what): dict(_binned(_curve(of, cc, what))) for cc in _CONTROLS for what in _SHOWN}
    times = sorted({t for curve in curves.values() for t in curve})
    heading = ["s", *(f"{_CONTROLS[cc][0]} {_SHOWN[what][0]}" for cc, what in curves)]
    rows = [[f"{t:g}", *(_figure(curve.get(t)) for curve in curves.values())] for t in times]
    return f"Means over each {_TEXT_STEP_S:g} s of the first run, by their end; four uploads.\n\n" + table(
        heading, rows
    )


def time_picture(of: Measurer) -> "Figure":
    """Figures 6 and 7: throughput above, TCP RTT below."""
    with style.styled():
        drawn = style.new(6.4, 4.4)
        for place, (what, (_, label)) in enumerate(_SHOWN.items()):
            axes = drawn.add_subplot(len(_SHOWN), 1, place + 1)
            for cc, (title, colour) in _CONTROLS.items():
                curve = _curve(of, cc, what)
                axes.plot(
                    [t for t, _ in curve], [value for _, value in curve], color=colour, linewidth=1.2, label=title
                )
            axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
            axes.set_ylabel(label)
            if place == 0:
                axes.set_title(of.experiment.artefact, loc="left", fontsize=10)
                axes.legend(loc="lower right", ncols=2)
        axes.set_xlabel("time, s")
        return drawn


_SHOWN = {"goodput_mbps": ("Mbit/s", "throughput, Mbit/s"), "srtt_ms": ("ms", "TCP RTT, ms")}


def _curve(of: Measurer, cc: str, what: str) -> Curve:
    result: Any = of.result({**(of.own.where or {}), "cc": cc})
    return samples.over_time(result.runs[0], what)


def _binned(curve: Curve) -> Curve:
    bins: dict[float, list[float]] = {}
    for t, value in curve:
        # A sample belongs to the time before it.
        end = _TEXT_STEP_S * -(-(t - 1e-9) // _TEXT_STEP_S)
        bins.setdefault(end, []).append(value)
    return [(end, sum(values) / len(values)) for end, values in sorted(bins.items())]


def _figure(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.2f}"
