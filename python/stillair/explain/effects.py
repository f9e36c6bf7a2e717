"""Effects of a change on each flow and each direction of a station, and the resulting verdict."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stillair.explain import losses
from stillair.results import sojourn
from stillair.results.statistics import Interval, interval

Run = Mapping[str, Any]
Resolved = Mapping[str, Any]

MS = 1.0
PART = 0.1
"""Smallest clear change of a delay: in ms, and as a share."""
LOSS = 0.005
MOS = 0.1
GOODPUT = 0.1
"""Smallest clear change of a loss rate (0 to 1), of a MOS, and of a goodput (as a share)."""
_LEAST_MBPS = 0.05
_PRICE = 0.25
"""A goodput loss below this share is an acceptable price and does not make a change worse."""

RULE = (
    "A figure moves clearly if the 95 % interval over the runs excludes no change, by at least 10 % and 1 ms of a"
    " delay, 0.5 % of packets lost, 0.1 MOS, or 10 % of a goodput. 'helps': something is clearly better and nothing"
    " worse; 'makes it worse': the reverse; 'mixed': both. Not counted as worse: a goodput that falls by less than"
    " 25 %, and, if a call, video, ping, page or goodput is better, packet delays of transfers and station directions."
)
"""The rule of the headline verdict, as the page prints it."""

_FELT = ("voip", "video", "ping", "web", "udp")
"""Kinds whose delay a user or an application notices. Transfers count by goodput."""
_WAYS = {"down": "packets to", "up": "packets from", "round_trip": "round trips of"}


class Figure(NamedTuple):
    """One clearly moved figure: means over the runs. `after` is `None` if nothing arrives with the change."""

    words: str
    unit: str
    before: float | None
    after: float | None
    is_better: bool
    runs: tuple[int, int] = (1, 1)
    """Runs that have the figure with and without the change, and all runs."""
    packets: tuple[int, int] | None = None
    """Packets over these runs without and with the change, for losses; `None` if not counted."""


class Moved(NamedTuple):
    """A flow, or one direction of a station, that a change moves clearly."""

    name: str
    kind: str
    """A key of `losses.KINDS`, or `station`."""
    figures: Sequence[Figure]

    @property
    def side(self) -> str:
        """`better`, `worse` or `mixed`."""
        sides = {figure.is_better for figure in self.figures}
        return "mixed" if len(sides) > 1 else "better" if True in sides else "worse"

    @property
    def weight(self) -> float:
        """Size of the largest move, as the logarithm of a ratio."""
        return max(abs(_log(figure)) for figure in self.figures)

    def counts(self, figure: Figure) -> bool:
        """Returns true if users notice the figure: not the packet delay of a transfer or of a station's direction."""
        return self.kind in _FELT or figure.unit != "ms"

    def is_against(self, figure: Figure) -> bool:
        """Returns true if the figure makes a change worse and exceeds the acceptable price."""
        if figure.is_better:
            return False
        is_price = figure.unit == "Mbit/s" and (figure.after or 0.0) >= (1 - _PRICE) * (figure.before or 0.0)
        return not is_price


def _log(figure: Figure) -> float:
    if figure.before is None or figure.after is None:
        return math.inf
    floor = {"ms": 0.1, "%": 0.5, "": 1.0}.get(figure.unit, _LEAST_MBPS)
    return math.log(max(figure.after, floor) / max(figure.before, floor))


def all_of(before: Sequence[Run], after: Sequence[Run], resolved: Resolved) -> list[Moved]:
    """Returns everything that a change clearly moves: calls, videos, pings and pages first, the largest moves first."""
    made = [*_flows(before, after, resolved), *_stations(before, after)]
    order = [*_FELT, "tcp", "quic", "station"]
    found = [one for one in made if one.figures]
    return sorted(found, key=lambda one: (order.index(one.kind), -one.weight))


def verdict(moved: Sequence[Moved]) -> str:
    """`helps`, `worse`, `mixed`, or `unsure` if nothing moves clearly. See `RULE`."""
    better = [one.counts(figure) for one in moved for figure in one.figures if figure.is_better]
    against = [one.counts(figure) for one in moved for figure in one.figures if one.is_against(figure)]
    worse = [counts for counts in against if counts or not any(better)]
    if better and worse:
        return "mixed"
    return "helps" if better else "worse" if worse else "unsure"


def felt(moved: Sequence[Moved]) -> float:
    """Sum of the moves that users notice, as logarithms; positive if the change is good."""
    sums = (_good(figure) for one in moved if one.kind in _FELT for figure in one.figures)
    return sum(min(5.0, max(-5.0, good)) for good in sums)


def _good(figure: Figure) -> float:
    return abs(_log(figure)) if figure.is_better else -abs(_log(figure))


def _flows(before: Sequence[Run], after: Sequence[Run], resolved: Resolved) -> Iterator[Moved]:
    groups = ("flows", "pings", "web")
    names = dict.fromkeys(name for run in (*before, *after) for group in groups for name in run.get(group, {}))
    for name in names:
        kind = losses.kind_of(name, before[0], resolved)
        # A ping has a round-trip time and a page a load time; both are in groups of their own.
        group = {"ping": "pings", "web": "web"}.get(kind, "flows")
        yield Moved(name, kind, list(_figures(name, kind, group, before, after)))


