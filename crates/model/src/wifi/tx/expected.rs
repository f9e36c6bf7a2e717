//! The throughput that rate control expects of a rate, which decides whether a station counts as slow.

use crate::vocabulary::Rate;
use crate::wifi::phy::timing::{Timing, control_rate};
use crate::wifi::phy::{Band, PhyRate, ppdu_duration};

/// Bytes of the packets that the estimate is made for.
// linux: net/mac80211/rc80211_minstrel_ht.c AVG_PKT_SIZE (4.4).
const PACKET: u32 = 1200;
/// Mean backoff of best effort, in slots.
const BACKOFF_SLOTS: u64 = 15 / 2;

/// Expected throughput of packets of 1200 bytes sent one by one at `rate` without loss.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_tp_avg (4.4) - success probability over airtime with
// overhead; a fixed rate counts as one that always succeeds.
// deviation: aggregates of one frame - the lowest estimate; only which side of the threshold it lies on matters.
pub fn expected_throughput(rate: PhyRate, band: Band) -> Rate {
    let timing = Timing::of(band);
    let gaps = timing.difs() + timing.slot * BACKOFF_SLOTS + timing.sifs;
    let exchange = ppdu_duration(rate, PACKET, band) + gaps + timing.ack_duration(control_rate(rate));
    Rate::from_bps(u64::from(PACKET) * 8 * 1_000_000_000 / exchange.nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_stations_lie_on_either_side_of_12_mbps() {
        let kbps = |name| expected_throughput(PhyRate::parse(name).unwrap(), Band::Ghz5).bps() / 1000;
        // 9600 bits over 1372 + 34 + 63 + 16 + 44 us, and over 112 + 34 + 63 + 16 + 28 us.
        assert_eq!((kbps("ht20-mcs0-sgi"), kbps("ht20-mcs15-sgi")), (6_278, 37_944));
    }
}
