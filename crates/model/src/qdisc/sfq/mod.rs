//! sfq: stochastic fairness queueing, a round robin of hashed flow queues.
//!
//! A flow has a slot as long as it has packets. Slots are served in turn, with a quantum of bytes per round.
//! A slot that becomes active joins at the end of the round; there is no list of new flows. When the total
//! limit is exceeded, the longest slot loses a packet.
//!
//! Not modelled: filters that choose the slot, and RED on each slot (`redflowlimit`).

mod depths;
mod deques;

use self::depths::Depths;
use self::deques::{Deque, Pool};
use super::{Enqueue, QdiscStats};
use crate::sched::drr::{DeficitRoundRobin, Drr, Member};
use crate::sched::flow_queues::Salt;
use crate::types::{
    Ctx, Duration, Instant, Packet, Pkt, PktList, PlaceId, RandomStream, Reason, Sink, skb_len,
};
use alloc::vec;
use alloc::vec::Vec;

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SfqParams {
    /// Maximum number of packets in all flows, at least two.
    pub limit: u32,
    /// Bytes that a flow may send per round.
    pub quantum: u32,
    /// Maximum number of packets of a flow.
    pub depth: u32,
    /// Number of slots: the maximum number of flows with packets at a time.
    pub flows: u32,
    /// Size of the hash table, a power of two.
    pub divisor: u32,
    /// Interval at which the hash is perturbed. Zero: never.
    pub perturb: Duration,
    /// Drop from the head of a queue instead of the tail.
    pub headdrop: bool,
}

impl SfqParams {
    /// Maximum `depth`.
    // linux: net/sched/sch_sfq.c SFQ_MAX_DEPTH (6.1).
    pub const MAX_DEPTH: u32 = 127;
    /// Maximum `flows`.
    // linux: net/sched/sch_sfq.c SFQ_MAX_FLOWS (6.1) - 16-bit indices are shared between slots and depths.
    pub const MAX_FLOWS: u32 = 65_408;
    /// Maximum `divisor`.
    // linux: net/sched/sch_sfq.c sfq_change (6.1).
    pub const MAX_DIVISOR: u32 = 65_536;
    /// Minimum quantum in bytes.
    // linux: net/sched/sch_sfq.c sfq_change (6.1) - raises smaller values.
    pub const MIN_QUANTUM: u32 = 256;
}

impl Default for SfqParams {
    // linux: net/sched/sch_sfq.c sfq_init (6.1) - the quantum is a full packet of the device.
    fn default() -> Self {
        Self {
            limit: 127,
            quantum: 1514,
            depth: 127,
            flows: 128,
            divisor: 1024,
            perturb: Duration::ZERO,
            headdrop: false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    queue: Deque,
    hash: u32,
}

/// Hash table entry without a slot.
const NONE: u32 = u32::MAX;

/// The sfq qdisc.
#[derive(Debug)]
pub struct Sfq {
    params: SfqParams,
    place: PlaceId,
    stream: RandomStream,
    salt: Salt,
    perturb_at: Option<Instant>,
    table: Vec<u32>,
    slots: Vec<Slot>,
    pool: Pool,
    depths: Depths,
    drr: Drr,
    rounds: DeficitRoundRobin,
    packets: u32,
    bytes: u64,
    stats: QdiscStats,
}

impl Sfq {
    /// Creates an empty qdisc. Drops are recorded at `place`. `stream` draws the hash perturbations.
    ///
    /// Panics if slots, depth or quantum are zero, if the divisor is not a power of two, or if the limit is
    /// below two.
    pub fn new(params: SfqParams, place: PlaceId, mut stream: RandomStream) -> Self {
        let SfqParams { limit, depth, flows, divisor, perturb, .. } = params;
        assert!(limit > 1 && depth > 0 && flows > 0 && divisor.is_power_of_two(), "impossible sfq");
        Self {
            params,
            place,
            salt: Salt::new(stream.bits()),
            stream,
            perturb_at: (perturb > Duration::ZERO).then(|| Instant::ZERO + perturb),
            table: vec![NONE; divisor as usize],
            slots: vec![Slot { queue: Deque::EMPTY, hash: 0 }; flows as usize],
            // A packet is added before another is dropped.
            pool: Pool::new(limit + 1),
            depths: Depths::new(flows, depth),
            drr: Drr::new(flows),
            rounds: DeficitRoundRobin::default(),
            packets: 0,
            bytes: 0,
            stats: QdiscStats::default(),
        }
    }

    /// Queues the packet in the slot of its flow. A full slot refuses the packet, or drops its own head
    /// (`headdrop`). If the total limit is exceeded, the longest slot loses a packet.
    // linux: net/sched/sch_sfq.c sfq_enqueue, sfq_drop (6.1).
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.perturb(now, ctx);
        let slot = self.slot_of(ctx.packets.get(p).flow_hash);
        let full = |slot: u32| self.slots[slot as usize].queue.packets() >= self.params.depth;
        match slot {
            Some(slot) if !full(slot) => self.put(slot, p, ctx),
            Some(slot) if self.params.headdrop => {
                let head = self.take(slot, true, ctx).expect("a full slot holds packets");
                self.drop(now, head, ctx);
                self.push(slot, p, ctx);
                return Enqueue::Congested;
            }
            Some(_) | None => {
                self.drop(now, p, ctx);
                return Enqueue::Dropped;
            }
        }
        if self.packets <= self.params.limit {
            return Enqueue::Queued;
        }
        if slot == self.drop_one(now, ctx) { Enqueue::Congested } else { Enqueue::Queued }
    }

    /// See [`super::Qdisc::pass`].
    #[inline]
    pub fn pass(&mut self, p: &Packet) -> bool {
        let passes = self.packets == 0;
        if passes {
            self.stats.sent(p);
        }
        passes
    }

    /// Takes the next packet of the slot whose turn it is.
    // linux: net/sched/sch_sfq.c sfq_dequeue (6.1) - removes an empty slot from the round immediately,
    // whatever is left of its quantum.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.perturb(now, ctx);
        let (member, _) = self.drr.next(&mut self.rounds, i64::from(self.params.quantum))?;
        let p = self.take(member.0, true, ctx).expect("a slot in the round holds packets");
        self.depths.shallower(member.0);
        let hot = ctx.packets.get(p);
        self.stats.sent(hot);
        let slot = &self.slots[member.index()];
        if slot.queue.packets() == 0 {
            self.table[slot.hash as usize] = NONE;
            self.drr.remove_head(&mut self.rounds);
        } else {
            self.drr.charge(member, i64::from(skb_len(hot)));
        }
        Some(p)
    }

