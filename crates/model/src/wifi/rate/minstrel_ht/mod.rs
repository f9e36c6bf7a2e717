//! Minstrel-HT: chooses the rates of an HT or VHT station by the share of acknowledged frames, with
//! occasional probes.
//!
//! Every 50 ms, the success ratio of each rate updates its average. Four rates are chosen by expected
//! throughput and one by reliability; they form the retry chain. Probes keep the averages of other rates
//! current.

mod by_count;
mod by_need;
mod joins;
mod retries;
mod select;

use super::stats::{Average, ONE, RateStats, percent, weighted};
use super::table::{
    Group, HtCapabilities, MOST_PLACES, PACKET_BITS, groups, packet_time, packet_time_in_aggregate,
};
use super::{StatsRow, TxReport};
use crate::types::{Duration, Instant, RandomStream, Rate};
use crate::wifi::phy::{PhyRate, RetryChain};
use alloc::string::String;
use alloc::vec::Vec;
use by_count::ByCount;
use by_need::ByNeed;
use core::ops::Range;

/// Version of Minstrel-HT. Sampling and averages were rewritten in 5.12; the retry chain got longer in 5.19.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MinstrelVersion {
    /// Linux 4.4 to 5.11.
    // deviation: treats 5.10 and 5.11 like earlier versions - they sample half as often, and can filter.
    Before512,
    /// Linux 5.12 to 5.18.
    From512,
    /// Linux 5.19 and later.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_rates (5.19), commit ee0e16ab756a of May
    // 2022.
    From519,
}

impl MinstrelVersion {
    const fn average(self) -> Average {
        match self {
            Self::Before512 => Average::Weighted,
            Self::From512 | Self::From519 => Average::Filtered,
        }
    }

    /// Success ratio below which the best rate is abandoned during an interval.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_tx_status (4.4: 20 %, 5.12: 25 %).
    const fn collapse(self) -> u32 {
        match self {
            Self::Before512 => percent(20),
            Self::From512 | Self::From519 => ONE / 4,
        }
    }
}

/// Time between two updates of the chosen rates.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_tx_status (4.4) - half of 100 ms; (5.12) - HZ / 20.
// Kernels before about 3.13 use 100 ms.
// deviation: exact to the nanosecond - Linux counts in jiffies, which adds up to two of them.
const INTERVAL: Duration = Duration::from_millis(50);

/// Number of rates kept by throughput.
// linux: net/mac80211/rc80211_minstrel.h MAX_THR_RATES (4.4).
const KEPT: usize = 4;

/// Time in us of preamble, gap and acknowledgement, shared by the frames of an aggregate.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_caps (4.4) - frames of 0 and 10 bytes at 6
// Mbit/s with their gaps.
const OVERHEAD_MICROS: u64 = 48 + 60;

/// Index of a rate among all of the link, group by group.
type Index = u16;

#[derive(Clone, Debug)]
struct Known {
    rate: PhyRate,
    /// Index of the rate's group.
    group: u8,
    packet: Duration,
    stats: RateStats,
}

#[derive(Clone, Debug)]
struct Best {
    of: Group,
    /// Index of the group's first rate.
    first: Index,
    /// Places with a rate, one bit each.
    has: u16,
    /// The group's best rates by throughput.
    best: [Index; KEPT],
    /// The group's most reliable rate.
    surest: Index,
}

impl Best {
    fn new(of: Group, first: Index) -> Self {
        let has = (0..of.places()).filter(|&n| of.rate(n).is_some()).fold(0, |has, n| has | 1 << n);
        Self { of, first, has, best: [first; KEPT], surest: first }
    }

    /// Indices of the group's rates.
    fn indices(&self) -> Range<Index> {
        self.first..self.first + self.has.count_ones() as Index
    }

    /// Index of the rate at a place, if it exists.
    fn at(&self, place: u8) -> Option<Index> {
        let before = self.has & ((1 << place) - 1);
        (self.has >> place & 1 == 1).then_some(self.first + before.count_ones() as Index)
    }
}

#[derive(Clone, Debug)]
enum Sampler {
    Count(ByCount),
    Need(ByNeed),
}

