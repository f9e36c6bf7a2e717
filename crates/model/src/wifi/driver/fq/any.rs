//! The built-in station schedulers as one type, which is matched once per call or scheduling pass.

use super::StationScheduler;
use super::as_printed::AsPrinted;
use super::deficit::Deficit;
use super::round_robin::{InTurn, RoundRobin};
use super::virtual_time::VirtualTime;
use super::watched::Watched;
use super::weighted_deficit::WeightedDeficit;
use crate::wifi::config::{Mac80211Rules, Scheduler, WhenFull};
use alloc::boxed::Box;

/// A station scheduler. A closed enum, because it is on the path of every packet.
#[derive(Debug)]
pub(super) enum AnyScheduler {
    /// ath9k up to 4.10: a station that finds the hardware full loses its turn.
    InTurn(InTurn),
    /// ath9k since 4.11 without airtime fairness.
    RoundRobin(RoundRobin),
    /// Algorithm 3 as implemented in ath9k.
    Deficit(Deficit),
    /// Algorithm 3 as printed in the paper.
    AsPrinted(AsPrinted),
    /// mac80211's weighted deficit round robin.
    WeightedDeficit(WeightedDeficit),
    /// mac80211's virtual time.
    VirtualTime(VirtualTime),
    /// A user-defined scheduler, called by dynamic dispatch.
    Custom(Watched),
}

/// Expands the expression for each scheduler type.
macro_rules! each {
    ($scheduler:expr, $s:ident => $do:expr) => {
        match $scheduler {
            AnyScheduler::InTurn($s) => $do,
            AnyScheduler::RoundRobin($s) => $do,
            AnyScheduler::Deficit($s) => $do,
            AnyScheduler::AsPrinted($s) => $do,
            AnyScheduler::WeightedDeficit($s) => $do,
            AnyScheduler::VirtualTime($s) => $do,
            AnyScheduler::Custom($s) => $do,
        }
    };
}
pub(super) use each;

impl AnyScheduler {
    /// Creates the scheduler that `config` selects, for `peers` peers.
    pub(super) fn new(config: &Scheduler, peers: usize) -> Self {
        match *config {
            Scheduler::RoundRobin(WhenFull::LosesTurn) => Self::InTurn(InTurn::new(peers)),
            Scheduler::RoundRobin(WhenFull::KeepsTurn) => Self::RoundRobin(RoundRobin::new(peers)),
            Scheduler::Airtime(params) => Self::Deficit(Deficit::new(params, peers)),
            Scheduler::AirtimeAsPrinted(params) => Self::AsPrinted(AsPrinted::new(params, peers)),
            Scheduler::Mac80211(params, _, rules) => match rules {
                Mac80211Rules::Rounds => Self::WeightedDeficit(WeightedDeficit::new(params, peers)),
                Mac80211Rules::RoundsWithPending => {
                    Self::WeightedDeficit(WeightedDeficit::with_pending(params, peers))
                }
                Mac80211Rules::VirtualTime => Self::VirtualTime(VirtualTime::new(params, peers)),
            },
            Scheduler::Custom(ref own) => Self::Custom(Watched::new(own, peers)),
        }
    }
}

/// Returns the scheduler for `config` and `peers` peers, behind dynamic dispatch. For schedulers that wrap
/// another one, and for tests. A device calls built-in schedulers directly.
pub fn scheduler_of(config: &Scheduler, peers: usize) -> Box<dyn StationScheduler + Send> {
    match AnyScheduler::new(config, peers) {
        AnyScheduler::InTurn(s) => Box::new(s),
        AnyScheduler::RoundRobin(s) => Box::new(s),
        AnyScheduler::Deficit(s) => Box::new(s),
        AnyScheduler::AsPrinted(s) => Box::new(s),
        AnyScheduler::WeightedDeficit(s) => Box::new(s),
        AnyScheduler::VirtualTime(s) => Box::new(s),
        AnyScheduler::Custom(s) => s.into_inner(),
    }
}
