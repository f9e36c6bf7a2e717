"""Runs whose hosts are real Linux kernels in virtual time."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from stillair import _native
from stillair._native import RunError

if TYPE_CHECKING:
    from stillair.runs.scenario import Scenario


@dataclass
class Request:
    """One run of `text`, a scenario; `collect` names a folder for what the guests write."""

    text: str
    file: str
    overrides: list[tuple[str, str]] = field(default_factory=list)
    seed: int | None = None
    run: int = 0
    series: bool = False
    collect: str | None = None


def kernels(scenario: "Scenario", overrides: list[tuple[str, str]]) -> dict[str, str]:
    """The kernel of each guest of a scenario, by its node."""
    if not any('"uml"' in text or "'uml'" in text for text in (scenario.text, *(value for _, value in overrides))):
        return {}
    hosts = {node["name"]: node.get("host") for node in json.loads(scenario.resolve(overrides))["nodes"]}
    return {name: host["kernel"] for name, host in hosts.items() if isinstance(host, dict)}


def run(
    request: Request,
    runs: int = 1,
    progress: Callable[[int], object] | None = None,
    keep: Callable[[str], object] | None = None,
) -> str:
    """Runs it so often, one after the other: the result as JSON. A guest's program that makes a flow and fails is a `RunError`."""
    whole: dict[str, Any] = {}
    found = []
    for n in range(runs):
        text, status = _native.uml(json.dumps(asdict(request) | {"run": request.run + n}))
        whole = json.loads(text)
        if status:
            raise RunError("; ".join(whole["notes"]))
        found += whole["runs"]
        if keep is not None:
            keep(json.dumps(whole["runs"][0]))
        if progress is not None and progress(n + 1) is False:
            raise RunError("interrupted")
    return json.dumps(whole | {"runs": found})
