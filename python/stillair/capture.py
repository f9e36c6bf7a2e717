"""Captures: a run's frames as a pcapng file that Wireshark and tshark open.

Runs are deterministic, so a capture is made by running again: same scenario, overrides, seed and run number.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stillair import _native
from stillair._native import InputError, __version__
from stillair.results.report import Run
from stillair.runs.overrides import Overrides, pairs
from stillair.runs.scenario import Scenario, check_number, check_runs
from stillair.text import output

SNAPLEN = 256
"""Bytes kept of each frame unless said: all headers, and what is no data whole. What packets carry beyond that is a
pattern that says nothing, and would be four fifths of a capture."""

LARGEST_SNAPLEN = 2**32 - 1


class Wanted(NamedTuple):
    """What is captured: `write_capture` says what these are."""

    points: Sequence[str] = ()
    window: tuple[str | None, str | None] = (None, None)
    snaplen: int = SNAPLEN


USUAL = Wanted()


@dataclass(frozen=True)
class Capture:
    """A capture that was written."""

    path: str
    frames: dict[str, int]
    """Frames seen at each point."""
    bytes: int
    """Length of the file."""
    run: Run
    """The run as `Scenario.run` reports it; its trace hash tells whether it is the run that was meant."""


def write_capture(
    scenario: Scenario,
    overrides: Overrides,
    seed: int | None,
    run: int,
    path: str | os.PathLike[str],
    points: Sequence[str] = (),
    window: tuple[str | None, str | None] = (None, None),
    snaplen: int = SNAPLEN,
    trace_hash: str | None = None,
    some: bool = False,
) -> Capture:
    """Runs repetition `run` of the scenario and writes what was seen at `points` to `path`.

    Points are `air-CHANNEL` (every frame of a channel), `NODE-INTERFACE` (what a Wi-Fi interface sent and received, or
    what the host of a wired one sees: large packets of TCP before its device splits them and after it merged them), the
    name of a wired link (its frames one by one), or `all`; unless said, the air of every channel, or every link where
    there is none. `capture_points` lists them. `window` is the first and the last time of the run that is captured,
    such as `("5 s", "6 s")`. `snaplen` is the number of bytes kept of each frame: 160 or more, or 0, which keeps frames
    whole, their check sequences included.
    With `trace_hash` the file is kept only if the run is the one with this hash; an `InputError` if it is another. With
    `some` it is kept only if there is a frame in it; an `InputError` if there is none.
    """
    check_runs(1, seed, jobs=None, first_run=run)
    check_number("snaplen", snaplen, 0, LARGEST_SNAPLEN)
    points = points or _usual(scenario, overrides)
    name, asked = os.fspath(path), (scenario.text, scenario.file, pairs(overrides), seed, run)
    with output.whole(Path(path)) as part:
        captured = Capture(**json.loads(_native.capture(*asked, name, os.fspath(part), list(points), window, snaplen)))
        found = captured.run["trace_hash"]
        if trace_hash is not None and found != trace_hash:
            raise InputError(
                f"{scenario.file}: run {run} of it is not the run that was kept: its trace hash is {found}, expected"
                f" {trace_hash}; scenario, overrides or Stillair (this is {__version__}) have changed: run it again"
            )
        if some and not any(captured.frames.values()):
            ends = [f" {word} {at}" for word, at in zip(("from", "to"), window, strict=True) if at is not None]
            length = json.loads(scenario.resolve(overrides))["duration_ns"] / 1_000_000_000
            where = ", ".join(captured.frames) or "any point"
            raise InputError(
                f"{name}: not written, as no frame was seen at {where}{''.join(ends)};"
                f" the run lasts {length:g} s: give another window or other points, which --point list lists"
            )
    return captured


def capture_points(scenario: Scenario, overrides: Overrides = ()) -> list[str]:
    """The names of the points that the scenario can be captured at."""
    return _native.capture_points(scenario.text, scenario.file, pairs(overrides))


def _usual(scenario: Scenario, overrides: Overrides) -> list[str]:
    """The points that are captured unless others are named; none stands for the air of every channel."""
    resolved = json.loads(scenario.resolve(overrides))
    return [] if resolved["channels"] else [link["name"] for link in resolved["links"]]
