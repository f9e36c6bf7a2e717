//! What cake counts, under tc's names.

use crate::vocabulary::{Duration, Rate};
use alloc::vec::Vec;

/// Counters of a tin that only rise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TinCounters {
    pub packets: u64,
    pub bytes: u64,
    pub drops: u64,
    pub ack_drops: u64,
    pub ecn_mark: u64,
    pub way_indirect_hits: u64,
    pub way_misses: u64,
    pub way_collisions: u64,
    pub max_pkt_len: u32,
}

/// Moving averages of the time that packets of a tin wait, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TinDelays {
    pub avg: u64,
    pub peak: u64,
    pub base: u64,
}

// linux: net/sched/sch_cake.c cake_ewma (6.1) - both parts rounded down.
fn ewma(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

impl TinDelays {
    /// A packet left that had waited so long.
    // linux: net/sched/sch_cake.c cake_dequeue (6.1) - the peak follows a rise fast, the base a fall.
    #[inline]
    pub(super) fn add(&mut self, delay: Duration) {
        let delay = delay.nanos();
        self.avg = ewma(self.avg, delay, 8);
        self.peak = ewma(self.peak, delay, if delay > self.peak { 2 } else { 8 });
        self.base = ewma(self.base, delay, if delay < self.base { 2 } else { 8 });
    }
}

/// The least and the most seen of a size, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The least; `u32::MAX` before the first.
    pub min: u32,
    /// The most.
    pub max: u32,
}

impl Span {
    pub(super) const NONE: Self = Self { min: u32::MAX, max: 0 };

    #[inline]
    pub(super) fn add(&mut self, size: u32) {
        (self.min, self.max) = (self.min.min(size), self.max.max(size));
    }
}

/// What one tin has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeTinStats {
    /// Its name in tc's table.
    pub name: &'static str,
    /// Rate up to which it has priority, if there is a shaper.
    pub threshold_rate: Option<Rate>,
    /// Target of its law.
    pub target: Duration,
    /// Interval of its law.
    pub interval: Duration,
    /// Time that packets waited, an average that follows rises fast.
    pub peak_delay: Duration,
    /// Time that packets waited, on average.
    pub avg_delay: Duration,
    /// Time that packets waited, an average that follows falls fast.
    pub base_delay: Duration,
    /// Bytes in it now.
    pub backlog_bytes: u64,
    /// Packets that came, those dropped later included.
    pub sent_packets: u64,
    /// Bytes that came.
    pub sent_bytes: u64,
    /// Packets that found their flow in another queue of their set.
    pub way_indirect_hits: u64,
    /// Packets for which a queue was reserved.
    pub way_misses: u64,
    /// Packets that took another flow's queue, the whole set being at work.
    pub way_collisions: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Acknowledgements dropped because newer ones made them needless.
    pub ack_drops: u64,
    /// Packets marked.
    pub ecn_mark: u64,
    /// Sparse queues and those that decay.
    pub sparse_flows: u32,
    /// Bulk queues.
    pub bulk_flows: u32,
    /// Queues that BLUE drops from.
    pub unresponsive_flows: u32,
    /// Largest packet, before it was split.
    pub max_pkt_len: u32,
    /// Bytes of a flow's turn.
    pub flow_quantum: u32,
}

/// What the whole discipline has counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CakeStats {
    /// Most truesize that it held, in bytes.
    pub memory_used: u64,
    /// Most truesize that it may hold.
    pub memory_limit: u64,
    /// Rate of the shaper, which nothing but its setting decides here.
    pub capacity_estimate: Option<Rate>,
    /// Sizes on the network layer.
    pub network_size: Span,
    /// Sizes that the shaper counted.
    pub adj_size: Span,
    /// Its tins, in tc's order.
    pub tins: Vec<CakeTinStats>,
}
