//! Rate control in the AR9271's firmware, used instead of the host's: the best rate below a ceiling that
//! falls with the packet error rate and rises with successful probes.
//!
//! From the open firmware (e888634): `wlan/ratectrl_11n_ln.c` for the rules, `wlan/ar5416Phy.c` for the
//! rates.
// linux: drivers/net/wireless/ath/ath9k/htc_drv_init.c ath9k_set_hw_capab (4.14) - HAS_RATE_CONTROL: mac80211
// does not call Minstrel or any other rate control.
// deviation: ignores signal strength - so does the firmware, although its table still has columns for it.

mod rates;

use super::stats::{Count, ONE, RateStats};
use super::table::{HtCapabilities, PACKET_BITS};
use super::{Probe, StatsRow, TxReport};
use crate::types::{Duration, Instant, Rate};
use crate::wifi::phy::{HtRate, PhyRate, RateTry, RetryChain, Width};
use alloc::vec::Vec;
use rates::{ALL, Index, Known, SIZE};

pub use rates::rates;

/// Tries of a chain, and number of its entries.
// ath9k_htc-firmware: wlan/if_owl.c ath_tgt_rate_findrate (e888634) - 10 tries, 4 rates, each one step lower,
// probes allowed.
const TRIES: u8 = 10;
const ENTRIES: usize = RetryChain::MAX;

/// Minimum time between two probes in ms.
// ath9k_htc-firmware: wlan/ar5416Phy.c ar5416_11ngRateTable (e888634) - probeInterval of the K2 (the AR9271):
// 100 ms.
const PROBE_INTERVAL: u64 = 100;

/// Interval in ms at which all error rates decay by 1/8.
// ath9k_htc-firmware: as above, rssiReduceInterval - 50 ms.
const DECAY_INTERVAL: u64 = 50;

/// Minimum error rate used in comparisons, in percent: losses from collisions with TCP ACKs.
// ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcRateFind_ht (e888634).
const COLLISIONS: u8 = 12;

/// Error rate in percent at which a rate is abandoned.
// ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcUpdate_ht (e888634).
const TOO_BAD: u8 = 55;

/// Error rate in percent of a single frame by its number of failed tries.
// ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcUpdate_ht, nRetry2PerLookup (e888634).
const AFTER_RETRIES: [u8; 10] = [0, 25, 50, 75, 80, 83, 85, 87, 88, 90];

/// Result of the tries at a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// A response arrived after `retries` failures.
    Answered { retries: u32, frames: u32, bad: u32 },
    /// No response, nor at later rates of the chain.
    GaveUp,
    /// No response, but a later rate of the chain got one.
    Next,
}

/// Rate control of one link.
#[derive(Clone, Debug)]
pub struct Ath9kHtc {
    /// Rates of the link, slowest first.
    valid: Vec<Index>,
    /// Packet error rate of each rate in the firmware's table, in percent.
    per: [u8; SIZE],
    /// Number of entries in the table up to the link's last rate.
    table: usize,
    /// The fastest rate allowed.
    ceiling: Index,
    /// The rate being probed.
    probed: Option<Index>,
    /// Time of the last probe in ms.
    probe_at: u64,
    /// Time of the last decay in ms.
    decay_at: u64,
    /// Frames at the ceiling without a failed try since the last failure; saturates at 255.
    clean: u8,
    counts: [Count; SIZE],
}

impl Ath9kHtc {
    /// Creates a link without statistics. It starts at the fourth rate from the end of the list in which the
    /// short guard interval follows the long one: MCS 4.
    // ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcSibUpdate_ht (e888634) - sorts the list after this choice.
    pub fn new(can: HtCapabilities) -> Self {
        let mut valid: Vec<Index> = rates::valid(can).collect();
        valid.sort_by_key(|&i| (ALL[usize::from(i)].phy, i));
        let ceiling = valid[valid.len() - 4];
        valid.sort_by_key(|&i| (ALL[usize::from(i)].user_kbps, i));
        let table = valid.iter().max().map_or(0, |&i| usize::from(i) + 1);
        Self {
            valid,
            per: [0; SIZE],
            table,
            ceiling,
            probed: None,
            probe_at: 0,
            decay_at: 0,
            clean: 0,
            counts: [Count::default(); SIZE],
        }
    }

