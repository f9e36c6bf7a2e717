//! Maximum length of an A-MSDU at the chosen rates.

use super::{MinstrelHt, MinstrelVersion, percent};
use crate::wifi::rate::table::packet_time_of_one_stream;

/// Length in bytes of a frame with one full packet: a second one does not fit.
const ONE_FULL: u16 = 1_600;

impl MinstrelHt {
    /// Returns the maximum length in bytes of an A-MSDU, or `None` without a limit. No packets join if the
    /// limit is less than the length of two.
    ///
    /// A long frame at a slow or unreliable rate is lost as a whole. The limit therefore depends on the most
    /// reliable rate: its success probability, and its packet time compared with one stream in 20 MHz at 13,
    /// 26 and 65 Mbit/s. The success probability of the best rate also matters.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_max_amsdu_len (4.11) - 1, 500, 1,600, 3,200
    // or no limit; HT is limited to 4,095 anyway.
    pub fn amsdu_bytes(&self) -> Option<u16> {
        if self.prob(self.surest) < percent(50) {
            return Some(1);
        }
        let in_aggregate = self.version != MinstrelVersion::Before512;
        let slower_than = |place| self.packet(self.surest) > packet_time_of_one_stream(place, in_aggregate);
        if slower_than(1) {
            Some(500)
        } else if slower_than(3) {
            Some(ONE_FULL)
        } else if slower_than(7) || self.prob(self.best[0]) < percent(75) {
            Some(2 * ONE_FULL)
        } else {
            None
        }
    }
}
