"""Samples available to a metric, and their statistics; checked before any run."""

import re
from collections.abc import Mapping

from stillair._native import InputError

_PERCENTILE = re.compile(r"p(100|[1-9]?[0-9])")

_MEAN = ("mean",)
_SPREAD = ("mean", "p0 to p100")
_OVER_TIME = (*_SPREAD, "cycles", "dips_s")

_QUIC_KEYS = (
    "acks_20ms",
    "acks_sent",
    "cwnd_bytes",
    "datagrams",
    "datagrams_back",
    "datagrams_received",
    "datagrams_under_way",
    "declared_lost",
    "done",
    "established_s",
    "gaps_below_100us_percent",
    "goodput_mbps",
    "loss_percent",
    "measured_s",
    "min_rtt_ms",
    "slow_start_exit_cwnd_bytes",
    "slow_start_exit_s",
    "spurious",
    "srtt_ms",
    "throughput_50ms_mean_mbps",
    "throughput_50ms_sd_mbps",
    "throughput_mbps",
    "timeouts",
    "transfer_s",
)

STATISTICS: Mapping[str, tuple[str, ...]] = {
    "srtt_ms": _OVER_TIME,
    "goodput_mbps": _OVER_TIME,
    "pacing_mbps": _SPREAD,
    "ping_ms": _SPREAD,
    "tcp_mbps": _SPREAD,
    "up_mbps": _SPREAD,
    "down_mbps": _SPREAD,
    "lead_mbps": _MEAN,
    "gap_mbps": _MEAN,
    "quic.gaps": ("mode1", "mode2", "cv"),
    **{f"quic.{key}": _MEAN for key in _QUIC_KEYS},
}
"""Statistics by sample; see `measure/samples.py` and `measure/quic.py`."""


def check(where: str, of: str, statistic: str) -> None:
    """Raises `InputError` for an unknown sample or statistic."""
    known = STATISTICS.get(of)
    if known is None:
        raise InputError(f'{where}: of: found "{of}", expected one of {", ".join(STATISTICS)}')
    if statistic not in known and not (known[1:2] == _SPREAD[1:] and _PERCENTILE.fullmatch(statistic)):
        raise InputError(f'{where}: statistic: found "{statistic}", expected one of {", ".join(known)} for {of}')
