"""Why claims are not reproduced: the kind of cause, and the single change that demonstrates it (`causes.toml`).

A cause can be run (`why.py`): the claim's cells as judged, and again with the change. Figures are left to the
runs.
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

# Required keys of a kind, and the required outcome: true if the claim must then be reproduced.
_NEEDS: Mapping[str, tuple[tuple[str, ...], bool | None]] = {
    ISOLATES: (("change", "shown"), True),
    SUFFICES: (("change",), True),
    CONTRIBUTES: (("change", "tried"), False),
    PRINT: (("arithmetic",), None),
    CHANCE: (("change",), True),
    # The outcome of the pair must be another order (`why.py`).
    TIE: (("change",), None),
    TOLERANCE: ((), None),
    UNKNOWN: (("tried",), None),
}


@dataclass(frozen=True)
class Cause:
    """The cause of a claim that is not reproduced, or that none was found."""

    claim: str
    kind: str
    text: str
    """Description without figures, which come from the runs."""
    change: Mapping[str, str]
    """The single change: dotted keys with TOML values, as for `--set`; empty if nothing is run."""
    where: Where
    """Words of the cells to change; empty for all cells of the claim."""
    only: Mapping[str, Sequence[str]]
    """Words of the cells to run, for campaigns whose claims are about many marks."""
    both: Mapping[str, str]
    """Settings of both halves of the pair, to save time."""
    runs: int | None
    """Runs per cell in both halves, if fewer than judged are enough."""
    shown: str
    """Evidence for the change other than its effect: its source in the paper, a measurement or a standard."""
    arithmetic: str
    """The calculation that shows a contradiction in the paper."""
    tried: Sequence[str]
    """What was examined without a decisive effect."""
    like: str
    """The claim that has the same cause."""

    @property
    def said(self) -> str:
        """The text, with the claim that has the same cause."""
        return f"as {self.like}: {self.text}" if self.like else self.text

    @property
    def holds(self) -> bool | None:
        """Returns whether the claim must be reproduced with the change, for this kind; `None` if open."""
        return _NEEDS[self.kind][1] if self.change else None


@remembered
def causes() -> Mapping[str, Cause]:
    """The cause of each claim that is not reproduced, by claim."""
    tables = [read(paper_registry.table(folder, "causes.toml")) for folder in paper_registry.folders().values()]
    return {claim: cause for table in tables for claim, cause in table.items()}


def read(table: Mapping[str, Any]) -> Mapping[str, Cause]:
    """The causes of a table. Raises an error for a missing key of a kind."""
    return {claim: _cause(claim, table) for claim in table}


_KEYS = {field.name for field in fields(Cause)} - {"claim", "like"} | {"as"}
_TABLES = ("change", "where", "only", "both")


def _cause(claim: str, table: Mapping[str, Any]) -> Cause:
    entry = dict(table[claim])
    like = entry.pop("as", "")
    if like:
        if like not in table or "as" in table[like]:
            raise InputError(f'causes: {claim}: as: found "{like}", expected a claim with a cause of its own')
        # Keys of the entry itself override those of the other entry.
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
