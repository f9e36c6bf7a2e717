"""Scenario options of cake and fq_codel from `tc` command-line options."""

import re
from collections.abc import Iterator, Mapping, Sequence

Options = dict[str, object]

TINS = {
    "besteffort": "besteffort",
    "precedence": "precedence",
    "diffserv": "diffserv4",
    **{f"diffserv{n}": f"diffserv{n}" for n in (3, 4, 8)},
}
ISOLATION = ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")
FLAGS = {
    "nat": ("nat", True),
    "nonat": ("nat", False),
    "wash": ("wash", True),
    "nowash": ("wash", False),
    "ingress": ("ingress", True),
    "egress": ("ingress", False),
    "split-gso": ("split_gso", True),
    "no-split-gso": ("split_gso", False),
}
_ACK_FILTER = ("no-ack-filter", "ack-filter", "ack-filter-aggressive")
_CELLS = ("noatm", "atm", "ptm")
# linux: iproute2's q_cake.c presets, cake_parse_opt (6.1) - round-trip times in us; overhead, ATM/PTM mode
# and mpu of each keyword. `conservative` sets the overhead, all others add to it.
RTT_US = {
    "datacentre": 100,
    "lan": 1_000,
    "metro": 10_000,
    "regional": 30_000,
    "internet": 100_000,
    "oceanic": 300_000,
    "satellite": 1_000_000,
    "interplanetary": 1_000_000_000,
}
FRAMING: dict[str, tuple[int, str | None, int | None]] = {
    "ipoa-vcmux": (8, "atm", None),
    "ipoa-llcsnap": (16, "atm", None),
    "bridged-vcmux": (24, "atm", None),
    "bridged-llcsnap": (32, "atm", None),
    "pppoa-vcmux": (10, "atm", None),
    "pppoa-llc": (14, "atm", None),
    "pppoe-vcmux": (32, "atm", None),
    "pppoe-llcsnap": (40, "atm", None),
    "pppoe-ptm": (30, "ptm", None),
    "bridged-ptm": (22, "ptm", None),
    "ethernet": (38, None, 84),
    "ether-vlan": (4, None, None),
    "docsis": (18, "noatm", 64),
}
_TAKE = ("bandwidth", "rtt", "memlimit", "fwmark", "overhead", "mpu")
"""Words of cake that require a value."""
_OVERHEADS, _MPUS = range(-64, 257), range(257)
_MOST_US = 1 << 32
_MEMORY, _QUANTA = range(4096, (1 << 30) + 1), range(256, (1 << 20) + 1)
_COUNTS = {"limit": range(1, 1_000_001), "flows": range(1, 65_537), "drop_batch": range(1, 1_000_001)}
_SIZES = {"quantum": _QUANTA, "memory_limit": _MEMORY}
_DEFAULTS: Options = {
    "isolation": "triple-isolate",
    "nat": False,
    "wash": False,
    "ingress": False,
    "split_gso": True,
    "ack_filter": "no-ack-filter",
    "mpu": 0,
    "atm": "noatm",
}
_ORDER = ("kind", "tins", "isolation", "nat", "ingress", "wash", "ack_filter", "split_gso", "rtt", "memlimit")


