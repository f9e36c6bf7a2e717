//! Throughput that rate control expects at a rate. Determines which stations count as slow.

use crate::types::Rate;
use crate::wifi::phy::PhyRate;
use crate::wifi::phy::frame::data_mpdu;
use crate::wifi::rate::table::PACKET_BITS;
use crate::wifi::tx::aggregate::{AggregateLimits, Subframes};

/// Time of a PPDU's preamble, gap and acknowledgement that the estimate reckons with, shared by an
/// aggregate's frames.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_caps (4.4) - the durations of an empty frame
// and of one of 10 bytes at 6 Mbit/s, gap included: 48 + 60 us by ieee80211_frame_duration.
const OVERHEAD_NANOS: u64 = 108_000;

/// Expected throughput of a fixed rate, assuming that all frames succeed and are sent in full aggregates.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_tp_avg (4.4) - symbols of one packet and its part
// of the overhead; the probability of success counts as 90 % at most.
// deviation: full aggregates - Linux takes a running mean of their lengths, which a busy station reaches
// soon.
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
