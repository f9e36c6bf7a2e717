"""How far the model may be from the kernel. `docs/validation.md` says why each is what it is."""

from collections.abc import Mapping
from dataclasses import dataclass

from stillair_lab.validate.kernel_file import Config
from stillair_lab.validate.quantities import QUANTITIES, Measured, Trees

# Disciplines that give each flow a queue of its own.
_FAIR = frozenset({"fq", "fq_codel", "sfq", "cake"})


@dataclass(frozen=True)
class Bound:
    """A distance from the kernel's value: the larger of a share of it and a number."""

    share: float = 0.0
    number: float = 0.0
    factor: bool = False
    """The share is a factor, in both directions: 1 is from half to twice."""

    def ends(self, value: float) -> tuple[float, float]:
        """The bound's ends around a value, none below zero."""
        low = value / (1 + self.share) if self.factor else value * (1 - self.share)
        high = value * (1 + self.share)
        return max(0.0, min(low, value - self.number)), max(high, value + self.number)


_GENERAL: Mapping[str, Bound] = {
    "goodput_mbps": Bound(0.03),
    "srtt_median_ms": Bound(0.10, 1.0),
    "srtt_p90_ms": Bound(0.20, 2.0),
    "ping_median_ms": Bound(0.10, 1.0),
    "ping_p95_ms": Bound(0.20, 2.0),
    "cwnd_mean_pkts": Bound(0.10),
    "retransmissions": Bound(1.0, 5.0, factor=True),
    "drops": Bound(1.0, 5.0, factor=True),
    "jain": Bound(number=0.02),
    "sawtooth_period_s": Bound(0.15),
    "sawtooth_depth": Bound(0.15),
}
_OF_QDISCS: Mapping[str, Bound] = {
    "ping_mean_ms": Bound(0.20, 1.0),
    "ping_p95_ms": Bound(0.20, 1.0),
    "drops": Bound(0.25, 5.0),
}
# Several flows of BBR share as their starts fell out; medians are steady.
_STEADY = ("goodput_mbps", "srtt_median_ms", "ping_median_ms")


def bounds(config: Config, trees: Trees) -> dict[str, Bound]:
    """The quantities that are compared in a file with these settings, in their order, each with its bound."""
    held = {**_GENERAL, **(_OF_QDISCS if config.set == "qdisc" else {})}
    if config.flows > 1 and config.cc == "bbr":
        held = {name: held[name] for name in _STEADY}
    # Who got how much of a common queue is settled by the first packets, and stays so.
    fair = config.set == "qdisc" or any(root.leaf().kind in _FAIR for root in trees.values())
    if config.flows == 1 or not fair:
        held.pop("jain", None)
    return {name: held[name] for name in QUANTITIES if name in held}


def spread(one: Measured, other: Measured) -> Measured:
    """How far the kernel is from itself in two runs that differ in when the flows start."""
    return {name: abs(one[name] - other[name]) for name in one if name in other}
