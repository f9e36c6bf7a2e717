"""The compared quantities, from a kernel's file and from a simulated run, after the warm-up."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from stillair_lab.validate.wifi.measured import MINSTREL, Measurement, Setup
from stillair_lab.validate.wifi.outcome import Outcome, Station, Tcp
from stillair_lab.validate.wifi.units import TOTAL, Unit, pinged, units

# The mean of fewer aggregates is not worth comparing; the files' own spread leaves them out, too.
_FEWEST_AGGREGATES = 20
# If stations starve, further ranks have next to nothing.
_RANKS = 3

# The files' definition of the recovery from a step.
_BEFORE_S, _AFTER_S, _WINDOW_S, _RECOVERED = 5.0, 20.0, 0.5, 0.9
_TINY = 1e-9

_OWN_EDCA = "EDCA and collisions are the simulated radio's own"
_CHANCE = "who starves without airtime fairness is chance, and the pull loop that decides is the simulated driver's own"
_AGGREGATES_COUNT = "recovery depends on what gives a frame up, here aggregates and with ath9k tries by the hardware"
_ALONE = "one station has all"
_PINGS_ONLY = "only answers to pings go this way"


@dataclass(frozen=True)
class Item:
    """A quantity of a unit."""

    unit: str
    quantity: str
    kernel: Callable[[Measurement], float | None]
    model: Callable[[Outcome], float | None]
    spread: Sequence[str] = ()
    """Names of the quantity in a file's `spread`, one for each station of the unit."""
    not_judged: str = ""
    """Why it is not judged."""
    spread_in: float = 1.0
    """Scale factor for the numbers of `spread`."""


@dataclass(frozen=True)
class RateItem:
    """The rate that Minstrel uses most, in one direction of a unit."""

    unit: str
    quantity: str
    kernel: Callable[[Measurement], dict[str, float]]
    """Attempts by rate."""
    model: Callable[[Outcome], dict[str, float]]
    goodput: Item


def items(setup: Setup) -> Iterator[Item | RateItem]:
    """All compared quantities of a configuration, in order."""
    config = setup.config
    chance = "" if config.charge_tx and config.charge_rx else _CHANCE
    yield Item(
        TOTAL,
        "goodput_mbps",
        lambda of: of.number("results", "goodput_mbps"),
        lambda ran: ran.goodput_mbps,
        ["goodput_mbps"],
        chance,
    )
    loaded = [unit for unit in units(setup) if unit.flows]
    parts = sum(len(_ways(unit)) for unit in loaded)
    for unit in loaded:
        # A single unit with a single direction has everything.
        if parts > 1:
            yield from (_goodput(unit, way, chance) for way in _ways(unit))
        yield _share(unit, chance or ("" if sum(len(other.stations) for other in loaded) > 1 else _ALONE))
        for way in ("down", "up"):
            yield _frames(unit, way, chance or ("" if _carries(unit, way) else _PINGS_ONLY))
        for flow in unit.kinds("tcp_down", "tcp_up"):
            yield from _tcp(setup, unit, flow.kind, chance)
        if unit.mcs == MINSTREL:
            yield from (_main_rate(unit, way) for way in _ways(unit))
    if chance:
        yield from _ranks([station for unit in loaded for station in unit.stations])
    for station in pinged(setup):
        yield _ping(station, chance)
    if config.steps:
        yield from _step(setup)
    yield Item(TOTAL, "codel_drops", _codel_drops, lambda ran: float(ran.codel_drops), (), chance)
    yield Item(
        TOTAL,
        "collision_share_percent",
        lambda of: _percent(of.number("results", "collision_share_of_time")),
        lambda ran: _percent(ran.collision_share),
        (),
        _OWN_EDCA,
    )


def _ways(unit: Unit) -> list[str]:
    """Directions of a unit's loads."""
    return (["down"] if unit.kinds("udp", "tcp_down") else []) + (["up"] if unit.kinds("tcp_up") else [])


def _carries(unit: Unit, way: str) -> bool:
    """Returns true if this direction carries more than ping replies; TCP's ACKs count."""
    return bool(unit.kinds("tcp_down", "tcp_up")) or (way == "down" and bool(unit.kinds("udp")))


