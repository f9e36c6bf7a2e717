//! Flow queues with CoDel, shared by tins. `fq_codel` uses a single tin; the MAC uses one per TID.
//!
//! All tins share one pool of queues. A queue takes memory from its first packet on, so a thousand stations
//! with a pool of 4,096 queues each use only a few. A packet's flow hash selects its queue; if that queue
//! belongs to another tin, the packet goes to the overflow queue of its own tin. Each tin serves its queues
//! by DRR in bytes.
//!
//! Limits are global: when one is exceeded, the longest queue of any tin loses packets. The two users do that
//! differently, so [`FlowQueues::enqueue`] never drops. The caller then checks [`FlowQueues::over_limit`] and
//! calls [`FlowQueues::drop_batch`], or calls [`FlowQueues::trim`].

mod custom_aqm;
mod numbered;
mod pass;

use super::drr::{DeficitRoundRobin, Drr, EmptyNew, Member};
use super::longest::{Longest, Place};
use crate::aqm::algorithm::AqmAlgorithm;
use crate::aqm::codel::{self, CodelParams, CodelQueue, CodelState, CodelStats};
use crate::types::{Ctx, Instant, Packet, Pkt, PktList, PlaceId, Reason, Sink, skb_len};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use numbered::Numbered;

/// One user of the queues: a TID of a station, or a whole qdisc.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TinId(pub u32);

impl TinId {
    #[inline]
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of a queue in the pool. The overflow queues of the tins follow the flow queues.
pub type Queue = Member;

/// The backlog that CoDel compares with its MTU exemption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MtuScope {
    /// The bytes left in the flow's own queue.
    // linux: net/mac80211/tx.c fq_tin_dequeue_func (5.4); also rfc8290 4.
    Queue,
    /// The bytes left in all queues of the tin.
    // linux: net/sched/sch_fq_codel.c fq_codel_dequeue (5.4) - uses the backlog of the whole qdisc.
    Tin,
}

/// Layout and limits of the queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowQueuesParams {
    /// Flow queues in the pool, at least one.
    pub flows: u32,
    /// Number of tins that share the pool.
    pub tins: u32,
    /// Bytes that a queue may send per round, at least one.
    pub quantum: u32,
    /// Maximum number of packets in all queues.
    pub limit: u32,
    /// Maximum truesize of all packets, in bytes.
    pub memory_limit: u32,
    /// Rule for a new queue that has run empty.
    pub empty_new: EmptyNew,
    /// The backlog that CoDel compares with its MTU exemption.
    pub mtu_scope: MtuScope,
}

/// Counters over all tins, by their tc names (debugfs `aqm` has the same).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowQueuesStats {
    /// Packets dropped because a limit was exceeded.
    pub drop_overlimit: u64,
    /// Packets dropped while the memory limit was exceeded, included in `drop_overlimit`.
    pub drop_overmemory: u64,
    /// Times a queue was put on a list of new queues.
    pub new_flow_count: u64,
    /// Packets whose queue belonged to another tin.
    pub collisions: u64,
}

/// An exceeded limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverLimit {
    /// True if the memory limit is exceeded; the packet limit may be exceeded as well.
    pub memory: bool,
}

/// Result of [`FlowQueues::drop_batch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// The queue from which packets were dropped.
    pub queue: Queue,
    /// Number of packets dropped from its head.
    pub packets: u32,
}

/// One queue, without its deficit and its CoDel state, which an enqueue does not change.
#[derive(Debug)]
struct FlowQueue {
    list: PktList,
    number: u32,
    /// The tin that it belongs to, or [`UNBOUND`].
    tin: u32,
    place: Place,
}

const UNBOUND: u32 = u32::MAX;
/// Queues allocated in advance.
const FEW: u32 = 16;

impl FlowQueue {
    fn new(number: Queue) -> Self {
        Self { list: PktList::default(), number: number.0, tin: UNBOUND, place: Place::NONE }
    }
}

/// One tin, without its CoDel counters.
#[derive(Clone, Debug, Default)]
struct TinState {
    rounds: DeficitRoundRobin,
    packets: u32,
    bytes: u64,
}

#[derive(Debug)]
struct Totals {
    packets: u32,
    memory: u64,
}

/// The pool of queues and the tins that share it.
#[derive(Debug)]
pub struct FlowQueues {
    params: FlowQueuesParams,
    place: PlaceId,
    salt: Salt,
    /// By queue number: 1 + its index in `queues`, or 0 if no packet has used the queue yet.
    kept: Vec<u32>,
    /// The queues in use, as members of the tins' schedulers.
    queues: Drr<FlowQueue>,
    /// CoDel state, by the same index.
    codel: Vec<CodelState>,
    tins: Vec<TinState>,
    codel_stats: Vec<CodelStats>,
    totals: Totals,
    longest: Longest,
    stats: FlowQueuesStats,
    /// User-defined AQMs by queue number; empty with CoDel.
    aqms: Vec<Box<dyn AqmAlgorithm + Send>>,
}

