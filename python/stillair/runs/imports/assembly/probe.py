"""Options of a qdisc that a scenario accepts, found by its own reader."""

import json
from collections.abc import Mapping
from functools import cache

from stillair import _native
from stillair._native import InputError

_PROBE = """
name = "probe"
link.l = {{ rate = "1 Gbit/s", delay = "1 ms" }}
node.b = {{ profile = "linux-6.6", interface.e.link = "l" }}
[node.a]
profile = "linux-6.6"
forward = true
{line}
interface.e.link = "l"
"""


@cache
def takes(line: str) -> bool:
    """Reports whether a line of a node is accepted."""
    try:
        _native.survey(_PROBE.format(line=line), "probe", [])
    except InputError:
        return False
    return True


_WIFI = """
name = "probe"
channel.c = {{ band = "5 GHz", width = "20 MHz" }}
[node.b]
profile = "linux-6.6"
interface.w = {{ channel = "c", role = "station", ap = "a.w", rate = "ht20-mcs0-lgi" }}
[node.a]
profile = "linux-6.6"
[node.a.interface.w]
channel = "c"
role = "ap"
{lines}
"""


@cache
def _is_access_point(lines: str) -> bool:
    try:
        _native.survey(_WIFI.format(lines=lines), "probe", [])
    except InputError:
        return False
    return True


def access_point(keys: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The keys of an access point that a scenario accepts, with values as TOML, and the others."""

    def accepted(of: Mapping[str, str]) -> bool:
        return _is_access_point("\n".join(f"{key} = {value}" for key, value in of.items()))

    if accepted(keys):
        return dict(keys), {}
    taken: dict[str, str] = {}
    # The greatest contention window first: the least depends on it.
    for key in sorted(keys, key=lambda key: "cwmax" not in key):
        if accepted(taken | {key: keys[key]}):
            taken[key] = keys[key]
    return {key: of for key, of in keys.items() if key in taken}, {k: of for k, of in keys.items() if k not in taken}


def inline(options: Mapping[str, object]) -> str:
    """A table as TOML in a line."""
    return f"{{ {', '.join(f'{key} = {value(of)}' for key, of in options.items())} }}"


def value(of: object) -> str:
    """A value as TOML."""
    if isinstance(of, Mapping):
        return inline(of)
    return str(of).lower() if isinstance(of, bool) else str(of) if isinstance(of, (int, float)) else json.dumps(str(of))


def qdisc(options: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
    """The options of a qdisc that a scenario accepts, and the others as `KEY VALUE: reason`."""
    # `nat` needs a router that masquerades, which the caller adds.
    plain = {key: of for key, of in options.items() if key != "nat"}
    if takes(f"interface.e.qdisc = {inline(plain)}"):
        return dict(options), []
    made: dict[str, object] = {"kind": options["kind"]}
    left = []
    for key, of in plain.items():
        if key == "kind":
            continue
        if takes(f"interface.e.qdisc = {inline({**made, key: of})}"):
            made[key] = of
        else:
            left.append(f"{key} {of}: outside the modelled range")
    if "nat" in options:
        made["nat"] = options["nat"]
    return made, left
