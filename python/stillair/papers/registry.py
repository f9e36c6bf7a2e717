"""Which experiments there are, which can be run, and which a name means."""

from dataclasses import dataclass

from stillair._native import InputError
from stillair.papers.claims import Experiment, experiments
from stillair.papers.measured import Runner
from stillair.papers.table1 import Table1

# Experiments that come out of the same runs name the same runner.
_ANOMALY_UDP = Table1()
_RUNNERS: dict[str, Runner] = {
    "ending-the-anomaly/table1-model-udp": _ANOMALY_UDP,
    "ending-the-anomaly/fig5-airtime-udp": _ANOMALY_UDP,
}


@dataclass(frozen=True)
class Entry:
    """An experiment, with its runner if it can be run."""

    experiment: Experiment
    runner: Runner | None


def entries() -> list[Entry]:
    """Every experiment of every paper."""
    return [Entry(experiment, _RUNNERS.get(experiment.name)) for experiment in experiments()]


def find(name: str) -> list[Entry]:
    """The experiments whose name begins so; `all` means every one."""
    paper, slash, beginning = name.partition("/")
    if name == "all":
        return entries()
    found = [
        entry
        for entry in entries()
        if (entry.experiment.paper == paper if slash else entry.experiment.paper.startswith(paper))
        and entry.experiment.id.startswith(beginning)
    ]
    if not found:
        raise InputError(f"{name}: no experiment has a name that begins so; 'stillair paper' lists them")
    # `table1` is the part before the first hyphen of one experiment and only the beginning of `table10-...`.
    exact = [entry for entry in found if beginning in (entry.experiment.id, entry.experiment.id.partition("-")[0])]
    return exact or found