    fn known(index: Index) -> &'static Known {
        &ALL[usize::from(index)]
    }

    fn per(&self, index: Index) -> u8 {
        self.per[usize::from(index)]
    }

    /// Returns the rate with the highest user rate times success rate. The search stops at the first rate
    /// that could not win even without errors, but the firmware compares with a value 100 times too small.
    /// The ceiling therefore wins unless all of its frames are lost.
    // ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcRateFind_ht (e888634).
    fn best(&self) -> Index {
        let (mut most, mut best) = (0, self.valid[0]);
        for &index in self.valid.iter().rev().filter(|&&index| index <= self.ceiling) {
            let user = Self::known(index).user_kbps;
            if most >= user {
                break;
            }
            let is = user * u32::from(100 - self.per(index).clamp(COLLISIONS, 100));
            if most <= is {
                (most, best) = (is, index);
            }
        }
        best
    }

    fn place(&self, index: Index) -> usize {
        self.valid.iter().position(|&i| i == index).expect("one of the link's rates")
    }

    /// The next slower rate, or the slowest itself.
    fn lower(&self, index: Index) -> Index {
        self.valid[self.place(index).saturating_sub(1)]
    }

    /// Returns the retry chain: each rate is slower than the one before, and all but the first use RTS.
    pub fn chain(&self) -> RetryChain {
        self.chain_from(self.best(), false)
    }

    /// Returns the retry chain of a probe: one try at the probed rate, followed by the next lower rate.
    /// Neither uses RTS.
    pub fn probe_chain(&self, rate: PhyRate) -> RetryChain {
        let index = self.valid.iter().find(|&&index| Self::known(index).rate == rate);
        self.chain_from(*index.expect("one of the link's rates"), true)
    }

    // ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcRateFind_11n (e888634) - equal shares of the tries, the
    // rest for the last entry.
    // deviation: sends RTS at the control rate of each entry - the firmware (wlan/if_owl.c ath_buf_set_rate)
    // uses that of the last entry for all, which is the same from MCS 4, and 11 Mbit/s while 802.11b stations
    // are present, where `Protection` uses 1.
    fn chain_from(&self, first: Index, probes: bool) -> RetryChain {
        let each = TRIES / ENTRIES as u8;
        let mut index = first;
        let mut entries: [RateTry; ENTRIES] = core::array::from_fn(|n| {
            if n > 0 {
                index = self.lower(index);
            }
            let tries = match n {
                0 if probes => 1,
                _ if n + 1 == ENTRIES => TRIES - each * n as u8,
                _ => each,
            };
            RateTry { rate: Self::known(index).rate, tries, rts: n > usize::from(probes) }
        });
        let begins = Self::known(first);
        // Prevents an 802.11b rate in the last entry, which would disable aggregation.
        if matches!(begins.rate, PhyRate::Ht(HtRate { mcs: 2, width: Width::Mhz40, .. }))
            || matches!(begins.rate, PhyRate::Ht(HtRate { mcs: 3, width: Width::Mhz20, .. }))
        {
            entries[3].rate = entries[2].rate;
        }
        // MCS 0 to 3, and 1 Mbit/s, whose number in a beacon is 2.
        entries[0].rts |= begins.number <= 3;
        RetryChain::new(&entries).expect("four entries with tries")
    }

    /// Returns the rate that the next PPDU probes, if any. A probing PPDU has one frame.
    // ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcRateFind_ht, wlan/if_owl.c ath_lookup_rate (e888634).
    pub fn probe(&mut self, now: Instant) -> Option<Probe> {
        let now = millis(now);
        if now - self.probe_at <= PROBE_INTERVAL || self.clean == 0 || self.best() < self.ceiling {
            return None;
        }
        let next = *self.valid.get(self.place(self.ceiling) + 1)?;
        (self.probed, self.probe_at, self.clean) = (Some(next), now, 0);
        Some(Probe { rate: Self::known(next).rate, tries: 1, second: false })
    }

    /// Reports the result of a data PPDU. Returns true if the chain has changed.
    // ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcUpdate_11n, wlan/if_owl.c ath_tx_comp_aggr (e888634) - for
    // every PPDU.
    pub fn sent(&mut self, now: Instant, sent: TxReport<'_>) -> bool {
        let (now, before) = (millis(now), self.best());
        let answered = sent.acked > 0;
        let Some((last, failed)) = sent.tries.split_last() else { return false };
        for entry in failed {
            self.count(entry, sent.frames, 0);
            self.update(now, entry.rate, if answered { End::Next } else { End::GaveUp });
        }
        self.count(last, sent.frames, sent.acked);
        let end = if answered {
            // The hardware counts unanswered RTS frames separately.
            let retries = u32::from(last.tries - 1 - sent.unsent.min(last.tries - 1));
            // A single acknowledged frame has no errors.
            let bad = if sent.frames > 1 { sent.frames - sent.acked } else { 0 };
            End::Answered { retries, frames: sent.frames, bad }
        } else {
            End::GaveUp
        };
        self.update(now, last.rate, end);
        self.best() != before
    }

    fn count(&mut self, entry: &RateTry, frames: u32, acked: u32) {
        if let Some(index) = self.valid.iter().find(|&&index| Self::known(index).rate == entry.rate) {
            let count = &mut self.counts[usize::from(*index)];
            count.attempts += u64::from(entry.tries) * u64::from(frames);
            count.successes += u64::from(acked);
        }
    }

    // ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcUpdate_ht (e888634).
    fn update(&mut self, now: u64, rate: PhyRate, end: End) {
        let Some(&index) = self.valid.iter().find(|&&index| Self::known(index).rate == rate) else { return };
        let at = usize::from(index);
        let before = self.per[at];
        let eighth = |new: u32| before - before / 8 + (new / 8) as u8;
        match end {
            End::GaveUp => self.per[at] = (before + 30).min(100),
            End::Next => self.per[at] = eighth(100),
            End::Answered { retries, bad: 0, .. } => {
                let failed = AFTER_RETRIES[(retries as usize).min(AFTER_RETRIES.len() - 1)];
                self.per[at] = eighth(u32::from(failed));
            }
            End::Answered { retries, frames, bad } => {
                let retries = retries.min(AFTER_RETRIES.len() as u32 - 1);
                self.per[at] = eighth(100 * (retries * frames + bad) / (frames * (retries + 1)));
            }
        }
        let probed = self.probed == Some(index);
        if probed {
            self.probed = None;
        }
        if let End::Answered { retries, frames, bad } = end {
            if probed && retries == 0 && 2 * bad <= frames {
                self.ceiling = index;
                if self.per[at] > 30 {
                    self.per[at] = 20;
                }
                // Allow the next probe after half the interval.
                self.probe_at = now.saturating_sub(PROBE_INTERVAL / 2);
            }
            if retries > 0 {
                self.clean = 0;
            } else if index == self.ceiling {
                self.clean = self.clean.saturating_add(1);
            }
        }
        if self.per[at] >= TOO_BAD && index > 0 && Self::known(index).kbps <= Self::known(self.ceiling).kbps {
            if self.place(index) > 0 {
                self.ceiling = self.lower(index);
            }
            self.probe_at = now;
        }
        // Error rates within a kind increase with the rate.
        if self.per[at] < before {
            let slower = (0..at).rev().take_while(|&n| ALL[n].phy == ALL[at].phy);
            for n in slower {
                self.per[n] = self.per[n].min(self.per[n + 1]);
            }
        }
        for n in at..self.table - 1 {
            self.per[n + 1] = self.per[n + 1].max(self.per[n]);
        }
        if now - self.decay_at >= DECAY_INTERVAL {
            self.per[..self.table].iter_mut().for_each(|per| *per = (7 * u16::from(*per) / 8) as u8);
            self.decay_at = now;
        }
    }

    /// Returns the expected throughput of the best rate.
    pub fn expected(&self) -> Rate {
        Rate::from_bps(self.bits_per_second(self.best()))
    }

    fn bits_per_second(&self, index: Index) -> u64 {
        u64::from(Self::known(index).user_kbps) * 10 * u64::from(100 - self.per(index).clamp(COLLISIONS, 100))
    }

    /// Returns a row for each rate of the link, with its place in the chain.
    pub fn rows(&self) -> Vec<StatsRow> {
        let chain = self.chain();
        let row = |&index: &Index| {
            let known = Self::known(index);
            let mut stats = RateStats::default();
            stats.prob = ONE * u32::from(100 - self.per(index).min(100)) / 100;
            stats.total = self.counts[usize::from(index)];
            let places = chain.entries().iter().zip("ABCD".chars());
            StatsRow {
                mode: known.mode(),
                rate: known.rate,
                places: places
                    .filter(|(entry, _)| entry.rate == known.rate)
                    .map(|(_, place)| place)
                    .collect(),
                tries: TRIES / ENTRIES as u8,
                packets_per_second: self.bits_per_second(index) / PACKET_BITS,
                stats,
            }
        };
        self.valid.iter().map(row).collect()
    }
}

fn millis(at: Instant) -> u64 {
    (at - Instant::ZERO).nanos() / Duration::from_millis(1).nanos()
}

#[cfg(test)]
mod tests;
