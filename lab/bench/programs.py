"""Runs one repetition of a scenario in either program, and reads its cost and results.

CPU time is the operating system's account of the finished process. Peak memory is reported by the programs
themselves, because the system's figure for a child starts at the memory of its parent.
"""

import json
import resource
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class ProgramError(Exception):
    """A program that could not be run, or failed."""


@dataclass(frozen=True)
class Station:
    """Results of a station. `None` if not measured."""

    name: str
    goodput_mbps: float
    ping_median_ms: float | None
    ping_p95_ms: float | None
    airtime_share: float | None
    mean_aggregate_down: float | None
    mean_aggregate_up: float | None


@dataclass(frozen=True)
class Run:
    """One finished run."""

    cpu_s: float
    peak_mb: float
    simulated_s: float
    offered: int | None
    """Packets generated, by sources that do not wait for the network."""
    stations: tuple[Station, ...]

    @property
    def goodput_mbps(self) -> float:
        """Payload received by all stations."""
        return sum(station.goodput_mbps for station in self.stations)

    def delivered(self, payload: int) -> float:
        """Packets of `payload` bytes that reached an application."""
        return self.goodput_mbps * 1e6 * self.simulated_s / (8 * payload)


def run_ns3(program: Path, scenario: str, run: int, *, look: bool = False) -> Run:
    """One repetition in ns-3. `look` also counts aggregates and airtime, which costs CPU time."""
    command = [str(program), f"--scenario={scenario}", f"--run={run}", *(["--look"] if look else [])]
    cpu_s, output = _account(command)
    stations = tuple(_station(name, values) for name, values in output["stations"].items())
    return Run(cpu_s, output["peak_kib"] * 1.024e-3, output["seconds"], output["udp_sent"] or None, stations)


def run_stillair(program: Path, scenario: Path, run: int) -> Run:
    """One repetition in Stillair."""
    cpu_s, output = _account([str(program), "--json", str(scenario), str(run)])
    summary = output["summary"]
    stations = tuple(_station(name, _downwards(values)) for name, values in summary["stations"].items())
    # Pings and their replies are among the created packets: 0.25 % of them in the UDP scenario.
    return Run(cpu_s, output["peak_kib"] * 1.024e-3, output["seconds"], summary["packets"]["created"], stations)


def _downwards(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, "mean_aggregate_down": values["mean_aggregate"] if values["airtime_tx_us"] else None}


def _station(name: str, values: Mapping[str, Any]) -> Station:
    return Station(
        name,
        values["goodput_mbps"],
        values.get("ping_median_ms"),
        values.get("ping_p95_ms"),
        values.get("airtime_share"),
        values.get("mean_aggregate_down"),
        values.get("mean_aggregate_up"),
    )


def _account(command: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """Returns user plus system time of a command in seconds, and the JSON object that it prints."""
    before = _children_s()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise ProgramError(f"cannot run {command[0]}: {error.strerror}") from error
    cpu_s = _children_s() - before
    if done.returncode != 0:
        raise ProgramError(f"{' '.join(command)}: exit status {done.returncode}")
    try:
        return cpu_s, json.loads(done.stdout)
    except ValueError as error:
        raise ProgramError(f"{' '.join(command)}: no JSON: {error}") from error


def _children_s() -> float:
    """User plus system time of all finished children; only one runs at a time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