    /// Returns the slot of a flow, or a free slot, which is assigned when a packet is put into it.
    #[inline]
    fn slot_of(&mut self, flow_hash: u32) -> Option<u32> {
        let hash = self.salt.hash(flow_hash) & (self.params.divisor - 1);
        match self.table[hash as usize] {
            NONE => {
                let free = self.depths.free()?;
                self.slots[free as usize].hash = hash;
                Some(free)
            }
            slot => Some(slot),
        }
    }

    /// Puts a packet into a slot that is not full. A slot that was empty joins at the end of the round.
    #[inline]
    fn put<S: Sink>(&mut self, slot: u32, p: Pkt, ctx: &mut Ctx<'_, S>) {
        self.push(slot, p, ctx);
        self.depths.deeper(slot);
        if self.drr.activate(&mut self.rounds, Member(slot), false) {
            self.table[self.slots[slot as usize].hash as usize] = slot;
            self.drr.set_deficit(Member(slot), i64::from(self.params.quantum));
        }
    }

    #[inline]
    fn push<S: Sink>(&mut self, slot: u32, p: Pkt, ctx: &mut Ctx<'_, S>) {
        self.packets += 1;
        self.bytes += u64::from(skb_len(ctx.packets.get(p)));
        self.pool.push(&mut self.slots[slot as usize].queue, p);
    }

    #[inline]
    fn take<S: Sink>(&mut self, slot: u32, head: bool, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let queue = &mut self.slots[slot as usize].queue;
        let p = if head { self.pool.pop(queue) } else { self.pool.pop_last(queue) }?;
        self.packets -= 1;
        self.bytes -= u64::from(skb_len(ctx.packets.get(p)));
        Some(p)
    }

    /// Drops a packet of the longest slot. Returns the slot.
    // linux: net/sched/sch_sfq.c sfq_drop (6.1) - if no slot has more than one packet, removes the slot whose
    // turn it is from the round.
    fn drop_one<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<u32> {
        let mut slot = self.depths.deepest()?;
        if self.slots[slot as usize].queue.packets() == 1 {
            slot = self.drr.remove_head(&mut self.rounds).0;
            self.table[self.slots[slot as usize].hash as usize] = NONE;
        }
        let p = self.take(slot, self.params.headdrop, ctx)?;
        self.depths.shallower(slot);
        self.drop(now, p, ctx);
        Some(slot)
    }

    fn drop<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        self.stats.drops += 1;
        ctx.drop(now, p, Reason::Overlimit, self.place);
    }

    /// Perturbs the hash if it is time, and rehashes all packets slot by slot, so that each flow keeps its
    /// order.
    // linux: net/sched/sch_sfq.c sfq_perturbation, sfq_rehash (6.1).
    // deviation: rehashes at the next enqueue or dequeue instead of by a timer - nothing changes in between.
    // Periods start with the run instead of the command, and packets that no longer fit count as dropped here
    // too, not only in the parent.
    #[inline]
    fn perturb<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) {
        if self.perturb_at.is_some_and(|at| at <= now) {
            self.rehash(now, ctx);
        }
    }

    #[cold]
    fn rehash<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) {
        let period = self.params.perturb.nanos();
        let next = (now.saturating_since(Instant::ZERO).nanos() / period + 1) * period;
        self.perturb_at = Some(Instant::ZERO + Duration::from_nanos(next));
        self.salt = Salt::new(self.stream.bits());
        let mut all = PktList::default();
        for slot in 0..self.slots.len() as u32 {
            while let Some(p) = self.take(slot, true, ctx) {
                self.depths.shallower(slot);
                all.push(ctx.packets, p);
            }
        }
        while self.rounds.head().is_some() {
            let slot = self.drr.remove_head(&mut self.rounds);
            self.table[self.slots[slot.index()].hash as usize] = NONE;
        }
        while let Some(p) = all.pop(ctx.packets) {
            match self.slot_of(ctx.packets.get(p).flow_hash) {
                Some(slot) if self.slots[slot as usize].queue.packets() < self.params.depth => {
                    self.put(slot, p, ctx)
                }
                Some(_) | None => self.drop(now, p, ctx),
            }
        }
    }

    /// Number of packets and bytes in all slots.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        self.stats
    }
}

#[cfg(test)]
mod tests;
