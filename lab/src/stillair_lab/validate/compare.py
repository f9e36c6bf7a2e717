"""Compares a simulated run with a kernel's file: a row for each quantity."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from stillair_lab.validate import bounds
from stillair_lab.validate.kernel_file import Config, KernelFile
from stillair_lab.validate.outcome import Outcome
from stillair_lab.validate.quantities import Measured, Trees, of_kernel, of_model

WITHIN = "within"
OUTSIDE = "outside"


@dataclass(frozen=True)
class Row:
    """A comparison. The fields are the interface of `stillair validate --json`."""

    file: str
    quantity: str
    kernel: float
    model: float | None
    """`None` if the simulated run lacks the quantity, such as a missing sawtooth."""
    low: float
    high: float
    verdict: str

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON, with six digits."""
        return {
            key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Subject:
    """A file with its disciplines and the kernel's figures."""

    file: KernelFile
    trees: Trees
    kernel: Measured


def subject(file: KernelFile, trees: Trees) -> Subject:
    """Reads the parts of a file that a comparison needs."""
    return Subject(file, trees, of_kernel(file, trees))


def rows(of: Subject, ran: Outcome, others: Sequence[Subject]) -> list[Row]:
    """Compares a file with a simulated run. `others` may include the same run with other start times."""
    model = of_model(ran, of.file)
    own = _spread(of, others)
    made = []
    for name, bound in bounds.bounds(of.file.config, of.trees).items():
        if name not in of.kernel:
            continue
        value = of.kernel[name]
        low, high = replace(bound, number=max(bound.number, own.get(name, 0.0))).ends(value)
        if name == "jain":
            high = min(high, 1.0)
        found = model.get(name)
        within = found is not None and low <= found <= high
        made.append(Row(of.file.name, name, value, found, low, high, WITHIN if within else OUTSIDE))
    return made


def _spread(of: Subject, others: Sequence[Subject]) -> Measured:
    """Largest spread between the file and files that only differ in the flows' start times."""
    widest: Measured = {}
    for other in others:
        if other is not of and _alike(of.file.config, other.file.config):
            for name, distance in bounds.spread(of.kernel, other.kernel).items():
                widest[name] = max(distance, widest.get(name, 0.0))
    return widest


def _alike(one: Config, other: Config) -> bool:
    return one.flows > 1 and replace(one, stagger_ms=0.0) == replace(other, stagger_ms=0.0)
