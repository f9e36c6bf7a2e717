"""Which experiments there are, which can be run, and which a name means."""

from dataclasses import dataclass, replace

from stillair._native import InputError
from stillair.papers import campaign
from stillair.papers.claims import Experiment, experiments
from stillair.papers.plan import ExperimentPlan, plan


@dataclass(frozen=True)
class Entry:
    """An experiment and how it is run."""

    experiment: Experiment
    plan: ExperimentPlan

    @property
    def status(self) -> str:
        """In a few words, for the list of experiments."""
        if self.plan.needs:
            return f"needs {self.plan.needs}"
        if self.plan.worked is not None:
            return "yes"
        if not self.plan.campaigns:
            return "nothing to run"
        # One that needs nothing is ready, or its scenario is a mistake: that is for those who run it.
        unready = [own for own in self.plan.campaigns if own.needs and campaign.prepare(own)]
        lacks = dict.fromkeys([*(own.needs for own in unready), *(lack.needs for lack in self.plan.lacks)])
        if len(unready) == len(self.plan.campaigns):
            return f"needs {' and '.join(lacks)}"
        return f"in part; the rest needs {' and '.join(lacks)}" if lacks else "yes"


def entries() -> list[Entry]:
    """Every experiment of every paper."""
    return [_entry(experiment, plan(experiment.paper).experiments[experiment.id]) for experiment in experiments()]


def _entry(experiment: Experiment, own: ExperimentPlan) -> Entry:
    unknown = set(own.fits) - {claim.id for claim in experiment.claims}
    if unknown:
        raise InputError(f"{experiment.name}: fits: found {', '.join(sorted(unknown))}, expected claims of it")
    claims = tuple(replace(claim, role="fit") if claim.id in own.fits else claim for claim in experiment.claims)
    return Entry(replace(experiment, claims=claims), own)


def find(name: str) -> list[Entry]:
    """The experiments whose name begins so; `all` means every one."""
    paper, slash, beginning = name.partition("/")
    if not name:
        raise InputError("paper: found \"\", expected the beginning of a name; 'stillair paper' lists them")
    if name == "all":
        return entries()
    found = [
        entry
        for entry in entries()
        if (entry.experiment.paper == paper if slash else entry.experiment.paper.startswith(paper))
        and entry.experiment.id.startswith(beginning)
    ]
    if not found and any(claim.id == name for experiment in experiments() for claim in experiment.claims):
        raise InputError(f"{name}: found a claim, expected an experiment; with --why it is told why a claim is missed")
    if not found:
        raise InputError(f"{name}: no experiment has a name that begins so; 'stillair paper' lists them")
    # `table1` is the part before the first hyphen of one experiment and only the beginning of `table10-...`.
    exact = [entry for entry in found if beginning in (entry.experiment.id, entry.experiment.id.partition("-")[0])]
    return exact or found
