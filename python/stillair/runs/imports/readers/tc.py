"""Text of `tc -s qdisc` and `tc -s class`, as facts with the option names of `tc -j`."""

import re
from collections.abc import Callable, Iterator, Sequence

from stillair.runs.imports.facts import Class, Qdisc, Unread
from stillair.runs.imports.lines import Mistakes, unrecognised
from stillair.runs.imports.openwrt import tc_options
from stillair.runs.imports.qdiscs import KINDS as QDISCS
from stillair.runs.imports.readers import counters

# linux: iproute2 tc/q_*.c print_opt (4.x to 6.12) - words followed by a value, by the unit of the value.
_TIMES = (
    *("target", "interval", "rtt", "tupdate", "ce_threshold", "refill_delay", "timer_slack", "horizon", "lat"),
    *("delay", "perturb", "latency", "slot"),
)
_SIZES = ("quantum", "initial_quantum", "memory_limit", "memlimit", "burst", "cburst", "mtu", "minburst")
_RATES = ("bandwidth", "rate", "ceil", "maxrate", "low_rate_threshold", "peakrate")
_COUNTS = (
    *("limit", "flows", "flow_limit", "buckets", "orphan_mask", "drop_batch", "depth", "divisor", "alpha", "beta"),
    *("overhead", "mpu", "bands", "r2q", "direct_qlen", "direct_packets_stat", "ver", "refcnt", "prio", "gap"),
    *("total_overhead", "hard_header_len"),
)
_TEXTS = ("linklayer", "stab", "default", "fwmark", "leaf", "parent", "dev", "loss", "duplicate", "reorder", "corrupt")
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,9})?")
_COUNTERS = re.compile(r"Sent (\d+) bytes (\d+) pkts? \(dropped (\d+), overlimits (\d+) requeues (\d+)\)")
_BACKLOG = re.compile(r"backlog (\d+)([KMG]?)b (\d+)p requeues \d+")
_CAKE = {
    "nat": ("nat", True),
    "nonat": ("nat", False),
    "wash": ("wash", True),
    "nowash": ("wash", False),
    "ingress": ("ingress", True),
    "egress": ("ingress", False),
    "split-gso": ("split_gso", True),
    "no-split-gso": ("split_gso", False),
    "raw": ("raw", True),
    "no-ack-filter": ("ack-filter", "disabled"),
    "ack-filter": ("ack-filter", "enabled"),
    "ack-filter-aggressive": ("ack-filter", "aggressive"),
    "ack-filter-conservative": ("ack-filter", "enabled"),
    "noatm": ("atm", "noatm"),
    "atm": ("atm", "atm"),
    "ptm": ("atm", "ptm"),
    "autorate-ingress": ("autorate-ingress", True),
    "autorate_ingress": ("autorate-ingress", True),
}
_QUIET = (
    *("offloaded", "[offloaded]", "via-ethernet", "no-sce", "direct_qlen", "refcnt", "ver"),
    *("total_overhead", "hard_header_len"),
)
_STRICT = (*QDISCS, "cake", "cake_mq", "htb")
"""Disciplines whose values must be valid; for others only the kind is used."""


def qdiscs(file: str, text: str) -> Sequence[Qdisc | Unread]:
    """The disciplines of `tc qdisc show`, with or without `-s` and `dev`."""
    mistakes, found = Mistakes(file), list[Qdisc | Unread]()
    counts: dict[str, int] = {}
    heads: list[tuple[Qdisc, int, list[str]]] = []
    strange: list[tuple[int, str]] = []
    is_head = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if head := re.match(r"qdisc (\S+) (\S+?)(?: dev (\S+))?(?: (root|parent) ?(\S*)(.*))?$", stripped):
            kind, handle, device, place, parent, rest = head.groups()
            counts = {}
            root = place == "root"
            behind = f"{parent or ''} {rest or ''}" if root else rest or ""
            where = f"{file}:{number}"
            own = Qdisc(device or "?", kind, root, {}, counts, where, handle, "" if root else parent or "")
            found.append(own)
            heads.append((own, number, behind.split()))
            is_head = True
        elif stripped.startswith("qdisc "):
            mistakes.add(number, stripped, '"qdisc KIND HANDLE: dev DEVICE root ..."')
        elif sent := _COUNTERS.match(stripped):
            names = ("bytes", "packets", "drops", "overlimits", "requeues")
            counts |= {name: int(of) for name, of in zip(names, sent.groups(), strict=True)}
            is_head = False
        elif held := _BACKLOG.match(stripped):
            counts["qlen"] = int(held[3])
            is_head = False
        elif is_head and (stab := re.match(r"linklayer \w+.*", stripped)):
            heads[-1][2].extend(("stab", stab[0]))
        elif is_head and stripped and _is_option(stripped.split()[0]):
            heads[-1][2].extend(stripped.split())  # a line that the terminal wrapped
        elif counters.is_known(stripped):
            is_head = False
        elif stripped and not (heads and _is_mqprio(heads[-1][0].kind, stripped)):
            strange.append((number, stripped))
    for qdisc, number, behind_it in heads:
        qdisc.options.update(_options(qdisc.kind, behind_it, number, mistakes))
    mistakes.tell()
    return [*found, *unrecognised(file, strange)]


def _is_mqprio(kind: str, line: str) -> bool:
    # linux: iproute2 tc/q_mqprio.c, q_taprio.c print_opt (6.1) - options on lines of their own.
    return kind in ("mqprio", "taprio") and bool(re.match(r"(queues:|mode:|shaper:|min_rate:|max_rate:|fp:)", line))


def _is_option(word: str) -> bool:
    known = (*_TIMES, *_SIZES, *_RATES, *_COUNTS, *_TEXTS, *_QUIET, "ecn", "noecn", "unlimited")
    return word in known or _of_cake(word) is not None or bool(_NUMBER.match(word))


