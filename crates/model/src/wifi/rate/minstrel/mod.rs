//! Minstrel, the rate control of stations without HT: chooses rates of 802.11a, b and g by the share of
//! acknowledged frames, with a tenth of the frames as probes.
//!
//! Every 100 ms the success ratio of each rate updates its average. The retry chain is: the best two rates by
//! expected throughput, the most reliable one, and the lowest.

mod times;

use super::stats::{Average, ONE, RateStats, percent};
use super::table::PACKET_BITS;
use super::{Probe, StatsRow, TxReport};
use crate::types::{Duration, Instant, RandomStream, Rate};
use crate::wifi::phy::{DsssRate, OfdmRate, PhyRate, Preamble, RateTry, RetryChain};
use alloc::vec;
use alloc::vec::Vec;
use times::{Times, frame_micros};

/// Rates that both ends of a link without HT support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LegacyMinstrel {
    /// 802.11a: OFDM only, at 5 GHz.
    A,
    /// 802.11b: DSSS and CCK only.
    B,
    /// 802.11g: both, at 2.4 GHz.
    G,
}

impl LegacyMinstrel {
    /// The rates in the order of Linux's band table: 802.11b rates first.
    // deviation: the preamble is the long one - an access point that does not announce the short one gets
    // that in Linux too.
    pub fn rates(self) -> impl Iterator<Item = PhyRate> {
        let dsss = DsssRate::ALL.map(|r| PhyRate::Dsss(r, Preamble::Long));
        let ofdm = OfdmRate::ALL.map(PhyRate::Ofdm);
        let dsss = dsss.into_iter().filter(move |_| self != Self::A);
        dsss.chain(ofdm.into_iter().filter(move |_| self != Self::B))
    }
}

/// Time between two choices of rates.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - update_interval.
// deviation: to the nanosecond - Linux counts in jiffies.
const INTERVAL: Duration = Duration::from_millis(100);

/// Most tries of an entry, and those of the lowest rate at the end.
// linux: drivers/net/wireless/ath/ath9k/init.c ath9k_set_hw_capab (4.4) - max_rate_tries.
const MOST_TRIES: u8 = 10;

/// Rates kept by throughput.
// linux: net/mac80211/rc80211_minstrel.h MAX_THR_RATES (4.4).
const KEPT: usize = 4;

/// Frames of a hundred that are probes: with the whole chain, and where a CTS goes before each frame.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - lookaround_rate_mrr, lookaround_rate.
const LOOKAROUND: (u64, u64) = (10, 5);

/// Frames after which the counters of probes begin anew.
// linux: net/mac80211/rc80211_minstrel.c minstrel_get_rate (4.4).
const FORGET: u64 = 10_000;

/// Columns of the table of probes.
// linux: net/mac80211/rc80211_minstrel.h SAMPLE_COLUMNS (4.4).
const COLUMNS: usize = 10;

/// Position of a rate.
type Index = u8;

#[derive(Clone, Debug)]
struct Known {
    rate: PhyRate,
    times: Times,
    /// Tries in a chain now.
    tries: u8,
    /// Probes that this interval still allows; none: any number.
    probes: Option<u8>,
    stats: RateStats,
}

/// Rate control of one link.
#[derive(Clone, Debug)]
pub struct Minstrel {
    rates: Vec<Known>,
    /// Stations without OFDM are there: a CTS goes before OFDM frames.
    protected: bool,
    best: [Index; KEPT],
    surest: Index,
    interval_ends: Instant,
    /// Which rate is probed next: columns in which each rate stands once.
    order: Vec<Index>,
    cursor: usize,
    /// Frames, probes, and probes in the second place of a chain whose fate is open.
    frames: u64,
    probes: u64,
    deferred: u64,
    /// The last frame was a probe.
    probed: bool,
}

