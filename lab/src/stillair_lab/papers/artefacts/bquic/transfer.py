"""Figures 3 to 6 of the paper on bursty QUIC: a recorded transfer with each variant."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stillair.text.table import table
from stillair_lab.papers.artefacts import style
from stillair_lab.papers.artefacts.bquic import table3_variations
from stillair_lab.papers.artefacts.bquic.variants import COLOURS, TITLES
from stillair_lab.papers.artefacts.intervals import named
from stillair_lab.papers.measure import quic
from stillair_lab.papers.measure.measurer import Measurer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CAMPAIGN = "one-run"
# Both variants are past slow start by then.
STRETCH_S = 1.0
STRETCH_LENGTH_S = 0.02
# The peaks of the paper's histogram are at 30, 100 and 500 us.
_LONGEST_US = 1_000


def flow(of: Measurer, proto: str) -> Mapping[str, Any]:
    """The connection of the single run."""
    result = (of.outcomes[_CAMPAIGN].results or {})[f"{of.own.where['client'] if of.own.where else ''}, {proto}"]
    found: Mapping[str, Any] = next(iter(result.runs[0]["quic"].values()))
    return found


def _title(of: Measurer) -> str:
    results = of.outcomes[_CAMPAIGN].results or {}
    run = next(iter(results.values())).runs[0]
    return f"{of.experiment.artefact}: {(of.own.where or {})['client']}, run {run['run']} of seed {run['seed']}"


def _text(of: Measurer, metrics: Mapping[str, tuple[str, int]], said: str) -> str:
    """A row for each variant over all runs."""
    rows = [
        [
            TITLES[proto],
            *(named(of.of_cell({**(of.own.where or {}), "proto": proto}, m), d) for m, (_, d) in metrics.items()),
        ]
        for proto in TITLES
    ]
    return f"{said}\n\n" + table(["over all runs", *(heading for heading, _ in metrics.values())], rows)


def window_text(of: Measurer) -> str:
    """Time of slow-start exit and the window then, over all runs."""
    metrics = {"time of slow-start exit": ("exit s", 3), "congestion window at slow-start exit": ("packets", 1)}
    return _text(of, metrics, f"The picture: {_title(of)}.")


def window_picture(of: Measurer) -> "Figure":
    """Figure 3: the congestion window over time."""
    with style.styled():
        drawn, axes = _one(of)
        for proto, title in TITLES.items():
            own = flow(of, proto)
            axes.plot(*quic.window(own), color=COLOURS[proto], linewidth=1.2, label=title)
            left = own["slow_start_exit_s"]
            if left is not None:
                height = own["slow_start_exit_cwnd_bytes"] / quic.PACKET
                axes.plot([left], [height], "o", color=COLOURS[proto], markersize=5)
        axes.set_xlabel("time, s (dots: slow start ends)")
        axes.set_ylabel("congestion window, packets")
        axes.legend(loc="lower right")
        return drawn


def sequence_text(of: Measurer) -> str:
    """ACKs within 20 ms and the variation of the gaps, over all runs."""
    metrics = {"ACKs in 20 ms": ("ACKs in 20 ms", 1), "coefficient of variation of packet gaps": ("cv of gaps", 2)}
    rows = []
    for proto, title in TITLES.items():
        sent, back = quic.stretch(flow(of, proto), STRETCH_S, STRETCH_LENGTH_S)
        rows.append([title, str(len(sent[0])), str(len(back[0]))])
    said = f"The picture: {_title(of)}, 20 ms from second {STRETCH_S:g} on."
    return _text(of, metrics, said) + "\n" + table(["in the picture", "packets", "ACKs"], rows)


def sequence_picture(of: Measurer) -> "Figure":
    """Figure 4: packets sent and ACKs received during 20 ms."""
    with style.styled():
        drawn = style.new(7.2, 3.4)
        axes = drawn.subplots(1, 2, sharey=True)
        for place, (proto, title) in enumerate(TITLES.items()):
            sent, back = quic.stretch(flow(of, proto), STRETCH_S, STRETCH_LENGTH_S)
            axes[place].plot(*sent, ".", color=COLOURS[proto], markersize=4, label="packets sent")
            axes[place].plot(*back, "x", color=style.INK, markersize=4, label="ACKs received")
            axes[place].set_xlabel(f"ms after {STRETCH_S:g} s")
            axes[place].set_title(title, loc="left", fontsize=9)
            axes[place].set_xlim(0, 1000 * STRETCH_LENGTH_S)
            axes[place].legend(loc="center left")
        axes[0].set_ylabel("packet number from the first one here")
        drawn.suptitle(_title(of), x=0.01, ha="left", fontsize=10)
        return drawn


def gaps_text(of: Measurer) -> str:
    """Short gaps over all runs, and the peaks of the histograms."""
    metrics = {
        "share of inter-packet times below 100 us": ("below 100 us %", 1),
        "first mode": ("first peak us", 0),
        "second mode": ("second peak us", 0),
    }
    own = _text(of, metrics, f"The picture: {_title(of)}; times between packets as a capture at the sender has them.")
    return "\n\n".join(part.rstrip() for part in (own, table3_variations.gaps(of)) if part)


def gaps_picture(of: Measurer) -> "Figure":
    """Figure 5: gaps between packets, as a histogram and as a CDF."""
    with style.styled():
        drawn = style.new(7.2, 3.2)
        axes = drawn.subplots(1, 2)
        for proto, title in TITLES.items():
            axes[0].step(*quic.histogram(flow(of, proto)), where="mid", color=COLOURS[proto], linewidth=1.1)
            axes[1].plot(*quic.cumulated(flow(of, proto)), color=COLOURS[proto], linewidth=1.2, label=title)
        axes[0].set_yscale("symlog", linthresh=1)
        axes[0].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes[0].set_ylabel("share of gaps by 10 us, %")
        axes[1].set_ylabel("share of gaps that are shorter, %")
        axes[1].set_ylim(0, 102)
        axes[1].legend(loc="lower right")
        for one in axes:
            one.set_xlim(0, _LONGEST_US)
            one.set_xlabel("time between packets, us")
        drawn.suptitle(_title(of), x=0.01, ha="left", fontsize=10)
        return drawn


def rate_text(of: Measurer) -> str:
    """Mean and standard deviation of the throughput over all runs."""
    metrics = {"throughput": ("Mbit/s", 2), "standard deviation of throughput in 50 ms intervals": ("sd in 50 ms", 2)}
    own = _text(of, metrics, f"The picture: {_title(of)}.")
    return "\n\n".join(part.rstrip() for part in (own, table3_variations.spreads(of)) if part)


def rate_picture(of: Measurer) -> "Figure":
    """Figure 6: throughput in 50 ms intervals."""
    with style.styled():
        drawn, axes = _one(of)
        for proto, title in TITLES.items():
            own = flow(of, proto)
            label = f"{title}, mean {own['throughput_mbps']:.1f}"
            axes.plot(*quic.steps(own), color=COLOURS[proto], linewidth=1.2, label=label)
        axes.set_ylim(0, 1.15 * axes.get_ylim()[1])
        axes.set_xlabel("time, s")
        axes.set_ylabel("throughput by 50 ms, Mbit/s")
        axes.legend(loc="upper right", ncols=2)
        return drawn


def _one(of: Measurer) -> "tuple[Figure, Axes]":
    drawn = style.new(6.4, 3.2)
    axes = drawn.add_subplot()
    axes.set_title(_title(of), loc="left", fontsize=10)
    return drawn, axes