def classes(file: str, text: str) -> Sequence[Class | Unread]:
    """Returns the htb classes of `tc class show`, and the number of other classes."""
    mistakes, found, others = Mistakes(file), list[Class | Unread](), dict[str, int]()
    strange: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped.startswith("class "):
            if stripped and not counters.is_known(stripped):
                strange.append((number, stripped))
            continue
        _, kind, handle, *rest = [*stripped.split(), "", ""]
        if kind != "htb":
            others[kind] = others.get(kind, 0) + 1
            continue
        given = dict(_pairs(rest))
        rate = tc_options.bits(given.get("rate") or "")
        if rate is None:
            mistakes.add(number, stripped, '"class htb HANDLE parent HANDLE ... rate 10Mbit ceil 10Mbit"')
            continue
        framing = [
            f"{key} {given[key]}" for key in ("overhead", "linklayer") if given.get(key) not in (None, "0", "0b")
        ]
        if framing and framing != ["linklayer ethernet"]:
            what = f"class {handle}: {' '.join(framing)}: htb has no framing here"
            found.append(Unread(what, f"{file}:{number}"))
        burst = tc_options.size(given.get("burst") or "")
        top = "" if "root" in rest else given.get("parent") or ""
        device = given.get("dev") or "?"
        found.append(Class(device, handle, top, given.get("leaf") or "", rate, burst, f"{file}:{number}"))
    mistakes.tell()
    for kind, count in others.items():
        what = "its flow queues" if kind in ("fq_codel", "cake", "sfq", "fq_pie") else "not read"
        found.append(Unread(f"{count} class{'es' if count > 1 else ''} of {kind}: {what}", file))
    return [*found, *unrecognised(file, strange)]


def _pairs(words_: Sequence[str], kind: str = "") -> Iterator[tuple[str, str | None]]:
    # The `flows` of cake is an isolation, that of fq_codel has a number.
    own = _COUNTS if kind not in ("cake", "cake_mq") else [word for word in _COUNTS if word != "flows"]
    take = (*_TIMES, *_SIZES, *_RATES, *own, *_TEXTS)
    at = 0
    while at < len(words_):
        has = words_[at] in take and at + 1 < len(words_)
        yield words_[at], words_[at + 1] if has else None
        at += 2 if has else 1


def _options(kind: str, behind: list[str], number: int, mistakes: Mistakes) -> dict[str, object]:
    """Options as `tc -j` has them; a word without a reader is an option that is True."""
    if kind in ("noqueue", "ingress", "clsact", "mq", "mqprio", "pfifo_fast"):
        return {}
    if kind == "netem":
        return _netem(behind)
    made: dict[str, object] = {}
    last = ""
    for word, value in _pairs(behind, kind):
        if value is None and re.fullmatch(r"\d+", word) and last in made:
            # Several numbers after a word, as for `priomap` and `weights`.
            made[last] = word if made[last] is True else f"{made[last]} {word}"
            continue
        last = word if value is None else ""
        if word not in _QUIET and not re.fullmatch(r"-+", word):
            _option(made, kind, word, value, lambda found, right: mistakes.add(number, found, right))
    return made


def _option(
    made: dict[str, object], kind: str, word: str, value: str | None, wrong: Callable[[str, str], None]
) -> None:
    """A word of a discipline's options, and the value after it."""
    if kind in ("cake", "cake_mq") and (found := _of_cake(word)):
        made[found[0]] = found[1]
    elif word in ("ecn", "noecn"):
        made["ecn"] = word == "ecn"
    elif value is None or (word == "bandwidth" and value == "unlimited"):
        made[word] = True if value is None else value
    elif (read := _value(word, value)) is not None:
        if word != "direct_packets_stat":
            made[word] = read
    elif kind in _STRICT:
        wrong(f"{word} {value}", f"a value of {word} as tc prints it")
    else:
        made[word] = value


def _of_cake(word: str) -> tuple[str, object] | None:
    """A word of cake without a value."""
    if word in tc_options.TINS:
        return "diffserv", tc_options.TINS[word]
    return ("flowmode", word) if word in tc_options.ISOLATION else _CAKE.get(word)


def _value(word: str, value: str) -> object | None:
    if word in _RATES:
        bits = tc_options.bits(value)
        return None if bits is None else bits // 8
    if word in _TIMES:
        return tc_options.microseconds(value)
    if word in _SIZES:
        return tc_options.size(value)
    if word in _COUNTS:
        at = re.match(r"(-?\d{1,12})(?:[pb]|/\d+)?$", value)
        return int(at[1]) if at else tc_options.size(value) if word == "limit" else None
    return value


def _netem(behind: Sequence[str]) -> dict[str, object]:
    """Delay with its jitter, loss and rate of an emulated network."""
    made: dict[str, object] = {}
    at = 0
    while at < len(behind):
        word, rest = behind[at], behind[at + 1 :]
        at += 1
        if word == "delay" and rest:
            for key, value in zip(("delay", "jitter"), rest, strict=False):
                us = tc_options.microseconds(value)
                if us is None:
                    break
                made[key], at = us, at + 1
        elif word in ("loss", "duplicate", "reorder") and rest and re.fullmatch(r"\d{1,3}(\.\d+)?%", rest[0]):
            made[word], at = float(rest[0][:-1]) / 100, at + 1
        elif word == "rate" and rest and (bits := tc_options.bits(rest[0])):
            made["rate"], at = bits // 8, at + 1
        elif word in ("limit", "gap") and rest and rest[0].isdecimal():
            made[word], at = int(rest[0]), at + 1
        elif word in ("refcnt", "seed") and rest:
            at += 1
        else:
            made[word] = True
    return made