impl Minstrel {
    /// A link without statistics. It starts at its slowest rate.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_rate_init (4.4).
    pub fn new(can: LegacyMinstrel, protected: bool, stream: &mut RandomStream) -> Self {
        let lowest = can.rates().next().expect("each kind has rates");
        let known = |rate| {
            let times = Times::of(rate, frame_micros(lowest, 10), MOST_TRIES);
            Known { rate, tries: times.tries, times, probes: None, stats: RateStats::default() }
        };
        let rates: Vec<Known> = can.rates().map(known).collect();
        let order = order(rates.len(), stream);
        Self {
            rates,
            protected,
            best: [0; KEPT],
            surest: 0,
            interval_ends: Instant::ZERO + INTERVAL,
            order,
            cursor: 0,
            frames: 0,
            probes: 0,
            deferred: 0,
            probed: false,
        }
    }

    fn known(&self, index: Index) -> &Known {
        &self.rates[usize::from(index)]
    }

    /// Expected throughput in tens of packets a second.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_get_tp_avg (4.4) - nothing below 10 %, no more for more
    // than 90 %; it divides before it multiplies.
    fn throughput(&self, index: Index) -> u64 {
        let known = self.known(index);
        if known.stats.prob < percent(10) {
            return 0;
        }
        let prob = known.stats.prob.min(percent(90));
        100_000 * u64::from(prob / known.times.packet) / u64::from(ONE)
    }

    /// Tries of an entry, less if a CTS goes before each.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_set_rate, minstrel_get_retry_count (4.4),
    // net/mac80211/rate.c rate_control_fill_sta_table (4.4).
    // deviation: frames over an RTS threshold have the same number - Linux takes another then.
    fn entry(&self, index: Index) -> RateTry {
        let known = self.known(index);
        let tries = if self.protected { known.times.tries_after_cts } else { known.tries };
        RateTry::new(known.rate, tries)
    }

    /// The retry chain: the best rate, the second best, the most reliable, the lowest.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_update_rates (4.4).
    pub fn chain(&self) -> RetryChain {
        let [a, b] = [self.best[0], self.best[1]];
        let last = RateTry::new(self.rates[0].rate, MOST_TRIES);
        RetryChain::new(&[self.entry(a), self.entry(b), self.entry(self.surest), last])
            .expect("four entries with tries")
    }

    /// A data frame is about to be sent. Returns the rate to probe, if any.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_get_rate (4.4) - rates slower than the best are probed
    // in the second place of the chain, unless they were not tried for 20 intervals; there they are tried
    // only if the best fails.
    pub fn probe(&mut self) -> Option<Probe> {
        self.frames += 1;
        let share = if self.protected { LOOKAROUND.1 } else { LOOKAROUND.0 };
        let due = (self.frames * share / 100).checked_sub(self.probes + self.deferred / 2);
        let before = core::mem::take(&mut self.probed);
        let due = due.filter(|_| !(self.protected && before))?;
        let most = 2 * self.rates.len() as u64;
        if self.frames >= FORGET {
            (self.deferred, self.probes, self.frames) = (0, 0, 0);
        } else if due > most {
            // What could not be probed is forgotten, so that probes never come in a burst.
            self.probes += due - most;
        }
        let index = self.order[self.cursor];
        self.cursor = (self.cursor + 1) % self.order.len();
        let slower = self.known(index).times.packet > self.known(self.best[0]).times.packet;
        let second = !self.protected && slower && self.known(index).stats.skipped < 20;
        if second {
            self.deferred += 1;
        } else {
            let left = &mut self.rates[usize::from(index)].probes;
            if *left == Some(0) {
                return None;
            }
            self.probes += 1;
            *left = left.map(|n| n - 1);
        }
        if self.protected && self.known(index).stats.prob > percent(95) {
            return None;
        }
        self.probed = true;
        let known = self.known(index);
        let tries =
            if self.protected { known.tries.min(known.times.tries_after_cts).max(2) } else { known.tries };
        Some(Probe { rate: known.rate, tries, second })
    }

