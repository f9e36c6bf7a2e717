"""Use of the air: a lane for each station, a box for each PPDU, followed by its acknowledgement."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from stillair.plot.data import Titled, UndrawnError
from stillair.plot.style import colour
from stillair.results import exchanges
from stillair.results.exchanges import Exchange, Exchanges
from stillair.text.table import natural

# No picture can show more boxes.
_MOST = 5000
# A box of at least this share of the width shows its number of frames.
_LABELLED = 0.018
_HEIGHT = 0.7
_ACK, _BEACON, _CONTROL, _COLLIDED = "#222222", "#8a8a8a", "#bdbdbd", "#d00000"


def airtime_timeline(figure: Figure, results: Sequence[Titled], window: tuple[int, int] | None = None) -> None:
    """Lanes of the first run of each result, and below them the channel's busy and idle times."""
    all_lanes = [(title, _within(result.runs[0], window)) for title, result in results]
    heights = [1.0 + 0.55 * (len(_lanes(found)) + len(_channels(found))) for _, found in all_lanes]
    figure.set_size_inches(11.0, sum(heights) + 0.4)
    grid = figure.subplots(len(all_lanes), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (title, found) in zip(grid, all_lanes, strict=True):
        _draw(axes, found)
        if len(all_lanes) > 1:
            axes.set_title(title, loc="left")
    grid[-1].set_xlabel(
        "time (ms); in a box its frames, before them those that came whole if not all did, r1: first retry"
    )
    legend = [
        Patch(facecolor=colour(0), label="to a station"),
        Patch(facecolor=colour(0), alpha=0.45, label="from a station"),
        Patch(facecolor=_ACK, label="ACK, Block Ack"),
        Patch(facecolor=_CONTROL, label="management, request"),
        Patch(facecolor=_BEACON, label="beacon"),
        Patch(facecolor="white", edgecolor=_COLLIDED, hatch="////", label="collision"),
    ]
    figure.legend(handles=legend, loc="outside upper center", ncols=len(legend), fontsize=8)


def _within(run: exchanges.Run, window: tuple[int, int] | None) -> Exchanges:
    found = exchanges.of_run(run)
    if found is None:
        raise UndrawnError(
            "airtime-timeline: nothing to draw: no exchange was recorded; ask for them with"
            " --set record.air='10 s..10.1 s'"
        )
    begin, end = window or (found.from_ns, found.until_ns)
    kept = [e for e in found.all if e.end_ns > begin and e.start_ns < end]
    if not kept:
        asked, there = (f"{a / 1e9:g} s..{b / 1e9:g} s" for a, b in ((begin, end), (found.from_ns, found.until_ns)))
        raise UndrawnError(
            f"airtime-timeline: nothing to draw: no exchange was recorded in {asked}; recorded is what began in {there}"
        )
    if len(kept) > _MOST:
        raise UndrawnError(
            f"airtime-timeline: {len(kept)} exchanges in {(end - begin) / 1e6:g} ms, {_MOST} at most can be drawn;"
            " choose a shorter --window"
        )
    return found._replace(from_ns=begin, until_ns=end, all=kept)


def _lanes(found: Exchanges) -> list[str]:
    """Lanes from top to bottom: access points, then stations, without empty ones."""
    used = {_lane(found, exchange) for exchange in found.all}
    return [name for name in (*found.access_points, *natural(found.stations)) if name in used]


def _channels(found: Exchanges) -> list[str]:
    """Channels in use, in the order of their lanes."""
    lanes = {name: at for at, name in enumerate(_lanes(found))}
    in_order = sorted(found.all, key=lambda exchange: lanes[_lane(found, exchange)])
    return list(dict.fromkeys(exchange.channel for exchange in in_order))


def _lane(found: Exchanges, exchange: Exchange) -> str:
    """Lane of an exchange: the station's, or the access point's for group-addressed frames."""
    return exchange.receiver if exchange.sender in found.access_points and exchange.receiver else exchange.sender


def _draw(axes: Axes, found: Exchanges) -> None:
    lanes, channels = _lanes(found), _channels(found)
    width = found.until_ns - found.from_ns
    for exchange in found.all:
        name = _lane(found, exchange)
        row = len(channels) + len(lanes) - 1 - lanes.index(name)
        _boxes(axes, exchange, row, _fill(found, exchange))
        # The lowest lanes show each channel: white is idle time or back-off.
        _boxes(axes, exchange, len(channels) - 1 - channels.index(exchange.channel), ("#6f7b87", 1.0))
        if exchange.airtime_ns > _LABELLED * width and exchange.kind in ("single", "aggregate"):
            axes.text(
                (exchange.start_ns + exchange.airtime_ns / 2) / 1e6, row, _label(exchange), ha="center", va="center",
                fontsize=7, clip_on=True, color="black" if exchange.collided or exchange.sender == name else "white",
            )  # fmt: skip
    axes.set_xlim(found.from_ns / 1e6, found.until_ns / 1e6)
    air = ["air"] if len(channels) == 1 else [f"air of {channel}" for channel in channels]
    rows = [*lanes, *air]
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), rows[::-1])
    axes.grid(visible=False, axis="y")


def _fill(found: Exchanges, exchange: Exchange) -> tuple[str, float]:
    """Colour and opacity of a PPDU's box."""
    if exchange.kind == "beacon":
        return _BEACON, 1.0
    if exchange.kind in ("bar", "management"):
        return _CONTROL, 1.0
    up = exchange.sender not in found.access_points
    station = exchange.sender if up else exchange.receiver
    # Index by name, as in the summaries, so that a station has the same colour in all pictures.
    number = natural(found.stations).index(station) if station in found.stations else 0
    return colour(number), 0.45 if up else 1.0


def _label(exchange: Exchange) -> str:
    """Number of frames, preceded by the number received if some were lost, and the retry number."""
    some = f"{exchange.received}/" if exchange.received != exchange.frames else ""
    again = f" r{exchange.attempt}" if exchange.attempt else ""
    return f"{some}{exchange.frames}{again}"


def _boxes(axes: Axes, exchange: Exchange, row: int, fill: tuple[str, float]) -> None:
    start, length = exchange.start_ns / 1e6, exchange.airtime_ns / 1e6
    shade, opacity = fill
    box = Rectangle((start, row - _HEIGHT / 2), length, _HEIGHT, facecolor=shade, alpha=opacity, linewidth=0)
    axes.add_patch(box)
    if exchange.collided:
        axes.add_patch(
            Rectangle(
                (start, row - _HEIGHT / 2),
                length,
                _HEIGHT,
                fill=False,
                edgecolor=_COLLIDED,
                hatch="////",
                linewidth=0.6,
            )
        )
    elif exchange.attempt:
        axes.add_patch(
            Rectangle((start, row - _HEIGHT / 2), length, _HEIGHT, fill=False, edgecolor="black", linewidth=0.9)
        )
    answer = exchange.answer_ns()
    if answer:
        begin, end = answer
        axes.add_patch(
            Rectangle((begin / 1e6, row - _HEIGHT / 2), (end - begin) / 1e6, _HEIGHT, facecolor=_ACK, linewidth=0)
        )
