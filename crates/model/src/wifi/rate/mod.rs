//! Rate control: the rates of a link.

pub mod ath9k_htc;
pub mod mask;
pub mod minstrel;
pub mod minstrel_ht;
mod order;
pub mod stats;
pub mod table;

use crate::vocabulary::{Instant, Rate};
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

/// The rate control of one link; closed, because it is asked for every frame.
#[derive(Clone, Debug)]
pub enum RateControl {
    /// Always the same chain.
    Fixed(RetryChain),
    /// Minstrel-HT with a rate mask.
    MinstrelHt(Box<MinstrelHt>, McsMask),
    /// Minstrel, without HT.
    Minstrel(Box<Minstrel>),
    /// That of the AR9271's firmware.
    Ath9kHtc(Box<Ath9kHtc>),
    /// Retry chains from a trace.
    // deviation: a chain is looked for when a data PPDU is done with, as rate control's is, so one may still go at the old rate.
    Traced(Box<Timeline<RetryChain>>),
}

/// What a frame shall find out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// About this rate.
    pub rate: PhyRate,
    /// Tries at it.
    pub tries: u8,
    /// It stands in the second place of the chain: it is tried only if the best rate fails.
    pub second: bool,
}

/// The outcome of a data PPDU, for rate control.
#[derive(Clone, Copy, Debug)]
pub struct TxReport<'a> {
    /// The entries of its chain that were used, each with the tries made.
    pub tries: &'a [RateTry],
    /// Frames in it.
    pub frames: u32,
    /// Frames acknowledged.
    pub acked: u32,
    /// What it was to find out.
    pub probe: Option<Probe>,
    /// Tries at the last of those entries that were only an RTS without a CTS.
    pub unsent: u8,
}

/// One rate, as `rc_stats` shows it.
#[derive(Clone, Debug)]
pub struct StatsRow {
    /// Width and guard interval.
    pub mode: &'static str,
    /// The rate.
    pub rate: PhyRate,
    /// What it is used for: `A` to `D` by throughput, `P` by reliability.
    pub places: String,
    /// Tries it would have as the first of a chain.
    pub tries: u8,
    /// Expected throughput in packets of 1200 bytes a second.
    pub packets_per_second: u64,
    /// Tries and successes.
    pub stats: RateStats,
}

impl RateControl {
    /// The chain to send at.
    pub fn chain(&self) -> RetryChain {
        match self {
            Self::Fixed(chain) => *chain,
            Self::MinstrelHt(m, mask) => mask.chain(m.chain()),
            Self::Minstrel(m) => m.chain(),
            Self::Ath9kHtc(m) => m.chain(),
            Self::Traced(chains) => *chains.last(),
        }
    }

    /// A data frame is about to get its number: what it shall find out, if anything.
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

    /// Whether it probes by PPDU: [`RateControl::probe_by_ppdu`] is asked instead of [`RateControl::probe`].
    #[inline]
    pub const fn probes_by_ppdu(&self) -> bool {
        matches!(self, Self::Ath9kHtc(_))
    }

    /// A PPDU is about to be made, whatever its frames were tried before: what it shall find out, if anything.
    pub fn probe_by_ppdu(&mut self, now: Instant) -> Option<Probe> {
        match self {
            Self::Ath9kHtc(m) => m.probe(now),
            _ => None,
        }
    }

    /// The chain of a probe instead of `chain`.
    pub fn probe_chain(&self, probe: Probe, chain: &RetryChain) -> RetryChain {
        match self {
            Self::Ath9kHtc(m) => m.probe_chain(probe.rate),
            _ => probe_chain(probe, chain),
        }
    }

    /// Whether it wants to know what became of PPDUs.
    #[inline]
    pub const fn learns(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    /// A data PPDU is done with; true if the chain may be another now.
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

    /// Throughput that it expects; none if that follows from the chain alone.
    pub fn expected(&self) -> Option<Rate> {
        match self {
            Self::Fixed(_) | Self::Traced(_) => None,
            Self::MinstrelHt(m, _) => Some(m.expected()),
            Self::Minstrel(m) => Some(m.expected()),
            Self::Ath9kHtc(m) => Some(m.expected()),
        }
    }

    /// Bytes that a frame of several packets may have at most at the rates that it has chosen; none without a limit.
    pub fn amsdu_bytes(&self) -> Option<u16> {
        match self {
            Self::MinstrelHt(m, _) => m.amsdu_bytes(),
            Self::Fixed(_) | Self::Traced(_) | Self::Minstrel(_) | Self::Ath9kHtc(_) => None,
        }
    }

    /// What `rc_stats` shows; nothing of a fixed rate.
    pub fn rows(&self) -> Vec<StatsRow> {
        match self {
            Self::Fixed(_) | Self::Traced(_) => Vec::new(),
            Self::MinstrelHt(m, _) => m.rows(),
            Self::Minstrel(m) => m.rows(),
            Self::Ath9kHtc(m) => m.rows(),
        }
    }
}

/// The chain of a probe: its rate in its place, and what the chain has in the others.
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