    /// Reports the result of a frame. Returns whether the retry chain may have changed.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_tx_status (4.4) - a success at the last of four entries
    // counts for no rate.
    pub fn sent(&mut self, now: Instant, sent: TxReport<'_>) -> bool {
        for (n, used) in sent.tries.iter().enumerate() {
            let Some(at) = self.rates.iter().position(|r| r.rate == used.rate) else { continue };
            let last = n + 1 == sent.tries.len() && n + 1 < RetryChain::MAX;
            let acked = if last { u64::from(sent.acked) } else { 0 };
            self.rates[at].stats.add(u64::from(used.tries), acked);
        }
        self.probes += u64::from(sent.probe.is_some_and(|p| p.second));
        self.deferred = self.deferred.saturating_sub(1);
        let over = now > self.interval_ends;
        if over {
            self.choose();
            self.interval_ends = now + INTERVAL;
        }
        over
    }

    /// Ends the interval and chooses rates anew.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_update_stats (4.4) - rates that nearly always or hardly
    // ever succeed are tried and probed less.
    fn choose(&mut self) {
        let mut best = [0; KEPT];
        let mut surest = 0;
        for index in 0..self.rates.len() as Index {
            let known = &mut self.rates[usize::from(index)];
            known.stats.end_interval(Average::Weighted);
            let most = known.times.tries;
            let certain = known.stats.prob > percent(95) || known.stats.prob < percent(10);
            (known.tries, known.probes) = if certain { ((most / 2).min(2), Some(4)) } else { (most, None) };
            if known.tries == 0 {
                known.tries = 2;
            }
            let own = self.throughput(index);
            let after = best.iter().rposition(|&held| own <= self.throughput(held)).map_or(0, |p| p + 1);
            if after < KEPT {
                best.copy_within(after..KEPT - 1, after + 1);
                best[after] = index;
            }
            let prob = self.known(index).stats.prob;
            let surer = if prob >= percent(95) {
                own >= self.throughput(surest)
            } else {
                prob >= self.known(surest).stats.prob
            };
            if surer {
                surest = index;
            }
        }
        (self.best, self.surest) = (best, surest);
    }

    /// Expected throughput of the best rate.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_get_expected_throughput (4.4) - a kilobit is 1024 bits
    // there.
    pub fn expected(&self) -> Rate {
        Rate::from_bps(10 * self.throughput(self.best[0]) * PACKET_BITS / 1024 * 1000)
    }

    /// A row for each rate, as `rc_stats` lists them.
    // linux: net/mac80211/rc80211_minstrel_debugfs.c minstrel_stats_open (4.4).
    pub fn rows(&self) -> Vec<StatsRow> {
        let row = |(n, known): (usize, &Known)| {
            let index = n as Index;
            let letters = self.best.iter().zip("ABCD".chars()).filter(|&(&i, _)| i == index).map(|(_, c)| c);
            StatsRow {
                mode: if matches!(known.rate, PhyRate::Dsss(..)) { "CCK" } else { "OFDM" },
                rate: known.rate,
                places: letters.chain((self.surest == index).then_some('P')).collect(),
                tries: known.times.tries,
                packets_per_second: 10 * self.throughput(index),
                stats: known.stats,
            }
        };
        self.rates.iter().enumerate().map(row).collect()
    }
}

/// Columns of all rates, each in an order of its own.
// linux: net/mac80211/rc80211_minstrel.c init_sample_table (4.4) - each rate is moved by one of eight random
// distances, to the next place that is free.
fn order(rates: usize, stream: &mut RandomStream) -> Vec<Index> {
    const FREE: Index = Index::MAX;
    let mut all = vec![FREE; COLUMNS * rates];
    for column in all.chunks_mut(rates) {
        let far: [usize; 8] = core::array::from_fn(|_| stream.below(256) as usize);
        for rate in 0..rates {
            let mut at = (rate + far[rate % 8]) % rates;
            while column[at] != FREE {
                at = (at + 1) % rates;
            }
            column[at] = rate as Index;
        }
    }
    all
}

#[cfg(test)]
mod tests;
