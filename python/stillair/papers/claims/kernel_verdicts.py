"""What the real kernel says of a paper's claims, where it was measured: `kernel-verdicts.toml` of its folder."""

from collections.abc import Mapping
from typing import Any

from stillair.papers.claims import shelf
from stillair.papers.claims.shelf import remembered

_FILE = "kernel-verdicts.toml"

# The kernel's verdict and the model's, as one word of two letters.
_LETTER = {"held": "H", "missed": "M"}
_WORDS = {"held": "holds", "missed": "misses"}


@remembered
def verdicts() -> Mapping[str, Mapping[str, Any]]:
    """What is known of each claim, with the kernel that it was."""
    tables = [shelf.table(folder, _FILE) for folder in shelf.folders().values()]
    return {
        claim: {"kernel": table["kernel"], **entry}
        for table in tables
        for claim, entry in table.get("claim", {}).items()
    }


def beside(claim: str, verdict: str) -> dict[str, Any]:
    """The kernel's part of a claim's row: what it says, and its `class` beside the model's verdict; empty if unknown.

    `HH`: both hold the claim; `HM`: the kernel holds it, the model misses it; `MM`; `MH`; `none`: no kernel was run.
    """
    known = verdicts().get(claim)
    if known is None:
        return {}
    letters = _LETTER.get(known.get("verdict", ""), ""), _LETTER.get(verdict, "")
    return {**known, "class": "".join(letters) if all(letters) else "none"}


def short(known: Mapping[str, Any]) -> str:
    """The kernel's verdict and figure, for a column."""
    if "verdict" not in known:
        return "-"
    return f"{_WORDS[known['verdict']]}: {known.get('tso', known.get('one'))}"


def said(known: Mapping[str, Any]) -> str:
    """The same at length."""
    if "verdict" not in known:
        return f"no {known['kernel']} was run: {known['note']}"
    figures = [f"{known['tso']} with TSO"] if "tso" in known else []
    if "one" in known:
        other = f", which {_WORDS[known['one_verdict']]}" if "one_verdict" in known else ""
        figures.append(f"{known['one']} with one segment a packet{other}")
    note = f"; {known['note']}" if "note" in known else ""
    return f"{known['kernel']} {_WORDS[known['verdict']]} it: {', '.join(figures)}{note}"
