//! Number of tries of each entry in the chain.

use super::{Index, MinstrelHt, OVERHEAD_MICROS, percent};
use crate::wifi::phy::RateTry;

/// Total time for the tries of one entry, in us.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - segment_size.
const SEGMENT_MICROS: u64 = 6_000;
/// Maximum tries of an entry.
// linux: drivers/net/wireless/ath/ath9k/init.c ath9k_set_hw_capab (4.4) - max_rate_tries.
const MOST: u8 = 10;
/// Duration of RTS and CTS as estimated by Linux: two frames of 10 bytes at 6 Mbit/s.
const RTS_CTS_MICROS: u64 = 2 * 60;
const SLOT_MICROS: u64 = 9;
/// Initial and maximum contention window.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - independent of the queue's.
const WINDOWS: (u64, u64) = (15, 1_023);

impl MinstrelHt {
    /// Chain entry. Fallback rates are sent after an RTS.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_set_rate (4.4).
    pub(super) fn entry(&self, index: Index, fallback: bool) -> RateTry {
        let rate = self.rates[usize::from(index)].rate;
        RateTry { rate, tries: self.tries(index, fallback), rts: fallback }
    }

    /// Two tries, and more while all of them fit into the segment with their mean backoffs.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_calc_retransmit (4.4).
    fn tries(&self, index: Index, fallback: bool) -> u8 {
        if self.prob(index) < percent(20) {
            return 2;
        }
        let data = self.packet(index).nanos() * self.aggregate() / 1_000;
        let rts = if fallback { RTS_CTS_MICROS } else { 0 };
        let one = [OVERHEAD_MICROS + data, OVERHEAD_MICROS + rts + data];
        let mut window = WINDOWS.0;
        let mut back_off = || {
            let mean = SLOT_MICROS * window / 2;
            window = (2 * window + 1).min(WINDOWS.1);
            mean
        };
        let waits = back_off() + back_off();
        let mut total = one.map(|one| waits + 2 * one);
        let (mut plain, mut protected) = (2, 2);
        // The unprotected total ends the loop for both.
        loop {
            let wait = back_off();
            total = [total[0] + wait + one[0], total[1] + wait + one[1]];
            protected += u8::from(total[1] < SEGMENT_MICROS);
            if total[0] >= SEGMENT_MICROS {
                break;
            }
            plain += 1;
            if plain >= MOST {
                break;
            }
        }
        if fallback { protected } else { plain }
    }
}
