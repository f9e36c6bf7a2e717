"""Captures: the frames of a run as a pcapng file for Wireshark and tshark.

Runs are deterministic, so a capture repeats the run: same scenario, overrides, seed and run number.
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
"""Default bytes kept per frame: all headers, and every non-data frame in full.

Payload beyond that is a fill pattern, and would be four fifths of a capture.
"""

LARGEST_SNAPLEN = 2**32 - 1


class Wanted(NamedTuple):
    """Capture options; see `write_capture`."""

    points: Sequence[str] = ()
    window: tuple[str | None, str | None] = (None, None)
    snaplen: int = SNAPLEN


USUAL = Wanted()


@dataclass(frozen=True)
class Capture:
    """A written capture."""

    path: str
    frames: dict[str, int]
    """Frames captured at each point."""
    bytes: int
    """File length."""
    run: Run
    """The run as `Scenario.run` reports it. Compare its trace hash to confirm that it is the intended run."""


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
    """Runs repetition `run` of the scenario and writes the frames at `points` to `path`.

    A point is `air-CHANNEL` (every frame on a channel), `NODE-INTERFACE` (frames sent and received by a Wi-Fi
    interface; on a wired interface the packets that the host sees, before TSO and after GRO), the name of a
    wired link (its individual frames), or `all`. The default is the air of every channel, or every link in a
    scenario without channels. `capture_points` lists the points.

    `window` is the first and last time to capture, such as `("5 s", "6 s")`. `snaplen` is the number of bytes
    kept per frame: at least 160, or 0 for whole frames with their FCS.

    Raises `InputError` and keeps no file if `trace_hash` is given and the run has another hash, or if `some`
    is set and no frame was captured.
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
                f"{scenario.file}: run {run} is not the kept run: its trace hash is {found}, expected"
                f" {trace_hash}; scenario, overrides or Stillair (now {__version__}) have changed: run it again"
            )
        if some and not any(captured.frames.values()):
            ends = [f" {word} {at}" for word, at in zip(("from", "to"), window, strict=True) if at is not None]
            length = json.loads(scenario.resolve(overrides))["duration_ns"] / 1_000_000_000
            where = ", ".join(captured.frames) or "any point"
            raise InputError(
                f"{name}: not written, as no frame was seen at {where}{''.join(ends)};"
                f" the run lasts {length:g} s: give another window or other points (see --point list)"
            )
    return captured


def capture_points(scenario: Scenario, overrides: Overrides = ()) -> list[str]:
    """Returns the names of the scenario's capture points."""
    return _native.capture_points(scenario.text, scenario.file, pairs(overrides))


def _usual(scenario: Scenario, overrides: Overrides) -> list[str]:
    """Returns the default points. An empty list selects the air of every channel."""
    resolved = json.loads(scenario.resolve(overrides))
    return [] if resolved["channels"] else [link["name"] for link in resolved["links"]]
