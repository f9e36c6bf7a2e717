"""Finds shapers whose framing differs from their line's."""

from collections.abc import Iterator, Mapping
from typing import Any

Resolved = Mapping[str, Any]

# Without `overhead`, cake counts the Ethernet header but not the FCS.
_HEADER = 14
_LEAST = 8
"""Smallest reported difference, in bytes per packet. A VLAN tag, an FCS or both are less."""


def differences(resolved: Resolved) -> Iterator[str]:
    """A sentence for each direction of a shaper at an access line whose framing differs from the line's."""
    links = {link["name"]: link for link in resolved["links"]}
    for node in resolved["nodes"]:
        for interface in node["interfaces"]:
            link = links.get(interface.get("medium", {}).get("link"))
            path = f"{node['name']}.{interface['name']}"
            if link is None or path not in link["ends"]:
                continue
            at = link["ends"].index(path)
            ways = (link["medium"], link.get("medium_back", link["medium"]))
            qdisc = interface.get("qdisc") or {}
            yield from _of(path, "outgoing", qdisc.get("config"), ways[at], link["name"])
            yield from _of(path, "incoming", interface.get("ingress"), ways[1 - at], link["name"])


def _of(path: str, way: str, config: Resolved | None, medium: Resolved, link: str) -> Iterator[str]:
    if not config or config.get("kind") != "cake" or not config.get("bandwidth_bps") or medium.get("kind") != "access":
        return
    line = medium["line"]
    own = config["overhead_bytes"] if isinstance(config.get("overhead_bytes"), int) else _HEADER
    cells, adds = config.get("atm", "noatm"), line["atm"]
    if cells == adds and abs(own - line["overhead_bytes"]) < _LEAST:
        return
    less = own < line["overhead_bytes"] or (adds != "noatm" and cells == "noatm")
    effect = (
        "it passes more than the line carries, mostly with small packets, and queues form in the modem"
        if less
        else "it uses less than the line's rate, mostly with small packets"
    )
    yield (
        f"node.{path}: the shaper of {way} packets counts {_worded(own, cells)}, link.{link} adds"
        f" {_worded(line['overhead_bytes'], adds)}: {effect}; set its overhead and atm to the line's"
    )


def _worded(overhead: int, atm: str) -> str:
    return f"{overhead} bytes per packet" + (
        f" in {atm} cells" if atm == "atm" else " with ptm" if atm == "ptm" else ""
    )
