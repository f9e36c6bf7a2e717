"""`tc -j -s qdisc` and `tc -j class`, and the scenario keys of each discipline's options."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stillair._native import InputError
from stillair.runs.imports.facts import Class, Qdisc
from stillair.runs.imports.openwrt import tc_options

NAMELESS = "?"
"""Device of a qdisc whose output has no name: `tc qdisc show dev DEVICE` omits it."""
HOLDLESS = ("noqueue", "ingress", "clsact", "mq", "mqprio")
"""Disciplines that hold no packets themselves."""
_COUNTS = ("bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen")

# linux: iproute2's q_cake.c cake_print_opt (6.1) - JSON names; scenario keys follow `tc`'s command line.
_CAKE = {
    "diffserv": "tins",
    "flowmode": "isolation",
    "wash": "wash",
    "split_gso": "split_gso",
    "nat": "nat",
    "ingress": "ingress",
}
_WORDS = {"diffserv": tuple(tc_options.TINS.values()), "flowmode": tc_options.ISOLATION}
_ACK_FILTER = {"disabled": "no-ack-filter", "enabled": "ack-filter", "aggressive": "ack-filter-aggressive"}


def read(file: str, text: str) -> Sequence[Qdisc | Class]:
    """The disciplines of all devices."""
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file}:{error.lineno}: found text that is not JSON at column {error.colno} ({error.msg}), expected what"
            " 'tc -j -s qdisc' prints"
        ) from None
    return of(file, rows)


def of(file: str, rows: Any) -> Sequence[Qdisc | Class]:  # noqa: ANN401 - any JSON value
    """The disciplines and htb classes in decoded JSON."""
    faults: list[str] = []
    found: list[Qdisc | Class] = []
    for at, row in enumerate(rows if isinstance(rows, list) else [rows]):
        where = f"{file}: entry {at}"
        wrong = _wrong(row)
        if wrong:
            faults.append(f"{where}: {wrong}")
            continue
        device = str(row.get("dev") or NAMELESS)
        handle, parent = str(row.get("handle") or ""), str(row.get("parent") or "")
        if "class" in row:
            if row["class"] == "htb":
                leaf, burst = str(row.get("leaf") or ""), row.get("burst")
                top = "" if row.get("root") else parent
                size = burst if isinstance(burst, int) and burst > 0 else None
                found.append(Class(device, handle, top, leaf, row["rate"] * 8, size, where))
            continue
        counts = {key: int(row[key]) for key in _COUNTS if isinstance(row.get(key), int)}
        options = row.get("options") or {}
        found.append(Qdisc(device, row["kind"], bool(row.get("root")), options, counts, where, handle, parent))
    if faults:
        raise InputError("\n".join(faults))
    return found


def _wrong(row: Any) -> str:  # noqa: ANN401 - any JSON value
    if not isinstance(row, dict):
        return f"found {json.dumps(row)[:60]}, expected an object"
    if isinstance(row.get("class"), str):
        rate = row.get("rate", 0)
        fine = row["class"] != "htb" or (isinstance(rate, int) and not isinstance(rate, bool) and rate > 0)
        return "" if fine else f"found {json.dumps(rate)[:60]} under rate, expected bytes per second"
    if not isinstance(row.get("kind"), str):
        return "found no text under kind, expected the discipline's name"
    if not isinstance(row.get("options", {}), dict):
        return f"found {json.dumps(row['options'])[:60]} under options, expected an object"
    rate = (row.get("options") or {}).get("bandwidth", 0)
    if isinstance(rate, bool) or (not (isinstance(rate, int) and rate >= 0) and rate != "unlimited"):
        return f"found {json.dumps(rate)[:60]} under bandwidth, expected bytes per second or unlimited"
    return ""


def is_cake(qdisc: Qdisc) -> bool:
    """Reports whether it is a cake, or the multi-queue cake_mq that shares one rate."""
    return qdisc.kind in ("cake", "cake_mq")


def bandwidth_bps(qdisc: Qdisc) -> int | None:
    """The rate of a cake or tbf that shapes; `None` for the cakes below a cake_mq, which share its rate."""
    name = "bandwidth" if is_cake(qdisc) else "rate" if qdisc.kind == "tbf" else ""
    rate = qdisc.options.get(name)
    inner = qdisc.kind == "cake" and qdisc.handle in ("0:", "") and not qdisc.root and bool(qdisc.parent)
    # linux: iproute2's q_cake.c cake_print_opt (6.1) - bytes per second in JSON, bits per second in text.
    is_rate = isinstance(rate, int) and not isinstance(rate, bool) and rate > 0
    return int(rate) * 8 if is_rate and not inner else None  # type: ignore[call-overload]


def is_ingress(qdisc: Qdisc) -> bool:
    """Reports whether a discipline shapes incoming packets, on an ifb as in sqm-scripts or with `ingress`."""
    return qdisc.device.startswith("ifb") or qdisc.options.get("ingress") is True


def keys(qdisc: Qdisc) -> tuple[dict[str, object], list[str]]:
    """Returns the options as scenario keys, and the options without a key."""
    if is_cake(qdisc):
        return _of_cake(qdisc)
    made: dict[str, object] = {"kind": qdisc.kind}
    left = []
    table = _KEYS.get(qdisc.kind, {})
    for key, value in qdisc.options.items():
        form = table.get(key)
        found = form(value) if form is not None else None
        if found is not None:
            made[_RENAMED.get((qdisc.kind, key), key)] = found
        elif value and (qdisc.kind, key) not in _SILENT_OF:
            left.append(f"{key} {value}" if value is not True else key)
    if qdisc.kind == "fq_codel":
        made.setdefault("ecn", False)
    return made, left


def _of_cake(qdisc: Qdisc) -> tuple[dict[str, object], list[str]]:
    made: dict[str, object] = {"kind": "cake"}
    left = []
    for key, value in qdisc.options.items():
        found = _key(qdisc, key, value)
        if found is not None:
            made[found[0]] = found[1]
        elif value and key not in _SILENT and (key, value) not in _NONE:
            left.append(f"{key} {value}" if value is not True else key)
    if not tc_options.looks_at_hosts(made):
        made.pop("nat", None)
    return made, left


_SILENT = ("bandwidth", "raw", "overhead", "mpu", "atm", "autorate-ingress")
"""Options of cake that other code reports, or that are implied by `raw`."""
_NONE = (("fwmark", "0"), ("fwmark", "0x0"))


def _is_known(key: str, value: Any) -> bool:  # noqa: ANN401 - any JSON value
    if key in _WORDS:
        return value in _WORDS[key]
    return isinstance(value, bool) and (value or key not in ("nat", "ingress"))


def _key(qdisc: Qdisc, key: str, value: Any) -> tuple[str, object] | None:  # noqa: ANN401 - any JSON value
    """Returns the scenario key and value of an option of cake."""
    found: tuple[str, object] | None = None
    if key in _CAKE:
        # A scenario accepts `nat` only on a node that masquerades.
        found = (_CAKE[key], value) if _is_known(key, value) else None
    elif key == "ack-filter" and value in _ACK_FILTER:
        found = "ack_filter", _ACK_FILTER[value]
    elif key == "rtt":
        found = "rtt", f"{value} us"
    elif key in ("overhead", "mpu", "atm") and qdisc.options.get("raw") is not True:
        found = key, value
    elif key == "memlimit" and value:
        found = "memlimit", f"{value} B"
    return found


_Form = Callable[[Any], object | None]


def _count(value: Any) -> object | None:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _size(value: Any) -> object | None:  # noqa: ANN401 - any JSON value
    return f"{value} B" if _count(value) is not None else None


def _time(value: Any) -> object | None:  # noqa: ANN401 - any JSON value
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    # The kernel keeps units of 1.024 us: 4,999 us are 5 ms.
    return f"{round(value / 1000) if value % 1000 in (0, 999) else value / 1000:g} ms"


def _rate(value: Any) -> object | None:  # noqa: ANN401 - any JSON value
    return f"{value * 8} bit/s" if _count(value) is not None and value > 0 else None


def _flag(value: Any) -> object | None:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, bool) else None


def _share(value: Any) -> object | None:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, float) and 0 <= value <= 1 else None


# linux: iproute2 tc/q_fq_codel.c, q_codel.c, q_fq.c, q_pie.c, q_sfq.c, q_fifo.c, q_tbf.c, q_netem.c print_opt (6.1).
_CODEL: Mapping[str, _Form] = {"limit": _count, "target": _time, "interval": _time, "ecn": _flag}
_KEYS: Mapping[str, Mapping[str, _Form]] = {
    "codel": _CODEL,
    "fq_codel": {**_CODEL, "flows": _count, "quantum": _size, "memory_limit": _size, "drop_batch": _count},
    "fq": {
        **dict.fromkeys(("limit", "flow_limit", "buckets", "orphan_mask"), _count),
        **dict.fromkeys(("quantum", "initial_quantum"), _size),
        **dict.fromkeys(("maxrate", "low_rate_threshold"), _rate),
        **dict.fromkeys(("refill_delay", "ce_threshold", "timer_slack", "horizon"), _time),
        **dict.fromkeys(("pacing", "horizon_drop"), _flag),
    },
    "pie": {
        **dict.fromkeys(("limit", "alpha", "beta"), _count),
        **dict.fromkeys(("target", "tupdate"), _time),
        **dict.fromkeys(("ecn", "bytemode", "dq_rate_estimator"), _flag),
    },
    "sfq": {
        **dict.fromkeys(("limit", "depth", "flows", "divisor"), _count),
        "quantum": _size,
        "perturb": _time,
        "headdrop": _flag,
    },
    "pfifo": {"limit": _count},
    "bfifo": {"limit": _size},
    "pfifo_fast": {},
    "tbf": {"rate": _rate, "burst": _size, "lat": _time, "peakrate": _rate, "mtu": _size},
    "netem": {
        **dict.fromkeys(("limit", "gap"), _count),
        **dict.fromkeys(("delay", "jitter"), _time),
        **dict.fromkeys(("loss", "duplicate", "reorder"), _share),
        "rate": _rate,
    },
}
_RENAMED = {("tbf", "lat"): "latency"}
_SILENT_OF = {
    *(("pfifo_fast", key) for key in ("bands", "priomap", "multiqueue")),
    ("tbf", "minburst"),
    ("htb", "direct_packets_stat"),
}
KINDS = tuple(_KEYS)
"""Disciplines, other than cake, that a wired interface of a scenario can have."""


def device_of(text: str) -> str:
    """Returns the device in a file name or command, such as `ifb4eth0` in `tc-ifb4eth0.json`; else empty."""
    found = re.search(
        r"(?<![a-z0-9])(ifb4[\w.@-]*?\w|ifb-?\w*\d|pppoe-\w+|ppp\d|wwan\d|wan\d?|dsl\d|br-\w+|lan\d|lan"
        r"|eth\d(?:\.\d+)?|en[opsx]\w*\d\w*|usb\d)(?=$|[^a-z0-9])",
        re.sub(r"\.(json|txt|log|out|md)$", "", text.lower()),
    )
    return found[1] if found else ""
