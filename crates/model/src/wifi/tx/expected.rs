//! Throughput that rate control expects at a rate. Determines which stations count as slow.

use crate::types::Rate;
use crate::wifi::phy::PhyRate;
use crate::wifi::phy::frame::data_mpdu;
use crate::wifi::rate::table::PACKET_BITS;
use crate::wifi::tx::aggregate::{AggregateLimits, Subframes};

/// Estimated duration of a PPDU's preamble, gap and acknowledgement, shared by the frames of an aggregate.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_caps (4.4) - durations of an empty frame and
// of a 10-byte frame at 6 Mbit/s, including the gap: 48 + 60 us (recalled).
const OVERHEAD_NANOS: u64 = 108_000;

/// Returns the expected throughput of a fixed rate, assuming that all frames succeed and are sent in full
/// aggregates.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_tp_avg (4.4) - symbols of one packet and its
// share of the overhead; caps the success probability at 90 % (recalled).
// deviation: assumes full aggregates - Linux uses a moving average of their lengths, which a busy station
// soon reaches.
pub fn expected_throughput(rate: PhyRate, limits: AggregateLimits) -> Rate {
    let mut aggregate = Subframes::new(limits);
    while aggregate.would_fit(data_mpdu(1500)) {
        aggregate.add(data_mpdu(1500));
    }
    let symbols = PACKET_BITS.div_ceil(u64::from(rate.bits_per_symbol()));
    let nanos = symbols * rate.symbol_nanos() + OVERHEAD_NANOS / u64::from(aggregate.frames());
    Rate::from_bps(PACKET_BITS * 900_000_000 / nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Duration;
    use crate::wifi::phy::{RateTry, RetryChain};
    use crate::wifi::tx::aggregate::{MAX_FRAMES, PEER_MAX};

    #[test]
    fn only_the_lowest_rate_is_below_12_mbps() {
        let kbps = |name| {
            let rate = PhyRate::parse(name).unwrap();
            let chain = RetryChain::new(&[RateTry::new(rate, 4)]).unwrap();
            let limits = AggregateLimits::of(&chain, Duration::ZERO, MAX_FRAMES, PEER_MAX);
            expected_throughput(rate, limits).bps() / 1000
        };
        // 0.9 x 9600 bits over 370 x 3.6 + 54 us, 185 x 3.6 + 27 us, 19 x 3.6 + 3.375 us, and 400 x 4 + 108
        // us.
        let rates = ["ht20-mcs0-sgi", "ht20-mcs1-sgi", "ht20-mcs15-sgi", "ofdm-6"];
        assert_eq!(rates.map(kbps), [6_233, 12_467, 120_376, 5_058]);
    }
}
