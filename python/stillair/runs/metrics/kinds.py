"""Where there are many flows of one kind: the worst of them, one figure for all."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MANY = 5
"""Of more flows of one kind than these, or more stations, the worst are told."""

_COUNTED = re.compile(r"-[A-Za-z_]\w*?\d+$")


class Worst(NamedTuple):
    """A figure of all flows of a kind, or of all stations: that of the worst in each run."""

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
        """What it is called, as `--only` takes it."""
        return f"{self.kind}: {self.title}"

    def of(self, runs: Sequence[Mapping[str, Any]]) -> float | None:
        """The mean over the runs that have it."""
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
    """For each kind with more than `many` in any run: the figures that any run has, kind by kind."""
    nodes = {name for run in runs for name in run.get("stations") or {}}
    nodes |= {flow.partition(".")[2] for run in runs for group in _FIGURES for flow in run.get(group) or {}} - {""}
    found: list[Worst] = []
    for group, figures in _FIGURES.items():
        for kind, members in _kinds(runs, group, nodes, many).items():
            every = [Worst(kind, group, members, *figure) for figure in figures]
            # TCP sends again what is lost: of it the goodput tells.
            has_loss = any(own.key == "loss" and own.of(runs) is not None for own in every)
            kept = [own for own in every if not (group == "flows" and has_loss and own.key == "goodput_mbps")]
            found += [own for own in kept if own.of(runs) is not None]
    return found


def _kinds(runs: Sequence[Mapping[str, Any]], group: str, nodes: Iterable[str], many: int) -> dict[str, frozenset[str]]:
    """The members of each kind of which a run has many."""
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
    """`call` of `call.pc1` and of `call-pc1.server`, `call-back` of `call-back-pc1.server`."""
    head = name.partition(".")[0]
    ending = next((one for one in endings if head.endswith(one) and head != one), "")
    return head.removesuffix(ending) if ending else _COUNTED.sub("", head)


def _station_kind(name: str) -> str:
    """`pc` of `pc12`."""
    return name.rstrip("0123456789") or name
