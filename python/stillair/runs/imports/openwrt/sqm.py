"""Disciplines that sqm-scripts set up in each direction for a queue's options, and the options without a use.

sqm-scripts: src/run-openwrt.sh, defaults.sh, functions.sh, *.qos (88608a16 and 39284957) - options with an
effect, and the arguments that each script passes to `tc`. The scripts ignore `qdisc_advanced` and
`qdisc_really_really_advanced`, which only control LuCI.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stillair.runs.imports.openwrt import tc_options
from stillair.runs.imports.openwrt.tc_options import Options

_ONE_TIN = "piece_of_cake.qos"
_TINS = "layer_cake.qos"
_CLASSES = "simple.qos"
_TBF = "simplest_tbf.qos"
_PLAIN = (_CLASSES, "simplest.qos", _TBF)
_QUIET = (
    *("interface", "enabled", "download", "upload", "qdisc", "script"),
    *("debug_logging", "verbosity", "qdisc_advanced", "qdisc_really_really_advanced", "linklayer_advanced"),
)
"""Options that need no comment: read elsewhere, or for logs and LuCI only."""
_OF_QUEUES = ("ilimit", "elimit", "itarget", "etarget")
_LIMIT = "1001"
"""Packet limit of each fq_codel."""
_HELD_US = 33 * 53 * 8 * 1000
"""Duration of 33 ATM cells in us at 1 kbit/s. Divided by the rate in kbit/s, it is the smallest target."""
_BURST_US = 1000
_LEAST_BURST = 33 * 53
"""Least burst in bytes: a 1500-byte packet in ATM cells with the most overhead."""
_UNITS = ("s", "sec", "secs", "ms", "msec", "msecs", "us", "usec", "usecs")
"""Units of a target that sqm-scripts accept."""
RATES = {"download": 14_698, "upload": 2_302}
"""Default rates in kbit/s; 0 disables the direction."""
_OF_TC = 1600
"""Default burst of an htb in bytes."""


class Queue(NamedTuple):
    """The disciplines of a queue, without their rates."""

    down: Options
    up: Options
    unread: list[str]
    """Options without a scenario key, as `NAME VALUE`, with a reason if it is not obvious."""
    said: list[str]
    """Comments for the scenario."""
    bursts: dict[str, int]
    """Burst in bytes of the htb of each direction; empty for cake."""


class _Given(NamedTuple):
    """A queue's options while they are parsed."""

    options: Mapping[str, str]
    unread: list[str]
    said: list[str]
    used: set[str]
    """Options that have an effect although LuCI hides them."""

    def get(self, key: str, otherwise: str) -> str:
        return self.options.get(key, otherwise)

    def leave(self, key: str, why: str) -> None:
        """Adds an option to the unread ones."""
        self.unread.append(f"{key} {self.options[key]}: {why}")


