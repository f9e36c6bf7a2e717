"""What sqm-scripts make of the options of a queue: a discipline for each direction, and what of it is not read.

sqm-scripts: src/run-openwrt.sh, defaults.sh, functions.sh, *.qos (88608a16 and 39284957) - which options count, and
what each script hands to `tc`. The scripts do not look at `qdisc_advanced` and `qdisc_really_really_advanced`: these
say what LuCI shows and keeps.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stillair.runs.imports.openwrt import words
from stillair.runs.imports.openwrt.words import Options

_ONE_TIN = "piece_of_cake.qos"
_TINS = "layer_cake.qos"
_PLAIN = ("simple.qos", "simplest.qos", "simplest_tbf.qos")
_QUIET = (
    *("interface", "enabled", "download", "upload", "qdisc", "script"),
    *("debug_logging", "verbosity", "qdisc_advanced", "qdisc_really_really_advanced", "linklayer_advanced"),
)
"""Options of which there is nothing to say: read elsewhere, or of logs and of what LuCI shows."""
_OF_QUEUES = ("ilimit", "elimit", "itarget", "etarget")
_LIMIT = "1001"
"""Packets, of each fq_codel."""
_HELD_US = 33 * 53 * 8 * 1000
"""What 33 cells of ATM take at 1 kbit/s: the least target in us, times the rate in kbit/s."""


class Queue(NamedTuple):
    """The disciplines of a queue, without their rates."""

    down: Options
    up: Options
    unread: list[str]
    """Options that a scenario has nothing for, each as `NAME VALUE`, with a reason if that is not plain."""
    said: list[str]
    """What else a reader should know of it."""


def queue(options: Mapping[str, str], rates: Mapping[str, int]) -> Queue:
    """The disciplines that the options lead to at rates in kbit/s, `down` and `up`."""
    given = {key: value for key, value in options.items() if value}
    script = given.get("script", "simple.qos")
    qdisc = given.get("qdisc", "fq_codel")
    unread = [f"{key} {value}" for key, value in given.items() if key not in (*_QUIET, *_READ) and not _off(key, value)]
    said = list(_flags(given))
    if script not in (_ONE_TIN, _TINS, *_PLAIN):
        stands = _ONE_TIN if "piece_of_cake" in script else _TINS if "cake" in script else "simple.qos"
        said.append(f"guess: {script} is none of sqm-scripts that are known here; {stands} stands for it")
        script = stands
    if script in (_ONE_TIN, _TINS) or qdisc.startswith("cake"):
        if qdisc not in ("cake", "fq_codel") and qdisc.startswith("cake"):
            unread.append(f"qdisc {qdisc}: cake stands for it")
        down, up = _cake(given, script, unread)
    else:
        if qdisc != "fq_codel":
            unread.append(f"qdisc {qdisc}: fq_codel stands for it")
        down, up = _htb(given, script, rates, unread)
    return Queue(down, up, list(dict.fromkeys(unread)), said)


_READ = (
    *("linklayer", "overhead", "tcMPU", "linklayer_adaptation_mechanism", "squash_dscp", "squash_ingress"),
    *("ingress_ecn", "egress_ecn", "iqdisc_opts", "eqdisc_opts", *_OF_QUEUES),
)


def _off(key: str, value: str) -> bool:
    """Whether it only says what holds without it: the sizes of tables that only `tc`'s stab has."""
    return (key, value) in (("tcMTU", "2047"), ("tcTSIZE", "128"), ("tcTSIZE", "512"))


def _flags(given: Mapping[str, str]) -> Iterator[str]:
    """Options that LuCI does not show, and that count all the same."""
    for flag, keys in (
        ("qdisc_advanced", ("squash_dscp", "squash_ingress", "ingress_ecn", "egress_ecn")),
        ("qdisc_really_really_advanced", ("iqdisc_opts", "eqdisc_opts", *_OF_QUEUES)),
    ):
        there = [key for key in keys if key in given]
        if there and given.get(flag) != "1":
            yield f"{', '.join(there)}: read although {flag} is not 1, as sqm-scripts do; LuCI alone looks at that"


