//! fq_codel: hashed flow queues served by DRR++, with CoDel on each.

use super::{Enqueue, QdiscStats};
use crate::aqm::codel::CodelParams;
use crate::sched::drr::EmptyNew;
use crate::sched::flow_queues::{FlowQueues, FlowQueuesParams, MtuScope, TinId};
use crate::types::{Ctx, Duration, Instant, Packet, Pkt, PlaceId, Sink};

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelParams {
    /// Maximum number of packets in all flows.
    pub limit: u32,
    /// Number of flow queues.
    pub flows: u32,
    /// Bytes that a flow may send per round.
    pub quantum: u32,
    /// Maximum truesize of all packets, in bytes. Kernels before 4.7 have no such limit (`u32::MAX` here).
    pub memory_limit: u32,
    /// Maximum number of packets dropped at once from the fattest flow when a limit is exceeded. One before
    /// kernel 4.7.
    pub drop_batch: u32,
    /// Raise the flow's CoDel count by drops at a limit (since kernel 5.4).
    pub overlimit_raises_count: bool,
    /// CoDel parameters of each flow.
    pub codel: CodelParams,
}

impl Default for FqCodelParams {
    // linux: net/sched/sch_fq_codel.c fq_codel_init (5.4) - tc's defaults.
    fn default() -> Self {
        Self {
            limit: 10_240,
            flows: 1024,
            quantum: 1514,
            memory_limit: 32 << 20,
            drop_batch: 64,
            overlimit_raises_count: true,
            codel: CodelParams {
                target: Duration::from_millis(5),
                interval: Duration::from_millis(100),
                ecn: true,
                mtu: 1514,
            },
        }
    }
}

/// Counters by their tc names, in addition to the common ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FqCodelStats {
    /// Largest packet seen by CoDel, in bytes.
    pub maxpacket: u32,
    /// Packets dropped because a limit was exceeded.
    pub drop_overlimit: u64,
    /// Packets dropped while the memory limit was exceeded, included in `drop_overlimit`.
    pub drop_overmemory: u64,
    /// Times a flow was put on the list of new flows.
    pub new_flow_count: u64,
    /// Packets marked instead of dropped.
    pub ecn_mark: u64,
    /// Number of flows on the list of new flows.
    pub new_flows_len: u32,
    /// Number of flows on the list of old flows.
    pub old_flows_len: u32,
    /// Truesize of all queued packets, in bytes.
    pub memory_used: u64,
}

/// The fq_codel qdisc.
#[derive(Debug)]
pub struct FqCodel {
    params: FqCodelParams,
    queues: FlowQueues,
    sent: QdiscStats,
}

const TIN: TinId = TinId(0);

/// Smallest quantum, in bytes.
// linux: net/sched/sch_fq_codel.c fq_codel_change (5.4) - raises smaller values.
pub(super) const MIN_QUANTUM: u32 = 256;

impl FqCodel {
    /// Creates empty flow queues. Drops are recorded at `place`. `salt` perturbs the flow hash.
    ///
    /// Panics if the number of flow queues is zero.
    pub fn new(params: FqCodelParams, place: PlaceId, salt: u64) -> Self {
        let queues = FlowQueuesParams {
            flows: params.flows,
            tins: 1,
            quantum: params.quantum.max(MIN_QUANTUM),
            limit: params.limit,
            memory_limit: params.memory_limit,
            empty_new: EmptyNew::ToOldUnlessAlone,
            mtu_scope: MtuScope::Tin,
        };
        Self { params, queues: FlowQueues::new(queues, place, salt), sent: QdiscStats::default() }
    }

    /// Queues the packet. If a limit is exceeded, drops one batch from the head of the fattest flow, even if
    /// that is not enough.
    // linux: net/sched/sch_fq_codel.c fq_codel_enqueue (5.4).
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let queue = self.queues.enqueue(now, TIN, p, ctx);
        if self.queues.over_limit().is_none() {
            return Enqueue::Queued;
        }
        match self.queues.drop_batch(now, self.params.drop_batch, self.params.overlimit_raises_count, ctx) {
            Some(hit) if hit.queue == queue => Enqueue::Congested,
            _ => Enqueue::Queued,
        }
    }

    /// See [`super::Qdisc::pass`].
    #[inline]
    pub fn pass(&mut self, p: &Packet) -> bool {
        let passes = self.params.limit > 0 && self.queues.total() == 0;
        if passes {
            self.sent.sent(p);
        }
        passes
    }

    /// Takes the next packet of the flow whose turn it is. CoDel may drop other packets first.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let p = self.queues.dequeue(now, TIN, &self.params.codel, ctx)?;
        self.sent.sent(ctx.packets.get(p));
        Some(p)
    }

    /// Number of packets and bytes in all flows.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        self.queues.backlog(TIN)
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        let drops = self.queues.codel_stats(TIN).drop_count + self.queues.stats().drop_overlimit;
        QdiscStats { drops, ..self.sent }
    }

    /// fq_codel's counters.
    pub fn xstats(&self) -> FqCodelStats {
        let (all, codel) = (self.queues.stats(), self.queues.codel_stats(TIN));
        let (new_flows_len, old_flows_len) = self.queues.list_lengths(TIN);
        FqCodelStats {
            maxpacket: codel.maxpacket,
            drop_overlimit: all.drop_overlimit,
            drop_overmemory: all.drop_overmemory,
            new_flow_count: all.new_flow_count,
            ecn_mark: codel.ecn_mark,
            new_flows_len,
            old_flows_len,
            memory_used: self.queues.memory_used(),
        }
    }
}

#[cfg(test)]
mod tests;