def _item(
    unit: Unit,
    quantity: str,
    kernel: Callable[[Measurement, str], float | None],
    model: Callable[[Station], float | None],
    spread: str = "",
    not_judged: str = "",
    spread_in: float = 1.0,
) -> Item:
    """A quantity that is the mean over the stations of a unit."""
    return Item(
        unit.name,
        quantity,
        lambda of: _mean(kernel(of, str(station)) for station in unit.stations),
        lambda ran: _mean(model(ran.stations[station]) for station in unit.stations),
        [f"sta{station} {spread}" for station in unit.stations] if spread else (),
        not_judged,
        spread_in,
    )


def _goodput(unit: Unit, way: str, not_judged: str) -> Item:
    kinds = [flow.kind for flow in unit.kinds(*(("udp", "tcp_down") if way == "down" else ("tcp_up",)))]

    def kernel(of: Measurement, station: str) -> float | None:
        return _sum(of.number("results", "stations", station, kind, "goodput_mbps") for kind in kinds)

    def model(ran: Station) -> float:
        if way == "up":
            return ran.tcp["tcp_up"].goodput_mbps
        # A station's total goodput is the sum of its UDP and TCP, in both directions.
        return ran.goodput_mbps - (ran.tcp["tcp_up"].goodput_mbps if "tcp_up" in ran.tcp else 0.0)

    spread = f"{kinds[0]} goodput_mbps" if len(kinds) == 1 else ""
    return _item(unit, f"goodput_{way}_mbps", kernel, model, spread, not_judged)


def _share(unit: Unit, not_judged: str) -> Item:
    return _item(
        unit,
        "airtime_share_percent",
        lambda of, station: _percent(of.number("results", "stations", station, "airtime", "share")),
        lambda ran: _percent(ran.airtime_share),
        "airtime share",
        not_judged,
        spread_in=100.0,
    )


def _frames(unit: Unit, way: str, not_judged: str) -> Item:
    def kernel(of: Measurement, station: str) -> float | None:
        air = ("results", "stations", station, f"air_{way}")
        enough = (of.number(*air, "aggregates") or 0) > _FEWEST_AGGREGATES
        return of.number(*air, "frames_per_aggregate") if enough else None

    def model(ran: Station) -> float | None:
        sent = ran.ways[way]
        return sent.mpdus / sent.ppdus if sent.ppdus else None

    return _item(unit, f"frames_{way}", kernel, model, f"air_{way} frames_per_aggregate", not_judged)


def _tcp(setup: Setup, unit: Unit, kind: str, not_judged: str) -> Iterator[Item]:
    way = kind.removeprefix("tcp_")

    def one(quantity: str, path: Sequence[str], model: Callable[[Tcp], float | None], spread: str = "") -> Item:
        return _item(
            unit,
            quantity,
            lambda of, station: of.number("results", "stations", station, kind, *path),
            lambda ran: model(ran.tcp[kind]),
            f"{kind} {spread}" if spread else "",
            not_judged,
        )

    yield one(f"srtt_median_{way}_ms", ("tcp_srtt_ms", "median"), lambda tcp: tcp.srtt_median_ms, "srtt median ms")
    yield one(f"cwnd_mean_{way}_pkts", ("cwnd_pkts", "mean"), lambda tcp: tcp.cwnd_mean_pkts, "cwnd mean")
    yield one(f"segments_per_ack_{way}", ("segments_per_ack",), lambda tcp: tcp.segments_per_ack, "segments_per_ack")
    yield one(f"retransmissions_{way}", ("retransmissions_from_warm",), lambda tcp: float(tcp.retransmissions))
    # Nothing is marked unless both ends use ECN.
    if setup.config.sysctl.get("net.ipv4.tcp_ecn") == 1:
        yield one(f"ce_delivered_{way}", ("delivered_ce_from_warm",), lambda tcp: float(tcp.ce_delivered))


