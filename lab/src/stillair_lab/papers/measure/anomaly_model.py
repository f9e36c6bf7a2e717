"""The analytical model of *Ending the Anomaly*, section 2.2.1, equations 1 to 5.

Predicts the rate of each station of an access point from its aggregate size and PHY rate, with and without
airtime fairness, without contention or errors. Sizes are in bytes, times in microseconds, rates in Mbit/s
(bits per microsecond).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# paper: ending-the-anomaly sec. 2.2.1 - the constants of the model, under the paper's own names.
L_DELIM = 4
L_MAC = 34
L_FCS = 4
PAD_TO = 4
T_PHY_US = 32.0
T_DIFS_US = 34.0
T_SIFS_US = 16.0
T_SLOT_US = 9.0
CW_MIN = 15
BLOCK_ACK_BYTES = 58

# paper: ending-the-anomaly sec. 2.2.1 - the mean back-off is printed as about 68 us; Table 1 needs 67.5.
T_BO_US = T_SLOT_US * CW_MIN / 2


@dataclass(frozen=True, slots=True)
class Station:
    """Inputs of a station."""

    aggregate: float
    """Mean number of packets in an aggregate."""
    phy_mbps: float
    """PHY rate in Mbit/s."""
    packet_bytes: int = 1500
    """Length of a packet in bytes, from the IP header on."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction for a station."""

    data_us: float
    """Airtime of an aggregate without overhead, in us."""
    base_mbps: float
    """Rate of the station on its own, in Mbit/s."""
    share: float
    """Share of the airtime, 0 to 1."""
    rate_mbps: float
    """Rate of the station with the others, in Mbit/s."""


def aggregate_bytes(packets: float, packet_bytes: int) -> float:
    """Length of an aggregate in bytes (equation 1)."""
    subframe = packet_bytes + L_DELIM + L_MAC + L_FCS
    padding = -subframe % PAD_TO
    return packets * (subframe + padding)


def data_time_us(station: Station) -> float:
    """Airtime of an aggregate without overhead, in us (equation 2)."""
    return T_PHY_US + 8 * aggregate_bytes(station.aggregate, station.packet_bytes) / station.phy_mbps


def overhead_us(phy_mbps: float) -> float:
    """Interframe spaces, back-off and acknowledgement of an aggregate, in us (below equation 3)."""
    # The paper counts a SIFS here and another one in the acknowledgement time.
    ack_us = T_SIFS_US + 8 * BLOCK_ACK_BYTES / phy_mbps
    return T_DIFS_US + T_SIFS_US + ack_us + T_BO_US


def base_rate_mbps(station: Station) -> float:
    """Rate of a station on its own, in Mbit/s (equation 3)."""
    payload_bits = 8 * station.aggregate * station.packet_bytes
    return payload_bits / (data_time_us(station) + overhead_us(station.phy_mbps))


def predict(stations: Sequence[Station], *, airtime_fair: bool) -> list[Prediction]:
    """Predicts each station (equations 4 and 5), in the given order.

    With ``airtime_fair`` all stations have equal airtime shares. Without it, they send one aggregate each in
    turn, so that their shares are proportional to its duration.
    """
    data_us = [data_time_us(s) for s in stations]
    total_us = sum(data_us)
    predictions = []
    for station, own_us in zip(stations, data_us, strict=True):
        share = 1 / len(stations) if airtime_fair else own_us / total_us
        base = base_rate_mbps(station)
        predictions.append(Prediction(own_us, base, share, share * base))
    return predictions
