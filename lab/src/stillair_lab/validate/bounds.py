"""Allowed differences between model and kernel. `docs/validation.md` gives the reasons."""

from collections.abc import Mapping
from dataclasses import dataclass

from stillair_lab.validate.kernel_file import Config
from stillair_lab.validate.quantities import QUANTITIES, Measured, Trees

# Disciplines with a queue for each flow.
_FAIR = frozenset({"fq", "fq_codel", "sfq", "cake"})


@dataclass(frozen=True)
class Bound:
    """Allowed difference from the kernel's value: the larger of a share of it and an absolute number."""

    share: float = 0.0
    number: float = 0.0
    factor: bool = False
    """Treat the share as a factor in both directions: 1 allows half to twice the value."""

    def ends(self, value: float) -> tuple[float, float]:
        """Ends of the range around a value, not below zero."""
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
# How several BBR flows share depends on their starts; medians are stable.
_STEADY = ("goodput_mbps", "srtt_median_ms", "ping_median_ms")


def bounds(config: Config, trees: Trees) -> dict[str, Bound]:
    """Quantities to compare for a file with these settings, in order, with their bounds."""
    held = {**_GENERAL, **(_OF_QDISCS if config.set == "qdisc" else {})}
    if config.flows > 1 and config.cc == "bbr":
        held = {name: held[name] for name in _STEADY}
    # The first packets decide how flows share a common queue, and the shares stay so.
    fair = config.set == "qdisc" or any(root.leaf().kind in _FAIR for root in trees.values())
    if config.flows == 1 or not fair:
        held.pop("jain", None)
    return {name: held[name] for name in QUANTITIES if name in held}


def spread(one: Measured, other: Measured) -> Measured:
    """Difference between two kernel runs that differ in the flows' start times."""
    return {name: abs(one[name] - other[name]) for name in one if name in other}
