"""Pictures of samples from the first run of each result: queues by layer, and the state of sockets."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stillair.plot import data, downsample, style
from stillair.plot.data import Titled, UndrawnError
from stillair.plot.style import LINES, colour
from stillair.results import sampled
from stillair.results.sampled import Occupancy
from stillair.text.table import natural

LAYERS = ("hardware", "driver", "qdisc", "wire", "reorder")
"""Layers in stacking order: closest to the air lowest, received packets on top."""

_SOCKET = "socket"
"""The layer with its own panel: a backlogged sender holds megabytes, which would hide all queues."""

_MOST_INTERFACES = 4
_OVER = ("UNCONN", "TIME-WAIT")
_SHOWN = ("cwnd", "srtt_ms", "pacing_mbps", "delivery_mbps")
_LABELS = ("cwnd\n(segments)", "smoothed RTT\n(ms)", "pacing rate\n(Mbit/s)", "delivery rate\n(Mbit/s)")


def occupancy(figure: Figure, results: Sequence[Titled]) -> None:
    """Stacked queues of the fullest interfaces, and data in sockets; one column per result."""
    samples = [sampled.occupancy(next(result.runs_with_series())) for _, result in results]
    thinned: set[str] = set()
    names, senders = _fullest(samples, queued=True), _fullest(samples, queued=False)
    if not names and not senders:
        return
    rows = len(names) + bool(senders)
    figure.set_size_inches(7.0, 1.2 + 1.9 * rows)
    grid = figure.subplots(rows, len(samples), sharex=True, sharey="row", squeeze=False)
    used = [layer for layer in LAYERS if any(q.layer == layer for found in samples for q in found.queues)]
    for column, ((title, _), found) in enumerate(zip(results, samples, strict=True)):
        for row, name in enumerate(names):
            axes = grid[row, column]
            thinned |= _stack(axes, found, name, used)
            if column == 0:
                axes.set_ylabel(f"{name}\n(kB)")
        if senders:
            thinned |= _unsent(grid[-1, column], found, senders)
        if len(results) > 1:
            grid[0, column].set_title(title)
        grid[-1, column].set_xlabel("time (s)")
    for axes in grid[:, 0]:
        # Panels of a row share their scale, which is only known when all are drawn.
        axes.set_ylim(bottom=0)
    if senders:
        grid[-1, 0].set_ylabel("unsent in\nsockets (kB)")
        grid[-1, -1].legend(loc="best", fontsize=8)
    downsample.say(figure, *sorted(thinned))
    if names:
        handles, labels = grid[0, 0].get_legend_handles_labels()
        # From top to bottom, as stacked.
        style.legend(figure, handles[::-1], labels[::-1])


def sockets(figure: Figure, results: Sequence[Titled]) -> None:
    """Window, round-trip time and rates of each sender over time."""
    flows = natural(dict.fromkeys(name for _, result in results for name in sampled.sockets(result.runs[0])))
    if not flows:
        raise UndrawnError(
            "sockets: nothing to draw: no samples of sockets were recorded; ask for them with --set record.ss='100 ms'"
        )
    figure.set_size_inches(7.0, 7.0)
    panels = figure.subplots(len(_SHOWN), 1, sharex=True)
    thinned: set[str] = set()
    for number, (title, result) in enumerate(results):
        samples = sampled.sockets(result.runs[0])
        until = max((columns["t_s"][-1] for columns in samples.values() if columns["t_s"]), default=1)
        for flow in natural(samples):
            columns = samples[flow]
            look = {"color": colour(flows.index(flow)), "linestyle": LINES[number % len(LINES)], "linewidth": 1.0}
            for axes, name in zip(panels, _SHOWN, strict=True):
                rows = zip(columns["t_s"], columns["state"], columns[name], strict=True)
                # A socket has no round-trip time and rates before its first measurement, and nothing at its
                # end.
                kept = [(t, value) for t, state, value in rows if value and state not in _OVER]
                drawn = downsample.envelope([t for t, _ in kept], [value for _, value in kept], until)
                axes.plot(drawn.x, drawn.y, label=data.label(results, title, flow), **look)
                thinned |= {downsample.said_of_lines(until)} if drawn.thinned else set()
    for axes, text in zip(panels, _LABELS, strict=True):
        axes.set_ylabel(text)
        axes.set_ylim(bottom=0)
    panels[-1].set_xlabel("time (s)")
    downsample.say(figure, *sorted(thinned))
    style.legend(figure, *panels[0].get_legend_handles_labels())


def _fullest(samples: Sequence[Occupancy], *, queued: bool) -> list[str]:
    """Interfaces with the highest mean occupancy, in queues or in sockets, without empty ones."""
    means: dict[str, float] = {}
    for found in samples:
        for queue in found.queues:
            if (queue.layer != _SOCKET) == queued:
                means[queue.interface] = means.get(queue.interface, 0.0) + sum(queue.bytes) / max(len(queue.bytes), 1)
    holding = [name for name in sorted(means) if means[name]]
    return sorted(holding, key=lambda name: means[name], reverse=True)[:_MOST_INTERFACES]


def _unsent(axes: Axes, found: Occupancy, interfaces: Sequence[str]) -> set[str]:
    thinned = False
    for number, name in enumerate(interfaces):
        held = [queue.bytes for queue in found.queues if (queue.interface, queue.layer) == (name, _SOCKET)]
        if held:
            drawn = downsample.envelope(found.t_s, [octets / 1000 for octets in held[0]], found.t_s[-1])
            axes.plot(drawn.x, drawn.y, label=name, color=colour(number), linewidth=0.9)
            thinned |= drawn.thinned
    return {downsample.said_of_lines(found.t_s[-1])} if thinned else set()


def _stack(axes: Axes, found: Occupancy, interface: str, layers: Sequence[str]) -> set[str]:
    by_layer = {queue.layer: queue.bytes for queue in found.queues if queue.interface == interface}
    nothing = [0] * len(found.t_s)
    columns = [[octets / 1000 for octets in by_layer.get(layer, nothing)] for layer in layers]
    colours = [colour(LAYERS.index(layer)) for layer in layers]
    drawn = downsample.stack(found.t_s, columns)
    axes.stackplot(drawn.t_s, drawn.columns, labels=layers, colors=colours)
    downsample.band(axes, drawn)
    axes.set_xlim(0, found.t_s[-1])
    return {downsample.said_of_stacks(drawn.each, found.t_s[-1] / len(found.t_s))} if drawn.each > 1 else set()
