//! What a frame counts for: mac80211's estimate of its airtime, by which airtime queue limits count, and
//! ath10k's, by which it is charged.

use crate::types::{Ac, Duration};
use crate::wifi::phy::{PhyRate, ppdu_duration_without_extension};

/// Bytes that mac80211 adds to a frame for what surrounds it.
// linux: net/mac80211/airtime.c ieee80211_calc_expected_tx_airtime (6.12) - 38; ath10k/mac.c
// ath10k_mac_update_airtime (6.12) - the same.
const SURROUNDINGS: u64 = 38;

/// What a frame whose IP packet has so many bytes counts for at the rate that is known of its station, in
/// units of 4 us.
// linux: net/mac80211/airtime.c ieee80211_calc_expected_tx_airtime, ieee80211_get_rate_duration (6.12) - as
// one of an aggregate whose length is guessed by the duration of 1,024 bytes: 36 us and 4 us a stream are
// divided by that; include/net/mac80211.h ieee80211_info_set_tx_time_est (6.12) - 10 bits of 4 us.
// deviation: the guess of 5.10 and later - before it was 16 for all; and the rate that is sent at first is
// always known - Linux counts frames before the first report for little or nothing, and mt76 lets 16 of them
// go.
pub(super) fn units(rate: PhyRate, ac: Ac, packet: u32) -> u16 {
    // The 802.11 header of a QoS data frame and LLC/SNAP, without FCS.
    let bytes = u64::from(packet) + 26 + 8 + SURROUNDINGS;
    let us = match rate {
        PhyRate::Ofdm(_) | PhyRate::Dsss(..) => {
            ppdu_duration_without_extension(rate, bytes as u32).nanos() / 1_000
        }
        PhyRate::Ht(_) | PhyRate::Vht(_) | PhyRate::He(_) => {
            let of_1024 = 1024 * 8 * 1_000_000 / (rate.rate().bps() / 1_000);
            let overhead = 36 + 4 * u64::from(rate.streams());
            let shift = if ac == Ac::Vo { 0 } else { aggregate_shift(rate, of_1024 / 1_000) };
            bytes * of_1024 / 1024 / 1_000 + (overhead >> shift)
        }
    };
    (us / 4).clamp(1, 1023) as u16
}

/// The guessed number of frames in an aggregate, as a power of two, by the time of 1,024 bytes in us.
// linux: net/mac80211/airtime.c ieee80211_calc_expected_tx_airtime (6.12).
fn aggregate_shift(rate: PhyRate, us: u64) -> u32 {
    match us {
        401.. => 1,
        251..=400 => 2,
        151..=250 => 3,
        71..=150 => 4,
        ..=20 if matches!(rate, PhyRate::He(_)) => 6,
        _ => 5,
    }
}

/// What ath10k charges a station for an MPDU of so many bytes with these packets where its firmware reports
/// no airtime: each packet is a frame to the host, with a header of its own.
// linux: drivers/net/wireless/ath/ath10k/mac.c ath10k_mac_update_airtime (6.12) - at the last rate, and 16
// us: no retries, and no saving by aggregation.
// deviation: what pads packets in an A-MSDU counts, 3 bytes at most.
pub(super) fn frames_airtime(rate: PhyRate, bytes: u16, msdus: u8) -> Duration {
    let frames = u64::from(msdus);
    // A packet in an A-MSDU has a head of 14 bytes, and a frame 30 around it.
    let headers = if frames > 1 { 16 * frames - 30 } else { 0 };
    let bits = 8 * (u64::from(bytes) + headers + frames * SURROUNDINGS);
    Duration::from_nanos(bits * 1_000_000 / (rate.rate().bps() / 1_000)) + Duration::from_micros(16) * frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_counts_for_what_linux_makes_of_it() {
        let of = |name, ac, bytes| 4 * units(PhyRate::parse(name).unwrap(), ac, bytes);
        // 14.6 us and a 32nd of 44: 15, rounded down to 4; alone 14 + 44.
        assert_eq!(of("vht80-mcs9-nss2-sgi", Ac::Be, 1500), 12);
        assert_eq!(of("vht80-mcs9-nss2-sgi", Ac::Vo, 1500), 56);
        // At 6.5 Mbit/s 1,024 bytes take 1,260 us: two at a time.
        assert_eq!(of("ht20-mcs0-lgi", Ac::Be, 1500), 1952);
        // 43 bytes of TCP's acknowledgement: never less than a unit, and 10 bits at most.
        assert_eq!(of("he80-mcs11-nss2-gi0.8", Ac::Be, 52), 4);
        assert_eq!(of("dsss-1", Ac::Be, 1500), 4092);
    }

    #[test]
    fn ath10k_charges_a_fast_station_too_much() {
        let rate = PhyRate::parse("vht80-mcs9-nss2-sgi").unwrap();
        // 1,576 bytes at 866.7 Mbit/s and 16 us; in an aggregate of 64 a frame takes 15.
        assert_eq!(frames_airtime(rate, 1538, 1), Duration::from_nanos(14_547) + Duration::from_micros(16));
    }
}
