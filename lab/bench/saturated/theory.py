"""Goodput of one saturated sender from the standard's durations, and of several by Bianchi's model."""

from saturated.cases import Case
from saturated.standard import SIFS, SLOT, Limits, Rate, answer, mpdu, ofdm, ppdu, psdu, rate

# Stillair's limits of an aggregate: crates/model/src/wifi/tx/aggregate.rs names the sources.
STILLAIR = {"ofdm": Limits(1, 0, 0), "ht": Limits(32, 65_532, 4096), "vht": Limits(64, 1_048_575, 4096)}
STILLAIR["he"] = STILLAIR["vht"]


def ns3_limits(case: Case) -> Limits:
    """ns-3's limits of an aggregate in this case."""
    # ns-3: src/wifi/model/wifi-phy-common.cc GetPpduMaxTime (3.44) - 5,484 us for HT, VHT and HE.
    return Limits(case.window, case.ampdu, 5484)


def stillair_limits(case: Case) -> Limits:
    """Stillair's limits of an aggregate in this case."""
    return STILLAIR[rate(case.rate).kind] if case.ampdu else Limits(1, 0, 0)


def frames(case: Case, limits: Limits) -> int:
    """Frames in the largest aggregate."""
    return limits.frames_of(rate(case.rate), mpdu(case.payload, case.joined, case.header))


def goodput(case: Case, limits: Limits) -> float | None:
    """Total goodput in Mbit/s; `None` for cases outside this model."""
    if case.txop_us or case.hidden or case.band != "5":
        return None
    data = rate(case.rate)
    count = frames(case, limits)
    length = psdu(data, count, mpdu(case.payload, case.joined, case.header))
    before = ofdm(control(data), 20) + ofdm(control(data), 14) + 2 * SIFS if case.rts else 0.0
    on_air = before + ppdu(data, length)
    answered = SIFS + answer(data, 14 if count == 1 else 32)
    least, aifsn = (8, 2) if case.video else (16, case.aifsn)
    stages = 1 if case.video else 6
    aifs = SIFS + aifsn * SLOT
    bits = 8.0 * count * case.joined * case.counted
    if case.stations == 1:
        return bits / (on_air + answered + aifs + SLOT * (least - 1) / 2)
    return _several(case.stations, least, stages, aifs, on_air, answered, SIFS + ofdm(6, 14), bits)


def control(data: Rate) -> int:
    """Rate of RTS and CTS in Mbit/s, as for control responses."""
    return max(basic for basic in (6, 12, 24) if basic <= data.reference)


def _several(
    n: int, least: int, stages: int, aifs: float, on_air: float, answered: float, missed: float, bits: float
) -> float:
    # paper: bianchi-2000 eq. 7, 9 and 13 - unlimited retries; a collision is followed by EIFS.
    def chance(p: float) -> float:
        return 2 / (1 + least + p * least * sum((2 * p) ** i for i in range(stages)))

    low, high = 0.0, 1.0
    for _ in range(100):
        tau = (low + high) / 2
        if chance(1 - (1 - tau) ** (n - 1)) > tau:
            low = tau
        else:
            high = tau
    idle, one = (1 - low) ** n, n * low * (1 - low) ** (n - 1)
    mean = idle * SLOT + one * (on_air + answered + aifs) + (1 - idle - one) * (on_air + missed + aifs)
    return one * bits / mean
