//! Minstrel, the rate control of stations without HT: chooses 802.11a/b/g rates by the share of acknowledged
//! frames, with 10 % of frames as probes.
//!
//! Every 100 ms, the success ratio of each rate updates its average. The retry chain has the best two rates
//! by expected throughput, the most reliable one, and the lowest.

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
    /// Returns the rates in the order of Linux's band table: 802.11b rates first.
    // deviation: always uses the long preamble - in Linux only if the access point does not announce the
    // short one.
    pub fn rates(self) -> impl Iterator<Item = PhyRate> {
        let dsss = DsssRate::ALL.map(|r| PhyRate::Dsss(r, Preamble::Long));
        let ofdm = OfdmRate::ALL.map(PhyRate::Ofdm);
        let dsss = dsss.into_iter().filter(move |_| self != Self::A);
        dsss.chain(ofdm.into_iter().filter(move |_| self != Self::B))
    }
}

/// Time between two updates of the chosen rates.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - update_interval.
// deviation: exact to the nanosecond - Linux counts in jiffies.
const INTERVAL: Duration = Duration::from_millis(100);

/// Maximum tries of an entry, and tries of the lowest rate at the end.
// linux: drivers/net/wireless/ath/ath9k/init.c ath9k_set_hw_capab (4.4) - max_rate_tries.
const MOST_TRIES: u8 = 10;

/// Number of rates kept by throughput.
// linux: net/mac80211/rc80211_minstrel.h MAX_THR_RATES (4.4).
const KEPT: usize = 4;

/// Percentage of frames that are probes: with a full retry chain, and with a CTS before each frame.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - lookaround_rate_mrr, lookaround_rate.
const LOOKAROUND: (u64, u64) = (10, 5);

/// Number of frames after which the probe counters restart.
// linux: net/mac80211/rc80211_minstrel.c minstrel_get_rate (4.4).
const FORGET: u64 = 10_000;

/// Columns of the sample table.
// linux: net/mac80211/rc80211_minstrel.h SAMPLE_COLUMNS (4.4).
const COLUMNS: usize = 10;

type Index = u8;

#[derive(Clone, Debug)]
struct Known {
    rate: PhyRate,
    times: Times,
    /// Current tries in a chain.
    tries: u8,
    /// Remaining probes in this interval. `None`: no limit.
    probes: Option<u8>,
    stats: RateStats,
}

/// Rate control of one link.
#[derive(Clone, Debug)]
pub struct Minstrel {
    rates: Vec<Known>,
    /// Stations without OFDM are present: a CTS precedes OFDM frames.
    protected: bool,
    best: [Index; KEPT],
    surest: Index,
    interval_ends: Instant,
    /// Sample table: columns that contain each rate once.
    order: Vec<Index>,
    cursor: usize,
    /// Frames, probes, and probes in the second place of a chain with an unknown result.
    frames: u64,
    probes: u64,
    deferred: u64,
    /// The last frame was a probe.
    probed: bool,
}

impl Minstrel {
    /// Creates a link without statistics. It starts at its slowest rate.
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

    /// Expected throughput in units of 10 packets per second.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_get_tp_avg (4.4) - zero below 10 %, capped at 90 %;
    // divides before it multiplies.
    fn throughput(&self, index: Index) -> u64 {
        let known = self.known(index);
        if known.stats.prob < percent(10) {
            return 0;
        }
        let prob = known.stats.prob.min(percent(90));
        100_000 * u64::from(prob / known.times.packet) / u64::from(ONE)
    }

    /// Chain entry with the rate's tries, which are fewer if a CTS precedes each.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_set_rate, minstrel_get_retry_count (4.4),
    // net/mac80211/rate.c rate_control_fill_sta_table (4.4).
    // deviation: uses the same number for frames above the RTS threshold - Linux uses another.
    fn entry(&self, index: Index) -> RateTry {
        let known = self.known(index);
        let tries = if self.protected { known.times.tries_after_cts } else { known.tries };
        RateTry::new(known.rate, tries)
    }

    /// Returns the retry chain: the best rate, the second best, the most reliable, the lowest.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_update_rates (4.4).
    pub fn chain(&self) -> RetryChain {
        let [a, b] = [self.best[0], self.best[1]];
        let last = RateTry::new(self.rates[0].rate, MOST_TRIES);
        RetryChain::new(&[self.entry(a), self.entry(b), self.entry(self.surest), last])
            .expect("four entries with tries")
    }

    /// Returns the rate that the next data frame probes, if any.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_get_rate (4.4) - probes rates slower than the best in
    // the second place of the chain, where they are tried only if the best fails, unless they were not tried
    // for 20 intervals.
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
            // Discard missed probes, so that they never come in a burst.
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

    /// Reports the result of a frame. Returns true if the retry chain may have changed.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_tx_status (4.4) - a success at the last of four entries
    // is not counted for any rate.
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

    /// Ends the interval and chooses new rates.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_update_stats (4.4) - tries and probes rates with very
    // high or very low success less often.
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

    /// Returns the expected throughput of the best rate.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_get_expected_throughput (4.4) - treats a kilobit as
    // 1024 bits.
    pub fn expected(&self) -> Rate {
        Rate::from_bps(10 * self.throughput(self.best[0]) * PACKET_BITS / 1024 * 1000)
    }

    /// Returns a row for each rate, as in `rc_stats`.
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

/// Builds the sample table: columns of all rates, each shuffled.
// linux: net/mac80211/rc80211_minstrel.c init_sample_table (4.4) - moves each rate by one of eight random
// distances, to the next free place.
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
