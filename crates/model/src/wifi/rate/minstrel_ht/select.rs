//! End of an interval: averages, and the choice of the best rates.

use super::{INTERVAL, Index, KEPT, MinstrelHt, MinstrelVersion, ONE, Sampler, percent, weighted};
use crate::types::Instant;

impl MinstrelHt {
    /// Ends the interval and chooses new rates.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_stats (4.4, 5.12).
    pub(super) fn choose(&mut self, now: Instant) {
        if let Some(mean) = (self.frames * u64::from(ONE)).checked_div(self.ppdus) {
            self.mean_aggregate = weighted(self.mean_aggregate, mean as u32);
        }
        (self.ppdus, self.frames) = (0, 0);
        self.interval_ends = now + INTERVAL;
        self.end_interval();
        self.choose_by_throughput();
        self.choose_by_reliability();
        self.fewer_streams();
        match self.sampler {
            Sampler::Count(ref mut sampler) => sampler.after_interval(self.groups.len()),
            Sampler::Need(_) => self.refill(now),
        }
    }

    fn end_interval(&mut self) {
        for group in self.rates.chunk_by_mut(|a, b| a.group == b.group) {
            // An untried rate counts as good as the best faster one.
            let mut faster = 0;
            for known in group.iter_mut().rev() {
                known.stats.end_interval(self.version.average());
                if self.version >= MinstrelVersion::From512 {
                    match known.stats.total.attempts {
                        0 => known.stats.prob = known.stats.prob.max(faster),
                        _ => faster = faster.max(known.stats.prob),
                    }
                }
            }
        }
    }

    /// Inserts a rate into the sorted list of the best if it is better than the last one. Equal rates stay in
    /// front of it.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_sort_best_tp_rates (4.4).
    fn put(&self, index: Index, best: &mut [Index; KEPT]) {
        let merit = self.merit(index);
        let after = best.iter().rposition(|&held| merit <= self.merit(held)).map_or(0, |p| p + 1);
        if after < KEPT {
            best.copy_within(after..KEPT - 1, after + 1);
            best[after] = index;
        }
    }

    fn choose_by_throughput(&mut self) {
        let mut best = [0; KEPT];
        for group in 0..self.groups.len() {
            let indices = self.groups[group].indices();
            let mut of_group = [indices.start; KEPT];
            // The order breaks ties.
            let mut put = |index| {
                if self.throughput(index) > 0 {
                    self.put(index, &mut best);
                    self.put(index, &mut of_group);
                }
            };
            match self.version {
                MinstrelVersion::Before512 => indices.for_each(&mut put),
                MinstrelVersion::From512 | MinstrelVersion::From519 => indices.rev().for_each(&mut put),
            }
            self.groups[group].best = of_group;
        }
        self.best = best;
    }

    /// Chooses the most reliable rate, overall and of each group: the fastest of those with a success ratio
    /// above 75 %, or else the one with the highest ratio.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_set_best_prob_rate (4.4) - keeps the last choice
    // until another is better; (5.12) - restarts the choice, and excludes rates that are faster but less
    // reliable than the best.
    fn choose_by_reliability(&mut self) {
        if self.version >= MinstrelVersion::From512 {
            self.surest = 0;
            self.groups.iter_mut().for_each(|g| g.surest = g.first);
        }
        for index in 0..self.rates.len() as Index {
            let best = self.best[0];
            let counts = match self.version {
                MinstrelVersion::Before512 => self.throughput(index) > 0,
                MinstrelVersion::From512 | MinstrelVersion::From519 => {
                    self.packet(best) <= self.packet(index) || self.prob(index) >= self.prob(best)
                }
            };
            if !counts {
                continue;
            }
            let beats = |held: Index| {
                if self.prob(index) > percent(75) {
                    self.throughput(index) > self.throughput(held)
                } else {
                    self.prob(index) > self.prob(held)
                }
            };
            let group = self.group_of(index);
            let of_group = self.groups[group].surest;
            let (all, own) = (beats(self.surest), beats(of_group));
            if all {
                self.surest = index;
            }
            if own {
                self.groups[group].surest = index;
            }
        }
    }

    /// If the best rate has more than one stream, chooses the most reliable rate from groups with fewer
    /// streams.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_prob_rate_reduce_streams (4.4).
    fn fewer_streams(&mut self) {
        let streams = self.groups[self.group_of(self.best[0])].of.streams;
        let mut most = 0;
        for group in self.groups.iter().filter(|g| g.of.streams < streams) {
            let throughput = self.throughput(group.surest);
            if throughput > most {
                most = throughput;
                self.surest = group.surest;
            }
        }
    }
}
