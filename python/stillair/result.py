"""What the runs of a scenario measured."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stillair.statistics import interval

# A run as the engine reports it. The keys are the contract of `stillair run --json`; keys may be added.
Run = dict[str, Any]

# Keys that identify a run and are not measured.
_IDENTITY = ("run", "seed", "trace_hash")


class Result:
    """The measurements of one scenario, run by run."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Wraps the engine's report."""
        self.version: str = data["version"]
        self.scenario: str = data["scenario"]
        self.runs: list[Run] = list(data["runs"])
        self._over_runs: dict[str, Any] | None = None

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """Reads what the engine or `to_json` wrote."""
        return cls(json.loads(text))

    def over_runs(self) -> dict[str, Any]:
        """The keys of a run, each as mean, low and high: a 95 % confidence interval over the runs.

        A value that no run measured is null. A drop counts as zero in the runs that did not have it.
        """
        if self._over_runs is None:
            measured = [{key: run[key] for key in run if key not in (*_IDENTITY, "drops")} for run in self.runs]
            self._over_runs = {**_over(measured), "drops": _drops_over([run["drops"] for run in self.runs])}
        return self._over_runs

    def to_dict(self) -> dict[str, Any]:
        """The object that `stillair run --json` prints."""
        return {
            "version": self.version,
            "scenario": self.scenario,
            "runs": self.runs,
            "over_runs": self.over_runs(),
        }

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as text. Values that JSON cannot hold are an error, not a surprise for the reader."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def _over(values: Sequence[Any]) -> Any:  # noqa: ANN401 - the shape follows the report's
    """The same shape as each of `values`, with an interval in place of each number."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    if isinstance(found[0], dict):
        # dict.fromkeys keeps the order in which the runs name their keys.
        keys = dict.fromkeys(key for value in found for key in value)
        return {key: _over([value.get(key) for value in found]) for key in keys}
    if isinstance(found[0], int | float):
        return interval(found)._asdict()
    # Text and lists have no mean.
    return None


def _drops_over(drops: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Packets dropped by place and reason, over runs."""
    packets: dict[tuple[str, str], list[int]] = {}
    for number, run in enumerate(drops):
        for drop in run:
            counts = packets.setdefault((drop["place"], drop["reason"]), [0] * len(drops))
            counts[number] += drop["packets"]
    return [
        {"place": place, "reason": reason, "packets": interval(counts)._asdict()}
        for (place, reason), counts in packets.items()
    ]
