"""The experiments, whether they can be run, and lookup by name."""

from dataclasses import dataclass, replace

from stillair._native import InputError
from stillair.text.nearest import hint
from stillair_lab.papers.claims.inventory import Experiment, experiments
from stillair_lab.papers.claims.paper_registry import remembered
from stillair_lab.papers.robustness import calibration
from stillair_lab.papers.runs import campaign
from stillair_lab.papers.runs.plan import Campaign, ExperimentPlan, Plan, plan


@dataclass(frozen=True)
class Entry:
    """An experiment and its plan."""

    experiment: Experiment
    plan: ExperimentPlan

    @property
    def others(self) -> dict[str, Plan]:
        """The paper's alternative plans that repeat runs of this experiment."""
        return {
            name: other
            for name, other in plan(self.experiment.paper).others.items()
            if any(own.under for own in other.experiments[self.experiment.id].campaigns)
        }

    @property
    def campaigns(self) -> list[Campaign]:
        """Its campaigns, including those of alternative plans."""
        others = [other.experiments[self.experiment.id].campaigns for other in self.others.values()]
        return list(dict.fromkeys(own for campaigns in (self.plan.campaigns, *others) for own in campaigns))

    @property
    def all_campaigns(self) -> list[Campaign]:
        """Its campaigns, including the ends of ranges."""
        return list(dict.fromkeys([*self.plan.all_campaigns(), *self.campaigns]))

    @property
    def status(self) -> str:
        """Status in a few words, for the list of experiments."""
        if self.plan.needs:
            return f"needs {self.plan.needs}"
        if self.plan.worked is not None:
            return "yes"
        if not self.plan.campaigns:
            return "nothing to run"
        # A campaign without `needs` is ready, or its scenario has a mistake, which is reported when it is
        # run.
        unready = [own for own in self.plan.campaigns if own.needs and campaign.prepare(own)]
        lacks = dict.fromkeys([*(own.needs for own in unready), *(lack.needs for lack in self.plan.lacks)])
        if len(unready) == len(self.plan.campaigns):
            return f"needs {' and '.join(lacks)}"
        return f"in part; the rest needs {' and '.join(lacks)}" if lacks else "yes"


def entries() -> list[Entry]:
    """All experiments of all papers."""
    return [_entry(experiment, plan(experiment.paper).experiments[experiment.id]) for experiment in experiments()]


def _entry(experiment: Experiment, own: ExperimentPlan) -> Entry:
    depends = _fitted(experiment.paper)
    claims = (
        replace(claim, calibrated=depends[claim.id]) if depends.get(claim.id) else claim for claim in experiment.claims
    )
    told = tuple(replace(claim, role="calibration") if depends.get(claim.id) == "" else claim for claim in claims)
    return Entry(replace(experiment, claims=told), own)


@remembered
def _fitted(paper: str) -> dict[str, str]:
    """The paper's claims that depend on a calibration."""
    return calibration.reached(plan(paper), [experiment for experiment in experiments() if experiment.paper == paper])


def find(name: str) -> list[Entry]:
    """Experiments whose name starts with this; `all` selects every one."""
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
        raise InputError(f"{name}: found a claim, expected an experiment; --why explains why a claim is not reproduced")
    if not found:
        # An experiment may be abbreviated to the part before its first hyphen; a name without a slash is a
        # paper.
        short = (f"{entry.experiment.paper}/{entry.experiment.id.partition('-')[0]}" for entry in entries())
        near = hint(name, short if slash else (entry.experiment.paper for entry in entries()))
        raise InputError(f"{name}: no experiment name starts with this; 'stillair paper' lists them{near}")
    # `table1` is the whole abbreviation of one experiment, but only a prefix of `table10-...`.
    exact = [entry for entry in found if beginning in (entry.experiment.id, entry.experiment.id.partition("-")[0])]
    return exact or found