/// A multiply-shift hash: flows that collide under one salt rarely do so under another.
// paper: Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer arithmetic"
// (1996) - the upper half of a * x + b, with 64-bit a and b.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Salt {
    a: u64,
    b: u64,
}

impl Salt {
    /// Spreads the salt over both factors, so that any number is a good salt.
    pub(crate) fn new(salt: u64) -> Self {
        // SplitMix64's finalizer, at two points of its sequence.
        let mix = |n: u64| {
            let z = salt.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Self { a: mix(1), b: mix(2) }
    }

    #[inline]
    pub(crate) fn hash(self, x: u32) -> u32 {
        (self.a.wrapping_mul(u64::from(x)).wrapping_add(self.b) >> 32) as u32
    }
}

/// One queue and its accounting, as CoDel and drops over a limit access them.
struct View<'a, 'c, S> {
    list: &'a mut PktList,
    tin_packets: &'a mut u32,
    tin_bytes: &'a mut u64,
    totals: &'a mut Totals,
    scope: MtuScope,
    now: Instant,
    place: PlaceId,
    ctx: &'a mut Ctx<'c, S>,
}

impl<S: Sink> CodelQueue for View<'_, '_, S> {
    #[inline]
    fn pop(&mut self) -> Option<Pkt> {
        let p = self.list.pop(self.ctx.packets)?;
        let hot = self.ctx.packets.get(p);
        *self.tin_packets -= 1;
        *self.tin_bytes -= u64::from(skb_len(hot));
        self.totals.packets -= 1;
        self.totals.memory -= u64::from(hot.truesize);
        Some(p)
    }
    #[inline]
    fn backlog(&self) -> u64 {
        match self.scope {
            MtuScope::Queue => self.list.bytes(),
            MtuScope::Tin => *self.tin_bytes,
        }
    }
    #[inline]
    fn packet(&mut self, p: Pkt) -> &mut Packet {
        self.ctx.packets.get_mut(p)
    }
    fn drop(&mut self, p: Pkt) {
        self.ctx.drop(self.now, p, Reason::Codel, self.place);
    }
}

impl FlowQueues {
    /// Creates empty queues. Drops are recorded at `place`. `salt` perturbs the flow hash.
    ///
    /// Panics if the number of flow queues or the quantum is zero.
    pub fn new(params: FlowQueuesParams, place: PlaceId, salt: u64) -> Self {
        assert!(params.flows > 0 && params.quantum > 0, "flow queues need at least one queue and a quantum");
        let n = params.flows + params.tins;
        Self {
            params,
            place,
            salt: Salt::new(salt),
            kept: vec![0; n as usize],
            queues: Drr::with_room(n.min(FEW)),
            codel: Vec::with_capacity(n.min(FEW) as usize),
            tins: vec![TinState::default(); params.tins as usize],
            codel_stats: vec![CodelStats::default(); params.tins as usize],
            totals: Totals { packets: 0, memory: 0 },
            longest: Longest::new(n as usize),
            stats: FlowQueuesStats::default(),
            aqms: Vec::new(),
        }
    }

    /// The queue that a packet with this flow hash joins in an idle pool.
    // linux: include/net/fq_impl.h fq_flow_classify (4.7) - scales a salted hash to the number of queues.
    // deviation: the flow's hash is salted by a multiplication instead of being recomputed - it is computed
    // once per flow.
    #[inline]
    pub fn queue_of(&self, flow_hash: u32) -> Queue {
        let scaled = u64::from(self.salt.hash(flow_hash)) * u64::from(self.params.flows);
        Member((scaled >> 32) as u32)
    }

    /// Index of a queue in `queues`. `None` if no packet has used the queue yet.
    #[inline]
    fn find(&self, number: Queue) -> Option<Member> {
        self.kept[number.index()].checked_sub(1).map(Member)
    }

    /// Index of a queue in `queues`. Allocates the queue if needed.
    #[inline]
    fn keep(&mut self, number: Queue) -> Member {
        self.find(number).unwrap_or_else(|| self.keep_new(number))
    }

    #[cold]
    fn keep_new(&mut self, number: Queue) -> Member {
        let kept = self.queues.add(FlowQueue::new(number));
        self.codel.push(CodelState::default());
        self.kept[number.index()] = kept.0 + 1;
        kept
    }

    /// The overflow queue of a tin, for packets whose own queue belongs to another tin.
    #[inline]
    pub fn overflow_queue(&self, tin: TinId) -> Queue {
        Member(self.params.flows + tin.0)
    }

