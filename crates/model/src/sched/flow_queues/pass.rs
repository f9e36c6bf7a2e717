//! Bypass for a packet that would be alone in its tin.

use super::{FlowQueues, TinId, UNBOUND};
use crate::aqm::codel::{self, CodelParams, CodelQueue};
use crate::types::{Ctx, Instant, Packet, Packets, Pkt, Sink};

struct Alone<'a> {
    p: Option<Pkt>,
    packets: &'a mut Packets,
}

impl CodelQueue for Alone<'_> {
    #[inline]
    fn pop(&mut self) -> Option<Pkt> {
        self.p.take()
    }
    #[inline]
    fn backlog(&self) -> u64 {
        0
    }
    #[inline]
    fn packet(&mut self, p: Pkt) -> &mut Packet {
        self.packets.get_mut(p)
    }
    fn drop(&mut self, _: Pkt) {
        unreachable!("CoDel does not drop the last packet of a queue")
    }
}

impl FlowQueues {
    /// Returns true if [`FlowQueues::pass`] may be called: no queue of the tin is listed, the packet's own
    /// queue belongs to no tin, and no limit would be exceeded.
    #[inline]
    pub fn is_free(&self, tin: TinId, p: Pkt, packets: &Packets) -> bool {
        let hot = packets.get(p);
        self.tins[tin.index()].rounds.is_empty()
            && self.totals.packets < self.params.limit
            && self.totals.memory + u64::from(hot.truesize) <= u64::from(self.params.memory_limit)
            && self.find(self.queue_of(hot.flow_hash)).is_none_or(|id| self.queues[id].tin == UNBOUND)
    }

    /// Leaves the state and counters of an enqueue, a dequeue of the packet, and a dequeue from the empty
    /// queue.
    #[inline]
    pub fn pass<S: Sink>(
        &mut self,
        now: Instant,
        tin: TinId,
        p: Pkt,
        codel: &CodelParams,
        ctx: &mut Ctx<'_, S>,
    ) {
        let hot = ctx.packets.get_mut(p);
        hot.t_enqueue = now;
        let number = self.queue_of(hot.flow_hash);
        let id = self.keep(number);
        self.stats.new_flow_count += 1;
        let (state, stats) = (&mut self.codel[id.index()], &mut self.codel_stats[tin.index()]);
        let mut alone = Alone { p: Some(p), packets: ctx.packets };
        let first = codel::dequeue(codel, state, stats, now, &mut alone);
        debug_assert_eq!(first, Some(p));
        let none = codel::dequeue(codel, state, stats, now, &mut alone);
        debug_assert_eq!(none, None);
    }
}
