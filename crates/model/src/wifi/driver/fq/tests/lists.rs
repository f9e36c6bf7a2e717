//! Test accessors: listed stations and their deficits.

use crate::sched::drr::{DeficitRoundRobin, Drr, Member};
use crate::types::Ac;
use crate::wifi::driver::fq::any::AnyScheduler;
use crate::wifi::tx::transmitter::TidIndex;
use alloc::string::String;
use alloc::vec::Vec;

impl AnyScheduler {
    fn rounds(&self) -> Option<(&Drr, &[DeficitRoundRobin; 4])> {
        match self {
            Self::Deficit(s) => Some(s.lists()),
            Self::AsPrinted(s) => Some(s.lists()),
            Self::WeightedDeficit(s) => Some(s.lists()),
            Self::InTurn(_) | Self::RoundRobin(_) | Self::VirtualTime(_) | Self::Custom(_) => None,
        }
    }

    /// A station's deficit in nanoseconds, or 0 for schedulers without deficits.
    pub(in super::super) fn deficit(&self, tid: TidIndex) -> i64 {
        self.rounds().map_or(0, |(pool, _)| pool.deficit(Member(tid.0)))
    }

    /// Listed TIDs in order, with true for those on the new list.
    pub(in super::super) fn listed(&self, ac: Ac) -> Vec<(TidIndex, bool)> {
        let old = |tid| (tid, false);
        match self {
            Self::InTurn(s) => s.listed(ac).map(old).collect(),
            Self::RoundRobin(s) => s.listed(ac).map(old).collect(),
            Self::VirtualTime(s) => s.listed(ac).map(old).collect(),
            Self::Custom(_) => Vec::new(),
            Self::Deficit(_) | Self::AsPrinted(_) | Self::WeightedDeficit(_) => {
                let (pool, rounds) = self.rounds().expect("these have rounds");
                let (mut pool, mut rounds) = (pool.clone(), rounds[ac.index()].clone());
                let next = || {
                    let (m, is_new) = rounds.head()?;
                    pool.remove_head(&mut rounds);
                    Some((TidIndex(m.0), is_new))
                };
                core::iter::from_fn(next).collect()
            }
        }
    }

    /// The clocks of the virtual-time scheduler.
    pub(super) fn clocks(&self, ac: Ac) -> String {
        let Self::VirtualTime(s) = self else { panic!("virtual time") };
        s.state(ac)
    }
}
