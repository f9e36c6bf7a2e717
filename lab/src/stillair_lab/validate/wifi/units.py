"""Units of comparison in a configuration: groups of equal stations."""

from collections.abc import Sequence
from dataclasses import dataclass

from stillair_lab.validate.wifi.measured import MINSTREL, Flow, Setup

TOTAL = "all"
"""Unit of quantities of the whole network."""


@dataclass(frozen=True)
class Unit:
    """Stations with the same rate, losses, weight and load. A quantity is the mean over them."""

    stations: tuple[int, ...]
    mcs: int
    flows: tuple[Flow, ...]
    """Flows of its first station, without pings."""

    @property
    def name(self) -> str:
        """Name, such as `sta1-2 mcs15`."""
        what = "minstrel" if self.mcs == MINSTREL else f"mcs{self.mcs}"
        return f"sta{_ranges(self.stations)} {what}" + ("" if self.flows else " idle")

    def kinds(self, *kinds: str) -> list[Flow]:
        """Its flows of these kinds."""
        return [flow for flow in self.flows if flow.kind in kinds]


def units(setup: Setup) -> list[Unit]:
    """Groups of stations, in the order of their first stations. Pings do not separate them."""
    driver, weights = setup.driver, setup.config.weights
    alike: dict[object, list[int]] = {}
    for station in range(1, setup.config.stations + 1):
        loads = [
            (flow.kind, flow.cc, flow.number, flow.bps, flow.burst, flow.payload) for flow in _loads(setup, station)
        ]
        weight = weights[station - 1] if station <= len(weights) else None
        key = (driver.mcs[station], driver.loss_by_station.get(station, 0), weight, tuple(loads))
        alike.setdefault(key, []).append(station)
    return [
        Unit(tuple(stations), driver.mcs[stations[0]], tuple(_loads(setup, stations[0]))) for stations in alike.values()
    ]


def pinged(setup: Setup) -> list[int]:
    """Stations that are pinged, in order."""
    return sorted({flow.station for flow in setup.config.flows if flow.kind == "ping"})


def _loads(setup: Setup, station: int) -> list[Flow]:
    return [flow for flow in setup.config.flows if flow.station == station and flow.kind != "ping"]


def _ranges(numbers: Sequence[int]) -> str:
    """Formats ascending numbers as ranges."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