def cake(words: Sequence[str]) -> tuple[Options, list[str]]:
    """Returns the non-default options of a cake, and the words without a scenario key.

    As in `tc`, the last of competing words holds.
    """
    made: Options = {"kind": "cake", "tins": "diffserv3"}
    left = list[str]()
    for word, value in _pairs(words, _TAKE):
        if word in TINS:
            made["tins"] = TINS[word]
        elif word in ISOLATION:
            made["isolation"] = word
        elif word in FLAGS:
            key, on = FLAGS[word]
            made[key] = on
        elif word in _ACK_FILTER:
            made["ack_filter"] = word
        elif not (_framed(made, word, value) or _sized(made, word, value)):
            left.append(f"{word} {value}" if value is not None else word)
    if not looks_at_hosts(made):
        made.pop("nat", None)  # without host isolation, `nat` has no effect
    made = {key: value for key, value in made.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
    return {key: made[key] for key in (*_ORDER, "overhead", "mpu", "atm") if key in made}, left


def looks_at_hosts(options: Mapping[str, object]) -> bool:
    """Reports whether a discipline isolates hosts, not only flows."""
    return options["kind"] == "cake" and options.get("isolation") not in ("flows", "flowblind")


def _pairs(words: Sequence[str], take: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yields each word with its value, or `None` for words without one."""
    at = 0
    while at < len(words):
        has = words[at] in take and at + 1 < len(words)
        yield words[at], words[at + 1] if has else None
        at += 2 if has else 1


def _framed(made: Options, word: str, value: str | None) -> bool:
    """Applies a framing keyword; reports whether the word is one with a valid value."""
    overhead = made.get("overhead", 0)
    if word in _CELLS:
        made["atm"] = word
    elif word == "raw":
        made.pop("overhead", None)
        made["atm"] = "noatm"
    elif word == "conservative":
        made["overhead"], made["atm"] = 48, "atm"
    elif word in FRAMING:
        more, cells, least = FRAMING[word]
        made["overhead"] = more + (overhead if isinstance(overhead, int) else 0)
        made["atm"] = cells or made.get("atm", "noatm")
        made["mpu"] = made.get("mpu", 0) if least is None else least
    elif word == "via-ethernet":
        pass  # no effect: cake knows the length of the device's header
    else:
        bounds = {"overhead": _OVERHEADS, "mpu": _MPUS}.get(word, range(0))
        if value is None or not re.fullmatch(r"-?\d+", value) or int(value) not in bounds:
            return False
        made[word] = int(value)
    return True


def _sized(made: Options, word: str, value: str | None) -> bool:
    """Applies a time or size option; reports whether the word is one."""
    if word in RTT_US:
        made["rtt"] = f"{RTT_US[word]} us"
    elif word == "rtt" and (us := microseconds(value or "")) and us <= _MOST_US:
        made["rtt"] = f"{us} us"
    elif word == "memlimit" and (size := _bytes(value or "")) and size in _MEMORY:
        made["memlimit"] = f"{size} B"
    else:
        return False
    return True


def microseconds(text: str) -> int | None:
    """Returns a time in us as `tc` parses it, by default in us; `None` if it is not a positive time."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?(?:e[+-]\d{2})?)(s|secs?|ms|msecs?|us|usecs?|ns)?", text.lower())
    if found is None:
        return None
    us = round(float(found[1]) * {"s": 1_000_000, "m": 1_000, "u": 1, "n": 0.001}[(found[2] or "u")[0]])
    return us if us > 0 else None


def bits(text: str) -> int | None:
    """A rate in bit/s as `tc` prints it: `831Kbit`, `8500Kbit`, `1Gbit`, `100bit`."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)([kmgt]?)(i?)(bit|bps)", text.lower())
    if found is None:
        return None
    scale: int = (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " ")
    return round(float(found[1]) * scale) * (8 if found[4] == "bps" else 1)


def size(text: str) -> int | None:
    """A size in bytes as `tc` prints it: `1514`, `4Mb`, `1600b`, `15Kb/8`."""
    return _bytes(text.partition("/")[0])


def differences(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """Keys whose values differ, defaults included, as `KEY VALUE instead of VALUE`."""
    base: Options = {**_DEFAULTS, "rtt": "100000 us", "overhead": "raw"} if one.get("kind") == "cake" else {}
    mine, others = {**base, **one}, {**base, **other}
    return [
        f"{key} {_shown(mine.get(key))} instead of {_shown(others.get(key))}"
        for key in sorted({*mine, *others})
        if mine.get(key) != others.get(key) and key != "memlimit"
    ]


def _shown(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _bytes(text: str) -> int | None:
    """Parses a size like `tc`, in powers of 1,024."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)(k|kb|m|mb|g|gb|b|kbit|mbit|gbit)?", text.lower())
    if found is None:
        return None
    unit = found[2] or "b"
    count = float(found[1]) * {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[unit[0]]
    return round(count / 8 if unit.endswith("bit") else count) or None


_OF_FQ_CODEL = ("limit", "flows", "target", "interval", "quantum", "memory_limit", "drop_batch", "ce_threshold")


def fq_codel(words: Sequence[str]) -> tuple[Options, list[str]]:
    """Returns the options of an fq_codel, and the words without a scenario key."""
    made: Options = {"kind": "fq_codel"}
    left = list[str]()
    for word, value in _pairs(words, _OF_FQ_CODEL):
        number = int(value) if value is not None and value.isdecimal() else 0
        if word in ("ecn", "noecn"):
            made["ecn"] = word == "ecn"
        elif word in _COUNTS and number in _COUNTS[word]:
            made[word] = number
        elif word in ("target", "interval") and (us := microseconds(value or "")) and us <= _MOST_US:
            made[word] = f"{us} us"
        elif word in ("quantum", "memory_limit") and (_bytes(value or "") or 0) in _SIZES[word]:
            made[word] = f"{_bytes(value or '')} B"
        else:
            left.append(f"{word} {value}" if value is not None else word)
    return made, left
