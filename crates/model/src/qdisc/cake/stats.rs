//! cake's counters, by their tc names.

use alloc::vec::Vec;

use super::Cake;
use crate::types::{Duration, Rate};

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

/// Moving averages of the sojourn time in a tin, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TinDelays {
    pub avg: u64,
    pub peak: u64,
    pub base: u64,
}

// linux: net/sched/sch_cake.c cake_ewma (6.1) - rounds both terms down.
fn ewma(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

impl TinDelays {
    /// Adds the sojourn time of a packet that leaves.
    // linux: net/sched/sch_cake.c cake_dequeue (6.1) - the peak rises fast, the base falls fast.
    #[inline]
    pub(super) fn add(&mut self, delay: Duration) {
        let delay = delay.nanos();
        self.avg = ewma(self.avg, delay, 8);
        self.peak = ewma(self.peak, delay, if delay > self.peak { 2 } else { 8 });
        self.base = ewma(self.base, delay, if delay < self.base { 2 } else { 8 });
    }
}

/// Minimum and maximum of a packet size, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Minimum; `u32::MAX` before the first packet.
    pub min: u32,
    /// Maximum.
    pub max: u32,
}

impl Span {
    pub(super) const NONE: Self = Self { min: u32::MAX, max: 0 };

    #[inline]
    pub(super) fn add(&mut self, size: u32) {
        (self.min, self.max) = (self.min.min(size), self.max.max(size));
    }
}

/// Counters of one tin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeTinStats {
    /// Name in tc's table.
    pub name: &'static str,
    /// Threshold rate up to which the tin has priority. `None` without a shaper.
    pub threshold_rate: Option<Rate>,
    /// COBALT's target.
    pub target: Duration,
    /// COBALT's interval.
    pub interval: Duration,
    /// Sojourn time: moving average that rises fast.
    pub peak_delay: Duration,
    /// Sojourn time: moving average.
    pub avg_delay: Duration,
    /// Sojourn time: moving average that falls fast.
    pub base_delay: Duration,
    /// Backlog in bytes.
    pub backlog_bytes: u64,
    /// Packets that arrived, including those dropped later.
    pub sent_packets: u64,
    /// Bytes that arrived.
    pub sent_bytes: u64,
    /// Packets whose flow was found in another queue of its hash set.
    pub way_indirect_hits: u64,
    /// Packets for which a new queue was reserved.
    pub way_misses: u64,
    /// Packets that share another flow's queue, because the whole hash set was busy.
    pub way_collisions: u64,
    /// Packets dropped.
    pub drops: u64,
    /// ACKs dropped by the ACK filter.
    pub ack_drops: u64,
    /// Packets marked (ECN).
    pub ecn_mark: u64,
    /// Number of sparse flows, including decaying ones.
    pub sparse_flows: u32,
    /// Number of bulk flows.
    pub bulk_flows: u32,
    /// Number of unresponsive flows, from which BLUE drops packets.
    pub unresponsive_flows: u32,
    /// Largest packet before splitting, in bytes.
    pub max_pkt_len: u32,
    /// Quantum of a flow in bytes.
    pub flow_quantum: u32,
}

/// Counters of the whole qdisc.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CakeStats {
    /// Maximum memory used, in bytes of truesize.
    pub memory_used: u64,
    /// Memory limit, in bytes of truesize.
    pub memory_limit: u64,
    /// Capacity estimate: the configured rate of the shaper (`autorate-ingress` is not modelled).
    pub capacity_estimate: Option<Rate>,
    /// Packet sizes at the network layer.
    pub network_size: Span,
    /// Packet sizes counted by the shaper, with link-layer overhead.
    pub adj_size: Span,
    /// Counters of the tins, in tc's order.
    pub tins: Vec<CakeTinStats>,
}

impl Cake {
    /// cake's counters.
    pub fn xstats(&self) -> CakeStats {
        let shaped = self.params.bandwidth.is_some();
        let one = |n: &usize| {
            let tin = &self.tins[*n];
            let (c, d) = (&tin.counters, &tin.delays);
            CakeTinStats {
                name: self.params.tins.name_of(*n),
                threshold_rate: shaped.then(|| Rate::from_bps(tin.threshold * 8)),
                target: tin.aqm.target,
                interval: tin.aqm.interval,
                peak_delay: Duration::from_nanos(d.peak),
                avg_delay: Duration::from_nanos(d.avg),
                base_delay: Duration::from_nanos(d.base),
                backlog_bytes: tin.backlog,
                sent_packets: c.packets,
                sent_bytes: c.bytes,
                way_indirect_hits: c.way_indirect_hits,
                way_misses: c.way_misses,
                way_collisions: c.way_collisions,
                drops: c.drops,
                ack_drops: c.ack_drops,
                ecn_mark: c.ecn_mark,
                sparse_flows: tin.sparse + tin.decaying,
                bulk_flows: tin.bulk,
                unresponsive_flows: tin.unresponsive,
                max_pkt_len: c.max_pkt_len,
                flow_quantum: tin.flow_quantum,
            }
        };
        CakeStats {
            memory_used: self.memory_most,
            memory_limit: self.memory_limit,
            capacity_estimate: self.params.bandwidth,
            network_size: self.network_size,
            adj_size: self.adj_size,
            tins: self.params.tins.order().iter().map(one).collect(),
        }
    }
}
