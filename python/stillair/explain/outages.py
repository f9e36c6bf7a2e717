"""Outages of links: times in which a step of the scenario sets a rate at which nothing passes."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Resolved = Mapping[str, Any]

_FULL_BITS = 8 * 1500
_SLOW_S = 1.0
"""A link at which a full packet takes longer than this is down."""


class Outage(NamedTuple):
    """A direction of a link that is down."""

    link: str
    place: str
    """The interface that sends in this direction."""
    from_ns: int
    until_ns: int

    @property
    def ms(self) -> float:
        """Its length."""
        return (self.until_ns - self.from_ns) / 1e6


def found(resolved: Resolved) -> list[Outage]:
    """The outages of a run, in the order of links and time."""
    states = [(0, resolved["links"]), *((step["at_ns"], step["to"]["links"]) for step in resolved.get("steps") or ())]
    ends = [*(at for at, _ in states[1:]), resolved["duration_ns"]]
    down: list[Outage] = []
    for (at, links), end in zip(states, ends, strict=True):
        down += [Outage(name, place, at, end) for name, place in _down(links)]
    # A step that changes something else cuts no outage in two.
    joined: list[Outage] = []
    for one in sorted(down):
        if joined and joined[-1][:2] == one[:2] and joined[-1].until_ns == one.from_ns:
            joined[-1] = joined[-1]._replace(until_ns=one.until_ns)
        else:
            joined.append(one)
    return joined


def _down(links: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for link in links:
        media = (link["medium"], link.get("medium_back") or link["medium"])
        for place, medium in zip(link["ends"], media, strict=True):
            of = medium.get("line") or medium
            if "rate_bps" in of and of["rate_bps"] * _SLOW_S < _FULL_BITS:
                yield link["name"], place


def longest_ms(place: str, resolved: Resolved) -> float:
    """The longest outage of the link behind an interface; 0 if there is none."""
    return max((one.ms for one in found(resolved) if one.place == place), default=0.0)


def lines(resolved: Resolved) -> Iterator[str]:
    """A sentence for each outage; one for both directions of a link."""
    every = found(resolved)
    for one in every:
        same = [other for other in every if (other.link, *other[2:]) == (one.link, *one[2:])]
        if same[0] is one:
            way = "" if len(same) > 1 else f" from {one.place}"
            times = f"from {one.from_ns / 1e9:g} to {one.until_ns / 1e9:g} s"
            yield f"Outage: link {one.link} carries nothing{way} {times}."
