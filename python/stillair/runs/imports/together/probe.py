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
            left.append(f"{key} {of}: out of the range that is modelled")
    if "nat" in options:
        made["nat"] = options["nat"]
    return made, left
