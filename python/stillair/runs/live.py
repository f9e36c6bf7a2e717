"""Requests to the engine of live runs, and its answers."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stillair import _native

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario

INVALID = 3
"""Exit status of a run with late packets."""


@dataclass
class Request:
    """A live run of the scenario `text`.

    It ends with `command` in `host`. The default of `late_us` is 1,000 us.
    """

    text: str
    file: str
    overrides: list[tuple[str, str]] = field(default_factory=list)
    seed: int | None = None
    command: list[str] = field(default_factory=list)
    host: str | None = None
    table: bool = False
    late_us: int | None = None
    series: bool = False
    uplink: bool = False
    servers: bool = False
    capture: str | None = None
    points: list[str] = field(default_factory=list)
    snaplen: int = 0
    attach: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, scenario: "Scenario", overrides: list[tuple[str, str]], **more: object) -> "Request":
        """A request for a scenario."""
        return replace(cls(scenario.text, scenario.file, overrides), **more)  # type: ignore[arg-type]


def run(request: Request) -> tuple[str, int]:
    """Runs the request.

    Returns the result as JSON, with live data under `live` in its run, and the exit status.
    """
    return _native.live(json.dumps(asdict(request)))


def runs() -> list[dict[str, Any]]:
    """Returns this user's live runs, each with its `pid` and its own `status`."""
    return list(json.loads(_native.live_runs()))


def change(run: int | None, key: str, value: str) -> None:
    """Changes a scenario key of a live run."""
    _native.live_ask(run, json.dumps({"set": {"key": key, "value": value}}))


def execute(run: int | None, host: str, command: list[str]) -> int:
    """Runs a command in a host of a live run and returns its exit status."""
    return _native.live_exec(run, host, command)