def _main_rate(unit: Unit, way: str) -> RateItem:
    def kernel(of: Measurement) -> dict[str, float]:
        tried: dict[str, float] = {}
        for station in unit.stations:
            path = ("results", "stations", str(station), f"air_{way}", "by_rate")
            for rate in of.at(*path) or {}:
                tried[rate] = tried.get(rate, 0.0) + (of.number(*path, rate, "mpdus") or 0.0)
        return tried

    def model(ran: Outcome) -> dict[str, float]:
        tried: dict[str, float] = {}
        for station in unit.stations:
            for rate, frames in ran.stations[station].ways[way].by_rate.items():
                tried[rate] = tried.get(rate, 0.0) + frames
        return tried

    return RateItem(unit.name, f"main_rate_{way}", kernel, model, _goodput(unit, way, ""))


def _ranks(stations: Sequence[int]) -> Iterator[Item]:
    """If chance decides which stations starve: the shares by rank, whatever the station."""

    def kernel(of: Measurement, rank: int) -> float | None:
        shares = [of.number("results", "stations", str(station), "airtime", "share") for station in stations]
        return _percent(sorted((share or 0.0 for share in shares), reverse=True)[rank])

    def model(ran: Outcome, rank: int) -> float | None:
        return _percent(sorted((ran.stations[station].airtime_share for station in stations), reverse=True)[rank])

    for rank in range(min(_RANKS, len(stations))):
        yield Item(
            f"rank {rank + 1}",
            "airtime_share_by_rank_percent",
            lambda of, rank=rank: kernel(of, rank),  # type: ignore[misc]
            lambda ran, rank=rank: model(ran, rank),  # type: ignore[misc]
        )


def _step(setup: Setup) -> Iterator[Item]:
    """Effects of the first change of the loss table on station 1, as in `lab/scripts/mac80211/make_json.py`."""
    at = setup.config.steps[0].at_s
    slow = "" if setup.driver.counts_tries else _AGGREGATES_COUNT
    what: Sequence[tuple[str, str, Callable[[Outcome], float | None], str]] = (
        ("step_before_pkts_per_s", "mpdus_per_s_before", lambda ran: _rate(ran, at - _BEFORE_S, at), ""),
        ("step_after_pkts_per_s", "mpdus_per_s_after_20_s", lambda ran: _rate(ran, _AFTER_S, math.inf), ""),
        ("step_recovery_s", "recovery_s", lambda ran: _recovery(ran, at), slow),
    )
    for quantity, key, model, not_judged in what:
        spread = ["step recovery_s"] if key == "recovery_s" else []
        yield Item("sta1", quantity, lambda of, key=key: of.number("results", "step", key), model, spread, not_judged)  # type: ignore[misc]


def _between(ran: Outcome, first: float, last: float) -> list[float]:
    """Datagrams in the steps that start at or after `first` and end by `last`."""
    numbered = enumerate(ran.datagrams)
    slack = ran.step_s / 1000
    return [
        count
        for step, count in numbered
        if step * ran.step_s >= first - slack and (step + 1) * ran.step_s <= last + slack
    ]


def _rate(ran: Outcome, first: float, last: float) -> float | None:
    counts = _between(ran, first, last)
    return fmean(counts) / ran.step_s if counts else None


def _recovery(ran: Outcome, at: float) -> float | None:
    """Start of the first interval of at least half a second whose mean is at least 90 % of that at the end."""
    counts, end = _between(ran, at, math.inf), _rate(ran, _AFTER_S, math.inf)
    width = math.ceil(_WINDOW_S / ran.step_s - _TINY)
    for place in range(len(counts) - width + 1):
        if end is not None and fmean(counts[place : place + width]) >= _RECOVERED * end * ran.step_s:
            return place * ran.step_s
    return None


def _ping(station: int, not_judged: str) -> Item:
    return Item(
        f"sta{station}",
        "ping_median_ms",
        lambda of: of.number("results", "stations", str(station), "ping_ms", "median"),
        lambda ran: ran.stations[station].ping_median_ms,
        [f"sta{station} ping median ms"],
        not_judged,
    )


def _codel_drops(of: Measurement) -> float | None:
    stations = range(1, of.setup.config.stations + 1)
    return _sum(of.number("results", "stations", str(station), "aqm_down", "drops") for station in stations)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def _sum(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) if there else None
