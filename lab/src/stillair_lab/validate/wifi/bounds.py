"""Allowed differences between model and mac80211, fixed before any result was seen.

`docs/validation-wifi.md` gives the reasons.
"""

from collections.abc import Mapping

from stillair_lab.validate.bounds import Bound

# Counts of rare events vary by chance: two standard deviations of the difference of two means of three counts
# of N are 1.6 times the root of N, which is 5 at N = 9 and a quarter of N at N = 42.
_COUNT = Bound(0.25, 5.0)
_GOODPUT = Bound(0.10)
_AGGREGATE = Bound(0.20)
_ROUND_TRIP = Bound(0.15, 2.0)

BOUNDS: Mapping[str, Bound] = {
    "goodput_mbps": _GOODPUT,
    "goodput_down_mbps": _GOODPUT,
    "goodput_up_mbps": _GOODPUT,
    "airtime_share_percent": Bound(number=2.0),
    "airtime_share_by_rank_percent": Bound(number=2.0),
    "frames_down": _AGGREGATE,
    "frames_up": _AGGREGATE,
    "ping_median_ms": Bound(0.20, 2.0),
    "srtt_median_down_ms": _ROUND_TRIP,
    "srtt_median_up_ms": _ROUND_TRIP,
    "cwnd_mean_down_pkts": Bound(0.25),
    "cwnd_mean_up_pkts": Bound(0.25),
    "segments_per_ack_down": Bound(0.25),
    "segments_per_ack_up": Bound(0.25),
    "retransmissions_down": _COUNT,
    "retransmissions_up": _COUNT,
    "ce_delivered_down": _COUNT,
    "ce_delivered_up": _COUNT,
    "codel_drops": _COUNT,
    "step_before_pkts_per_s": _GOODPUT,
    "step_after_pkts_per_s": _GOODPUT,
    # The measured recovery time has a resolution of half a second.
    "step_recovery_s": Bound(0.25, 0.5),
}

MAIN_RATES = ("main_rate_down", "main_rate_up")
"""Rates by name: equal, or else goodput within `MAIN_RATE_GOODPUT`."""
MAIN_RATE_GOODPUT = Bound(0.05)
NEVER_JUDGED = ("collision_share_percent",)

QUANTITIES = (*BOUNDS, *MAIN_RATES, *NEVER_JUDGED)
"""All quantities in report order."""
