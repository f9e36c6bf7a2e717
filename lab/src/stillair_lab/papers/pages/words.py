"""A claim's row in words, for the terminal and for the page."""

from collections.abc import Mapping
from typing import Any

from stillair_lab.papers.claims import kernel_verdicts

Row = Mapping[str, Any]

NOTHING = "-"


def number(value: float, more: int = 0) -> str:
    """Formats a number with four digits, more than a paper's table has, or with `more` further ones."""
    size = abs(value)
    digits = more + (0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3)
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def stated(row: Row) -> str:
    """The paper's statement."""
    said = row["stated"]
    if isinstance(said, list):
        return " < ".join(" | ".join(map(str, rank)) if isinstance(rank, list) else str(rank) for rank in said)
    if isinstance(said, dict):
        low, high = said["low"], said["high"]
        if low is None:
            return with_unit(f"at most {high:g}", row["unit"])
        text = f"at least {low:g}" if high is None else f"{low:g} to {high:g}"
        return with_unit(text, row["unit"])
    return with_unit(f"{said:g}", row["unit"])


def measured(row: Row) -> str:
    """The measured value, with its confidence interval if there is one."""
    value = row["measured"]
    if value is None:
        return NOTHING
    if isinstance(value, list):
        ranked = " < ".join(f"{name} {number(row['members'][name]['mean'])}" for name in value)
        return with_unit(ranked, row["unit"])
    spread = "" if row["low"] is None else f" [{number(row['low'])}, {number(row['high'])}]"
    return with_unit(number(value, _more(row)) + spread, row["unit"])


def verdict(row: Row) -> str:
    """The verdict, or one for each setting if they differ."""
    found = [one["verdict"] for one in row.get("settings", {}).values()]
    return "/".join(found) if len(set(found)) > 1 else str(row.get("verdict", ""))


def would(row: Row) -> str:
    """The verdict that a claim would have if it did not depend on a calibration."""
    return f"would be {_setting(row, row['if_judged'])}" if "if_judged" in row else ""


def tolerance(row: Row) -> str:
    """The tolerance of the measured number."""
    if "tolerance" not in row:
        return ""
    low, high, more = row["tolerance"]["low"], row["tolerance"]["high"], _more(row)
    if low is None or high is None:
        return f"at most {number(high)}" if low is None else f"at least {number(low)}"
    return f"{number(low, more)} to {number(high, more)}"


def kernel(row: Row) -> str:
    """Verdicts of real kernels, and their relation to the model's; empty if none is known."""
    known = row.get("kernel")
    return "" if known is None else kernel_verdicts.short(known)


def remark(row: Row) -> str:
    """Remarks on the verdict: its reason, the worst cell, the likely cause."""
    parts = [row.get("reason", "")]
    if "cell" in row:
        parts.append(f"worst cell: {row['cell']}")
    if row.get("marginal"):
        parts.append("marginal: the interval lies on both sides of a bound of the tolerance")
    parts += [
        f"{cell['cell']}: {_cell(cell)}"
        for cell in row.get("cells", ())
        if row["measured"] is None and "lacks" not in cell
    ]
    if "/" in verdict(row):
        parts.append(", ".join(f"{name}: {_setting(row, one)}" for name, one in row["settings"].items()))
    if row.get("verdict") == "reproduced" and row.get("non_discriminating", {}).get("counted"):
        parts.append(f"can hardly fail: {_non_discriminating(row['non_discriminating'])}")
    if "cause" in row:
        parts.append(f"likely cause: {row['cause']}")
    if row.get("verdict") == "not-reproduced" and "kernel" in row:
        parts.append(kernel_verdicts.said(row["kernel"]))
    return "; ".join(part for part in parts if part)


def with_unit(text: str, unit: str) -> str:
    """Appends the unit, if any."""
    return f"{text} {unit}" if unit else text


def _more(row: Row) -> int:
    """A formula is judged to the last printed digit, so one more must be shown."""
    return int(row.get("role") == "model")


def _cell(cell: Mapping[str, Any]) -> str:
    if "members" in cell:
        ranked = sorted(cell["members"].items(), key=lambda member: float(member[1]["mean"]))
        return " < ".join(f"{name} {number(over['mean'])}" for name, over in ranked)
    return f"{number(cell['measured'])} measured"


def _setting(row: Row, one: Row) -> str:
    """The measured value and verdict with one of several settings."""
    return f"{one['verdict']} ({measured({**row, **one})})"


def _non_discriminating(chance: Mapping[str, Any]) -> str:
    if chance["off"] is not None and chance["draws"] is None:
        return str(chance["why"])
    by = ["reproduced with the mechanism off"] if chance["off"] == "reproduced" else []
    if chance["draws"] >= 0.5:
        by.append(f"reproduced by {100 * chance['draws']:.0f} % of all draws")
    return " and ".join(by)
