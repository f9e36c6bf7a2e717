//! fq_codel: flow queues by hash, DRR++, CoDel on each.

use super::{Enqueue, QdiscStats};
use crate::aqm::codel::CodelParams;
use crate::fair::drr::EmptyNew;
use crate::fair::flow_queues::{FlowQueues, FlowQueuesParams, MtuScope, TinId};
use crate::vocabulary::{Ctx, Duration, Instant, Packet, Pkt, PlaceId, Sink};

/// Parameters, under tc's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelParams {
    /// Most packets over all flows.
    pub limit: u32,
    /// Number of flow queues.
    pub flows: u32,
    /// Bytes a flow may send in a round.
    pub quantum: u32,
    /// Most bytes of truesize over all flows; there was no such limit before kernel 4.7 (`u32::MAX` here).
    pub memory_limit: u32,
    /// Most packets dropped at once from the fattest flow when over a limit; before kernel 4.7 it was one.
    pub drop_batch: u32,
    /// Drops over a limit raise the flow's CoDel count (kernel 5.4 on).
    pub overlimit_raises_count: bool,
    /// The law on each flow.
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

/// Counters under tc's names, besides those that every discipline has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FqCodelStats {
    /// Largest packet that CoDel has seen, in bytes.
    pub maxpacket: u32,
    /// Packets dropped because a limit was exceeded.
    pub drop_overlimit: u64,
    /// Those of them dropped while the limit on memory was exceeded.
    pub drop_overmemory: u64,
    /// How often a flow came on the list of new flows.
    pub new_flow_count: u64,
    /// Packets marked instead of dropped.
    pub ecn_mark: u64,
    /// Flows on the new list now.
    pub new_flows_len: u32,
    /// Flows on the old list now.
    pub old_flows_len: u32,
    /// Truesize of all packets in it now, in bytes.
    pub memory_used: u64,
}

/// The discipline.
#[derive(Debug)]
pub struct FqCodel {
    params: FqCodelParams,
    queues: FlowQueues,
    sent: QdiscStats,
}

/// The only user of the flow queues.
const TIN: TinId = TinId(0);

/// Smallest quantum, in bytes.
// linux: net/sched/sch_fq_codel.c fq_codel_change (5.4) - a smaller one is raised.
pub(super) const MIN_QUANTUM: u32 = 256;

impl FqCodel {
    /// Empty flow queues; drops are booked at `place`, `salt` decides which flows share a queue.
    ///
    /// Panics without a flow queue.
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

    /// Queues the packet; over a limit, drops from the head of the fattest flow, once, even if that is not enough.
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

    /// Takes the next packet of the flow whose turn it is.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let p = self.queues.dequeue(now, TIN, &self.params.codel, ctx)?;
        self.sent.sent(ctx.packets.get(p));
        Some(p)
    }

    /// Packets and bytes in all flows.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        self.queues.backlog(TIN)
    }

    /// Counters that every discipline has.
    pub fn stats(&self) -> QdiscStats {
        let drops = self.queues.codel_stats(TIN).drop_count + self.queues.stats().drop_overlimit;
        QdiscStats { drops, ..self.sent }
    }

    /// Counters of its own.
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
