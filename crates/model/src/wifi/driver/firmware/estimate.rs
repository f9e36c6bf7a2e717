//! Airtime estimates per frame: mac80211's, used for airtime queue limits, and ath10k's, used to charge
//! stations.

use crate::types::{Ac, Duration};
use crate::wifi::phy::{PhyRate, ppdu_duration_without_extension};

/// Overhead bytes that mac80211 adds to each frame.
// linux: net/mac80211/airtime.c ieee80211_calc_expected_tx_airtime (6.12), ath10k/mac.c
// ath10k_mac_update_airtime (6.12) - 38.
const SURROUNDINGS: u64 = 38;

/// Returns the estimated airtime of a frame with an IP packet of `packet` bytes at the station's known rate,
/// in units of 4 us.
// linux: net/mac80211/airtime.c ieee80211_calc_expected_tx_airtime, ieee80211_get_rate_duration (6.12) -
// assumes an aggregate whose length follows from the duration of 1,024 bytes, and divides 36 us plus 4 us per
// stream by that length; include/net/mac80211.h ieee80211_info_set_tx_time_est (6.12) - 10 bits in units of 4
// us.
// deviation: always uses the aggregate length of 5.10 and later - earlier kernels assume 16.
// deviation: always knows the first rate of the chain - Linux counts frames before the first report at little
// or nothing, and mt76 sends 16 of them.
pub(super) fn units(rate: PhyRate, ac: Ac, packet: u32) -> u16 {
    // 802.11 header of a QoS data frame and LLC/SNAP, without FCS.
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

/// Base-2 logarithm of the assumed aggregate length, by the duration of 1,024 bytes in us.
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

/// Returns the airtime that ath10k charges for an MPDU of `bytes` bytes with `msdus` packets if its firmware
/// reports no airtime. Each packet counts as a frame with its own header.
// linux: drivers/net/wireless/ath/ath10k/mac.c ath10k_mac_update_airtime (6.12) - the last rate plus 16 us,
// without retries and without the gain from aggregation.
// deviation: includes the padding between packets of an A-MSDU, at most 3 bytes.
pub(super) fn frames_airtime(rate: PhyRate, bytes: u16, msdus: u8) -> Duration {
    let frames = u64::from(msdus);
    // A packet in an A-MSDU has a 14-byte header, a frame has 30 bytes of header and FCS.
    let headers = if frames > 1 { 16 * frames - 30 } else { 0 };
    let bits = 8 * (u64::from(bytes) + headers + frames * SURROUNDINGS);
    Duration::from_nanos(bits * 1_000_000 / (rate.rate().bps() / 1_000)) + Duration::from_micros(16) * frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_agree_with_linux() {
        let of = |name, ac, bytes| 4 * units(PhyRate::parse(name).unwrap(), ac, bytes);
        // 14.6 us and 44 / 32 make 15, rounded down to a multiple of 4; without aggregation 14 + 44.
        assert_eq!(of("vht80-mcs9-nss2-sgi", Ac::Be, 1500), 12);
        assert_eq!(of("vht80-mcs9-nss2-sgi", Ac::Vo, 1500), 56);
        // At 6.5 Mbit/s, 1,024 bytes take 1,260 us: two frames per aggregate.
        assert_eq!(of("ht20-mcs0-lgi", Ac::Be, 1500), 1952);
        // A TCP ACK counts at least one unit; the maximum is 10 bits.
        assert_eq!(of("he80-mcs11-nss2-gi0.8", Ac::Be, 52), 4);
        assert_eq!(of("dsss-1", Ac::Be, 1500), 4092);
    }

    #[test]
    fn ath10k_overcharges_fast_stations() {
        let rate = PhyRate::parse("vht80-mcs9-nss2-sgi").unwrap();
        // 1,576 bytes at 866.7 Mbit/s plus 16 us; in an aggregate of 64, a frame takes 15 us.
        assert_eq!(frames_airtime(rate, 1538, 1), Duration::from_nanos(14_547) + Duration::from_micros(16));
    }
}
