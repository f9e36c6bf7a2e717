"""Summarises many flows of one kind by the worst of them."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MANY = 5
"""Beyond this number of flows of a kind, or of stations, only the worst is shown."""

_COUNTED = re.compile(r"-[A-Za-z_]\w*?\d+$")


class Worst(NamedTuple):
    """The worst value of a figure in each run, over all flows of a kind or all stations."""

    kind: str
    group: str
    members: frozenset[str]
    key: str
    title: str
    digits: int
    scale: float = 1
    is_least: bool = False

    @property
    def name(self) -> str:
        """Name that `--only` matches."""
        return f"{self.kind}: {self.title}"

    def of(self, runs: Sequence[Mapping[str, Any]]) -> float | None:
        """Mean over the runs that have the figure."""
        found = [worst for run in runs if (worst := self._of(run)) is not None]
        return math.fsum(found) / len(found) if found else None

    def _of(self, run: Mapping[str, Any]) -> float | None:
        things: Mapping[str, Mapping[str, Any]] = run.get(self.group) or {}
        values = [
            own[self.key] for name, own in things.items() if name in self.members and own.get(self.key) is not None
        ]
        return (min if self.is_least else max)(values) * self.scale if values else None


_FIGURES: Mapping[str, Sequence[tuple[str, str, int, float, bool]]] = {
    "flows": (
        ("delay_p95_ms", "worst p95 ms", 1, 1, False),
        ("delay_p99_ms", "worst p99 ms", 1, 1, False),
        ("loss", "worst loss %", 2, 100, False),
        ("goodput_mbps", "least Mbit/s", 2, 1, True),
    ),
    "voip": (("mos", "worst MOS", 2, 1, True),),
    "web": (("mean_s", "worst load s", 2, 1, False),),
    "pings": (
        ("p95_ms", "worst ping p95 ms", 1, 1, False),
        ("p99_ms", "worst ping p99 ms", 1, 1, False),
        ("loss", "worst ping loss %", 2, 100, False),
    ),
    "stations": (("goodput_mbps", "least Mbit/s", 2, 1, True),),
}


def worst(runs: Sequence[Mapping[str, Any]], many: int = MANY) -> list[Worst]:
    """Returns the figures of each kind with more than `many` members in any run."""
    nodes = {name for run in runs for name in run.get("stations") or {}}
    nodes |= {flow.partition(".")[2] for run in runs for group in _FIGURES for flow in run.get(group) or {}} - {""}
    found: list[Worst] = []
    for group, figures in _FIGURES.items():
        for kind, members in _kinds(runs, group, nodes, many).items():
            every = [Worst(kind, group, members, *figure) for figure in figures]
            # TCP retransmits losses, so its goodput is the relevant figure.
            has_loss = any(own.key == "loss" and own.of(runs) is not None for own in every)
            kept = [own for own in every if not (group == "flows" and has_loss and own.key == "goodput_mbps")]
            found += [own for own in kept if own.of(runs) is not None]
    return found


def _kinds(runs: Sequence[Mapping[str, Any]], group: str, nodes: Iterable[str], many: int) -> dict[str, frozenset[str]]:
    """Members of each kind with many members in a run."""
    by_kind: dict[str, set[str]] = {}
    most: dict[str, int] = {}
    endings = sorted((f"-{node}" for node in nodes), key=len, reverse=True)
    for run in runs:
        own: dict[str, int] = {}
        for name in run.get(group) or {}:
            kind = _station_kind(name) if group == "stations" else _flow_kind(name, endings)
            by_kind.setdefault(kind, set()).add(name)
            own[kind] = own.get(kind, 0) + 1
        most = {kind: max(own.get(kind, 0), most.get(kind, 0)) for kind in own | most}
    return {kind: frozenset(members) for kind, members in by_kind.items() if most[kind] > many}


def _flow_kind(name: str, endings: Sequence[str]) -> str:
    """Kind of a flow: `call` for `call.pc1` and `call-pc1.server`, `call-back` for `call-back-pc1.server`."""
    head = name.partition(".")[0]
    ending = next((one for one in endings if head.endswith(one) and head != one), "")
    return head.removesuffix(ending) if ending else _COUNTED.sub("", head)


def _station_kind(name: str) -> str:
    """Kind of a station: `pc` for `pc12`."""
    return name.rstrip("0123456789") or name
