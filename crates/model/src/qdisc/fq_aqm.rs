//! Hashed flow queues with DRR++, as in fq_codel, with a user-defined AQM algorithm on each.

use super::fq_codel::{FqCodelParams, MIN_QUANTUM};
use super::{Enqueue, QdiscStats};
use crate::aqm::algorithm::AqmFactory;
use crate::sched::drr::EmptyNew;
use crate::sched::flow_queues::{FlowQueues, FlowQueuesParams, MtuScope, TinId};
use crate::types::{Ctx, Instant, Pkt, PlaceId, RandomStream, Sink};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Parameters, with fq_codel's names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FqAqmParams {
    /// Maximum number of packets in all flows.
    pub limit: u32,
    /// Number of flow queues.
    pub flows: u32,
    /// Bytes that a flow may send per round.
    pub quantum: u32,
    /// Maximum truesize of all packets, in bytes.
    pub memory_limit: u32,
    /// Maximum number of packets dropped at once from the fattest flow when a limit is exceeded.
    pub drop_batch: u32,
    /// Factory of the AQM algorithm.
    pub aqm: AqmFactory,
    /// Name of the qdisc. Default: `fq_` followed by the AQM's name.
    pub name: String,
}

impl FqAqmParams {
    /// fq_codel's defaults for all parameters except the AQM.
    pub fn new(aqm: AqmFactory) -> Self {
        let FqCodelParams { limit, flows, quantum, memory_limit, drop_batch, .. } = FqCodelParams::default();
        let name = format!("fq_{}", aqm.name());
        Self { limit, flows, quantum, memory_limit, drop_batch, aqm, name }
    }
}

/// Flow queues with a user-defined AQM algorithm.
#[derive(Debug)]
pub struct FqAqm {
    name: String,
    drop_batch: u32,
    queues: FlowQueues,
    sent: QdiscStats,
}

const TIN: TinId = TinId(0);

impl FqAqm {
    /// Creates empty flow queues. Drops are recorded at `place`. `stream` draws the hash salt and a random
    /// stream for each AQM.
    ///
    /// Panics if the number of flow queues is zero.
    pub fn new(params: &FqAqmParams, place: PlaceId, stream: &mut RandomStream) -> Self {
        let queues = FlowQueuesParams {
            flows: params.flows,
            tins: 1,
            quantum: params.quantum.max(MIN_QUANTUM),
            limit: params.limit,
            memory_limit: params.memory_limit,
            empty_new: EmptyNew::ToOldUnlessAlone,
            // spec: rfc8290 4 - each flow queue has its own AQM.
            mtu_scope: MtuScope::Queue,
        };
        let queues = FlowQueues::new(queues, place, stream.bits()).with_aqm(&params.aqm, stream.split());
        let (name, drop_batch) = (params.name.clone(), params.drop_batch);
        Self { name, drop_batch, queues, sent: QdiscStats::default() }
    }

    /// Name of the qdisc.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Queues the packet if the AQM of its flow accepts it. If a limit is exceeded, drops one batch from the
    /// head of the fattest flow.
    // As in `super::fq_codel`.
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let Some(queue) = self.queues.enqueue_by_aqm(now, TIN, false, p, ctx) else {
            return Enqueue::Dropped;
        };
        if self.queues.over_limit().is_none() {
            return Enqueue::Queued;
        }
        let hit = self
            .queues
            .drop_batch(now, self.drop_batch, false, ctx)
            .expect("it holds packets over its limit");
        self.queues.tell_aqm(now, hit.queue, hit.packets);
        if hit.queue == queue { Enqueue::Congested } else { Enqueue::Queued }
    }

    /// Takes the next packet of the flow whose turn it is. The AQM may drop other packets first.
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let p = self.queues.dequeue_by_aqm(now, TIN, false, ctx)?;
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

    /// The counters shared with fq_codel.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let (all, aqms) = (self.queues.stats(), self.queues.codel_stats(TIN));
        vec![
            ("drop_overlimit", all.drop_overlimit),
            ("drop_overmemory", all.drop_overmemory),
            ("new_flow_count", all.new_flow_count),
            ("ecn_mark", aqms.ecn_mark),
        ]
    }
}