def queue(options: Mapping[str, str], rates: Mapping[str, int]) -> Queue:
    """Returns the disciplines for options and the rates `down` and `up` in kbit/s."""
    given = _Given({key: value for key, value in options.items() if value}, [], [], set())
    script, qdisc = given.get("script", _CLASSES), given.get("qdisc", "fq_codel")
    known = (*_QUIET, *_READ)
    given.unread.extend(f"{key} {of}" for key, of in given.options.items() if key not in known and not _off(key, of))
    if script not in (_ONE_TIN, _TINS, *_PLAIN):
        stands = _ONE_TIN if "piece_of_cake" in script else _TINS if "cake" in script else _CLASSES
        given.said.append(f"guess: unknown script {script}; {stands} is assumed")
        script = stands
    bursts: dict[str, int] = {}
    if script in (_ONE_TIN, _TINS) or (qdisc.startswith("cake") and script != _TBF):
        if qdisc not in ("cake", "fq_codel") and qdisc.startswith("cake"):
            given.leave("qdisc", "cake is used")
        down, up = _cake(given, script)
    else:
        if script == _TBF and qdisc.startswith("cake"):
            given.said.append(f"qdisc {qdisc}: {_TBF} ignores this and runs fq_codel")
        elif qdisc != "fq_codel":
            given.leave("qdisc", "fq_codel is used")
        down, up = _htb(given, script, rates)
        bursts = {way: max(_BURST_US * kbit // 8000, _LEAST_BURST) for way, kbit in rates.items() if kbit > 0}
        if "down" in bursts:
            given.unread.append(f"burst of {bursts['down']} bytes for downloads: the htb of a shaper has {_OF_TC}")
    said = [*given.said, *_flags(given)]
    return Queue(down, up, list(dict.fromkeys(given.unread)), said, bursts)


_READ = (
    *("linklayer", "overhead", "tcMPU", "linklayer_adaptation_mechanism", "squash_dscp", "squash_ingress"),
    *("ingress_ecn", "egress_ecn", "iqdisc_opts", "eqdisc_opts", *_OF_QUEUES),
)


def _off(key: str, value: str) -> bool:
    """Reports whether an option has its default value: table sizes that only `tc`'s stab uses."""
    return (key, value) in (("tcMTU", "2047"), ("tcTSIZE", "128"), ("tcTSIZE", "512"))


def _flags(given: _Given) -> Iterator[str]:
    """Yields a comment for options that have an effect although LuCI hides them."""
    for flag, keys in (
        ("qdisc_advanced", ("squash_dscp", "squash_ingress", "ingress_ecn", "egress_ecn")),
        ("qdisc_really_really_advanced", ("iqdisc_opts", "eqdisc_opts", *_OF_QUEUES)),
    ):
        there = [key for key in keys if key in given.used]
        if there and given.get(flag, "0") != "1":
            yield f"{', '.join(there)}: used, as by sqm-scripts; {flag} only hides the options in LuCI"


def _squashes(given: _Given, key: str) -> bool:
    """Reports whether `squash_dscp` or `squash_ingress`, which are on by default, is on."""
    on = given.get(key, "1") == "1"
    if not on:
        given.used.add(key)
    return on


def _framing(given: _Given) -> list[str]:
    """Returns the framing keywords that sqm-scripts pass to cake."""
    layer, by = given.get("linklayer", "none"), given.get("linklayer_adaptation_mechanism", "default")
    if layer == "none" or by not in ("default", "cake"):
        why = "linklayer is none" if layer == "none" else f"linklayer_adaptation_mechanism is {by}"
        _unframed(given, why, ("overhead", "tcMPU"))
        if layer != "none":
            given.leave("linklayer", why)
        return []
    if layer not in ("ethernet", "atm"):
        given.leave("linklayer", "sqm-scripts treat it as ethernet; ptm is a keyword for the qdisc_opts")
    made = ["atm"] if layer == "atm" else []
    for word, key in (("overhead", "overhead"), ("mpu", "tcMPU")):
        pair = [word, given.get(key, "0")]
        if tc_options.cake(pair)[1]:
            given.leave(key, "out of cake's range")
        else:
            made += pair
    return made


def _unframed(given: _Given, why: str, keys: Sequence[str]) -> None:
    """Adds framing options without an effect to the unread ones."""
    for key in keys:
        if given.get(key, "0") != "0":
            given.leave(key, why)


def _cake(given: _Given, script: str) -> tuple[Options, Options]:
    down, up = {
        _ONE_TIN: (["diffserv3", "nat", "besteffort"], ["diffserv3", "nat", "besteffort"]),
        _TINS: (["diffserv3", "nat"], ["diffserv3", "nat"]),
        _CLASSES: (list[str](), list[str]()),
    }.get(script, (["besteffort"], ["besteffort"]))
    if script in (_TINS, _CLASSES) and _squashes(given, "squash_ingress"):
        down = [*down, "besteffort"]
    if script in (_ONE_TIN, _TINS) and _squashes(given, "squash_dscp"):
        down = [*down, "wash"]
    _without_effect(given, script)
    for key in _OF_QUEUES:
        if key in given.options and given.options[key].lower() not in ("auto", "default"):
            given.leave(key, "cake has no such option")
    for key in ("ingress_ecn", "egress_ecn"):
        if given.get(key, "ECN").upper() == "NOECN":
            given.leave(key, "cake always marks")
    framing = _framing(given)
    made = []
    for way, key in ((down, "iqdisc_opts"), (up, "eqdisc_opts")):
        options, left = tc_options.cake([*framing, *way, *_opts(given, key)])
        given.unread.extend(f"{key} {one}" for one in left)
        made.append(options)
    # A firewall rule behind this cake clears the DSCP, independent of the cake's options.
    if script == _CLASSES and _squashes(given, "squash_dscp"):
        made[0], _ = tc_options.cake([*framing, *down, *_opts(given, "iqdisc_opts"), "wash"])
    return made[0], made[1]


def _opts(given: _Given, key: str) -> list[str]:
    found = given.get(key, "").split()
    if found:
        given.used.add(key)
    return found


def _without_effect(given: _Given, script: str) -> None:
    """Adds `squash_dscp` to the unread options for scripts that do not clear the DSCP."""
    if script in _PLAIN and script != _CLASSES and given.get("squash_dscp", "0") == "1":
        given.leave("squash_dscp", f"no effect on the router either: {script} does not clear the DSCP")


def _htb(given: _Given, script: str, rates: Mapping[str, int]) -> tuple[Options, Options]:
    """Returns the disciplines below the htb of each direction."""
    layer = given.get("linklayer", "none")
    if layer == "none":
        _unframed(given, "linklayer is none", ("overhead", "tcMPU"))
    else:
        _unframed(given, "htb has no framing here", ("linklayer", "overhead", "tcMPU"))
    if script == _CLASSES:
        given.unread.append(f"script {_CLASSES}: three classes by DSCP; all packets use one class here")
        if given.get("squash_dscp", "1") == "1":
            given.unread.append(
                f"squash_dscp 1: {_CLASSES} clears the DSCP of incoming packets with a firewall rule; here it stays"
            )
    elif "squash_ingress" in given.options:
        given.leave("squash_ingress", f"{script} has no classes")
    if script == _TBF:
        given.unread.append(f"script {_TBF}: its tbf is modelled as an htb")
    _without_effect(given, script)
    made = []
    for way, side in (("down", "i"), ("up", "e")):
        own = _own(given, side, rates[way])
        at_once = ["quantum", "300"] if script == _CLASSES and way == "up" else []
        options, left = tc_options.fq_codel([*own, *at_once, *_opts(given, f"{side}qdisc_opts")])
        given.unread.extend(f"{side}qdisc_opts {one}" for one in left)
        made.append(options)
    return made[0], made[1]


def _own(given: _Given, side: str, kbit: int) -> list[str]:
    """Returns the words of an fq_codel from the options for limit, target and ECN."""
    limit, target, ecn = f"{side}limit", f"{side}target", {"i": "ingress_ecn", "e": "egress_ecn"}[side]
    made = list[str]()
    for key, found in ((limit, ["limit", given.get(limit, _LIMIT)]), (target, _target(given, target, kbit))):
        if tc_options.fq_codel(found)[1]:
            given.leave(key, "out of fq_codel's range")
        else:
            made += found
            if found and given.get(key, _LIMIT) != _LIMIT and given.get(key, "").lower() != "auto":
                given.used.add(key)
    # sqm-scripts: functions.sh get_ecn - passes any other value to `tc` unchanged.
    is_on = {"ECN": True, "ecn": True, "NOECN": False, "noecn": False}.get(given.get(ecn, "ECN"))
    if is_on is None:
        given.leave(ecn, "neither ECN nor NOECN, so tc rejects it; ECN is assumed")
    elif not is_on:
        given.used.add(ecn)
    return [*made, "noecn" if is_on is False else "ecn"]


def _target(given: _Given, key: str, kbit: int) -> list[str]:
    """Returns CoDel's target and interval: configured, else from the rate, so that the target holds one packet."""
    # sqm-scripts: functions.sh get_target - parses leading digits and trailing letters separately.
    text = given.get(key, "")
    digits, letters = (re.search(pattern, text) for pattern in (r"^\d+", r"[A-Za-z]+$"))
    unit = letters[0] if letters else ""
    if digits and unit in _UNITS:
        if text.replace(" ", "") != f"{digits[0]}{unit}":
            given.said.append(f"{key} {text}: {digits[0]}{unit}, as sqm-scripts read it")
        return ["target", f"{digits[0]}{unit}"]
    if unit in ("auto", "Auto", "AUTO") or not (digits or unit):
        us = max(5_000, _HELD_US // kbit) if kbit > 0 else 5_000
        return ["target", f"{us}us", "interval", f"{95_000 + us}us"] if us > 5_000 else []
    if unit not in ("default", "Default", "DEFAULT"):
        given.said.append(f"{key} {text}: not a time for sqm-scripts, so fq_codel keeps its target of 5 ms")
    return []
