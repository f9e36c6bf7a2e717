"""What real kernels say of a paper's claims.

`kernel-verdicts.toml` of a paper's folder is what was measured on one, `guests.toml` what kernels said in the place of
the paper's hosts (`lab/scripts/guest_verdicts.py` makes it).
"""

from collections.abc import Mapping
from typing import Any

from stillair_lab.papers.claims import paper_registry
from stillair_lab.papers.claims.paper_registry import remembered

_MEASURED = "kernel-verdicts.toml"
_GUESTS = "guests.toml"

# The kernel's verdict and the model's, as one word of two letters.
_LETTER = {"reproduced": "R", "not-reproduced": "N"}
_WORDS = {"reproduced": "reproduces", "not-reproduced": "does not reproduce"}


@remembered
def verdicts() -> Mapping[str, Mapping[str, Any]]:
    """What is known of each claim, with the kernel that it was; a guest's verdict beside a measured one is `guest`."""
    measured, guests = _known(_MEASURED), _known(_GUESTS)
    found: dict[str, Mapping[str, Any]] = {}
    for claim in [*measured, *(claim for claim in guests if claim not in measured)]:
        one, guest = measured.get(claim, {}), guests.get(claim)
        if guest is None:
            found[claim] = one
        elif "verdict" in one:
            found[claim] = {**one, "guest": guest}
        else:
            # What runs hint at stands behind a verdict.
            found[claim] = guest
    return found


def _known(file: str) -> dict[str, dict[str, Any]]:
    tables = [paper_registry.table(folder, file) for folder in paper_registry.folders().values()]
    return {
        claim: {"kernel": table["kernel"], **entry}
        for table in tables
        for claim, entry in table.get("claim", {}).items()
    }


def beside(claim: str, verdict: str) -> dict[str, Any]:
    """The kernel's part of a claim's row: what it says, and its `class` beside the model's verdict; empty if unknown.

    `RR`: both reproduce the claim; `RN`: the kernel does, the model does not; `NN`; `NR`; `none`: no kernel was run.
    """
    known = verdicts().get(claim)
    if known is None:
        return {}
    guest = {"guest": _classed(known["guest"], verdict)} if "guest" in known else {}
    return {**_classed(known, verdict), **guest}


def _classed(known: Mapping[str, Any], verdict: str) -> dict[str, Any]:
    letters = _LETTER.get(known.get("verdict", ""), ""), _LETTER.get(verdict, "")
    return {**known, "class": "".join(letters) if all(letters) else "none"}


def short(known: Mapping[str, Any]) -> str:
    """Each kernel with its verdict, its figure and its class, for a column."""
    if "verdict" not in known:
        return "-"
    figure = known.get("figure", known.get("tso", known.get("one")))
    beside = f" ({known['class']})" if known.get("class", "none") != "none" else ""
    more = f"; {short(known['guest'])}" if "guest" in known else ""
    return f"{known['kernel'].removeprefix('Linux ')} {_WORDS[known['verdict']]}: {figure}{beside}{more}"


def said(known: Mapping[str, Any]) -> str:
    """The same at length."""
    if "verdict" not in known:
        return f"no {known['kernel']} was run: {known['note']}"
    figures = [known["figure"]] if "figure" in known else []
    if "like" in known:
        figures.append(f"the model with its profile has {known['like']}")
    if "tso" in known:
        figures.append(f"{known['tso']} with TSO")
    if "one" in known:
        other = f", which {_WORDS[known['one_verdict']]}" if "one_verdict" in known else ""
        figures.append(f"{known['one']} with one segment a packet{other}")
    note = f"; {known['note']}" if "note" in known else ""
    more = f"; {said(known['guest'])}" if "guest" in known else ""
    return f"{known['kernel']} {_WORDS[known['verdict']]} it: {', '.join(figures)}{note}{more}"
