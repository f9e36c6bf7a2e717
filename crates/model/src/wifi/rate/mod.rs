//! Rate control of a link.

pub mod ath9k_htc;
pub mod mask;
pub mod minstrel;
pub mod minstrel_ht;
mod order;
pub mod stats;
pub mod table;

use crate::types::{Instant, Rate};
use crate::wifi::phy::{PhyRate, RateTry, RetryChain};
use crate::wifi::timeline::Timeline;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use ath9k_htc::Ath9kHtc;
use mask::McsMask;
use minstrel::Minstrel;
use minstrel_ht::MinstrelHt;
use stats::RateStats;

/// Rate control of one link. A closed enum, because it is called for every frame.
#[derive(Clone, Debug)]
pub enum RateControl {
    /// A fixed retry chain.
    Fixed(RetryChain),
    /// Minstrel-HT with a rate mask.
    MinstrelHt(Box<MinstrelHt>, McsMask),
    /// Minstrel, for links without HT.
    Minstrel(Box<Minstrel>),
    /// Rate control of the AR9271's firmware.
    Ath9kHtc(Box<Ath9kHtc>),
    /// Retry chains from a trace.
    // deviation: updates the chain when a data PPDU completes, as for rate control - one PPDU may still use
    // the old rate.
    Traced(Box<Timeline<RetryChain>>),
}

/// A rate probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// The probed rate.
    pub rate: PhyRate,
    /// Tries at the probed rate.
    pub tries: u8,
    /// Put the probed rate second in the chain, where it is tried only if the best rate fails.
    pub second: bool,
}

/// Result of a data PPDU, for rate control.
#[derive(Clone, Copy, Debug)]
pub struct TxReport<'a> {
    /// Used entries of the retry chain, with the number of tries made.
    pub tries: &'a [RateTry],
    /// Frames in the PPDU.
    pub frames: u32,
    /// Acknowledged frames.
    pub acked: u32,
    /// The probe of the PPDU, if any.
    pub probe: Option<Probe>,
    /// Tries at the last used entry that ended with an unanswered RTS.
    pub unsent: u8,
}

/// A line of `rc_stats`: one rate.
#[derive(Clone, Debug)]
pub struct StatsRow {
    /// Width and guard interval.
    pub mode: &'static str,
    /// The rate.
    pub rate: PhyRate,
    /// Use of the rate: `A` to `D` by throughput, `P` by reliability.
    pub places: String,
    /// Tries as the first entry of a chain.
    pub tries: u8,
    /// Expected throughput in packets of 1200 bytes per second.
    pub packets_per_second: u64,
    /// Statistics of the rate.
    pub stats: RateStats,
}

impl RateControl {
    /// Returns the current retry chain.
    pub fn chain(&self) -> RetryChain {
        match self {
            Self::Fixed(chain) => *chain,
            Self::MinstrelHt(m, mask) => mask.chain(m.chain()),
            Self::Minstrel(m) => m.chain(),
            Self::Ath9kHtc(m) => m.chain(),
            Self::Traced(chains) => *chains.last(),
        }
    }

    /// Returns the probe of a data frame that is about to get its sequence number, if any.
    #[inline]
    pub fn probe(&mut self, now: Instant) -> Option<Probe> {
        match self {
            Self::Fixed(_) | Self::Traced(_) | Self::Ath9kHtc(_) => None,
            // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_rate (4.4) - a single try.
            Self::MinstrelHt(m, mask) => {
                m.probe(now).map(|rate| mask.probe(Probe { rate, tries: 1, second: false }))
            }
            Self::Minstrel(m) => m.probe(),
        }
    }

    /// Returns true if probing is per PPDU. Then [`RateControl::probe_by_ppdu`] is called instead of
    /// [`RateControl::probe`].
    #[inline]
    pub const fn probes_by_ppdu(&self) -> bool {
        matches!(self, Self::Ath9kHtc(_))
    }

    /// Returns the probe of a PPDU that is about to be built from new or retried frames, if any.
    pub fn probe_by_ppdu(&mut self, now: Instant) -> Option<Probe> {
        match self {
            Self::Ath9kHtc(m) => m.probe(now),
            _ => None,
        }
    }

    /// Returns the retry chain of a probe, to be used instead of `chain`.
    pub fn probe_chain(&self, probe: Probe, chain: &RetryChain) -> RetryChain {
        match self {
            Self::Ath9kHtc(m) => m.probe_chain(probe.rate),
            _ => probe_chain(probe, chain),
        }
    }

    /// Returns true if rate control uses the results of PPDUs.
    #[inline]
    pub const fn learns(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    /// Reports the result of a data PPDU. Returns true if the chain may have changed.
    pub fn sent(&mut self, now: Instant, sent: TxReport<'_>) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::MinstrelHt(m, _) => m.sent(now, sent),
            Self::Minstrel(m) => m.sent(now, sent),
            Self::Ath9kHtc(m) => m.sent(now, sent),
            Self::Traced(chains) => {
                let before = *chains.last();
                *chains.now(now) != before
            }
        }
    }

    /// Returns the expected throughput, or `None` if it follows from the chain.
    pub fn expected(&self) -> Option<Rate> {
        match self {
            Self::Fixed(_) | Self::Traced(_) => None,
            Self::MinstrelHt(m, _) => Some(m.expected()),
            Self::Minstrel(m) => Some(m.expected()),
            Self::Ath9kHtc(m) => Some(m.expected()),
        }
    }

    /// Returns the maximum length in bytes of an A-MSDU at the chosen rates, or `None` without a limit.
    pub fn amsdu_bytes(&self) -> Option<u16> {
        match self {
            Self::MinstrelHt(m, _) => m.amsdu_bytes(),
            Self::Fixed(_) | Self::Traced(_) | Self::Minstrel(_) | Self::Ath9kHtc(_) => None,
        }
    }

    /// Returns the lines of `rc_stats`. Empty for fixed and traced rates.
    pub fn rows(&self) -> Vec<StatsRow> {
        match self {
            Self::Fixed(_) | Self::Traced(_) => Vec::new(),
            Self::MinstrelHt(m, _) => m.rows(),
            Self::Minstrel(m) => m.rows(),
            Self::Ath9kHtc(m) => m.rows(),
        }
    }
}

/// Returns the retry chain of a probe: the probed rate in its entry, and the other entries of `chain`.
// linux: net/mac80211/rate.c rate_control_fill_sta_table (4.4).
pub fn probe_chain(probe: Probe, chain: &RetryChain) -> RetryChain {
    let entry = RateTry::new(probe.rate, probe.tries);
    let mut entries = [entry; RetryChain::MAX];
    let n = chain.entries().len();
    entries[..n].copy_from_slice(chain.entries());
    let at = usize::from(probe.second);
    entries[at] = entry;
    RetryChain::new(&entries[..n.max(at + 1)]).expect("one to four entries with tries")
}
