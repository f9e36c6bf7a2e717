"""Why claims are not reproduced: for each, what kind of cause it has and the one change that shows it (`causes.toml`).

A cause is data that can be run (`why.py`): the claim's own cells as judged, and again with the change. What it says of
figures is left to the runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from stillair._native import InputError
from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.claims.inventory import Where
from stillair_lab.papers.claims.paper_registry import remembered

ISOLATES = "isolates"
SUFFICES = "suffices"
CONTRIBUTES = "contributes"
PRINT = "print"
CHANCE = "chance"
TIE = "tie"
TOLERANCE = "tolerance"
UNKNOWN = "unknown"

# What must stand beside a kind, and how the pair has to come out: True if the claim then holds.
_NEEDS: Mapping[str, tuple[tuple[str, ...], bool | None]] = {
    ISOLATES: (("change", "shown"), True),
    SUFFICES: (("change",), True),
    CONTRIBUTES: (("change", "tried"), False),
    PRINT: (("arithmetic",), None),
    CHANCE: (("change",), True),
    # The pair has to come out as another order (`why.py`).
    TIE: (("change",), None),
    TOLERANCE: ((), None),
    UNKNOWN: (("tried",), None),
}


@dataclass(frozen=True)
class Cause:
    """The cause of one miss, or that none was found."""

    claim: str
    kind: str
    text: str
    """In plain words, without figures: those are the runs'."""
    change: Mapping[str, str]
    """The one change, as dotted keys with their value as TOML, as `--set` takes them; none where nothing is run."""
    where: Where
    """Words of the cells that the change is made in; in all of the claim's if there are none."""
    only: Mapping[str, Sequence[str]]
    """Words of the cells that are run at all, of a campaign whose claims are about many marks."""
    both: Mapping[str, str]
    """Settings of both halves of the pair, so that it takes less time."""
    runs: int | None
    """Runs of each cell in both halves, where fewer than judged are enough."""
    shown: str
    """What speaks for the change beside that it helps: where the paper, a measurement or a standard has it."""
    arithmetic: str
    """The sum that shows a contradiction in print."""
    tried: Sequence[str]
    """What was looked at and did not decide."""
    like: str
    """The claim whose cause this is too."""

    @property
    def said(self) -> str:
        """The text with the claim whose cause it shares."""
        return f"as {self.like}: {self.text}" if self.like else self.text

    @property
    def holds(self) -> bool | None:
        """Whether the claim has to hold with the change, for the kind to be right; none if that is open."""
        return _NEEDS[self.kind][1] if self.change else None


@remembered
def causes() -> Mapping[str, Cause]:
    """The cause of each miss, by claim."""
    tables = [read(paper_registry.table(folder, "causes.toml")) for folder in paper_registry.folders().values()]
    return {claim: cause for table in tables for claim, cause in table.items()}


def read(table: Mapping[str, Any]) -> Mapping[str, Cause]:
    """The causes of a table; one that does not say what its kind has to say is an error."""
    return {claim: _cause(claim, table) for claim in table}


_KEYS = {field.name for field in fields(Cause)} - {"claim", "like"} | {"as"}
_TABLES = ("change", "where", "only", "both")


def _cause(claim: str, table: Mapping[str, Any]) -> Cause:
    entry = dict(table[claim])
    like = entry.pop("as", "")
    if like:
        if like not in table or "as" in table[like]:
            raise InputError(f'causes: {claim}: as: found "{like}", expected a claim with a cause of its own')
        # What an entry says itself takes the place of what the other says.
        entry = dict(table[like]) | entry
    if unknown := sorted(entry.keys() - _KEYS):
        raise InputError(f"causes: {claim}: found {', '.join(unknown)}, expected {', '.join(sorted(_KEYS))}")
    if entry.get("kind") not in _NEEDS:
        raise InputError(f"causes: {claim}: kind: found {entry.get('kind')!r}, expected one of {', '.join(_NEEDS)}")
    for key in ("text", *_NEEDS[entry["kind"]][0]):
        if not entry.get(key):
            raise InputError(f"causes: {claim}: found no {key}, expected one, as its kind is {entry['kind']}")
    if entry["kind"] == TOLERANCE and entry.get("change"):
        raise InputError(
            f"causes: {claim}: change: found one, expected none, as a pair of runs does not show a tolerance"
        )
    for key, value in {**entry.get("change", {}), **entry.get("both", {})}.items():
        if not isinstance(value, str):
            raise InputError(f"causes: {claim}: {key}: found {value!r}, expected text, as --set takes it")
    defaults: dict[str, Any] = {name: {} for name in _TABLES}
    defaults |= {"runs": None, "shown": "", "arithmetic": "", "tried": ()}
    return Cause(claim=claim, like=like, **(defaults | entry))
