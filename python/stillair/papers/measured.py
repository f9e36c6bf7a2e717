"""What an experiment's runner gives back: text for people, a measurement for each claim."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stillair.statistics import Interval


@dataclass(frozen=True)
class Measured:
    """The text of the regenerated artefact, and what was measured for claims by their id."""

    text: str
    claims: Mapping[str, Interval] = field(default_factory=dict)


class Runner(Protocol):
    """Runs one or more experiments that share their runs."""

    def cells(self) -> int:
        """Configurations to run: each is repeated."""
        ...

    def repetitions(self) -> int:
        """Repetitions of each cell in the paper."""
        ...

    def run(self, runs: int, jobs: int | None, progress: Callable[[int], object] | None) -> Measured:
        """Runs every cell `runs` times; `progress` hears the number of runs finished over all cells."""
        ...