def _figures(name: str, kind: str, group: str, before: Sequence[Run], after: Sequence[Run]) -> Iterator[Figure]:
    scale = 1000.0 if kind == "web" else 1.0
    keys = {"ping": ("p95_ms", "p99_ms"), "web": ("p95_s", "p99_s")}.get(kind, ("delay_p95_ms", "delay_p99_ms"))
    sides = (before, after)
    for words, key in zip(("p95", "p99"), keys, strict=True):
        yield from _delay(words, *([_of(run, group, name, key, scale) for run in runs] for runs in sides))
    if kind not in ("tcp", "quic", "web"):
        for figure in _loss(*([losses.part(name, run) for run in runs] for runs in sides)):
            old, new = (losses.packets(name, runs) for runs in sides)
            yield figure if old is None or new is None else figure._replace(packets=(old, new))
    if kind == "voip":
        yield from _mos(*([_of(run, "voip", name, "mos") for run in runs] for runs in sides))
    if kind in ("tcp", "quic", "udp", "video"):
        yield from _goodput(*([_of(run, "flows", name, "goodput_mbps") for run in runs] for runs in sides))


def _of(run: Run, group: str, name: str, key: str, scale: float = 1.0) -> float | None:
    value = run.get(group, {}).get(name, {}).get(key)
    return None if value is None else scale * value


def _stations(before: Sequence[Run], after: Sequence[Run]) -> Iterator[Moved]:
    sides = [
        [{(d.name, d.way): d for d in sojourn.in_network(sojourn.of_run(run)) if d.of == "station"} for run in runs]
        for runs in (before, after)
    ]
    for name, way in dict.fromkeys(key for side in sides for run in side for key in run):
        figures = list[Figure]()
        for words, percentile in (("p95", 95.0), ("p99", 99.0)):
            values = ([_late(run.get((name, way)), percentile) for run in side] for side in sides)
            figures += _delay(words, *values)
        yield Moved(f"{_WAYS[way]} {name}", "station", figures)


def _late(delays: sojourn.Delays | None, percentile: float) -> float | None:
    return delays.around(percentile).delay_ms if delays is not None and delays.packets() else None


Values = Sequence[float | None]


def _gone(words: str, unit: str, before: Values, after: Values) -> Figure | None:
    """A figure that every run has on one side and no run on the other."""
    old, new = ([one for one in side if one is not None] for side in (before, after))
    if len(old) == len(before) and not new and old:
        return Figure(words, unit, _mean(old), None, is_better=False)
    if len(new) == len(after) and not old and new:
        return Figure(words, unit, None, _mean(new), is_better=True)
    return None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _pairs(before: Values, after: Values) -> list[tuple[float, float]]:
    both = zip(before, after, strict=True)
    return [(a, b) for a, b in both if a is not None and b is not None]


def _excludes(by: Interval) -> bool:
    return by.low > 0 or by.high < 0


def _delay(words: str, before: Values, after: Values) -> Iterator[Figure]:
    if (gone := _gone(words, "ms", before, after)) is not None:
        yield gone
        return
    pairs = _pairs(before, after)
    if len(pairs) < 2:
        return
    old, new = (_mean(side) for side in zip(*pairs, strict=True))
    by = interval([b - a for a, b in pairs])
    # Delays vary by factors, so if they differ much between runs, use the interval of the ratio.
    ratio = interval([math.log(max(b, 1e-6) / max(a, 1e-6)) for a, b in pairs])
    sure = _excludes(by) or (_excludes(ratio) and by.mean * ratio.mean > 0)
    if sure and abs(by.mean) >= max(MS, PART * old):
        yield Figure(words, "ms", old, new, by.mean < 0, (len(pairs), len(before)))


def _loss(before: Values, after: Values) -> Iterator[Figure]:
    yield from _by("lost", "%", before, after, (100.0, 100 * LOSS), more_is_better=False)


def _mos(before: Values, after: Values) -> Iterator[Figure]:
    yield from _by("MOS", "", before, after, (1.0, MOS), more_is_better=True)


def _goodput(before: Values, after: Values) -> Iterator[Figure]:
    pairs = _pairs(before, after)
    least = max(_LEAST_MBPS, GOODPUT * _mean([a for a, _ in pairs])) if pairs else _LEAST_MBPS
    yield from _by("goodput", "Mbit/s", before, after, (1.0, least), more_is_better=True)


def _by(
    words: str, unit: str, before: Values, after: Values, scale: tuple[float, float], *, more_is_better: bool
) -> Iterator[Figure]:
    """A figure whose difference counts, with its factor and smallest clear change."""
    pairs = [(scale[0] * a, scale[0] * b) for a, b in _pairs(before, after)]
    if len(pairs) < 2:
        return
    by = interval([b - a for a, b in pairs])
    if _excludes(by) and abs(by.mean) >= scale[1]:
        old, new = (_mean(side) for side in zip(*pairs, strict=True))
        yield Figure(words, unit, old, new, (by.mean > 0) == more_is_better, (len(pairs), len(before)))
