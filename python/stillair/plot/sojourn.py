"""Packet delay by layer over its percentiles, and the layers of slow packets with their causes."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from stillair.plot import style
from stillair.plot.data import Titled, UndrawnError
from stillair.plot.style import colour
from stillair.results import sojourn
from stillair.results.sojourn import Delays
from stillair.text.table import natural

LAYERS = ("wire", "air", "tries", "contention", "hardware", "driver", "qdisc", "reorder", "receiver")
"""Stacking order: parts that no setting can reduce lie lowest. Time in sockets precedes the drawn delay."""

_CAUSES = (
    "own", "station", "others", "neighbour", "noise", "management", "failed", "slow_rate", "backoff", "idle",
    "power_save", "shaper", "pacing", "serialise", "propagate", "missing", "wake", "small_queues", "window",
    "peer_window", "deferral", "send_buffer", "block_ack_session", "block_ack_window",
)  # fmt: skip
_PERCENTILES = (*range(1, 100), 99.5, 99.9)
_MOST = 6
# Label parts of at least this share of the longest bar.
_LABELLED = 0.07


def _shown(results: Sequence[Titled], plotted: str) -> list[tuple[str, Delays]]:
    """Station directions with the longest p99 in the first run of each result; flows if there are no stations."""
    found = []
    for title, result in results:
        all_of = [delays for delays in sojourn.of_run(result.runs[0]) if delays.packets()]
        of = "station" if any(delays.of == "station" for delays in all_of) else "flow"
        for delays in all_of:
            if delays.of == of:
                name = " ".join(filter(None, (delays.name, delays.way.replace("_", " "))))
                found.append((f"{title}: {name}" if len(results) > 1 else name, delays))
    if not found:
        raise UndrawnError(
            f"{plotted}: nothing to draw: no packet was followed; ask for it with --set record.sojourn=true"
        )
    longest = sorted(found, key=lambda one: -one[1].around(99).delay_ms)[:_MOST]
    order = natural([name for name, _ in longest])
    return sorted(longest, key=lambda one: order.index(one[0]))


def layers(figure: Figure, results: Sequence[Titled]) -> None:
    """Delay by layer over the percentiles, stacked, with a panel for each station and direction."""
    shown = _shown(results, "sojourn")
    figure.set_size_inches(7.0, 0.8 + 2.0 * len(shown))
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    used: set[str] = set()
    for axes, (name, delays) in zip(panels, shown, strict=True):
        around = [delays.around(p) for p in _PERCENTILES]
        columns = []
        for layer in LAYERS:
            columns.append([sum(ms for (at, _), ms in a.parts_ms.items() if at == layer) for a in around])
            used |= {layer} if any(columns[-1]) else set()
        axes.stackplot(_PERCENTILES, columns, colors=[colour(LAYERS.index(layer)) for layer in LAYERS])
        axes.set_ylabel(f"{name}\n(ms)")
        axes.set_xlim(1, 99.9)
        axes.set_ylim(bottom=0)
    panels[-1].set_xlabel("percentile of the delay")
    drawn = [layer for layer in LAYERS if layer in used][::-1]
    style.legend(figure, [Patch(facecolor=colour(LAYERS.index(layer))) for layer in drawn], drawn)


def flame(figure: Figure, results: Sequence[Titled]) -> None:
    """Packets at the 99th percentile as bars: layers below, and above each layer its causes."""
    shown = _shown(results, "sojourn_p99")
    figure.set_size_inches(9.0, 0.9 + 1.0 * len(shown))
    axes = figure.subplots()
    longest = max(delays.around(99).delay_ms for _, delays in shown)
    used: set[str] = set()
    for row, (_, delays) in enumerate(reversed(shown)):
        left = 0.0
        parts = delays.around(99).parts_ms
        for layer in reversed(LAYERS):
            of = {cause: ms for (at, cause), ms in parts.items() if at == layer}
            whole = sum(of.values())
            if not whole:
                continue
            axes.barh(
                row, whole, left=left, height=0.38, color=colour(LAYERS.index(layer)), edgecolor="white", linewidth=0.5
            )
            if whole > _LABELLED * longest:
                axes.text(left + whole / 2, row, layer, ha="center", va="center", fontsize=8, color="white")
            for cause, ms in of.items():
                used.add(cause)
                shade = colour(len(LAYERS) + _CAUSES.index(cause))
                axes.barh(row + 0.38, ms, left=left, height=0.38, color=shade, edgecolor="white", linewidth=0.5)
                if ms > _LABELLED * longest:
                    axes.text(left + ms / 2, row + 0.38, cause, ha="center", va="center", fontsize=7)
                left += ms
    axes.set_yticks([row + 0.19 for row in range(len(shown))], [name for name, _ in reversed(shown)])
    axes.set_xlabel("where packets at the 99th percentile were (below), and why (above), ms")
    axes.grid(visible=False, axis="y")
    drawn = [cause for cause in _CAUSES if cause in used]
    style.legend(figure, [Patch(facecolor=colour(len(LAYERS) + _CAUSES.index(c))) for c in drawn], drawn)
