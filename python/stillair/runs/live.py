"""What is asked of the engine of live runs, and what it says."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stillair import _native

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario

INVALID = 3
"""Exit status of a run whose packets came too late."""


@dataclass
class Request:
    """A live run of `text`, a scenario; `command` in `host` ends it, and without `late_us` 1,000 us are allowed."""

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
    """Runs it: the result as JSON, whose run has what is said of its live part under `live`, and the exit status."""
    return _native.live(json.dumps(asdict(request)))


def runs() -> list[dict[str, Any]]:
    """The live runs of this user: `pid`, and `status` as each tells it."""
    return list(json.loads(_native.live_runs()))


def change(run: int | None, key: str, value: str) -> None:
    """Changes a key of a run's scenario while it goes on."""
    _native.live_ask(run, json.dumps({"set": {"key": key, "value": value}}))


def execute(run: int | None, host: str, command: list[str]) -> int:
    """Runs a command in a host of a run: its exit status."""
    return _native.live_exec(run, host, command)
