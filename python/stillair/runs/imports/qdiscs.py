"""What `tc -j -s qdisc` prints, and what of it a scenario says of cake and fq_codel."""

import json
from collections.abc import Sequence
from typing import Any

from stillair._native import InputError
from stillair.runs.imports.facts import Qdisc
from stillair.runs.imports.openwrt import words

_COUNTS = ("bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen")

# linux: iproute2's q_cake.c cake_print_opt (6.1) - names of the JSON; a scenario has those of `tc`'s command.
_CAKE = {
    "diffserv": "tins",
    "flowmode": "isolation",
    "wash": "wash",
    "split_gso": "split_gso",
    "nat": "nat",
    "ingress": "ingress",
}
_WORDS = {"diffserv": tuple(words.TINS.values()), "flowmode": words.ISOLATION}
_ACK_FILTER = {"disabled": "no-ack-filter", "enabled": "ack-filter", "aggressive": "ack-filter-aggressive"}
_FQ_CODEL = ("limit", "flows", "quantum", "memory_limit", "drop_batch", "ecn")


def read(file: str, text: str) -> Sequence[Qdisc]:
    """The disciplines of all devices."""
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file}:{error.lineno}: found text that is not JSON at column {error.colno} ({error.msg}), expected what"
            " 'tc -j -s qdisc' prints"
        ) from None
    faults, found = [], []
    for at, row in enumerate(rows if isinstance(rows, list) else [rows]):
        where = f"{file}: entry {at}"
        wrong = _wrong(row)
        if wrong:
            faults.append(f"{where}: {wrong}")
            continue
        counts = {key: int(row[key]) for key in _COUNTS if isinstance(row.get(key), int)}
        options = row.get("options") or {}
        found.append(Qdisc(row.get("dev", "?"), row["kind"], bool(row.get("root")), options, counts, where))
    if faults:
        raise InputError("\n".join(faults))
    return found


def _wrong(row: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if not isinstance(row, dict):
        return f"found {json.dumps(row)[:60]}, expected an object"
    if not isinstance(row.get("kind"), str):
        return "found no text under kind, expected the discipline's name"
    if not isinstance(row.get("options", {}), dict):
        return f"found {json.dumps(row['options'])[:60]} under options, expected an object"
    rate = (row.get("options") or {}).get("bandwidth", 0)
    if isinstance(rate, bool) or (not (isinstance(rate, int) and rate >= 0) and rate != "unlimited"):
        return f"found {json.dumps(rate)[:60]} under bandwidth, expected bytes per second or unlimited"
    return ""


def bandwidth_bps(qdisc: Qdisc) -> int | None:
    """The rate of a cake that shapes."""
    rate = qdisc.options.get("bandwidth")
    # linux: iproute2's q_cake.c cake_print_opt (6.1) - bytes a second in the JSON, bits in the text.
    return rate * 8 if qdisc.kind == "cake" and isinstance(rate, int) and rate > 0 else None


def is_ingress(qdisc: Qdisc) -> bool:
    """Whether it shapes what came in: on an ifb, as sqm-scripts names it, or by its own word."""
    return qdisc.device.startswith("ifb") or qdisc.options.get("ingress") is True


def keys(qdisc: Qdisc) -> tuple[dict[str, object], list[str]]:
    """Its options as a scenario has them, and those that it has no key for."""
    made: dict[str, object] = {"kind": qdisc.kind}
    left = []
    for key, value in qdisc.options.items():
        found = _key(qdisc, key, value)
        if found is not None:
            made[found[0]] = found[1]
        elif value and (qdisc.kind != "cake" or key not in _SILENT):
            left.append(f"{key} {value}")
    if not words.looks_at_hosts(made):
        made.pop("nat", None)
    if qdisc.kind == "fq_codel":
        made.setdefault("ecn", False)
    return made, left


_SILENT = ("bandwidth", "raw", "fwmark", "overhead", "mpu", "atm")
"""Of cake: what is told elsewhere, or says nothing beside `raw`."""


def _is_known(key: str, value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    if key in _WORDS:
        return value in _WORDS[key]
    return isinstance(value, bool) and (value or key not in ("nat", "ingress"))


def _key(qdisc: Qdisc, key: str, value: Any) -> tuple[str, object] | None:  # noqa: ANN401 - whatever JSON holds
    """A key and its value as a scenario has them."""
    found: tuple[str, object] | None = None
    if qdisc.kind == "cake":
        if key in _CAKE:
            # A scenario takes `nat` only where something masquerades.
            found = (_CAKE[key], value) if _is_known(key, value) else None
        elif key == "ack-filter" and value in _ACK_FILTER:
            found = "ack_filter", _ACK_FILTER[value]
        elif key == "rtt":
            found = "rtt", f"{value} us"
        elif key in ("overhead", "mpu", "atm") and qdisc.options.get("raw") is not True:
            found = key, value
        elif key == "memlimit" and value:
            found = "memlimit", f"{value} B"
    elif qdisc.kind == "fq_codel":
        if key in ("target", "interval") and isinstance(value, int):
            # The kernel keeps units of 1.024 us: 4,999 us are 5 ms.
            found = key, f"{round(value / 1000) if value % 1000 in (0, 999) else value / 1000:g} ms"
        elif key in ("quantum", "memory_limit"):
            found = key, f"{value} B"
        elif key in _FQ_CODEL:
            found = key, value
    return found