    /// Queues a packet and sets its enqueue time. Returns the packet's queue. Never drops; see
    /// [`FlowQueues::over_limit`].
    // paper: ending-the-anomaly alg1 - hash, overflow queue if bound elsewhere, bind, timestamp, append, list
    // as new.
    // deviation: the limits are checked after the enqueue - as in Linux; the paper checks them before.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, tin: TinId, p: Pkt, ctx: &mut Ctx<'_, S>) -> Queue {
        let hot = ctx.packets.get_mut(p);
        hot.t_enqueue = now;
        let (bytes, truesize) = (u64::from(skb_len(hot)), u64::from(hot.truesize));
        let mut number = self.queue_of(hot.flow_hash);
        let mut id = self.keep(number);
        let owner = self.queues[id].tin;
        if owner != UNBOUND && owner != tin.0 {
            number = self.overflow_queue(tin);
            id = self.keep(number);
            self.stats.collisions += 1;
        }
        let queue = &mut self.queues[id];
        queue.tin = tin.0;
        queue.list.push(ctx.packets, p);
        self.longest.grown(number.index(), queue.list.bytes(), &mut queue.place);
        let t = &mut self.tins[tin.index()];
        t.packets += 1;
        t.bytes += bytes;
        self.totals.packets += 1;
        self.totals.memory += truesize;
        if self.queues.activate(&mut t.rounds, id, true) {
            self.queues.set_deficit(id, i64::from(self.params.quantum));
            self.stats.new_flow_count += 1;
        }
        number
    }

    /// A queue that belongs to a tin, with its CoDel state and the tin's CoDel counters.
    #[inline]
    fn view<'a, 'c, S>(
        &'a mut self,
        now: Instant,
        id: Queue,
        ctx: &'a mut Ctx<'c, S>,
    ) -> (View<'a, 'c, S>, &'a mut CodelState, &'a mut CodelStats) {
        let queue = &mut self.queues[id];
        let t = &mut self.tins[TinId(queue.tin).index()];
        let view = View {
            list: &mut queue.list,
            tin_packets: &mut t.packets,
            tin_bytes: &mut t.bytes,
            totals: &mut self.totals,
            scope: self.params.mtu_scope,
            now,
            place: self.place,
            ctx,
        };
        (view, &mut self.codel[id.index()], &mut self.codel_stats[queue.tin as usize])
    }

    /// Takes the next packet of a tin. CoDel may drop other packets first.
    // paper: ending-the-anomaly alg2; spec: rfc8290 4.2.
    #[inline]
    pub fn dequeue<S: Sink>(
        &mut self,
        now: Instant,
        tin: TinId,
        codel: &CodelParams,
        ctx: &mut Ctx<'_, S>,
    ) -> Option<Pkt> {
        loop {
            let t = &mut self.tins[tin.index()];
            let (id, _) = self.queues.next(&mut t.rounds, i64::from(self.params.quantum))?;
            let (mut view, state, stats) = self.view(now, id, ctx);
            if let Some(p) = codel::dequeue(codel, state, stats, now, &mut view) {
                self.queues.charge(id, i64::from(skb_len(ctx.packets.get(p))));
                return Some(p);
            }
            self.leave_empty(tin, id);
        }
    }