def _framing(given: Mapping[str, str], unread: list[str]) -> list[str]:
    """The words for the framing of the line that sqm-scripts hand to cake."""
    layer, by = given.get("linklayer", "none"), given.get("linklayer_adaptation_mechanism", "default")
    if layer == "none" or by not in ("default", "cake"):
        why = "linklayer is none" if layer == "none" else f"linklayer_adaptation_mechanism is {by}"
        unread += [f"{key} {given[key]}: {why}" for key in ("overhead", "tcMPU") if given.get(key, "0") != "0"]
        if layer != "none":
            unread.append(f"linklayer {layer}: {why}")
        return []
    if layer not in ("ethernet", "atm"):
        unread.append(f"linklayer {layer}: sqm-scripts take it for ethernet; ptm is a word of the qdisc_opts")
    made = ["atm"] if layer == "atm" else []
    for word, key in (("overhead", "overhead"), ("mpu", "tcMPU")):
        pair = [word, given.get(key, "0")]
        if words.cake(pair)[1]:
            unread.append(f"{key} {given[key]}: more or less than cake takes")
        else:
            made += pair
    return made


def _cake(given: Mapping[str, str], script: str, unread: list[str]) -> tuple[Options, Options]:
    squash, ignore = given.get("squash_dscp", "1") == "1", given.get("squash_ingress", "1") == "1"
    down, up = {
        _ONE_TIN: (["diffserv3", "nat", "besteffort"], ["diffserv3", "nat", "besteffort"]),
        _TINS: (["diffserv3", "nat", *(["besteffort"] if ignore else [])], ["diffserv3", "nat"]),
        "simple.qos": (["besteffort"] if ignore else [], []),
    }.get(script, (["besteffort"], ["besteffort"]))
    if squash and script in (_ONE_TIN, _TINS):
        down = [*down, "wash"]
    elif "squash_dscp" in given and script not in (_ONE_TIN, _TINS):
        unread.append(f"squash_dscp {given['squash_dscp']}: {script} has a firewall do it")
    unread += [f"{key} {given[key]}: cake has none" for key in _OF_QUEUES if key in given]
    unread += [
        f"{key} {given[key]}: cake marks in any case"
        for key in ("ingress_ecn", "egress_ecn")
        if given.get(key) == "NOECN"
    ]
    framing = _framing(given, unread)
    made = []
    for way, key in ((down, "iqdisc_opts"), (up, "eqdisc_opts")):
        options, left = words.cake([*framing, *way, *given.get(key, "").split()])
        unread += [f"{key} {one}" for one in left]
        made.append(options)
    return made[0], made[1]


def _htb(given: Mapping[str, str], script: str, rates: Mapping[str, int], unread: list[str]) -> tuple[Options, Options]:
    """What stands below an htb."""
    layer = given.get("linklayer", "none")
    if layer != "none":
        unread += [
            f"{key} {given[key]}: an htb of a scenario has no framing"
            for key in ("linklayer", "overhead", "tcMPU")
            if given.get(key, "0") != "0"
        ]
    has_classes = script == "simple.qos"
    if has_classes:
        unread.append("script simple.qos: its three classes by DSCP; all packets go into one here")
    if script == "simplest_tbf.qos":
        unread.append("script simplest_tbf.qos: its tbf; an htb stands for it")
    if "squash_dscp" in given:
        unread.append(f"squash_dscp {given['squash_dscp']}: {script} has a firewall do it")
    if "squash_ingress" in given and not has_classes:
        unread.append(f"squash_ingress {given['squash_ingress']}: {script} has no classes")
    made = []
    for way, side in (("down", "i"), ("up", "e")):
        ecn = given.get(f"{'in' if way == 'down' else 'e'}gress_ecn", "ECN")
        at_once = ["quantum", "300"] if has_classes and way == "up" else []
        options, left = words.fq_codel(
            [
                *("limit", given.get(f"{side}limit", _LIMIT)),
                *_target(given.get(f"{side}target", ""), rates[way]),
                *("noecn" if ecn == "NOECN" else "ecn", *at_once),
                *given.get(f"{side}qdisc_opts", "").split(),
            ]
        )
        unread += [f"{side}qdisc_opts {one}" for one in left]
        made.append(options)
    return made[0], made[1]


def _target(given: str, kbit: int) -> list[str]:
    """CoDel's target and interval: those given, else by the rate, so that a packet on its own is not late."""
    if given.lower() == "default":
        return []
    if words.microseconds(given) and not given.isdecimal():
        return ["target", given]
    us = max(5_000, _HELD_US // kbit) if kbit > 0 else 5_000
    return ["target", f"{us}us", "interval", f"{95_000 + us}us"] if us > 5_000 else []
