//! Sampling before Linux 5.12: one probe per fixed number of frames, over all rates in turn.

use super::{Index, MinstrelHt, Sampler, percent};
use crate::types::RandomStream;
use crate::wifi::rate::order::Order;
use alloc::vec;
use alloc::vec::Vec;

/// Sampling state.
#[derive(Clone, Debug)]
pub(super) struct ByCount {
    order: Order,
    /// Position in the order, by group.
    cursors: Vec<u8>,
    group: usize,
    /// Frames until the next probe.
    wait: u32,
    /// Probes allowed before the next wait.
    tries: u32,
    /// Probes left in this interval.
    count: u32,
    /// Slow rates probed in this interval.
    slow: u32,
}

impl ByCount {
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_caps (4.4) - initially 16, four of them
    // without a wait.
    pub(super) fn new(groups: usize, places: u8, stream: &mut RandomStream) -> Self {
        let (order, cursors) = (Order::new(places, stream), vec![0; groups]);
        Self { order, cursors, group: 0, wait: 0, tries: 4, count: 16, slow: 0 }
    }

    /// Updates the state after a PPDU.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_tx_status (4.4).
    pub(super) fn after_ppdu(&mut self, mean_aggregate: u32) {
        if self.wait == 0 && self.tries == 0 && self.count > 0 {
            self.wait = 16 + 2 * mean_aggregate;
            self.tries = 1;
            self.count -= 1;
        }
    }

    /// Starts an interval, which allows as many probes as there are rates.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_stats (4.4, 4.14) - eight per group, for
    // VHT as well.
    pub(super) fn after_interval(&mut self, groups: usize) {
        self.slow = 0;
        self.count = 8 * groups as u32;
    }

    /// Returns the next group and place, and advances through all groups.
    fn next(&mut self) -> (usize, u8) {
        let next = (self.group, self.order.at(self.cursors[self.group]));
        self.group = (self.group + 1) % self.cursors.len();
        self.cursors[self.group] = self.order.after(self.cursors[self.group]);
        next
    }
}

impl MinstrelHt {
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_get_sample_rate (4.4).
    pub(super) fn probe_by_count(&mut self) -> Option<Index> {
        let Sampler::Count(sampler) = &mut self.sampler else { return None };
        if sampler.wait > 0 {
            sampler.wait -= 1;
            return None;
        }
        if sampler.tries == 0 {
            return None;
        }
        let (group, place) = sampler.next();
        let index = self.groups[group].at(place)?;
        // Probing a rate in use or known to be good yields no information.
        if index == self.best[0] || index == self.surest || self.prob(index) > percent(95) {
            return None;
        }
        let slow = self.is_slow(index) && {
            let skipped = self.rates[usize::from(index)].stats.skipped;
            let Sampler::Count(sampler) = &mut self.sampler else { return None };
            if skipped < 20 {
                return None;
            }
            sampler.slow += 1;
            sampler.slow > 3
        };
        if slow {
            return None;
        }
        let Sampler::Count(sampler) = &mut self.sampler else { return None };
        sampler.tries -= 1;
        Some(index)
    }

    /// True for a rate slower than the best two without the advantage of fewer streams. Such rates are probed
    /// only if not tried for long, and at most three times per interval.
    fn is_slow(&self, index: Index) -> bool {
        let [a, b, ..] = self.best;
        let (fast, slower) = if self.packet(a) > self.packet(b) { (b, a) } else { (a, b) };
        let streams = |i| self.groups[self.group_of(i)].of.streams;
        self.packet(index) >= self.packet(slower)
            && (streams(fast) - 1 < streams(index) || self.packet(index) >= self.packet(self.surest))
    }
}