/// Rate control of one link.
#[derive(Clone, Debug)]
pub struct MinstrelHt {
    version: MinstrelVersion,
    groups: Vec<Best>,
    rates: Vec<Known>,
    best: [Index; KEPT],
    surest: Index,
    /// Mean number of frames per PPDU, in units of 1/4096.
    mean_aggregate: u32,
    /// PPDUs of this interval and the frames in them.
    ppdus: u64,
    frames: u64,
    interval_ends: Instant,
    sampler: Sampler,
    /// Frames of all PPDUs, and the probes among them.
    total: u64,
    probes: u64,
}

impl MinstrelHt {
    /// Creates a link without statistics. It starts at its slowest rate.
    pub fn new(can: HtCapabilities, version: MinstrelVersion, stream: &mut RandomStream) -> Self {
        let time = match version {
            MinstrelVersion::Before512 => packet_time,
            MinstrelVersion::From512 | MinstrelVersion::From519 => packet_time_in_aggregate,
        };
        let (mut groups_of_link, mut rates) = (Vec::new(), Vec::new());
        for (n, of) in (0..).zip(groups(can)) {
            groups_of_link.push(Best::new(of, rates.len() as Index));
            let known = |place| {
                let (rate, stats) = (of.rate(place)?, RateStats::default());
                Some(Known { rate, group: n, packet: time(of, place), stats })
            };
            rates.extend((0..of.places()).filter_map(known));
        }
        let groups = groups_of_link;
        let places = groups.iter().map(|g| g.of.places()).max().unwrap_or(MOST_PLACES as u8);
        let sampler = match version {
            MinstrelVersion::Before512 => Sampler::Count(ByCount::new(groups.len(), places, stream)),
            MinstrelVersion::From512 | MinstrelVersion::From519 => Sampler::Need(ByNeed::new(places, stream)),
        };
        let mut new = Self {
            version,
            groups,
            rates,
            best: [0; KEPT],
            surest: 0,
            mean_aggregate: ONE,
            ppdus: 0,
            frames: 0,
            interval_ends: Instant::ZERO,
            sampler,
            total: 0,
            probes: 0,
        };
        new.choose(Instant::ZERO);
        new
    }

    /// Returns the rate that the next data frame probes, if any.
    pub fn probe(&mut self, now: Instant) -> Option<PhyRate> {
        let index = match self.sampler {
            Sampler::Count(_) => self.probe_by_count(),
            Sampler::Need(_) => self.probe_by_need(now),
        };
        index.map(|i| self.rates[usize::from(i)].rate)
    }

    /// Reports the result of a PPDU. Returns true if the retry chain may have changed.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_tx_status (4.4) - each try counts all frames of
    // the PPDU; acknowledged frames count for the last rate.
    pub fn sent(&mut self, now: Instant, sent: TxReport<'_>) -> bool {
        self.total += u64::from(sent.frames);
        self.probes += if sent.probe.is_some() { u64::from(sent.frames) } else { 0 };
        self.ppdus += 1;
        self.frames += u64::from(sent.frames);
        if let Sampler::Count(sampler) = &mut self.sampler {
            sampler.after_ppdu(self.mean_aggregate / ONE);
        }
        let last = sent.tries.len().saturating_sub(1);
        for (n, used) in sent.tries.iter().enumerate() {
            let Some(index) = self.index(used.rate) else { continue };
            let acked = if n == last { u64::from(sent.acked) } else { 0 };
            let attempts = u64::from(used.tries) * u64::from(sent.frames);
            self.rates[usize::from(index)].stats.add(attempts, acked);
        }
        let mut changed = false;
        for place in 0..2 {
            let stats = &self.rates[usize::from(self.best[place])].stats;
            if stats.has_collapsed(self.version.collapse()) {
                changed = true;
                self.downgrade(place);
            }
        }
        if now > self.interval_ends {
            changed = true;
            self.choose(now);
        }
        changed
    }

    /// Replaces a collapsed best rate by one of an earlier group with no more streams.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_downgrade_rate (4.4) - handles the sudden failure of
    // spatial multiplexing.
    fn downgrade(&mut self, place: usize) {
        let group = self.group_of(self.best[place]);
        let streams = self.groups[group].of.streams;
        if let Some(lower) = self.groups[..group].iter().rev().find(|g| g.of.streams <= streams) {
            self.best[place] = lower.best[place];
        }
    }

