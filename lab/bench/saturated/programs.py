"""Runs a case in either program."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from programs import ProgramError
from saturated import scenario, theory
from saturated.cases import Case
from saturated.standard import rate


@dataclass(frozen=True)
class Figure:
    """Results of a case in one program."""

    mbps: float
    """Total payload as counted by the example, mean over runs."""
    low: float
    high: float
    frames: float
    """Mean number of MPDUs per data PPDU."""
    runs: int


def run_stillair(case: Case, runs: int) -> Figure:
    """Runs the case in Stillair."""
    # The native module is only needed for runs; tables can be read without it.
    from stillair.runs.scenario import Scenario  # noqa: PLC0415

    found = json.loads(Scenario(scenario.scenario(case)).run_text(runs=runs, jobs=1))["runs"]
    counted = case.counted / (case.payload - (scenario.HEADER - case.header))
    got = [run["goodput_total_mbps"] * counted for run in found]
    way = "mean_aggregate_up" if case.up else "mean_aggregate"
    frames = mean(station[way] or 1.0 for run in found for station in run["stations"].values())
    return Figure(mean(got), min(got), max(got), frames, runs)


def run_ns3(program: Path, case: Case, runs: int, *more: str, ampdu: int | None = None) -> Figure:
    """Runs the case in ns-3 with further attributes. `ampdu` overrides the case's A-MPDU size."""
    data = rate(case.rate)
    # One second is enough for one station, as nothing collides. Several stations must first adapt their
    # windows.
    settle, seconds = (0.2, 1.0) if case.stations == 1 else (min(0.5, 0.2 * case.seconds), case.seconds)
    arguments = {
        "standard": data.standard,
        "data": data.mode,
        "control": f"{'Erp' if case.band == '2_4' else ''}OfdmRate{theory.control(data)}Mbps",
        "width": data.width,
        "guard": data.guard,
        "band": case.band,
        "stations": case.stations,
        "up": int(case.up),
        "qos": int(case.header == scenario.HEADER),
        "ampdu": case.ampdu if ampdu is None else ampdu,
        "amsdu": case.amsdu,
        "window": case.window,
        "txop": -1 if case.txop_us is None else case.txop_us,
        "video": int(case.video),
        "rts": int(case.rts),
        "hidden": int(case.hidden),
        "payload": case.payload,
        "mbps": round(scenario.load_mbps(case, data), 3),
        "settle": settle,
        "seconds": seconds,
    }
    command = [str(program), *(f"--{key}={value}" for key, value in arguments.items()), *case.ns3, *more]
    got = [_output([*command, f"--run={run + 1}"]) for run in range(runs)]
    mbps = [one["goodput_mbps"] * case.counted / case.payload for one in got]
    return Figure(mean(mbps), min(mbps), max(mbps), mean(one["mean_mpdus"] for one in got), runs)


def _output(command: list[str]) -> dict[str, Any]:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        message = f"{' '.join(command)}: status {finished.returncode}: {finished.stderr.strip()[-500:]}"
        raise ProgramError(message)
    output: dict[str, Any] = json.loads(finished.stdout)
    return output
