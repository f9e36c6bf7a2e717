"""What the real kernel says of a paper's claims, where it was measured: `data/kernel-verdicts-*.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

_PREFIX = "kernel-verdicts-"

# The kernel's verdict and the model's, as one word of two letters.
_LETTER = {"held": "H", "missed": "M"}
_WORDS = {"held": "holds", "missed": "misses"}


@cache
def verdicts() -> Mapping[str, Mapping[str, Any]]:
    """What is known of each claim, with the kernel that it was."""
    folder = resources.files("stillair.papers") / "data"
    found: dict[str, Mapping[str, Any]] = {}
    for file in sorted((one for one in folder.iterdir() if one.name.startswith(_PREFIX)), key=lambda one: one.name):
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        found |= {claim: {"kernel": table["kernel"], **entry} for claim, entry in table["claim"].items()}
    return found


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