    fn index(&self, rate: PhyRate) -> Option<Index> {
        self.groups.iter().find_map(|g| g.at(g.of.place(rate)?))
    }

    fn group_of(&self, index: Index) -> usize {
        usize::from(self.rates[usize::from(index)].group)
    }

    fn packet(&self, index: Index) -> Duration {
        self.rates[usize::from(index)].packet
    }

    fn prob(&self, index: Index) -> u32 {
        self.rates[usize::from(index)].stats.prob
    }

    /// Mean number of frames per PPDU.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_avg_ampdu_len (5.12) - estimates it only for
    // drivers that do not report it.
    fn aggregate(&self) -> u64 {
        u64::from((self.mean_aggregate / ONE).max(1))
    }

    /// Expected throughput in units of 10 packets per second.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_tp_avg (4.4, 5.12) - zero below 10 %, capped
    // at 90 %; the older version divides before it multiplies and so distinguishes few rates.
    fn throughput(&self, index: Index) -> u64 {
        let known = &self.rates[usize::from(index)];
        let prob = u64::from(known.stats.prob.min(percent(90)));
        if known.stats.prob < percent(10) {
            return 0;
        }
        let nanos = 1_000 * OVERHEAD_MICROS / self.aggregate() + known.packet.nanos();
        match self.version {
            MinstrelVersion::Before512 => 100_000 * (prob * 1_000 / nanos) / u64::from(ONE),
            MinstrelVersion::From512 | MinstrelVersion::From519 => {
                100 * (prob * 1_000_000 / nanos) / u64::from(ONE)
            }
        }
    }

    /// Sort key of rates: throughput, then reliability.
    fn merit(&self, index: Index) -> (u64, u32) {
        (self.throughput(index), self.prob(index))
    }

    /// Returns the retry chain: the best two rates (three since 5.19), and the most reliable one.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_rates (4.4) - leaves one of the hardware's
    // four entries unused; (5.19) - fills all of them.
    // linux: drivers/net/wireless/ath/ath9k/init.c ath9k_set_hw_capab (4.4) - max_rates is 4.
    pub fn chain(&self) -> RetryChain {
        let by_throughput = if self.version >= MinstrelVersion::From519 { RetryChain::MAX - 1 } else { 2 };
        let rate = |n: usize| if n < by_throughput { self.best[n] } else { self.surest };
        let entries: [_; RetryChain::MAX] = core::array::from_fn(|n| self.entry(rate(n), n > 0));
        RetryChain::new(&entries[..=by_throughput]).expect("three or four entries with tries")
    }

    /// Returns the expected throughput of the best rate.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_expected_throughput (4.4) - treats a kilobit
    // as 1024 bits.
    pub fn expected(&self) -> Rate {
        let packets = 10 * self.throughput(self.best[0]);
        Rate::from_bps(packets * PACKET_BITS / 1024 * 1000)
    }

    /// Returns the number of frames sent, and the number of probes among them.
    pub fn totals(&self) -> (u64, u64) {
        (self.total, self.probes)
    }

    /// Returns a row for each rate, as in `rc_stats`.
    pub fn rows(&self) -> Vec<StatsRow> {
        let row = |(n, known): (usize, &Known)| {
            let index = n as Index;
            StatsRow {
                mode: self.groups[usize::from(known.group)].of.mode(),
                rate: known.rate,
                places: self.places(index),
                tries: self.entry(index, false).tries,
                packets_per_second: 10 * self.throughput(index),
                stats: known.stats,
            }
        };
        self.rates.iter().enumerate().map(row).collect()
    }

    /// `A` to `D` for the best four rates, `P` for the most reliable.
    // linux: net/mac80211/rc80211_minstrel_ht_debugfs.c (4.4).
    fn places(&self, index: Index) -> String {
        let letters = self.best.iter().zip("ABCD".chars()).filter(|&(&i, _)| i == index).map(|(_, c)| c);
        letters.chain((self.surest == index).then_some('P')).collect()
    }
}

#[cfg(test)]
mod tests;
