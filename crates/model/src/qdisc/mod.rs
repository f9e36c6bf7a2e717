//! Queueing disciplines under tc's names, options and defaults.

pub mod fq_codel;
pub mod pfifo_fast;

/// Which discipline an interface has, with its options.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QdiscConfig {
    /// Three bands by priority.
    PfifoFast(pfifo_fast::PfifoFastParams),
    /// Fair queueing with CoDel.
    FqCodel(fq_codel::FqCodelParams),
    /// None: packets go straight to the device (`noqueue`).
    Noqueue,
}