    /// Takes the packet behind `p`, the last packet taken from its tin's queue, if `may` accepts it for an
    /// A-MSDU with `p`. CoDel sees only the first packet of an A-MSDU.
    // linux: net/mac80211/tx.c ieee80211_amsdu_aggregate (6.12) - joins a packet to the last one of its
    // flow's queue, at enqueue.
    // deviation: joins at dequeue. Packets of a queue are joined in order until no more fit, so the A-MSDUs
    // are the same; but CoDel and limits drop single packets here, and whole A-MSDUs in Linux.
    pub fn take_with<S: Sink>(
        &mut self,
        now: Instant,
        tin: TinId,
        p: Pkt,
        may: impl FnOnce(&Packet) -> bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Option<Pkt> {
        let own = self.find(self.queue_of(ctx.packets.get(p).flow_hash));
        let own = own.filter(|&own| self.queues[own].tin == tin.0);
        let id = own.or_else(|| self.find(self.overflow_queue(tin)))?;
        let next = self.queues[id].list.head()?;
        if self.queues[id].tin != tin.0 || !may(ctx.packets.get(next)) {
            return None;
        }
        let (mut view, ..) = self.view(now, id, ctx);
        let next = view.pop()?;
        self.queues.charge(id, i64::from(skb_len(ctx.packets.get(next))));
        Some(next)
    }

    /// Handles a queue that is empty at its turn.
    #[inline(always)]
    fn leave_empty(&mut self, tin: TinId, id: Queue) {
        let t = &mut self.tins[tin.index()];
        if self.queues.head_empty(&mut t.rounds, self.params.empty_new).is_some() {
            self.queues[id].tin = UNBOUND;
        }
    }

    /// Index of the longest queue by bytes; the first among equals, with overflow queues last.
    // linux: include/net/fq_impl.h fq_find_fattest_flow (5.17) - the same order.
    #[inline]
    fn longest(&mut self) -> Option<Queue> {
        let Self { kept, queues, longest, .. } = self;
        longest.find(&mut Numbered { kept, queues }).and_then(|number| self.find(Member(number as u32)))
    }

    /// Drops the packet at the head of a non-empty queue. Returns its bytes.
    fn drop_head<S: Sink>(&mut self, now: Instant, id: Queue, ctx: &mut Ctx<'_, S>) -> u64 {
        let (mut view, ..) = self.view(now, id, ctx);
        let p = view.pop().expect("a backlogged queue holds a packet");
        let bytes = u64::from(skb_len(ctx.packets.get(p)));
        ctx.drop(now, p, Reason::Overlimit, self.place);
        bytes
    }

    /// Returns the exceeded limit, if any.
    #[inline]
    pub fn over_limit(&self) -> Option<OverLimit> {
        let memory = self.totals.memory > u64::from(self.params.memory_limit);
        (memory || self.totals.packets > self.params.limit).then_some(OverLimit { memory })
    }

    /// Drops from the head of the longest queue until half of its bytes or `max` packets are gone, but at
    /// least one packet. Raises its CoDel count if `raise_count`. Returns `None` if all queues are empty.
    // linux: net/sched/sch_fq_codel.c fq_codel_drop (5.4) - the rule of fq_codel.
    pub fn drop_batch<S: Sink>(
        &mut self,
        now: Instant,
        max: u32,
        raise_count: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Option<Dropped> {
        let id = self.longest()?;
        let memory = self.over_limit().is_some_and(|o| o.memory);
        let half = self.queues[id].list.bytes() / 2;
        let (mut packets, mut bytes) = (0, 0);
        loop {
            bytes += self.drop_head(now, id, ctx);
            packets += 1;
            if packets >= max || bytes >= half {
                break;
            }
        }
        if raise_count {
            self.codel[id.index()].strengthen(packets);
        }
        self.stats.drop_overlimit += u64::from(packets);
        self.stats.drop_overmemory += if memory { u64::from(packets) } else { 0 };
        Some(Dropped { queue: Member(self.queues[id].number), packets })
    }

    /// Drops from the head of the longest queue until no limit is exceeded. Selects the longest queue again
    /// after each batch of up to `most` packets or half of the queue's packets, whichever is less, but at
    /// least one. Returns the number of drops.
    // linux: include/net/fq_impl.h fq_tin_enqueue (4.19, 5.10) - the rule of the MAC, one packet at a time;
    // CoDel's count is not raised, but a user-defined AQM is notified. fq_flow_drop (5.12) - halves packets,
    // where fq_codel halves bytes.
    pub fn trim<S: Sink>(&mut self, now: Instant, most: u32, ctx: &mut Ctx<'_, S>) -> u32 {
        let mut packets = 0;
        while let Some(over) = self.over_limit() {
            let Some(id) = self.longest() else { break };
            let batch = most.min(self.queues[id].list.packets() / 2).max(1);
            for _ in 0..batch {
                self.drop_head(now, id, ctx);
            }
            if self.has_custom_aqm() {
                self.tell_aqm(now, Member(self.queues[id].number), batch);
            }
            self.stats.drop_overlimit += u64::from(batch);
            self.stats.drop_overmemory += if over.memory { u64::from(batch) } else { 0 };
            packets += batch;
        }
        packets
    }

    /// Packets and bytes queued in a tin.
    #[inline]
    pub fn backlog(&self, tin: TinId) -> (u32, u64) {
        let t = &self.tins[tin.index()];
        (t.packets, t.bytes)
    }
    /// Number of packets in all queues.
    #[inline]
    pub fn total(&self) -> u32 {
        self.totals.packets
    }
    /// Bytes in all queues, with Ethernet headers.
    pub fn total_bytes(&self) -> u64 {
        self.tins.iter().map(|t| t.bytes).sum()
    }
    /// Truesize of all packets in all queues, in bytes.
    pub fn memory_used(&self) -> u64 {
        self.totals.memory
    }
    /// Counters over all tins.
    pub fn stats(&self) -> FlowQueuesStats {
        self.stats
    }
    /// CoDel's counters for a tin.
    pub fn codel_stats(&self, tin: TinId) -> CodelStats {
        self.codel_stats[tin.0 as usize]
    }
    /// Number of queues on a tin's new and old list.
    pub fn list_lengths(&self, tin: TinId) -> (u32, u32) {
        self.queues.lengths(&self.tins[tin.index()].rounds)
    }
}

#[cfg(test)]
mod tests;
